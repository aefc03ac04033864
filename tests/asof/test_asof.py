"""The as-of join: each row of one stream with the last rows of another at its time."""

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
from tests.asof.market import Market
from tests.orders import at
from tests.parameters import STATE_FORMATS, rest_is_thorough
from tests.streams import Landing, Run, clocks, planned_at, wait_until

TEN_MINUTES = "q.sym = t.sym AND q.time <= t.time AND q.time >= t.time - INTERVAL '10' MINUTE"


@pytest.fixture
def market(spark: SparkSession, tmp_path: Path) -> Market:
    return Market(spark, tmp_path)


@pytest.mark.connect
@pytest.mark.parametrize("state_format", rest_is_thorough(STATE_FORMATS, "segments"))
def test_each_trade_joins_the_latest_earlier_quote(
    spark: SparkSession, market: Market, state_format: str
) -> None:
    joined = market.trades().streamJoin(market.quotes(), TEN_MINUTES, "left_asof")
    run = market.run(joined.select("t.sym", "t.time", "q.time"))
    spark.conf.set("spark.sql.streamJoin.stateFormat", state_format)
    try:
        market.trade("A 10:05", "B 10:06")
        market.quote("A 10:01", "A 10:04", "B 10:02")
        # a quote of B at 10:05 may still come, and one of A at 10:04
        assert clocks(run.step()) == []
        market.quote("A 10:03", "B 10:05", "C 10:06")
        market.trade("C 10:06")
        # A 10:03 is late
        assert clocks(run.step()) == [("A", "10:05", "10:04")]
        assert run.metrics()["lateRowsRight"] == 1
        market.quote("C 10:30")
        market.trade("B 10:14", "B 10:16", "C 10:31")
        assert clocks(run.step()) == [
            ("B", "10:06", "10:05"),
            ("B", "10:14", "10:05"),
            ("B", "10:16", "None"),
            ("C", "10:06", "10:06"),
        ]
        assert run.metrics()["nullPaddedRows"] == 1
        # the last quotes of A and B can match no more: of C one is final, and one is buffered
        assert run.metrics()["bufferedRowsRight"] == 1
        assert run.metrics()["bufferedRowsLeft"] == 1
        # of each step only the rows that came after the first watermark of their side count
        told = run.metrics()
        assert (told["lag.t.time"], told["latestBy.q.time"], told["latestBy.t.time"]) == (0, 0, 0)
        assert run.operators()[1]["customMetrics"]["latestBy.q.time"] == 60_000
        assert (told["disorderRows.q.time"], told["lagForAll.q.time"]) == (4, 60_000)
        assert told["disorderRows.t.time"] == 4
    finally:
        spark.conf.unset("spark.sql.streamJoin.stateFormat")


@pytest.mark.connect
def test_sql_asof_join_with_one_and_three_latest_rows(market: Market) -> None:
    market.views()
    one, three = (
        market.run(
            market.spark.sql(
                "SELECT t.sym, t.time, q.time AS quoted FROM trades AS t JOIN "
                f"quotes OVER (ROWS {n} PRECEDING) AS q ON q.sym = t.sym"
            ),
            f"last-{n}",
        )
        for n in (1, 3)
    )
    market.trade("A 10:05", "B 10:06", "Z 10:07")
    market.quote("A 10:01", "A 10:04", "A 10:02", "A 10:05", "A 10:06", "Z 10:07")
    assert clocks(one.step()) == [("A", "10:05", "10:05")]
    assert clocks(three.step()) == [("A", "10:05", c) for c in ("10:02", "10:04", "10:05")]
    assert one.metrics()["bufferedRowsRight"] == 2
    assert three.metrics()["bufferedRowsRight"] == 4


@pytest.mark.connect
def test_asof_join_strictly_before_using_columns_and_without_key(market: Market) -> None:
    trades, quotes = market.trades(), market.quotes()
    market.trade("A 10:05", "A 10:10")
    market.quote("A 10:04", "A 10:05", "B 10:05", "B 10:09", "A 10:10")
    strictly = trades.streamJoin(quotes, "t.sym = q.sym AND q.time < t.time", "asof")
    assert clocks(market.run(strictly.select("t.time", "q.time"), "1").step()) == [
        ("10:05", "10:04")
    ]
    # a delay of one minute
    delayed = trades.streamJoin(
        quotes, "t.sym = q.sym AND q.time <= t.time - INTERVAL '1' MINUTE", "asof"
    )
    assert clocks(market.run(delayed.select("t.time", "q.time"), "2").step()) == [
        ("10:05", "10:04")
    ]
    by_name = trades.streamJoin(quotes.withColumnRenamed("time", "quoted"), ["sym"], "asof")
    assert by_name.columns == ["sym", "time", "n", "quoted", "n"]
    assert clocks(market.run(by_name.select("sym", "time", "quoted"), "3").step()) == [
        ("A", "10:05", "10:05")
    ]
    of_all = trades.streamJoin(quotes, F.lit(True), "asof")
    assert clocks(market.run(of_all.select("t.time", "q.sym", "q.time"), "4").step()) == [
        ("10:05", "B", "10:05")
    ]


@pytest.mark.connect
def test_additional_condition_does_not_select_an_earlier_row(market: Market) -> None:
    joined = market.trades().streamJoin(
        market.quotes(), "q.sym = t.sym AND q.n < 100 AND t.n < 100", "left_asof"
    )
    run = market.run(joined.select("t.time", "q.time").where("q.time IS NULL OR t.time > q.time"))
    market.quote("A 10:01")
    market.numbers = iter(range(100, 200))
    market.quote("A 10:02")
    market.numbers = iter(range(10))
    market.trade("A 10:03", "A 10:04")
    market.quote("A 10:05")
    assert clocks(run.step()) == [("10:03", "None")]


@pytest.mark.connect
@pytest.mark.parametrize("state_format", rest_is_thorough(STATE_FORMATS, "segments"))
def test_random_asof_join_equals_the_batch_query(
    spark: SparkSession, tmp_path: Path, state_format: str
) -> None:
    seed = random.Random(11)
    schema = "id INT, t INT, k STRING"
    sides = {name: Landing(spark, tmp_path / name, schema) for name in ("l", "r")}
    rows = {
        name: [
            {"id": i, "t": i * 2 + seed.randint(-15, 15), "k": f"k{seed.randint(1, 6)}"}
            for i in range(200)
        ]
        for name in sides
    }
    left, right = (impose_order(sides[n].stream(), "t", 40).alias(n) for n in ("l", "r"))
    joined = left.streamJoin(right, "l.k = r.k AND r.t <= l.t AND r.t > l.t - 30", "left_asof")
    chosen = joined.select("l.id", "l.t", "r.t").orderBy("l.t", "l.id")
    run = Run(chosen, tmp_path / "checkpoint")
    spark.conf.set("spark.sql.streamJoin.stateFormat", state_format)
    try:
        while any(rows.values()):
            for name, waiting in rows.items():
                cut = seed.randint(0, 90)
                if waiting[:cut]:
                    sides[name].land(*waiting[:cut])
                rows[name] = waiting[cut:]
            run.step()
        for name in sides:
            sides[name].land(*({"id": -1, "t": 10_000, "k": "end"},) * 2)
        run.step()
    finally:
        spark.conf.unset("spark.sql.streamJoin.stateFormat")
    assert run.total("lateRowsLeft") + run.total("lateRowsRight") == 0
    tables = {
        n: spark.read.schema(schema).json(str(sides[n].folder)).where("id >= 0") for n in sides
    }
    tables["l"].createOrReplaceTempView("l_table")
    tables["r"].createOrReplaceTempView("r_table")
    expected = spark.sql(
        "SELECT l.id, l.t, max(r.t) AS rt FROM l_table l LEFT JOIN r_table r ON l.k = r.k "
        "AND r.t <= l.t AND r.t > l.t - 30 GROUP BY l.id, l.t ORDER BY l.t, l.id"
    )
    assert run.rows() == [tuple(row) for row in expected.collect()]


@pytest.mark.connect
@pytest.mark.parametrize(
    ("kind", "lag", "times"),
    [
        ("TIMESTAMP_NTZ", "0 seconds", [f"2024-05-04T10:0{i}:00" for i in range(6)]),
        ("DATE", "0 days", [f"2024-05-0{i + 1}" for i in range(6)]),
        ("BIGINT", 0, list(range(6))),
        ("SMALLINT", 0, list(range(6))),
    ],
)
def test_asof_join_on_event_times_of_every_type(
    spark: SparkSession, tmp_path: Path, kind: str, lag: str | int, times: list[Any]
) -> None:
    sides = {name: Landing(spark, tmp_path / name, f"t {kind}, n INT") for name in ("l", "r")}
    sides["l"].land(*({"t": times[i], "n": i} for i in (0, 2, 3, 5)))
    sides["r"].land(*({"t": times[i], "n": i} for i in (4, 1, 3, 5)))
    left, right = (impose_order(landing.stream(), "t", lag) for landing in sides.values())
    joined = left.alias("l").streamJoin(right.alias("r"), "r.t < l.t", "left_asof")
    run = Run(joined.select("l.n", "r.n"), tmp_path / "checkpoint")
    run.step()
    assert sorted(run.rows()) == [(0, None), (2, 1), (3, 1)]


@pytest.mark.connect
def test_asof_join_result_in_an_interval_join(market: Market, spark: SparkSession) -> None:
    schema = "at TIMESTAMP, sym STRING"
    orders = Landing(spark, market.folder / "orders", schema)
    quoted = market.trades().streamJoin(market.quotes(), TEN_MINUTES, "asof")
    named = quoted.select("t.sym", F.col("t.time").alias("traded"), F.col("q.time").alias("quoted"))
    chain = named.alias("x").streamJoin(
        impose_order(orders.stream(), "at", "0 seconds").alias("o"),
        "o.sym = x.sym AND o.at BETWEEN x.quoted AND x.traded",
        "left",
    )
    run = market.run(chain.select("x.sym", "traded", "quoted", "at"))
    market.trade("A 10:05", "B 10:06", "Z 11:00")
    market.quote("A 10:03", "B 10:04", "Z 11:00")
    orders.land(
        *({"at": at(c), "sym": s} for s, c in [("A", "10:02"), ("A", "10:04"), ("Z", "11:30")])
    )
    assert clocks(run.step()) == [
        ("A", "10:05", "10:03", "10:04"),
        ("B", "10:06", "10:04", "None"),
    ]


@pytest.mark.connect
def test_window_aggregation_above_an_asof_join(market: Market) -> None:
    market.views()
    joined = "FROM trades t JOIN quotes OVER (ROWS 1 PRECEDING) q ON q.sym = t.sym"

    def counted(time: str) -> DataFrame:
        window = f"window({time}, '10 minutes')"
        return market.spark.sql(f"SELECT {window} AS w, count(*) AS n {joined} GROUP BY {window}")

    market.quote("A 10:01", "A 10:12")
    market.trade("A 10:05", "A 10:08", "A 10:12")
    run = market.run(counted("t.time").select("w.start", "n"))
    run.step()
    market.quote("A 10:40")
    market.trade("A 10:40")
    run.step()
    assert clocks(run.batches) == [("10:00", "2"), ("10:10", "1")]
    # nothing says how old a quote may be
    with pytest.raises(AnalysisException, match="watermark"):
        market.run(counted("q.time"), "quotes").step()


@pytest.mark.connect
def test_idle_build_side_releases_probe_rows_after_its_timeout(market: Market) -> None:
    quotes = impose_order(
        market.quote_landing.stream(), "time", "0 seconds", idle_timeout="1 second"
    )
    joined = market.trades().streamJoin(
        quotes.alias("q"), TEN_MINUTES, "left_asof", order_by="t.time"
    )
    run = market.run(joined.select("t.sym", "t.time", "q.time"))
    market.quote("A 10:01", "B 10:02")
    market.trade("A 10:05", "B 10:03")
    run.step()
    market.trade("B 10:30")
    query = run.start(processingTime="0 seconds")
    # after a second of the clock the trades' own watermark is what counts
    try:
        wait_until(query, lambda: len(run.rows()) >= 2)
    finally:
        query.stop()
    assert query.exception() is None
    assert [(sym, f"{t:%H:%M}", f"{q:%H:%M}") for sym, t, q in run.rows()] == [
        ("B", "10:03", "10:02"),
        ("A", "10:05", "10:01"),
    ]
    market.quote("B 10:29", "B 10:30", "C 10:32")
    market.trade("B 10:31")
    assert clocks(run.step()) == [("B", "10:30", "10:30")]
    # over all batches: on a slow machine the quotes fall silent again, and an empty batch follows
    assert run.total("lateRowsRight") == 1


def test_idle_asof_inputs_do_not_follow_the_upper_join_watermark(
    spark: SparkSession, market: Market
) -> None:
    def ordered(landing: Landing, name: str, idle_timeout: str | None = None) -> DataFrame:
        stream = landing.stream()
        return impose_order(stream, "time", "0 seconds", idle_timeout=idle_timeout).alias(name)

    news = Landing(spark, market.folder / "news", "time TIMESTAMP, sym STRING")
    joined = ordered(market.trade_landing, "t", "10 minutes").streamJoin(
        ordered(market.quote_landing, "q", "10 minutes"), TEN_MINUTES, "asof"
    )
    told = joined.selectExpr("t.sym", "t.time AS traded").alias("j")
    within = "n.sym = j.sym AND n.time BETWEEN j.traded AND j.traded + INTERVAL '5' MINUTE"
    above = told.streamJoin(ordered(news, "n"), within)
    run = market.run(above.select("j.sym", "j.traded", "n.time"))
    market.quote("A 10:00")
    market.trade("A 10:00")
    news.land({"time": at("10:31"), "sym": "A"})
    assert planned_at(run, 0) == []
    # both sides of the as-of join are silent, and have no other input to follow
    news.land({"time": at("11:00"), "sym": "B"})
    assert planned_at(run, 20) == []
    # so this trade is in time, for either join
    market.quote("A 10:29", "A 10:40")
    market.trade("A 10:30", "A 10:40")
    (row,) = planned_at(run, 21)
    assert clocks({0: [row]}) == [("A", "10:30", "10:31")]


@pytest.mark.connect
def test_asof_join_emits_late_rows_of_both_sides(market: Market) -> None:
    trades, quotes = market.trades(), market.quotes()
    joined = trades.streamJoin(quotes, TEN_MINUTES, "left_asof", late="emit")
    assert joined.columns == ["time", "sym", "n", "time", "sym", "n", "late"]
    # a filter of the probe side applies to late rows, too: it stays above the join
    run = market.run(
        joined.where("t.n > 0 OR t.n IS NULL").select("t.time", "q.time", "late.input")
    )
    market.quote("A 10:01", "A 10:05")
    market.trade("A 10:06")
    run.step()
    market.quote("A 10:04", "A 10:08")
    market.trade("A 10:02", "A 10:08")
    assert clocks(run.step()) == [
        ("10:02", "None", "left"),
        ("10:06", "10:05", "None"),
        ("None", "10:04", "right"),
    ]
    by_name = trades.streamJoin(quotes.drop("n"), ["sym"], "asof", late="emit")
    assert by_name.columns == ["sym", "time", "n", "time", "late"]


def test_explain_and_pending_of_an_asof_join(
    market: Market, capsys: pytest.CaptureFixture[str]
) -> None:
    joined = market.trades().streamJoin(market.quotes(), TEN_MINUTES, "left_asof")
    capsys.readouterr()
    joined.explain()
    said = capsys.readouterr().out
    assert "AsOfJoin LEFT OUTER" in said
    assert (
        "each row of t is joined with the last row of q with q.sym = t.sym and q.time <= t.time, "
        "none older than t.time - 10 minutes" in said
    )
    run = market.run(joined)
    market.trade("A 10:05")
    market.quote("A 10:01", "A 10:04")
    run.step()
    waiting = streamjoin.pending(str(run.checkpoint)).orderBy("side", "time")
    shown = [(r["side"], r["time"].strftime("%H:%M"), r["waits_for"]) for r in waiting.collect()]
    assert shown == [
        ("left", "10:05", "right.time"),
        ("right", "10:01", "left.time"),
        ("right", "10:04", "left.time"),
    ]


def test_invalid_asof_joins_are_refused(market: Market, spark: SparkSession) -> None:
    trades, quotes = market.trades(), market.quotes()
    market.views()
    last = "quotes OVER (ROWS 1 PRECEDING) AS q"
    cases: list[tuple[Any, str, str]] = [
        (
            lambda: trades.streamJoin(quotes, ["sym"], "asof", retention="1 hour"),
            "UNSUPPORTED_AS_OF",
            "the age of a match",
        ),
        (
            lambda: trades.streamJoin(
                quotes, "q.sym = t.sym AND date_trunc('hour', q.time) <= t.time", "asof"
            ),
            "UNSUPPORTED_AS_OF",
            "constant distance",
        ),
        (
            lambda: spark.sql(f"SELECT * FROM trades t RIGHT JOIN {last} ON q.sym = t.sym"),
            "UNSUPPORTED_AS_OF",
            "INNER",
        ),
        (
            lambda: spark.sql(
                f"SELECT * FROM trades OVER (ROWS 2 PRECEDING) t JOIN {last} ON q.sym = t.sym"
            ),
            "UNSUPPORTED_AS_OF",
            "more than once",
        ),
        (lambda: spark.sql(f"SELECT * FROM {last}"), "UNSUPPORTED_AS_OF", "not an input of a join"),
        (
            lambda: spark.sql(
                "SELECT * FROM trades t JOIN quotes OVER (ROWS 0 PRECEDING) q ON q.sym = t.sym"
            ),
            "INVALID_WINDOW",
            "OVER (ROWS 0 PRECEDING) of a relation is not valid: 0 is not a whole number "
            "above 0.\n"
            "Write JOIN t OVER (ROWS 1 PRECEDING)",
        ),
        (
            lambda: trades.streamJoin(quotes, "q.sym = t.sym AND q.time >= t.time", "asof"),
            "UNSUPPORTED_AS_OF",
            "Write q.time <= t.time",
        ),
        (
            lambda: trades.streamJoin(market.quote_landing.stream().alias("q"), ["sym"], "asof"),
            "MISSING_WATERMARK",
            "imposeOrder",
        ),
        (
            lambda: trades.streamJoin(spark.range(3).selectExpr("id AS sym"), ["sym"], "asof"),
            "STATIC_INPUT",
            "right",
        ),
    ]
    for query, condition, said in cases:
        with pytest.raises(AnalysisException) as caught:
            query()
        assert caught.value.getCondition() == f"STREAM_JOIN.{condition}", caught.value
        assert said in str(caught.value)
