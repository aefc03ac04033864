"""R3 to R6: consequences of bounds, NULL, contradictions, and one-sided filters."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import product
from typing import TypeAlias

import z3

from tests.proofs import shapes
from tests.proofs.proof import EXACT, SOUND, TIGHT, Claim, proof
from tests.proofs.rules import LEFT, RIGHT, SIDES, Join, Row, Slack, shorter
from tests.proofs.shapes import joined
from tests.proofs.terms import Truth, all_of, any_of, choose, implies

Step: TypeAlias = Callable[[Slack, Slack, Slack], Slack]


def shorter_by_one(direct: Slack, first: Slack, second: Slack) -> Slack:
    found = shorter(direct, first, second)
    return found if found is None else found - 1


def never_shorter(direct: Slack, first: Slack, second: Slack) -> Slack:
    return direct


@proof("R3", SOUND, rule=shorter, weakened=shorter_by_one)
def a_step_of_the_closure_is_satisfied_by_each_pair(step: Step) -> Claim:
    """For any number of columns: i, k and j are any three of them."""
    i, k, j = z3.Ints("i k j")
    direct, first, second = z3.Ints("direct first second")
    return Claim(
        [i >= j - direct, i >= k - first, k >= j - second], i >= j - step(direct, first, second)
    )


@proof("R3", TIGHT, rule=shorter, weakened=never_shorter)
def after_its_steps_no_path_is_shorter(step: Step) -> list[Claim]:
    """For any number of columns: a property of the columns passed so far also holds with one more.

    `i` and `j` are any two columns, `k` is a column passed before, `m` is the next one.
    """
    claims = []
    names = ["ij", "ik", "kj", "im", "mj", "km", "mk"]
    for finite in product([True, False], repeat=len(names)):
        d: dict[str, Slack] = {
            name: z3.Int(name) if there else None for name, there in zip(names, finite, strict=True)
        }
        d["mm"] = z3.Int("mm")
        given: list[Truth] = [d["mm"] >= 0]
        for whole, first, second in [
            ("ij", "ik", "kj"),
            ("im", "ik", "km"),
            ("mj", "mk", "kj"),
            ("mm", "mk", "km"),
        ]:
            given.append(no_longer(d[whole], d[first], d[second]))
        after = {
            name: step(d[name], d[name[0] + "m"], d["m" + name[1]]) for name in ["ij", "ik", "kj"]
        }
        claims.append(Claim(given, no_longer(after["ij"], after["ik"], after["kj"])))
        claims.append(Claim(given, no_longer(after["ij"], d["im"], d["mj"])))
    return claims


def no_longer(whole: Slack, first: Slack, second: Slack) -> Truth:
    if first is None or second is None:
        return True
    return False if whole is None else whole <= first + second


@proof("R3", TIGHT, rule=shorter, weakened=never_shorter)
def each_slack_is_reached_by_a_solution(step: Step) -> Claim:
    """For any number of columns: with `x` at `-slack(x, j)`, each bound `x >= y - slack` holds."""
    direct, to_y, from_y = z3.Ints("direct to_y from_y")
    slack = step(direct, to_y, from_y)
    return Claim([], -slack >= -from_y - to_y)


class ChainsThroughNull(Join):
    def certain(self, column: int) -> bool:
        return True


class DemandsMore(Join):
    @cached_property
    def slack(self) -> list[list[Slack]]:
        found = super().slack
        return [
            [s if s is None or i == j else s - 1 for j, s in enumerate(of)]
            for i, of in enumerate(found)
        ]


@proof("R3", SOUND, rule=Join, weakened=DemandsMore)
def each_pair_satisfies_the_closure(kind: type[Join]) -> list[Claim]:
    return [closure_holds(shape(kind)) for shape in shapes.ALL]


@proof("R4", SOUND, rule=Join, weakened=ChainsThroughNull)
def a_nullable_time_implies_no_bound(kind: type[Join]) -> list[Claim]:
    return [
        closure_holds(shape(kind))
        for shape in (shapes.OWN_NULL, shapes.PARTNER_NULL, shapes.CHAIN_OF_FACTS)
    ]


def closure_holds(join: Join) -> Claim:
    pair, given = joined(join)
    n = range(len(join.columns))
    return Claim(
        given,
        all_of(
            *[
                implies(
                    all_of(pair[i].there, pair[j].there),
                    pair[i].value >= pair[j].value - join.slack[i][j],
                )
                for i in n
                for j in n
                if join.slack[i][j] is not None
            ]
        ),
    )


class ContradictedByEqualEnds(Join):
    @cached_property
    def contradictory(self) -> Truth:
        n = range(len(self.columns))
        cycles = [
            self.slack[i][j] + self.slack[j][i] <= 0
            for i in n
            for j in n
            if i != j and self.slack[i][j] is not None and self.slack[j][i] is not None
        ]
        return any_of(*cycles)


@proof("R5", SOUND, rule=Join, weakened=ContradictedByEqualEnds)
def contradictory_bounds_have_no_pair(kind: type[Join]) -> list[Claim]:
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        _, given = joined(join)
        found.append(Claim([join.contradictory], z3.Not(all_of(*given))))
    return found


class NeverContradictory(Join):
    @cached_property
    def contradictory(self) -> Truth:
        return False


@proof("R5", EXACT, rule=Join, weakened=NeverContradictory)
def bounds_that_are_not_contradictory_have_a_pair(kind: type[Join]) -> list[Claim]:
    """The pair with the times `-slack(x, j)`, for a `j` that bounds each other column."""
    found = []
    for shape in (shapes.BOTH_WAYS, shapes.TWO_LIMITS, shapes.BETWEEN):
        join = shape(kind)
        left, right = shapes.row(join, LEFT), shapes.row(join, RIGHT)
        pair = {**left, **right}
        j = 1
        placed = all_of(*[t.value == -join.slack[x][j] for x, t in pair.items()])
        holds = all_of(join.arrives(LEFT, left), join.arrives(RIGHT, right), join.pairs(pair))
        found.append(Claim([z3.Not(join.contradictory), placed], holds))
    return found


class FiltersEqualTimes(Join):
    def consistent(self, side: int, row: Row) -> Truth:
        own = self.of(side)
        return all_of(
            super().consistent(side, row),
            *[
                choose(
                    all_of(row[i].there, row[j].there),
                    row[i].value > row[j].value - self.slack[i][j],
                    True,
                )
                for i in own
                for j in own
                if i != j and self.slack[i][j] is not None
            ],
        )


@proof("R6", SOUND, rule=Join, weakened=FiltersEqualTimes)
def a_row_that_fails_the_filter_matches_nothing(kind: type[Join]) -> list[Claim]:
    found = []
    for shape in shapes.ALL:
        join = shape(kind)
        pair, given = joined(join)
        found += [Claim(given, join.consistent(side, pair)) for side in SIDES]
    return found
