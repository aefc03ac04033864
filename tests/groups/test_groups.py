"""`per`: the watermark of a column is the least of the watermarks of its groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order
from tests.groups.topic import Topic, mark, pairs
from tests.orders import WITHIN_THE_HOUR
from tests.streams import Run, wait_until


@pytest.fixture
def topic(spark: SparkSession, tmp_path: Path) -> Topic:
    return Topic(spark, tmp_path)


@pytest.mark.connect
def test_rows_of_a_slow_partition_are_not_late(topic: Topic) -> None:
    run, without = topic.run(topic.ordered()), topic.run(topic.ordered(None), name="without")
    topic.order(("a", 0, 1, "10:00"), ("a", 1, 2, "10:00"))
    topic.deliver((9, "10:00"))
    run.step()
    without.step()
    # partition 1 stands still for three hours
    topic.order(("a", 0, 3, "13:00"))
    topic.deliver((3, "13:10"), (2, "10:30"))
    run.step()
    without.step()
    topic.order(("a", 1, 4, "10:20"), ("a", 1, 5, "13:00"))
    topic.deliver((4, "13:15"), (5, "13:20"))
    run.step()
    without.step()
    assert run.total("lateRowsLeft") == 0
    assert without.total("lateRowsLeft") == 1
    assert mark(run) == 13 * 60
    assert (4, None) in pairs(run.rows())
    assert (4, None) not in pairs(without.rows())


def test_several_columns_and_null_identify_a_group(topic: Topic) -> None:
    run = topic.run(topic.ordered(["topic", "p"]))
    topic.order(("a", 1, 1, "10:00"), ("b", 1, 2, "10:10"), (None, None, 3, "10:20"))
    run.step()
    assert run.metrics()["groups.order_time"] == 3
    assert run.metrics()["lag.order_time"] == 0
    topic.order(("a", 1, 4, "11:00"), ("b", 1, 5, "11:10"))
    run.step()
    found = {k: v for k, v in run.metrics().items() if k.startswith("groupWatermark.order_time.")}
    start = "groupWatermark.order_time."
    assert [k.removeprefix(start) for k in sorted(found, key=found.__getitem__)] == [
        "NULL, NULL",
        "a, 1",
        "b, 1",
    ]
    assert mark(run) == 10 * 60 + 20
    assert run.metrics()["groupSpread.order_time"] == 50 * 60_000


@pytest.mark.parametrize("state", ["segments", "rocksdb"])
def test_a_query_adds_changes_and_removes_per(
    topic: Topic, spark: SparkSession, state: str
) -> None:
    spark.conf.set("spark.sql.streamJoin.stateFormat", state)
    try:
        topic.order(("a", 0, 1, "10:00"), ("a", 1, 2, "10:30"))
        topic.deliver((9, "09:00"))
        first = topic.run(topic.ordered(None))
        first.step()
        assert mark(first) == 10 * 60 + 30
        # new groups start at the watermark of the column
        added = topic.run(topic.ordered("p"))
        topic.order(("a", 0, 3, "10:10"), ("a", 1, 4, "11:00"))
        added.step()
        assert (mark(added), added.total("lateRowsLeft")) == (10 * 60 + 30, 1)
        topic.order(("a", 0, 5, "10:50"))
        added.step()
        assert mark(added) == 10 * 60 + 50
        # other groups forget the stored ones
        changed = topic.run(topic.ordered("topic"))
        topic.order(("a", 1, 6, "12:00"))
        changed.step()
        assert (mark(changed), changed.metrics()["groups.order_time"]) == (12 * 60, 1)
        removed = topic.run(topic.ordered(None))
        topic.order(("b", 1, 7, "13:00"))
        removed.step()
        assert mark(removed) == 13 * 60
        again = topic.run(topic.ordered("topic"))
        topic.order(("b", 1, 8, "14:00"))
        again.step()
        assert (mark(again), again.metrics()["groups.order_time"]) == (14 * 60, 1)
    finally:
        spark.conf.unset("spark.sql.streamJoin.stateFormat")


def test_an_idle_group_releases_the_watermark_in_a_batch_without_rows(topic: Topic) -> None:
    run = topic.run(topic.ordered(idle_timeout="2 seconds"))
    topic.order(("a", 0, 1, "10:00"), ("a", 1, 2, "10:00"))
    topic.deliver((9, "12:00"))
    run.step()
    topic.order(("a", 0, 3, "12:00"))
    query = run.start(processingTime="0 seconds")
    # order 1 is evicted by deliveries alone; orders release the delivery once partition 1 is idle
    try:
        wait_until(
            query,
            lambda: any(
                p["stateOperators"]
                and p["stateOperators"][0]["customMetrics"]["groups.order_time"] < 2
                for p in query.recentProgress
            ),
        )
    finally:
        query.stop()


def with_spark_watermark(stream: DataFrame) -> DataFrame:
    """Some operators after `withWatermark`: a filter, a join with a table, and a rename."""
    table = stream.sparkSession.createDataFrame([("a",)], "topic STRING")
    watermarked = stream.withColumnRenamed("order_time", "t").withWatermark("t", "0 seconds")
    named = watermarked.where("id > 0").join(F.broadcast(table), "topic")
    return named.withColumnRenamed("t", "order_time")


def of_two_streams(stream: DataFrame) -> DataFrame:
    watermarked = stream.withWatermark("order_time", "0 seconds")
    return watermarked.where("p = 0").unionByName(watermarked.where("p > 0"))


def as_it_is(stream: DataFrame) -> DataFrame:
    return stream


@pytest.mark.parametrize("below", [as_it_is, with_spark_watermark, of_two_streams])
def test_window_above_does_not_drop_rows_of_a_slow_partition(
    topic: Topic, below: Callable[[DataFrame], DataFrame]
) -> None:
    """Also if Spark's watermark is declared some operators below the order."""
    stream = below(topic.orders.stream())
    left = impose_order(stream, "order_time", "0 seconds", per="p").alias("o")
    joined = left.streamJoin(topic.delivered(per="p"), WITHIN_THE_HOUR)
    counted = joined.groupBy(F.window("order_time", "1 hour")).count()
    run = Run(counted, topic.folder / "windows")
    topic.order(("a", 0, 1, "10:00"), ("a", 1, 2, "10:00"))
    topic.deliver((1, "10:00"))
    topic.deliver((2, "10:00"), p=1)
    run.step()
    topic.order(("a", 0, 3, "14:00"))
    topic.deliver((3, "14:00"))
    run.step()
    topic.order(("a", 1, 1, "10:05"), ("a", 1, 2, "14:00"))
    topic.deliver((1, "10:05"), p=1)
    run.step()
    topic.order(("a", 0, 7, "18:00"), ("a", 1, 7, "18:00"))
    topic.deliver((7, "18:00"))
    topic.deliver((7, "18:00"), p=1)
    run.step()
    topic.order(("a", 0, 8, "18:00"))
    run.step()
    counts = {row[0][0].hour: row[1] for row in run.rows()}
    assert run.total("lateRowsLeft") == 0
    # the first order 1 with two deliveries, order 2 with one, and the second order 1 with one
    assert counts[10] == 4


@pytest.mark.connect
def test_sql_and_the_hint_accept_per(topic: Topic, spark: SparkSession) -> None:
    topic.orders.stream().createOrReplaceTempView("orders_per")
    ordered = spark.sql(
        "SELECT * FROM IMPOSE_ORDER(TABLE(orders_per), DESCRIPTOR(order_time), "
        "INTERVAL '0' SECOND, per => DESCRIPTOR(topic, p))"
    ).alias("o")
    hinted = topic.orders.stream().hint(
        "impose_order", "order_time", "0 seconds", "per=topic", "per=p"
    )
    topic.order(("a", 0, 1, "10:00"), ("b", 0, 2, "10:30"))
    topic.deliver((9, "09:00"))
    for name, left in ("sql", ordered), ("hint", hinted.alias("o")):
        run = topic.run(left, name=name)
        run.step()
        assert (mark(run), run.metrics()["groups.order_time"]) == (10 * 60, 2)


@pytest.mark.connect
@pytest.mark.parametrize("replaced", [True, False], ids=["replaceBuiltin", "hint alone"])
def test_hint_gives_groups_to_a_join_of_spark(
    topic: Topic, spark: SparkSession, replaced: bool
) -> None:
    spark.conf.set("spark.sql.streamJoin.replaceBuiltin", str(replaced).lower())
    try:
        hint = ("impose_order", "order_time", "0 seconds", "per=topic", "per=p")
        left = topic.orders.stream().withWatermark("order_time", "0 seconds").hint(*hint)
        right = topic.deliveries.stream().withWatermark("delivery_time", "0 seconds")
        joined = left.alias("o").join(right.alias("d"), F.expr(WITHIN_THE_HOUR), "left")
        run = Run(joined, topic.folder / "replaced")
        topic.order(("a", 0, 1, "10:00"), ("b", 0, 2, "10:30"))
        topic.deliver((9, "09:00"))
        run.step()
        assert (mark(run), run.metrics()["groups.order_time"]) == (10 * 60, 2)
        topic.order(("a", 0, 3, "10:10"))
        run.step()
        assert run.total("lateRowsLeft") == 0
    finally:
        spark.conf.unset("spark.sql.streamJoin.replaceBuiltin")


@pytest.mark.connect
def test_explain_names_the_groups(topic: Topic, capsys: pytest.CaptureFixture[str]) -> None:
    left = topic.ordered(["topic", "p"], idle_timeout="10 minutes")
    left.streamJoin(topic.delivered(), WITHIN_THE_HOUR).explain()
    assert (
        "watermark of order_time: the latest order_time seen, of the slowest group by topic, p; "
        "after 10 minutes without a row, a group does not count; if none does, the watermark of "
        "the slowest input that it is joined with"
    ) in capsys.readouterr().out


@pytest.mark.connect
@pytest.mark.parametrize(
    ("per", "expected"),
    [
        ("partition", "the input has no such column. It is a column of per"),
        ("order_time", "it is the event time itself"),
        ("all", "a STRUCT<"),
        ("all.p", "it is a field inside a column"),
    ],
)
def test_column_that_cannot_identify_a_group_is_refused(
    topic: Topic, per: str, expected: str
) -> None:
    stream = topic.orders.stream().withColumn("all", F.struct("topic", "p"))
    with pytest.raises(AnalysisException, match=r"INVALID_COLUMN") as error:
        _ = impose_order(stream, "order_time", "0 seconds", per=per).schema
    assert expected in str(error.value)


def test_wrong_type_of_per_is_refused(topic: Topic) -> None:
    with pytest.raises(PySparkTypeError, match="`per`"):
        topic.ordered(per=[1])


@pytest.mark.connect
def test_per_without_a_join_is_refused(topic: Topic) -> None:
    ordered = topic.ordered()
    counted = ordered.groupBy(F.window("order_time", "1 hour")).count()
    joined = ordered.streamJoin(topic.delivered(), WITHIN_THE_HOUR)
    beside = joined.select("order_time").unionByName(ordered.select("order_time"))
    for unused in counted, beside:
        with pytest.raises(AnalysisException, match="UNUSED_WATERMARK_GROUPS"):
            Run(unused, topic.folder / "unused").start(availableNow=True)


def test_more_groups_than_the_limit_are_refused(topic: Topic, spark: SparkSession) -> None:
    spark.conf.set("spark.sql.streamJoin.maxWatermarkGroups", "3")
    try:
        run = topic.run(topic.ordered())
        topic.order(*(("a", p, p, "10:00") for p in range(3)))
        topic.deliver((9, "09:00"))
        run.step()
        topic.order(("a", 3, 3, "10:00"))
        with pytest.raises(StreamingQueryException, match="TOO_MANY_WATERMARK_GROUPS"):
            run.step()
        fresh = topic.run(topic.ordered(), name="fresh")
        with pytest.raises(StreamingQueryException, match="are in 4 groups"):
            fresh.step()
    finally:
        spark.conf.unset("spark.sql.streamJoin.maxWatermarkGroups")
    run.step()
    assert run.metrics()["groups.order_time"] == 4


@pytest.mark.connect
def test_batch_query_ignores_per(topic: Topic, spark: SparkSession) -> None:
    topic.order(("a", 0, 1, "10:00"))
    table = spark.read.schema(topic.orders.schema).json(str(topic.orders.folder))
    assert impose_order(table, "order_time", "0 seconds", per="p").count() == 1
