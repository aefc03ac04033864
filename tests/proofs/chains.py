"""R10 to R12, R15: output watermarks, and facts above a join."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import z3

from tests.proofs import shapes
from tests.proofs.proof import MONOTONE, OUTPUT, SOUND, TIGHT, Claim, proof
from tests.proofs.rules import (
    JOIN_TYPES,
    LEFT,
    RIGHT,
    SIDES,
    Bound,
    Column,
    Join,
    JoinType,
    Row,
    Watermarks,
    slower_of_received_and_bound,
)
from tests.proofs.shapes import joined
from tests.proofs.terms import (
    ABSENT,
    Maybe,
    Truth,
    all_of,
    any_of,
    greatest,
    implies,
    is_at_least,
    is_below,
    known,
    moved,
    negate,
)


class PassesWatermarksOn(Join):
    """A filter can pass watermarks on; a join delays rows."""

    def output_watermark(self, column: int, watermarks: Watermarks) -> Maybe:
        return watermarks[column]


class FastestBound(Join):
    def output_watermark(self, column: int, watermarks: Watermarks) -> Maybe:
        return greatest([watermarks[column], self.bound(column, watermarks)])


def watermarked_output(join: Join) -> list[int]:
    return [i for i, c in enumerate(join.columns) if c.watermarked and join.governing(i)]


@proof("R10", OUTPUT, rule=Join, weakened=PassesWatermarksOn)
def no_row_below_the_output_watermark_is_emitted_later(kind: type[Join]) -> list[Claim]:
    """A row emitted later is buffered now, arrives later, or is a pair of such rows."""
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        marks = shapes.watermarks(join)
        for column in watermarked_output(join):
            side = join.columns[column].side
            row = shapes.row(join, side)
            out = join.output_watermark(column, marks)
            buffered = all_of(join.survives(side, row, marks), negate(join.contradictory))
            new = negate(join.late(side, row, marks))
            given = [join.arrives(side, row), any_of(buffered, new)]
            found.append(Claim(given, negate(is_below(row[column], out))))
    return found


@proof("R10", MONOTONE, rule=Join, weakened=FastestBound)
def output_watermarks_are_at_most_the_received_ones_and_never_decrease(
    kind: type[Join],
) -> list[Claim]:
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        low, high = shapes.watermarks(join, "low"), shapes.watermarks(join, "high")
        for column in watermarked_output(join):
            before, after = join.output_watermark(column, low), join.output_watermark(column, high)
            kept = all_of(
                implies(before.there, is_at_least(after, before)),
                implies(after.there, is_at_least(high[column], after)),
            )
            found.append(Claim([shapes.not_before(low, high)], kept))
    return found


OutputOfColumn: TypeAlias = Callable[[Maybe, Maybe], Maybe]


def received_alone(own: Maybe, bound: Maybe) -> Maybe:
    return own


@proof("R10", OUTPUT, rule=slower_of_received_and_bound, weakened=received_alone)
def the_output_watermark_depends_on_two_bounding_columns_at_most(output: OutputOfColumn) -> Claim:
    """For any number of columns: `one` and `two` are any two columns that bound the time."""
    time, own, slack_one, slack_two, one, two = z3.Ints("time own slack_one slack_two one two")
    buffered = all_of(time + slack_one >= one, time + slack_two >= two)
    bound = greatest([known(one - slack_one), known(two - slack_two)])
    return Claim([any_of(buffered, time >= own)], time >= output(known(own), bound).value)


class HeldBackByOneMore(Join):
    def output_watermark(self, column: int, watermarks: Watermarks) -> Maybe:
        return moved(super().output_watermark(column, watermarks), -1)


@proof("R10", TIGHT, rule=Join, weakened=HeldBackByOneMore)
def a_row_at_the_output_watermark_can_be_emitted(kind: type[Join]) -> list[Claim]:
    """For `b BETWEEN a - c AND a + d`: a pair with one new row, whose `a` is at the watermark."""
    join = shapes.BOTH_WAYS(kind)
    marks = [known(z3.Int("w_0")), known(z3.Int("w_1"))]
    out = join.output_watermark(0, marks).value
    pair = {0: known(out), 1: known(out + join.slack[0][1])}
    late = [join.late(side, pair, marks) for side in SIDES]
    buffered = [join.survives(side, pair, marks) for side in SIDES]
    possible = any_of(
        all_of(negate(late[LEFT]), buffered[RIGHT]), all_of(negate(late[RIGHT]), buffered[LEFT])
    )
    return [Claim([negate(join.contradictory)], all_of(join.pairs(pair), possible))]


def padded(row: Row, join: Join, side: int) -> Row:
    return {**row, **dict.fromkeys(join.of(1 - side), ABSENT)}


def emitted(join: Join, kind: JoinType) -> list[tuple[Row, list[Truth]]]:
    """The rows that a join emits, with conditions: joined, or unmatched on a preserved side."""
    pair, matched = joined(join)
    found = []
    if kind.left_only:
        left = {i: pair[i] for i in join.of(LEFT)}
        given = [join.arrives(LEFT, left)] if kind.preserved else matched
        return [(left, given)]
    found.append((pair, matched))
    for side in kind.preserved:
        row = shapes.row(join, side)
        found.append((padded(row, join, side), [join.arrives(side, row)]))
    return found


def facts_hold(facts: Sequence[Bound], row: Row) -> Truth:
    return all_of(
        *[
            implies(
                all_of(row[f.later].there, row[f.earlier].there),
                row[f.later].value >= row[f.earlier].value - f.slack,
            )
            for f in facts
        ]
    )


class FactsOfPairsForAllRows(Join):
    def output_facts(self, kind: JoinType) -> list[Bound]:
        n = self.of(LEFT) if kind.left_only else range(len(self.columns))
        return [
            Bound(i, j, self.slack[i][j])
            for i in n
            for j in n
            if i != j and self.slack[i][j] is not None
        ]


@proof("R11", SOUND, rule=Join, weakened=FactsOfPairsForAllRows)
def each_emitted_row_satisfies_the_facts(kind: type[Join]) -> list[Claim]:
    return [
        Claim(given, facts_hold(join.output_facts(how), row))
        for shape in shapes.ALL
        for join in [shape(kind)]
        for how in JOIN_TYPES
        for row, given in emitted(join, how)
    ]


class PadsNothing(Join):
    def nullable_in_output(self, column: int, kind: JoinType) -> bool:
        return self.columns[column].nullable and not self.constrained(column)


@proof("R12", SOUND, rule=Join, weakened=PadsNothing)
def a_column_declared_not_nullable_has_no_null(kind: type[Join]) -> list[Claim]:
    return [
        Claim(
            given,
            all_of(*[t.there for i, t in row.items() if not join.nullable_in_output(i, how)]),
        )
        for shape in shapes.ALL
        for join in [shape(kind)]
        for how in JOIN_TYPES
        for row, given in emitted(join, how)
    ]


class LateByTheInputs(Join):
    def output_watermark(self, column: int, watermarks: Watermarks) -> Maybe:
        return watermarks[column]


@proof("R15", OUTPUT, rule=Join, weakened=LateByTheInputs)
def no_emitted_row_is_late_at_the_upper_join(kind: type[Join]) -> list[Claim]:
    """The upper join uses the output facts and the output watermark of the previous batch."""
    found = []
    for shape in shapes.ALL:
        lower = shape(kind)
        for how in JOIN_TYPES:
            upper = above(lower, how)
            marks = shapes.watermarks(lower)
            received = [
                lower.output_watermark(i, marks) if upper.columns[i].watermarked else ABSENT
                for i in range(len(upper.columns))
            ]
            for row, given in emitted(lower, how):
                came = []
                for side in SIDES:
                    own = {i: t for i, t in row.items() if i in lower.of(side)}
                    if own and any(t.there is not False for t in own.values()):
                        new = negate(lower.late(side, own, marks))
                        stays = lower.survives(side, own, marks)
                        buffered = all_of(stays, negate(lower.contradictory))
                        came.append(any_of(new, buffered))
                found.append(
                    Claim(
                        [*given, *came],
                        all_of(upper.arrives(LEFT, row), negate(upper.late(LEFT, row, received))),
                    )
                )
    return found


def above(lower: Join, how: JoinType) -> Join:
    """The left input of the upper join."""
    kept = lower.of(LEFT) if how.left_only else range(len(lower.columns))
    watermarked = watermarked_output(lower)
    columns = [Column(LEFT, i in watermarked, lower.nullable_in_output(i, how)) for i in kept]
    return Join(columns, (), lower.output_facts(how))
