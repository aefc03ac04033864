"""The rule that detects unbounded growth, on synthetic figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import exp
from random import Random

import pytest

from tests.soak.growth import LEAST_VALUES, trend
from tests.soak.outcome import OF_THE_DRIVERS_LIFE, OF_THE_RUN, STEADY_AFTER, Outcome, growth

COUNT = 60
Series = Callable[[int, Random], float]
STEADY: dict[str, Series] = {
    "constant": lambda n, rng: 100,
    "zero": lambda n, rng: 0,
    "noise": lambda n, rng: rng.uniform(50, 150),
    "spikes": lambda n, rng: 1000 if rng.random() < 0.2 else 100,
    "saw": lambda n, rng: 100 + n % 13 * 5,
    "fills up to a level": lambda n, rng: 400 * (1 - exp(-n / 12)),
    "a step during the warm-up": lambda n, rng: 100 if n < COUNT // 5 else 300,
    "falls": lambda n, rng: 300 - 2 * n,
    "a rise that the slack allows": lambda n, rng: n / 10,
}
GROWING: dict[str, Series] = {
    "line from nothing": lambda n, rng: 10 * n,
    "line on top of what is there": lambda n, rng: 200 + 5 * n,
    "line below noise": lambda n, rng: 200 + 5 * n + rng.uniform(-60, 60),
    "line below spikes": lambda n, rng: 200 + 5 * n + (1000 if rng.random() < 0.1 else 0),
    "steps": lambda n, rng: 100 + n // 10 * 50,
    "square": lambda n, rng: n * n,
}
SLACK = 10


def grows(series: Series, seed: int) -> bool:
    rng = Random(seed)
    seen = trend([series(n, rng) for n in range(COUNT)])
    assert seen is not None
    return seen.grows(SLACK)


@pytest.mark.parametrize("name", STEADY)
def test_steady_series_is_not_reported(name: str) -> None:
    assert [seed for seed in range(200) if grows(STEADY[name], seed)] == []


@pytest.mark.parametrize("name", GROWING)
def test_growing_series_is_reported(name: str) -> None:
    assert [seed for seed in range(200) if not grows(GROWING[name], seed)] == []


def test_trend_needs_a_minimum_of_values() -> None:
    assert trend([10.0 * n for n in range(LEAST_VALUES - 1)]) is None
    assert trend([10.0 * n for n in range(LEAST_VALUES)]) is not None


def test_trend_of_many_values_is_fitted() -> None:
    seen = trend([100 + n / 100 for n in range(10_000)])
    assert seen is not None
    assert seen.grows(SLACK)
    assert (round(seen.begin), round(seen.end)) == (125, 200)


def outcome(leaks: str, by: float, batches: int = 100) -> Outcome:
    """A run with one sample for each batch; the driver is killed half-way."""

    def figures(batch: int, names: Iterable[str]) -> dict[str, float]:
        return {name: 1e9 + (by * batch if name == leaks else 0) for name in names}

    half = batches // 2
    return Outcome(
        seed=1,
        minutes=1,
        driver_starts=2,
        samples=[{"batches": n, **figures(n, OF_THE_RUN)} for n in range(batches)],
        vitals=[
            {"life": life, "batches": n, **figures(n, OF_THE_DRIVERS_LIFE)}
            for life in (1, 2)
            for n in range(half if life == 1 else batches)
        ],
    )


@pytest.mark.parametrize("what", [*OF_THE_RUN, *OF_THE_DRIVERS_LIFE])
def test_growing_figure_of_a_run_is_named(what: str) -> None:
    growing = [(each["what"], each["of"]) for each in growth(outcome(what, 1e8)) if each["grows"]]
    assert growing == [(what, "run" if what in OF_THE_RUN else "driver 2")]
    assert not any(each["grows"] for each in growth(outcome(what, 0)))


def test_run_of_too_few_batches_has_no_growth_figures() -> None:
    assert growth(outcome("heap", 1e8, batches=STEADY_AFTER)) == []
