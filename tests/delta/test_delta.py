"""Joins with Delta's change data feed.

examples/delta_tables.py joins two Delta tables into a third, is killed and restarted. A temporal
join reads the versions of a table.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.delta.job import jars
from tests.differential.options import DEFAULT_KILLS
from tests.parameters import STATE_FORMATS
from tests.processes import spawn

KILLED = 3


def test_delta_target_equals_the_batch_join_after_a_kill(tmp_path: Path) -> None:
    # The batch is merged but not committed: it runs again and merges the same changes again.
    end = killed_and_again(tmp_path, "segments", "0", str(KILLED), "0")
    first, second = attempts(tmp_path, KILLED)
    assert first == second
    assert {row[-1] for row in first} == {"delete", "insert"}
    assert (
        end["target"]
        == end["expected"]
        == [[1, 11, "Cem"], [3, 30, None], [4, 40, None], [5, 50, "Cem"]]
    )


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_delta_target_equals_the_batch_join_after_random_kills(
    state_format: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """One kill for each twenty of ``--crash-kills``, because two Delta processes take time."""
    seed: int = pytestconfig.option.crash_seed
    kills = pytestconfig.option.crash_kills
    if kills <= DEFAULT_KILLS:
        pytest.skip(f"--crash-kills is not more than {DEFAULT_KILLS}")
    rng = Random(f"delta/{state_format}/{seed}")
    for number in range(-(-kills // 20)):
        statements, batch = rng.randrange(1, 2**31), rng.randrange(4)
        delay_ms = rng.choice([0, rng.randint(1, 2000)])
        folder = tmp_path / str(number)
        folder.mkdir()
        end = killed_and_again(folder, state_format, str(statements), str(batch), str(delay_ms))
        again = f"{state_format}, statements {statements}, {delay_ms} ms after batch {batch}"
        assert end["target"] == end["expected"], again
        for each in {int(path.name.split(".")[0]) for path in (folder / "changes").iterdir()}:
            first, *others = attempts(folder, each)
            assert all(other == first for other in others), f"batch {each}: {again}"


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_temporal_join_reads_the_delta_version_at_the_order_time(
    state_format: str, tmp_path: Path
) -> None:
    require_jars()
    log = tmp_path / "versions.log"
    ended = spawn("tests.delta.versions_job", str(tmp_path), state_format, log=log).wait(300)
    assert ended == 0, log.read_text()[-4000:]
    end = json.loads((tmp_path / "end.json").read_text())
    assert end["found"] == end["expected"]
    rates = {rate for _, rate in end["expected"]}
    assert rates == {None, 0.8, 1.0, 1.05, 1.1, 1.2, 1.3}


def test_query_starts_from_versions_of_its_tables(tmp_path: Path) -> None:
    require_jars()
    log = tmp_path / "history.log"
    ended = spawn("tests.delta.history_job", str(tmp_path), log=log).wait(300)
    assert ended == 0, log.read_text()[-4000:]
    end = json.loads((tmp_path / "end.json").read_text())
    assert end["found"] == [[1, 1], [2, None], [9, 9]]
    assert "Set the option startingVersion of the stream to '2'" in end["refused"]
    assert "streamJoin: " in end["told"][-1]


def require_jars() -> None:
    if not jars():
        pytest.fail("the jars of Delta are missing: make kafka-jars")


def killed_and_again(folder: Path, *arguments: str) -> dict[str, Any]:
    """The final result of a process that continues after a killed one."""
    require_jars()
    killed = run(folder, "killed", *arguments)
    assert killed == -signal.SIGKILL, (folder / "killed.log").read_text()[-4000:]
    again = run(folder, "again", *arguments[:2])
    assert again == 0, (folder / "again.log").read_text()[-4000:]
    end: dict[str, Any] = json.loads((folder / "end.json").read_text())
    return end


def attempts(folder: Path, batch: int) -> list[list[list[str]]]:
    return [json.loads(path.read_text()) for path in (folder / "changes").glob(f"{batch}.*.json")]


def run(folder: Path, name: str, *arguments: str) -> int:
    return spawn("tests.delta.job", str(folder), *arguments, log=folder / f"{name}.log").wait(300)
