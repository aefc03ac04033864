"""Ported tests of Flink's interval join operators, of SQL and of DataStream."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.peers.feeds import Harness, Row, Rows, Trace, in_order


def flink_watermark(time: int) -> int:
    """The first time that can still arrive: Flink's watermark covers rows at its own time."""
    return time + 1


@pytest.fixture(scope="module")
def outer(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trace]:
    """One trace for all outer join tests of RowTimeIntervalJoin, which have the same steps."""
    harness = Harness(spark, tmp_path_factory.mktemp("outer"))
    step = TestRowTimeIntervalJoin.step
    step(harness, left=[("k1", 1)], right=[("k2", 1)], wm=7)
    step(harness, wm=18)
    step(harness, left=[("k1", 2)], right=[("k2", 2)])
    step(harness, left=[("k1", 19), ("k1", 20)], right=[("k1", 26), ("k1", 25)])
    step(
        harness,
        left=[("k1", 21), ("k2", 50), ("k2", 49)],
        right=[("k2", 39), ("k2", 40), ("k2", 41)],
        wm=100,
    )
    bounds = "l.t >= r.t - 5 AND l.t <= r.t + 9"
    return {how: harness.run(how, bounds) for how in ("left", "right", "full")}


class TestRowTimeIntervalJoin:
    """org.apache.flink.table.runtime.operators.join.interval.RowTimeIntervalJoinTest

    Flink stores or pads a row below the watermark; here the row is late.
    """

    @staticmethod
    def step(harness: Harness, left: Rows = (), right: Rows = (), wm: int | None = None) -> None:
        """A batch of rows, and then one watermark for both inputs."""
        both = None if wm is None else flink_watermark(wm)
        harness.step(left=left, right=right, left_watermark=both, right_watermark=both)

    def test_inner_join_with_bounds_on_both_sides_of_zero(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """From testRowTimeInnerJoinWithCommonBounds."""
        harness = Harness(spark, tmp_path)
        self.step(harness, wm=1)
        self.step(harness, left=[("k1", 1), ("k1", 2)], right=[("k1", 2)])
        self.step(harness, left=[("k1", 5)], right=[("k1", 15)], wm=20)
        self.step(harness, left=[("k1", 35)], wm=38)
        self.step(harness, left=[("k2", 40)], right=[("k2", 39)], wm=61)
        trace = harness.run("inner", "l.t >= r.t - 10 AND l.t <= r.t + 20")
        assert trace.out == [
            [],
            [("k1", 2, "k1", 2)],  # Flink also emits (1, 2)
            [("k1", 5, "k1", 15), ("k1", 5, "k1", 2)],
            [("k1", 35, "k1", 15)],
            [("k2", 40, "k2", 39)],
        ]
        assert trace.total("lateRowsLeft") == 1
        assert (trace.buffered(2, "left"), trace.buffered(2, "right")) == (
            [],
            [("k1", 15), ("k1", 2)],
        )
        assert (trace.buffered(3, "left"), trace.buffered(3, "right")) == ([("k1", 35)], [])
        assert (trace.buffered(4, "left"), trace.buffered(4, "right")) == ([], [])

    def test_inner_join_with_negative_bounds(self, spark: SparkSession, tmp_path: Path) -> None:
        """From testRowTimeInnerJoinWithNegativeBounds."""
        harness = Harness(spark, tmp_path)
        self.step(harness, wm=1)
        self.step(harness, right=[("k1", 2)], wm=2)
        self.step(harness, left=[("k1", 3), ("k1", 6)], right=[("k1", 3), ("k1", 13)])
        self.step(harness, wm=10)
        self.step(harness, wm=18)
        trace = harness.run("inner", "l.t >= r.t - 10 AND l.t <= r.t - 7")
        assert trace.buffered(1, "right") == []
        assert trace.out[2] == [("k1", 3, "k1", 13), ("k1", 6, "k1", 13)]
        assert trace.buffered(2, "left") == [("k1", 3), ("k1", 6)]
        assert trace.buffered(2, "right") == [("k1", 13)]
        # Row 6 can still match times up to 16; the partners of row 13 end at 6.
        assert (trace.buffered(3, "left"), trace.buffered(3, "right")) == (
            [("k1", 3), ("k1", 6)],
            [],
        )
        assert (trace.buffered(4, "left"), trace.buffered(4, "right")) == ([], [])

    @pytest.mark.parametrize(
        "how",
        [
            pytest.param("left", id="testRowTimeLeftOuterJoin"),
            pytest.param("right", id="testRowTimeRightOuterJoin"),
            pytest.param("full", id="testRowTimeFullOuterJoin"),
        ],
    )
    def test_outer_joins_emit_unmatched_rows_at_the_watermark(
        self, outer: dict[str, Trace], how: str
    ) -> None:
        """The Flink test in the id, and testRowTimeInnerJoinRealtimeCleanUp in the first step.

        The watermark that makes a row final emits it, not one half an interval later.
        """
        blank = (None, None)
        trace = outer[how]
        left, right = how in ("left", "full"), how in ("right", "full")
        assert trace.out == [
            [("k1", 1, *blank)] if left else [],
            [(*blank, "k2", 1)] if right else [],
            [],  # row 2 is late; Flink pads it
            [("k1", 20, "k1", 25)],
            in_order(
                [
                    ("k1", 21, "k1", 25),
                    ("k1", 21, "k1", 26),
                    ("k2", 49, "k2", 40),
                    ("k2", 49, "k2", 41),
                    ("k2", 50, "k2", 41),
                    *([("k1", 19, *blank)] if left else []),
                    *([(*blank, "k2", 39)] if right else []),
                ]
            ),
        ]
        assert (trace.total("lateRowsLeft"), trace.total("lateRowsRight")) == (1, 1)
        assert (trace.buffered(0, "left"), trace.buffered(0, "right")) == ([], [("k2", 1)])
        assert (trace.buffered(4, "left"), trace.buffered(4, "right")) == ([], [])


def elements(first: int = 1, last: int = 4) -> list[Row]:
    return [("key", n) for n in range(first, last + 1)]


def times(rows: Rows) -> list[Row]:
    """The two times of each joined row."""
    return in_order([(row[1], row[3]) for row in rows])


class TestIntervalJoinOperator:
    """org.apache.flink.streaming.api.operators.co.IntervalJoinOperatorTest"""

    BOUNDS: ClassVar[dict[str, tuple[str, list[Row]]]] = {
        "testImplementationMirrorsCorrectly": (
            "r.t >= l.t + 1 AND r.t < l.t + 3",
            [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4)],
        ),
        "testImplementationMirrorsCorrectly, mirrored": (
            "r.t > l.t - 3 AND r.t <= l.t - 1",
            [(2, 1), (3, 1), (3, 2), (4, 2), (4, 3)],
        ),
        "testNegativeInclusiveAndNegativeInclusive": (
            "r.t BETWEEN l.t - 2 AND l.t - 1",
            [(2, 1), (3, 1), (3, 2), (4, 2), (4, 3)],
        ),
        "testNegativeInclusiveAndPositiveInclusive": (
            "r.t BETWEEN l.t - 1 AND l.t + 1",
            [(a, b) for a in range(1, 5) for b in range(1, 5) if abs(a - b) <= 1],
        ),
        "testPositiveInclusiveAndPositiveInclusive": (
            "r.t BETWEEN l.t + 1 AND l.t + 2",
            [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4)],
        ),
        "testNegativeExclusiveAndNegativeExlusive": (
            "r.t > l.t - 3 AND r.t < l.t - 1",
            [(3, 1), (4, 2)],
        ),
        "testNegativeExclusiveAndPositiveExlusive": (
            "r.t > l.t - 1 AND r.t < l.t + 1",
            [(1, 1), (2, 2), (3, 3), (4, 4)],
        ),
        "testPositiveExclusiveAndPositiveExlusive": (
            "r.t > l.t + 1 AND r.t < l.t + 3",
            [(1, 3), (2, 4)],
        ),
    }

    @pytest.mark.parametrize("faster", ["left", "right"])
    def test_join_bounds_whichever_input_arrives_first(
        self, spark: SparkSession, tmp_path: Path, faster: str
    ) -> None:
        """The Flink tests named in the keys: one input arrives completely before the other."""
        harness = Harness(spark, tmp_path)
        after = flink_watermark(4)
        for side in ("left", "right") if faster == "left" else ("right", "left"):
            if side == "left":
                harness.step(left=elements(), left_watermark=after)
            else:
                harness.step(right=elements(), right_watermark=after)
        found = harness.feeds.run_all(
            {
                name: harness.joined("inner", bounds).select("l.t", "r.t")
                for name, (bounds, _) in self.BOUNDS.items()
            }
        )
        assert found == {name: expected for name, (_, expected) in self.BOUNDS.items()}

    @pytest.mark.parametrize(
        ("bounds", "left", "right"),
        [
            pytest.param(
                "r.t BETWEEN l.t - 1 AND l.t",
                [(2, 5), (5, 5)],
                [(1, 5), (4, 5)],
                id="testStateCleanupNegativeInclusiveNegativeInclusive",
            ),
            pytest.param(
                "r.t > l.t - 2 AND r.t < l.t + 1",
                [(2, 5), (5, 5)],
                [(1, 5), (4, 5)],
                id="testStateCleanupNegativePositiveNegativeExlusive",
            ),
            pytest.param(
                "r.t BETWEEN l.t AND l.t + 1",
                [(1, 5), (4, 5)],
                [(2, 5), (5, 5)],
                id="testStateCleanupPositiveInclusivePositiveInclusive",
            ),
            pytest.param(
                "r.t > l.t - 1 AND r.t < l.t + 2",
                [(1, 5), (4, 5)],
                [(2, 5), (5, 5)],
                id="testStateCleanupPositiveExlusivePositiveExclusive",
            ),
        ],
    )
    def test_state_is_cleaned_up_by_watermarks(
        self,
        spark: SparkSession,
        tmp_path: Path,
        bounds: str,
        left: list[tuple[int, int]],
        right: list[tuple[int, int]],
    ) -> None:
        """The Flink test named in the parameter id."""
        harness = Harness(spark, tmp_path)
        for watermark in (1, 4, 6):
            rows = elements(1, 5) if watermark == 1 else []
            both = flink_watermark(watermark)
            harness.step(left=rows, right=rows, left_watermark=both, right_watermark=both)
        trace = harness.run("inner", bounds)
        for batch in (0, 1):
            assert trace.buffered(batch, "left") == elements(*left[batch])
            assert trace.buffered(batch, "right") == elements(*right[batch])
        assert trace.buffered(2, "left") == trace.buffered(2, "right") == []

    def test_operator_continues_after_a_restart(self, spark: SparkSession, tmp_path: Path) -> None:
        """From testRestoreFromSnapshot."""
        harness = Harness(spark, tmp_path)
        after = flink_watermark(3)
        harness.step(elements(1, 3), elements(1, 3), after, after)
        bounds = "r.t BETWEEN l.t - 1 AND l.t + 1"
        before = harness.run("inner", bounds)
        assert times(before.out[0]) == [
            (a, b) for a in range(1, 4) for b in range(1, 4) if abs(a - b) <= 1
        ]
        harness.step(elements(4, 4), elements(4, 4))
        restored = harness.run("inner", bounds)
        assert times(restored.out[0]) == [(3, 4), (4, 3), (4, 4)]

    def test_late_rows_are_emitted_with_their_side(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """testDiscardsLateData, and testLateData of the side outputs"""
        harness = Harness(spark, tmp_path)
        after = flink_watermark(3)
        harness.step(elements(1, 3), elements(1, 3), after, after)
        harness.step(left=[*elements(1, 1), *elements(4, 4)], right=elements(4, 4))
        harness.step(right=elements(2, 2))
        harness.step(elements(5, 5), elements(5, 5))
        bounds = "r.t BETWEEN l.t - 1 AND l.t + 1"
        trace = harness.run("inner", bounds, late="emit")
        joined = [row for rows in trace.out for row in rows if row[-1] is None]
        assert times(joined) == [
            (a, b) for a in range(1, 6) for b in range(1, 6) if abs(a - b) <= 1
        ]
        late = [row for rows in trace.out for row in rows if row[-1] is not None]
        assert [(*row[:-1], row[-1].input) for row in late] == [
            ("key", 1, None, None, "left"),
            (None, None, "key", 2, "right"),
        ]

    def test_null_times_are_counted_instead_of_failing(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """From testFailsWithNoTimestampsLeft and -Right: Flink fails, this join counts the rows."""
        harness = Harness(spark, tmp_path)
        harness.step(left=[("key", None)], right=[("key", None)])
        trace = harness.run("inner", "l.t = r.t")
        assert trace.out == [[]]
        assert (trace.total("nullTimeRowsLeft"), trace.total("nullTimeRowsRight")) == (1, 1)


class TestDataStreamIntervalJoin:
    """org.apache.flink.test.streaming.runtime.IntervalJoinITCase"""

    @pytest.mark.parametrize(
        ("bounds", "pairs"),
        [
            pytest.param("r.t = l.t", [(n, n) for n in range(6)], id="testCanJoinOverSameKey"),
            pytest.param(
                "r.t > l.t AND r.t < l.t + 2",
                [(n, n + 1) for n in range(5)],
                id="testBoundsCanBeExclusive",
            ),
            pytest.param(
                "r.t BETWEEN l.t AND l.t + 2",
                [(n, m) for n in range(6) for m in range(n, min(n + 3, 6))],
                id="testBoundsCanBeInclusive, testBoundsAreInclusiveByDefault",
            ),
        ],
    )
    def test_join_of_one_key_by_inclusive_and_exclusive_bounds(
        self, spark: SparkSession, tmp_path: Path, bounds: str, pairs: list[Row]
    ) -> None:
        """The Flink test named in the parameter id."""
        harness = Harness(spark, tmp_path)
        for first in (0, 3):
            rows = elements(first, first + 2)
            harness.step(rows, rows, first + 2, first + 2)
        trace = harness.run("inner", bounds)
        assert times([row for rows in trace.out for row in rows]) == in_order(pairs)

    def test_join_of_several_keys(self, spark: SparkSession, tmp_path: Path) -> None:
        """From testJoinsCorrectlyWithMultipleKeys."""
        rows = [(f"key{1 + n % 2}", n) for n in range(6)]
        harness = Harness(spark, tmp_path)
        harness.step(rows, rows)
        trace = harness.run("inner", "r.t BETWEEN l.t AND l.t + 1")
        assert trace.out[0] == in_order([(*row, *row) for row in rows])

    def test_rows_out_of_order_still_match(self, spark: SparkSession, tmp_path: Path) -> None:
        """From testBoundedUnorderedStreamsStillJoinCorrectly."""
        harness = Harness(spark, tmp_path)
        after = flink_watermark(5)
        for first, second in [((5, 1, 4, 3, 2), (2, 1, 3, 4, 5)), ((9, 8, 7, 6), (8, 7, 9, 6))]:
            harness.step([("key", n) for n in first], [("key", n) for n in second], after, after)
        trace = harness.run("inner", "r.t BETWEEN l.t - 1 AND l.t + 1")
        assert times([row for rows in trace.out for row in rows]) == [
            (a, b) for a in range(1, 10) for b in range(1, 10) if abs(a - b) <= 1
        ]

    @pytest.mark.parametrize(
        "bounds",
        [
            pytest.param("r.t >= l.t", id="testFailsWithoutUpperBound"),
            pytest.param("r.t <= l.t + 1", id="testFailsWithoutLowerBound"),
        ],
    )
    def test_join_with_a_missing_bound_is_refused(
        self, spark: SparkSession, tmp_path: Path, bounds: str
    ) -> None:
        """The Flink test named in the parameter id."""
        with pytest.raises(AnalysisException) as refused:
            Harness(spark, tmp_path).run("inner", bounds)
        assert refused.value.getCondition() == "STREAM_JOIN.UNBOUNDED_STATE"
