"""Ported tests of Hazelcast's stream-to-stream join processor and its bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamjoin import How
from tests.peers.feeds import Harness, Row, Rows, in_order

BAND = "l.t BETWEEN r.t - 1 AND r.t + 1"


class TestInnerProcessor:
    """com.hazelcast.jet.sql.impl.processors.StreamToStreamJoinPInnerTest

    Hazelcast's tests pass the processor a map of postponed times, the inverse of the condition. The
    expectations here follow from the condition.
    """

    def test_rows_of_equal_times_match(self, spark: SparkSession, tmp_path: Path) -> None:
        """test_equalTimes_singleWmKeyPerInput and test_joinWithMultipleRowsAtOnce"""
        harness = Harness(spark, tmp_path)
        harness.step(left=[("k", 1)] * 4, right=[("k", 1)], right_watermark=0)
        harness.step(left=[("k", 2)], right=[("k", 2)], left_watermark=2)
        trace = harness.run("inner", "l.t = r.t")
        assert trace.out == [[("k", 1, "k", 1)] * 4, [("k", 2, "k", 2)]]
        assert trace.buffered(1, "left") == [("k", 1)] * 4 + [("k", 2)]
        assert trace.buffered(1, "right") == [("k", 2)]

    def test_bound_on_one_of_two_left_times_evicts_rows(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """test_twoWmKeysOnLeft"""
        harness = Harness(spark, tmp_path, left=("t1", "t2"))
        harness.step(left=[("k", 12, 9), ("k", 12, 13)], right=[("k", 9)])
        # Hazelcast evicts only below 15 - 4 at 15. Here t2 >= r.t - 1 evicts row 13 as well.
        harness.step(right_watermark=14)
        harness.step(right_watermark=15)
        # Hazelcast evicts right row 9 at 12. Here t2 = 13 can still match it: 9 >= 13 - 4.
        harness.step(left_watermark={"t2": 12})
        harness.step(left=[("k", 12, 13)])
        harness.step(right=[("k", 16)], left_watermark={"t1": 13, "t2": 14})
        trace = harness.run("inner", "l.t2 BETWEEN r.t - 1 AND r.t + 4")
        assert trace.out[0] == in_order([("k", 12, 9, "k", 9), ("k", 12, 13, "k", 9)])
        assert trace.buffered(1, "left") == [("k", 12, 13)]
        assert trace.buffered(2, "left") == []
        assert trace.buffered(3, "right") == [("k", 9)]
        assert trace.out[4] == [("k", 12, 13, "k", 9)]
        assert trace.out[5] == []
        assert trace.buffered(5, "right") == [("k", 16)]

    def test_bounds_on_two_times_of_each_input_evict_rows(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """test_twoWmKeysOnEachInput"""
        harness = Harness(spark, tmp_path, left=("t1", "t2"), right=("t1", "t2"))
        rows = [("k", 12, 10), ("k", 12, 13)]
        harness.step(left=rows, right=rows)
        harness.step(left_watermark={"t1": 15})
        harness.step(right_watermark={"t1": 15})
        trace = harness.run(
            "inner",
            "r.t1 BETWEEN l.t1 - 1 AND l.t1 + 2 AND r.t2 BETWEEN l.t1 - 3 AND l.t1 + 4",
        )
        assert trace.out[0] == in_order([(*left, *right) for left in rows for right in rows])
        assert trace.buffered(1, "left") == rows
        assert trace.buffered(1, "right") == []
        assert trace.buffered(2, "left") == []

    def test_additional_condition_filters_matches(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """test_joinWithAdditionalCondition"""
        harness = Harness(spark, tmp_path, left=("t", "n"))
        harness.step(right=[("k", 3)])
        harness.step(left=[("k", 2, 2), ("k", 2, 42)])
        trace = harness.run("inner", f"{BAND} AND l.n > 10")
        assert trace.out == [[], [("k", 2, 42, "k", 3)]]

    def test_row_beyond_its_bounds_on_arrival_is_not_buffered(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """test_nonLateItemOutOfLimit"""
        harness = Harness(spark, tmp_path)
        harness.step(left_watermark=10)
        harness.step(right=[("k", 8)])
        trace = harness.run("inner", BAND)
        assert trace.out == [[], []]
        assert trace.buffered(1, "right") == []
        assert trace.total("lateRowsRight") == 0

    def test_row_beyond_its_bounds_still_matches_buffered_rows(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """test_nonLateItemOutOfLimit_hasMatchInBuffer"""
        harness = Harness(spark, tmp_path)
        harness.step(left=[("k", 0)], left_watermark=10)
        harness.step(right=[("k", 0)])
        trace = harness.run("inner", "l.t = r.t")
        assert trace.out == [[], [("k", 0, "k", 0)]]
        assert trace.buffered(1, "right") == []

    def test_late_row_is_dropped_and_counted(self, spark: SparkSession, tmp_path: Path) -> None:
        """test_dropLateItems"""
        harness = Harness(spark, tmp_path)
        harness.step(left_watermark=10, right_watermark=10)
        harness.step(right=[("k", 8)])
        trace = harness.run("inner", BAND)
        assert trace.out == [[], []]
        assert trace.total("lateRowsRight") == 1


@pytest.mark.parametrize("how", ["left", "right"])
class TestOuterProcessor:
    """com.hazelcast.jet.sql.impl.processors.StreamToStreamJoinPOuterTest"""

    @staticmethod
    def step(harness: Harness, how: How, kept: Rows = (), other: Rows = (), wm: int = 0) -> None:
        """Rows of the preserved side and of the other side, and the watermark of the other side."""
        if how == "left":
            harness.step(left=kept, right=other, right_watermark=wm or None)
        else:
            harness.step(left=other, right=kept, left_watermark=wm or None)

    @staticmethod
    def padded(how: How, *rows: Row) -> list[Row]:
        blank = (None, None)
        return [(*row, *blank) if how == "left" else (*blank, *row) for row in rows]

    @pytest.mark.parametrize(
        "condition",
        [
            pytest.param(BAND, id="test_outerJoinRowsEmittedAfterWatermark"),
            pytest.param("l.t = r.t", id="test_rowContainsMultipleColumns"),
        ],
    )
    def test_unmatched_rows_are_emitted_at_the_watermark(
        self, spark: SparkSession, tmp_path: Path, how: How, condition: str
    ) -> None:
        """The Hazelcast test named in the parameter id."""
        harness = Harness(spark, tmp_path)
        harness.step(left_watermark=1, right_watermark=1)
        self.step(harness, how, kept=[("k", 3), ("k", 4)])
        self.step(harness, how, wm=6)
        trace = harness.run(how, condition)
        assert trace.out == [[], [], self.padded(how, ("k", 3), ("k", 4))]
        assert trace.buffered(2, how) == []

    def test_unmatched_row_beyond_its_bounds_is_emitted_at_once(
        self, spark: SparkSession, tmp_path: Path, how: How
    ) -> None:
        """test_nonLateItemOutOfLimit"""
        harness = Harness(spark, tmp_path)
        self.step(harness, how, wm=10)
        self.step(harness, how, kept=[("k", 8)])
        trace = harness.run(how, BAND)
        assert trace.out == [[], self.padded(how, ("k", 8))]
        assert trace.buffered(1, how) == []

    def test_preserved_row_beyond_its_bounds_matches_buffered_rows(
        self, spark: SparkSession, tmp_path: Path, how: How
    ) -> None:
        """test_nonLateItemOutOfLimit_hasMatchInBuffer"""
        harness = Harness(spark, tmp_path)
        self.step(harness, how, other=[("k", 0)], wm=10)
        self.step(harness, how, kept=[("k", 0)])
        self.step(harness, how, kept=[("k", 1)])
        trace = harness.run(how, "l.t = r.t")
        assert trace.out == [[], [("k", 0, "k", 0)], self.padded(how, ("k", 1))]
        assert trace.buffered(1, how) == []

    def test_preserved_row_matches_an_earlier_row(
        self, spark: SparkSession, tmp_path: Path, how: How
    ) -> None:
        """test_matchingRowAlreadyInBuffer"""
        harness = Harness(spark, tmp_path)
        self.step(harness, how, other=[("k", 42)])
        self.step(harness, how, kept=[("k", 42)])
        assert harness.run(how, "l.t = r.t").out == [[], [("k", 42, "k", 42)]]

    def test_row_late_and_beyond_its_bounds_counts_as_late(
        self, spark: SparkSession, tmp_path: Path, how: How
    ) -> None:
        """when_offLimitAccordingToWm1_and_lateAccordingToWm2_then_handleAsLate"""
        harness = Harness(spark, tmp_path, left=("t", "u"))
        harness.step(left_watermark=10, right_watermark=10)
        harness.step(left=[("k", 0, 0)])
        trace = harness.run(how, BAND)
        assert trace.out == [[], []]
        assert trace.total("lateRowsLeft") == 1


class TestTimeBounds:
    """com.hazelcast.jet.sql.impl.opt.physical.StreamToStreamJoinPhysicalRuleTest"""

    def test_spellings_of_bounds_give_the_expected_limits(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """From `test`; a distant bound replaces the missing one."""
        forms = {
            "l.t >= r.t": {"left": 100, "right": 1100},
            "l.t <= r.t + 10": {"left": 1100, "right": 110},
            "l.t - r.t < 10": {"left": 1100, "right": 109},
            "l.t - r.t + 10 < 0": {"left": 1100, "right": 89},
            "l.t + 10 > r.t + 10 - 10": {"left": 109, "right": 1100},
            "l.t = r.t + 10": {"left": 90, "right": 110},
        }
        harness = Harness(spark, tmp_path)
        rows = [(str(number), 100) for number in range(len(forms))]
        harness.step(rows, rows)
        limits = harness.limits([f"{form} AND abs(l.t - r.t) <= 1000" for form in forms])
        assert dict(zip(forms, limits, strict=True)) == forms
