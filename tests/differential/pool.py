"""Runs cases ahead of the tests that ask for them, a few at once.

A case waits for the disk much of its time, so two at once keep two cores busy; yet each case is a
test of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.differential.case import Case
from tests.differential.check import Verdict


def wanted(request: pytest.FixtureRequest) -> list[Case]:
    """Give the cases of all collected tests that want verdicts."""
    return [
        item.callspec.params["case"]  # type: ignore[misc]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "verdicts" in item.fixturenames
    ]


class Pool:
    def __init__(self, cases: Sequence[Case], jobs: int, work: Callable[[Case], Verdict]) -> None:
        self._waiting = list(cases)
        self._ahead = 2 * jobs
        self._work = work
        self._executor = ThreadPoolExecutor(jobs)
        self._running: dict[str, Future[Verdict]] = {}

    def verdict(self, case: Case) -> Verdict:
        """Give the verdict on a case, or raise what it raised."""
        if case.name not in self._running:
            self._waiting = [each for each in self._waiting if each.name != case.name]
            self._submit(case)
        while self._waiting and len(self._running) < self._ahead:
            self._submit(self._waiting.pop(0))
        return self._running.pop(case.name).result()

    def _submit(self, case: Case) -> None:
        self._running[case.name] = self._executor.submit(self._work, case)

    def close(self) -> None:
        self._executor.shutdown(cancel_futures=True)
