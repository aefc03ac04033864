"""The changelog join that consists of the rules alone, see ``runs``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from tests.proofs.changelog_rules import (
    EvictionRule,
    Partners,
    Stay,
    Version,
    counted,
    delta_of_pair,
    delta_of_row,
    has_result,
    latest,
    marked,
    of_age,
)
from tests.proofs.rules import LEFT, LEFT_SEMI, RIGHT, SIDES, Bound, Column, Join, JoinType
from tests.proofs.runs import Batch
from tests.proofs.terms import ABSENT, Maybe, Term, greatest, known

ONE, KEY, BAG = "one", "key", "bag"
"""How an input identifies its rows: one of a join key, by a unique key, or by all columns."""


class Changed(NamedTuple):
    """A row of a changelog; `written` is the time from which its TTL counts."""

    join: int
    unique: int
    value: int
    time: int
    written: int

    def __str__(self) -> str:
        return f"{self.join}.{self.unique}.{self.value}.{self.time}"


class Change(NamedTuple):
    added: bool
    side: int
    row: Changed
    sequence: Maybe


@dataclass
class Stored:
    """A stored row, or the tombstone of a key."""

    row: Changed
    version: Version
    marked: bool = False


class Instance(NamedTuple):
    """A row before a batch or after it."""

    stored: Stored
    stay: Stay


KEPT, REMOVED, ADDED = Stay(True, True), Stay(True, False), Stay(False, True)
NO_VERSION = Version(ABSENT, False, 0)


@dataclass
class ChangelogRun:
    """R25 to R30.

    Attributes
    ----------
    within
        a right time is at most this much later than the left one, and not earlier
    parity
        whether two partners have thirds of equal parity as their values
    ttl
        rows expire after this time
    retracts
        whether the expiry of a row is a delete

    """

    kind: JoinType
    layouts: tuple[str, str]
    within: int | None
    parity: bool
    ttl: int | None
    retracts: bool
    clock: int = 0
    marks: list[Maybe] = field(default_factory=lambda: [ABSENT, ABSENT])
    stored: dict[int, list[Stored]] = field(default_factory=lambda: {LEFT: [], RIGHT: []})

    @cached_property
    def join(self) -> Join:
        bounds = [] if self.within is None else [Bound(1, 0, 0), Bound(0, 1, self.within)]
        return Join([Column(LEFT), Column(RIGHT)], bounds)

    def batch(self, clock: int, changes: Sequence[Change], marks: Sequence[Maybe]) -> Batch:
        self.clock = clock
        rows = {side: self.expired(side) for side in SIDES}
        for side in SIDES:
            own = [c for c in changes if c.side == side and not self.late(c)]
            ids = dict.fromkeys(self.identity(side, c.row) for c in own)
            for one in ids:
                same = [c for c in own if self.identity(side, c.row) == one]
                rows[side] += list(self.consolidated(side, same))
            rows[side] += [Instance(s, KEPT) for s in self.stored[side] if s.version.present]
        emitted = Counter[str]()
        for sign, row in chain(self.pairs(rows), self.alone(rows), self.by_key(rows)):
            emitted[row] += sign
        self.mark(rows)
        for side in SIDES:
            self.stored[side] += [i.stored for i in rows[side] if i.stay.added]
        self.advance(marks)
        out = ["+-"[n < 0] + row for row, n in emitted.items() for _ in range(abs(n))]
        return Batch(sorted(out), sorted(self.listed()))

    def listed(self) -> Iterator[str]:
        for side in SIDES:
            for one in self.stored[side]:
                if one.version.present:
                    sequence = one.version.sequence.value if one.version.sequence.there else 0
                    yield f"{'LR'[side]}{one.row}@{sequence}{'*' * one.marked}"

    # ---- the changes of the inputs ----

    def late(self, change: Change) -> bool:
        times = {change.side: known(change.row.time)}
        return self.within is not None and bool(self.join.late(change.side, times, self.marks))

    def identity(self, side: int, row: Changed) -> object:
        by = {ONE: row.join, KEY: (row.join, row.unique), BAG: str(row)}
        return by[self.layouts[side]]

    def is_over(self, row: Changed) -> bool:
        return self.ttl is not None and bool(of_age(row.written, self.ttl, self.clock))

    def expired(self, side: int) -> list[Instance]:
        """R28: the rows that leave the state, which are part of R if expiry is a delete."""
        over = [s for s in self.stored[side] if self.is_over(s.row)]
        self.stored[side] = [s for s in self.stored[side] if not self.is_over(s.row)]
        return [Instance(s, REMOVED) for s in over if self.retracts and s.version.present]

    def stores(self, row: Changed) -> bool:
        return not (self.retracts and self.is_over(row))

    def consolidated(self, side: int, changes: Sequence[Change]) -> Iterator[Instance]:
        """The rows that the changes of one identity remove and add; others stay stored."""
        one = self.identity(side, changes[0].row)
        same = [s for s in self.stored[side] if self.identity(side, s.row) == one]
        if self.layouts[side] != BAG:
            yield from self.keyed(side, changes, same[0] if same else None)
        elif self.stores(changes[0].row):
            come = sum(c.added for c in changes)
            net = counted(len(same), come, len(changes) - come, False)
            for gone in sorted(same, key=lambda s: s.marked)[: net.removed]:
                self.stored[side].remove(gone)
                yield Instance(gone, REMOVED)
            version = Version(ABSENT, True, changes[0].row)
            for _ in range(net.added):
                yield Instance(Stored(changes[0].row, version), ADDED)

    def keyed(
        self, side: int, changes: Sequence[Change], stored: Stored | None
    ) -> Iterator[Instance]:
        before = stored.version if stored else NO_VERSION
        after = before
        for change in changes:
            after = latest(after, Version(change.sequence, change.added, change.row))
        if after == before:
            return
        kept = after.present and self.stores(after.row)
        if stored and before.present and kept and str(stored.row) == str(after.row):
            stored.row, stored.version = after.row, after
            return
        if stored:
            self.stored[side].remove(stored)
            if before.present:
                yield Instance(stored, REMOVED)
        if kept:
            yield Instance(Stored(after.row, after), ADDED)
        elif not after.present and after.sequence.there and self.bounded:
            self.stored[side].append(Stored(after.row, after))

    @property
    def bounded(self) -> bool:
        """Whether a tombstone leaves the state at some time; otherwise it is not stored."""
        return self.within is not None or self.ttl is not None

    # ---- the output ----

    def matches(self, left: Changed, right: Changed) -> bool:
        times = {0: known(left.time), 1: known(right.time)}
        even = left.value // 3 % 2 == right.value // 3 % 2
        return (
            left.join == right.join and (not self.parity or even) and bool(self.join.pairs(times))
        )

    def pair(self, side: int, row: Changed, other: Changed) -> bool:
        return self.matches(row, other) if side == LEFT else self.matches(other, row)

    def partners(self, side: int, row: Changed, others: Sequence[Instance]) -> Partners:
        found = [i.stay for i in others if self.pair(side, row, i.stored.row)]
        return Partners(found.count(KEPT), found.count(REMOVED), found.count(ADDED), False)

    def pairs(self, rows: dict[int, list[Instance]]) -> Iterator[tuple[int, str]]:
        if not self.kind.left_only:
            for left in rows[LEFT]:
                for right in rows[RIGHT]:
                    if self.matches(left.stored.row, right.stored.row):
                        delta = delta_of_pair(left.stay, right.stay)
                        pair = f"{left.stored.row}~{right.stored.row}"
                        yield delta.inserted - delta.deleted, pair

    def notes(self, side: int) -> bool:
        """Whether the output of a row depends on its having a partner."""
        return side in self.kind.preserved or (self.kind.left_only and side == LEFT)

    def alone(self, rows: dict[int, list[Instance]]) -> Iterator[tuple[int, str]]:
        for side in filter(self.notes, SIDES):
            for one in rows[side]:
                found = self.partners(side, one.stored.row, rows[1 - side])
                evicted = self.within is not None and one.stored.marked
                found = found._replace(marked=evicted)
                delta = delta_of_row(one.stay, found, self.kind == LEFT_SEMI)
                yield delta.inserted - delta.deleted, self.padded(side, one.stored.row)

    def padded(self, side: int, row: Changed) -> str:
        return f"{row}~" if side == LEFT else f"~{row}"

    def by_key(self, rows: dict[int, list[Instance]]) -> Iterator[tuple[int, str]]:
        """R28: the result of a marked row whose partner has expired is deleted by its key."""
        for side in filter(self.identifies, filter(self.marks_results, SIDES)):
            padded = self.notes(side) and self.kind != LEFT_SEMI
            for one in [] if padded else rows[side]:
                found = self.partners(side, one.stored.row, rows[1 - side])
                if one.stay.removed and one.stored.marked and found.kept + found.removed == 0:
                    yield -1, self.padded(side, one.stored.row)

    # ---- marks ----

    def marks_results(self, side: int) -> bool:
        """R28: whether a mark means that the row has results; else that a partner was evicted."""
        shown = side == LEFT or not self.kind.left_only
        return self.within is None and not self.retracts and shown

    def identifies(self, side: int) -> bool:
        """Whether the key of the input is the key of the output."""
        if self.layouts[side] == BAG:
            return False
        if self.kind.left_only:
            return side == LEFT
        return self.layouts[1 - side] == ONE and 1 - side not in self.kind.preserved

    def mark(self, rows: dict[int, list[Instance]]) -> None:
        for side in filter(self.marks_results, SIDES):
            for one in rows[side]:
                kept, removed, added, _ = self.partners(side, one.stored.row, rows[1 - side])
                lost = self.identifies(side) and kept + removed > 0 and kept + added == 0
                one.stored.marked = has_result(one.stored.marked, lost, kept + added > 0)

    def advance(self, marks: Sequence[Maybe]) -> None:
        """R27."""
        self.marks = [greatest([a, b]) for a, b in zip(self.marks, marks, strict=True)]
        rule = EvictionRule(self.join)
        for side in SIDES:
            gone = [s for s in self.stored[side] if self.leaves(rule, side, s)]
            self.stored[side] = [s for s in self.stored[side] if not self.leaves(rule, side, s)]
            for other in self.stored[1 - side] if self.notes(1 - side) else []:
                for one in gone:
                    there = one.version.present and other.version.present
                    pairs = there and self.pair(side, one.row, other.row)
                    other.marked = marked(other.marked, True, pairs)

    def leaves(self, rule: EvictionRule, side: int, stored: Stored) -> bool:
        time: dict[int, Term] = {side: known(stored.row.time)}
        return self.within is not None and bool(rule.leaves(side, time, self.marks))
