"""Ported tests of Flink's planner: which queries are interval joins, and which are refused."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.sql import SparkSession

from tests.peers.feeds import Feeds, Harness, Row, in_order
from tests.peers.flink import SECOND, refusal, tables


class TestIntervalJoinPlans:
    """org.apache.flink.table.planner.plan.stream.sql.join.IntervalJoinTest"""

    COLUMNS = "a INT, b STRING, c BIGINT, rowtime TIMESTAMP, seen TIMESTAMP"
    ROWS: ClassVar[list[Row]] = [
        (1, "x", 1, 0, 0),
        (2, "y", 2, 60 * SECOND, 0),
        (1, "x", 4, 120 * SECOND, 0),
        (None, "z", 5, 180 * SECOND, 0),
    ]
    OTHER: ClassVar[list[Row]] = [
        (1, "x", 1, 0, 0),
        (2, "n", 2, 30 * SECOND, 0),
        (3, "y", 4, 60 * SECOND, 0),
    ]

    @pytest.fixture
    def feeds(self, spark: SparkSession, tmp_path: Path) -> Feeds:
        feeds = Feeds(spark, tmp_path, s1=self.COLUMNS, s2=self.COLUMNS, s7=self.COLUMNS)
        tables(spark, MyTable="s1", MyTable2="s2", MyTable7="s7")
        return feeds

    @pytest.mark.parametrize(
        ("condition", "refused"),
        [
            pytest.param(
                "t1.rowtime > t2.rowtime - INTERVAL '5' SECOND",
                "UNBOUNDED_STATE",
                id="testInteravlJoinSingleTimeCondition",
            ),
            pytest.param(
                "(t1.rowtime > t2.rowtime - INTERVAL '5' SECOND "
                "OR t1.rowtime < t2.rowtime + INTERVAL '5' SECOND)",
                "DISJUNCTIVE_BOUND",
                id="testInteravalNotCnfCondition",
            ),
            pytest.param(
                "t1.seen BETWEEN t2.seen - INTERVAL '5' SECOND AND t2.seen",
                "UNBOUNDED_STATE",
                id="testFallbackToRegularJoin",
            ),
        ],
    )
    def test_conditions_without_usable_bounds_are_refused(
        self, feeds: Feeds, condition: str, refused: str
    ) -> None:
        """The Flink test named in the id: Flink stores all rows for ever, this query is refused."""
        query = f"SELECT t2.a FROM MyTable t1 JOIN MyTable2 t2 ON t1.a = t2.a AND {condition}"
        assert refusal(feeds.session, query) == refused

    def test_column_without_a_watermark_can_be_a_bound(self, feeds: Feeds) -> None:
        """From testInteravalDiffTimeIndicator: refused as an interval join there.

        Here a bound can be any column of a row, which then determines how long the row is buffered.
        """
        feeds.land(s1=self.ROWS, s2=[(1, "x", 1, 3 * SECOND, 0), (1, "x", 1, 4 * SECOND, -9000)])
        query = (
            "SELECT t1.a, t2.rowtime FROM MyTable t1 JOIN MyTable2 t2 ON t1.a = t2.a "
            "AND t1.rowtime > t2.rowtime - INTERVAL '5' SECOND "
            "AND t1.rowtime < t2.seen + INTERVAL '5' SECOND"
        )
        assert feeds.sql(query) == [(1, 3 * SECOND)]

    SUBQUERIES: ClassVar[dict[str, tuple[str, list[int | None]]]] = {
        "testRowTimeSemiIntervalJoinWithIn": (
            "t1.a IN (SELECT t2.a FROM MyTable2 t2 WHERE {within})",
            [1, 2, 1],
        ),
        "testSemiIntervalJoinWithExists": (
            "EXISTS (SELECT * FROM MyTable2 t2 WHERE {within})",
            [1, 2, 1, None],
        ),
        "testAntiIntervalJoinWithExists": (
            "NOT EXISTS (SELECT * FROM MyTable2 t2 WHERE t1.a = t2.a AND {within})",
            [None],
        ),
        "testSemiIntervalJoinWithSimpleCondition": (
            "EXISTS (SELECT * FROM MyTable2 t2 WHERE t1.b = t2.b AND {within})",
            [1, 2, 1],
        ),
        "testSemiIntervalJoinWithMultiConditions": (
            "t1.c > 2 AND NOT (t1.b LIKE 'abc' OR t1.a NOT IN "
            "(SELECT t2.a FROM MyTable2 t2 WHERE t1.b = t2.b AND {within}))",
            [1],
        ),
        "testNestedSemiIntervalJoin": (
            "EXISTS (SELECT t2.a FROM MyTable2 t2 WHERE t1.b = t2.b AND {within} AND t2.a IN "
            "(SELECT t3.a FROM MyTable2 t3 WHERE t2.b = t3.b AND t2.rowtime "
            "BETWEEN t3.rowtime AND t3.rowtime + INTERVAL '5' MINUTE))",
            [1, 2, 1],
        ),
        "testNestedSemiAntiIntervalJoin": (
            "EXISTS (SELECT t2.a FROM MyTable2 t2 WHERE t1.b = t2.b AND {within} "
            "AND NOT EXISTS (SELECT * FROM MyTable7 t3 WHERE t2.a = t3.a AND t2.b = t3.b "
            "AND t2.rowtime BETWEEN t3.rowtime AND t3.rowtime + INTERVAL '5' MINUTE))",
            [2],
        ),
        "testSemiIntervalJoinWithMultiFields": (
            "(t1.a, substring(t1.b, 1, 5)) IN "
            "(SELECT t2.a, substring(t2.b, 1, 5) FROM MyTable2 t2 WHERE {within})",
            [1, 1],
        ),
        "testMultiSemiIntervalJoin": (
            "t1.a IN (SELECT t2.a FROM MyTable2 t2 WHERE {within}) "
            "AND t1.c IN (SELECT t3.c FROM MyTable7 t3 WHERE t1.rowtime BETWEEN "
            "t3.rowtime + INTERVAL '1' MINUTE AND t3.rowtime + INTERVAL '4' MINUTE)",
            [1],
        ),
    }

    def test_semi_and_anti_joins_by_subquery(self, feeds: Feeds) -> None:
        """The plans named in the keys, with rows; NOT IN on nullable columns is NOT EXISTS here."""
        feeds.land(s1=self.ROWS[:2], s2=self.OTHER, s7=[(1, "x", 4, 0, 0)])
        feeds.land(
            s1=[*self.ROWS[2:], (9, "~1", 9, 7200 * SECOND, 0)],
            s2=[(8, "~2", 8, 3700 * SECOND, 0)],
            s7=[(7, "~7", 7, 3800 * SECOND, 0)],
        )
        within = "t1.rowtime BETWEEN t2.rowtime AND t2.rowtime + INTERVAL '5' MINUTE"
        results = {
            name: feeds.session.sql(
                f"SELECT t1.a FROM MyTable t1 WHERE {where.format(within=within)}"
            )
            for name, (where, _) in self.SUBQUERIES.items()
        }
        assert feeds.run_all(results) == {
            name: in_order([(a,) for a in expected])
            for name, (_, expected) in self.SUBQUERIES.items()
        }

    @pytest.mark.parametrize(
        ("query", "refused"),
        [
            pytest.param(
                "SELECT t1.a FROM MyTable t1 WHERE t1.a NOT IN (SELECT t2.a FROM MyTable2 t2 "
                "WHERE t1.rowtime BETWEEN t2.rowtime AND t2.rowtime + INTERVAL '5' MINUTE)",
                "UNSUPPORTED_SUBQUERY",
                id="testAntiIntervalJoinWithIn",
            ),
            pytest.param(
                "SELECT t1.a FROM MyTable t1 WHERE t1.a IN (SELECT t2.a FROM MyTable2 t2 WHERE "
                "t1.rowtime BETWEEN t2.rowtime AND t2.rowtime + INTERVAL '5' MINUTE UNION "
                "SELECT t3.a FROM MyTable7 t3 WHERE t1.rowtime BETWEEN t3.rowtime "
                "+ INTERVAL '1' MINUTE AND t3.rowtime + INTERVAL '4' MINUTE)",
                "UNSUPPORTED_SUBQUERY",
                id="testUnsupportedSemiIntervalJoinWithUnion",
            ),
            pytest.param(
                "SELECT t1.a FROM MyTable t1 WHERE t1.a IN (SELECT t2.a FROM MyTable2 t2 WHERE "
                "t1.b = t2.b AND t1.rowtime BETWEEN t2.rowtime AND t2.rowtime "
                "+ INTERVAL '5' MINUTE GROUP BY t2.a)",
                "UNSUPPORTED_SUBQUERY",
                id="testFallbackToRegularJoin",
            ),
            pytest.param(
                "SELECT t1.a, t2.b FROM MyTable t1 LEFT OUTER JOIN MyTable2 t2 ON t1.a = t2.a "
                "AND py_func(t1.a, t2.a) = t1.a + t2.a AND t1.rowtime BETWEEN "
                "t2.rowtime - INTERVAL '1' HOUR AND t2.rowtime + INTERVAL '1' HOUR",
                "UNSUPPORTED_CONDITION",
                id="testWindowOuterJoinWithPythonFunctionInCondition",
            ),
        ],
    )
    def test_unsupported_subqueries_and_udf_conditions_are_refused(
        self, feeds: Feeds, query: str, refused: str
    ) -> None:
        """The Flink test named in the parameter id."""
        feeds.session.udf.register("py_func", lambda a, b: a + b, "int")
        assert refusal(feeds.session, query) == refused

    def test_event_times_of_different_types_are_refused(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """From testIntervalJoinOnDiffRowTimeType."""
        Feeds(spark, tmp_path, s1="a INT, rowtime TIMESTAMP_NTZ", s2="a INT, rowtime TIMESTAMP")
        tables(spark, MyTable2="s1", MyTable3="s2")
        query = (
            "SELECT t2.a FROM MyTable2 t1 JOIN MyTable3 t2 ON t1.a = t2.a "
            "AND t1.rowtime > t2.rowtime - INTERVAL '5' SECOND "
            "AND t1.rowtime < t2.rowtime + INTERVAL '5' SECOND"
        )
        assert refusal(spark, query) == "NON_CONSTANT_BOUND"

    def test_result_with_both_event_times_is_accepted(self, feeds: Feeds) -> None:
        """testNoRowtimeAttributeInResult: Flink refuses; here both times remain event times"""
        feeds.land(s1=self.ROWS, s2=self.OTHER)
        query = (
            "SELECT * FROM MyTable t1, MyTable2 t2 WHERE t1.a = t2.a AND t1.rowtime "
            "BETWEEN t2.rowtime - INTERVAL '5' SECOND AND t2.rowtime"
        )
        assert feeds.sql(query) == [(*self.ROWS[0], *self.OTHER[0])]

    def test_join_key_with_a_null_literal_matches_nothing(self, feeds: Feeds) -> None:
        """From testJoinWithNullLiteral."""
        feeds.land(s1=self.ROWS, s2=self.OTHER)
        query = (
            "WITH T1 AS (SELECT *, CAST(NULL AS BIGINT) AS n FROM MyTable), "
            "T2 AS (SELECT *, CAST(12 AS BIGINT) AS n FROM MyTable2) "
            "SELECT t2.a, t2.c, t1.c FROM T1 AS t1 JOIN T2 AS t2 ON t1.a = t2.a AND t1.n = t2.n "
            "AND t1.rowtime BETWEEN t2.rowtime - INTERVAL '5' SECOND "
            "AND t2.rowtime + INTERVAL '5' SECOND"
        )
        assert feeds.sql(query) == []

    def test_full_join_narrowed_by_where_pads_no_row(self, feeds: Feeds) -> None:
        """From testOuterJoinOpt."""
        feeds.land(s1=self.ROWS, s2=self.OTHER)
        query = (
            "SELECT t1.a, t2.b FROM MyTable t1 FULL OUTER JOIN MyTable2 t2 ON t1.a = t2.a "
            "AND t1.rowtime BETWEEN t2.rowtime - INTERVAL '10' SECOND "
            "AND t2.rowtime + INTERVAL '1' HOUR WHERE t1.b LIKE t2.b"
        )
        run = feeds.run(feeds.session.sql(query))
        assert in_order(run.rows()) == [(1, "x"), (1, "x")]
        assert run.total("nullPaddedRows") == 0

    def test_bounds_determine_the_limits_of_rows(self, spark: SparkSession, tmp_path: Path) -> None:
        """TestJoinTimeBoundary and testJoinRemainConditionConvert

        The limits of rows at 100000 show the bounds of l.t - r.t.
        """
        boundaries = {
            "l.t BETWEEN r.t - 3600 AND r.t + 3600": (-3600, 3600),
            "l.t > r.t - 1000 AND l.t < r.t + 1000": (-999, 999),
            "l.t >= r.t - 1000 AND l.t <= r.t + 1000": (-1000, 1000),
            "l.t >= r.t AND l.t <= r.t + 1000": (0, 1000),
            "l.t >= r.t + 1000 AND l.t <= r.t + 10000": (1000, 10000),
            "r.t - 1000 <= l.t AND r.t + 10000 >= l.t": (-1000, 10000),
            "l.t - 2000 >= r.t + 1000 - 10000 AND l.t <= r.t + 10000": (-7000, 10000),
            "l.t >= r.t - 10000 AND l.t <= r.t - 5000": (-10000, -5000),
            "l.t >= r.t - 10000 AND l.t <= r.t - 5000 AND l.t % 7 > r.t % 7": (-10000, -5000),
        }
        at = 100_000
        harness = Harness(spark, tmp_path)
        rows = [(str(number), at) for number in range(len(boundaries))]
        harness.step(rows, rows)
        assert harness.limits(list(boundaries)) == [
            {"left": at - lower, "right": at + upper} for lower, upper in boundaries.values()
        ]
