"""Starts the job, lands files while it runs, and kills it at moments drawn from a seed.

A moment is identified by what the job has done (a batch was planned, its output was written, it was
committed, maintenance began to write a state as one file) and a delay after that. Nothing here
depends on how fast the machine is: each thing that is waited for comes sooner or later, and a job
from which nothing comes fails the test.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from tests.crash.whole import write_whole
from tests.differential.case import Case, Step, to_json
from tests.differential.feeds import Landing
from tests.differential.rows import closing
from tests.processes import spawn

SILENT_FOR_S = 240
LANDS_AFTER_S = 3
MOST_BATCHES = 3
STEPS_FOR_EACH_PROCESS = 8
"""Every step lands a file of at least one of three inputs, and every batch reads at most one file
of each: enough steps for the most batches that a kill waits for."""
Phase = Literal["planned", "written", "committed", "merging", "spreading"]
"""``spreading``: a hot-key file names keys to spread from a batch that has no task yet."""


@dataclass(frozen=True)
class Kill:
    batches: int
    """The number of batches after those planned at the start of the process; 0: the batch that runs
    again, if there is one."""
    phase: Phase
    delay_ms: int


def draw_kills(rng: Random, count: int) -> list[Kill]:
    return [_draw_kill(rng) for _ in range(count)]


def _draw_kill(rng: Random) -> Kill:
    batches = rng.randint(0, MOST_BATCHES)
    # A batch that runs again is already planned.
    phases: list[Phase] = ["written", "committed"]
    if batches:
        phases += ["planned", "planned", "merging"]
    return Kill(batches, rng.choice(phases), rng.choice([0, 0, rng.randint(1, 300)]))


class Director:
    def __init__(
        self,
        case: Case,
        folder: Path,
        kills: Sequence[Kill],
        *job_options: str,
        python: str = sys.executable,
    ) -> None:
        self.case = case
        self.folder = folder
        self.landing = Landing(case, folder / "source")
        self._kills = list(kills)
        self._job_options = job_options
        self._python = python
        self.unfinished: list[int] = []
        """Batches that were planned but not committed when a process was killed."""
        self._steps = [*case.steps]
        self._processes = 0
        for name in ("output", "progress"):
            (folder / name).mkdir()
        write_whole(folder / "case.json", to_json(case))

    def direct(self) -> None:
        for kill in self._kills:
            self._run(kill)
        self._run(None)

    @property
    def log(self) -> Path:
        return self.folder / f"job-{self._processes}.log"

    def spread_from(self) -> set[int]:
        """The batches from which the rows of additional keys are spread."""
        state = self.folder / "checkpoint" / "state"
        return {int(path.name) for path in state.glob("*/_hotKeys/[0-9]*")}

    def _run(self, kill: Kill | None) -> None:
        self._processes += 1
        process = self._start()
        try:
            if kill is None:
                self._run_to_the_end(process)
            else:
                self._run_until(process, kill)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        options = (str(self.folder), *self._job_options)
        return spawn("tests.crash.job", *options, log=self.log, python=self._python)

    def _run_until(self, process: subprocess.Popen[bytes], kill: Kill) -> None:
        """Land this process's share of the files until the moment, and the rest after the kill."""
        share = self._steps[:STEPS_FOR_EACH_PROCESS]
        del self._steps[: len(share)]
        planned = len(self._in_checkpoint("offsets"))
        unfinished = planned > len(self._in_checkpoint("commits"))
        batch = planned - 1 + (kill.batches if unfinished else max(1, kill.batches))
        self._land_and_wait(process, share, self._moment(kill.phase, batch))
        time.sleep(kill.delay_ms / 1000)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        self.unfinished += self._in_checkpoint("offsets") - self._in_checkpoint("commits")
        for step in share:
            self._land(step)

    def _run_to_the_end(self, process: subprocess.Popen[bytes]) -> None:
        steps = [*self._steps, *closing(self.case)]
        self._land_and_wait(process, steps, lambda: not steps)
        (self.folder / "complete").touch()
        self._land_and_wait(process, [], lambda: process.poll() is not None)
        if process.returncode != 0:
            raise self._died(process)

    def _moment(self, phase: Phase, batch: int) -> Callable[[], bool]:
        if phase == "written":
            written = len(self._attempts(batch))
            return lambda: len(self._attempts(batch)) > written
        if phase == "merging":
            merged = self._merged()
            return lambda: not self._merged() <= merged
        if phase == "spreading":
            noted = self.spread_from()
            return lambda: not self.spread_from() <= noted
        log = "offsets" if phase == "planned" else "commits"
        return lambda: batch in self._in_checkpoint(log)

    def _land_and_wait(
        self,
        process: subprocess.Popen[bytes],
        steps: list[Step],
        done: Callable[[], bool],
    ) -> None:
        """Land the steps one after the other until ``done``; landed steps leave the list."""
        last_news = last_landing = time.monotonic()
        seen = -1
        while not done():
            if process.poll() not in (None, 0):
                raise self._died(process)
            news = len(self._in_checkpoint("offsets")) + len(self._in_checkpoint("commits"))
            now = time.monotonic()
            if now - last_news > SILENT_FOR_S:
                raise self._died(process)
            # Files land as the job proceeds, and also while it is idle.
            if steps and (news != seen or now - last_landing > LANDS_AFTER_S):
                self._land(steps.pop(0))
                last_landing = now
            if news != seen:
                seen, last_news = news, now
            time.sleep(0.005)

    def _land(self, step: Step) -> None:
        for alias, rows in step.items():
            self.landing.land(alias, rows)

    def _in_checkpoint(self, log: str) -> set[int]:
        return {int(path.name) for path in (self.folder / "checkpoint" / log).glob("[0-9]*")}

    def _merged(self) -> set[str]:
        """The merged state files of all partitions, including those being written."""
        state = self.folder / "checkpoint" / "state"
        return {path.name for kind in ("whole", "range") for path in state.glob(f"*/*/*.{kind}*")}

    def _attempts(self, batch: int) -> list[Path]:
        return list((self.folder / "output").glob(f"{batch}.*.json"))

    def _died(self, process: subprocess.Popen[bytes]) -> RuntimeError:
        tail = self.log.read_text(errors="replace")[-4000:]
        return RuntimeError(
            f"job ended with {process.poll()} or hangs; the end of its log:\n{tail}"
        )
