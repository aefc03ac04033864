"""The join whose state the protocol stores: the output and the state of each batch.

A LEFT join of seven rows. Left rows are buffered until a right row raises the watermark past their
limit. A right row marks its partner as matched by the number of the stored row, as the product's
change files do. Numbers follow the order of rows in an attempt, so two attempts of one batch can
number them differently.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Arrival(NamedTuple):
    left: bool
    name: str
    """The name of a left row; for a right row, the name of its partner or nothing."""
    time: int


ROWS = (
    Arrival(True, "a", 1),
    Arrival(True, "b", 1),
    Arrival(False, "a", 1),
    Arrival(True, "c", 3),
    Arrival(False, "", 3),
    Arrival(False, "c", 4),
    Arrival(False, "", 9),
)
LIMIT = {row.name: row.time + 1 for row in ROWS if row.left}


class Stored(NamedTuple):
    number: int
    name: str
    matched: bool


class Rows(NamedTuple):
    """The rows of a partition at one version."""

    watermark: int
    next_number: int
    rows: tuple[Stored, ...]

    @property
    def meaning(self) -> tuple[int, frozenset[tuple[str, bool]]]:
        """The content that is equal in all attempts, without the numbers."""
        return self.watermark, frozenset((r.name, r.matched) for r in self.rows)


class Change(NamedTuple):
    """The content of a state file."""

    watermark: int
    next_number: int
    added: tuple[Stored, ...]
    marked: frozenset[int]


NOTHING = Rows(0, 0, ())


class Result(NamedTuple):
    rows: Rows
    change: Change
    emitted: frozenset[str]


@cache
def process(before: Rows, start: int, end: int, reverse: bool) -> Result:
    """One batch; `reverse` processes its left rows in reverse order."""
    arrived = ROWS[start:end]
    left = [row for row in arrived if row.left]
    rows = {r.number: r for r in before.rows}
    number = before.next_number
    for one in reversed(left) if reverse else left:
        rows[number] = Stored(number, one.name, False)
        number += 1
    emitted, marked = set(), set()
    for one in arrived:
        for found in [r for r in rows.values() if not one.left and r.name == one.name]:
            emitted.add(f"({found.name}, {one.name}')")
            rows[found.number] = found._replace(matched=True)
            if found.number < before.next_number:
                marked.add(found.number)
    watermark = max([before.watermark, *(row.time for row in arrived if not row.left)])
    gone = [r for r in rows.values() if LIMIT[r.name] < watermark]
    emitted |= {f"({r.name}, NULL)" for r in gone if not r.matched}
    for r in gone:
        del rows[r.number]
    kept = tuple(sorted(rows.values()))
    added = tuple(r for r in kept if r.number >= before.next_number)
    change = Change(watermark, number, added, frozenset(marked))
    return Result(Rows(watermark, number, kept), change, frozenset(emitted))


@cache
def expected(ends: tuple[int, ...]) -> Result:
    """The last of several batches, given their end offsets, without any fault."""
    if not ends:
        return Result(NOTHING, Change(0, 0, (), frozenset()), frozenset())
    before = expected(ends[:-1]).rows
    return process(before, ends[-2] if len(ends) > 1 else 0, ends[-1], False)


def merged(changes: tuple[Change, ...], whole: bool) -> Change:
    """`History.merge`: files, newest first, merged into one."""
    head = changes[0]
    added: list[Stored] = []
    marked: set[int] = set()
    for change in changes:
        for row in change.added:
            if LIMIT[row.name] >= head.watermark:
                added.append(row._replace(matched=row.matched or row.number in marked))
            marked.discard(row.number)
        marked |= change.marked
    return Change(
        head.watermark,
        head.next_number,
        tuple(sorted(added)),
        frozenset() if whole else frozenset(marked),
    )


def restored(changes: tuple[Change, ...]) -> Rows:
    """`SegmentJoinState.restore`."""
    one = merged(changes, whole=True)
    return Rows(one.watermark, one.next_number, one.added)
