"""Hot keys: a key with half of all rows is spread over partitions, with the same results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import pending, rescale
from tests.orders import Shop, at
from tests.parameters import JOIN_TYPES, rest_is_thorough
from tests.streams import Run, wait_for_report

HOT = 7
BATCHES = 8
WITHIN_A_MINUTE = (
    "o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' MINUTE"
)
Arrivals = list[tuple[int | None, str | None]]


def clock(second: int) -> str:
    return f"{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def arrivals(batch: int, offset: int) -> Arrivals:
    """Ten minutes of rows: every other row has the hot key, the others unique ones, one has NULL.

    The times of each odd batch overlap those of the previous batch.
    """
    begin = max(0, batch * 600 - 100 * (batch % 2))
    rows: Arrivals = [
        (HOT if n % 2 else n + 100, clock(begin + n * 5 + offset)) for n in range(120)
    ]
    return [*rows, (None, clock(begin)), (HOT, None)]


def table(spark: SparkSession, rows: Arrivals, time: str) -> DataFrame:
    data = [(i, c and at(c)) for i, c in rows]
    return spark.createDataFrame(data, f"id INT, {time} STRING").withColumn(
        time, F.to_timestamp(time)
    )


@pytest.fixture
def shop(spark: SparkSession, tmp_path: Path) -> Shop:
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "4")
    session.conf.set("spark.sql.streamJoin.hotKeyRows", "50")
    session.conf.set("spark.sql.streamJoin.hotKeyBuckets", "1")
    return Shop(session, tmp_path)


def run_of(shop: Shop, how: str) -> Run:
    return shop.joined(how, WITHIN_A_MINUTE, lag="5 minutes")


def run_batches(
    run: Run, shop: Shop, batches: range, capsys: pytest.CaptureFixture[str] | None = None
) -> str:
    """Run several batches of one query; return the output of explain if `capsys` is given."""
    query = run.start(processingTime="0 seconds")
    try:
        for batch in batches:
            shop.order(*arrivals(batch, 0))
            shop.deliver(*arrivals(batch, 3))
            query.processAllAvailable()
        wait_for_report(query, run.checkpoint)
        for each in query.recentProgress:
            run.progress[each["batchId"]] = json.loads(each.json)
        if capsys:
            query.explain()
            return capsys.readouterr().out
        return ""
    finally:
        query.stop()


def partitions_of_the_hot_key(run: Run) -> int:
    waiting = pending(run.checkpoint).where(F.get_json_object("row", "$.id") == HOT)
    return waiting.select("partition_id").distinct().count()


@pytest.mark.parametrize("how", rest_is_thorough(JOIN_TYPES, "left", "full"))
def test_spread_hot_key_leaves_results_unchanged(
    spark: SparkSession, shop: Shop, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(shop, how)
    run_batches(run, shop, range(BATCHES // 2))
    assert run.metrics()["hotKeys"] == 1
    files = sorted((run.checkpoint / "state/0/_hotKeys").glob("[0-9]*"))
    assert len(files) == 1
    plan = run_batches(run, shop, range(BATCHES // 2, BATCHES), capsys)
    assert "rows of one key spread by buckets of" in plan
    assert sorted((run.checkpoint / "state/0/_hotKeys").glob("[0-9]*")) == files
    orders = [row for batch in range(BATCHES) for row in arrivals(batch, 0)]
    deliveries = [row for batch in range(BATCHES) for row in arrivals(batch, 3)]
    expected = (
        table(spark, orders, "order_time")
        .alias("o")
        .join(table(spark, deliveries, "delivery_time").alias("d"), F.expr(WITHIN_A_MINUTE), how)
    )
    metrics = run.metrics()
    waiting = pending(run.checkpoint).count()
    # `pending` shows a buffered row once, however many partitions have a replica of it.
    assert waiting < metrics["bufferedRowsLeft"] + metrics["bufferedRowsRight"]
    assert partitions_of_the_hot_key(run) > 1
    shop.order((0, "20:00"))
    shop.deliver((1, "20:00"))
    run.step()
    result = [tuple(map(str, row)) for row in run.rows() if "20:00" not in str(row)]
    assert sorted(result) == sorted(tuple(map(str, row)) for row in expected.collect())
    assert run.total("lateRowsLeft") == run.total("lateRowsRight") == 0


@pytest.mark.parametrize(
    ("how", "partitions"), rest_is_thorough([("left", 7), ("full", 3), ("full", 1)], ("left", 7))
)
def test_rescaled_hot_key_keeps_rows_and_results(shop: Shop, how: str, partitions: int) -> None:
    stays, moves = run_of(shop, how), run_of(shop, how)
    moves.checkpoint = stays.checkpoint.with_name("moves")
    run_batches(stays, shop, range(BATCHES // 2))
    before = pending(stays.checkpoint).count()
    rescale(stays.checkpoint, moves.checkpoint, partitions)
    hot = sorted((moves.checkpoint / "state/0/_hotKeys").glob("[0-9]*"))
    assert len(hot) == (0 if partitions == 1 else 1)
    assert pending(moves.checkpoint).count() == before
    stays.batches.clear()
    run_batches(stays, shop, range(BATCHES // 2, BATCHES))
    moves.step()
    if partitions > 1:
        assert moves.metrics()["hotKeys"] == 1
        assert partitions_of_the_hot_key(moves) > 1
    # The original query read these rows in several batches.
    assert sorted(map(str, moves.rows())) == sorted(map(str, stays.rows()))
    assert pending(moves.checkpoint).count() == pending(stays.checkpoint).count()


def test_key_is_not_spread_if_a_batch_spans_few_buckets(shop: Shop) -> None:
    """A batch spans ten minutes, a bucket two."""
    shop.session.conf.set("spark.sql.streamJoin.hotKeyBuckets", "5")
    run = run_of(shop, "left")
    run_batches(run, shop, range(3))
    assert "hotKeys" not in run.metrics()


def test_disabling_hot_keys_keeps_spread_keys_and_finds_no_more(
    shop: Shop,
) -> None:
    run = run_of(shop, "left")
    shop.session.conf.set("spark.sql.streamJoin.hotKeys", "false")
    run_batches(run, shop, range(3))
    assert "hotKeys" not in run.metrics()
    shop.session.conf.set("spark.sql.streamJoin.hotKeys", "true")
    run_batches(run, shop, range(3, 6))
    assert run.metrics()["hotKeys"] == 1
    shop.session.conf.set("spark.sql.streamJoin.hotKeys", "false")
    run_batches(run, shop, range(6, 7))
    assert run.metrics()["hotKeys"] == 1


def test_an_order_in_each_partition_keeps_the_rows_of_a_hot_key_together(shop: Shop) -> None:
    ordered = shop.ordered("5 minutes").streamJoin(
        shop.delivered("5 minutes"),
        WITHIN_A_MINUTE,
        order_by="o.order_time",
        order_scope="partition",
    )
    run = shop.run(ordered)
    run_batches(run, shop, range(BATCHES))
    times = [row[1] for row in run.rows() if row[0] == HOT]
    assert len(times) > 500
    assert times == sorted(times)
    assert "hotKeys" not in run.metrics()
