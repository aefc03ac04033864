"""Ported tests of Flink's event-time temporal join: operator, SQL, and restore programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import How, from_changelog, from_upserts, impose_order
from tests.peers.feeds import Feeds, Row, Rows, in_order
from tests.streams import Landing, Run

INSERT, BEFORE, AFTER, DELETE = "insert", "update_preimage", "update_postimage", "delete"
AHEAD = 1_000_000
MARK = "mark"


class Operator:
    """The join of the operator tests: rows with a time, a key and a text."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        columns = "t BIGINT, k STRING, v STRING"
        self.feeds = Feeds(session, folder, left=columns, right=f"{columns}, op STRING, n INT")
        self.changes = 0

    def step(self, left: Rows = (), right: Rows = (), wm: tuple[int, int] | None = None) -> None:
        """Rows, and then the watermarks; Flink's watermark covers rows at its own time."""
        marks = [] if wm is None else [(each + 1 + AHEAD, MARK, MARK) for each in wm]
        changes: list[Row] = []
        for row in [*right, *((*mark, INSERT) for mark in marks[1:])]:
            self.changes += 1
            changes.append((*row, self.changes))
        self.feeds.land(left=[*left, *marks[:1]], right=changes)

    def run(self, how: How, upserts: bool = False, age: str = "") -> Run:
        left = impose_order(self.feeds.stream("left"), "t", AHEAD).alias("l")
        rows = self.feeds.stream("right")
        declared = (
            from_upserts(rows, "k", "n", deletes=F.col("op") == DELETE)
            if upserts
            else from_changelog(rows, key="k", op="op", sequence_by="n")
        )
        right = impose_order(declared, "t", AHEAD).alias("r")
        joined = left.streamJoin(right, f"l.k = r.k{age}", how)
        return self.feeds.run(joined.select("l.t", "l.k", "l.v", "r.t", "r.k", "r.v"))


def batches(run: Run) -> list[list[Row]]:
    return [
        in_order([row for row in rows if MARK not in row])
        for _, rows in sorted(run.batches.items())
    ]


class TestTemporalRowTimeJoinOperator:
    """org.apache.flink.table.runtime.operators.join.temporal.TemporalRowTimeJoinOperatorTest

    Flink joins a late row with its remaining state, and accepts late changes. Here both are late,
    and counted.
    """

    @pytest.mark.parametrize("how", ["asof", "left_asof"])
    @pytest.mark.parametrize("upserts", [False, True])
    @pytest.mark.parametrize("last_mark", [8, 9])
    def test_temporal_join_emits_versions_at_the_watermark(
        self, spark: SparkSession, tmp_path: Path, how: How, upserts: bool, last_mark: int
    ) -> None:
        """From testRowTimeTemporalJoin, testRowTimeLeftTemporalJoin, and both ...OnUpsertSource.

        Flink's test updates one left row. Here the left input is append-only: the row is an insert.
        """
        operator = Operator(spark, tmp_path)
        operator.step(wm=(1, 1))
        # The left row is late.
        operator.step(left=[(1, "k1", "1a1")], right=[(2, "k1", "1a2", INSERT)], wm=(2, 2))
        operator.step(
            left=[(1, "k1", "1a1"), (3, "k1", "1a3")],
            right=[(4, "k2", "2a4", INSERT)],
            wm=(5, 5),
        )
        before = [] if upserts else [(7, "k2", "2a4", BEFORE)]
        operator.step(
            left=[(6, "k2", "2a3")], right=[*before, (7, "k2", "2a5", AFTER)], wm=(8, last_mark)
        )
        operator.step(
            left=[(9, "k2", "5a11"), (11, "k2", "5a12")],
            # The delete is late if the watermark of the right input is 9, as in Flink's test.
            right=[(9, "k2", "2a5", DELETE), (10, "k2", "2a6", INSERT)],
            wm=(13, 13),
        )
        run = operator.run(how, upserts)
        at_nine: list[Row] = []
        if last_mark == 9:
            at_nine = [(9, "k2", "5a11", 7, "k2", "2a5")]
        elif how == "left_asof":
            at_nine = [(9, "k2", "5a11", None, None, None)]
        assert batches(run) == [
            [],
            [],  # Flink's left join also emits (1, "k1", "1a1", None, None, None)
            [(3, "k1", "1a3", 2, "k1", "1a2")],
            [(6, "k2", "2a3", 4, "k2", "2a4")],
            in_order([*at_nine, (11, "k2", "5a12", 10, "k2", "2a6")]),
        ]
        assert run.total("lateRowsLeft") == 2
        assert run.total("lateRowsRight") == (1 if last_mark == 9 else 0)

    def test_version_older_than_the_age_bound_is_evicted(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """From testRowTimeTemporalJoinWithStateRetention.

        Flink's state expires by processing time; here a version ages by event time.
        """
        operator = Operator(spark, tmp_path)
        operator.step(left=[(6, "k1", "0a6")], right=[(3, "k1", "0a3", INSERT)], wm=(7, 7))
        operator.step(
            left=[(9, "k1", "7a9")],
            # late
            right=[(3, "k1", "0a3", BEFORE), (3, "k1", "0a5", AFTER)],
            wm=(13, 13),
        )
        operator.step(left=[(15, "k1", "13a15")], wm=(15, 16))
        run = operator.run("left_asof", age=" AND r.t >= l.t - 6")
        assert batches(run) == [
            [(6, "k1", "0a6", 3, "k1", "0a3")],
            [(9, "k1", "7a9", 3, "k1", "0a3")],  # 0a5 in Flink
            [(15, "k1", "13a15", None, None, None)],
        ]
        assert run.total("lateRowsRight") == 1
        # Only the rows that advance the watermark remain, none of k1.
        assert run.metrics()["bufferedRowsRight"] == 3

    def test_left_changelog_input_is_refused(self, spark: SparkSession, tmp_path: Path) -> None:
        """testRowTimeTemporalJoinOnUpsertSource: Flink emits the row kind of the left row."""
        operator = Operator(spark, tmp_path)
        changes = from_changelog(operator.feeds.stream("right"), key="k", op="op", sequence_by="n")
        left = impose_order(changes, "t", AHEAD).alias("l")
        with pytest.raises(AnalysisException, match="the left input is a changelog"):
            left.streamJoin(left.alias("r"), "l.k = r.k", "asof")


def millis(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()) * 1000


ORDERS: Rows = [
    (1, "Euro", "no1", 12, "2020-08-15T00:01:00"),
    # Flink's test updates this row from 1 of 2020-08-15T00:02, and deletes a sixth order.
    (2, "US Dollar", "no1", 18, "2020-08-16T00:03:00"),
    (3, "RMB", "no1", 40, "2020-08-15T00:03:00"),
    (4, "Euro", "no1", 14, "2020-08-16T00:04:00"),
    (5, "RMB", "no1", 40, "2020-08-16T00:03:00"),
]
FIRST: Rows = [
    ("Euro", 114, "2020-08-15T00:00:01", INSERT),
    ("US Dollar", 102, "2020-08-15T00:00:02", INSERT),
    ("Yen", 1, "2020-08-15T00:00:03", INSERT),
    ("RMB", 702, "2020-08-15T00:00:04", INSERT),
]
RATES: dict[str, Rows] = {
    # rowTimeCurrencyDataUsingMetaTime
    "rates": [
        *FIRST,
        ("Euro", 114, "2020-08-16T00:01:00", BEFORE),
        ("Euro", 118, "2020-08-16T00:01:00", AFTER),
        ("US Dollar", 102, "2020-08-16T00:02:00", BEFORE),
        ("US Dollar", 106, "2020-08-16T00:02:00", AFTER),
        ("RMB", 702, "2020-08-16T00:02:00", DELETE),
    ],
    # rowTimeCurrencyDataUsingBeforeTime
    "before": [
        *FIRST,
        ("Euro", 114, "2020-08-15T00:00:01", BEFORE),
        ("Euro", 118, "2020-08-16T00:01:00", AFTER),
        ("US Dollar", 102, "2020-08-15T00:00:02", BEFORE),
        ("US Dollar", 106, "2020-08-16T00:02:00", AFTER),
        ("RMB", 702, "2020-08-15T00:00:04", DELETE),
    ],
    # upsertSourceCurrencyData
    "upserts": [
        *((currency, rate, time, AFTER) for currency, rate, time, _ in FIRST),
        ("Euro", 118, "2020-08-16T00:01:00", AFTER),
        ("US Dollar", 104, "2020-08-16T00:02:00", AFTER),
        ("RMB", 702, "2020-08-15T00:00:04", DELETE),
    ],
    # rowTimeInsertOnlyCurrencyData
    "history": [
        *FIRST,
        ("Euro", 118, "2020-08-16T00:01:00", INSERT),
        ("US Dollar", 102, "2020-08-16T00:02:00", INSERT),
        ("US Dollar", 106, "2020-08-16T00:02:00", INSERT),
    ],
}
KEYS = {**{name: (name, ["currency"]) for name in RATES}, "of_two": ("rates", ["currency", "no"])}
"""The views of rates: the source of their rows, and their key."""
END = "2020-09-01T00:00:00"
COLUMNS = "o.id, r.rate, r.at FROM orders AS o"
VALID = "FOR SYSTEM_TIME AS OF o.at AS r ON o.currency = r.currency"
QUERIES = {
    "testEventTimeTemporalJoin": f"{COLUMNS} JOIN rates {VALID}",
    "testEventTimeTemporalJoinThatJoinkeyContainsPk": (
        f"{COLUMNS} JOIN rates {VALID} AND o.no = r.no"
    ),
    "testEventTimeTemporalJoinWithFilter": f"{COLUMNS} JOIN v1 {VALID} WHERE r.rate < 115",
    "testEventTimeLeftTemporalJoin": f"{COLUMNS} LEFT JOIN rates {VALID}",
    "testEventTimeTemporalJoinChangelogUsingBeforeTime": f"{COLUMNS} LEFT JOIN before {VALID}",
    "testEventTimeLeftTemporalJoinUpsertSource": f"{COLUMNS} LEFT JOIN upserts {VALID}",
    "testEventTimeTemporalJoinWithMultiKeys": f"{COLUMNS} JOIN of_two {VALID} AND o.no = r.no",
    "testEventTimeTemporalJoinWithNonEqualCondition": (
        f"{COLUMNS} JOIN before {VALID} AND o.no = r.no AND o.id < 5 AND r.rate > 102"
    ),
    "testEventTimeTemporalJoinEqualConditionOnKey": (
        f"{COLUMNS} JOIN before {VALID} AND o.no = r.no AND o.currency = 'Euro' AND r.rate > 102"
    ),
    "testEventTimeMultiTemporalJoin": (
        "o.id, r.rate, r.at, r1.rate AS rate1 FROM orders AS o "
        f"LEFT JOIN of_two {VALID} AND o.no = r.no "
        "LEFT JOIN rates FOR SYSTEM_TIME AS OF o.at AS r1 ON o.currency = r1.currency"
    ),
    # and testMiniBatchEventTimeViewTemporalJoin
    "testEventTimeTemporalJoinWithDeduplicateLastView": f"{COLUMNS} JOIN history {VALID}",
    "testEventTimeLeftTemporalJoinWithView": (
        f"{COLUMNS} LEFT JOIN history {VALID} AND substr(o.currency, 1, 2) = 'US'"
    ),
}
ALL: Rows = [
    (1, 114, "2020-08-15T00:00:01"),
    (2, 106, "2020-08-16T00:02:00"),
    (3, 702, "2020-08-15T00:00:04"),
    (4, 118, "2020-08-16T00:01:00"),
]
EXPECTED: Mapping[str, Rows] = {
    "testEventTimeTemporalJoin": ALL,
    "testEventTimeTemporalJoinThatJoinkeyContainsPk": ALL,
    "testEventTimeTemporalJoinWithFilter": ALL[:2],
    "testEventTimeLeftTemporalJoin": [*ALL, (5, None, None)],
    # The delete of RMB has the time of its version.
    "testEventTimeTemporalJoinChangelogUsingBeforeTime": [
        *ALL[:2],
        (3, None, None),
        ALL[3],
        (5, None, None),
    ],
    "testEventTimeLeftTemporalJoinUpsertSource": [
        ALL[0],
        (2, 104, "2020-08-16T00:02:00"),
        (3, None, None),
        ALL[3],
        (5, None, None),
    ],
    "testEventTimeTemporalJoinWithMultiKeys": ALL,
    "testEventTimeTemporalJoinWithNonEqualCondition": [*ALL[:2], ALL[3]],
    "testEventTimeTemporalJoinEqualConditionOnKey": [ALL[0], ALL[3]],
    "testEventTimeMultiTemporalJoin": [
        *((*row, row[1]) for row in ALL),
        (5, None, None, None),
    ],
    "testEventTimeTemporalJoinWithDeduplicateLastView": [*ALL, (5, 702, "2020-08-15T00:00:04")],
    "testEventTimeLeftTemporalJoinWithView": [
        (1, None, None),
        ALL[1],
        *((n, None, None) for n in (3, 4, 5)),
    ],
}


class TestTemporalJoinITCase:
    """org.apache.flink.table.planner.runtime.stream.sql.TemporalJoinITCase, its row-time tests.

    Flink's orders are a changelog. Here the left input is append-only, so these are the remaining
    orders. A view with the last row of each key by ROW_NUMBER is FROM_UPSERTS here. A view with the
    first row has no versions, and Spark has no ROW_NUMBER on a stream.
    """

    @pytest.fixture(scope="class")
    def found(
        self, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
    ) -> Mapping[str, list[Row]]:
        columns = "currency STRING, no STRING, rate BIGINT, at TIMESTAMP, op STRING, n INT"
        feeds = Feeds(
            spark,
            tmp_path_factory.mktemp("temporal"),
            arriving="id BIGINT, currency STRING, no STRING, amount BIGINT, at TIMESTAMP",
            **{f"arriving_{name}": columns for name in RATES},
        )
        arrived: dict[str, Rows] = {
            f"arriving_{name}": [
                (currency, "no1", rate, millis(at), op, n)
                for n, (currency, rate, at, op) in enumerate([*rows, (MARK, 0, END, INSERT)])
            ]
            for name, rows in RATES.items()
        }
        orders = [(*row, millis(at)) for *row, at in ORDERS]
        feeds.land(arriving=[*orders, (-1, MARK, MARK, 0, millis(END))], **arrived)
        impose_order(feeds.stream("arriving"), "at", "2 days").createOrReplaceTempView("orders")
        for name, (source, key) in KEYS.items():
            rows = feeds.stream(f"arriving_{source}")
            declared = (
                from_changelog(rows, key=key, op="op", sequence_by="n")
                if source in ("rates", "before")
                else from_upserts(rows, key, "n", deletes=F.col("op") == DELETE)
            )
            impose_order(declared, "at", "2 days").createOrReplaceTempView(name)
        spark.sql("SELECT * FROM rates").createOrReplaceTempView("v1")
        return feeds.run_all(
            {name: spark.sql(f"SELECT {query}").where("id > 0") for name, query in QUERIES.items()}
        )

    @pytest.mark.parametrize("name", QUERIES)
    def test_sql_temporal_join_equals_the_expected_versions(
        self, found: Mapping[str, list[Row]], name: str
    ) -> None:
        expected = [(n, rate, at and millis(at), *more) for n, rate, at, *more in EXPECTED[name]]
        assert found[name] == in_order(expected)


class TestTemporalJoinTestPrograms:
    """org.apache.flink.table.planner.plan.nodes.exec.stream.TemporalJoinTestPrograms

    A row at the watermark is buffered here, as another row at its time can arrive: the order of
    00:45 is emitted after the restart. Temporal table functions have no equivalent here.
    """

    SECOND: ClassVar = "2020-10-10 00:00:{}"

    def orders(self, *rows: tuple[int, str, int]) -> Sequence[dict[str, Any]]:
        return [
            {
                "amount": amount,
                "currency": currency,
                # As in the program, this form has the dollar in lower case.
                "nested": {"currency": "usd" if currency == "USD" else currency},
                "by_name": {"currency": currency},
                "at": self.SECOND.format(second),
            }
            for amount, currency, second in rows
        ]

    def rates(self, *rows: tuple[str, int, int]) -> Sequence[dict[str, Any]]:
        return [
            {"currency": currency, "rate": rate, "at": self.SECOND.format(second)}
            for currency, rate, second in rows
        ]

    @pytest.mark.parametrize(
        "key",
        [
            pytest.param("o.currency", id="temporal-join-table-join"),
            pytest.param(
                "CASE WHEN o.nested.currency = 'usd' THEN upper(o.nested.currency) "
                "ELSE o.nested.currency END",
                id="temporal-join-table-join-nested-key",
            ),
            pytest.param("o.by_name['currency']", id="temporal-join-table-join-key-from-map"),
        ],
    )
    def test_temporal_join_continues_after_a_restart(
        self, spark: SparkSession, tmp_path: Path, key: str
    ) -> None:
        order_landing = Landing(
            spark,
            tmp_path / "orders",
            "amount BIGINT, currency STRING, nested STRUCT<currency: STRING>, "
            "by_name MAP<STRING, STRING>, at TIMESTAMP",
        )
        schema = "currency STRING, rate BIGINT, at TIMESTAMP"
        rate_landing = Landing(spark, tmp_path / "rates", schema)

        def view(name: str, df: DataFrame) -> None:
            impose_order(df, "at", "0 seconds").createOrReplaceTempView(name)

        view("restored_orders", order_landing.stream())
        view("restored_rates", from_upserts(rate_landing.stream(), "currency", "at"))
        result = spark.sql(
            "SELECT amount * r.rate AS result FROM restored_orders AS o "
            f"JOIN restored_rates FOR SYSTEM_TIME AS OF o.at AS r ON {key} = r.currency"
        )
        run = Run(result, tmp_path / "checkpoint")
        order_landing.land(
            *self.orders((2, "Euro", 42), (1, "USD", 43), (50, "Yen", 44), (3, "Euro", 45))
        )
        first = [("USD", 102, 41), ("Euro", 114, 41), ("Yen", 1, 41)]
        rate_landing.land(*self.rates(*first, ("Euro", 116, 45), ("Euro", 119, 47)))
        run.step()
        before = [(102,), (228,), (50,)]
        assert in_order(run.rows()) == in_order(before)
        order_landing.land(*self.orders((1, "Euro", 58), (1, "USD", 58), (1, MARK, 59)))
        rate_landing.land(*self.rates(("USD", 103, 58), ("Euro", 120, 59)))
        run.step()
        assert in_order(run.rows()) == in_order([*before, (348,), (103,), (119,)])
