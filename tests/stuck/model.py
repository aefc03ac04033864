"""A model of an event-time join: the metrics of its operator, batch by batch.

It computes the metrics of docs/reference/metrics.md, row by row and slowly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from random import Random
from typing import Any

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
SIDES = ("left", "right")
ALIASES = {"left": "o.ot", "right": "d.dt"}
COLUMNS = {"left": "ot", "right": "dt"}
CLOCK = datetime(2024, 5, 4, 10, tzinfo=timezone.utc)


def ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)


@dataclass
class Input:
    """How the rows of an input are generated: key and time of a number, and faults on the way."""

    lag: int = MINUTE
    max_ahead: int | None = None
    keys: Callable[[int], str | None] = "A{}".format
    times: list[Callable[[int, int], int | None]] = field(default_factory=list)
    # whether the rows of a batch never arrive
    silent: Callable[[int], bool] = lambda batch: False
    # whether a filter below the join drops a row
    dropped: bool = False
    # additional rows of a batch
    more: Callable[[int], list[tuple[str, int]]] = lambda batch: []


@dataclass
class Setup:
    """A query: its condition, its inputs, and the operators around the join."""

    random: Random
    how: str = "LEFT OUTER"
    low: int = 0
    high: int = HOUR
    holds: bool = True
    batches: int = 6
    rows: int = 12
    inputs: dict[str, Input] = field(default_factory=lambda: {s: Input() for s in SIDES})
    above: list[str] = field(default_factory=list)
    passes: int | None = None
    order_lag: int | None = None
    behind: Callable[[int], int] | None = None
    silent_end: int = 0
    # whether a Spark operator above drops a quarter of the rows as late
    drops: bool = False
    error: str = ""
    # the interval of the trigger, and how long the current batch has run
    interval: int | None = None
    runs_for: int | None = None
    number: bool = False
    # whether the state can be read, or only reports and plan
    state: bool = True

    def emits(self, side: str) -> bool:
        return self.how in ("FULL OUTER", f"{side.upper()} OUTER") or (
            self.how == "LEFT ANTI" and side == "left"
        )


@dataclass
class Buffered:
    key: str | None
    time: int
    matched: bool = False


class Model:
    """A join of one partition, batch by batch."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.state: dict[str, list[Buffered]] = {s: [] for s in SIDES}
        self.front: dict[str, int | None] = dict.fromkeys(SIDES)
        self.marks: dict[str, int | None] = dict.fromkeys(SIDES)
        self.behind: dict[str, list[int]] = {s: [] for s in SIDES}
        self.out = 0
        self.held: list[int] = []

    # ---- the rows ----

    def arrivals(self, side: str, batch: int) -> Iterator[tuple[str | None, int | None]]:
        given, base = self.setup.inputs[side], ms(CLOCK)
        if not given.silent(batch):
            for k in range(batch * self.setup.rows, (batch + 1) * self.setup.rows):
                # Times of a batch are before its clock; a delivery is five minutes after its order.
                at = base - 15 * MINUTE + (k * MINUTE) // self.setup.rows
                time: int | None = at + (5 * MINUTE if side == "right" else 0)
                for change in given.times:
                    time = None if time is None else change(k, time)
                yield given.keys(k), time
        yield from given.more(batch)

    # ---- a batch ----

    def step(self, batch: int, now: int) -> dict[str, Any]:
        self.metrics: dict[str, int] = dict.fromkeys(
            (
                *(f"{m}{s.capitalize()}" for s in SIDES for m in _BY_SIDE),
                *("joinedRows", "nullPaddedRows", "lookedIntoRows", "keyMetRows"),
            ),
            0,
        )
        self.misses: dict[str, list[tuple[str | None, int]]] = {s: [] for s in SIDES}
        before, came = dict(self.front), dict.fromkeys(SIDES, 0)
        for side in SIDES:
            for key, time in self.arrivals(side, batch):
                came[side] += 1
                self.arrive(side, key, time, now, before[side])
        self.look_into()
        self.advance()
        for side in SIDES:
            self.metrics[f"bufferedRows{side.capitalize()}"] = len(self.state[side])
            self.by_column(side, now)
        return {"came": came, "metrics": self.metrics}

    def count(self, metric: str, side: str = "", by: int = 1) -> None:
        self.metrics[f"{metric}{side.capitalize()}"] += by

    def arrive(
        self, side: str, key: str | None, time: int | None, now: int, front: int | None
    ) -> None:
        given = self.setup.inputs[side]
        if given.max_ahead is not None and time is not None and time > now + given.max_ahead:
            return self.count("aheadRows", side)
        if time is not None:
            self.front[side] = max(time, self.front[side] or time)
        nothing = key is None and time is not None and not self.setup.emits(side)
        if given.dropped or nothing:
            return None
        self.count("inputRows", side)
        if time is not None and front is not None:
            self.behind[side].append(max(front - time, 0))
            disorder = f"disorder.{COLUMNS[side]}"
            self.metrics[disorder] = max(self.metrics.get(disorder, 0), front - time, 0)
            late, mark = f"latestBy.{COLUMNS[side]}", self.marks[side]
            self.metrics[late] = max(self.metrics.get(late, 0), (mark or time) - time, 0)
        if time is None:
            self.count("nullTimeRows", side)
            return self.unmatched(side)
        if (mark := self.marks[side]) is not None and time < mark:
            return self.count("lateRows", side)
        if self.setup.low > self.setup.high or key is None:
            return self.unmatched(side)
        return self.probe(side, Buffered(key, time))

    def probe(self, side: str, row: Buffered) -> None:
        other = SIDES[1 - SIDES.index(side)]
        looks = self.setup.holds
        for partner in self.state[other] if looks else []:
            if partner.key == row.key and self.miss(side, row.time, partner.time) == 0:
                left = row if side == "left" else partner
                if not (self.setup.how in ("LEFT ANTI", "LEFT SEMI") and left.matched):
                    self.count("joinedRows")
                row.matched = partner.matched = True
        if not row.matched and not self.metrics["joinedRows"]:
            self.misses[side].append((row.key, row.time))
        if self.survives(side, row.time):
            self.state[side].append(row)
        elif not row.matched:
            self.unmatched(side)

    def miss(self, side: str, own: int, other: int) -> int:
        left, right = (own, other) if side == "left" else (other, own)
        distance = right - left
        above, below = distance - self.setup.high, distance - self.setup.low
        return above if above > 0 else below if below < 0 else 0

    def survives(self, side: str, time: int) -> bool:
        mark = self.marks[SIDES[1 - SIDES.index(side)]]
        return mark is None or mark <= time + (
            self.setup.high if side == "left" else -self.setup.low
        )

    def unmatched(self, side: str) -> None:
        if self.setup.emits(side):
            self.count("nullPaddedRows")

    def look_into(self) -> None:
        """Look up the keys of unmatched rows, if no rows were joined."""
        if self.metrics["joinedRows"]:
            return
        for side in SIDES:
            other = SIDES[1 - SIDES.index(side)]
            for key, time in self.misses[side]:
                there = [t for k, t in self.misses[other] if k == key]
                there += [p.time for p in self.state[other] if p.key == key]
                self.count("lookedIntoRows")
                if there:
                    self.count("keyMetRows")
                    least = min((self.miss(side, time, t) for t in there), key=abs)
                    closest = self.metrics.get("closestMiss")
                    if closest is None or abs(least) < abs(closest):
                        self.metrics["closestMiss"] = least

    def advance(self) -> None:
        for side, front in self.front.items():
            if front is not None:
                mark = front - self.setup.inputs[side].lag
                self.marks[side] = max(mark, self.marks[side] or mark)
        for side in SIDES:
            kept = [row for row in self.state[side] if self.survives(side, row.time)]
            self.count("evictedRows", side, len(self.state[side]) - len(kept))
            for row in self.state[side]:
                if not self.survives(side, row.time) and not row.matched:
                    self.unmatched(side)
            self.state[side] = kept

    def by_column(self, side: str, now: int) -> None:
        column, seen = COLUMNS[side], sorted(self.behind[side])
        self.metrics[f"lag.{column}"] = self.setup.inputs[side].lag
        if (mark := self.marks[side]) is not None:
            self.metrics[f"watermark.{column}"] = mark
            if not self.setup.number:
                self.metrics[f"delay.{column}"] = now - mark
        if seen:
            self.metrics[f"disorderRows.{column}"] = len(seen)
            self.metrics[f"lagForAll.{column}"] = seen[-1]
            self.metrics[f"lagForMost.{column}"] = seen[int(0.998 * (len(seen) - 1))]


_BY_SIDE = (
    "inputRows", "lateRows", "aheadRows", "nullTimeRows", "evictedRows", "bufferedRows",
)  # fmt: skip
