"""Streams in the order of an event time: ORDER BY in append mode, alone and above joins."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order
from tests.orders import WITHIN_THE_HOUR, Shop, at
from tests.streams import Landing, Run


def events(
    spark: SparkSession, folder: Path, schema: str = "t TIMESTAMP, k INT, v STRING"
) -> Landing:
    return Landing(spark, folder / "events", schema)


def clocks(batches: dict[int, list[tuple[Any, ...]]], column: int = 0) -> list[str]:
    return [
        row[column].strftime("%H:%M") if row[column] else "-"
        for rows in batches.values()
        for row in rows
    ]


def test_rows_wait_until_nothing_before_them_can_come(spark: SparkSession, tmp_path: Path) -> None:
    source = events(spark, tmp_path)
    run = Run(
        impose_order(source.stream(), "t", "10 minutes").orderBy("t"), tmp_path / "checkpoint"
    )

    def step(*arrivals: str | None) -> list[str]:
        source.land(*({"t": c and at(c), "k": 1, "v": "x"} for c in arrivals))
        return clocks(run.step())

    assert step("10:05", "10:00", "10:20", "10:10") == ["10:00", "10:05", "10:10"]
    assert run.operator("streamOrder")["customMetrics"] == {
        "heldRows": 1,
        "lateRows": 0,
        "nullTimeRows": 0,
        "aheadRows": 0,
        "spilledBytes": 0,
        "watermark.t": 1714817400000,
    }
    # 10:10 may still come, 10:09 is late
    assert step("10:09", "10:10", None, "10:15") == ["-", "10:10"]
    metrics = run.operator("streamOrder")["customMetrics"]
    assert (metrics["heldRows"], metrics["lateRows"], metrics["nullTimeRows"]) == (2, 1, 1)
    assert step("10:40") == ["10:15", "10:20"]


def test_further_keys_break_ties_and_wait_for_all_of_a_time(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = events(spark, tmp_path, "n BIGINT, k INT, v STRING")
    ordered = impose_order(source.stream(), "n", 0).orderBy("n", F.desc("k"), "v")
    run = Run(ordered, tmp_path / "checkpoint")
    source.land(*({"n": n, "k": k, "v": v} for n, k, v in [(2, 1, "b"), (1, 1, "a"), (1, 2, "b")]))
    assert run.step() == {0: [(1, 2, "b"), (1, 1, "a")]}
    source.land(*({"n": n, "k": k, "v": v} for n, k, v in [(3, 0, "a"), (2, 1, "a"), (2, 7, "c")]))
    assert run.step() == {1: [(2, 7, "c"), (2, 1, "a"), (2, 1, "b")]}


@pytest.mark.parametrize("state_format", ["segments", "rocksdb"])
def test_random_streams_come_out_as_the_sorted_table(
    spark: SparkSession, tmp_path: Path, state_format: str
) -> None:
    seed = random.Random(7)
    rows = [
        {"t": n + seed.randint(-20, 20), "k": seed.randint(1, 3), "v": f"v{n}"} for n in range(300)
    ]
    source = events(spark, tmp_path, "t INT, k INT, v STRING")
    run = Run(impose_order(source.stream(), "t", 40).orderBy("t", "v"), tmp_path / "checkpoint")
    spark.conf.set("spark.sql.streamJoin.stateFormat", state_format)
    try:
        while rows:
            cut = seed.randint(20, 120)
            source.land(*rows[:cut])
            rows = rows[cut:]
            run.step()
        source.land({"t": 10_000, "k": 0, "v": "end"}, {"t": 20_000, "k": 0, "v": "end"})
        run.step()
    finally:
        spark.conf.unset("spark.sql.streamJoin.stateFormat")
    assert run.total("lateRows", "streamOrder") == 0
    out = [row for row in run.rows() if row[2] != "end"]
    everything = spark.read.schema(source.schema).json(str(source.folder)).where("v <> 'end'")
    assert out == [tuple(row) for row in everything.orderBy("t", "v").collect()]


def test_a_join_in_the_order_of_either_time(spark: SparkSession, shop: Shop) -> None:
    joined = shop.ordered().streamJoin(shop.delivered(), WITHIN_THE_HOUR, "left")
    run = shop.run(joined.orderBy("o.order_time", "d.delivery_time").select("o.id", "order_time"))
    shop.order((1, "10:00"), (2, "10:10"), (3, "10:20"))
    shop.deliver((2, "10:30"), (1, "10:40"))
    assert run.step() == {0: []}
    # orders that can still be delivered hold back what is after them
    shop.order((4, "12:00"))
    shop.deliver((9, "11:25"))
    batches = run.step()
    assert clocks(batches, 1) == ["10:00", "10:10", "10:20"]
    shop.deliver((9, "13:10"))
    assert [row[0] for row in run.step()[2]] == []
    shop.order((5, "13:00"))
    assert [row[0] for row in run.step()[3]] == [4]


def test_an_aggregation_in_complete_mode_is_sorted_by_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = events(spark, tmp_path)
    counted = impose_order(source.stream(), "t", "0 seconds").groupBy("k").count().orderBy("k")
    source.land({"t": at("10:00"), "k": 2, "v": "x"}, {"t": at("10:01"), "k": 1, "v": "x"})
    query = (
        counted.writeStream.format("memory")
        .queryName("in_complete_mode")
        .outputMode("complete")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert [tuple(r) for r in spark.table("in_complete_mode").collect()] == [(1, 1), (2, 1)]


def test_windows_of_an_aggregation_in_append_mode(spark: SparkSession, tmp_path: Path) -> None:
    source = events(spark, tmp_path)
    windowed = (
        impose_order(source.stream(), "t", "0 seconds")
        .groupBy(F.window("t", "10 minutes"), "k")
        .count()
        .orderBy("window", F.desc("k"))
        .select("window.start", "k")
    )
    run = Run(windowed, tmp_path / "checkpoint")
    source.land(
        *({"t": at(c), "k": k, "v": ""} for c, k in [("10:11", 1), ("10:01", 1), ("10:02", 2)])
    )
    source.land({"t": at("10:50"), "k": 3, "v": ""})
    run.step()
    assert [(r[0].strftime("%H:%M"), r[1]) for r in run.rows()] == [
        ("10:00", 2),
        ("10:00", 1),
        ("10:10", 1),
    ]


def test_the_first_ten(spark: SparkSession, tmp_path: Path) -> None:
    source = events(spark, tmp_path, "t INT, k INT, v STRING")
    first = impose_order(source.stream(), "t", 5).orderBy("t").limit(10)
    run = Run(first, tmp_path / "checkpoint")
    source.land(*({"t": t, "k": 0, "v": ""} for t in (9, 3, 7, 1, 5, 12)))
    run.step()
    source.land(*({"t": t, "k": 0, "v": ""} for t in (8, 20, 18, 16, 14, 30, 19)))
    run.step()
    assert [row[0] for row in run.rows()] == [1, 3, 5, 7, 8, 9, 12, 14, 16, 18]


def test_sql_and_what_it_says(
    spark: SparkSession, shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.orders.stream().createOrReplaceTempView("orders_raw")
    ordered = spark.sql(
        "SELECT id, order_time AS t FROM "
        "IMPOSE_ORDER(TABLE(orders_raw), DESCRIPTOR(order_time), INTERVAL '5' MINUTE) "
        "ORDER BY t, id DESC"
    )
    capsys.readouterr()
    ordered.select("*").explain()
    said = capsys.readouterr().out
    assert "StreamOrder" in said
    assert "each row is held back until the watermark of t has passed it" in said
    run = shop.run(ordered)
    shop.order((1, "10:10"), (2, "10:00"), (3, "10:00"), (4, "10:05"))
    assert [row[0] for row in run.step()[0]] == [3, 2]


def refused(df: Any) -> AnalysisException:
    with pytest.raises(AnalysisException) as caught:
        df()
    return caught.value


def test_what_cannot_be_ordered(spark: SparkSession, shop: Shop, tmp_path: Path) -> None:
    orders, plain = shop.ordered(), shop.orders.stream()
    cases: list[tuple[Any, str]] = [
        (lambda: orders.orderBy(F.desc("order_time")), "descending"),
        (lambda: orders.orderBy("id"), "Sort by order_time first"),
        (lambda: plain.orderBy("order_time"), 'imposeOrder("order_time"'),
        (lambda: orders.orderBy(F.asc_nulls_last("order_time")), "NULLS LAST"),
        (lambda: orders.sortWithinPartitions("order_time"), "within partitions"),
        (lambda: orders.orderBy("order_time").groupBy("id").count(), "has no effect"),
        (
            lambda: orders.orderBy("order_time").streamJoin(shop.delivered(), WITHIN_THE_HOUR),
            "has no effect",
        ),
        (
            lambda: orders.streamJoin(shop.delivered(), WITHIN_THE_HOUR, late="emit").orderBy(
                "order_time"
            ),
            "late IS NULL",
        ),
    ]
    for df, said in cases:
        error = refused(df)
        assert error.getCondition() == "STREAM_JOIN.UNSUPPORTED_ORDER", error
        assert said in str(error)

    def in_update_mode() -> None:
        orders.orderBy("order_time").writeStream.format("memory").queryName("u").outputMode(
            "update"
        ).start()

    assert "append mode" in str(refused(in_update_mode))
    # a table is sorted by Spark
    table: DataFrame = spark.range(3)
    assert [r[0] for r in table.orderBy(F.desc("id")).collect()] == [2, 1, 0]
