"""Ported tests of RisingWave's joins with watermark state cleaning.

RisingWave shows a materialized view, in which an unmatched row remains until it matches. Here it
is emitted once, when nothing can match it any more.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from streamjoin import How, impose_order, pending, stream_join
from tests.peers.feeds import Feeds, Row, in_order
from tests.streams import Run

SECOND = 1000
COLUMNS = "id INT, ts TIMESTAMP"


def feeds(session: SparkSession, folder: Path, *inserts: tuple[str, int, int]) -> Feeds:
    """Two streams; each insert is one batch, a row with an id and a time in seconds."""
    feeds = Feeds(session, folder, a=COLUMNS, b=COLUMNS)
    for name, number, second in inserts:
        feeds.land(**{name: [(number, second * SECOND)]})
    return feeds


def joined(feeds: Feeds, how: How, on: str, retention: str | None = None) -> Run:
    a, b = (impose_order(feeds.stream(name), "ts", "5 seconds").alias(name) for name in ("a", "b"))
    result = stream_join(a, b, on, how, retention=retention)
    return feeds.run(result.select("a.id", F.unix_seconds("a.ts"), "b.id", F.unix_seconds("b.ts")))


def kept(run: Run, batch: int) -> dict[str, list[int]]:
    """The ids that are buffered after a batch, by side."""
    found: dict[str, list[int]] = {"left": [], "right": []}
    for row in pending(run.checkpoint, batch_id=batch).select("side", "row").collect():
        found[row.side].append(json.loads(row.row)["id"])
    return {side: sorted(ids) for side, ids in found.items()}


def emitted(run: Run) -> list[list[Row]]:
    return [in_order(rows) for _, rows in sorted(run.batches.items())]


ONE_INEQUALITY = [("a", 1, 10), ("b", 1, 5), ("a", 2, 30), ("b", 2, 25), ("a", 3, 50), ("b", 3, 45)]


def test_one_inequality_requires_a_retention(spark: SparkSession, tmp_path: Path) -> None:
    """interval_join.slt.part, test 1: RisingWave stores rows of the right input for ever.

    Here the join requires a limit, and evicts left rows at the same watermarks.
    """
    streams = feeds(spark, tmp_path, *ONE_INEQUALITY)
    on = "a.id = b.id AND a.ts >= b.ts"
    with pytest.raises(AnalysisException) as refused:
        joined(streams, "inner", on)
    assert refused.value.getCondition() == "STREAM_JOIN.UNBOUNDED_STATE"
    run = joined(streams, "inner", on, retention="1 day")
    assert emitted(run) == [[], [(1, 10, 1, 5)], [], [(2, 30, 2, 25)], [], [(3, 50, 3, 45)]]
    assert kept(run, 1) == {"left": [1], "right": [1]}
    assert kept(run, 2) == {"left": [1, 2], "right": [1]}
    assert kept(run, 3) == {"left": [2], "right": [1, 2]}
    assert kept(run, 5) == {"left": [3], "right": [1, 2, 3]}


def test_left_join_with_between_evicts_at_watermarks(spark: SparkSession, tmp_path: Path) -> None:
    """interval_join.slt.part, test 2"""
    streams = feeds(
        spark,
        tmp_path,
        ("a", 1, 8),
        ("b", 1, 5),
        ("a", 2, 25),
        ("a", 3, 60),
        ("b", 3, 55),
        ("a", 3, 54),
        ("a", 3, 63),
        ("a", 4, 80),
        ("b", 4, 75),
    )
    run = joined(
        streams, "left", "a.id = b.id AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '10' SECOND"
    )
    assert emitted(run) == [
        [],
        [(1, 8, 1, 5)],
        [],  # RisingWave already shows (2, NULL)
        [],
        [(2, 25, None, None), (3, 60, 3, 55)],
        [],
        [(3, 63, 3, 55)],
        [],
        [(4, 80, 4, 75)],
    ]
    # 54 is below the watermark 60 - 5.
    assert run.total("lateRowsLeft") == 1
    assert kept(run, 4) == {"left": [3], "right": [3]}
    assert kept(run, 8) == {"left": [4], "right": [4]}


def test_left_join_on_equal_times_evicts_at_watermarks(spark: SparkSession, tmp_path: Path) -> None:
    """hash_join_watermark.slt.part"""
    streams = feeds(
        spark,
        tmp_path,
        ("b", 100, 0),
        ("a", 1, 0),
        ("a", 2, 10),
        ("b", 200, 10),
        ("a", 3, 4),
        ("a", 3, 10),
        ("a", 4, 20),
        ("b", 400, 20),
    )
    run = joined(streams, "left", "a.ts = b.ts")
    assert emitted(run) == [
        [],
        [(1, 0, 100, 0)],
        [],
        [(2, 10, 200, 10)],
        [],
        [(3, 10, 200, 10)],
        [],
        [(4, 20, 400, 20)],
    ]
    assert run.total("lateRowsLeft") == 1
    assert kept(run, 1) == {"left": [1], "right": [100]}
    assert kept(run, 3) == {"left": [2], "right": [200]}
    assert kept(run, 7) == {"left": [4], "right": [400]}
