"""The schedule of faults, drawn from a seed: rounds with each fault once, in random order."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Literal, NamedTuple, get_args

Event = Literal[
    "driver killed",
    "driver restarted",
    "broker killed",
    "pause",
    "burst",
    "topic stalls",
]
ROUND: tuple[Event, ...] = (*get_args(Event), "driver killed", "burst")
OF_THE_DRIVER: tuple[Event, ...] = ("driver killed", "driver restarted")
LEAST_WAVES, MOST_WAVES = 3, 12


class Happening(NamedTuple):
    after_waves: int
    """Waves between the previous happening and this one."""
    event: Event
    strength: float
    """From 0 to 1: the length of a pause, stall or delay before a kill, or the size of a burst."""


def happenings(seed: int) -> Iterator[Happening]:
    rng = Random(f"weather/{seed}")
    while True:
        for event in rng.sample(ROUND, len(ROUND)):
            yield Happening(rng.randint(LEAST_WAVES, MOST_WAVES), event, rng.random())
