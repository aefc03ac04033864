"""A changelog join that is killed repeats each batch exactly and ends with the right table."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.differential.changelog_plans import ChangelogFeed, expected
from tests.differential.changelogs import ChangelogCase, generate
from tests.parameters import STATE_FORMATS
from tests.processes import spawn

SILENT_FOR_S = 240
ADDED = ("insert", "update_postimage")


class Director:
    """Lands a batch, and kills the process at a moment while it processes the batch."""

    def __init__(self, case: ChangelogCase, feed: ChangelogFeed, folder: Path, state: str) -> None:
        self.case = case
        self.feed = feed
        self.folder = folder
        self.state = state
        self.batches = [batch for start in case.starts for batch in start]
        self.starts = 0
        (folder / "output").mkdir()

    def kill(self, phase: str, delay_ms: int) -> None:
        process = self._start()
        before = self._seen(phase)
        if self.batches:
            self.feed.land(self.batches.pop(0))
        self._wait(process, lambda: self._seen(phase) > before)
        time.sleep(delay_ms / 1000)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL

    def finish(self) -> None:
        while self.batches:
            self.feed.land(self.batches.pop(0))
        (self.folder / "complete").touch()
        process = self._start()
        self._wait(process, lambda: process.poll() is not None)
        assert process.returncode == 0, self._log().read_text(errors="replace")[-4000:]

    def attempts(self) -> dict[int, list[list[Any]]]:
        found: dict[int, list[list[Any]]] = {}
        for path in sorted((self.folder / "output").glob("*.json")):
            batch = int(path.name.split(".")[0])
            found.setdefault(batch, []).append(json.loads(path.read_text()))
        return found

    def _log(self) -> Path:
        return self.folder / f"job-{self.starts}.log"

    def _start(self) -> subprocess.Popen[bytes]:
        self.starts += 1
        case = self.case
        arguments = (str(self.folder), str(case.seed), str(case.index), self.state)
        return spawn("tests.crash.changes_job", *arguments, log=self._log())

    def _seen(self, phase: str) -> int:
        if phase == "written":
            return len(list((self.folder / "output").glob("*.json")))
        log = {"planned": "offsets", "committed": "commits"}[phase]
        return len(list((self.folder / "checkpoint" / log).glob("[0-9]*")))

    def _wait(self, process: subprocess.Popen[bytes], done: Callable[[], bool]) -> None:
        until = time.monotonic() + SILENT_FOR_S
        try:
            while not done():
                if process.poll() not in (None, 0) or time.monotonic() > until:
                    pytest.fail(self._log().read_text(errors="replace")[-4000:])
                time.sleep(0.005)
        except BaseException:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            raise


def wide(seed: int, rng: Random, batches: int) -> ChangelogCase:
    """Draw a case with at least that many batches."""
    while True:
        case = generate(seed, rng.randrange(10_000))
        if case.well_formed and sum(map(len, case.starts)) >= batches:
            return case


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_changes_are_exact_after_kills(
    state_format: str, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    seed: int = pytestconfig.option.crash_seed
    kills = -(-pytestconfig.option.crash_kills // 6)
    rng = Random(f"changes/{state_format}/{seed}")
    # A case has few batches, so more kills need more cases.
    for number in range(-(-kills // 4)):
        folder = tmp_path / str(number)
        folder.mkdir()
        case = wide(seed, rng, 6)
        feed = ChangelogFeed(case, spark, folder / "source")
        director = Director(case, feed, folder, state_format)
        moments = [
            (rng.choice(["planned", "written", "committed"]), rng.choice([0, rng.randint(1, 300)]))
            for _ in range(min(4, kills - 4 * number))
        ]
        for phase, delay_ms in moments:
            director.kill(phase, delay_ms)
        director.finish()
        again = f"{case}\nkills: {moments}"
        table: Counter[tuple[Any, ...]] = Counter()
        for _, attempts in sorted(director.attempts().items()):
            first, *others = (sorted(map(json.dumps, rows)) for rows in attempts)
            assert all(other == first for other in others), again
            for *row, kind in map(json.loads, first):
                table[tuple(row)] += 1 if kind in ADDED else -1
        last = len(case.tables) - 1
        results = expected(case, spark).collect()
        right = Counter(tuple(row) for batch, *row in results if batch == last)
        assert Counter({row: n for row, n in table.items() if n}) == right, again
