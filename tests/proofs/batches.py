"""R9, R13, R14: rows in micro-batches, and unmatched rows."""

from __future__ import annotations

from itertools import pairwise

from tests.proofs import shapes
from tests.proofs.eviction import partners_at_all_limits
from tests.proofs.proof import MONOTONE, SOUND, TIGHT, Claim, proof
from tests.proofs.rules import LEFT, SIDES, Join, MicroBatch, Row, Watermarks
from tests.proofs.shapes import joined
from tests.proofs.terms import Truth, all_of, any_of, is_below, moved, negate


class KeepsOnlyWhatTheEndOfTheBatchLets(MicroBatch):
    @property
    def buffered_first(self) -> Watermarks:
        return self.now


def watermarks_of_batches(join: Join, count: int) -> tuple[list[Watermarks], list[Truth]]:
    """The watermarks after each batch, and the formula that they never decrease."""
    marks = [shapes.watermarks(join, f"w{n}") for n in range(count)]
    return marks, [shapes.not_before(a, b) for a, b in pairwise(marks)]


@proof("R13", SOUND, rule=MicroBatch, weakened=KeepsOnlyWhatTheEndOfTheBatchLets)
def two_matching_rows_on_time_are_joined(batch: type[MicroBatch]) -> list[Claim]:
    """The row that arrives first, in the same or an earlier batch, is still buffered."""
    found = []
    for shape in shapes.ALL:
        join = shape(Join)
        (before, now, later), monotone = watermarks_of_batches(join, 3)
        this, following = batch(before, now), batch(now, later)
        pair, matched = joined(join)
        for first in SIDES:
            second = 1 - first
            given = [*monotone, *matched]
            # both rows in one batch: the first is buffered while the batch is read
            in_time = negate(join.late(second, pair, this.late))
            found.append(Claim([*given, in_time], join.survives(first, pair, this.buffered_first)))
            # the second row in the next batch, from either input
            in_time = negate(join.late(second, pair, following.late))
            stays = [
                join.survives(first, pair, marks)
                for marks in (this.buffered_first, this.buffered_second, this.evicted)
            ]
            found.append(Claim([*given, in_time], all_of(*stays)))
    return found


class LateByTheEndOfTheBatch(MicroBatch):
    @property
    def late(self) -> Watermarks:
        return self.now


@proof("R14", MONOTONE, rule=MicroBatch, weakened=LateByTheEndOfTheBatch)
def no_row_is_late_in_larger_batches_only(
    batch: type[MicroBatch],
) -> list[Claim]:
    """A row of the second of two batches, and the same row in one combined batch."""
    found = []
    for shape in shapes.ALL:
        join = shape(Join)
        (before, between, now), monotone = watermarks_of_batches(join, 3)
        row = shapes.row(join, LEFT)
        together = batch(before, now)
        found.append(
            Claim(
                [*monotone, negate(join.late(LEFT, row, between))],
                negate(join.late(LEFT, row, together.late)),
            )
        )
    return found


class ForgetsItsOwnFilter(Join):
    def consistent(self, side: int, row: Row) -> Truth:
        own = self.of(side)
        there = [row[i].there for i in own]
        return any_of(negate(all_of(*there)), *[row[i].value == row[i].value for i in own])


class EvictsOneTooSoon(Join):
    def survives(self, side: int, row: Row, watermarks: Watermarks) -> Truth:
        return all_of(
            *[
                negate(is_below(moved(self.limit(side, row, b), -1), watermarks[b]))
                for b in self.limiting(side)
            ]
        )


@proof("R9", SOUND, rule=Join, weakened=EvictsOneTooSoon)
def an_unmatched_row_matches_no_later_row(kind: type[Join]) -> list[Claim]:
    """The join emits it if it can match nothing, or if it is evicted without a match."""
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        (now, later), monotone = watermarks_of_batches(join, 2)
        left, right = shapes.row(join, 0), shapes.row(join, 1)
        pair = {**left, **right}
        arrive = [join.arrives(side, pair) for side in SIDES]
        for side in SIDES:
            settled = any_of(
                negate(join.may_match(side, pair)), negate(join.survives(side, pair, now))
            )
            in_time = negate(join.late(1 - side, pair, later))
            hopeless = negate(join.may_match(side, pair))
            found.append(Claim([*monotone, *arrive, settled, in_time], negate(join.pairs(pair))))
            found.append(Claim([*arrive, hopeless], negate(join.pairs(pair))))
    return found


@proof("R9", TIGHT, rule=Join, weakened=ForgetsItsOwnFilter)
def a_buffered_row_can_match(kind: type[Join]) -> list[Claim]:
    return partners_at_all_limits(kind)
