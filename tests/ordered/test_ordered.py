"""ORDER BY an event time in append mode, alone and above joins."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamjoin
from streamjoin import impose_order
from tests.orders import WITHIN_THE_HOUR, Shop, at
from tests.parameters import STATE_FORMATS
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


def test_rows_are_buffered_until_the_watermark_passes_them(
    spark: SparkSession, tmp_path: Path
) -> None:
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
    # 10:10 can still arrive, 10:09 is late.
    assert step("10:09", "10:10", None, "10:15") == ["-", "10:10"]
    metrics = run.operator("streamOrder")["customMetrics"]
    assert (metrics["heldRows"], metrics["lateRows"], metrics["nullTimeRows"]) == (2, 1, 1)
    held = streamjoin.pending(run.checkpoint)
    times = [tuple(row) for row in held.select("time").sort("time").collect()]
    assert clocks({0: times}) == ["10:15", "10:20"]
    assert {tuple(r) for r in held.select("side", "waits_for", "matched").collect()} == {
        ("held", "t", None)
    }
    # All rows below this time are emitted; no further row at it can arrive.
    watermarks = held.selectExpr("string(watermark)").distinct().collect()
    assert [tuple(r) for r in watermarks] == [("2024-05-04 10:10:00.000001",)]
    assert [r.k for r in streamjoin.pending(run.checkpoint, "left").select("row.*").collect()] == [
        1,
        1,
    ]
    assert held.where("side = 'left'").count() == 0
    assert step("10:40") == ["10:15", "10:20"]


def test_secondary_sort_keys_wait_for_all_rows_of_a_time(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = events(spark, tmp_path, "n BIGINT, k INT, v STRING")
    ordered = impose_order(source.stream(), "n", 0).orderBy("n", F.desc("k"), "v")
    run = Run(ordered, tmp_path / "checkpoint")
    source.land(*({"n": n, "k": k, "v": v} for n, k, v in [(2, 1, "b"), (1, 1, "a"), (1, 2, "b")]))
    assert run.step() == {0: [(1, 2, "b"), (1, 1, "a")]}
    source.land(*({"n": n, "k": k, "v": v} for n, k, v in [(3, 0, "a"), (2, 1, "a"), (2, 7, "c")]))
    assert run.step() == {1: [(2, 7, "c"), (2, 1, "a"), (2, 1, "b")]}


def test_rows_of_one_time_have_a_deterministic_order(spark: SparkSession, tmp_path: Path) -> None:
    rows = [{"n": n, "k": k, "v": v} for n in (1, 2) for k, v in [(3, "a"), (1, "c"), (1, "b")]]
    outputs = []
    for number, landing in enumerate((rows, rows[::-1])):
        source = events(spark, tmp_path / str(number), "n BIGINT, k INT, v STRING")
        run = Run(impose_order(source.stream(), "n", 1).orderBy("n"), source.folder / "../c")
        source.land(*landing)
        source.land({"n": 9, "k": 0, "v": ""})
        run.step()
        outputs.append(run.rows())
    assert [row[0] for row in outputs[0]] == [1, 1, 1, 2, 2, 2]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(("kind", "end"), [("TINYINT", 127), ("SMALLINT", 32767)])
def test_order_by_small_integers_at_the_limits_of_their_type(
    spark: SparkSession, tmp_path: Path, kind: str, end: int
) -> None:
    source = events(spark, tmp_path, f"n {kind}")
    run = Run(impose_order(source.stream(), "n", 3).orderBy("n"), tmp_path / "checkpoint")
    source.land(*({"n": n} for n in (-end, 5, -end - 1, 4, 2, end - 4)))
    assert run.step() == {0: [(-end - 1,), (-end,), (2,), (4,), (5,)]}
    source.land(*({"n": n} for n in (end, end - 8, end - 5, end - 3)))
    assert run.step() == {1: [(end - 5,), (end - 4,), (end - 3,)]}
    assert run.total("lateRows", "streamOrder") == 1


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_random_stream_equals_the_sorted_table(
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


def test_left_join_ordered_by_both_event_times(spark: SparkSession, shop: Shop) -> None:
    joined = shop.ordered().streamJoin(shop.delivered(), WITHIN_THE_HOUR, "left")
    run = shop.run(joined.orderBy("o.order_time", "d.delivery_time").select("o.id", "order_time"))
    shop.order((1, "10:00"), (2, "10:10"), (3, "10:20"))
    shop.deliver((2, "10:30"), (1, "10:40"))
    assert run.step() == {0: []}
    # An order that can still be delivered delays the rows after it.
    shop.order((4, "12:00"))
    shop.deliver((9, "11:25"))
    batches = run.step()
    assert clocks(batches, 1) == ["10:00", "10:10", "10:20"]
    shop.deliver((9, "13:10"))
    assert [row[0] for row in run.step()[2]] == []
    shop.order((5, "13:00"))
    assert [row[0] for row in run.step()[3]] == [4]


def test_spark_sorts_an_aggregation_in_complete_mode(spark: SparkSession, tmp_path: Path) -> None:
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


def test_windowed_aggregation_in_append_mode_is_ordered_by_window(
    spark: SparkSession, tmp_path: Path
) -> None:
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
    # The time of a window is its end.
    assert streamjoin.pending(run.checkpoint).schema["time"].dataType.typeName() == "timestamp"


def test_limit_above_an_order_emits_the_first_ten_rows(spark: SparkSession, tmp_path: Path) -> None:
    source = events(spark, tmp_path, "t INT, k INT, v STRING")
    first = impose_order(source.stream(), "t", 5).orderBy("t").limit(10)
    run = Run(first, tmp_path / "checkpoint")
    source.land(*({"t": t, "k": 0, "v": ""} for t in (9, 3, 7, 1, 5, 12)))
    run.step()
    source.land(*({"t": t, "k": 0, "v": ""} for t in (8, 20, 18, 16, 14, 30, 19)))
    run.step()
    assert [row[0] for row in run.rows()] == [1, 3, 5, 7, 8, 9, 12, 14, 16, 18]


def test_sql_order_by_and_its_explain(
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
    plan = capsys.readouterr().out
    assert "StreamOrder" in plan
    assert "each row is buffered until the watermark of t has passed it" in plan
    run = shop.run(ordered)
    shop.order((1, "10:10"), (2, "10:00"), (3, "10:00"), (4, "10:05"))
    assert [row[0] for row in run.step()[0]] == [3, 2]


def refused(df: Any) -> AnalysisException:
    with pytest.raises(AnalysisException) as caught:
        df()
    return caught.value


def test_unsupported_orders_are_refused(spark: SparkSession, shop: Shop, tmp_path: Path) -> None:
    orders, plain = shop.ordered(), shop.orders.stream()
    cases: list[tuple[Any, str]] = [
        (lambda: orders.orderBy(F.desc("order_time")), "descending"),
        (lambda: orders.orderBy("id"), "Sort by order_time first"),
        (lambda: plain.orderBy("order_time"), 'imposeOrder("order_time"'),
        (lambda: orders.orderBy(F.asc_nulls_last("order_time")), "NULLS LAST"),
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
    windows = orders.groupBy(F.window("order_time", "1 hour")).count()
    starts = windows.selectExpr("window.start AS since", "count").orderBy("since")
    writer = starts.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "w"))
    cases.append((writer.start, "ORDER BY window, ..., and select window too"))
    upserts = [shop.ordered().fromUpserts("id", "id"), shop.delivered().fromUpserts("id", "id")]
    changes = upserts[0].streamJoin(upserts[1], ["id"])
    cases.append(
        (lambda: changes.orderBy("order_time"), "the table into which the changes are merged")
    )
    for df, message in cases:
        error = refused(df)
        assert error.getCondition() == "STREAM_JOIN.UNSUPPORTED_ORDER", error
        assert message in str(error)

    def in_update_mode() -> None:
        orders.orderBy("order_time").writeStream.format("memory").queryName("u").outputMode(
            "update"
        ).start()

    assert "append mode" in str(refused(in_update_mode))
    # Spark sorts a table.
    table: DataFrame = spark.range(3)
    assert [r[0] for r in table.orderBy(F.desc("id")).collect()] == [2, 1, 0]


def test_many_rows_are_emitted_in_range_partitions(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(200_000).select(
        (F.col("id") * 7919 % 200_003).alias("t"),
        F.sha2(F.col("id").cast("string"), 512).alias("v"),
    )
    rows.coalesce(1).write.parquet(str(tmp_path / "events"))
    source = spark.readStream.schema(rows.schema).parquet(str(tmp_path / "events"))
    found: list[tuple[int, int]] = []

    def keep(batch: DataFrame, _: int) -> None:
        found.extend(
            (row[0], row[1]) for row in batch.select(F.spark_partition_id(), "t").collect()
        )

    query = (
        impose_order(source, "t", 0)
        .orderBy("t")
        .writeStream.foreachBatch(keep)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert len(found) == 200_000
    assert found == sorted(found)
    assert [t for _, t in found] == sorted(t for _, t in found)
    assert len({partition for partition, _ in found}) > 1


STEPS: list[tuple[list[tuple[str, int, str, int]], list[tuple[str, int, str, int]]]] = [
    ([("10:00", 0, "IBM", 110), ("10:00", 1, "ORCL", 100), ("10:03", 2, "YHOO", 25)], []),
    ([], [("10:02", 1, "ORCL", 60), ("10:04", 2, "YHOO", 25), ("10:07:30", 1, "ORCL", 30)]),
    # A bound is a row with an id that matches nothing; it advances the watermark.
    ([], [("10:11", 99, "", 0)]),
    ([("10:10", 98, "", 0)], []),
    ([], [("10:12", 1, "ORCL", 10)]),
    ([], [("10:13", 99, "", 0)]),
    ([("10:30", 98, "", 0)], [("10:23", 99, "", 0)]),
]


def sqlstream(spark: SparkSession, folder: Path, query: str) -> list[list[tuple[Any, ...]]]:
    """The output of each step of SQLstream's table, without the bound rows."""
    schema = "ts TIMESTAMP, orderId INT, ticker STRING, amount INT"
    streams = [Landing(spark, folder / name, schema) for name in ("Orders", "Trades")]
    for name, landing in zip(("Orders", "Trades"), streams, strict=True):
        impose_order(landing.stream(), "ts", "0 seconds").createOrReplaceTempView(name)
    run = Run(spark.sql(query), folder / "checkpoint")
    names = schema.replace(",", "").split()[::2]
    steps = []
    for step in STEPS:
        for landing, rows in zip(streams, step, strict=True):
            if rows:
                landing.land(*(dict(zip(names, (at(r[0]), *r[1:]), strict=True)) for r in rows))
        batches = run.step()
        steps.append(
            [
                (row[0].strftime("%H:%M:%S").removesuffix(":00"), *row[1:])
                for rows in batches.values()
                for row in rows
                if not {98, 99} & set(row[1:3])
            ]
        )
    return steps


MATCHES = (
    "SELECT STREAM ROWTIME, o.orderId, t.orderId, o.amount AS orderAmount, t.amount AS tradeAmount "
)


def test_sqlstream_query_with_a_following_window(spark: SparkSession, tmp_path: Path) -> None:
    steps = sqlstream(
        spark,
        tmp_path,
        f"{MATCHES} FROM Orders AS o JOIN Trades OVER (RANGE INTERVAL '10' MINUTE FOLLOWING) AS t "
        "ON o.orderId = t.orderId ORDER BY ROWTIME",
    )
    assert [sorted(s) for s in steps] == [
        [],
        [("10:00", 1, 1, 100, 30), ("10:00", 1, 1, 100, 60)],
        [("10:03", 2, 2, 25, 25)],
        [],
        [],
        [],
        [],
    ]


def test_sqlstream_query_with_a_preceding_window(spark: SparkSession, tmp_path: Path) -> None:
    steps = sqlstream(
        spark,
        tmp_path,
        f"{MATCHES} FROM Orders OVER (RANGE INTERVAL '10' MINUTE PRECEDING) AS o JOIN Trades AS t "
        "ON o.orderId = t.orderId ORDER BY ROWTIME",
    )
    # A trade waits until its window is complete: a matching order of 10:04 can still arrive.
    assert steps == [
        [],
        [("10:02", 1, 1, 100, 60)],
        [],
        [("10:04", 2, 2, 25, 25), ("10:07:30", 1, 1, 100, 30)],
        [],
        [],
        [],
    ]


def test_sqlstream_outer_join_query(spark: SparkSession, tmp_path: Path) -> None:
    steps = sqlstream(
        spark,
        tmp_path,
        f"{MATCHES} FROM Orders AS o OUTER JOIN Trades OVER (RANGE INTERVAL '10' MINUTE FOLLOWING) "
        "AS t ON o.orderId = t.orderId ORDER BY ROWTIME",
    )
    # The table lists the trade of 10:12 in the step of its arrival. But an order of 10:12 can still
    # arrive then; by the document's own rule, the row is unmatched only after that.
    assert [sorted(s, key=str) for s in steps] == [
        [],
        [("10:00", 1, 1, 100, 30), ("10:00", 1, 1, 100, 60)],
        [("10:00", 0, None, 110, None), ("10:03", 2, 2, 25, 25)],
        [],
        [],
        [],
        [("10:12", None, 1, None, 10)],
    ]


def test_hash_join_table_ordered_by_its_probe_side(spark: SparkSession, tmp_path: Path) -> None:
    t1 = [(1, 100), (1, 105), (2, 200), (2, 205), (2, 210), (3, 300), (3, 305), (3, 310)]
    t2 = [(1, 100), (1, 105), (2, 200), (2, 205), (3, 300), (3, 305)]
    sides = {}
    for name, rows in (("t1", t1), ("t2", t2)):
        landing = Landing(spark, tmp_path / name, "id INT, sn BIGINT")
        landing.land(*({"id": i, "sn": sn} for i, sn in rows), {"id": 9, "sn": 400})
        sides[name] = impose_order(landing.stream(), "sn", 0).alias(name)
    joined = sides["t1"].streamJoin(
        sides["t2"],
        "t1.id = t2.id AND t1.sn > t2.sn - 10 AND t1.sn < t2.sn + 10",
        order_by=["t2.sn", "t1.sn"],
    )
    run = Run(joined, tmp_path / "checkpoint")
    run.step()
    assert run.rows() == [
        (1, 100, 1, 100),
        (1, 105, 1, 100),
        (1, 100, 1, 105),
        (1, 105, 1, 105),
        (2, 200, 2, 200),
        (2, 205, 2, 200),
        (2, 200, 2, 205),
        (2, 205, 2, 205),
        (2, 210, 2, 205),
        (3, 300, 3, 300),
        (3, 305, 3, 300),
        (3, 300, 3, 305),
        (3, 305, 3, 305),
        (3, 310, 3, 305),
    ]
    # the candidate matches of one probe row, in the order of the build side
    assert [row[:2] for row in run.rows() if row[2:] == (2, 205)] == [(2, 200), (2, 205), (2, 210)]
    # the document's window of ten numbers
    counted = sides["t1"].streamJoin(
        sides["t2"],
        "t1.id = t2.id AND t1.sn >= t2.sn AND t1.sn < t2.sn + 10",
        order_by=["t1.sn", "t2.sn"],
    )
    window = Run(counted.select("t1.sn", "t2.sn"), tmp_path / "window")
    window.step()
    assert window.rows() == [
        (100, 100),
        (105, 100),
        (105, 105),
        (200, 200),
        (205, 200),
        (205, 205),
        (210, 205),
        (300, 300),
        (305, 300),
        (305, 305),
        (310, 305),
    ]


def test_left_join_ordered_by_rowtime(spark: SparkSession, shop: Shop) -> None:
    joined = shop.ordered().streamJoin(
        shop.delivered(), WITHIN_THE_HOUR, "left", order_by="rowtime"
    )
    run = shop.run(joined.select("o.id", "d.id"))
    shop.order((1, "10:00"), (2, "10:10"), (3, "11:05"))
    shop.deliver((2, "10:30"), (8, "11:07"), (3, "11:10"))
    # Order 1 is final without a delivery at 11:00; the delivery of 11:07 can still get an order.
    assert run.step() == {0: [(2, 2), (1, None)]}
    shop.order((9, "11:30"))
    assert run.step() == {1: [(3, 3)]}


def test_buffered_null_stays_null_in_a_batch_without_null(
    spark: SparkSession, tmp_path: Path
) -> None:
    counts = [Landing(spark, tmp_path / name, "t TIMESTAMP, n INT") for name in ("some", "all")]
    some, everywhere = (source.stream() for source in counts)
    both = some.unionAll(everywhere.selectExpr("t", "coalesce(n, 0) AS n"))
    counted = impose_order(both, "t", "10 minutes").orderBy("t").selectExpr("n", "n + 1")
    run = Run(counted, tmp_path / "checkpoint")
    counts[0].land({"t": at("10:00"), "n": 1}, {"t": at("10:10"), "n": None})
    assert run.step() == {0: [(1, 2)]}
    counts[1].land({"t": at("11:00"), "n": 2})
    assert list(run.step().values()) == [[(None, None)]]


def test_order_by_with_a_spark_watermark(spark: SparkSession, tmp_path: Path) -> None:
    source = events(spark, tmp_path)
    run = Run(
        source.stream().withWatermark("t", "10 minutes").orderBy("t"), tmp_path / "checkpoint"
    )
    source.land(*({"t": at(c), "k": 1, "v": "x"} for c in ("10:20", "10:05", "10:00")))
    assert clocks(run.step()) == ["10:00", "10:05"]


def test_impose_order_above_a_join(spark: SparkSession, shop: Shop) -> None:
    joined = shop.ordered().streamJoin(shop.delivered(), WITHIN_THE_HOUR)
    placed = joined.select("o.id", F.unix_seconds("delivery_time").alias("n"))
    run = shop.run(impose_order(placed, "n", 60).orderBy("n").select("id"))
    shop.order((1, "10:00"), (2, "10:01"), (3, "10:02"))
    shop.deliver((3, "10:04"), (1, "10:03"), (2, "10:05"))
    assert run.step() == {0: [(1,), (3,)]}


def test_order_by_rowtime_of_a_view_with_two_windows(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("L", "R"):
        landing = Landing(spark, tmp_path / name, "id INT, sn BIGINT")
        landing.land(*({"id": i, "sn": n} for i, n in [(1, 10), (2, 14), (3, 12), (9, 40)]))
        impose_order(landing.stream(), "sn", 0).createOrReplaceTempView(name)
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW met AS SELECT ROWTIME AS rt, l.id FROM "
        "L OVER (RANGE 5 PRECEDING) AS l JOIN R OVER (RANGE 5 PRECEDING) AS r ON l.id = r.id"
    )
    run = Run(
        spark.sql("SELECT id, rt FROM met WHERE id <> 9 ORDER BY rt"), tmp_path / "checkpoint"
    )
    run.step()
    assert run.rows() == [(1, 10), (3, 12), (2, 14)]
