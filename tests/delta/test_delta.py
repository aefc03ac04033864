"""examples/delta_tables.py: two Delta tables joined into a third, killed and started again."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.processes import spawn

JARS = Path(__file__).parent / "jars"
KILLED = 3


def test_the_target_is_the_batch_join_after_a_kill(tmp_path: Path) -> None:
    if not list(JARS.glob("*.jar")):
        pytest.fail("the jars of Delta are not there: make kafka-jars")
    # merged, but not committed: the batch runs again and merges the same changes once more
    killed = run(tmp_path, "killed", str(KILLED))
    assert killed == -signal.SIGKILL, (tmp_path / "killed.log").read_text()[-4000:]
    assert run(tmp_path, "again") == 0, (tmp_path / "again.log").read_text()[-4000:]
    first, second = (
        json.loads((tmp_path / "changes" / f"{KILLED}.{attempt}.json").read_text())
        for attempt in range(2)
    )
    assert first == second
    assert {row[-1] for row in first} == {"delete", "insert"}
    end = json.loads((tmp_path / "end.json").read_text())
    assert (
        end["target"]
        == end["expected"]
        == [[1, 11, "Cem"], [3, 30, None], [4, 40, None], [5, 50, "Cem"]]
    )


def run(folder: Path, name: str, *arguments: str) -> int:
    return spawn("tests.delta.job", str(folder), *arguments, log=folder / f"{name}.log").wait(300)
