"""The rules of docs/internals/rules.md, executable: changelog joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tests.proofs.rules import Join, Row, Watermarks
from tests.proofs.terms import (
    Maybe,
    Term,
    Truth,
    all_of,
    any_of,
    choose,
    highest,
    is_below,
    lowest,
    negate,
    select,
)


class Stay(NamedTuple):
    """Whether a row is there before and after a batch."""

    before: Truth
    after: Truth

    @property
    def kept(self) -> Truth:
        return all_of(self.before, self.after)

    @property
    def removed(self) -> Truth:
        return all_of(self.before, negate(self.after))

    @property
    def added(self) -> Truth:
        return all_of(negate(self.before), self.after)


@dataclass(frozen=True)
class Delta:
    """What a batch emits of something: a deletion of the old image, an insertion of the new one."""

    deleted: Truth
    inserted: Truth


def delta_of_pair(left: Stay, right: Stay) -> Delta:
    """R25: of a pair of rows that match."""
    return Delta(
        any_of(
            all_of(left.removed, any_of(right.kept, right.removed)),
            all_of(left.kept, right.removed),
        ),
        any_of(all_of(left.added, any_of(right.kept, right.added)), all_of(left.kept, right.added)),
    )


class Partners(NamedTuple):
    """How many partners a row has on the other side, and whether one of them has expired."""

    kept: Term
    removed: Term
    added: Term
    marked: Truth


def is_alone(partner: Truth, semi: bool) -> Truth:
    """Whether a row is emitted by itself: padded, of an anti join, or of a semi join."""
    return partner if semi else negate(partner)


def delta_of_row(row: Stay, partners: Partners, semi: bool) -> Delta:
    """R26: of what a row gives by itself."""
    kept, lost, won, marked = partners
    had = any_of(marked, kept + lost > 0)
    # the row that is added has no mark: a partner that expired before was never its partner
    has = kept + won > 0
    turns = all_of(
        row.kept, negate(marked), kept == 0, any_of(lost > 0, won > 0), negate(both(lost, won))
    )
    return Delta(
        any_of(
            all_of(row.removed, is_alone(had, semi)),
            all_of(turns, negate(is_alone(won > 0, semi))),
        ),
        any_of(all_of(row.added, is_alone(has, semi)), all_of(turns, is_alone(won > 0, semi))),
    )


def both(lost: Term, won: Term) -> Truth:
    return all_of(lost > 0, won > 0)


@dataclass(frozen=True)
class EvictionRule:
    """By which watermark rows leave."""

    join: Join

    def columns(self, side: int) -> list[int]:
        join = self.join
        return [
            i
            for i in join.of(side)
            if join.columns[i].watermarked and (join.contradictory is True or join.governing(i))
        ]

    def clock(self, column: int, watermarks: Watermarks) -> Maybe:
        return self.join.output_watermark(column, watermarks)

    def leaves(self, side: int, row: Row, watermarks: Watermarks) -> Truth:
        """R27: no change of the row, and none of a partner, can come that is not late."""
        return any_of(*[is_below(row[i], self.clock(i, watermarks)) for i in self.columns(side)])


def marked(before: Truth, expires: Truth, pairs: Truth) -> Truth:
    """R28: whether a row is known to have had a partner, once another row has expired."""
    return any_of(before, all_of(expires, pairs))


def of_age(written: Term, ttl: Term, clock: Term) -> Truth:
    """R28: whether a row is beyond its age."""
    return written + ttl < clock


class Counted(NamedTuple):
    """What changes of equal rows without a key come to."""

    stored: Term
    removed: Term
    added: Term


def counted(stored: Term, come: Term, go: Term, by_write: bool = False) -> Counted:
    """R30: rows without a key.

    Parameters
    ----------
    by_write
        whether rows leave by when they were written: one that is removed and inserted is as old as
        this write

    """
    at_once = 0 if by_write else lowest(come, go)
    taken = lowest(stored, go - at_once)
    passing = at_once + lowest(come - at_once, go - at_once - taken)
    again = lowest(taken, come - passing)
    return Counted(stored - taken + come - passing, taken - again, come - passing - again)


class Version(NamedTuple):
    """The latest change of a key: its sequence, and the row, or that there is none."""

    sequence: Maybe
    present: Truth
    row: Term


def latest(stored: Version, change: Version) -> Version:
    """R29: rows with a key; a change with a smaller sequence is stale, NULL is the smallest."""
    stale = any_of(
        is_below(change.sequence, stored.sequence),
        all_of(stored.sequence.there, negate(change.sequence.there)),
    )
    return Version(
        select(stale, stored.sequence, change.sequence),
        choose(stale, stored.present, change.present),
        choose(stale, stored.row, change.row),
    )


def consolidated(changes: Sequence[Version], stored: Version) -> Version:
    """R29: a batch of them."""
    for change in changes:
        stored = latest(stored, change)
    return stored


def net_count(stored: Term, come: Term, go: Term) -> Term:
    """What is stored of equal rows: never fewer than none."""
    return highest(0, stored + come - go)
