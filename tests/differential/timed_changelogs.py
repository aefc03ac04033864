"""Random changelogs whose rows leave by watermark or by age, and the expected output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
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
    settings: dict[str, str]
    batches: tuple[dict[str, list[Change]], ...]

    @property
    def name(self) -> str:
        return f"timed-{self.seed}-{self.index}"

    def __str__(self) -> str:
        return "\n".join(str(part) for part in (self.inputs, self.hows, self.within, *self.batches))

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
            # an image kept below a join ages by when it was written, which no test can foresee
            not ages and not itself and rng.random() < 0.4,
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
class _Held:
    row: Row
    joined: bool = False
    """Whether a partner of it has left by its age."""
    expired: bool = False
    """Whether it has left by its age, and goes now."""


@dataclass
class _Side:
    input: TimedInput
    rows: list[_Held] = field(default_factory=list)
    seen: int | None = None
    watermark: int | None = None
    late: int = 0
    expired: list[_Held] = field(default_factory=list)
    """Rows that have left by their age, and go with the batch in hand."""

    def apply(self, changes: list[Change], bounded: bool) -> None:
        self.expired = []
        for row, added in changes:
            if bounded and self.watermark is not None and row[3] < self.watermark:
                self.late += 1
                continue
            held = [h for h in self.rows if self._same(h.row, row)]
            if held and (not added or self.input.keyed):
                self.rows.remove(held[0])
            elif not added and self._is_over(row):
                self.expired.append(_Held(row, expired=True))
            if added:
                self.rows.append(_Held(row))
        if changes:
            self.seen = max([row[3] for row, _ in changes] + [self.seen or 0])

    def _same(self, held: Row, row: Row) -> bool:
        return held[0] == row[0] if self.input.keyed else held == row

    def _is_over(self, row: Row) -> bool:
        ttl, now = self.input.ttl, self.watermark
        return bool(ttl) and now is not None and row[3] + (ttl or 0) < now

    def end(self) -> list[_Held]:
        """The watermark rises; what leaves by its age."""
        if self.seen is not None:
            self.watermark = self.seen - self.input.lag
        gone = [h for h in self.rows if self._is_over(h.row)]
        for each in gone:
            self.rows.remove(each)
        return gone


def tables(case: TimedCase) -> Iterator[tuple[Counter[Out], int]]:
    """The output up to each batch, and the number of late changes so far."""
    sides = [_Side(each) for each in case.inputs]
    table: Counter[Out] = Counter()
    # in a chain, the rows of the first join have no age: they are what its inputs are
    for batch in case.batches:
        held = [list(side.rows) for side in sides]
        for side in sides:
            side.apply(batch[side.input.alias], case.within is not None)
        after = _result(case, sides)
        # a deleted row that has expired still counts for the result
        before = _result(
            case,
            [
                replace(side, rows=rows + side.expired)
                for side, rows in zip(sides, held, strict=True)
            ],
        )
        table.update(after)
        table.subtract(before)
        table = Counter({row: n for row, n in table.items() if n})
        _leave(case, sides)
        yield Counter(table), sum(side.late for side in sides)


def _leave(case: TimedCase, sides: list[_Side]) -> None:
    left, right = sides[0], sides[1]
    held = list(left.rows), list(right.rows)
    for gone in left.end():
        for other in held[1]:
            other.joined |= case.matches(gone.row, other.row)
    for gone in right.end():
        for other in held[0]:
            other.joined |= case.matches(other.row, gone.row)
    for more in sides[2:]:
        more.end()


def _result(case: TimedCase, sides: list[_Side]) -> Counter[Out]:
    left: list[tuple[_Held | None, Out]] = [(h, (h.row[0], h.row[2])) for h in sides[0].rows]
    for number, (how, side) in enumerate(zip(case.hows, sides[1:], strict=True), 1):
        left = list(_joined(how, left, side, number, case.matches))
    return Counter(out for _, out in left)


def _meet(how: How, a: _Held, b: _Held) -> bool:
    """Whether two rows were joined as far as one knows that has expired, and the other not.

    If rows are emitted unmatched, it is known which of them have had a partner that expired.
    """
    if a.expired and not b.expired:
        return b.joined or how not in ("right", "full")
    if b.expired and not a.expired:
        return a.joined or how in ("inner", "right")
    return True


def _joined(
    how: How,
    left: list[tuple[_Held | None, Out]],
    right: _Side,
    before: int,
    matches: Callable[[Row, Row], bool],
) -> Iterator[tuple[_Held | None, Out]]:
    met: set[int] = set()
    none = (None, None)
    for a, out in left:
        found = [
            i for i, h in enumerate(right.rows) if a and matches(a.row, h.row) and _meet(how, a, h)
        ]
        met.update(found)
        joined = a is not None and a.joined
        if how in ("semi", "anti"):
            if bool(found or joined) == (how == "semi"):
                yield a, out
            continue
        for i in found:
            b = right.rows[i].row
            yield a and replace(a, joined=False), (*out, b[0], b[2])
        if not found and not joined and how in ("left", "full"):
            yield a, (*out, *none)
    if how in ("right", "full"):
        for i, h in enumerate(right.rows):
            if i not in met and not h.joined:
                yield None, (*none * before, h.row[0], h.row[2])
