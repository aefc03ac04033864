"""Tables 2 to 4 of the draft of the Hazelcast document, through SQL.

Where the draft and its final version differ, the final version applies, and the test says so.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.streams import Landing, Run


class Streams:
    """S1 and S2: rows with a time in seconds, all with the same key."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session = session
        self.folder = folder
        self._s1 = Landing(session, folder / "s1", "k INT, s1_time TIMESTAMP")
        self._s2 = Landing(session, folder / "s2", "k INT, s2_time TIMESTAMP")
        self._s1.stream().createOrReplaceTempView("S1")
        self._s2.stream().createOrReplaceTempView("S2")

    def s1(self, *seconds: int) -> None:
        self._s1.land(*({"k": 1, "s1_time": _at(s)} for s in seconds))

    def s2(self, *seconds: int) -> None:
        self._s2.land(*({"k": 1, "s2_time": _at(s)} for s in seconds))

    def join(self, first: str, second: str, how: str = "FULL OUTER", within: int = 1) -> Run:
        query = (
            f"SELECT s1_time, s2_time FROM {first} AS s1 {how} JOIN {second} AS s2 ON s1.k = s2.k "
            f"AND s2.s2_time BETWEEN s1.s1_time AND s1.s1_time + INTERVAL '{within}' SECOND"
        )
        return Run(self.session.sql(query), self.folder / "checkpoint")


def _at(second: int) -> str:
    return f"2022-01-01T00:00:{second:02d}"


def ordered(stream: str, lag: int) -> str:
    column = f"{stream.lower()}_time"
    return f"IMPOSE_ORDER(TABLE({stream}), DESCRIPTOR({column}), INTERVAL '{lag}' SECOND)"


Pairs = list[tuple[int | None, int | None]]


def emitted_ids(run: Run) -> Pairs:
    """The rows that this step emits, in seconds."""
    rows = [row for rows in run.step().values() for row in rows]
    pairs = [(a and a.second, b and b.second) for a, b in rows]
    return sorted(pairs, key=str)


@pytest.fixture
def streams(spark: SparkSession, tmp_path: Path) -> Streams:
    return Streams(spark, tmp_path)


@pytest.mark.parametrize(
    ("first", "second", "side"),
    [
        ("S1", ordered("S2", 1), "left"),
        (ordered("S1", 1), "S2", "right"),
    ],
)
def test_one_input_without_watermark_is_refused(
    streams: Streams, first: str, second: str, side: str
) -> None:
    """Table 2: "At least one input stream doesn't have watermarks", an exception."""
    with pytest.raises(AnalysisException) as refused:
        streams.join(first, second)
    assert refused.value.getCondition() == "STREAM_JOIN.MISSING_WATERMARK"
    assert f"the {side} input" in str(refused.value)


def test_spark_refuses_both_inputs_without_watermark(streams: Streams) -> None:
    """Table 2: "Both input streams don't have watermarks", an exception.

    The statement uses no syntax of this project, so Spark refuses it.
    """
    with pytest.raises(AnalysisException) as refused:
        streams.join("S1", "S2").start(availableNow=True)
    assert "watermark" in str(refused.value)


def test_window_join_without_watermarks_is_refused(streams: Streams) -> None:
    """With a window the join belongs to this project, and so does the refusal."""
    with pytest.raises(AnalysisException) as refused:
        streams.session.sql(
            "SELECT * FROM S1 JOIN S2 OVER (RANGE INTERVAL '1' SECOND FOLLOWING) ON S1.k = S2.k"
        )
    assert refused.value.getCondition() == "STREAM_JOIN.MISSING_WATERMARK"


def test_zero_lag_accepts_rows_equal_to_the_watermark(streams: Streams) -> None:
    """Table 2: "At least one input stream has zero lag", an empty result.

    This project differs: a row equal to the watermark is not late. Only older rows are dropped.
    """
    run = streams.join(ordered("S1", 0), ordered("S2", 0), "INNER")
    streams.s1(1)
    streams.s2(1)
    assert emitted_ids(run) == [(1, 1)]
    streams.s1(1)
    assert emitted_ids(run) == [(1, 1)]
    streams.s1(0)
    assert emitted_ids(run) == []
    assert run.operator()["customMetrics"]["lateRowsLeft"] == 1


def test_events_of_tables_3_and_4_in_a_full_join(streams: Streams) -> None:
    """Table 2: "watermarks with same lag times". With a lag of one second, a row at t+1 is wm(t).

    The draft writes CROSS JOIN, and pads a row in its last lines. A FULL OUTER JOIN with times at
    most one second apart yields its joined rows.
    """
    run = streams.join(ordered("S1", 1), ordered("S2", 1))
    streams.s1(1)
    streams.s2(1)
    assert emitted_ids(run) == [(1, 1)]
    # Events 3 advance both watermarks to 2. The draft clears both buffers there. Here s1(1) is
    # joined and stays buffered, because it can still match an s2(2).
    streams.s1(3)
    streams.s2(3)
    assert emitted_ids(run) == [(3, 3)]
    streams.s2(4)
    assert emitted_ids(run) == [(3, 4)]
    # s2_wm(6). The draft pads s2(7) at s2_wm(8), a watermark of its own input. Here the other input
    # decides: the watermark of s1 is 2, so an s1(6) can still arrive.
    streams.s2(7)
    assert emitted_ids(run) == []
    streams.s2(9)
    assert emitted_ids(run) == []
    assert run.operator()["customMetrics"]["bufferedRowsRight"] >= 2
    # s1_wm(8): s2(7) can no longer match. s1(9) matches s2(9).
    streams.s1(9)
    assert emitted_ids(run) == [(9, 9), (None, 7)]


def test_two_second_bound_keeps_a_pair_that_the_draft_loses(streams: Streams) -> None:
    """With the two seconds of the draft's own query, s1(1) matches s2(3) after s1_wm(2)."""
    run = streams.join(ordered("S1", 1), ordered("S2", 1), within=2)
    streams.s1(1)
    streams.s2(1)
    assert emitted_ids(run) == [(1, 1)]
    streams.s1(3)
    streams.s2(3)
    assert emitted_ids(run) == [(1, 3), (3, 3)]
