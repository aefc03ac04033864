"""Topics of a real broker that are partitioned alike: joined without a shuffle, as with one."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import streamjoin
from tests.kafka.broker import Broker
from tests.kafka.topics import Topics

PARTITIONS = 3
ON = "o.key = d.key AND d.t BETWEEN o.t AND o.t + 10"


@pytest.fixture
def topics(kafka: Broker, request: pytest.FixtureRequest) -> Topics:
    # a parameter stands in brackets, which no topic may have in its name
    return Topics(kafka, request.node.name.replace("[", "-").replace("]", "-"))


class Joined:
    """One query over its restarts, into a table."""

    def __init__(self, spark: SparkSession, topics: Topics, folder: Path, how: str) -> None:
        self._spark, self._topics, self._folder, self._how = spark, topics, folder, how
        self.co_partitioned = True
        self.operator: dict[str, Any] = {}

    def _topic(self, name: str, alias: str) -> DataFrame:
        rows = (
            self._spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self._topics.broker.bootstrap)
            .option("subscribe", self._topics.prefix + name)
            .option("startingOffsets", "earliest")
            .option("minPartitions", 5)
            .load()
            .selectExpr("key", "from_json(CAST(value AS STRING), 't BIGINT, n BIGINT') AS v")
            .selectExpr("key", "v.t", "v.n")
        )
        return streamjoin.impose_order(rows, "t", 3).alias(alias)

    def run(self) -> None:
        orders, deliveries = self._topic("orders", "o"), self._topic("deliveries", "d")
        how: Any = self._how
        result = streamjoin.stream_join(
            orders, deliveries, ON, how, co_partitioned=self.co_partitioned
        )
        query = (
            result.selectExpr("CAST(o.key AS STRING) AS k", "o.n AS o", "d.n AS d")
            .writeStream.format("parquet")
            .option("path", str(self._folder / "table"))
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        for progress in query.recentProgress:
            self.operator = json.loads(progress.json)["stateOperators"][0]

    def rows(self) -> list[tuple[Any, ...]]:
        table = self._spark.read.parquet(str(self._folder / "table"))
        return sorted((tuple(row) for row in table.collect()), key=str)


def send(rng: Random, topics: Topics, wave: int) -> None:
    for n in range(40):
        key = None if rng.random() < 0.1 else f"order-{rng.randrange(12)}".encode()
        row = {"t": wave * 10 + rng.randrange(14), "n": wave * 100 + n}
        topics.send_by_key(rng.choice(["orders", "deliveries"]), key, json.dumps(row))
    topics.flush()


@pytest.mark.parametrize("how", ["left", "full"])
def test_what_comes_out_is_that_of_a_join_with_a_shuffle(
    spark: SparkSession, topics: Topics, tmp_path: Path, how: str
) -> None:
    topics.create(PARTITIONS, "orders", "deliveries")
    in_place = Joined(spark, topics, tmp_path / "in_place", how)
    shuffled = Joined(spark, topics, tmp_path / "shuffled", how)
    shuffled.co_partitioned = False
    rng = Random(f"co_partitioned/{how}")
    for wave in range(3):
        send(rng, topics, wave)
        in_place.run()
        shuffled.run()
        assert in_place.rows() == shuffled.rows()
    assert any(None not in row for row in shuffled.rows())
    assert in_place.operator["numShufflePartitions"] == PARTITIONS


def test_rows_that_another_client_has_placed_are_refused(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    topics.create(PARTITIONS, "orders", "deliveries")
    for n in range(20):
        row = json.dumps({"t": n, "n": n})
        topics.send_by_key("orders", f"order-{n}".encode(), row, as_java=False)
    topics.flush()
    with pytest.raises(StreamingQueryException, match="MISPLACED_ROW") as refused:
        Joined(spark, topics, tmp_path, "inner").run()
    said = str(refused.value)
    assert f"of {topics.prefix}orders where its key does not belong" in said
    assert "partitioner=murmur2_random" in said
