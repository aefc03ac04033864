"""Ported tests of Flink's window joins."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.peers.feeds import Feeds, Row, in_order
from tests.peers.flink import SECOND, THE_END, refusal, tables


class TestWindowJoin:
    """org.apache.flink.table.planner.runtime.stream.sql.WindowJoinITCase

    A window of an event time is an event time here, so window joins need no separate operator.
    """

    COLUMNS = "rowtime TIMESTAMP, n INT, string STRING, name STRING"
    WINDOW = "'5 seconds'"

    @staticmethod
    def rows(name: str) -> list[Row]:
        return [
            (1 * SECOND, 1, "Hi", name),
            (2 * SECOND, 2, "Comment#1", name),
            (3 * SECOND, 2, "Comment#1", name),
            (4 * SECOND, 5, None, name),
            (7 * SECOND, 3, "Hello", "b"),
            (6 * SECOND, 6, "Hi", "b"),
            (8 * SECOND, 3, "Comment#2", name),
        ]

    # below the watermark of 7 seconds
    LATE = (4 * SECOND, 5, "Hi")
    REST: ClassVar[list[Row]] = [
        (16 * SECOND, 4, "Hi", "b"),
        (32 * SECOND, 7, None, None),
        (34 * SECOND, 1, "Comment#3", "b"),
    ]

    @pytest.fixture
    def feeds(self, spark: SparkSession, tmp_path: Path) -> Feeds:
        feeds = Feeds(spark, tmp_path, s1=self.COLUMNS, s2=self.COLUMNS)
        feeds.land(s1=self.rows("a"), s2=self.rows("a1"))
        feeds.land(
            s1=[(*self.LATE, "a"), *self.REST, (THE_END, 0, "", "~l")],
            s2=[(*self.LATE, "a1"), *self.REST, (THE_END, 0, "", "~r")],
        )
        tables(spark, "INTERVAL '1' SECOND", T1="s1", T2="s2")
        return feeds

    @staticmethod
    def windowed(table: str, window: str) -> str:
        return f"(SELECT *, window(rowtime, {window}) AS w FROM {table})"

    def test_inner_semi_and_anti_joins_on_windows(self, feeds: Feeds) -> None:
        """The Flink tests named in the keys."""

        def joined(window: str, equal: str = "=") -> str:
            return (
                "SELECT unix_seconds(L.w.start), L.n, R.n, L.name FROM "
                f"{self.windowed('T1', window)} L JOIN {self.windowed('T2', window)} R "
                f"ON L.w = R.w AND L.name {equal} R.name"
            )

        left, right = self.windowed("T1", self.WINDOW), self.windowed("T2", self.WINDOW)
        times = f"SELECT unix_seconds(L.rowtime) FROM {left} L WHERE"
        queries = {
            "testInnerJoinOnWTF": joined(self.WINDOW),
            "testInnerJoinOnWTFWithOffset": joined("'5 seconds', '5 seconds', '1 second'"),
            "testInnerJoinOnWTFWithNegativeOffset": joined("'5 seconds', '5 seconds', '-1 second'"),
            "testInnerJoinWithIsNotDistinctFromOnWTF": joined(self.WINDOW, "IS NOT DISTINCT FROM"),
            "testSemiJoinExistsWTF": f"{times} EXISTS "
            f"(SELECT * FROM {right} R WHERE L.w = R.w AND L.name = R.name)",
            "testSemiJoinIN_WTF": f"{times} L.name IN "
            f"(SELECT R.name FROM {right} R WHERE L.w = R.w)",
            "testAntiJoinNotExistsWTF": f"{times} NOT EXISTS "
            f"(SELECT * FROM {right} R WHERE L.w = R.w AND L.name = R.name)",
        }

        def met(first: int, second: int, third: int) -> list[Row]:
            pairs: list[Row] = [(first, a, b, "b") for a in (3, 6) for b in (3, 6)]
            return in_order([*pairs, (second, 4, 4, "b"), (third, 1, 1, "b")])

        found = feeds.run_all({name: feeds.session.sql(q) for name, q in queries.items()})
        assert found == {
            "testInnerJoinOnWTF": met(5, 15, 30),
            "testInnerJoinOnWTFWithOffset": met(6, 16, 31),
            "testInnerJoinOnWTFWithNegativeOffset": met(4, 14, 34),
            "testInnerJoinWithIsNotDistinctFromOnWTF": in_order(
                [*met(5, 15, 30), (30, 7, 7, None)]
            ),
            "testSemiJoinExistsWTF": in_order([(6,), (7,), (16,), (34,)]),
            "testSemiJoinIN_WTF": in_order([(6,), (7,), (16,), (34,)]),
            # The late row at 4 seconds is not emitted.
            "testAntiJoinNotExistsWTF": in_order([(1,), (2,), (3,), (4,), (8,), (32,)]),
        }

    def test_not_in_on_nullable_names_is_refused(self, feeds: Feeds) -> None:
        """testAntiJoinNotIN_WTF: with nullable names, NOT IN has no result before the end."""
        query = (
            f"SELECT * FROM {self.windowed('T1', self.WINDOW)} L WHERE L.name NOT IN "
            f"(SELECT R.name FROM {self.windowed('T2', self.WINDOW)} R WHERE L.w = R.w)"
        )
        assert refusal(feeds.session, query) == "UNSUPPORTED_SUBQUERY"

    MATCHED: ClassVar[list[Row]] = [("b", 5, 2, 2), ("b", 15, 1, 1), ("b", 30, 1, 1)]
    LEFT_ONLY: ClassVar[list[Row]] = [("a", 0, 2, None), ("a", 5, 1, None)]
    RIGHT_ONLY: ClassVar[list[Row]] = [(None, 0, None, 2), (None, 5, None, 1)]

    def test_joins_of_windowed_aggregations(self, spark: SparkSession, feeds: Feeds) -> None:
        """The Flink tests named in the keys, with sizes of sets instead of COUNT(DISTINCT)."""

        def joined(how: str, equal: str) -> DataFrame:
            left, right = (
                f"(SELECT name, window(rowtime, {self.WINDOW}) AS w, "
                f"size(collect_set(string)) AS uv FROM {table} "
                f"GROUP BY name, window(rowtime, {self.WINDOW}))"
                for table in ("T1", "T2")
            )
            return spark.sql(
                "SELECT L.name, unix_seconds(coalesce(L.w.start, R.w.start)), L.uv, R.uv "
                f"FROM {left} L {how} {right} R ON L.w = R.w AND L.name {equal} R.name"
            )

        null_safe = "IS NOT DISTINCT FROM"
        left_only, right_only = (None, 30, 0, None), (None, 30, None, 0)
        both = (None, 30, 0, 0)
        cases: dict[str, tuple[str, str, list[Row]]] = {
            "testInnerJoin": ("JOIN", "=", self.MATCHED),
            "testInnerJoinWithIsNotDistinctFrom": ("JOIN", null_safe, [*self.MATCHED, both]),
            "testLeftJoin": ("LEFT JOIN", "=", [*self.MATCHED, *self.LEFT_ONLY, left_only]),
            "testRightJoin": ("RIGHT JOIN", "=", [*self.MATCHED, *self.RIGHT_ONLY, right_only]),
            "testOuterJoin": (
                "FULL JOIN",
                "=",
                [*self.MATCHED, *self.LEFT_ONLY, *self.RIGHT_ONLY, left_only, right_only],
            ),
            "testOuterJoinWithIsNotDistinctFrom": (
                "FULL JOIN",
                null_safe,
                [*self.MATCHED, *self.LEFT_ONLY, *self.RIGHT_ONLY, both],
            ),
        }
        found = feeds.run_all({name: joined(how, equal) for name, (how, equal, _) in cases.items()})
        assert found == {name: in_order(rows) for name, (_, _, rows) in cases.items()}
