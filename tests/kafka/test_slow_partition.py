"""Twelve partitions of a topic, of which one stops for three hours of event time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order
from tests.kafka.broker import Broker
from tests.kafka.topics import Topics
from tests.streams import Run

PARTITIONS = 12
SLOW = 7
START = datetime(2024, 5, 4, 6)
MINUTES = 360
OUTAGE = range(60, 240)
COLUMNS = {"orders": "ot", "deliveries": "dt"}
PER = ["topic", "partition"]

# About two hours of all partitions.
RATE = PARTITIONS * 120


def clock(minute: int) -> str:
    return (START + timedelta(minutes=minute)).isoformat()


class Shop:
    """An order a minute in each partition, and ten minutes later its delivery; a third has none."""

    def __init__(self, spark: SparkSession, kafka: Broker, folder: Path) -> None:
        self.spark = spark
        self.topics = Topics(kafka, f"slow-{uuid4()}-")
        self.topics.create(PARTITIONS, *COLUMNS)
        self.folder = folder

    def send(self, partitions: Iterable[int], minutes: Iterable[int]) -> None:
        for minute in minutes:
            for p in partitions:
                number = minute * PARTITIONS + p
                self.topics.send("orders", p, {"id": number, "ot": clock(minute)})
                if (minute + p) % 3:
                    row = {"id": number, "dt": clock(minute + 10)}
                    self.topics.send("deliveries", p, row)
        self.topics.flush()

    def ordered(self, name: str, per: list[str] | None) -> DataFrame:
        time = COLUMNS[name]
        schema = f"id INT, {time} TIMESTAMP"
        messages = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.topics.broker.bootstrap)
            .option("subscribe", self.topics.prefix + name)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", str(RATE))
            .load()
        )
        row = F.from_json(F.col("value").cast("string"), schema).alias("row")
        rows = messages.select("topic", F.col("partition").alias("p"), row)
        renamed = None if per is None else ["topic", "p"]
        return impose_order(rows.select("topic", "p", "row.*"), time, "1 minute", per=renamed)

    def run(self, name: str, per: list[str] | None) -> Run:
        left, right = (self.ordered(topic, per).alias(topic[0]) for topic in COLUMNS)
        on = "o.id = d.id AND d.dt BETWEEN o.ot AND o.ot + INTERVAL '30' MINUTE"
        joined = left.streamJoin(right, on, "left")
        return Run(joined.select("o.id", "o.ot", "d.dt"), self.folder / name)


def late(run: Run) -> int:
    return run.total("lateRowsLeft") + run.total("lateRowsRight")


@pytest.fixture
def shop(spark: SparkSession, kafka: Broker, tmp_path: Path) -> Shop:
    return Shop(spark, kafka, tmp_path)


def finish(shop: Shop, *runs: Run) -> None:
    """Send a last row to each partition, after which nothing waits for a watermark."""
    for minute in (100_000, 100_001):
        shop.send(range(PARTITIONS), [minute])
        for run in runs:
            run.step()


def rows(run: Run) -> list[tuple[Any, ...]]:
    last = 90_000 * PARTITIONS
    return sorted((row for row in run.rows() if row[0] < last), key=str)


def test_partition_that_stops_for_three_hours_has_no_late_row(
    shop: Shop, spark: SparkSession, kafka: Broker, tmp_path: Path
) -> None:
    others = [p for p in range(PARTITIONS) if p != SLOW]
    shop.send(range(PARTITIONS), range(OUTAGE.start))
    shop.send(others, range(OUTAGE.start, MINUTES))
    grouped, plain = shop.run("per", PER), shop.run("plain", None)
    for run in (grouped, plain):
        run.step()
    metrics = grouped.metrics()
    assert metrics["groups.ot"] == PARTITIONS
    slowest = f"groupWatermark.ot.{shop.topics.prefix}orders, {SLOW}"
    fastest = max(v for k, v in metrics.items() if k.startswith("groupWatermark.ot."))
    assert metrics[slowest] == metrics["watermark.ot"] < fastest
    # the producer of the partition returns, and sends what it has
    shop.send([SLOW], range(OUTAGE.start, MINUTES))
    for run in (grouped, plain):
        run.step()
    finish(shop, grouped, plain)
    without = Shop(spark, kafka, tmp_path / "without")
    without.send(range(PARTITIONS), range(MINUTES))
    in_order = without.run("per", PER)
    in_order.step()
    finish(without, in_order)
    assert late(grouped) == late(in_order) == 0
    assert rows(grouped) == rows(in_order)
    assert len(rows(grouped)) == MINUTES * PARTITIONS
    assert late(plain) >= len(OUTAGE)
    assert len(rows(plain)) < len(rows(grouped))


def test_partition_without_a_row_holds_the_watermark_back(shop: Shop) -> None:
    run = shop.run("listed", PER)
    others = [p for p in range(PARTITIONS) if p != SLOW]
    shop.send(others, range(10))
    run.step()
    assert "watermark.ot" not in run.metrics()
    assert run.metrics()["groups.ot"] == PARTITIONS
    shop.send([SLOW], [3])
    run.step()
    assert (
        run.metrics()["watermark.ot"]
        == (START.replace(tzinfo=timezone.utc).timestamp() + 2 * 60) * 1000
    )
    assert late(run) == 0
