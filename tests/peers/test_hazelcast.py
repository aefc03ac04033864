"""Ported tests of Hazelcast's SQL stream-to-stream join."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from streamjoin import stream_join
from tests.peers.feeds import Feeds, Row, in_order
from tests.peers.hazelcast import millis, ordered, refusal, views


class TestSqlStreamToStreamJoin:
    """com.hazelcast.jet.sql.impl.s2sjoin.SqlStreamToStreamJoinTest"""

    @pytest.fixture
    def numbers(self, spark: SparkSession, tmp_path: Path) -> Feeds:
        feeds = Feeds(spark, tmp_path, s="a INT, b INT", s2="b INT")
        views(spark, v=ordered("a", "0", "s"), w=ordered("b", "1", "s2"))
        return feeds

    @pytest.mark.parametrize(
        "condition",
        [
            "v1.a >= v2.a",
            "v2.a >= v1.a",
            "v1.a BETWEEN v1.b AND v2.a",
            "v2.a BETWEEN v2.b AND v1.a",
            "1 = 2",
            "1 = 1",
        ],
    )
    def test_join_without_bounds_is_refused(self, numbers: Feeds, condition: str) -> None:
        """test_missingBound; `ON 1=1` is when_leftInputHasNonTemporalWatermarkedType_then_fail."""
        query = f"SELECT * FROM v v1 JOIN v v2 ON {condition}"
        assert refusal(numbers.session, query) == "STREAM_JOIN.UNBOUNDED_STATE"

    def test_equality_of_functions_is_refused(self, spark: SparkSession, tmp_path: Path) -> None:
        """when_joinIsEquiJoinBetweenFunctions_then_fail"""
        Feeds(spark, tmp_path, stream1="a TIMESTAMP_NTZ", stream2="b TIMESTAMP_NTZ")
        views(spark, s1=ordered("a", millis(1), "stream1"), s2=ordered("b", millis(1), "stream2"))
        query = "SELECT * FROM s1 JOIN s2 ON CAST(s2.b AS TIMESTAMP) = timestamp_millis(2)"
        assert refusal(spark, query) == "STREAM_JOIN.UNBOUNDED_STATE"

    @pytest.mark.parametrize(
        ("query", "stream1", "stream2", "expected"),
        [
            pytest.param(
                "SELECT * FROM s1 JOIN s2 ON s2.b BETWEEN s1.a AND s1.a + INTERVAL '0.002' SECOND",
                [0, 1, 2],
                [1, 2],
                [(0, 1), (0, 2), (1, 1), (1, 2), (2, 2)],
                id="test_joinIsContinuous",
            ),
            pytest.param(
                "SELECT * FROM s1 LEFT JOIN s2 "
                "ON s2.b BETWEEN s1.a AND s1.a + INTERVAL '0.001' SECOND",
                [0, 3, 4, 5, 51],
                [2, 5, 7, 50],
                [(0, None), (3, None), (4, 5), (5, 5)],
                id="test_leftStreamToStreamJoinWithTimeBounds",
            ),
            pytest.param(
                "SELECT * FROM s1 RIGHT JOIN s2 "
                "ON s1.a BETWEEN s2.b AND s2.b + INTERVAL '0.001' SECOND",
                [2, 5, 7, 50],
                [0, 3, 4, 5, 51],
                [(None, 0), (None, 3), (5, 4), (5, 5)],
                id="test_rightStreamToStreamJoinWithTimeBounds",
            ),
            pytest.param(
                "SELECT * FROM s1 JOIN s2 ON s2.b BETWEEN s1.a - INTERVAL '0.001' SECOND "
                "AND s1.a + INTERVAL '0.004' SECOND",
                [0],
                [0],
                [(0, 0)],
                id="test_joinHasTimestampBounds",
            ),
            pytest.param(
                "SELECT * FROM s1 JOIN s2 ON s2.b = s1.a",
                [0],
                [0],
                [(0, 0)],
                id="test_joinIsEquiJoin",
            ),
            pytest.param(
                "SELECT b FROM s1 JOIN s2 ON s2.b BETWEEN s1.a - INTERVAL '0.002' SECOND "
                "AND s1.a + INTERVAL '0.002' SECOND",
                [0],
                [1],
                [(1,)],
                id="given_streamToStreamJoin_when_joinHasProjectOnTop_then_success",
            ),
        ],
    )
    def test_joins_on_timestamps(
        self,
        spark: SparkSession,
        tmp_path: Path,
        query: str,
        stream1: list[int],
        stream2: list[int],
        expected: list[Row],
    ) -> None:
        """The Hazelcast test named in the parameter id."""
        feeds = Feeds(spark, tmp_path, stream1="a TIMESTAMP_NTZ", stream2="b TIMESTAMP_NTZ")
        lag = millis(2)
        views(spark, s1=ordered("a", lag, "stream1"), s2=ordered("b", lag, "stream2"))
        feeds.land(stream1=[(a,) for a in stream1], stream2=[(b,) for b in stream2])
        assert feeds.sql(query) == in_order(expected)

    def test_where_condition_filters_joined_rows(self, spark: SparkSession, tmp_path: Path) -> None:
        """test_additionalJoinConditionApplies"""
        feeds = Feeds(
            spark, tmp_path, stream1="a TIMESTAMP_NTZ, b INT", stream2="x TIMESTAMP_NTZ, y INT"
        )
        views(spark, s1=ordered("a", millis(2), "stream1"), s2=ordered("x", millis(2), "stream2"))
        left = [(n, n) for n in (9, 11, 12, 13, 14, 15)]
        right = [(n, n) for n in range(9, 16)]
        feeds.land(stream1=left[:3], stream2=right[:3])
        feeds.land(stream1=left[3:], stream2=right[3:])
        query = (
            "SELECT b, y FROM s1 JOIN s2 ON s2.x BETWEEN s1.a AND s1.a + INTERVAL '0.002' SECOND "
            "WHERE b % 2 = 0"
        )
        assert feeds.sql(query) == [(12, 12), (12, 13), (12, 14), (14, 14), (14, 15)]

    @pytest.mark.parametrize(
        ("condition", "a", "b"),
        [
            pytest.param("v.a = w.b", 42, 42, id="test_nonTemporalWatermarkedType"),
            pytest.param(
                "w.b BETWEEN v.a AND v.a + 1",
                0,
                0,
                id="test_joinWithImplicitCastsInJoinCondition",
            ),
            # A row of v has its bound in a column, which is a valid bound here.
            pytest.param(
                "w.b BETWEEN v.a AND CAST(CAST(v.a AS STRING) AS INT) + 10",
                0,
                7,
                id="test_joinWithUnsupportedCastsInJoinCondition",
            ),
        ],
    )
    def test_joins_on_integer_times(self, numbers: Feeds, condition: str, a: int, b: int) -> None:
        """The Hazelcast test named in the parameter id."""
        numbers.land(s=[(a, 0)], s2=[(b,)])
        assert numbers.sql(f"SELECT v.a, w.b FROM v JOIN w ON {condition}") == [(a, b)]

    def test_bound_cast_to_a_timestamp_on_integer_times_is_refused(self, numbers: Feeds) -> None:
        """test_joinWithUnsupportedCastsInJoinCondition: Spark compares no number with a time."""
        query = (
            "SELECT * FROM v JOIN w ON w.b BETWEEN v.a "
            "AND CAST(CAST(v.a AS STRING) AS TIMESTAMP) + INTERVAL '10' SECONDS"
        )
        assert refusal(numbers.session, query).startswith("STREAM_JOIN.TIME_TYPE_MISMATCH")

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            pytest.param(
                "SELECT * FROM s1 "
                "JOIN s2 ON s2.b BETWEEN s1.a - INTERVAL '0.1' SECONDS AND s1.a "
                "JOIN s3 ON s3.c BETWEEN s2.b - INTERVAL '0.1' SECONDS "
                "AND s2.b + INTERVAL '0.5' SECONDS",
                [(100, 100, 101)],
                id="test_joinHasDoubledTimestampBounds",
            ),
            pytest.param(
                "SELECT * FROM s1 "
                "JOIN s2 ON s2.b BETWEEN s1.a - INTERVAL '0.1' SECONDS AND s1.a "
                "JOIN s3 ON s3.c BETWEEN s2.b AND s2.b + INTERVAL '0.1' SECONDS "
                "JOIN s4 ON s4.d BETWEEN s3.c AND s3.c + INTERVAL '0.1' SECONDS",
                [(100, 100, 101, 102)],
                id="test_joinHasTripledTimestampBounds",
            ),
        ],
    )
    def test_chains_of_three_and_four_inputs(
        self, spark: SparkSession, tmp_path: Path, query: str, expected: list[Row]
    ) -> None:
        """The Hazelcast test named in the parameter id."""
        columns = {f"stream{n}": column for n, column in enumerate("abcd", 1)}
        feeds = Feeds(spark, tmp_path, **{s: f"{c} TIMESTAMP_NTZ" for s, c in columns.items()})
        for (stream, column), time in zip(columns.items(), (100, 100, 101, 102), strict=True):
            views(spark, **{f"s{stream[-1]}": ordered(column, millis(1), stream)})
            feeds.land(**{stream: [(time,)]})
        assert feeds.sql(query) == expected

    def test_projection_and_window_above_the_join(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """test_calcReordersFields and test_calcHasParent"""
        feeds = Feeds(
            spark, tmp_path, stream1="a TIMESTAMP", stream2="b TIMESTAMP, c INT, d STRING"
        )
        views(spark, s1=ordered("a", millis(1), "stream1"), s2=ordered("b", millis(1), "stream2"))
        feeds.land(stream1=[(0,)], stream2=[(0, 0, "zero")])
        bounds = "s2.b BETWEEN s1.a - INTERVAL '0.001' SECOND AND s1.a + INTERVAL '0.004' SECOND"
        assert feeds.sql(f"SELECT d, c, b, a FROM s1 JOIN s2 ON {bounds}") == [("zero", 0, 0, 0)]
        tumbled = (
            "SELECT w.start, w.end, a FROM (SELECT window(a, '2 milliseconds') AS w, a "
            f"FROM (SELECT b, a FROM s1 JOIN s2 ON {bounds}))"
        )
        assert feeds.sql(tumbled, "tumbled") == [(0, 2, 0)]

    def test_join_with_a_union(self, spark: SparkSession, tmp_path: Path) -> None:
        """test_relTreeHasUnion"""
        other = "b TIMESTAMP_NTZ, c INT, d STRING"
        feeds = Feeds(spark, tmp_path, stream1="a TIMESTAMP_NTZ", stream2=other, stream3=other)
        second, third = (ordered("b", millis(1), f"stream{n}") for n in (2, 3))
        views(
            spark,
            s1=ordered("a", millis(1), "stream1"),
            s2=f"SELECT b, d FROM ({second}) UNION ALL SELECT b, d FROM ({third})",
        )
        feeds.land(
            stream1=[(0,), (1,)],
            stream2=[(0, 0, "zero"), (1, 1, "one")],
            stream3=[(1, 1, "one"), (2, 2, "two")],
        )
        query = (
            "SELECT a, d FROM s1 JOIN s2 ON s2.b BETWEEN s1.a - INTERVAL '0.001' SECOND "
            "AND s1.a + INTERVAL '0.004' SECOND"
        )
        words = ("zero", "one", "one", "two")
        assert feeds.sql(query) == in_order([(a, word) for a in (0, 1) for word in words])

    def test_self_joins_with_and_without_views(self, spark: SparkSession, tmp_path: Path) -> None:
        """The Hazelcast tests named in the keys."""
        feeds = Feeds(spark, tmp_path, stream1="a TIMESTAMP")
        views(spark, s=ordered("a", "INTERVAL '0' SECONDS", "stream1"))
        feeds.land(stream1=[(42,)])
        order = ordered("a", "INTERVAL '1' SECONDS", "stream1")
        function = order.removeprefix("SELECT * FROM ")
        queries = {
            "test_selfJoin": "SELECT * FROM s s1 JOIN s s2 ON s1.a=s2.a",
            "test_joinWithoutViews": (
                f"SELECT * FROM ({order}) s1 INNER JOIN ({order}) s2 ON s1.a=s2.a"
            ),
            "test_joinWithoutViewsAndSubqueries": (
                f"SELECT * FROM {function} s1 INNER JOIN {function} s2 ON s1.a=s2.a"
            ),
            "test_joinWithUsingClause": (
                f"SELECT * FROM ({order}) s1 INNER JOIN ({order}) s2 USING(a)"
            ),
        }
        assert feeds.run_all({name: spark.sql(query) for name, query in queries.items()}) == {
            "test_selfJoin": [(42, 42)],
            "test_joinWithoutViews": [(42, 42)],
            "test_joinWithoutViewsAndSubqueries": [(42, 42)],
            "test_joinWithUsingClause": [(42,)],
        }

    @pytest.mark.parametrize("imposed", ["left", "right"])
    def test_join_with_an_order_on_one_input_is_refused(self, numbers: Feeds, imposed: str) -> None:
        """test_joinGenerators, with an order on one input; without one the join remains Spark's."""
        tables = "v JOIN s2" if imposed == "left" else "s2 JOIN v"
        query = f"SELECT 1 FROM {tables} ON 1 = 1"
        assert refusal(numbers.session, query) == "STREAM_JOIN.MISSING_WATERMARK"

    def test_stream_join_without_any_order_is_refused(self, numbers: Feeds) -> None:
        """test_joinGenerators"""
        plain = numbers.session.table("s2")
        with pytest.raises(AnalysisException) as refused:
            stream_join(plain, numbers.session.table("s2"), F.expr("1 = 1"))
        assert refused.value.getCondition() == "STREAM_JOIN.MISSING_WATERMARK"


class TestJoinAndAggregation:
    """SqlStreamingJoinAndAggregationTest and STSJoinSlidingWindowAggregationTest

    Spark has no COUNT(DISTINCT) on a stream, so the tests with SUM(DISTINCT ...) use plain SUM.
    """

    LEFT: ClassVar[list[Row]] = [(1, 1), (3, 3), (5, 5), (5, 7), (41, 41)]
    RIGHT: ClassVar[list[Row]] = [(0, 0), (2, 2), (4, 4), (6, 6), (41, 41)]

    @pytest.fixture
    def feeds(self, spark: SparkSession, tmp_path: Path) -> Feeds:
        return Feeds(spark, tmp_path, stream1="a INT, b TIMESTAMP", stream2="c TIMESTAMP, d INT")

    @staticmethod
    def aggregated(session: SparkSession, lag: int, window: str) -> None:
        left, right = ordered("b", millis(lag), "stream1"), ordered("c", millis(lag), "stream2")
        views(
            session,
            agg1=f"SELECT window(b, {window}) AS we1, sum(a) AS s FROM ({left}) GROUP BY 1",
            agg2=f"SELECT window(c, {window}) AS we2, max(d) AS m FROM ({right}) GROUP BY 1",
        )

    JOINED = "SELECT we1.end AS e, s, m FROM agg1 JOIN agg2 ON agg1.we1 = agg2.we2"

    def test_join_of_tumbling_window_aggregations(self, feeds: Feeds) -> None:
        """test_doubleStaged_tumble"""
        self.aggregated(feeds.session, 3, "'3 milliseconds'")
        feeds.land(stream1=self.LEFT, stream2=self.RIGHT)
        assert feeds.sql(self.JOINED) == [(3, 1, 2), (6, 8, 4), (9, 5, 6)]

    def test_join_of_hopping_window_aggregations(self, feeds: Feeds) -> None:
        """test_doubleStaged_hop"""
        self.aggregated(feeds.session, 1, "'20 milliseconds', '10 milliseconds'")
        feeds.land(stream1=[(1, 1), (2, 2), (101, 101)], stream2=[(1, 1), (2, 2), (101, 101)])
        assert feeds.sql(self.JOINED) == [(10, 3, 2), (20, 3, 2)]

    def test_window_aggregation_above_a_join_of_aggregations(self, feeds: Feeds) -> None:
        """STSJoinSlidingWindowAggregationTest.test

        Spark uses the last moment of a window as its time. A window therefore belongs to the outer
        window before the one in which Hazelcast counts it.
        """
        self.aggregated(feeds.session, 3, "'3 milliseconds'")
        feeds.land(stream1=[(1, 1), (3, 3), (5, 5), (7, 7), (41, 41)], stream2=self.RIGHT)
        query = (
            "SELECT window(we1, '3 milliseconds').start, count(m) "
            "FROM agg1 JOIN agg2 ON agg1.we1 = agg2.we2 GROUP BY window(we1, '3 milliseconds')"
        )
        assert feeds.sql(query) == [(0, 1), (3, 1), (6, 1)]
