"""Runs and kills the changelog pipeline, checks all output, and watches for growth."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Literal

from tests.soak.changelog import pipeline, rows
from tests.soak.changelog.oracle import Oracle
from tests.soak.changelog.pipeline import Change
from tests.soak.driver import Driver
from tests.soak.lines import Lines
from tests.soak.oracle import WrongResultError
from tests.soak.outcome import ChangesOutcome
from tests.soak.run import QUIET_SHARE, SAMPLE_EVERY_S, SILENT_FOR_S
from tests.soak.vitals import size

StateFormat = Literal["segments", "rocksdb"]
LEAST_BATCHES_ALIVE, MOST_BATCHES_ALIVE = 3, 24
INPUTS = 3


class ChangesSoak:
    def __init__(
        self,
        folder: Path,
        seed: int,
        minutes: float,
        state_format: StateFormat,
        trigger: str = "500 milliseconds",
    ) -> None:
        self.outcome = ChangesOutcome(seed, minutes)
        self._folder = folder
        folder.mkdir(parents=True)
        self._driver = Driver("tests.soak.changelog.job", folder, state_format, trigger)
        self._rng = Random(f"changelog/{seed}")
        self._oracle = Oracle()
        self._progress = Lines(folder / "progress.jsonl")
        self._vitals = Lines(folder / "vitals.jsonl")
        self._started = self._last_news = self._next_sample = time.monotonic()
        self._began = time.time()
        self._state: dict[str, float] = {}

    def run(self) -> ChangesOutcome:
        """Run for the requested minutes; the outcome contains any failure."""
        outcome = self.outcome
        try:
            self._driver.start()
            while self._seconds < outcome.minutes * 60 * (1 - QUIET_SHARE):
                self._live(self._rng.randint(LEAST_BATCHES_ALIVE, MOST_BATCHES_ALIVE))
                self._end_a_life()
            while self._seconds < outcome.minutes * 60:
                self._look()
            self._driver.stop()
            self._take_in()
        except Exception as error:
            outcome.failure = f"{type(error).__name__}: {error}"
        finally:
            self._driver.kill()
            outcome.seconds = self._seconds
            outcome.changes = outcome.batches * INPUTS * rows.A_BATCH
            outcome.driver_starts = self._driver.starts
            outcome.watch_growth()
        return outcome

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _live(self, batches: int) -> None:
        until = self.outcome.batches + batches
        while self.outcome.batches < until:
            self._look()

    def _end_a_life(self) -> None:
        killed = self._rng.random() < 2 / 3
        event = "driver killed" if killed else "driver restarted"
        self.outcome.happened.append({"at": time.time() - self._began, "event": event})
        if killed:
            time.sleep(self._rng.random())
            self._driver.kill()
        else:
            self._driver.stop()
        self._driver.start()

    def _look(self) -> None:
        time.sleep(0.05)
        self._driver.check()
        self._take_in()

    def _take_in(self) -> None:
        now = time.monotonic()
        for changes in self._finished():
            self._oracle.take(self.outcome.batches, changes)
            self.outcome.batches += 1
            self.outcome.checked_batches += 1
            self.outcome.emitted += len(changes)
            self._last_news = now
        if now - self._last_news > SILENT_FOR_S:
            raise RuntimeError(f"no news for {SILENT_FOR_S} s")
        for report in self._progress.new():
            held = report["stateOperators"]
            self._state = {
                "buffered_rows": sum(each["numRowsTotal"] for each in held),
                "state_bytes": sum(each["memoryUsedBytes"] for each in held),
            }
        for vitals in self._vitals.new():
            self.outcome.vitals.append(vitals | {"at": vitals["at"] - self._began})
        if now >= self._next_sample and self._state:
            self._next_sample = now + SAMPLE_EVERY_S
            files, total = size(self._folder / "checkpoint")
            where = {"at": time.time() - self._began, "batches": self.outcome.batches}
            on_disk = {"checkpoint_files": files, "checkpoint_bytes": total}
            self.outcome.samples.append(where | self._state | on_disk)

    def _finished(self) -> Iterator[list[Change]]:
        """The changes of newly finished batches; deletes their files."""
        for number in range(self.outcome.batches, pipeline.finished(self._folder)):
            first, *again = pipeline.attempts(self._folder, number)
            if any(Counter(each) != Counter(first) for each in again):
                raise WrongResultError(f"batch {number} is another one when it runs again")
            self.outcome.replayed += bool(again)
            yield first
            shutil.rmtree(self._folder / "table" / f"batch={number}")
