"""ASOF JOIN of streams, as Spark 4.3, Snowflake and DuckDB write it for tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from tests.asof.exchange import Exchange
from tests.asof.market import Market
from tests.streams import clocks

MATCH = "MATCH_CONDITION (t.time >= q.time)"

ENABLED = "spark.sql.join.asofJoin.enabled"
"""Whether Spark accepts its own ASOF JOIN of tables, which it has since 4.3."""

SETTINGS = ("false", "true") if pyspark.__version__ >= "4.3" else ("none",)

PUBLISHED = "trades t ASOF JOIN (SELECT *, timestamp_seconds(n) AS published FROM quotes) AS q"


@pytest.fixture(params=SETTINGS, autouse=True)
def of_tables(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether Spark parses an ASOF JOIN, and not this project."""
    setting: str = request.param
    if setting != "none":
        spark.conf.set(ENABLED, setting)
    yield setting == "true"
    if setting != "none":
        spark.conf.unset(ENABLED)


@pytest.fixture
def market(spark: SparkSession, tmp_path: Path) -> Market:
    market = Market(spark, tmp_path)
    market.views()
    return market


@pytest.fixture
def exchange(spark: SparkSession, tmp_path: Path) -> Exchange:
    exchange = Exchange(spark, tmp_path)
    exchange.orders().createOrReplaceTempView("matched_orders")
    exchange.rates().createOrReplaceTempView("matched_rates")
    return exchange


@pytest.mark.connect
@pytest.mark.parametrize(
    "joined",
    [
        f"trades t ASOF JOIN quotes q {MATCH} ON t.sym = q.sym",
        f"trades t LEFT ASOF JOIN quotes AS q {MATCH} ON t.sym = q.sym",
        f"trades t LEFT OUTER ASOF JOIN quotes AS q {MATCH} ON t.sym = q.sym",
        "trades t ASOF JOIN quotes q MATCH_CONDITION (q.time <= t.time) ON t.sym = q.sym",
        "trades t ASOF LEFT JOIN quotes q ON t.sym = q.sym AND t.time >= q.time",
        f"trades t ASOF INNER JOIN quotes q {MATCH} ON t.sym = q.sym",
        f"trades t ASOF JOIN (SELECT * FROM quotes WHERE n > 0) AS q {MATCH} ON t.sym = q.sym",
        f"trades t ASOF JOIN quotes AS q {MATCH} ON t.sym = q.sym AND t.n > 0 "
        "AND q.time >= t.time - INTERVAL '1' HOUR",
    ],
)
def test_sql_spellings_of_an_asof_join(market: Market, joined: str) -> None:
    result = market.spark.sql(f"SELECT * FROM {joined}")
    assert result.columns == ["time", "sym", "n", "time", "sym", "n"]
    run = market.run(result.select("t.sym", "t.time", "q.time"))
    market.quote("A 10:01", "A 10:04", "A 10:06", "Z 10:09")
    market.trade("A 10:04", "A 10:05", "B 10:05", "Z 10:09")
    padded = [("B", "10:05", "None")] if "LEFT" in joined else []
    assert clocks(run.step()) == [("A", "10:04", "10:04"), ("A", "10:05", "10:04"), *padded]


@pytest.mark.connect
def test_match_condition_strictly_before_and_at_a_distance(market: Market) -> None:
    market.quote("A 10:01", "A 10:04", "Z 10:09")
    market.trade("A 10:04", "A 10:05", "Z 10:09")
    found = {
        "t.time > q.time": [("10:04", "10:01"), ("10:05", "10:04")],
        "t.time - INTERVAL '1' MINUTE >= q.time": [("10:04", "10:01"), ("10:05", "10:04")],
        "t.time - INTERVAL '1' MINUTE > q.time": [("10:04", "10:01"), ("10:05", "10:01")],
    }
    for n, (condition, rows) in enumerate(found.items()):
        result = market.spark.sql(
            f"SELECT t.time, q.time AS quoted FROM trades t ASOF JOIN quotes q "
            f"MATCH_CONDITION ({condition}) ON t.sym = q.sym"
        )
        assert clocks(market.run(result, f"{n}").step()) == rows, condition


def test_days_of_23_hours(market: Market) -> None:
    """In New York the clocks change in the night of March 10."""
    market.spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        on = f"trades t LEFT ASOF JOIN quotes q {MATCH} ON t.sym = q.sym AND"
        aged = market.spark.sql(
            f"SELECT t.n, q.n FROM {on} q.time >= t.time - INTERVAL '1' DAY AND t.n > 0"
        )
        run = market.run(aged)
        quotes = [("A", 9, "12:00", 1), ("Z", 11, "12:00", 2)]
        # 23 hours later, and a minute more
        trades = [("A", 10, "12:00", 3), ("A", 10, "12:01", 4), ("Z", 11, "12:00", 5)]
        for landing, rows in ((market.quote_landing, quotes), (market.trade_landing, trades)):
            landing.land(
                *(
                    {"sym": s, "time": f"2024-03-{day:02}T{clock}:00", "n": n}
                    for s, day, clock, n in rows
                )
            )
        run.step()
        assert sorted(run.rows())[:2] == [(3, 1), (4, None)]
        for text, said in (
            (f"{on} q.time + INTERVAL '1' DAY > t.time", "neither an equality nor a lower bound"),
            (f"{on} q.time + INTERVAL '1' DAY > t.time", "Write a greatest age as q.time >= t.t"),
            (
                "trades t ASOF JOIN quotes q MATCH_CONDITION (t.time - INTERVAL '1' DAY >= q.time)",
                "in the time zone America/New_York a day has 23 to 25 hours",
            ),
        ):
            with pytest.raises(AnalysisException, match="UNSUPPORTED_AS_OF") as refused:
                market.spark.sql(f"SELECT * FROM {text}")
            assert said in str(refused.value)
    finally:
        market.spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.connect
def test_sql_asof_join_using_columns_and_without_key(market: Market) -> None:
    market.quote("A 10:01", "B 10:03", "Z 10:09")
    market.trade("A 10:04", "Z 10:09")
    by_name = market.spark.sql(
        "SELECT * FROM trades ASOF JOIN quotes MATCH_CONDITION (trades.time >= quotes.time) "
        "USING (sym)"
    )
    assert by_name.columns == ["sym", "time", "n", "time", "n"]
    run = market.run(by_name.select("sym", "quotes.time"), "using")
    assert clocks(run.step()) == [("A", "10:01")]
    of_all = market.spark.sql(f"SELECT q.sym, q.time FROM trades t ASOF JOIN quotes q {MATCH}")
    assert clocks(market.run(of_all, "all").step()) == [("B", "10:03")]


@pytest.mark.connect
def test_the_version_of_a_changelog(exchange: Exchange, of_tables: bool) -> None:
    match = "MATCH_CONDITION (o.time >= r.time)"
    texts = [
        f"matched_orders o LEFT ASOF JOIN matched_rates AS r {match} ON o.currency = r.currency",
        f"matched_orders o LEFT ASOF JOIN matched_rates AS r {match} USING (currency)",
        # the version at the time of the order must satisfy what else is asked
        f"matched_orders o LEFT ASOF JOIN matched_rates AS r {match} "
        "ON o.currency = r.currency AND r.rate > 1",
    ]
    exchange.change("+EUR 10:01 1.1", "-EUR 10:04 1.1", "+USD 10:01 1.2", ">USD 10:04 0.9")
    exchange.change("+Z 10:09 1.2")
    exchange.order("EUR 10:02", "EUR 10:05", "USD 10:02", "USD 10:05", "Z 10:09")
    for n, text in enumerate(texts):
        if of_tables:
            with pytest.raises(AnalysisException, match=r"SELECT /\*\+ STREAM_JOIN"):
                exchange.spark.sql(f"SELECT * FROM {text}").schema  # noqa: B018
        hint = "/*+ STREAM_JOIN */" if of_tables else ""
        result = exchange.spark.sql(f"SELECT {hint} * FROM {text}")
        assert "_change_type" not in result.columns
        low = "None" if "rate" in text.split(match)[1] else "0.9"
        rows = [("10:02", "1.1"), ("10:02", "1.2"), ("10:05", low), ("10:05", "None")]
        run = exchange.run(result.select("o.time", "rate"), f"{n}")
        assert clocks(run.step()) == sorted(rows), text


@pytest.mark.connect
def test_system_time_as_of_accepts_an_unqualified_column(
    market: Market, exchange: Exchange
) -> None:
    orders = exchange.orders().withColumnRenamed("time", "order_time")
    orders.createOrReplaceTempView("timed_orders")
    result = exchange.spark.sql(
        "SELECT o.order_time, rate FROM timed_orders o "
        "LEFT JOIN matched_rates FOR SYSTEM_TIME AS OF order_time r ON o.currency = r.currency"
    )
    exchange.change("+EUR 10:01 1.1", "-EUR 10:04 1.1", "+Z 10:09 1")
    exchange.order("EUR 10:02", "EUR 10:05", "Z 10:09")
    assert clocks(exchange.run(result).step()) == [("10:02", "1.1"), ("10:05", "None")]
    with pytest.raises(AnalysisException, match="time in FOR SYSTEM_TIME AS OF is a column of bo"):
        market.spark.sql(
            "SELECT * FROM trades t JOIN quotes FOR SYSTEM_TIME AS OF time q ON t.sym = q.sym"
        )
    with pytest.raises(AnalysisException, match=r"elsewhere in .* is not an event time"):
        market.spark.sql(
            "SELECT * FROM trades t JOIN quotes FOR SYSTEM_TIME AS OF elsewhere q ON t.sym = q.sym"
        )


@pytest.mark.connect
@pytest.mark.parametrize(
    ("joined", "said"),
    [
        (
            "trades t ASOF JOIN quotes q MATCH_CONDITION (t.time <= q.time) ON t.sym = q.sym",
            "Write q.time <= t.time",
        ),
        (
            "trades t ASOF JOIN quotes q MATCH_CONDITION (t.time < q.time) ON t.sym = q.sym",
            "Write q.time <= t.time",
        ),
        (
            "trades t ASOF JOIN quotes q MATCH_CONDITION (t.n >= q.n) ON t.sym = q.sym",
            "Write MATCH_CONDITION (t.time >= q.time)",
        ),
        (
            "trades t ASOF JOIN quotes q MATCH_CONDITION (t.time = q.time) ON t.sym = q.sym",
            "Write MATCH_CONDITION (t.time >= q.time)",
        ),
        (
            "trades t ASOF JOIN quotes q ON t.sym = q.sym",
            "Write MATCH_CONDITION (t.time >= q.time)",
        ),
        (
            f"trades t ASOF JOIN quotes q {MATCH} ON t.sym = q.sym AND q.n > 0",
            "Filter the right input",
        ),
        (
            f"trades t ASOF JOIN quotes q {MATCH} ON t.sym = q.sym AND q.n > t.n",
            "Filter the right input",
        ),
        *(
            (f"{PUBLISHED} {MATCH} ON t.sym = q.sym AND {condition}", "Filter the right input")
            for condition in (
                "t.time >= greatest(q.time, q.published)",
                "q.time <= least(t.time, q.published)",
                "least(q.time, q.published) >= t.time - INTERVAL '1' HOUR",
                "(q.time >= t.time - INTERVAL '1' HOUR AND q.n > 0) IS TRUE",
                "(q.time >= t.time - INTERVAL '1' HOUR AND q.n > 0) = TRUE",
                "(q.time >= t.time - INTERVAL '1' HOUR AND q.n > 0) <=> TRUE",
            )
        ),
        (
            f"{PUBLISHED} MATCH_CONDITION (t.time >= greatest(q.time, q.published)) "
            "ON t.sym = q.sym AND q.time >= t.time - INTERVAL '1' HOUR",
            "Filter the right input",
        ),
        (
            f"trades t ASOF JOIN quotes OVER (ROWS 1 PRECEDING) q {MATCH} ON t.sym = q.sym",
            "not an input of a join",
        ),
        ("trades t ASOF JOIN quotes q USING (sym)", "Write ASOF JOIN quotes AS q MATCH_CONDITION"),
        (f"trades t FULL ASOF JOIN quotes q {MATCH} ON t.sym = q.sym", "an INNER or a LEFT join"),
        (f"trades t ASOF RIGHT JOIN quotes q {MATCH} ON t.sym = q.sym", "an INNER or a LEFT join"),
    ],
)
@pytest.mark.parametrize("of_tables", SETTINGS[:1], indirect=True)
def test_what_is_no_asof_join(market: Market, joined: str, said: str) -> None:
    with pytest.raises((AnalysisException, ParseException)) as caught:
        market.spark.sql(f"SELECT t.time FROM {joined}")
    assert caught.value.getCondition() == "STREAM_JOIN.UNSUPPORTED_AS_OF", caught.value
    assert said in str(caught.value)


@pytest.mark.connect
def test_the_hint_is_one_of_streams(market: Market) -> None:
    late = "/*+ STREAM_JOIN(late => 'emit') */"
    text = f"trades t LEFT ASOF JOIN quotes q {MATCH} ON t.sym = q.sym"
    result = market.spark.sql(f"SELECT {late} * FROM {text}")
    assert result.columns == ["time", "sym", "n", "time", "sym", "n", "late"]
    run = market.run(result.select("t.time", "q.time", "late.input"))
    market.quote("A 10:01", "A 10:09")
    market.trade("A 10:02", "A 10:09")
    assert clocks(run.step()) == [("10:02", "10:01", "None")]
    market.quote("A 10:03", "A 10:10")
    market.trade("A 10:04", "A 10:10")
    assert clocks(run.step()) == [
        ("10:04", "None", "left"),
        ("10:09", "10:09", "None"),
        ("None", "10:03", "right"),
    ]
    # in a query around it, the hint is none of the join
    inner = f"SELECT t.time, q.time AS quoted FROM {text}"
    hinted = f"SELECT {late} s.time, quoted, late FROM ({inner}) AS s JOIN quotes AS z"
    around = market.spark.sql(f"{hinted} ON z.time = s.time")
    assert around.columns == ["time", "quoted", "late"]


@pytest.mark.connect
def test_an_asof_join_with_a_table_is_none_of_streams(market: Market, of_tables: bool) -> None:
    market.spark.sql("SELECT TIMESTAMP '2024-05-04' AS time, 'A' AS sym").createOrReplaceTempView(
        "stored_quotes"
    )
    text = f"SELECT t.time FROM trades t ASOF JOIN stored_quotes q {MATCH} ON t.sym = q.sym"
    if of_tables:
        assert market.spark.sql(text).columns == ["time"]
        tables = text.replace("trades", "stored_quotes")
        assert market.spark.sql(tables).count() == 1
        return
    with pytest.raises(AnalysisException) as caught:
        market.spark.sql(text)
    assert caught.value.getCondition() == "STREAM_JOIN.STATIC_INPUT", caught.value
