"""The benchmark command: which cases it runs, and which earlier results it keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import suite
from benchmarks.case import Case


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    labels: list[str] = []

    def run(cases: list[Case], results: Path, profiles: Path | None) -> list[str]:
        labels.extend(case.label for case in cases)
        with results.open("a", encoding="utf-8") as stream:
            stream.writelines(
                json.dumps({"case": case.label, "new": True}) + "\n" for case in cases
            )
        return []

    monkeypatch.setattr(command, "run", run)
    monkeypatch.setattr(command, "write", lambda results: "")
    return labels


def lines(file: Path) -> list[tuple[str, bool]]:
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(line["case"], line["new"]) for line in found]


def test_only_selects_a_case_or_all_cases_of_a_workload(ran: list[str], tmp_path: Path) -> None:
    file = str(tmp_path / "results.jsonl")
    assert command.main(["run", "--full", "--only", "W1-hot", "W2", "--append", file]) == 0
    of_w2 = [case.label for case in suite.full() if case.workload == "W2"]
    assert ran == ["W1-hot", *of_w2]


def test_a_case_of_another_suite_is_named(ran: list[str], tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text("earlier results", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"suite: W1, 12 groups$"):
        command.main(["run", "--plain", "--only", "W1, 12 groups", "--", str(file)])
    assert not ran
    assert file.read_text(encoding="utf-8") == "earlier results"


@pytest.mark.parametrize("append", [True, False])
def test_rerun_case_replaces_its_earlier_results(
    ran: list[str], tmp_path: Path, append: bool
) -> None:
    file = tmp_path / "results.jsonl"
    before = [{"case": label, "new": False} for label in ("W1 inner", "LAT", "W1 inner")]
    file.write_text("".join(json.dumps(line) + "\n" for line in before), encoding="utf-8")
    option = ["--append"] if append else []
    assert command.main(["run", "--full", "--only", "W1 inner", *option, "--", str(file)]) == 0
    assert lines(file) == [("W1 inner", True), *([("LAT", False)] if append else [])]


def test_results_follow_the_order_of_the_suite(ran: list[str], tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    before = [{"case": label, "new": False} for label in ("removed case", "LAT", "W1-hot")]
    file.write_text("".join(json.dumps(line) + "\n" for line in before), encoding="utf-8")
    assert command.main(["run", "--full", "--only", "W1-catchup", "--append", "--", str(file)]) == 0
    labels = [label for label, _ in lines(file)]
    assert labels == ["W1-hot", "W1-catchup", "LAT", "removed case"]
