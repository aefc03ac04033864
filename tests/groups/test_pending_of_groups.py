"""`pending` names the group that a buffered row waits for."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamjoin import pending, rescale
from tests.groups.topic import Topic
from tests.parameters import STATE_FORMATS
from tests.streams import Run, planned_at


@pytest.fixture
def topic(spark: SparkSession, tmp_path: Path) -> Topic:
    return Topic(spark, tmp_path)


def waiting(run: Run) -> dict[tuple[str, str | None], int]:
    """The number of buffered rows, by the column and the group that they wait for."""
    counts = pending(run.checkpoint).groupBy("waits_for", "waits_for_group").count().collect()
    return {(row.waits_for, row.waits_for_group): row["count"] for row in counts}


@pytest.mark.parametrize("state", STATE_FORMATS)
def test_pending_names_the_slowest_group(topic: Topic, spark: SparkSession, state: str) -> None:
    spark.conf.set("spark.sql.streamJoin.stateFormat", state)
    try:
        run = topic.run(topic.ordered(["topic", "p"]), "full")
        topic.order(("a", 0, 1, "13:00"), ("a", 1, 2, "10:00"), (None, 1, 3, "12:00"))
        topic.deliver((8, "11:00"), (9, "12:00"))
        run.step()
        order, delivery = "left.order_time", "right.delivery_time"
        # deliveries have no groups
        expected = {(delivery, None): 2, (order, "a, 1"): 2}
        assert waiting(run) == expected
        rescale(run.checkpoint, topic.folder / "rescaled", 3)
        run.checkpoint = topic.folder / "rescaled"
        assert waiting(run) == expected
        topic.order(("a", 1, 4, "12:30"))
        run.step()
        assert waiting(run) == {(delivery, None): 3, (order, "NULL, 1"): 1}
    finally:
        spark.conf.unset("spark.sql.streamJoin.stateFormat")


@pytest.mark.connect
def test_pending_of_an_ordered_output_names_the_slowest_group(topic: Topic) -> None:
    run = Run(topic.ordered().orderBy("order_time"), topic.folder / "ordered")
    topic.order(("a", 0, 1, "13:00"), ("a", 1, 2, "10:00"))
    run.step()
    assert {name for _, name in waiting(run)} == {"1"}


def test_pending_does_not_name_an_idle_group(topic: Topic, spark: SparkSession) -> None:
    # an empty batch would have the time of the real clock
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    try:
        run = topic.run(topic.ordered(idle_timeout="10 minutes"), "full")
        topic.order(("a", 0, 1, "13:00"), ("a", 1, 2, "10:00"))
        topic.deliver((9, "12:00"))
        planned_at(run, 0)
        order, delivery = "left.order_time", "right.delivery_time"
        assert waiting(run) == {(order, "1"): 1, (delivery, None): 1}
        topic.order(("a", 0, 3, "12:10"))
        topic.deliver((8, "13:10"))
        planned_at(run, 10)
        assert waiting(run) == {(order, "0"): 1, (delivery, None): 2}
    finally:
        spark.conf.unset("spark.sql.streaming.noDataMicroBatches.enabled")
