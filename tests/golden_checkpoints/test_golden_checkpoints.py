"""Golden checkpoints of released formats continue with the present code and the right output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyspark
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import SparkSession

from streamjoin import pending, rescale
from tests.fingerprints import fingerprints
from tests.golden_checkpoints.archive import (
    KEPT,
    OF_OTHER_SPARKS,
    Morning,
    archive,
    can_go_on,
    unpack,
)
from tests.golden_checkpoints.cases import CASES, Case
from tests.golden_checkpoints.day import FORMATS, PARTITIONS, Day, answer, decided, settings
from tests.processes import run_python

BY_NAME = {case.name: case for case in CASES}
OTHER_SPARKS = ("4.0", "4.1")
ARCHIVES = sorted(KEPT.rglob("*.tar.gz"))
READABLE = [kept for kept in ARCHIVES if can_go_on(kept, pyspark.__version__)]


def restored(session: SparkSession, kept: Path, folder: Path) -> tuple[Day, Morning]:
    morning = unpack(kept, folder)
    case = BY_NAME[kept.name.removesuffix(".tar.gz")]
    return Day(session, case, folder, morning.batches), morning


def name_of(kept: Path) -> str:
    return "-".join([*kept.relative_to(KEPT).parts[:-1], kept.stem[:-4]])


@pytest.mark.parametrize("kept", READABLE, ids=name_of)
def test_a_kept_checkpoint_goes_on(spark: SparkSession, tmp_path: Path, kept: Path) -> None:
    day, morning = restored(spark, kept, tmp_path)
    case, state_format = day.case, kept.parent.name.rpartition("-")[0]
    with settings(spark, case, state_format):
        assert {row.batch_id for row in pending(day.run.checkpoint).collect()} == {1}
        day.play(case.evening)
        given = decided(case, [*map(tuple, morning.output), *day.run.rows()])
        assert given == answer(spark, case, [*morning.batches, *case.evening])
    # The evening produced output.
    assert day.run.rows() if case.changes else decided(case, day.run.rows())


@pytest.mark.parametrize("kept", READABLE, ids=name_of)
def test_rescaled_checkpoint_equals_the_batch_join(
    spark: SparkSession, tmp_path: Path, kept: Path
) -> None:
    day, morning = restored(spark, kept, tmp_path)
    case, state_format = day.case, kept.parent.name.rpartition("-")[0]
    before = pending(day.run.checkpoint).count()
    rescale(day.run.checkpoint, tmp_path / "moved", PARTITIONS + 3)
    day.run.checkpoint = tmp_path / "moved"
    assert pending(day.run.checkpoint).count() == before
    with settings(spark, case, state_format):
        day.play(case.evening)
        given = decided(case, [*map(tuple, morning.output), *day.run.rows()])
        assert given == answer(spark, case, [*morning.batches, *case.evening])


def test_each_case_has_a_checkpoint_in_each_format() -> None:
    wanted = {
        archive(name, version, case.name) for name, version in FORMATS.items() for case in CASES
    }
    for spark in OTHER_SPARKS:
        wanted |= {
            archive(name, version, case, spark)
            for name, version in FORMATS.items()
            for case in OF_OTHER_SPARKS
        }
    assert wanted <= set(ARCHIVES)


def test_merged_archives_contain_merged_state_files(tmp_path: Path) -> None:
    for state_format, suffix in (("segments", "*.whole"), ("rocksdb", "*.zip")):
        folder = tmp_path / state_format
        unpack(archive(state_format, FORMATS[state_format], "full_merged"), folder)
        assert list(folder.rglob(suffix))


@pytest.mark.parametrize(("name", "wider"), [("full_hot_key", 1), ("full_wide_hot_key", 2)])
@pytest.mark.parametrize("state_format", FORMATS)
def test_hot_key_archives_contain_hot_keys(
    tmp_path: Path, state_format: str, name: str, wider: int
) -> None:
    unpack(archive(state_format, FORMATS[state_format], name), tmp_path)
    files = (tmp_path / "checkpoint" / "state" / "0" / "_hotKeys").glob("[0-9]*")
    (text,) = (path.read_text(encoding="utf-8") for path in files)
    (key,) = json.loads(text.splitlines()[1])["keys"]
    assert key["wider"] == wider


@pytest.mark.parametrize("state_format", FORMATS)
def test_pending_reads_a_checkpoint_in_a_fresh_session(tmp_path: Path, state_format: str) -> None:
    unpack(archive(state_format, FORMATS[state_format], "full_merged"), tmp_path)
    shown = run_python(
        f"""
        import streamjoin
        from pyspark.sql import SparkSession
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        streamjoin.configure(builder).getOrCreate()
        print(streamjoin.pending({str(tmp_path / "checkpoint")!r}).count())
        """
    )
    assert int(shown.split()[-1]) > 0


def later_description(checkpoint: Path) -> list[Path]:
    files = sorted((checkpoint / "state" / "0" / "_metadata" / "v2").iterdir())
    for path in files:
        head, _, body = path.read_text(encoding="utf-8").partition("\n")
        written = json.loads(body)
        properties = json.loads(written["operatorPropertiesJson"])
        assert properties["version"] == FORMATS[properties["format"]]
        # A later version may write the other properties differently.
        later = {
            "version": properties["version"] + 1,
            "format": properties["format"],
            "joinType": ["FULL", "OUTER"],
        }
        written["operatorPropertiesJson"] = json.dumps(later)
        path.write_text(f"{head}\n{json.dumps(written)}", encoding="utf-8")
    return files


def later_segments(checkpoint: Path) -> list[Path]:
    files = sorted((checkpoint / "state" / "0").rglob("*.change"))
    for path in files:
        content = path.read_bytes()
        version = FORMATS["segments"]
        assert content[4:8] == version.to_bytes(4, "big")
        path.write_bytes(content[:4] + (version + 1).to_bytes(4, "big") + content[8:])
    return files


@pytest.mark.parametrize(
    ("state_format", "later", "start_error", "pending_error"),
    [
        ("segments", later_description, AnalysisException, AnalysisException),
        ("rocksdb", later_description, AnalysisException, AnalysisException),
        # Only the tasks that read the files notice it.
        ("segments", later_segments, StreamingQueryException, Py4JJavaError),
    ],
)
def test_later_format_version_is_refused_unchanged(
    spark: SparkSession,
    tmp_path: Path,
    state_format: str,
    later: Callable[[Path], list[Path]],
    start_error: type[Exception],
    pending_error: type[Exception],
) -> None:
    kept = archive(state_format, FORMATS[state_format], "full")
    day, morning = restored(spark, kept, tmp_path)
    original = {path: path.read_bytes() for path in day.run.checkpoint.rglob("*") if path.is_file()}
    changed = later(day.run.checkpoint)
    before = fingerprints(day.run.checkpoint)
    case: Case = day.case
    with settings(spark, case, state_format):
        day.land(case.evening[0])
        with pytest.raises(start_error) as refused:
            day.run.step()
        with pytest.raises(pending_error) as unseen:
            pending(day.run.checkpoint).collect()
        version = FORMATS[state_format]
        for error in (refused, unseen):
            assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in str(error.value)
            assert f"Found: format {state_format} {version + 1}. " in str(error.value)
            assert f"Expected: format {state_format} {version}." in str(error.value)
        after = fingerprints(day.run.checkpoint)
        assert {name: after.get(name) for name in before} == before
        # The failed batch has written no state.
        partitions = [f"state/0/{p}/" for p in range(PARTITIONS)]
        assert not [name for name in set(after) - set(before) if name.startswith(tuple(partitions))]
        for path in changed:
            path.write_bytes(original[path])
        day.run.step()
        day.play(case.evening[1:])
        given = decided(case, [*map(tuple, morning.output), *day.run.rows()])
        assert given == answer(spark, case, [*morning.batches, *case.evening])
