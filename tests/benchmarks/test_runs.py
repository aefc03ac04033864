"""Complete benchmark runs, each in a process that the benchmark starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import check, process, suite
from benchmarks.case import Case
from benchmarks.engine import FLINK, FLINK_MINI_BATCH, HAZELCAST, LIMIT, OURS, Engine
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
        "tiny",
        "W1",
        [LIMIT],
        warmup=1000,
        warmup_batches=2,
        parameters=TINY,
        settling=0,
        repetitions=2,
        itself=[{"window": 100}],
    )


def test_run_of_stream_join_records_every_field(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    assert run([case], file) == []
    lines = read(file)
    narrow = f"{OURS}, window 100"
    assert [(line["engine"], line["repetition"], line["outcome"]) for line in lines] == [
        (engine, repetition, "correct")
        for rival in (LIMIT, narrow)
        for repetition, engine in [(0, OURS), (0, rival), (1, rival), (1, OURS)]
    ]
    ours, limit = lines[:2]
    assert {name: type(ours[name]) for name in FIELDS} == FIELDS
    assert (ours["rows"], ours["batches"], ours["no_data_batches"]) == (10000, 4, 0)
    assert ours["result_rows"] == limit["result_rows"] > 5000
    assert 0 < ours["peak_buffered_rows"] < 10000


@pytest.mark.parametrize("engine", FLINK)
def test_flink_result_equals_the_reference(case: Case, engine: str) -> None:
    if not Engine.of(engine).staged():
        pytest.skip("Flink's jars are not here: make bench-jars")
    versions = replace(case, workload="V1", parameters={**TINY, "lag": 5000})
    for each in (case, versions):
        assert check.outcome(process.run(engine, each), process.run(LIMIT, each)) == "correct"


@pytest.mark.parametrize("engine", [FLINK[0], FLINK_MINI_BATCH[0]])
def test_flink_changelog_result_equals_the_reference(engine: str) -> None:
    if not Engine.of(engine).staged():
        pytest.skip("Flink's jars are not here: make bench-jars")
    sizes: dict[str, str | int] = {"rows": 4000, "batch": 1000}
    cases = [Case(name, name, [LIMIT], 0, sizes) for name in ("U1", "U2", "U3", "CH", "R3", "R20")]
    for changed in [*cases, Case("CH", "CH", [LIMIT], 0, sizes | {"first": "right"})]:
        result, reference = process.run(engine, changed), process.run(LIMIT, changed)
        assert check.outcome(result, reference) == "correct", changed.workload
        assert result["changes_out"] >= result["result_rows"] > 0


def test_flink_results_of_whole_queries_equal_the_reference() -> None:
    if not Engine.of(FLINK[0]).staged():
        pytest.skip("Flink's jars are not here: make bench-jars")
    with process.started(FLINK[0], Case("any", "Q3", [LIMIT], warmup=0)) as flink:
        for query in suite.nexmark():
            small = replace(query, parameters={"rows": 30_000, "batch": 16_000})
            result = flink.run(workload=small.workload, **small.parameters)
            reference = process.run(LIMIT, small)
            assert reference["result_rows"] > 0
            assert check.outcome(result, reference) == "correct", query.label


def test_hazelcast_result_equals_the_reference(case: Case) -> None:
    if not Engine.of(HAZELCAST).staged():
        pytest.skip("Hazelcast's jars are not here: make bench-jars")
    result = process.run(HAZELCAST, case)
    assert check.outcome(result, process.run(LIMIT, case)) == "correct"


class PreparedRunner(process.Runner):
    """A runner without a process, with prepared results."""

    def __init__(self, engine: str, case: Case, answer: process.Result) -> None:
        self.engine = engine
        self.case = case
        self._answer = answer

    def run(self, **changes: object) -> process.Result:
        if "failure" in self._answer:
            raise process.FailedRunError(self._answer["failure"])
        return {"result_rows": 7, "checksum": "cd", "wall_seconds": 4, **self._answer}

    def alive(self) -> bool:
        return "failure" not in self._answer


@pytest.fixture
def prepared_answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, process.Result]:
    """The prepared results by engine, for the test to fill."""
    answers: dict[str, process.Result] = {}

    @contextmanager
    def started(engine: str, case: Case, **_: object) -> Iterator[process.Runner]:
        yield PreparedRunner(engine, case, answers.get(engine, {}))

    monkeypatch.setattr(process, "started", started)
    return answers


def outcomes(file: Path) -> list[tuple[str, str]]:
    return [(line["engine"], line["outcome"]) for line in read(file)]


def test_wrong_result_is_reported_as_a_problem(
    case: Case, prepared_answers: dict[str, process.Result], tmp_path: Path
) -> None:
    prepared_answers["spark-heap"] = {"checksum": "ab"}
    settled = replace(case, engines=["spark-heap"], settling=5, repetitions=1, itself=[])
    problems = run([settled], tmp_path / "results.jsonl")
    assert set(problems) == {"spark-heap on tiny: wrong, not correct: 7 rows, ab"}
    # The result is checked in unmeasured runs too: 5 seconds of settling are two runs.
    assert outcomes(tmp_path / "results.jsonl") == [
        ("spark-heap", "wrong"),
        ("spark-heap", "wrong"),
        ("streamjoin", "correct"),
        ("spark-heap", "wrong"),
    ]


def test_refusing_or_failing_engine_is_not_measured(
    case: Case, prepared_answers: dict[str, process.Result], tmp_path: Path
) -> None:
    prepared_answers["spark-heap"] = {"refused": "no"}
    prepared_answers["spark-rocksdb-3"] = {"failure": "it broke"}
    rivals = replace(case, engines=["spark-heap", "spark-rocksdb-3", "spark-rocksdb-4"], itself=[])
    problems = run([rivals], tmp_path / "results.jsonl")
    assert outcomes(tmp_path / "results.jsonl") == [
        ("spark-heap", "refused"),
        ("spark-rocksdb-3", "failed"),
        ("streamjoin", "correct"),
        ("spark-rocksdb-4", "correct"),
        ("spark-rocksdb-4", "correct"),
        ("streamjoin", "correct"),
    ]
    assert problems == [
        "spark-heap on tiny: refused, not correct: no",
        "spark-rocksdb-3 on tiny: failed, not correct: it broke",
    ]


def test_failure_of_stream_join_ends_the_case(
    case: Case, prepared_answers: dict[str, process.Result], tmp_path: Path
) -> None:
    prepared_answers[OURS] = {"failure": "it broke"}
    assert run([case], tmp_path / "results.jsonl") == ["it broke"]


@pytest.fixture(scope="module")
def loop() -> Iterator[process.Runner]:
    """One process for all cases; each run names its workload."""
    with process.started(LIMIT, Case("any", "W1", [LIMIT], warmup=0)) as runner:
        yield runner


@pytest.mark.parametrize(
    "case", [*suite.short(), *suite.full(), *suite.nexmark()], ids=lambda case: case.label
)
def test_every_case_has_results_to_check(case: Case, loop: process.Runner) -> None:
    sizes = {**case.parameters, "rows": check.checked_rows(case)}
    result = loop.run(workload=case.workload, **sizes)
    assert result["workload"] == case.workload
    assert result["result_rows"] > 0


def test_failed_process_reports_its_error(case: Case) -> None:
    broken = Case("broken", "W0", [LIMIT], warmup=0)
    with pytest.raises(process.FailedRunError, match="W0 is none of"):
        process.run(LIMIT, broken)
