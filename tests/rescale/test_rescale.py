"""A checkpoint with another number of partitions: the query goes on as if it had begun with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from streamjoin import pending, rescale
from tests.fingerprints import fingerprints
from tests.rescale.kinds import IN_ORDER, KINDS, World
from tests.streams import Run

# Counts of replicas depend on the number of partitions, and so does what reports sample.
COMPARED = ("inputRows", "lateRows", "joinedRows", "nullPaddedRows", "watermark.", "disorder")


def moved(run: Run, partitions: int) -> list[str]:
    """Continue a query from a new checkpoint."""
    before = fingerprints(run.checkpoint)
    new = run.checkpoint.with_name(f"{run.checkpoint.name}-{partitions}")
    told = rescale(run.checkpoint, new, partitions)
    assert fingerprints(run.checkpoint) == before
    listed = held(run)
    run.checkpoint = new
    assert held(run) == listed
    return told


def held(run: Run) -> list[tuple[Any, ...]]:
    columns = ("operator_id", "side", "time", "expires", "watermark", "matched", "row")
    rows = pending(run.checkpoint).selectExpr(*(f"CAST({c} AS STRING)" for c in columns))
    return sorted((tuple(row) for row in rows.collect()), key=str)


def reported(run: Run) -> dict[int, list[dict[str, Any]]]:
    return {
        batch: [
            {k: v for k, v in s["customMetrics"].items() if k.startswith(COMPARED)}
            for s in progress["stateOperators"]
        ]
        for batch, progress in run.progress.items()
    }


def compare(spark: SparkSession, folder: Path, kind: str, numbers: list[int], seed: int) -> None:
    """Run a query beside itself, and move one of both before each batch but the first."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    for setting in ("stateFormat", "hotKeyRows"):
        value = spark.conf.get(f"spark.sql.streamJoin.{setting}", None)
        if value is not None:
            session.conf.set(f"spark.sql.streamJoin.{setting}", value)
    world = World(session, folder, seed)
    # it is the time of the batch
    result = KINDS[kind](world).drop("_commit_timestamp")
    stays, moves = Run(result, folder / "stays"), Run(result, folder / "moves")
    for number in [None, None, *numbers, None]:
        if number is not None:
            moved(moves, number)
        if number is None and world.batch > 1:
            world.close()
        else:
            world.land()
        stays.step()
        moves.step()
        assert ordered(kind, moves) == ordered(kind, stays)
        assert reported(moves) == reported(stays)
    assert any(moves.batches.values()), "nothing came out"


def ordered(kind: str, run: Run) -> dict[int, list[tuple[Any, ...]]]:
    return {
        batch: rows if kind in IN_ORDER else sorted(rows, key=str)
        for batch, rows in run.batches.items()
    }


@pytest.fixture(params=["segments", "rocksdb"])
def state_format(spark: SparkSession, request: pytest.FixtureRequest) -> Any:
    spark.conf.set("spark.sql.streamJoin.stateFormat", request.param)
    yield request.param
    spark.conf.unset("spark.sql.streamJoin.stateFormat")


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_goes_on(kind: str, spark: SparkSession, tmp_path: Path) -> None:
    compare(spark, tmp_path, kind, [7, 1, 3], seed=len(kind))
