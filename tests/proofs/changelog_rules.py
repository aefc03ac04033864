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
    """Whether a row exists before and after a batch."""

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
    """What a batch emits: a delete of the old image, an insert of the new image."""

    deleted: Truth
    inserted: Truth


def delta_of_pair(left: Stay, right: Stay) -> Delta:
    """R25: for a pair of matching rows."""
    return Delta(
        any_of(
            all_of(left.removed, any_of(right.kept, right.removed)),
            all_of(left.kept, right.removed),
        ),
        any_of(all_of(left.added, any_of(right.kept, right.added)), all_of(left.kept, right.added)),
    )


class Partners(NamedTuple):
    """Counts of a row's partners on the other side, and whether a partner was evicted."""

    kept: Term
    removed: Term
    added: Term
    marked: Truth


def is_alone(partner: Truth, semi: bool) -> Truth:
    """Whether a row is emitted without a partner: padded, or by an anti or semi join."""
    return partner if semi else negate(partner)


def delta_of_row(row: Stay, partners: Partners, semi: bool) -> Delta:
    """R26: for a row that is emitted without a partner."""
    kept, lost, won, marked = partners
    had = any_of(marked, kept + lost > 0)
    # An inserted row has no mark: a partner that was evicted earlier was never its partner.
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
    """The watermark that evicts a row."""

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
        """R27: no later change of the row or of a partner can be on time."""
        return any_of(*[is_below(row[i], self.clock(i, watermarks)) for i in self.columns(side)])


def marked(before: Truth, evicted: Truth, pairs: Truth) -> Truth:
    """R27: whether a row is marked as having had a partner, after another row was evicted."""
    return any_of(before, all_of(evicted, pairs))


def has_result(before: Truth, lost: Truth, partner: Truth) -> Truth:
    """R28: whether a row is marked as having a result, after its partner was deleted or came."""
    return any_of(partner, all_of(before, negate(lost)))


def of_age(written: Term, ttl: Term, clock: Term) -> Truth:
    """R28: whether a row has expired."""
    return written + ttl < clock


class Counted(NamedTuple):
    """The consolidated changes of equal rows without a key."""

    stored: Term
    removed: Term
    added: Term


def counted(stored: Term, come: Term, go: Term, by_write: bool = False) -> Counted:
    """R30: rows without a key.

    Parameters
    ----------
    by_write
        whether rows expire by their write time: a row that is deleted and inserted has the age
        of this write

    """
    at_once = 0 if by_write else lowest(come, go)
    taken = lowest(stored, go - at_once)
    passing = at_once + lowest(come - at_once, go - at_once - taken)
    again = lowest(taken, come - passing)
    return Counted(stored - taken + come - passing, taken - again, come - passing - again)


class Version(NamedTuple):
    """The latest change of a key: its sequence, and its row or its deletion."""

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
    """R29: a batch of changes."""
    for change in changes:
        stored = latest(stored, change)
    return stored


def net_count(stored: Term, come: Term, go: Term) -> Term:
    """The stored count of equal rows: never negative."""
    return highest(0, stored + come - go)
