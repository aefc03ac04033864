"""Windows on relations, `t OVER (RANGE ...)`, `SELECT STREAM` and `ROWTIME`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.orders import at
from tests.streams import Landing, Run

# Queries 1 to 3 of the design document, verbatim.
FOLLOWING = """SELECT STREAM

   ROWTIME, o.orderId, o.ticker,

   o.amount AS orderAmount, t.amount AS tradeAmount

 FROM Orders AS o

 JOIN Trades OVER (RANGE INTERVAL '10' MINUTE FOLLOWING) AS t

 ON o.orderId = t.orderId"""

PRECEDING = """SELECT STREAM

   ROWTIME, o.orderId, o.ticker,

   o.amount AS orderAmount, t.amount AS tradeAmount

 FROM Orders OVER (RANGE INTERVAL '10' MINUTE PRECEDING) AS o

 JOIN Trades AS t

 ON o.orderId = t.orderId"""

OUTER = """SELECT STREAM

   ROWTIME, o.orderId, o.ticker, o.amount AS orderAmount,

   t.ticker, t.tradeId, t.amount AS tradeAmount,

 FROM Orders AS o

 OUTER JOIN Trades OVER (RANGE INTERVAL '10' MINUTE FOLLOWING) AS t

 ON o.orderId = t.orderId"""


class Market:
    """The streams of the design document."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session = session
        self.folder = folder
        self._runs = 0
        columns = "orderId INT, ticker STRING, amount INT, time TIMESTAMP"
        self._orders = Landing(session, folder / "orders", columns)
        self._trades = Landing(session, folder / "trades", f"{columns}, tradeId INT")
        for name, stream in (("Orders", self._orders), ("Trades", self._trades)):
            stream.stream().createOrReplaceTempView(f"raw{name}")
            session.sql(
                f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM IMPOSE_ORDER("
                f"TABLE(raw{name}), DESCRIPTOR(time), INTERVAL '0' SECOND)"
            )

    def order(self, *rows: tuple[str, int, str, int]) -> None:
        self._orders.land(*map(self._row, rows))

    def trade(self, *rows: tuple[str, int, str, int]) -> None:
        self._trades.land(*({**self._row(r), "tradeId": r[1]} for r in rows))

    @staticmethod
    def _row(row: tuple[str, int, str, int]) -> dict[str, Any]:
        clock, number, ticker, amount = row
        return {"orderId": number, "ticker": ticker, "amount": amount, "time": at(clock)}

    def run(self, query: str, **options: Any) -> Run:
        self._runs += 1
        return Run(self.session.sql(query, **options), self.folder / f"checkpoint{self._runs}")


@pytest.fixture
def market(spark: SparkSession, tmp_path: Path) -> Market:
    return Market(spark, tmp_path)


def play(market: Market, *queries: Run) -> None:
    """Feed the document's table of events; a BOUND row matches nothing and advances watermarks."""
    steps: list[Callable[[], None]] = [
        lambda: market.order(("10:00", 0, "IBM", 110), ("10:00", 1, "ORCL", 100)),
        lambda: market.order(("10:03", 2, "YHOO", 25)),
        lambda: market.trade(("10:02", 1, "ORCL", 60), ("10:04", 2, "YHOO", 25)),
        lambda: market.trade(("10:07:30", 1, "ORCL", 30)),
        lambda: market.trade(("10:11", 98, "BOUND", 0)),
        lambda: market.order(("10:10", 99, "BOUND", 0)),
        lambda: market.trade(("10:12", 1, "ORCL", 10)),
    ]
    for step in steps:
        step()
        for query in queries:
            query.step()


def shown(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows with the time formatted as HH:MM:SS."""
    return sorted(((f"{row[0]:%H:%M:%S}", *row[1:]) for row in rows), key=str)


def test_queries_of_the_design_document(market: Market) -> None:
    following, preceding, outer = (market.run(q) for q in (FOLLOWING, PRECEDING, OUTER))
    play(market, following, preceding, outer)
    # "The output rowtime, appropriately, is the rowtime of the single Orders row."
    matched = [
        ("10:00:00", 1, "ORCL", 100, 30),
        ("10:00:00", 1, "ORCL", 100, 60),
        ("10:03:00", 2, "YHOO", 25, 25),
    ]
    assert shown(following.rows()) == matched
    # "the output rowtime is that of the trade"
    assert shown(preceding.rows()) == [
        ("10:02:00", 1, "ORCL", 100, 60),
        ("10:04:00", 2, "YHOO", 25, 25),
        ("10:07:30", 1, "ORCL", 100, 30),
    ]
    # The trade at 10:12 stays buffered until the watermark of orders passes 10:12.
    market.order(("10:13", 97, "BOUND", 0))
    output = shown(row for rows in outer.step().values() for row in rows)
    assert ("10:12:00", None, None, None, "ORCL", 1, 10) in output
    assert [row for row in shown(outer.rows()) if row[2] != "BOUND" and row[4] != "BOUND"] == [
        ("10:00:00", 0, "IBM", 110, None, None, None),
        ("10:00:00", 1, "ORCL", 100, "ORCL", 1, 30),
        ("10:00:00", 1, "ORCL", 100, "ORCL", 1, 60),
        ("10:03:00", 2, "YHOO", 25, "YHOO", 2, 25),
        ("10:12:00", None, None, None, "ORCL", 1, 10),
    ]


FRAME = "OVER (RANGE INTERVAL '10' MINUTE FOLLOWING)"
PAIRS = [("10:00:00", 60), ("10:00:00", 30)]


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT o.time, t.amount FROM Orders o, Trades {FRAME} t WHERE o.orderId = t.orderId",
        f"SELECT time, amount FROM (SELECT orderId, time FROM Orders) JOIN (SELECT orderId, "
        f"amount, time AS traded FROM Trades) {FRAME} USING (orderId)",
        f"WITH t AS (SELECT * FROM Trades) SELECT o.ROWTIME, t.amount FROM Orders o JOIN t "
        f"{FRAME} ON o.orderId = t.orderId WHERE t.ROWTIME >= o.ROWTIME",
        "SELECT o.time, t.amount FROM Orders o JOIN Trades t ON o.orderId = t.orderId AND "
        "t.ROWTIME BETWEEN o.ROWTIME AND o.ROWTIME + INTERVAL '10' MINUTE",
        "SELECT o.time, t.amount FROM Orders o JOIN STREAM rawTrades WATERMARK time DELAY OF "
        f"INTERVAL 0 SECONDS {FRAME} t ON o.orderId = t.orderId",
        "SELECT ROWTIME, t.amount FROM Orders o JOIN Trades OVER (RANGE BETWEEN INTERVAL '0' "
        "MINUTE FOLLOWING AND INTERVAL '10' MINUTE FOLLOWING) t ON o.orderId = t.orderId",
        "SELECT ROWTIME, amount FROM (SELECT o.ROWTIME, t.amount FROM Orders o JOIN Trades "
        f"{FRAME} t ON o.orderId = t.orderId)",
        "SELECT ROWTIME, amount FROM matched",
    ],
)
def test_equivalent_spellings_of_a_window_join(market: Market, query: str) -> None:
    market.session.sql(
        "CREATE OR REPLACE TEMPORARY VIEW matched AS SELECT STREAM ROWTIME, t.amount "
        f"FROM Orders o JOIN Trades {FRAME} t ON o.orderId = t.orderId"
    )
    run = market.run(query)
    market.order(("10:00", 1, "ORCL", 100))
    market.trade(("09:59:59", 1, "ORCL", 1), ("10:02", 1, "ORCL", 60), ("10:10", 1, "ORCL", 30))
    run.step()
    assert shown(run.rows()) == sorted(PAIRS)
    assert run.operator()["operatorName"] == "streamJoin"


@pytest.mark.parametrize("how", ["named", "positional"])
def test_window_join_with_sql_parameters(market: Market, how: str) -> None:
    marker = {"named": (":minutes", ":least"), "positional": ("?", "?")}[how]
    run = market.run(
        f"SELECT o.time, t.amount FROM Orders o JOIN Trades OVER (RANGE INTERVAL {marker[0]} "
        f"MINUTE FOLLOWING) AS t ON o.orderId = t.orderId AND t.amount > {marker[1]}",
        args={"minutes": "10", "least": 40} if how == "named" else ["10", 40],
    )
    market.order(("10:00", 1, "ORCL", 100))
    market.trade(("10:02", 1, "ORCL", 60), ("10:10", 1, "ORCL", 30), ("10:10:01", 1, "ORCL", 99))
    run.step()
    assert shown(run.rows()) == [("10:00:00", 60)]


def test_windows_on_both_inputs_match_by_overlap(market: Market) -> None:
    """Rows match if both windows contain a common time; ROWTIME is that of the later row."""
    run = market.run(
        "SELECT ROWTIME, o.amount, t.amount FROM Orders OVER (RANGE INTERVAL '10' MINUTE "
        "PRECEDING) o FULL JOIN Trades OVER (RANGE INTERVAL '5' MINUTE PRECEDING) t "
        "ON o.orderId = t.orderId"
    )
    market.order(("10:00", 1, "A", 0), ("10:20", 1, "A", 20))
    market.trade(
        ("10:10", 1, "A", 10),
        ("10:10:01", 1, "A", 11),
        ("10:15", 1, "A", 15),
        ("10:26", 2, "A", 26),
    )
    run.step()
    market.order(("11:00", 9, "A", 99))
    market.trade(("11:00", 8, "A", 98))
    run.step()
    assert shown(run.rows()) == [
        ("10:10:00", 0, 10),
        ("10:15:01", None, 11),
        ("10:20:00", 20, 15),
        ("10:31:00", None, 26),
    ]


def test_chain_of_window_joins(market: Market) -> None:
    """ROWTIME of a join is that of its row without a window; the next window refers to it."""
    run = market.run(
        f"SELECT ROWTIME, o.amount, t.amount, u.amount FROM Orders o JOIN Trades {FRAME} t "
        f"ON o.orderId = t.orderId JOIN Trades {FRAME} u ON o.orderId = u.orderId "
        "AND t.amount < u.amount"
    )
    market.order(("10:00", 1, "A", 0))
    market.trade(("10:01", 1, "A", 1), ("10:10", 1, "A", 2), ("10:10:01", 1, "A", 3))
    run.step()
    assert shown(run.rows()) == [("10:00:00", 0, 1, 2)]


def test_window_aggregation_by_rowtime(market: Market) -> None:
    run = market.run(
        "SELECT window(ROWTIME, '10 minutes').start, count(*) FROM Orders o "
        f"JOIN Trades {FRAME} t ON o.orderId = t.orderId GROUP BY window(ROWTIME, '10 minutes')"
    )
    for clock in ("10:00", "10:05", "12:00", "14:00"):
        market.order((clock, 1, "A", 0))
        market.trade((clock, 1, "A", 0))
        run.step()
    assert ("10:00:00", 3) in shown(run.rows())


def test_window_join_on_integer_event_times(spark: SparkSession, tmp_path: Path) -> None:
    a = Landing(spark, tmp_path / "a", "k INT, t BIGINT")
    b = Landing(spark, tmp_path / "b", "k INT, t INT")
    a.stream().createOrReplaceTempView("a")
    b.stream().createOrReplaceTempView("b")
    result = spark.sql(
        "SELECT ROWTIME, a.t, b.t FROM IMPOSE_ORDER(TABLE(a), DESCRIPTOR(t), 0) OVER "
        "(RANGE 5 PRECEDING) AS a JOIN IMPOSE_ORDER(TABLE(b), DESCRIPTOR(t), 0) AS b ON a.k = b.k"
    )
    a.land({"k": 1, "t": 10})
    b.land({"k": 1, "t": 9}, {"k": 1, "t": 10}, {"k": 1, "t": 15}, {"k": 1, "t": 16})
    run = Run(result, tmp_path / "checkpoint")
    run.step()
    assert sorted(run.rows()) == [(10, 10, 10), (15, 10, 15)]


def test_persistent_view_with_a_window_join(spark: SparkSession, tmp_path: Path) -> None:
    """The view is over streamable tables; Spark without the extension can read its text."""
    for name in ("view_orders", "view_trades"):
        spark.sql(f"CREATE TABLE {name} (id INT, time TIMESTAMP) USING parquet")
    try:
        spark.sql(
            "CREATE VIEW view_joined AS SELECT o.ROWTIME, t.time AS traded FROM IMPOSE_ORDER(TABLE("
            "SELECT * FROM STREAM view_orders), DESCRIPTOR(time), INTERVAL '0' SECOND) AS o JOIN "
            "IMPOSE_ORDER(TABLE(SELECT * FROM STREAM view_trades), DESCRIPTOR(time), "
            f"INTERVAL '0' SECOND) {FRAME} AS t ON o.id = t.id"
        )
        text = spark.sql("SHOW CREATE TABLE view_joined").first()
        assert text is not None
        assert "STREAM_WINDOW(" in text[0]
        run = Run(spark.sql("SELECT * FROM view_joined"), tmp_path / "checkpoint")
        spark.sql("INSERT INTO view_orders VALUES (1, TIMESTAMP '2024-05-04 10:00:00')")
        spark.sql(
            "INSERT INTO view_trades VALUES (1, TIMESTAMP '2024-05-04 10:10:00'), "
            "(1, TIMESTAMP '2024-05-04 10:10:01')"
        )
        run.step()
        assert [(f"{r[0]:%H:%M:%S}", f"{r[1]:%H:%M:%S}") for r in run.rows()] == [
            ("10:00:00", "10:10:00")
        ]
    finally:
        spark.sql("DROP VIEW IF EXISTS view_joined")
        for name in ("view_orders", "view_trades"):
            spark.sql(f"DROP TABLE {name}")


def test_analysis_error_has_line_and_position(market: Market) -> None:
    query = f"SELECT *\nFROM Orders o JOIN Trades {FRAME} t ON o.orderId = t.orderId AND t.nothing"
    with pytest.raises(AnalysisException) as refused:
        market.session.sql(query)
    error = refused.value
    place = query.splitlines()[1].index("t.nothing")
    assert f"line 2 pos {place}" in str(error)
    (context,) = error.getQueryContext()
    assert context.fragment() == "t.nothing"


@pytest.mark.parametrize(
    "inputs",
    [
        f"JOIN Trades {FRAME} t ON o.orderId = t.orderId AND rand() < 1",
        "JOIN Trades t ON o.orderId = t.orderId",
        "CROSS JOIN Trades t WHERE o.orderId = t.orderId",
    ],
)
def test_error_context_is_the_refused_join(market: Market, inputs: str) -> None:
    with pytest.raises(AnalysisException) as refused:
        market.session.sql(f"SELECT 1\nFROM Orders o\n{inputs}")
    (context,) = refused.value.getQueryContext()
    assert context.fragment() == inputs.split(" WHERE ")[0]
