"""Messages for the topics of examples/kafka_pipeline.py, and the expected result."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from examples.kafka_pipeline import DELIVERED, RETURNED, SCHEMAS, rows
from tests.kafka.topics import Topics

RESULT = (
    "order_id BIGINT, order_time TIMESTAMP, delivery_time TIMESTAMP, courier STRING, "
    "return_time TIMESTAMP"
)
START = datetime(2024, 5, 4, tzinfo=timezone.utc)
LATER = timedelta(days=2)
PARTITIONS = 3
MOST_HOURS_LATE = 1
Message = tuple[str, dict[str, Any]]
Row = tuple[Any, ...]


class Waves:
    """Messages in waves of one hour of event time.

    A message is up to an hour late and is in any partition. The messages are out of order within
    and across partitions, but never below a watermark with the pipeline's lag of three hours.
    """

    def __init__(self, topics: Topics, seed: int, hours: int, orders_an_hour: int = 40) -> None:
        self.topics = topics
        self._rng = Random(f"waves/{seed}")
        self._waves: list[list[Message]] = [[] for _ in range(hours + 6)]
        numbers = itertools.count()
        for hour in range(hours):
            for _ in range(orders_an_hour):
                placed = START + timedelta(hours=hour, seconds=self._rng.randrange(3600))
                for message in messages_of_order(self._rng, next(numbers), placed):
                    self._put(message)
        topics.create(PARTITIONS, *SCHEMAS)

    def __len__(self) -> int:
        return len(self._waves)

    def send(self) -> None:
        """Send the next wave."""
        wave = self._waves.pop(0)
        self._rng.shuffle(wave)
        for topic, row in wave:
            self.topics.send(topic, self._rng.randrange(PARTITIONS), row)
        self.topics.flush()

    def send_all(self) -> None:
        while self._waves:
            self.send()
        self.close()

    def close(self) -> None:
        """Send rows so late that all earlier results are final; they match nothing."""
        after = START + LATER
        self.topics.send("orders", 0, {"order_id": -1, "order_time": _text(after)})
        self.topics.send("deliveries", 0, {"order_id": -2, "delivery_time": _text(after)})
        self.topics.send("returns", 0, {"order_id": -3, "return_time": _text(after)})
        self.topics.flush()

    def _put(self, message: Message) -> None:
        hours = (datetime.fromisoformat(time_of(message)) - START) // timedelta(hours=1)
        self._waves[hours + self._rng.randint(0, MOST_HOURS_LATE)].append(message)


def messages_of_order(rng: Random, number: int, placed: datetime) -> Iterator[Message]:
    """An order, its deliveries and their returns."""
    yield "orders", {"order_id": number, "order_time": _text(placed)}
    delivered = placed
    # No two result rows are equal, so duplicates of Kafka's sink can be recognized.
    for courier in rng.sample(["Ada", "Émile", None], rng.choice([0, 1, 1, 1, 2])):
        # some beyond the bound, and some exactly at it
        delivered = placed + timedelta(minutes=rng.choice([60, rng.randrange(80)]))
        row = {"order_id": number, "delivery_time": _text(delivered), "courier": courier}
        yield "deliveries", row
    for _ in range(rng.choice([0, 0, 1])):
        returned = delivered + timedelta(minutes=rng.choice([120, rng.randrange(150)]))
        yield "returns", {"order_id": number, "return_time": _text(returned)}


def time_of(message: Message) -> str:
    (time,) = (value for name, value in message[1].items() if name.endswith("_time"))
    return str(time)


def _text(time: datetime) -> str:
    return time.isoformat()


def batch_join(spark: SparkSession, topics: Topics) -> list[Row]:
    """The same join as a batch query over all messages in the topics."""

    def read(name: str) -> DataFrame:
        messages = (
            spark.read.format("kafka")
            .option("kafka.bootstrap.servers", topics.broker.bootstrap)
            .option("subscribe", topics.prefix + name)
            .load()
        )
        return rows(messages, name)

    tables = {name: f"batch_{name}" for name in SCHEMAS}
    for name, view in tables.items():
        read(name).createOrReplaceTempView(view)
    result = spark.sql(
        f"""
        SELECT o.order_id, order_time, delivery_time, courier, return_time
        FROM {tables["orders"]} o
        LEFT JOIN {tables["deliveries"]} d ON {DELIVERED}
        LEFT JOIN {tables["returns"]} r ON {RETURNED}
        """
    )
    return completed(result)


def distinct_rows(spark: SparkSession, topics: Topics, name: str) -> list[Row]:
    """The rows that the pipeline wrote to a topic, without duplicates of its at-least-once sink.

    Kafka's sink writes a row again if Spark retries its task or runs its batch again. So a count of
    equal rows says nothing about the join. The tests with a table as the sink compare the counts.
    """
    lines = sorted({json.dumps(value) for value in topics.values(name)})
    return completed(spark.read.schema(RESULT).json(spark.sparkContext.parallelize(lines)))


def completed(result: DataFrame) -> list[Row]:
    """The rows without those of ``close``, sorted."""
    kept = result.where("order_id IS NULL OR order_id >= 0")
    return sorted((tuple(row) for row in kept.collect()), key=str)
