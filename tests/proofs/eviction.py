"""R1, R2, R7, R8, R17: received watermarks, late rows, limits and evicted rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import z3

from tests.proofs import shapes
from tests.proofs.proof import EXACT, MONOTONE, SOUND, TIGHT, Claim, proof
from tests.proofs.rules import (
    SIDES,
    Group,
    Join,
    Row,
    Watermarks,
    has_passed,
    of_group,
    of_groups,
    received,
)
from tests.proofs.shapes import joined, unknown_or
from tests.proofs.terms import (
    ABSENT,
    Maybe,
    Term,
    Truth,
    all_of,
    any_of,
    greatest,
    highest,
    implies,
    is_at_least,
    is_below,
    known,
    least,
    moved,
    negate,
    same,
)

Received: TypeAlias = Callable[[Maybe, Maybe, Term], Maybe]


def of_the_batch_alone(before: Maybe, largest: Maybe, lag: Term) -> Maybe:
    return moved(largest, -lag)


@proof("R1", MONOTONE, rule=received, weakened=of_the_batch_alone)
def a_watermark_never_decreases(rule: Received) -> Claim:
    """With any later lag."""
    before, largest, lag = unknown_or("before"), unknown_or("largest"), z3.Int("lag")
    return Claim([before.there], is_at_least(rule(before, largest, lag), before))


@proof("R1", EXACT, rule=received, weakened=of_the_batch_alone)
def a_watermark_does_not_depend_on_order_or_batches(rule: Received) -> Claim:
    before, one, two = unknown_or("before"), unknown_or("one"), unknown_or("two")
    lag = z3.Int("lag")
    apart = rule(rule(before, one, lag), two, lag)
    together = rule(before, greatest([one, two]), lag)
    return Claim(
        [],
        all_of(apart.there == together.there, implies(apart.there, apart.value == together.value)),
    )


OfGroups: TypeAlias = Callable[[Maybe, Sequence[Group], Term], Maybe]


def of_the_fastest(column: Maybe, groups: Sequence[Group], lag: Term) -> Maybe:
    return greatest([column, *[of_group(column, g, lag) for g in groups]])


def of_the_groups_alone(column: Maybe, groups: Sequence[Group], lag: Term) -> Maybe:
    return least(of_group(column, g, lag) for g in groups)


def without_a_lag(column: Maybe, groups: Sequence[Group], lag: Term) -> Maybe:
    return of_groups(column, groups, 0)


def some_groups() -> list[Group]:
    """Two groups stand for any number: the slowest one, and any other."""
    return [
        Group(unknown_or(f"{name}_before"), unknown_or(f"{name}_largest"), z3.Bool(f"{name}_idle"))
        for name in ("one", "two")
    ]


@proof("R1", MONOTONE, rule=of_groups, weakened=of_the_groups_alone)
def a_watermark_of_groups_never_decreases(rule: OfGroups) -> Claim:
    """With any groups, new ones among them, and whichever are idle."""
    column, lag = unknown_or("column"), z3.Int("lag")
    return Claim([column.there], is_at_least(rule(column, some_groups(), lag), column))


@proof("R1", SOUND, rule=of_groups, weakened=of_the_fastest)
def no_other_group_makes_a_row_late(rule: OfGroups) -> Claim:
    """A row in time for its column and for its own group stays in time at the end of the batch."""
    column, lag, row = unknown_or("column"), z3.Int("lag"), known(z3.Int("row"))
    groups = some_groups()
    own = groups[0]
    return Claim(
        [
            negate(own.idle),
            negate(is_below(row, column)),
            negate(is_below(row, of_group(column, own, lag))),
        ],
        negate(is_below(row, rule(column, groups, lag))),
    )


@proof("R1", EXACT, rule=of_groups, weakened=without_a_lag)
def the_watermark_of_one_group_is_that_of_the_column(rule: OfGroups) -> Claim:
    column, largest, lag = unknown_or("column"), unknown_or("largest"), z3.Int("lag")
    one, alone = rule(column, [Group(column, largest)], lag), received(column, largest, lag)
    idle = rule(column, [Group(column, ABSENT, True)], lag)

    def equal(a: Maybe, b: Maybe) -> Truth:
        return all_of(a.there == b.there, implies(a.there, a.value == b.value))

    return Claim([], all_of(equal(one, alone), equal(idle, column)))


@proof("R1", MONOTONE, rule=of_groups, weakened=without_a_lag)
def groups_have_no_more_late_rows(rule: OfGroups) -> Claim:
    """The watermark of groups is never above that of the column without them."""
    grouped, plain = unknown_or("grouped"), unknown_or("plain")
    lag, groups = z3.Int("lag"), some_groups()

    def not_above(a: Maybe, b: Maybe) -> Truth:
        return implies(a.there, all_of(b.there, a.value <= b.value))

    largest = greatest(g.largest for g in groups)
    return Claim(
        [not_above(grouped, plain), *[not_above(g.before, plain) for g in groups]],
        not_above(rule(grouped, groups, lag), received(plain, largest, lag)),
    )


class LateAtTheWatermark(Join):
    def late(self, side: int, row: Row, watermarks: Watermarks) -> Truth:
        own = [i for i in self.of(side) if self.columns[i].watermarked]
        return any_of(*[negate(is_at_least(row[i], moved(watermarks[i], 1))) for i in own])


@proof("R2", EXACT, rule=Join, weakened=LateAtTheWatermark)
def a_row_is_late_if_a_time_is_strictly_below_its_watermark(kind: type[Join]) -> list[Claim]:
    """A row at its watermarks is not late, and NULL or an unknown watermark makes no row late."""
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        for side in SIDES:
            row, marks = shapes.row(join, side), shapes.watermarks(join)
            below = [
                all_of(time.there, marks[i].there, time.value < marks[i].value)
                for i, time in row.items()
            ]
            found.append(Claim([], same(join.late(side, row, marks), any_of(*below))))
    return found


class LimitOfTheLargestSum(Join):
    def limit(self, side: int, row: Row, column: int) -> Maybe:
        return greatest(
            moved(row[a], self.slack[a][column])
            for a in self.of(side)
            if self.slack[a][column] is not None
        )


class LimitOneBelow(Join):
    def limit(self, side: int, row: Row, column: int) -> Maybe:
        return moved(super().limit(side, row, column), -1)


@proof("R7", SOUND, rule=Join, weakened=LimitOneBelow)
def no_partner_is_above_a_limit(kind: type[Join]) -> list[Claim]:
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        pair, given = joined(join)
        for side in SIDES:
            limits = [(b, join.limit(side, pair, b)) for b in join.of(1 - side)]
            found.append(
                Claim(given, all_of(*[negate(is_below(limit, pair[b])) for b, limit in limits]))
            )
    return found


@proof("R7", TIGHT, rule=Join, weakened=LimitOfTheLargestSum)
def a_partner_can_be_at_all_limits(kind: type[Join]) -> list[Claim]:
    return partners_at_all_limits(kind)


def partners_at_all_limits(kind: type[Join]) -> list[Claim]:
    """Claim that the best partner of each row is a pair, before any watermark is known."""
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        unknown = [ABSENT for _ in join.columns]
        for side in SIDES:
            row = shapes.row(join, side)
            partner = best_partner(join, side, row, unknown)
            found.append(
                Claim(
                    [join.arrives(side, row), join.may_match(side, row)],
                    all_of(join.arrives(1 - side, partner), join.pairs({**row, **partner})),
                )
            )
    return found


Passed: TypeAlias = Callable[[Maybe, Maybe], Truth]


def has_reached(limit: Maybe, mark: Maybe) -> Truth:
    return is_at_least(mark, limit)


@proof("R8", SOUND, rule=has_passed, weakened=has_reached)
def one_limit_alone_determines_eviction(passed: Passed) -> Claim:
    """For any number of columns: `a` and `b` are the columns of the limit that evicts the row."""
    a, b, slack, mark = z3.Ints("a b slack mark")
    return Claim([passed(known(a + slack), known(mark)), b >= mark], negate(a >= b - slack))


class EvictsAtTheLimit(Join):
    def survives(self, side: int, row: Row, watermarks: Watermarks) -> Truth:
        return all_of(
            *[
                negate(is_at_least(watermarks[b], self.limit(side, row, b)))
                for b in self.limiting(side)
            ]
        )


@proof("R8", SOUND, rule=Join, weakened=EvictsAtTheLimit)
def no_row_that_is_not_late_matches_an_evicted_one(kind: type[Join]) -> list[Claim]:
    return [claim for shape in shapes.ALL for claim in evicted_rows_have_no_partner(shape(kind))]


class LimitedByTimesThatMayBeNull(Join):
    def certain(self, column: int) -> bool:
        return True


@proof("R4", SOUND, rule=Join, weakened=LimitedByTimesThatMayBeNull)
def the_watermark_of_a_time_that_may_be_null_evicts_nothing(kind: type[Join]) -> list[Claim]:
    shapes_with_null = (shapes.OWN_NULL, shapes.PARTNER_NULL, shapes.CHAIN_OF_FACTS)
    return [c for shape in shapes_with_null for c in evicted_rows_have_no_partner(shape(kind))]


def evicted_rows_have_no_partner(join: Join) -> list[Claim]:
    pair, given = joined(join)
    marks = shapes.watermarks(join)
    return [
        Claim(
            [*given, negate(join.late(1 - side, pair, marks))],
            join.survives(side, pair, marks),
        )
        for side in SIDES
    ]


class StaysUntilAllLimitsHavePassed(Join):
    def survives(self, side: int, row: Row, watermarks: Watermarks) -> Truth:
        limiting = self.limiting(side)
        passed = [is_below(self.limit(side, row, b), watermarks[b]) for b in limiting]
        return negate(all_of(*passed)) if limiting else True


@proof("R8", TIGHT, rule=Join, weakened=StaysUntilAllLimitsHavePassed)
def a_buffered_row_has_a_partner_that_is_not_late(kind: type[Join]) -> list[Claim]:
    """The partner whose times are the limits of the row."""
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        for side in SIDES:
            row, marks = shapes.row(join, side), shapes.watermarks(join)
            partner = best_partner(join, side, row, marks)
            pair = {**row, **partner}
            found.append(
                Claim(
                    [
                        join.arrives(side, row),
                        join.may_match(side, row),
                        join.survives(side, row, marks),
                    ],
                    all_of(
                        join.arrives(1 - side, partner),
                        join.pairs(pair),
                        negate(join.late(1 - side, partner, marks)),
                    ),
                )
            )
    return found


def best_partner(join: Join, side: int, row: Row, marks: Watermarks) -> Row:
    """Each certain time is at its limit; one without a limit is as late as the others require."""
    certain = [b for b in join.of(1 - side) if join.certain(b)]
    limited = {b: limit for b in certain if (limit := join.limit(side, row, b)).there is True}
    free = {
        b: known(
            highest(
                0,
                *[
                    highest(0, choose_value(moved(other, -join.slack[b][i])))
                    for i, other in {**row, **limited}.items()
                    if join.slack[b][i] is not None
                ],
                choose_value(marks[b]),
            )
        )
        for b in certain
        if b not in limited
    }
    return {b: {**limited, **free}.get(b, ABSENT) for b in join.of(1 - side)}


def choose_value(time: Maybe) -> Term:
    return greatest([time, known(0)]).value if time.there is not True else time.value


Least: TypeAlias = Callable[[Iterable[Maybe]], Maybe]


def first_of(some: Iterable[Maybe]) -> Maybe:
    return next((one for one in some if one.there), ABSENT)


@proof("R8", TIGHT, rule=least, weakened=first_of)
def limits_satisfy_all_bounds_of_any_number_of_columns(smaller: Least) -> list[Claim]:
    """The times of that partner, for a row with any number of times.

    `j` and `i` are any two certain columns of the other input, `a` is any time of the row. `u` is
    the time whose sum with the slack is the limit of `j`.
    """
    u, a, mark = z3.Ints("u a mark")
    uj, ui, ua, aj, ai, ja, ji = z3.Ints("uj ui ua aj ai ja ji")
    limit_j, limit_i = (
        smaller(map(known, sums)).value for sums in [(a + aj, u + uj), (a + ai, u + ui)]
    )
    closed = [ui <= uj + ji, ua <= uj + ja]
    filtered = u >= a - ua
    attained = u + uj <= a + aj
    return [
        Claim([*closed, attained], limit_j >= limit_i - ji),
        Claim([*closed, attained, filtered], limit_j >= a - ja),
        Claim([attained], a >= limit_j - aj),
        Claim([attained, mark <= u + uj], limit_j >= mark),
    ]


class EvictsWhatIsJustPassed(Join):
    def survives(self, side: int, row: Row, watermarks: Watermarks) -> Truth:
        limits = [(moved(self.limit(side, row, b), 1), watermarks[b]) for b in self.limiting(side)]
        return negate(any_of(*[all_of(is_at_least(a, b), is_at_least(b, a)) for a, b in limits]))


@proof("R8", MONOTONE, rule=Join, weakened=EvictsWhatIsJustPassed)
def a_higher_watermark_evicts_every_row_that_a_lower_one_evicts(kind: type[Join]) -> list[Claim]:
    """So a task with an older watermark evicts fewer rows, never more."""
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        low, high = shapes.watermarks(join, "low"), shapes.watermarks(join, "high")
        for side in SIDES:
            row = shapes.row(join, side)
            found.append(
                Claim(
                    [shapes.not_before(low, high), join.survives(side, row, high)],
                    join.survives(side, row, low),
                )
            )
    return found


class LimitedByEventTimesOnly(Join):
    def limit(self, side: int, row: Row, column: int) -> Maybe:
        return least(
            moved(row[a], self.slack[a][column])
            for a in self.of(side)
            if self.slack[a][column] is not None and self.columns[a].watermarked
        )


@proof("R17", EXACT, rule=Join, weakened=LimitedByEventTimesOnly)
def each_buffered_row_has_each_limit(kind: type[Join]) -> list[Claim]:
    """So no row is buffered for ever if a watermark limits the side."""
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        for side in SIDES:
            row = shapes.row(join, side)
            limits = [join.limit(side, row, b).there for b in join.limiting(side)]
            found.append(
                Claim([join.arrives(side, row), join.may_match(side, row)], all_of(*limits))
            )
    return found
