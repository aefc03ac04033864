"""Whole runs, each in the process that a benchmark starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import check, process, suite
from benchmarks.case import Case
from benchmarks.engine import FLINK, HAZELCAST, LIMIT, OURS, Engine
from benchmarks.run import run
from benchmarks.summary import read

FIELDS = {
    "date": str,
    "machine": str,
    "engine": str,
    "workload": str,
    "parameters": dict,
    "rows": int,
    "result_rows": int,
    "checksum": str,
    "wall_seconds": float,
    "cpu_seconds": float,
    "rows_per_cpu_second": float,
    "peak_buffered_rows": int,
    "peak_buffered_bytes": int,
    "bytes_checkpointed": int,
    "batches": int,
    "median_batch_ms": float,
    "max_batch_ms": float,
    "no_data_batches": int,
}
TINY: dict[str, str | int] = {
    "rows": 5000,
    "batch": 2000,
    "window": 500,
    "lag": 100,
    "keys": 300,
    "how": "left",
}


@pytest.fixture
def case() -> Case:
    return Case(
        "tiny", "W1", [LIMIT, OURS], warmup=1000, warmup_batches=2, parameters=TINY, repetitions=2
    )


def test_a_run_of_this_projects_join_has_every_field(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    assert run([case], file) == []
    lines = read(file)
    assert [(line["engine"], line["repetition"], line["outcome"]) for line in lines] == [
        (engine, repetition, "correct") for engine in (LIMIT, OURS) for repetition in (0, 1)
    ]
    limit, ours = lines[0], lines[-1]
    assert {name: type(ours[name]) for name in FIELDS} == FIELDS
    assert (ours["rows"], ours["batches"], ours["no_data_batches"]) == (10000, 4, 0)
    assert ours["result_rows"] == limit["result_rows"] > 5000
    assert 0 < ours["peak_buffered_rows"] < 10000


@pytest.mark.parametrize("engine", FLINK)
def test_flink(case: Case, engine: str) -> None:
    if not Engine.of(engine).staged():
        pytest.skip("Flink's jars are not here: make bench-jars")
    assert check.outcome(process.run(engine, case), process.run(LIMIT, case)) == "correct"


def test_hazelcast(case: Case) -> None:
    if not Engine.of(HAZELCAST).staged():
        pytest.skip("Hazelcast's jars are not here: make bench-jars")
    result = process.run(HAZELCAST, case)
    assert check.outcome(result, process.run(LIMIT, case)) == "correct"


def test_a_wrong_result_is_a_problem(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_rows(engine: str, *_: object, **changes: object) -> process.Result:
        wrong = engine == OURS
        return {"engine": engine, "result_rows": 7, "checksum": "ab" if wrong else "cd"}

    monkeypatch.setattr(process, "run", other_rows)
    monkeypatch.setattr(process, "measure", lambda engine, *_: [other_rows(engine)])
    monkeypatch.setattr("benchmarks.run._tell", lambda line: None)
    (problem,) = run([case], tmp_path / "results.jsonl")
    assert problem == "streamjoin on tiny: wrong, not correct: 7 rows, ab; the bare loop 7, cd"


@pytest.mark.parametrize("case", [*suite.short(), *suite.full()], ids=lambda case: case.label)
def test_what_is_held_against_a_batch_join_has_results(case: Case) -> None:
    assert process.run(LIMIT, case, rows=check.checked_rows(case))["result_rows"] > 0


def test_a_process_that_fails_says_why(case: Case) -> None:
    broken = Case("broken", "W0", [LIMIT], warmup=0)
    with pytest.raises(process.FailedRunError, match="W0 is none of"):
        process.run(LIMIT, broken)
