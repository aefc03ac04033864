"""Every kind of file in a checkpoint is damaged: the start refuses it, or emits the same rows.

`KINDS` lists the kinds. The test fails for a file of a kind that is not in the list.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamjoin import impose_order, pending, rescale, stream_join
from tests.fingerprints import fingerprints
from tests.golden_checkpoints.cases import at
from tests.streams import Landing, Run, wait_until

SETTINGS = {
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.streamJoin.hotKeyRows": "20",
    "spark.sql.streamJoin.hotKeyBuckets": "0",
    "spark.sql.streaming.maintenanceInterval": "1s",
    "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "3",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
BATCHES = 8
REFUSED = "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT"


@dataclass(frozen=True)
class Kind:
    """Files of a checkpoint.

    Parameters
    ----------
    name : str
        What they contain.
    path : str
        A pattern of their paths in the checkpoint.
    ours : bool
        Whether this project writes them. Those of Spark have no checksum of this project.
    formats : tuple of str
        The state formats that have such files.
    checked_from : bytes
        Spark writes what is before these bytes, without a checksum.
    """

    name: str
    path: str
    ours: bool
    formats: tuple[str, ...] = ("segments", "rocksdb")
    checked_from: bytes = b""


KINDS = [
    Kind("id of the query", r"metadata", ours=False),
    Kind("log of offsets", r"offsets/\d+", ours=False),
    Kind("log of commits", r"commits/\d+", ours=False),
    Kind("log of a source", r"sources/\d+/\d+", ours=False),
    Kind(
        "description",
        r"state/0/_metadata/v2/\d+",
        ours=True,
        checked_from=b'"operatorPropertiesJson"',
    ),
    Kind("schema", r"state/0/_stateSchema/default/[^/]+", ours=True),
    Kind("hot keys", r"state/0/_hotKeys/\d+", ours=True),
    Kind("changes", r"state/0/\d/\d+_[^.]+\.change", True, ("segments",)),
    Kind("merged changes", r"state/0/\d/\d+_[^.]+\.(whole|\d+\.range)", True, ("segments",)),
    Kind("changelog of RocksDB", r"state/0/\d/\d+\.changelog", False, ("rocksdb",)),
    Kind("snapshot of RocksDB", r"state/0/\d/\d+\.zip", False, ("rocksdb",)),
    Kind("table of RocksDB", r"state/0/\d/SSTs/[^/]+\.sst", False, ("rocksdb",)),
]


def of_digit(data: bytes, rng: Random) -> bytes:
    digits = [i for i, byte in enumerate(data) if byte in b"0123456789"]
    i = rng.choice(digits)
    return data[:i] + str((int(chr(data[i])) + 1) % 10).encode() + data[i + 1 :]


def of_byte(data: bytes, rng: Random) -> bytes:
    i = rng.randrange(len(data))
    return data[:i] + bytes([data[i] ^ (1 << rng.randrange(8))]) + data[i + 1 :]


CHANGES: dict[str, Callable[[bytes, Random], bytes]] = {
    "empty": lambda data, rng: b"",
    "cut": lambda data, rng: data[: len(data) // 2],
    "byte": of_byte,
    "digit": of_digit,
}


class Morning:
    """A query that has found hot keys, with rows for one more batch."""

    def __init__(self, session: SparkSession, folder: Path, state_format: str) -> None:
        self.session = session
        self.folder = folder
        self.settings = {**SETTINGS, "spark.sql.streamJoin.stateFormat": state_format}
        self.inputs = {
            name: Landing(session, folder / name, "k INT, id INT, t TIMESTAMP") for name in "ab"
        }
        self.rng = Random(1)
        self.files_per_batch = 1
        self.expected: list[str] = []

    def run(self, checkpoint: Path) -> Run:
        options = {"maxFilesPerTrigger": str(self.files_per_batch)}
        a, b = (
            impose_order(landing.stream(**options), "t", "3 seconds").alias(name)
            for name, landing in self.inputs.items()
        )
        on = "a.k = b.k AND b.t BETWEEN a.t AND a.t + INTERVAL 9 SECONDS"
        joined = stream_join(a, b, on, "full")
        return Run(joined.selectExpr("a.id AS a", "b.id AS b"), checkpoint)

    def land(self, batch: int) -> None:
        for landing in self.inputs.values():
            landing.land(
                *(
                    {
                        "k": self.rng.choice([1, 1, 1, 2 if batch < 4 else 3, 4]),
                        "id": batch * 100 + n,
                        "t": at("10:00", second=batch * 3 + self.rng.randrange(3)),
                    }
                    for n in range(60)
                )
            )

    def rows(self, checkpoint: Path) -> list[str]:
        """The rows that the next start emits."""
        run = self.run(checkpoint)
        with configured(self.session, self.settings):
            run.step()
        return sorted(map(str, run.rows()))

    def damaged(self, number: str) -> Path:
        checkpoint = self.folder / number
        # Hadoop's local file system would notice by checksums; other file systems would not.
        shutil.copytree(
            self.folder / "checkpoint", checkpoint, ignore=shutil.ignore_patterns(".*.crc")
        )
        return checkpoint


@contextmanager
def configured(session: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    before = {key: session.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, old)


def played(session: SparkSession, folder: Path, state_format: str) -> Morning:
    morning = Morning(session, folder, state_format)
    for batch in range(BATCHES):
        morning.land(batch)
    checkpoint = folder / "checkpoint"
    with configured(session, morning.settings):
        query = morning.run(checkpoint).start(processingTime="0 seconds")
        try:
            query.processAllAvailable()
            wait_until(query, lambda: all(merged(checkpoint)), 60)
        finally:
            query.stop()
    morning.land(BATCHES)
    return morning


def merged(checkpoint: Path) -> Iterator[bool]:
    """For each partition, whether maintenance has merged files."""
    return (
        any([*folder.glob("*.whole"), *folder.glob("*.zip")])
        for folder in (checkpoint / "state" / "0").glob("[0-9]")
    )


@pytest.fixture(scope="module", params=["segments", "rocksdb"])
def morning(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Morning:
    morning = played(spark, tmp_path_factory.mktemp("files"), request.param)
    morning.expected = morning.rows(morning.damaged("whole"))
    return morning


def files(checkpoint: Path) -> dict[str, Path]:
    return {
        str(path.relative_to(checkpoint)): path
        for path in sorted(checkpoint.rglob("*"))
        if path.is_file() and not path.name.endswith(".crc")
    }


def of(kind: Kind, checkpoint: Path) -> list[Path]:
    """The files of a kind, each folder's oldest first."""
    found = [path for name, path in files(checkpoint).items() if re.fullmatch(kind.path, name)]
    return sorted(found, key=lambda path: int((re.match(r"\d+", path.name) or [0])[0]))


def damage(kind: Kind, checkpoint: Path, how: str) -> None:
    """Damage all files of a kind; or replace the newest one of each folder by the one before."""
    found = of(kind, checkpoint)
    assert found, f"no {kind.name}"
    rng = Random(how)
    if kind.name == "changes":
        # How much of them is merged depends on when maintenance has run.
        for path in of(next(k for k in KINDS if k.name == "merged changes"), checkpoint):
            path.unlink()
    if how == "older":
        for folder in sorted({path.parent for path in found}):
            *_, before, newest = [None, *(path for path in found if path.parent == folder)]
            if before is not None:
                shutil.copy(before, newest)
    else:
        for path in found:
            if how == "deleted":
                path.unlink()
            else:
                path.write_bytes(changed(kind, path.read_bytes(), how, rng))


def changed(kind: Kind, data: bytes, how: str, rng: Random) -> bytes:
    if how not in ("byte", "digit"):
        return CHANGES[how](data, rng)
    spark = data.index(kind.checked_from)
    return data[:spark] + CHANGES[how](data[spark:], rng)


def test_each_file_of_a_checkpoint_has_a_kind(morning: Morning) -> None:
    names = files(morning.folder / "checkpoint")
    kinds = {name: [kind for kind in KINDS if re.fullmatch(kind.path, name)] for name in names}
    assert [name for name, found in kinds.items() if len(found) != 1] == []
    state_format = morning.settings["spark.sql.streamJoin.stateFormat"]
    found = {kind.name for each in kinds.values() for kind in each}
    assert found == {kind.name for kind in KINDS if state_format in kind.formats}


def rows_or_refusal(morning: Morning, checkpoint: Path) -> list[str] | str:
    try:
        return morning.rows(checkpoint)
    except (PySparkException, Py4JJavaError) as refused:
        return REFUSED if REFUSED in str(refused) else str(refused)


UNDECIDED = {
    # One may have replaced the newest file, or there may be one in each folder.
    ("merged changes", "older"),
}

NOT_NEEDED = {
    # The files that they replace are retained.
    ("merged changes", "deleted"),
    # Its digits are numbers of schemas and of encoders, which are not compared.
    ("schema", "digit"),
}


@pytest.mark.parametrize("how", ["deleted", "older", *CHANGES])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.ours], ids=lambda kind: kind.name)
def test_damaged_file_is_refused_or_not_needed(morning: Morning, kind: Kind, how: str) -> None:
    if morning.settings["spark.sql.streamJoin.stateFormat"] not in kind.formats:
        pytest.skip("this format has no such files")
    checkpoint = morning.damaged(f"{kind.name}-{how}".replace(" ", "-"))
    if how == "older" and len(of(kind, checkpoint)) == 1:
        pytest.skip("there is one such file")
    damage(kind, checkpoint, how)
    if (kind.name, how) in NOT_NEEDED:
        assert morning.rows(checkpoint) == morning.expected
        return
    if (kind.name, how) in UNDECIDED:
        assert rows_or_refusal(morning, checkpoint) in (morning.expected, REFUSED)
        return
    left = fingerprints(checkpoint / "state" / "0")
    with pytest.raises((PySparkException, Py4JJavaError), match=REFUSED):
        morning.rows(checkpoint)
    now = fingerprints(checkpoint / "state" / "0")
    assert {name: now.get(name) for name in left} == left


@pytest.mark.parametrize("how", ["byte", "digit"])
def test_damaged_part_of_spark_gives_no_wrong_row(morning: Morning, how: str) -> None:
    """Spark's part of the description has the paths of the schemas, which a start does not read."""
    (description,) = (kind for kind in KINDS if kind.checked_from)
    checkpoint = morning.damaged(f"part-of-Spark-{how}")
    for path in of(description, checkpoint):
        spark, ours, rest = path.read_bytes().partition(description.checked_from)
        path.write_bytes(CHANGES[how](spark, Random(how)) + ours + rest)
    assert rows_or_refusal(morning, checkpoint) in (morning.expected, REFUSED)


def test_lost_folder_is_refused(morning: Morning) -> None:
    """Nothing tells whether the folder was there but the state itself."""
    for name in ("_hotKeys", "_metadata", "_stateSchema"):
        checkpoint = morning.damaged(f"without-{name}")
        shutil.rmtree(checkpoint / "state" / "0" / name)
        with pytest.raises((PySparkException, Py4JJavaError), match=REFUSED):
            morning.rows(checkpoint)


def test_pending_and_rescale_refuse_lost_hot_keys(morning: Morning) -> None:
    checkpoint = morning.damaged("pending")
    whole = pending(checkpoint).count()
    shutil.rmtree(checkpoint / "state" / "0" / "_hotKeys")
    assert whole > 0
    with pytest.raises((PySparkException, Py4JJavaError), match=REFUSED):
        pending(checkpoint).count()
    with pytest.raises((PySparkException, Py4JJavaError), match=REFUSED):
        rescale(checkpoint, morning.folder / "rescaled", 5)


def test_batches_planned_anew_replace_the_state_of_the_first_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The logs lose their last entries, and the files of the first run are the newest by time."""
    morning = played(spark, tmp_path, "segments")
    lost = range(BATCHES - 2, BATCHES)
    for log in ("offsets", "commits", "sources/0", "sources/1"):
        for batch in lost:
            (morning.folder / "checkpoint" / log / str(batch)).unlink()
    for left in ("with", "without"):
        checkpoint = morning.damaged(left)
        first_run = [
            path
            for name, path in files(checkpoint).items()
            if re.match(rf"state/0/\d/({'|'.join(str(batch + 1) for batch in lost)})_", name)
        ]
        assert first_run
        for path in first_run:
            if left == "with":
                os.utime(path, (time.time() + 86_400,) * 2)
            else:
                path.unlink()
    # The first of the batches now reads two files of each input, the second one the last file.
    morning.files_per_batch = 2
    anew = [morning.rows(morning.folder / left) for left in ("with", "without")]
    assert anew[0] == anew[1]
    for left in ("with", "without"):
        commits = (morning.folder / left / "commits").iterdir()
        assert {path.name for path in commits} >= {str(batch) for batch in range(BATCHES)}
    morning.land(BATCHES + 1)
    after = [morning.rows(morning.folder / left) for left in ("with", "without")]
    assert after[0] == after[1] != []
