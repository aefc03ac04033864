"""Random arrivals: disorder, late rows, duplicates, nulls, skew, idle stretches, bursts.

With groups, in a column ``c``, each group has its own keys, ties, disorder, pauses and rate. The
watermarks are those of the whole input. So its groups share the clock, and the latest time of a
step: else the fastest group would make all rows of the others late.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random

from tests.differential.case import SENTINEL, Case, Input, Row, Step
from tests.differential.instants import far

CLOSING_STEPS = 2
MORE_CLOSING_STEPS = 3
GROUPS = (0, 1, None)
"""The values of the column ``g``."""
KEYS: dict[str, list[str]] = {
    "int": ["0", "1", "2", "3", "4"],
    "bigint": ["0", "1", "2", "3", "9000000000"],
    "string": ["a", "b", "A", "", "long enough to be stored elsewhere"],
    "double": ["0.0", "-0.0", "NaN", "1.5", "2.0"],
    "float": ["-0.0", "0.0", "NaN", "1.5", "2.0"],
    "decimal": ["0.00", "1.00", "2.00", "-3.25", "99999999.99"],
    "binary": ["a", "A", "", "\u00e9", "long enough to be stored elsewhere"],
    "collated": ["a", "A", "b", "B", ""],
    "struct": ["0", "1", "2", "3", "4"],
}


def arrivals(rng: Random, case: Case, count: int) -> tuple[Step, ...]:
    """Draw the arrivals of a number of steps."""
    steps: list[Step] = [{} for _ in range(count)]
    common = _common(rng)
    if not case.groups:
        for alias in case.fed:
            _Stream(rng, case, case.input(alias), count, common).fill(steps)
        return tuple(steps)
    whole = {alias: _Stream(rng, case, case.input(alias), count, common) for alias in case.fed}
    paces = {alias: stream.pace(count) for alias, stream in whole.items()}
    for group in range(case.groups):
        own = Random(f"{case.seed}/{case.index}/group {group}")
        common = _common(own)
        for alias in case.fed:
            stream = _Stream(own, case, case.input(alias), count, common, group, paces[alias])
            stream.idle = whole[alias].idle or stream.idle
            stream.fill(steps)
    for step in steps:
        for rows in step.values():
            rng.shuffle(rows)
    return tuple(steps)


def _common(rng: Random) -> _Common:
    return _Common(rng.uniform(1.5, 7), rng.choice([1, 2, 2, 3, 3, 5]))


def closing(case: Case) -> tuple[Step, ...]:
    """Steps after which every row of the case has expired.

    Two of them: should a join hand on its last padded rows a batch later than the watermark that
    released them, then the second closes the joins above it. Spark's own aggregations give a window
    out a batch after the watermark has passed it.
    """
    windows = case.above == "windows" or any("windows" in each.below for each in case.inputs)
    count = MORE_CLOSING_STEPS if windows else CLOSING_STEPS
    return tuple(
        {alias: sentinels(case, case.input(alias), n) for alias in case.fed}
        for n in range(1, count + 1)
    )


def sentinels(case: Case, source: Input, round_: int) -> list[Row]:
    """One row, or one for each group of a watermark."""
    row = _sentinel(case, source, round_)
    grouped = any(time.per == "g" for time in source.times)
    return [{**row, "g": g} for g in GROUPS] if grouped else [row]


def _sentinel(case: Case, source: Input, round_: int) -> Row:
    key = "of its own" if source.key in ("string", "collated", "binary") else "-7"
    row: Row = {"id": f"{source.alias}{SENTINEL}{round_}", "k": key, "g": -1, "p": 0, "q": 0}
    if case.groups:
        row["c"] = -1
    for time in source.times:
        row[time.name] = far(case, time.kind, round_)
    return row


@dataclass
class _Common:
    """What the inputs of a case share, so that their rows meet."""

    speed: float
    keys: int
    events: list[tuple[str | None, int]] = field(default_factory=list)


Pace = list[tuple[float, float]]
"""The clock of each step, and the latest time of its rows."""


class _Stream:
    def __init__(
        self,
        rng: Random,
        case: Case,
        source: Input,
        steps: int,
        common: _Common,
        group: int | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.rng = rng
        self.group = group
        self.shared = pace
        self.latest = math.inf
        self.source = source
        self.common = common
        self.keys = KEYS[source.key][: common.keys]
        self.same_kind = len({time.kind for time in source.times}) == 1
        self.rate = rng.choice([2, 5, 7, 9] if len(case.inputs) == 2 else [4, 7])
        self.speed = common.speed * rng.uniform(0.8, 1.25)
        # Inputs ahead of and behind each other: what keyed watermarks are for.
        self.clock = rng.choice([rng.uniform(-3, 3), rng.uniform(-3, 3), rng.uniform(-20, 20)])
        self.hot = rng.choice(self.keys) if rng.random() < 0.3 else None
        self.disorder = rng.randint(0, 12)
        self.idle = self._idle(steps)
        self.sent: list[Row] = []

    def _idle(self, steps: int) -> range:
        if self.rng.random() < 0.6:
            return range(0)
        start = self.rng.randrange(steps)
        return range(start, start + self.rng.randint(1, 4))

    def pace(self, steps: int) -> Pace:
        return [(self._tick(), self.clock + self.rng.uniform(0, 5)) for _ in range(steps)]

    def _tick(self) -> float:
        jump = 4 if self.rng.random() < 0.1 else 1
        self.clock += self.speed * jump
        return self.clock

    def fill(self, steps: list[Step]) -> None:
        for number, step in enumerate(steps):
            if self.shared is None:
                self._tick()
            else:
                self.clock, self.latest = self.shared[number]
            if number not in self.idle:
                size = self.rng.randint(0, 2 * self.rate)
                prefix = "" if self.group is None else f"{self.group}:"
                rows = [self._row(f"{prefix}{number}.{n}") for n in range(size)]
                step.setdefault(self.source.alias, []).extend(rows)

    def _row(self, number: str) -> Row:
        rng = self.rng
        if self.sent and rng.random() < 0.06:
            # The same content once more; now and then the whole row, id and all.
            again = dict(rng.choice(self.sent))
            return again if rng.random() < 0.3 else {**again, "id": f"{self.source.alias}{number}"}
        key, t = self._key_and_time()
        row: Row = {
            "id": f"{self.source.alias}{number}",
            "k": key,
            "g": self._maybe(rng.randint(0, 1)),
            "p": self._maybe(rng.randint(0, 6)),
            "q": rng.choice([None, 0, 1]),
            **self._times(t),
        }
        if self.group is not None:
            row["c"] = self.group
        self.common.events.append((key, t))
        self.sent.append(row)
        return row

    def _maybe(self, value: int, null: float = 0.08) -> int | None:
        return None if self.rng.random() < null else value

    def _key(self) -> str | None:
        if self.rng.random() < 0.08:
            return None
        if self.hot is not None and self.rng.random() < 0.5:
            return self.hot
        return self.rng.choice(self.keys)

    def _key_and_time(self) -> tuple[str | None, int]:
        # keys of another type may be none of this one
        near = [
            (key, t)
            for key, t in self.common.events
            if abs(t - self.clock) < 10 and (key is None or key in self.keys)
        ]
        if near and self.rng.random() < 0.4:
            key, t = self.rng.choice(near)
            return key, self._possible(t + self.rng.choice([0, 0, self.rng.randint(-8, 8)]))
        return self._key(), self._time()

    def _possible(self, t: int) -> int:
        return t if t <= self.latest else math.floor(self.latest)

    def _times(self, t: int) -> Row:
        times = {"t": t}
        for name in (time.name for time in self.source.times if time.name != "t"):
            if name == "e":
                times["e"] = t + self.rng.choice([-2, 0, 1, 3, 8, 30])
            else:
                near = self.same_kind
                times[name] = self._possible(t + self.rng.randint(-5, 5)) if near else self._time()
        return {name: self._maybe(value, 0.05) for name, value in times.items()}

    def _time(self) -> int:
        rng = self.rng
        chance = rng.random()
        if chance < 0.7:
            return self._possible(round(self.clock - rng.uniform(0, self.disorder)))
        if chance < 0.85:
            return self._possible(round(self.clock + rng.uniform(0, 5)))
        return round(self.clock - rng.uniform(self.disorder, 3 * self.disorder + 12))
