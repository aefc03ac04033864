"""Damaged, full or shared checkpoints: the query fails, and afterwards nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, StreamingQueryException

from tests.faults.day import LAG, Day, decided
from tests.fingerprints import fingerprints
from tests.orders import Shop
from tests.streams import Run


def query(shop: Shop, checkpoint: Path) -> Run:
    return Run(shop.joined("full", lag=LAG).result, checkpoint)


class Damage:
    """Makes checkpoint files unreadable, and restores them."""

    def __init__(self, checkpoint: Path, files: list[Path], how: str) -> None:
        assert files, "no files to damage"
        self._whole = {path: path.read_bytes() for path in files}
        self._checkpoint = checkpoint
        for path in files:
            if how == "missing":
                path.unlink()
            else:
                os.truncate(path, path.stat().st_size // 2)
        # Hadoop's local file system would notice by checksums; other file systems would not.
        for sums in checkpoint.rglob(".*.crc"):
            sums.unlink()
        self._left = fingerprints(checkpoint)

    def overwritten(self) -> list[str]:
        """Files that existed after the damage and have other content now."""
        now = fingerprints(self._checkpoint)
        return [name for name, digest in self._left.items() if now.get(name) != digest]

    def put_back(self) -> None:
        for path, content in self._whole.items():
            path.write_bytes(content)


def newest(folder: Path) -> list[Path]:
    return [max(folder.glob("[0-9]*"), key=lambda path: int(path.name))]


def files_below(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name[0] != "."]


PLACES: dict[str, Callable[[Path], list[Path]]] = {
    "metadata": lambda checkpoint: [checkpoint / "metadata"],
    "offset log": lambda checkpoint: newest(checkpoint / "offsets"),
    "commit log": lambda checkpoint: newest(checkpoint / "commits"),
    "state of a partition": lambda checkpoint: files_below(checkpoint / "state" / "0" / "1"),
    "description of the state": lambda checkpoint: files_below(
        checkpoint / "state" / "0" / "_metadata"
    ),
}
# For the state itself, the provider's own error text differs.
ERRORS = [
    ("metadata", "truncated", "Unexpected end-of-input"),
    ("metadata", "missing", "STREAMING_CHECKPOINT_MISSING_METADATA_FILE"),
    ("offset log", "truncated", "Unexpected end-of-input"),
    ("offset log", "missing", "CONCURRENT_STREAM_LOG_UPDATE"),
    ("commit log", "truncated", "Unexpected end-of-input"),
    ("state of a partition", "truncated", ""),
    ("state of a partition", "missing", ""),
    ("description of the state", "truncated", "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT"),
    ("description of the state", "missing", "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT"),
]


@pytest.mark.parametrize(("what", "how", "error"), ERRORS)
def test_damaged_checkpoint_is_refused_and_continues_when_restored(
    shop: Shop, tmp_path: Path, what: str, how: str, error: str
) -> None:
    day = Day(shop, f"{what}/{how}")
    run = query(shop, tmp_path / "checkpoint")
    for _ in range(2):
        day.land()
        run.step()
    damage = Damage(run.checkpoint, PLACES[what](run.checkpoint), how)
    day.land()
    with pytest.raises((PySparkException, Py4JJavaError), match=error or None):
        run.step()
    overwritten = damage.overwritten()
    if (what, how) == ("offset log", "missing"):
        # Spark reruns the previous batch, and writes its state again.
        overwritten = [name for name in overwritten if not name.startswith("state/")]
    assert overwritten == []
    damage.put_back()
    run.step()
    day.close()
    run.step()
    assert decided(run.rows()) == day.answer()


def test_batch_without_a_commit_entry_runs_again(shop: Shop, tmp_path: Path) -> None:
    day = Day(shop, "commit")
    run = query(shop, tmp_path / "checkpoint")
    for _ in range(2):
        day.land()
        run.step()
    before = list(run.batches[1])
    Damage(run.checkpoint, PLACES["commit log"](run.checkpoint), "missing")
    del run.batches[1]
    day.land()
    run.step()
    assert sorted(run.batches[1], key=str) == sorted(before, key=str)
    day.close()
    run.step()
    assert decided(run.rows()) == day.answer()


def test_first_batch_runs_again_after_a_kill_in_its_description(shop: Shop, tmp_path: Path) -> None:
    day = Day(shop, "description")
    run = query(shop, tmp_path / "checkpoint")
    day.land()
    run.step()
    before = list(run.batches.pop(0))
    shutil.rmtree(run.checkpoint / "commits")
    shutil.rmtree(run.checkpoint / "state")
    descriptions = run.checkpoint / "state" / "0" / "_metadata" / "v2"
    descriptions.mkdir(parents=True)
    (descriptions / ".0.0.tmp").touch()
    run.step()
    assert sorted(run.batches[0], key=str) == sorted(before, key=str)
    day.close()
    run.step()
    assert decided(run.rows()) == day.answer()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A separate file system, with room for the checkpoint of a few batches."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "streamjoin-test", str(folder)]
    if (
        sys.platform != "linux"
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("no file system can be mounted here: that takes root on Linux")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_full_disk_fails_the_query_without_losing_rows(
    shop: Shop, small_disk: Path, pytestconfig: pytest.Config
) -> None:
    seed: int = pytestconfig.option.faults_seed
    rng = Random(f"disk/{seed}")
    day = Day(shop, f"disk/{seed}")
    run = query(shop, small_disk / "checkpoint")
    errors = []
    day.land()
    run.step()
    for space in [0, *(rng.randrange(64) * 1024 for _ in range(3))]:
        day.land()
        filler = fill(small_disk, space)
        try:
            run.step()
        except StreamingQueryException as full:
            errors.append(str(full))
        finally:
            filler.unlink()
        run.step()
    day.close()
    run.step()
    assert errors
    assert all("No space left on device" in error for error in errors)
    assert decided(run.rows()) == day.answer(), f"--faults-seed {seed}"


def fill(disk: Path, space: int) -> Path:
    """Fill the disk except for that many bytes, up to a page."""
    filler = disk / "filler"
    free = shutil.disk_usage(disk).free - space
    with filler.open("wb") as file:
        file.write(bytes(free))
    return filler


def test_second_query_on_a_checkpoint_stops_the_first(shop: Shop, tmp_path: Path) -> None:
    """The query that starts later takes over the checkpoint; Spark stops the first."""
    day = Day(shop, "two")
    first, second = (query(shop, tmp_path / "checkpoint") for _ in range(2))
    day.land()
    loser = first.start(processingTime="0 seconds")
    loser.processAllAvailable()
    day.land()
    winner = second.start(processingTime="0 seconds")
    try:
        winner.processAllAvailable()
        assert not loser.isActive
        day.land()
        winner.processAllAvailable()
        day.close()
        winner.processAllAvailable()
    finally:
        winner.stop()
        loser.stop()
    batches = {**first.batches, **second.batches}
    assert decided(row for rows in batches.values() for row in rows) == day.answer()
