"""A model of the watermarks of a join whose left input has groups, by the proven rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.proofs.rules import Group, of_group, of_groups, received, settled
from tests.proofs.terms import ABSENT, Maybe, greatest, known


class Arrival(NamedTuple):
    """A row: its group, its key and its time in minutes."""

    group: str | None
    id: int
    time: int | None


def late(row: Arrival, watermark: Maybe) -> bool:
    return row.time is not None and watermark.there and row.time < watermark.value


@dataclass
class Input:
    """A source column with groups; without any, all rows have the group None."""

    lag: int
    idle: int | None = None
    watermark: Maybe = ABSENT
    marks: dict[str | None, Maybe] = field(default_factory=dict)
    active: dict[str | None, int] = field(default_factory=dict)
    last: int | None = None

    def advance(self, rows: Sequence[Arrival], now: int) -> None:
        """Read a batch, before the input follows others if it is idle (R16)."""
        times: dict[str | None, Maybe] = {}
        for row in rows:
            if row.time is not None:
                times[row.group] = greatest([times.get(row.group, ABSENT), known(row.time)])
        self.active.update(dict.fromkeys(times, now))
        if times or self.last is None:
            self.last = now
        groups = {
            name: Group(
                self.marks.get(name, ABSENT), times.get(name, ABSENT), self._is_idle(active, now)
            )
            for name, active in self.active.items()
        }
        column = self.watermark
        self.watermark = of_groups(column, list(groups.values()), self.lag)
        self.marks = {n: of_group(column, g, self.lag) for n, g in groups.items() if not g.idle}
        self.active = {n: self.active[n] for n in self.marks}

    def follow(self, others: Iterable[Input], now: int) -> None:
        if self.last is not None and self._is_idle(self.last, now):
            self.watermark = settled(self.watermark, [other.watermark for other in others])

    def _is_idle(self, active: int, now: int) -> bool:
        return self.idle is not None and now - active >= self.idle


@dataclass
class Model:
    """The watermarks of both inputs, batch by batch."""

    left: Input
    right: Input
    in_time: Mapping[str, list[Arrival]] = field(default_factory=lambda: {"left": [], "right": []})
    late: int = 0

    def batch(self, left: Sequence[Arrival], right: Sequence[Arrival], now: int) -> None:
        for side, rows, of in (("left", left, self.left), ("right", right, self.right)):
            kept = [row for row in rows if not late(row, of.watermark)]
            self.in_time[side].extend(kept)
            self.late += len(rows) - len(kept)
        plain = self.right.watermark
        self.left.advance(left, now)
        times = [row.time for row in right if row.time is not None]
        largest = known(max(times)) if times else ABSENT
        self.right.watermark = received(plain, largest, self.right.lag)
        self.left.follow([self.right], now)
