"""The verdict of a run, on synthetic outcomes: success requires enough batches and faults."""

from __future__ import annotations

from typing import Any

import pytest

from tests.soak.outcome import (
    LEAST_BATCHES,
    OF_THE_RUN,
    STEADY_AFTER,
    OrdersOutcome,
)
from tests.soak.plot import MARKS, drawn


def outcome(batches: int = 200, failure: str | None = None, **events: int) -> OrdersOutcome:
    """A run with these events, by default just enough of them, and a steady driver."""
    given = {name.replace("_", " "): number for name, number in events.items()}
    count = OrdersOutcome.least_events | given
    happened = [
        {"at": 10.0 * number, "event": event}
        for event, times in count.items()
        for number in range(times)
    ]
    samples: list[dict[str, Any]] = [
        {"at": 1.0 * n, "batches": n, **dict.fromkeys(OF_THE_RUN, 100.0)} for n in range(batches)
    ]
    made = OrdersOutcome(1, 1, checked_batches=batches, happened=happened, samples=samples)
    made.driver_starts = 1
    made.vitals = [{"life": 1, "at": 1.0 * n, "batches": n, "heap": 1e8} for n in range(batches)]
    made.failure = failure
    made.watch_growth()
    return made


def test_verdict_of_a_successful_run() -> None:
    assert outcome().verdict == "as it should be"


@pytest.mark.parametrize(
    ("run", "lacking"),
    [
        (outcome(batches=8), f"8 batches of {LEAST_BATCHES}, too few values to see anything grow"),
        (outcome(batches=STEADY_AFTER + 20), "too few values to see anything grow"),
        (outcome(driver_killed=0), "driver killed 0 times of 2"),
        (outcome(broker_killed=0), "broker killed 0 times of 1"),
    ],
)
def test_verdict_of_a_run_that_is_too_short(run: OrdersOutcome, lacking: str) -> None:
    assert run.verdict == f"nothing wrong so far, too short to tell: {lacking}"


def test_failure_is_the_verdict_even_of_a_short_run() -> None:
    assert outcome(batches=1, failure="WrongResultError: 1 row too many").verdict == (
        "WrongResultError: 1 row too many"
    )


def test_picture_legend_names_every_line() -> None:
    [legend] = drawn(outcome(driver_restarted=1)).legends
    assert {text.get_text() for text in legend.get_texts()} == {
        "the run",
        "a life of the driver",
        "its trend (thick: grows)",
        *MARKS,
    }
