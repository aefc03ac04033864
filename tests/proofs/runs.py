"""Operators that consist of the rules alone: joins of a few rows, batch by batch.

A core suite gives the same rows to the operators of the product. Rows are numbered in the order of
a case. An output row is the numbers of its input rows, ``03+07`` or ``03``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.proofs.rules import (
    LEFT,
    LEFT_ANTI,
    LEFT_SEMI,
    RIGHT,
    SIDES,
    AsOf,
    Join,
    JoinType,
    MicroBatch,
    Row,
    Watermarks,
)
from tests.proofs.terms import ABSENT, Maybe, greatest, is_below, known


class Batch(NamedTuple):
    """What a batch emits and what is stored after it."""

    emitted: Sequence[str]
    stored: Sequence[str]


def name(number: int) -> str:
    return f"{number:02}"


# ---- event-time joins ----


@dataclass
class EventRow:
    """A row of an event-time join; a key of None is NULL."""

    number: int
    side: int
    key: int | None
    times: Row
    matched: bool = False


class EventTimeRun:
    """R2, R8, R9, R13."""

    def __init__(self, join: Join, kind: JoinType) -> None:
        self.join, self.kind = join, kind
        self.buffers: dict[int, list[EventRow]] = {LEFT: [], RIGHT: []}
        self.marks: Watermarks = [ABSENT for _ in join.columns]

    def batch(self, first: int, rows: Sequence[EventRow], marks: Watermarks) -> Batch:
        now = [greatest([a, b]) for a, b in zip(self.marks, marks, strict=True)]
        batch = MicroBatch(self.marks, now)
        emitted: list[str] = []
        for side, kept in ((first, batch.buffered_first), (1 - first, batch.buffered_second)):
            for row in rows:
                if row.side == side:
                    emitted += self.arrives(row, batch.late, kept)
        emitted += self.evicted(batch.evicted)
        self.marks = now
        stored = [f"{name(r.number)}{'*' * r.matched}" for s in SIDES for r in self.buffers[s]]
        return Batch(sorted(emitted), sorted(stored))

    def arrives(self, row: EventRow, late: Watermarks, kept: Watermarks) -> Iterator[str]:
        if self.join.late(row.side, row.times, late):
            return
        if row.key is None or not self.join.may_match(row.side, row.times):
            yield from self.unmatched(row)
        else:
            yield from self.meets(row)
            if self.kind.left_only and row.matched and row.side == LEFT:
                return
            if self.join.survives(row.side, row.times, kept):
                self.buffers[row.side].append(row)
            elif not row.matched:
                yield from self.unmatched(row)

    def meets(self, row: EventRow) -> Iterator[str]:
        buffer = self.buffers[1 - row.side]
        partners = [
            other
            for other in buffer
            if other.key == row.key and self.join.pairs({**row.times, **other.times})
        ]
        for other in partners:
            left, right = (row, other) if row.side == LEFT else (other, row)
            row.matched = True
            if not self.kind.left_only:
                other.matched |= other.side in self.kind.preserved
                yield f"{name(left.number)}+{name(right.number)}"
                continue
            if self.kind == LEFT_SEMI:
                yield name(left.number)
            if left is row:
                return
            buffer.remove(left)

    def unmatched(self, row: EventRow) -> Iterator[str]:
        if row.side in self.kind.preserved:
            yield name(row.number)

    def evicted(self, marks: Watermarks) -> Iterator[str]:
        for side in SIDES:
            stay: list[EventRow] = []
            for row in self.buffers[side]:
                if self.join.survives(side, row.times, marks):
                    stay.append(row)
                elif not row.matched:
                    yield from self.unmatched(row)
            self.buffers[side] = stay


# ---- as-of joins ----


class AsOfRow(NamedTuple):
    """A row of an as-of join; a build row may be an end, as the delete of a version is."""

    number: int
    side: int
    key: int | None
    time: int
    ends: bool


@dataclass
class AsOfRun:
    """R21 to R23; `last` is how many rows of a key a probe row matches."""

    rule: AsOf
    kind: JoinType
    probe: int
    last: int
    received: Watermarks = (ABSENT, ABSENT)
    limit: Maybe = ABSENT
    buffered: list[AsOfRow] = field(default_factory=list)
    settled: list[AsOfRow] = field(default_factory=list)

    def batch(self, rows: Sequence[AsOfRow], marks: Watermarks) -> Batch:
        emitted, arrived = [], []
        for row in rows:
            if is_below(known(row.time), self.received[row.side]):
                continue
            if row.key is not None:
                arrived.append(row)
            elif row.side == self.probe and self.probe in self.kind.preserved:
                emitted.append(name(row.number))
        self.received = [greatest([a, b]) for a, b in zip(self.received, marks, strict=True)]
        probe, build = self.received[self.probe], self.received[1 - self.probe]
        self.limit = greatest([self.limit, self.rule.limit(probe, build)])
        waiting = [*self.buffered, *arrived]
        due = [r for r in waiting if self.rule.is_due(self.probes(r), r.time, self.limit)]
        self.buffered = [r for r in waiting if r not in due]
        builds = [*self.settled, *[r for r in due if not self.probes(r)]]
        for row in filter(self.probes, due):
            emitted += self.meets(row, [b for b in builds if b.key == row.key])
        keys = {row.key for row in builds}
        last = [r for key in keys for r in self.latest([b for b in builds if b.key == key])]
        self.settled = [r for r in last if not self.rule.expired(r.time, self.limit)]
        stored = [f"{name(r.number)}*" for r in self.settled]
        return Batch(sorted(emitted), sorted([*stored, *[name(r.number) for r in self.buffered]]))

    def probes(self, row: AsOfRow) -> bool:
        return row.side == self.probe

    def latest(self, builds: Sequence[AsOfRow]) -> list[AsOfRow]:
        """R22: the last rows, without those before an end."""
        found: list[AsOfRow] = []
        for row in sorted(builds, key=lambda b: (b.time, b.number))[-self.last :]:
            found = [] if row.ends else [*found, row]
        return found

    def meets(self, row: AsOfRow, builds: Sequence[AsOfRow]) -> list[str]:
        candidates = self.latest([b for b in builds if self.rule.precedes(row.time, b.time)])
        found = [b for b in candidates if self.rule.recent(row.time, b.time)]
        if not found:
            return [name(row.number)] if self.probe in self.kind.preserved else []
        if self.kind.left_only:
            return [] if self.kind == LEFT_ANTI else [name(row.number)]
        pairs = [(row, b) if self.probe == LEFT else (b, row) for b in found]
        return [f"{name(left.number)}+{name(right.number)}" for left, right in pairs]
