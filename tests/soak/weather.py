"""What goes wrong when, drawn from a seed: rounds in which each thing happens, in another order."""

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
    """Waves between the happening before and this one."""
    event: Event
    strength: float
    """From 0 to 1: how long a pause, a stall or a delay before a kill, how large a burst."""


def happenings(seed: int) -> Iterator[Happening]:
    rng = Random(f"weather/{seed}")
    while True:
        for event in rng.sample(ROUND, len(ROUND)):
            yield Happening(rng.randint(LEAST_WAVES, MOST_WAVES), event, rng.random())
