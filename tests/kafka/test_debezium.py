"""examples/debezium_to_topic.py: the last message of each key in the topic is the batch join."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from examples import debezium_to_topic
from tests.kafka.broker import Broker
from tests.kafka.topics import Topics

# a topic that is compacted within seconds, except for its active segment
AT_ONCE = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.01",
    "segment.ms": "500",
    "delete.retention.ms": "500",
}
COMPACTED_WITHIN_S = 300
KEYS = {"orders": "order_id", "customers": "id"}
PARTITIONS = 2
Row = dict[str, Any]


@pytest.fixture
def topics(kafka: Broker, request: pytest.FixtureRequest) -> Topics:
    return Topics(kafka, f"{request.node.name}-")


class Tables:
    """Two tables, and the Debezium messages of their changes."""

    def __init__(self, topics: Topics) -> None:
        self.topics = topics
        self.rows: dict[str, dict[int, Row]] = {name: {} for name in KEYS}
        self._rng = Random("debezium")
        self._lsn = 0

    def change(self) -> None:
        if self._rng.random() < 0.6:
            order, customer = self._rng.randrange(8), self._rng.choice([None, 1, 2, 3])
            row: Row = {"order_id": order, "customer_id": customer}
            row["amount"] = self._rng.randrange(9)
            self.write("orders", order, None if self._rng.random() < 0.25 else row)
        else:
            number = self._rng.randrange(1, 4)
            row = {"id": number, "name": self._rng.choice(["Ada", "Émile", None])}
            self.write("customers", number, None if self._rng.random() < 0.3 else row)

    def write(self, table: str, key: int, row: Row | None) -> None:
        before = self.rows[table].pop(key, None)
        if before is None and row is None:
            return
        self._lsn += 1
        op = "d" if row is None else "c" if before is None else "u"
        source = {"lsn": self._lsn}
        # By default, Postgres logs only the key of the old row.
        known = None if before is None or op == "u" else {KEYS[table]: key}
        message = {"op": op, "before": known, "after": row, "source": source}
        self.topics.send(table, key % PARTITIONS, message)
        if row is None:
            self.topics.send(table, key % PARTITIONS, None)
        else:
            self.rows[table][key] = row

    def joined(self) -> dict[str, Row]:
        return {
            str(key): {
                "order_id": key,
                "amount": order["amount"],
                "name": self.rows["customers"].get(order["customer_id"], {}).get("name"),
            }
            for key, order in self.rows["orders"].items()
        }


def test_last_message_of_each_key_equals_the_join(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    topics.create(PARTITIONS, *KEYS, "wide")
    tables = Tables(topics)
    bootstrap = topics.broker.bootstrap
    result = debezium_to_topic.changes(spark, bootstrap, topics.prefix)
    writer = debezium_to_topic.to_topic(result, bootstrap, topics.prefix + "wide")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    last: dict[str | None, Any] = {}
    for wave in range(3):
        for _ in range(15):
            tables.change()
        if wave == 2:
            gone = min(key for key in tables.rows["orders"] if str(key) in last)
            tables.write("orders", gone, None)
        topics.flush()
        writer.trigger(availableNow=True).start().awaitTermination()
        last = dict(topics.messages("wide"))
        found = {key: {"name": None, **value} for key, value in last.items() if value is not None}
        assert found == tables.joined()
    assert last[str(gone)] is None


@pytest.mark.skipif("not config.option.compaction", reason="--compaction waits for the broker")
def test_compacted_topic_equals_the_join(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    """The broker deletes messages replaced by a later one of their key, and tombstones."""
    topics.create(PARTITIONS, *KEYS)
    topics.create(1, "wide", settings=AT_ONCE)
    tables = Tables(topics)
    bootstrap = topics.broker.bootstrap
    result = debezium_to_topic.changes(spark, bootstrap, topics.prefix)
    writer = debezium_to_topic.to_topic(result, bootstrap, topics.prefix + "wide")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    written: list[str | None] = []
    for wave in range(4):
        for _ in range(15):
            tables.change()
        if wave == 3:
            gone = min(key for key in written if key and int(key) in tables.rows["orders"])
            tables.write("orders", int(gone), None)
        topics.flush()
        writer.trigger(availableNow=True).start().awaitTermination()
        written = [key for key, _ in topics.messages("wide")]
    assert len(written) > len(set(written))
    assert gone in written

    # A segment is rolled by the first message after its time, so these messages only roll it.
    until = time.monotonic() + COMPACTED_WITHIN_S
    while True:
        topics.send_by_key("wide", b"end", "null")
        topics.flush()
        left = [(key, value) for key, value in topics.messages("wide") if key != "end"]
        keys = [key for key, _ in left]
        if len(keys) == len(set(keys)) and gone not in keys:
            break
        assert time.monotonic() < until, f"not compacted: {left}"
        time.sleep(1)
    assert {key: {"name": None, **value} for key, value in left} == tables.joined()
