"""From topics of a real broker to a topic and to a table, compared with the batch join."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from examples import kafka_pipeline
from tests.kafka.broker import Broker
from tests.kafka.orders import Row, Waves, batch_join, completed, distinct_rows
from tests.kafka.topics import Topics


@pytest.fixture
def topics(kafka: Broker, request: pytest.FixtureRequest) -> Topics:
    return Topics(kafka, f"{request.node.name}-")


class Pipeline:
    """The example's pipeline on the topics of one test."""

    def __init__(self, spark: SparkSession, topics: Topics, folder: Path) -> None:
        self.spark = spark
        self.topics = topics
        self.table = folder / "table"
        self._checkpoint = folder / "checkpoint"

    def joined(self) -> DataFrame:
        return kafka_pipeline.joined(self.spark, self.topics.broker.bootstrap, self.topics.prefix)

    def to_table(self) -> DataStreamWriter:
        return kafka_pipeline.to_table(self.joined(), str(self.table), str(self._checkpoint))

    def to_topic(self) -> DataStreamWriter:
        name = self.topics.prefix + "completed"
        writer = kafka_pipeline.to_topic(self.joined(), self.topics.broker.bootstrap, name)
        return writer.option("checkpointLocation", str(self._checkpoint))

    def in_table(self) -> list[Row]:
        return completed(self.spark.read.parquet(str(self.table)).drop("run", "batch"))


def run_available(writer: DataStreamWriter) -> StreamingQuery:
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def late_rows(query: StreamingQuery) -> int:
    return sum(
        join["customMetrics"][f"lateRows{side}"]
        for each in query.recentProgress
        for join in json.loads(each.json)["stateOperators"]
        for side in ("Left", "Right")
    )


def test_distinct_rows_of_a_topic_equal_the_batch_join_across_restarts(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    waves = Waves(topics, seed=1, hours=3)
    topics.create(2, "completed")
    pipeline = Pipeline(spark, topics, tmp_path)
    for _ in range(2):
        waves.send()
        waves.send()
        assert late_rows(run_available(pipeline.to_topic())) == 0
    waves.send_all()
    run_available(pipeline.to_topic())
    expected = batch_join(spark, topics)
    assert len(expected) > 120
    assert distinct_rows(spark, topics, "completed") == expected


def test_pipeline_to_a_table_is_exact_after_broker_kills(
    spark: SparkSession, kafka: Broker, topics: Topics, tmp_path: Path
) -> None:
    waves = Waves(topics, seed=2, hours=3)
    pipeline = Pipeline(spark, topics, tmp_path)
    query = pipeline.to_table().start()
    try:
        waves.send()
        query.processAllAvailable()
        for _ in range(2):
            waves.send()
            kafka.kill()
            kafka.start()
            waves.send()
            query.processAllAvailable()
        waves.send_all()
        query.processAllAvailable()
        assert late_rows(query) == 0
    finally:
        query.stop()
    assert pipeline.in_table() == batch_join(spark, topics)


def test_malformed_messages_become_null_rows_and_are_counted(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    waves = Waves(topics, seed=3, hours=1)
    for topic in ("orders", "deliveries"):
        topics.send(topic, 0, b"{ no json")
        topics.send(topic, 1, None)
        topics.send(topic, 2, {"order_id": "seven", "order_time": "yesterday"})
    waves.send_all()
    pipeline = Pipeline(spark, topics, tmp_path)
    query = run_available(pipeline.to_table())
    joins = json.loads(query.recentProgress[0].json)["stateOperators"]
    # The upper join does not count unmatched rows of the lower join again.
    counted = sorted(join["customMetrics"]["nullTimeRowsLeft"] for join in joins)
    assert counted[-1] >= 3, counted
    expected = batch_join(spark, topics)
    assert [row for row in expected if row[0] is None] == [(None,) * 5] * 3
    assert pipeline.in_table() == expected


def test_flush_fails_for_a_message_to_an_unknown_partition(topics: Topics) -> None:
    """The helper must report an undelivered message, or a test would wait for its result."""
    topics.create(1, "narrow")
    topics.send("narrow", 7, {"order_id": 1})
    with pytest.raises(AssertionError, match=r"not delivered: .*narrow-7: .*Unknown partition"):
        topics.flush()
