"""Queries of this process, of whose checkpoint an operation on a file fails: see ``jvm/``.

What a query has written when it fails stays as it is. It starts again from there, often as another
process, for which nothing of the old one works any more.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tests.differential import runner
from tests.differential.case import Case
from tests.differential.rows import closing
from tests.differential.runner import BuildStream, Runner
from tests.streams import Run

T = TypeVar("T")
PROCESSES = count()


class Faults:
    """The faults of one query, up to a limit."""

    def __init__(self, spark: SparkSession, rng: Random, most: int) -> None:
        jvm: Any = spark._jvm
        self._files = jvm.io.streamjoin.faults.FaultyFiles
        self._rng = rng
        self._most = most
        self._process = f"p{next(PROCESSES)}"
        self._armed = False
        self._shaken = False
        """Whether the last attempt succeeded although an operation failed: the next one may not."""
        self.told: list[str] = []
        """What has failed."""

    def location(self, checkpoint: Path) -> str:
        """The checkpoint as the current process names it."""
        return f"faulty://{self._process}{checkpoint}"

    def survive(self, attempt: Callable[[], T]) -> T:
        """Try again as long as it fails because of a fault."""
        while True:
            if not self._armed and len(self.told) < self._most:
                self._arm()
            try:
                result = attempt()
            except Exception:
                if not (self._has_fired() or self._shaken):
                    raise
                self._shaken = self._armed = False
                self._files.revive(self._process)
                if self._rng.random() < 0.6:
                    self._process = f"p{next(PROCESSES)}"
            else:
                self._shaken = self._has_fired()
                return result

    def _arm(self) -> None:
        rng = self._rng
        operation = rng.randint(1, rng.choice([8, 40, 160, 160]))
        after, dies = rng.random() < 0.4, rng.random() < 0.7
        self._files.arm(self._process, operation, after, dies)
        self._armed = True
        self._next = (
            f"{self._process}, operation {operation}, {'after' if after else 'before'} its effect"
            f"{', and all later ones' if dies else ''}"
        )

    def _has_fired(self) -> bool:
        """Whether an operation of the current process has failed since it was started."""
        where = self._files.fired(self._process)
        if where and self._armed:
            self.told.append(f"{self._next}: {where}")
            self._armed = False
        return bool(where)


class FaultyRunner(Runner):
    """Runs a case without its own restarts."""

    def __init__(
        self, case: Case, spark: SparkSession, folder: Path, build: BuildStream, faults: Faults
    ) -> None:
        super().__init__(case, spark, folder, build)
        self._faults = faults
        self._query: StreamingQuery | None = None

    @property
    def location(self) -> str:
        return self._faults.location(self.checkpoint)

    def run(self) -> runner.Run:
        try:
            for step in (*self.case.steps, *closing(self.case)):
                self.feed.add(step)
                self._faults.survive(self._attempt)
        finally:
            self._end()
        return self._recorded()

    def _attempt(self) -> None:
        try:
            if self._query is None:
                self._query = self._start()
            self._work_off(self._query)
        except Exception:
            self._end()
            raise

    def _end(self) -> None:
        if self._query is not None:
            self._stop(self._query)
        self._query = None


class FaultyRun(Run):
    """Each of its steps is a start of the query, or several."""

    def __init__(self, result: DataFrame, checkpoint: Path, faults: Faults) -> None:
        super().__init__(result, checkpoint)
        self._faults = faults

    @property
    def location(self) -> str:
        return self._faults.location(self.checkpoint)

    def step(self, **trigger: Any) -> dict[int, list[tuple[Any, ...]]]:
        return self._faults.survive(lambda: super(FaultyRun, self).step(**trigger))
