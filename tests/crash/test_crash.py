"""A query that is killed repeatedly emits the output of a query that is never killed.

A killed run has other batches than an undisturbed run, and therefore other late rows. The
expected result is the batch join over the rows that were on time in the batches recorded in the
checkpoint. An undisturbed run with these batches has that result, as the differential tests
verify.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from zlib import crc32

import pytest
from pyspark.sql import SparkSession

from tests.crash.director import STEPS_FOR_EACH_PROCESS, Director, Kill, draw_kills
from tests.crash.scenarios import SCENARIOS, last_rows, scenario
from tests.differential import recorded
from tests.differential.case import SENTINEL, Case
from tests.differential.compare import difference, report, unstable
from tests.differential.feeds import Arrived
from tests.differential.invariants import violations
from tests.differential.lateness import judge, on_time
from tests.differential.oracle import answer
from tests.differential.plans import output_columns
from tests.differential.runner import Run
from tests.other_sparks import MINORS, python_of
from tests.parameters import STATE_FORMATS


@pytest.mark.parametrize("name", SCENARIOS)
def test_output_is_exact_after_kills(
    name: str, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    seed: int = pytestconfig.option.crash_seed
    count = -(-pytestconfig.option.crash_kills // len(SCENARIOS))
    kills = draw_kills(Random(f"{name}/{seed}/kills"), count)
    check_kills(name, spark, tmp_path, pytestconfig, kills)


def test_output_is_exact_after_kills_while_state_is_merged(
    spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """The kill comes as soon as a merged file appears, or a moment later."""
    kills = [Kill(1, "merging", delay_ms) for delay_ms in (0, 20)]
    check_kills("chain", spark, tmp_path, pytestconfig, kills)


@pytest.mark.parametrize("minor", MINORS)
def test_output_is_exact_after_a_kill_on_another_spark_version(
    minor: str, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    python = python_of(minor)
    check_kills("chain", spark, tmp_path, pytestconfig, [Kill(1, "committed", 0)], python=python)


def test_output_is_exact_after_kills_in_a_batch_that_spreads_keys(
    spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """The kills come before the batch has a task, and after its next attempt wrote the output."""
    kills = [Kill(1, "spreading", 0), Kill(0, "written", 0)]
    director = check_kills("full_join", spark, tmp_path, pytestconfig, kills)
    assert director.unfinished[0] in director.spread_from()


def test_ordered_output_continues_in_order_after_kills(
    spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """A sink that keeps one attempt of each batch sees ascending times and every row.

    The as-of join killed with it matches each row with the last earlier row.
    """
    kills = [Kill(2, "planned", 30), Kill(0, "written", 0)]
    director = check_kills("chain", spark, tmp_path, pytestconfig, kills, "--order", "a.t")
    result = read_run(director.case, tmp_path, director.landing.arrived)
    place = result.columns.index("a_t")
    times = [row[place] for batch in sorted(result.attempts) for row in result.attempts[batch][-1]]
    # Rows without the time have no position in the order.
    known = [time for time in times if time is not None]
    assert known == sorted(known)
    assert len(known) > 10
    check_last_rows(last_rows(director.case), tmp_path / "last", director.landing.arrived)


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_versions_join_is_exact_after_kills(
    state_format: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    seed: int = pytestconfig.option.crash_seed
    count = -(-pytestconfig.option.crash_kills // len(SCENARIOS))
    kills = draw_kills(Random(f"versions/{state_format}/{seed}/kills"), count)
    if state_format == "rocksdb":
        # RocksDB merges its own files.
        kills = [replace(k, phase="committed") if k.phase == "merging" else k for k in kills]
    case = scenario("full_join", seed, STEPS_FOR_EACH_PROCESS * (len(kills) + 1))
    settings = {**case.settings, "spark.sql.streamJoin.stateFormat": state_format}
    case = replace(case, settings=settings)
    director = Director(case, tmp_path, kills, "--versions")
    director.direct()
    again = f"--crash-seed {seed}, kills: {kills}"
    probed = last_rows(case)
    found, expected = versions(probed, read_run(probed, tmp_path, director.landing.arrived))
    assert found == expected, again
    assert sum(version is not None for _, version in expected) > 5
    assert sum(version is None for _, version in expected) > 5


Versions = list[tuple[str | None, str | None]]


def versions(case: Case, result: Run) -> tuple[Versions, Versions]:
    """Each row with the last change of its key, by the time and then by the sequence; as expected.

    Batches that ran again gave the same.
    """
    assert unstable(result) == []
    arrivals = judge(case, result.batches)
    probes, changes = (
        [row for row in on_time(arrivals, alias) if SENTINEL not in row["id"]] for alias in "ab"
    )
    columns = [result.columns.index(name) for name in ("a_id", "b_id")]
    found = [(row[columns[0]], row[columns[1]]) for row in result.rows]
    expected: Versions = []
    for row in probes:
        key, time = row["k"], row["t"]
        last = max(
            (
                (change["t"], crc32(change["id"].encode()), change["id"])
                for change in changes
                if None not in (key, time, change["t"])
                and change["k"] == key
                and change["t"] <= time
            ),
            default=None,
        )
        deleted = last is None or last[1] % 4 == 0
        expected.append((row["id"], None if deleted or last is None else last[2]))
    known = [row for row in found if SENTINEL not in str(row[0])]
    return sorted(known, key=str), sorted(expected, key=str)


def check_last_rows(case: Case, folder: Path, arrived: Arrived) -> None:
    result = read_run(case, folder, arrived)
    arrivals = judge(case, result.batches)
    probes, builds = (
        [row for row in on_time(arrivals, alias) if SENTINEL not in row["id"]] for alias in "ab"
    )
    times = {row["id"]: row["t"] for row in builds}
    columns = [result.columns.index(name) for name in ("a_id", "b_id")]
    rows = [[row[column] for column in columns] for row in result.rows]
    # Of several rows at one time, any can be the last.
    found = [(a, times.get(b)) for a, b in rows if SENTINEL not in a]
    expected = []
    for row in probes:
        key, time = row["k"], row["t"]
        known = [] if None in (key, time) else [b["t"] for b in builds if b["k"] == key]
        before = [t for t in known if t is not None and t <= time]
        expected.append((row["id"], max(before, default=None)))
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert unstable(result) == []
    assert sum(time is not None for _, time in found) > 5


def check_kills(
    name: str,
    spark: SparkSession,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    kills: Sequence[Kill],
    *job_options: str,
    python: str = sys.executable,
) -> Director:
    seed: int = pytestconfig.option.crash_seed
    steps = STEPS_FOR_EACH_PROCESS * (len(kills) + 1)
    case = scenario(name, seed, steps)
    director = Director(case, tmp_path, kills, *job_options, python=python)
    director.direct()
    result = read_run(case, tmp_path, director.landing.arrived)
    arrivals = judge(case, result.batches)
    found = difference(result.columns, result.rows, answer(case, spark, arrivals))
    again = f"--crash-seed {seed} --crash-kills {pytestconfig.option.crash_kills}, kills: {kills}"
    assert not found, f"{report(case, found, arrivals)}\n{again}"
    assert unstable(result) == [], f"batches with other rows in another attempt; {again}"
    # only for joins without an order
    assert job_options or violations(case, result, arrivals) == [], again
    return director


def read_run(case: Case, folder: Path, arrived: Arrived) -> Run:
    result = Run(columns=[name for _, name in output_columns(case)])
    result.batches = recorded.batches(case, folder / "checkpoint", arrived)
    for batch in range(len(result.batches)):
        attempts = sorted(
            (folder / "output").glob(f"{batch}.*.json"), key=lambda path: int(path.suffixes[0][1:])
        )
        result.attempts[batch] = [
            [tuple(row) for row in json.loads(path.read_text())] for path in attempts
        ]
    for path in (folder / "progress").glob("[0-9]*.json"):
        result.progress[int(path.stem)] = json.loads(path.read_text())
    return result
