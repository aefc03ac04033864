"""Debezium messages as the versions of a temporal join, from topic to topic."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import from_debezium, impose_order
from tests.kafka.broker import Broker
from tests.kafka.topics import Topics
from tests.parameters import STATE_FORMATS

PARTITIONS = 2
BEGIN_MS = 1_714_780_800_000
WAVE_MS = 60_000
CURRENCIES = ["CHF", "EUR", "GBP", "USD"]
RATE = "STRUCT<currency: STRING, rate: DOUBLE>"
SCHEMAS = {
    "orders": "id INT, currency STRING, placed BIGINT",
    "rates": f"op STRING, before {RATE}, after {RATE}, source STRUCT<ts_ms: BIGINT>",
}


@pytest.fixture
def topics(kafka: Broker, request: pytest.FixtureRequest) -> Topics:
    return Topics(kafka, re.sub(r"\W", "-", f"{request.node.name}-"))


class Market:
    """Changing rates, and orders; a wave of both is a minute, in any order."""

    def __init__(self, topics: Topics) -> None:
        self.topics = topics
        self.rng = Random("versions")
        self.rates: dict[str, float] = {}
        self.changes: list[tuple[int, str, float | None]] = []
        self.orders: list[tuple[int, str, int]] = []

    def wave(self, number: int) -> None:
        begin = BEGIN_MS + number * WAVE_MS
        # Messages of one key are in order, those of several keys are not.
        for moment in sorted(self.rng.sample(range(WAVE_MS), 12)):
            self.change(begin + moment)
        for _ in range(30):
            moment = begin + self.rng.randrange(WAVE_MS)
            if self.rng.random() < 0.3:
                # exactly at the time of a change
                moment = self.rng.choice(self.changes[-12:])[0]
            self.order(self.rng.choice(CURRENCIES), moment)
        self.topics.flush()

    def change(self, at: int) -> None:
        currency = self.rng.choice(CURRENCIES)
        gone = self.rng.random() < 0.3
        before = self.rates.pop(currency, None)
        if gone and before is None:
            return
        after = None if gone else round(self.rng.random(), 3)
        self.changes.append((at, currency, after))
        if after is not None:
            self.rates[currency] = after
        self.message(currency, at, before, after)

    def message(self, currency: str, at: int, before: float | None, after: float | None) -> None:
        images = [None if r is None else {"currency": currency, "rate": r} for r in (before, after)]
        op = "d" if after is None else "c" if before is None else "u"
        envelope = {"op": op, "before": images[0], "after": images[1], "source": {"ts_ms": at}}
        partition = hash_of(currency) % PARTITIONS
        self.topics.send("rates", partition, envelope)
        if after is None:
            self.topics.send("rates", partition, None)

    def order(self, currency: str, placed: int) -> None:
        order = (len(self.orders), currency, placed)
        self.orders.append(order)
        row = dict(zip(("id", "currency", "placed"), order, strict=True))
        self.topics.send("orders", self.rng.randrange(PARTITIONS), row)

    def close(self) -> None:
        end = BEGIN_MS + 100 * WAVE_MS
        self.message("END", end, None, 0.0)
        self.topics.send("orders", 0, {"id": -1, "currency": "END", "placed": end})
        self.topics.flush()

    def expected(self) -> Counter[tuple[int, float | None]]:
        return Counter((number, self.valid(currency, at)) for number, currency, at in self.orders)

    def valid(self, currency: str, placed: int) -> float | None:
        known = [c for c in self.changes if c[1] == currency and c[0] <= placed]
        return max(known, key=lambda change: change[0])[2] if known else None


def hash_of(text: str) -> int:
    return sum(text.encode())


def priced(spark: SparkSession, topics: Topics) -> DataFrame:
    def messages(name: str) -> DataFrame:
        read = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", topics.broker.bootstrap)
            .option("subscribe", topics.prefix + name)
            .option("startingOffsets", "earliest")
            .load()
        )
        return read.select(F.from_json(F.col("value").cast("string"), SCHEMAS[name]).alias("value"))

    orders = messages("orders").select("value.*")
    timed = orders.withColumn("placed", F.timestamp_millis("placed"))
    changes = from_debezium(messages("rates"), "currency", sequence_by="source.ts_ms")
    changed = changes.withColumn("changed", F.expr("timestamp_millis(_commit_version)"))
    result: DataFrame = (
        impose_order(timed, "placed", "2 minutes")
        .alias("o")
        .streamJoin(
            impose_order(changed, "changed", "2 minutes").alias("r"),
            "o.currency = r.currency",
            "left_asof",
        )
        .select("o.id", "r.rate")
    )
    return result


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_orders_join_the_rate_valid_at_their_time(
    spark: SparkSession, topics: Topics, tmp_path: Path, state_format: str
) -> None:
    topics.create(PARTITIONS, *SCHEMAS, "priced")
    market = Market(topics)
    key = "spark.sql.streamJoin.stateFormat"
    spark.conf.set(key, state_format)
    try:
        for number in range(4):
            market.wave(number)
            if number == 3:
                market.close()
            value = F.to_json(F.struct("id", "rate")).alias("value")
            writer = priced(spark, topics).select(value).writeStream.format("kafka")
            writer = writer.option("kafka.bootstrap.servers", topics.broker.bootstrap)
            writer = writer.option("topic", topics.prefix + "priced")
            writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
            # Each wave is a restart.
            writer.trigger(availableNow=True).start().awaitTermination()
    finally:
        spark.conf.unset(key)
    rows: list[dict[str, Any]] = topics.values("priced")
    expected = market.expected()
    assert Counter((row["id"], row.get("rate")) for row in rows) == expected
    assert {rate is None for _, rate in expected} == {True, False}
