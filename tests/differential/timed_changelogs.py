"""Random changelogs whose rows leave by watermark or by age, and the expected output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.differential.case import How
from tests.differential.changelogs import HOWS
from tests.parameters import STATE_FORMATS

SCHEMA = "id INT, k INT, v INT, t TIMESTAMP, op STRING"
Row = tuple[int, int, int, int]
"""id, k, v, t: the time in seconds."""
Change = tuple[Row, bool]
Out = tuple[Any, ...]


@dataclass(frozen=True)
class TimedInput:
    alias: str
    keyed: bool
    """Else rows are counted."""
    appends: bool
    """Rows only come, and nothing is declared."""
    lag: int
    above: bool
    """Whether the order is imposed above the declaration of the changes, else below."""
    ttl: int | None


@dataclass(frozen=True)
class TimedCase:
    seed: int
    index: int
    inputs: tuple[TimedInput, ...]
    hows: tuple[How, ...]
    within: int | None
    """By how much the other input's time may be after that of ``a``; none: no bound."""
    residual: bool
    itself: bool
    retracts: bool
    """Whether the expiry of a row by its age retracts its results."""
    settings: dict[str, str]
    batches: tuple[dict[str, list[Change]], ...]

    @property
    def name(self) -> str:
        return f"timed-{self.seed}-{self.index}"

    def __str__(self) -> str:
        on_expiry = "retract" if self.retracts else "keep"
        parts = (self.inputs, self.hows, self.within, on_expiry, *self.batches)
        return "\n".join(map(str, parts))

    def condition(self, other: str) -> str:
        parts = [f"a.k = {other}.k"]
        if self.within is not None:
            parts.append(f"{other}.t BETWEEN a.t AND a.t + INTERVAL {self.within} SECONDS")
        if self.residual:
            parts.append(f"a.v + {other}.v <> 3")
        return " AND ".join(parts)

    def matches(self, a: Row, other: Row) -> bool:
        return (
            a[1] == other[1]
            and (self.within is None or a[3] <= other[3] <= a[3] + self.within)
            and not (self.residual and a[2] + other[2] == 3)
        )


def generate(seed: int, index: int) -> TimedCase:
    rng = Random(f"timed changelogs/{seed}/{index}")
    within = rng.choice([None, 0, 4, 9])
    ages = within is None or rng.random() < 0.3
    itself = rng.random() < 0.15
    count = 3 if within is not None and not ages and not itself and rng.random() < 0.4 else 2

    def ttl() -> int | None:
        return rng.choice([3, 8, None]) if ages else None

    inputs = tuple(
        TimedInput(
            alias,
            not itself and rng.random() < 0.4,
            not itself and rng.random() < 0.15,
            rng.choice([0, 2, 5]),
            rng.random() < 0.5,
            ttl(),
        )
        for alias in "abc"[:count]
    )
    if inputs[0].appends and ages:
        inputs = tuple(replace(each, appends=False) for each in inputs)
    hows: tuple[How, ...] = (rng.choice(HOWS),)
    if count == 3:
        hows = (rng.choice(["inner", "left"]), rng.choice(HOWS))
    feeds = {each.alias: _Feed(rng, each) for each in inputs}
    batches = []
    for _ in range(rng.randint(3, 6)):
        batch = {alias: feed.batch() for alias, feed in feeds.items()}
        if itself:
            batch["b"] = batch["a"]
        batches.append(batch)
    if itself:
        inputs = (inputs[0], replace(inputs[0], alias="b", ttl=ttl()))
    return TimedCase(
        seed,
        index,
        inputs,
        hows,
        within,
        rng.random() < 0.3,
        itself,
        any(each.ttl for each in inputs) and rng.random() < 0.4,
        {
            "spark.sql.shuffle.partitions": rng.choice(["1", "2", "3"]),
            "spark.sql.streamJoin.stateFormat": rng.choice(STATE_FORMATS),
        },
        tuple(batches),
    )


class _Feed:
    """Rows that keep their id and time; they come about in the order of time, change and go."""

    def __init__(self, rng: Random, each: TimedInput) -> None:
        self.rng = rng
        self.input = each
        self.rows: dict[int, Row] = {}
        self.now = 60
        self.ids = 0

    def batch(self) -> list[Change]:
        found: list[Change] = []
        touched: set[int] = set()
        for _ in range(self.rng.randrange(7)):
            found += self._operation(touched)
        return found

    def _operation(self, touched: set[int]) -> list[Change]:
        rng = self.rng
        self.now += rng.randrange(4)
        # a row that returns within its batch has no output
        old = [row for row in self.rows.values() if row[0] not in touched]
        if old and not self.input.appends and rng.random() < 0.5:
            before = rng.choice(old)
            touched.add(before[0])
            del self.rows[before[0]]
            if rng.random() < 0.4:
                return [(before, False)]
            after = (before[0], before[1], before[2] + 1, before[3])
            self.rows[after[0]] = after
            return [(before, False), (after, True)]
        self.ids += 1
        row = (self.ids, rng.randrange(2), rng.randrange(3), self.now - rng.randrange(6))
        touched.add(row[0])
        self.rows[row[0]] = row
        return [(row, True)]


@dataclass
class _Stored:
    row: Row
    has_results: bool = False
    """Whether it has results with partners that are stored, or have expired."""
    deleted: bool = False
    """Whether the row is not stored, has expired by its age, and is deleted now."""
    removed: bool = False
    """Whether the batch deletes or replaces the stored row."""
    evicted: bool = False
    """Whether watermarks have evicted it: its results are final."""
    outlived: bool = False
    """Whether it has expired, and has final results with evicted rows."""


@dataclass
class _Side:
    input: TimedInput
    rows: list[_Stored] = field(default_factory=list)
    seen: int | None = None
    watermark: int | None = None
    late: int = 0
    deleted: list[_Stored] = field(default_factory=list)
    """Rows that have expired by their age, and are deleted by the current batch."""

    def apply(self, changes: list[Change], case: TimedCase) -> None:
        self.deleted = []
        for row, added in changes:
            bounded = case.within is not None
            if bounded and self.watermark is not None and row[3] < self.watermark:
                self.late += 1
                continue
            stored = [h for h in self.rows if self._same(h.row, row)]
            if stored and (not added or self.input.keyed):
                stored[0].removed = True
                self.rows.remove(stored[0])
            elif not added and not case.retracts and self.is_over(row):
                self.deleted.append(_Stored(row, deleted=True))
            if added:
                self.rows.append(_Stored(row))
        if changes:
            self.seen = max([row[3] for row, _ in changes] + [self.seen or 0])

    def _same(self, stored: Row, row: Row) -> bool:
        return stored[0] == row[0] if self.input.keyed else stored == row

    def is_over(self, row: Row) -> bool:
        ttl, now = self.input.ttl, self.watermark
        return bool(ttl) and now is not None and row[3] + (ttl or 0) < now

    def advance(self) -> None:
        if self.seen is not None:
            self.watermark = self.seen - self.input.lag

    def expire(self) -> None:
        self.rows = [h for h in self.rows if h.evicted or not self.is_over(h.row)]


def tables(case: TimedCase) -> Iterator[tuple[Counter[Out], int]]:
    """The output up to each batch, and the number of late changes so far."""
    sides = [_Side(each) for each in case.inputs]
    table: Counter[Out] = Counter()
    # in a chain, the rows of the first join have no age: they are what its inputs are
    for batch in case.batches:
        past = [list(side.rows) for side in sides]
        for side in sides:
            side.apply(batch[side.input.alias], case)
            side.advance()
        # a deleted row that has expired still counts for the result
        before = [
            replace(side, rows=rows + side.deleted) for side, rows in zip(sides, past, strict=True)
        ]
        table.subtract(_result(case, before))
        if case.retracts:
            _keep_final(case, sides)
            for side in sides:
                side.expire()
        table.update(_result(case, sides))
        table = Counter({row: n for row, n in table.items() if n})
        _note_results(case, sides, before)
        _evict(case, sides)
        for side in sides:
            side.expire()
        yield Counter(table), sum(side.late for side in sides)


def _keep_final(case: TimedCase, sides: list[_Side]) -> None:
    for side, other in (sides[:2], sides[1::-1]):
        for each in side.rows:
            pairs = (
                (each, partner) if side is sides[0] else (partner, each)
                for partner in other.rows
                if partner.evicted and not partner.outlived
            )
            if side.is_over(each.row) and not each.evicted:
                each.outlived = any(case.matches(a.row, b.row) for a, b in pairs)
    for side in sides:
        for each in side.rows:
            each.evicted |= each.outlived


def _note_results(case: TimedCase, sides: list[_Side], before: list[_Side]) -> None:
    """A row has results while it has partners, and when these have expired.

    If its key identifies the result, the delete of its last partner has retracted them.
    """
    if case.within is not None or len(sides) > 2:
        return
    (a, b), old_b = sides, before[1]
    for each in a.rows:
        partner = any(case.matches(each.row, other.row) for other in b.rows)
        lost = any(_meet(case, each, other) for other in old_b.rows)
        kept = each.has_results and not (lost and _identifies(case))
        each.has_results = bool(b.input.ttl) and (partner or kept)
    for each in b.rows:
        partner = any(case.matches(other.row, each.row) for other in a.rows)
        each.has_results |= bool(a.input.ttl) and partner


def _identifies(case: TimedCase) -> bool:
    """Whether the key of the left input identifies the result."""
    return case.inputs[0].keyed and case.hows[0] in ("semi", "anti")


def _evict(case: TimedCase, sides: list[_Side]) -> None:
    """A row is evicted when no change of it, and none of a partner, can be in time."""
    if case.within is None or len(sides) > 2:
        return
    a, b = sides
    if a.watermark is not None and b.watermark is not None:
        for side, clock in ((a, b.watermark - case.within), (b, a.watermark)):
            for each in side.rows:
                each.evicted |= each.row[3] < min(clock, side.watermark or 0)


def _result(case: TimedCase, sides: list[_Side]) -> Counter[Out]:
    left: list[tuple[_Stored | None, Out]] = [(h, (h.row[0], h.row[2])) for h in sides[0].rows]
    for number, (how, side) in enumerate(zip(case.hows, sides[1:], strict=True), 1):
        left = list(_joined(case, how, left, side, number))
    return Counter(out for _, out in left)


def _meet(case: TimedCase, a: _Stored, b: _Stored) -> bool:
    """Whether two rows have a result.

    If one of them has expired, the other must be stored, and must have results. The latter is
    not known of rows with a bound, and of right rows that are not in the output.
    """
    if not case.matches(a.row, b.row) or (a.deleted and b.deleted):
        return False
    if a.outlived or b.outlived:
        return not (a.outlived and b.outlived) and a.evicted and b.evicted
    known = case.within is None
    if a.deleted:
        return not b.evicted and (b.has_results or not known or case.hows[0] in ("semi", "anti"))
    if b.deleted:
        return not a.evicted and (a.has_results or not known)
    return True


def _joined(
    case: TimedCase,
    how: How,
    left: list[tuple[_Stored | None, Out]],
    right: _Side,
    before: int,
) -> Iterator[tuple[_Stored | None, Out]]:
    met: set[int] = set()
    none = (None, None)
    for a, out in left:
        found = [i for i, h in enumerate(right.rows) if a and _meet(case, a, h)]
        met.update(found)
        if how in ("semi", "anti"):
            outlived = a is not None and a.removed and a.has_results and not found
            by_key = a is not None and _identifies(case) and (a.deleted or outlived)
            if bool(found) == (how == "semi") or by_key:
                yield a, out
            continue
        for i in found:
            b = right.rows[i].row
            yield a, (*out, b[0], b[2])
        if not found and how in ("left", "full"):
            yield a, (*out, *none)
    if how in ("right", "full"):
        for i, h in enumerate(right.rows):
            if i not in met:
                yield None, (*none * before, h.row[0], h.row[2])
