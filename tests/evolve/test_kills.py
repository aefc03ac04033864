"""A call is killed: the old checkpoint stays, and no query starts on half of a new one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from streamjoin import evolve
from tests.evolve.job import FOLDER, chain
from tests.evolve.test_evolve import Pair, emitted
from tests.fingerprints import fingerprints
from tests.rescale.test_kills import STEPS, is_complete, killed, seen
from tests.streams import Run


@pytest.fixture
def pair(spark: SparkSession, tmp_path: Path) -> Pair:
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "2")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return Pair(session, tmp_path)


def started(pair: Pair) -> Run:
    run = pair.run(chain(pair, minutes=30))
    pair.land("a", *((i, "10:00", i) for i in range(9)))
    emitted(run)
    pair.land("b", (1, "10:05", 10))
    emitted(run)
    return run


def goes_on(pair: Pair, run: Run, to: Path) -> None:
    run.checkpoint, run.result = to, chain(pair, minutes=45)
    pair.land("b", (2, "10:40", 20))
    pair.land("c", (2, "10:15", 200), (9, "11:30", 0))
    pair.land("a", (9, "11:30", 9))
    assert (2, "10:00", 2, 2, "10:40", 20, 2, "10:15", 200) in emitted(run)


def refused(pair: Pair, run: Run, to: Path) -> None:
    half, changed = fingerprints(to), chain(pair, minutes=45)
    with pytest.raises(AnalysisException, match=r"STREAM_JOIN_REWRITE\.TARGET_NOT_EMPTY"):
        evolve(run.checkpoint, to, changed)
    interrupted = Run(changed, to)
    with pytest.raises(AnalysisException, match="after an interrupted call of"):
        interrupted.step()
    assert fingerprints(to) == half
    assert not interrupted.batches


def test_no_query_starts_on_a_part_of_the_files(pair: Pair, tmp_path: Path) -> None:
    """With the first files only, in the order in which they were written."""
    run, whole, part = started(pair), tmp_path / "whole", tmp_path / "part"
    evolve(run.checkpoint, whole, chain(pair, minutes=45))
    files = [path for path in whole.rglob("*") if path.is_file() and path.suffix != ".crc"]
    files.sort(key=lambda path: path.stat().st_mtime_ns)
    assert [str(f.relative_to(whole)) for f in files[-2:]] == ["offsets/1", "offsets/0"]
    for count in (1, 2, len(files) // 2, len(files) - 3, len(files) - 2, len(files) - 1):
        shutil.rmtree(part, ignore_errors=True)
        for file in files[:count]:
            copy = part / file.relative_to(whole)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        refused(pair, run, part)
    goes_on(pair, run, whole)


@pytest.mark.thorough
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_each_step(
    step: str, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, to = started(pair), tmp_path / "to"
    before = fingerprints(run.checkpoint)
    monkeypatch.setenv(FOLDER, str(tmp_path))
    arguments = ("evolve", str(run.checkpoint), str(to), "--query", "tests.evolve.job:result")
    killed(to, seen(to, step), arguments)
    assert fingerprints(run.checkpoint) == before
    if not is_complete(to):
        if any(to.glob("*")):
            refused(pair, run, to)
            shutil.rmtree(to)
        evolve(run.checkpoint, to, chain(pair, minutes=45))
    assert fingerprints(run.checkpoint) == before
    goes_on(pair, run, to)
