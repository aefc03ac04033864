"""A process of the tool is killed: the old checkpoint stays, and no query starts on half of one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from streamjoin import rescale
from tests.fingerprints import fingerprints
from tests.processes import spawn
from tests.rescale.test_rescale import FORMAT, Beside, held
from tests.streams import Run

PARTITIONS = 5
ROWS = 80
LATEST_S = 240

# What the tool has written by then, of two joins and batch 1: the first file of each step.
STEPS = {
    "columns": "state/*/_stateSchema/*/*",
    "description": "state/0/_metadata/v2/*",
    "rows": "state/0/[0-9]*/*",
    "rows of the second join": "state/1/[0-9]*/*",
    "identity": "metadata",
    "sources": "sources/*/*",
    "commit": "commits/1",
    "last offsets": "offsets/1",
    "all": "offsets/0",
}


def seen(to: Path, step: str) -> Callable[[], bool]:
    return lambda: any(not path.name.startswith(".") for path in to.glob(STEPS[step]))


def later(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


@contextmanager
def tool(module: str, arguments: tuple[str, ...], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = spawn(module, *arguments, log=log)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def killed(
    to: Path, moment: Callable[[], bool], arguments: tuple[str, ...], module: str = "streamjoin"
) -> None:
    """Kill the tool at a moment, or let it end before."""
    log = to.with_name("tool.log")
    late = later(LATEST_S)
    with tool(module, arguments, log) as process:
        while not moment() and process.poll() is None:
            assert not late(), log.read_text()
            time.sleep(0.0005)
        assert process.poll() in (None, 0), log.read_text()


def is_complete(to: Path) -> bool:
    return all((to / "offsets" / batch).exists() for batch in "01")


def goes_on(beside: Beside, moment: Callable[[Path], Callable[[], bool]]) -> None:
    """Kill the tool, repeat it, and continue the query beside one that does not move."""
    run = beside.moves
    for _ in range(2):
        beside.world.land(ROWS)
        beside.step()
    old, to = run.checkpoint, run.checkpoint.with_name("to")
    before, rows = fingerprints(old), held(run)
    arguments = ("rescale", str(old), str(to), "--partitions", str(PARTITIONS))
    killed(to, moment(to), arguments)
    assert fingerprints(old) == before
    if not is_complete(to):
        if any(to.glob("*")):
            refused(beside, to)
            shutil.rmtree(to)
        rescale(old, to, PARTITIONS)
    assert fingerprints(old) == before
    run.checkpoint = to
    assert held(run) == rows
    beside.world.land()
    beside.step()
    beside.world.close()
    beside.step()


def refused(beside: Beside, to: Path) -> None:
    """Another call does not write there, and no query starts there."""
    half = fingerprints(to)
    with pytest.raises(AnalysisException, match=r"STREAM_JOIN_REWRITE\.TARGET_NOT_EMPTY"):
        rescale(beside.moves.checkpoint, to, PARTITIONS)
    assert fingerprints(to) == half
    interrupted = Run(beside.moves.result, to)
    with pytest.raises(AnalysisException, match="after an interrupted call of"):
        interrupted.step()
    assert not interrupted.batches


def chain(spark: SparkSession, folder: Path, state_format: str) -> Beside:
    return Beside(spark, folder, "chain", **{FORMAT: state_format})


@pytest.mark.thorough
def test_a_kill_while_rows_are_written(spark: SparkSession, tmp_path: Path) -> None:
    """By an application that runs no query."""
    goes_on(chain(spark, tmp_path, "rocksdb"), lambda to: seen(to, "rows"))


@pytest.mark.thorough
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_each_step(step: str, spark: SparkSession, tmp_path: Path) -> None:
    goes_on(chain(spark, tmp_path, "segments"), lambda to: seen(to, step))


@pytest.mark.thorough
@pytest.mark.parametrize("step", ["rows of the second join", "all"])
def test_a_kill_in_the_format_rocksdb(step: str, spark: SparkSession, tmp_path: Path) -> None:
    goes_on(chain(spark, tmp_path, "rocksdb"), lambda to: seen(to, step))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_a_kill_at_any_moment(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    """From the start of Spark, before the tool reads anything, to its end."""
    seconds = Random(seed).uniform(1, 15)
    goes_on(chain(spark, tmp_path, "segments"), lambda to: later(seconds))
