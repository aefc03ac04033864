"""A checkpoint with another number of partitions: the query continues with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from streamjoin import pending, rescale
from tests.fingerprints import fingerprints
from tests.parameters import STATE_FORMATS
from tests.rescale.kinds import IN_ORDER, KINDS, World
from tests.streams import Run

# Counts of replicas depend on the number of partitions, and so does what reports sample.
COMPARED = (
    "inputRows",
    "lateRows",
    "joinedRows",
    "nullPaddedRows",
    "watermark.",
    "disorder",
    "groups.",
    "groupSpread.",
    "groupWatermark.",
)
FORMAT = "spark.sql.streamJoin.stateFormat"
IDS = "spark.sql.streaming.stateStore.checkpointFormatVersion"


# What make test runs of all kinds and both formats.
FEW = [
    ("left", "segments"),
    ("groups", "segments"),
    pytest.param("chain", "rocksdb", marks=pytest.mark.thorough),
    ("time buckets, full", "segments"),
    ("changelog", "rocksdb"),
    ("versions", "segments"),
    ("order above a join", "segments"),
]


def moved(run: Run, partitions: int) -> None:
    """Continue a query from a new checkpoint."""
    before = fingerprints(run.checkpoint)
    new = run.checkpoint.with_name(f"{run.checkpoint.name}-{partitions}")
    assert f"to {partitions} partitions" in rescale(run.checkpoint, new, partitions)[0]
    assert fingerprints(run.checkpoint) == before
    listed = held(run)
    run.checkpoint = new
    assert held(run) == listed


def held(run: Run) -> list[tuple[Any, ...]]:
    columns = (
        "operator_id",
        "side",
        "time",
        "expires",
        "limits",
        "watermark",
        "waits_for_group",
        "matched",
        "row",
    )
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


def given(kind: str, run: Run) -> dict[int, list[tuple[Any, ...]]]:
    return {
        batch: rows if kind in IN_ORDER else sorted(rows, key=str)
        for batch, rows in run.batches.items()
    }


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each kind in one of the formats, or in both with ``--rescale-all``."""
    if "any_kind" in metafunc.fixturenames:
        pairs = [
            (kind, STATE_FORMATS[(place + other) % 2])
            for place, kind in enumerate(KINDS)
            for other in range(2 if metafunc.config.option.rescale_all else 1)
        ]
        metafunc.parametrize(("any_kind", "format_of_it"), pairs)


class Beside:
    """A query beside itself: one of both moves, and they must not differ."""

    def __init__(self, spark: SparkSession, folder: Path, kind: str, **settings: str) -> None:
        session = spark.newSession()
        session.conf.set("spark.sql.session.timeZone", "UTC")
        session.conf.set("spark.sql.shuffle.partitions", "2")
        for name, value in settings.items():
            session.conf.set(name, value)
        self.kind = kind
        self.world = World(session, folder, seed=len(kind))
        # the timestamp of a change is the time of its batch
        result = KINDS[kind](self.world).drop("_commit_timestamp")
        self.stays, self.moves = Run(result, folder / "stays"), Run(result, folder / "moves")

    def step(self) -> None:
        self.stays.step()
        self.moves.step()
        assert given(self.kind, self.moves) == given(self.kind, self.stays)
        assert reported(self.moves) == reported(self.stays)

    def go(self, *partitions: int) -> None:
        for _ in range(2):
            self.world.land()
            self.step()
        for number in partitions:
            moved(self.moves, number)
            self.world.land()
            self.step()
        self.world.close()
        self.step()
        assert any(self.moves.batches.values()), "nothing came out"


@pytest.mark.parametrize(("kind", "state_format"), FEW)
def test_a_query_goes_on(kind: str, state_format: str, spark: SparkSession, tmp_path: Path) -> None:
    Beside(spark, tmp_path, kind, **{FORMAT: state_format}).go(5, 1, 3)


@pytest.mark.thorough
def test_rescaled_query_of_any_kind_emits_the_same_rows(
    any_kind: str,
    format_of_it: str,
    spark: SparkSession,
    tmp_path: Path,
    pytestconfig: pytest.Config,
) -> None:
    partitions = (1, 7, 64) if pytestconfig.option.rescale_all else (1, 7)
    Beside(spark, tmp_path, any_kind, **{FORMAT: format_of_it}).go(*partitions)


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["1", "2"])
def test_rows_with_two_limits_in_rocksdb(version: str, spark: SparkSession, tmp_path: Path) -> None:
    settings = {FORMAT: "rocksdb", IDS: version}
    beside = Beside(spark, tmp_path, "rows with two limits", **settings)
    beside.world.land()
    beside.step()
    assert any(len(row.limits) == 2 for row in pending(beside.moves.checkpoint).collect())
    beside.go(3)


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_rescaled_query_with_state_store_ids_emits_the_same_rows(
    state_format: str, spark: SparkSession, tmp_path: Path
) -> None:
    Beside(spark, tmp_path, "left", **{FORMAT: state_format, IDS: "2"}).go(5)
