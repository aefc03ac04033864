"""Half a minute of each command, to test that they work; longer runs are manual."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from tests.soak import oracle
from tests.soak.__main__ import main

BEGINS_WITH_KILLS = 9
"""With this seed the driver is killed first, then the broker."""


def test_half_a_minute_with_faults_has_the_expected_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--minutes", "0.5", "--seed", str(BEGINS_WITH_KILLS), "--out", str(tmp_path)]
    status = main(["run", *arguments])
    assert status == 0, capsys.readouterr().out
    outcome = json.loads((tmp_path / "soak.json").read_text())
    assert outcome["events"]["driver killed"] >= 1
    assert outcome["driver_starts"] >= 2
    assert outcome["messages"] > outcome["decided_orders"] > 0
    assert outcome["checked_rows"] >= outcome["decided_orders"]
    assert outcome["checked_batches"] > 0
    assert outcome["samples"]
    assert outcome["vitals"]
    assert outcome["failure"] is None
    assert f"# Soak: {outcome['verdict']}" in (tmp_path / "soak.md").read_text()
    assert (tmp_path / "soak.png").stat().st_size > 0


def test_wrong_result_fails_the_run_and_keeps_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An oracle with another lag expects other watermarks."""
    monkeypatch.setattr(oracle, "LAG", timedelta(hours=2))
    assert main(["run", "--minutes", "0.5", "--out", str(tmp_path)]) == 1
    assert "WrongResultError: batch 0: the watermark of" in capsys.readouterr().out
    assert (tmp_path / "failed" / "checkpoint" / "metadata").exists()


def test_throughput_command_reports_runs_with_and_without_faults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--waves", "10", "--faults", "1", "--out", str(tmp_path)]
    status = main(["throughput", *arguments])
    assert status == 0, capsys.readouterr().out
    assert "| driver killed 1 times, broker 1 times |" in (tmp_path / "throughput.md").read_text()


def test_changelog_soak_checks_every_batch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["changes", "--minutes", "0.2", "--out", str(tmp_path)])
    assert status == 0, capsys.readouterr().out
    outcome = json.loads((tmp_path / "soak.json").read_text())
    assert outcome["driver_starts"] >= 2
    assert outcome["emitted"] > outcome["changes"] > 0
    assert outcome["checked_batches"] == outcome["batches"]
    assert f"# Soak: {outcome['verdict']}" in (tmp_path / "soak.md").read_text()
