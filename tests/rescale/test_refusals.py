"""What cannot move is refused by name, before anything is written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkTypeError,
    PySparkValueError,
    StreamingQueryException,
)
from pyspark.sql import DataFrame, SparkSession

from streamjoin import doctor, pending, rescale
from tests.fingerprints import fingerprints
from tests.golden_checkpoints.archive import sealed
from tests.orders import Shop, met
from tests.rescale.kinds import World
from tests.streams import Run


def refusal(run: Run, to: Path, partitions: int = 3) -> str:
    before = fingerprints(run.checkpoint)
    there = fingerprints(to)
    with pytest.raises(AnalysisException) as refused:
        rescale(run.checkpoint, to, partitions)
    assert fingerprints(run.checkpoint) == before
    assert fingerprints(to) == there
    return str(refused.value)


@pytest.fixture
def run(shop: Shop) -> Run:
    run = shop.joined("left")
    shop.order((1, "10:00"), (2, "10:10"), (3, "10:20"))
    shop.deliver((1, "10:30"))
    run.step()
    return run


def test_non_empty_target_is_refused(run: Run, tmp_path: Path) -> None:
    to = tmp_path / "to"
    to.mkdir()
    (to / "something").touch()
    assert "STREAM_JOIN_REWRITE.TARGET_NOT_EMPTY" in refusal(run, to)
    # an empty one is as good as none
    (to / "something").unlink()
    rescale(run.checkpoint, to, 3)


def test_target_inside_the_checkpoint_is_refused(run: Run) -> None:
    for to in (run.checkpoint / "sources" / "new", run.checkpoint, run.checkpoint.parent):
        assert "STREAM_JOIN_REWRITE.TARGET_INSIDE" in refusal(run, to)


def test_missing_offsets_are_refused(shop: Shop, run: Run, tmp_path: Path) -> None:
    shop.order((4, "10:40"))
    run.step()
    (run.checkpoint / "offsets/0").unlink()
    message = refusal(run, tmp_path / "to")
    assert "STREAM_JOIN_REWRITE.MISSING_OFFSETS" in message
    assert "offsets/0" in message


def test_same_number_of_partitions_is_refused(run: Run, tmp_path: Path) -> None:
    assert "STREAM_JOIN_REWRITE.SAME_PARTITIONS" in refusal(run, tmp_path / "to", 2)


def test_running_query_is_refused(run: Run, tmp_path: Path) -> None:
    query = run.start(processingTime="1 hour")
    try:
        query.processAllAvailable()
        message = refusal(run, tmp_path / "to")
    finally:
        query.stop()
    assert "STREAM_JOIN_REWRITE.QUERY_RUNNING" in message
    assert query.id in message


def test_source_without_a_checkpoint_is_refused(shop: Shop, tmp_path: Path) -> None:
    run = shop.joined()
    assert "STREAM_JOIN_STATE.NOT_FOUND" in refusal(run, tmp_path / "to")


def distinct(df: DataFrame) -> DataFrame:
    return df.withWatermark("order_time", "1 hour").dropDuplicatesWithinWatermark(["id"])


def counts(df: DataFrame) -> DataFrame:
    return df.withWatermark("order_time", "1 hour").groupBy("order_time").count()


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda shop: distinct(shop.orders.stream()), "dedupeWithinWatermark"),
        (lambda shop: counts(shop.orders.stream()), "stateStoreSave"),
    ],
)
def test_query_with_stateful_spark_operators_is_refused(
    shop: Shop, tmp_path: Path, build: Callable[[Shop], DataFrame], name: str
) -> None:
    other = build(shop).select("order_time")
    joined = shop.joined().result.select("order_time")
    run = shop.run(joined.union(other))
    shop.order((1, "10:00"))
    run.step()
    message = refusal(run, tmp_path / "to")
    assert "STREAM_JOIN_REWRITE.OTHER_OPERATOR" in message
    assert name in message


def test_changelog_join_without_an_equality_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    world = World(spark, tmp_path, seed=1)
    joined = world.latest("a").streamJoin(world.latest("b"), "a.v < b.v")
    run = Run(joined, tmp_path / "checkpoint")
    world.land()
    run.step()
    assert "STREAM_JOIN_REWRITE.NO_EQUALITY" in refusal(run, tmp_path / "to")


def test_key_that_is_not_a_column_is_refused(run: Run, tmp_path: Path) -> None:
    (file,) = (run.checkpoint / "state/0/_metadata/v2").glob("[0-9]*")
    for unreadable in ("UDF(id)", "id + 1"):
        text = file.read_text()
        version, metadata = text.split("\n", 1)
        told = json.loads(metadata)
        described = json.loads(told["operatorPropertiesJson"])
        described["keys"] = [f"{unreadable} = {unreadable}: INT"]
        told["operatorPropertiesJson"] = json.dumps(described)
        copy = run.checkpoint.with_name("copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(run.checkpoint, copy)
        changed = copy / file.relative_to(run.checkpoint)
        changed.with_name(f".{file.name}.crc").unlink(missing_ok=True)
        changed.write_bytes(sealed(f"{version}\n{json.dumps(told)}".encode()))
        message = refusal(Run(run.result, copy), tmp_path / "to")
        assert "STREAM_JOIN_REWRITE.UNKNOWN_KEY" in message
        assert unreadable in message


def test_several_unfinished_batches_are_refused(run: Run, tmp_path: Path) -> None:
    for batch in ("1", "2"):
        shutil.copy(run.checkpoint / "offsets/0", run.checkpoint / "offsets" / batch)
    assert "STREAM_JOIN_REWRITE.UNFINISHED_BATCHES" in refusal(run, tmp_path / "to")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((1, "to", 3), PySparkTypeError),
        (("from", None, 3), PySparkTypeError),
        (("from", "to", "3"), PySparkTypeError),
        (("from", "to", True), PySparkTypeError),
        (("from", "to", 0), PySparkValueError),
        (("from", "to", 2**31), PySparkValueError),
    ],
)
def test_invalid_rescale_arguments_are_refused(
    spark: SparkSession, arguments: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        rescale(*arguments)


def test_unfinished_batch_reruns_with_its_offsets(run: Run, shop: Shop, tmp_path: Path) -> None:
    shop.deliver((2, "10:30"))
    batch, failing = 1, Run(run.result.selectExpr("*", "raise_error('no')"), run.checkpoint)
    with pytest.raises(StreamingQueryException):
        failing.step()
    shop.deliver((3, "10:40"))
    planned = (run.checkpoint / f"offsets/{batch}").read_text().splitlines()
    run.checkpoint = moved = tmp_path / "moved"
    rescale(failing.checkpoint, moved, 5)
    again = (moved / f"offsets/{batch}").read_text().splitlines()
    assert again[2:] == planned[2:]
    conf = json.loads(planned[1])["conf"] | {"spark.sql.shuffle.partitions": "5"}
    assert json.loads(again[1]) == json.loads(planned[1]) | {"conf": conf}
    assert {n: met({n: rows}) for n, rows in run.step().items()} == {1: [(2, 2)], 2: [(3, 3)]}


def test_interrupted_rescale_leaves_an_unusable_target(
    run: Run, shop: Shop, tmp_path: Path
) -> None:
    """With the first files only, in the order in which they were written, and part of the next."""
    shop.deliver((2, "10:30"))
    run.step()
    whole, part = tmp_path / "whole", tmp_path / "part"
    rescale(run.checkpoint, whole, 3)
    files = [path for path in whole.rglob("*") if path.is_file() and path.suffix != ".crc"]
    files.sort(key=lambda path: path.stat().st_mtime_ns)
    assert [str(f.relative_to(whole)) for f in files[-3:]] == [
        "commits/1",
        "offsets/1",
        "offsets/0",
    ]
    shop.deliver((3, "10:40"))
    for count in range(1, len(files)):
        shutil.rmtree(part, ignore_errors=True)
        for file in files[:count]:
            copy = part / file.relative_to(whole)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        unfinished = part / files[count].relative_to(whole)
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        unfinished.with_name(f".{unfinished.name}.0.tmp").touch()
        assert "STREAM_JOIN_REWRITE.TARGET_NOT_EMPTY" in refusal(run, part)
        interrupted = Run(run.result, part)
        with pytest.raises(AnalysisException, match="it is not complete, as after an interrupted"):
            interrupted.step()
        assert not interrupted.batches, files[count - 1]
    run.checkpoint = whole
    assert met(run.step()) == [(3, 3)]


def test_what_an_interrupted_call_leaves_is_named(run: Run, tmp_path: Path) -> None:
    part = tmp_path / "part"
    rescale(run.checkpoint, part, 3)
    for log in ("commits", "offsets"):
        shutil.rmtree(part / log)
    for reader in (pending, doctor):
        with pytest.raises(AnalysisException, match="after an interrupted call") as refused:
            reader(part)
        assert refused.value.getCondition() == "STREAM_JOIN_STATE.NOT_FOUND"


def test_doctor_reads_the_new_checkpoint(run: Run, tmp_path: Path) -> None:
    to = tmp_path / "to"
    before = str(doctor(run.checkpoint))
    rescale(run.checkpoint, to, 3)
    assert str(doctor(to)).replace(str(to), str(run.checkpoint)) == before


def test_rescale_command_moves_rows_and_refuses_a_second_run(
    run: Run, shop: Shop, tmp_path: Path
) -> None:
    to = tmp_path / "to"
    command = [sys.executable, "-m", "streamjoin", "rescale", str(run.checkpoint), str(to)]
    told = subprocess.run(
        [*command, "--partitions", "3"], capture_output=True, text=True, check=True, env=os.environ
    )
    assert told.stdout == "join 0: 4 rows, from 2 to 3 partitions\n"
    again = subprocess.run([*command, "--partitions", "3"], capture_output=True, text=True)
    assert again.returncode == 1
    assert "STREAM_JOIN_REWRITE.TARGET_NOT_EMPTY" in again.stderr
    run.checkpoint = to
    shop.deliver((2, "10:30"))
    assert met(run.step()) == [(2, 2)]
