"""R16, R18, R19: watermarks of idle inputs, computed times, and remaining rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import z3

from tests.proofs import shapes
from tests.proofs.proof import MONOTONE, OUTPUT, SOUND, Claim, proof
from tests.proofs.rules import (
    AsOf,
    Partners,
    Plans,
    remaining,
    rivals,
    settled,
)
from tests.proofs.shapes import unknown_or
from tests.proofs.terms import (
    ABSENT,
    Maybe,
    Term,
    Truth,
    all_of,
    any_of,
    choose,
    greatest,
    implies,
    is_at_least,
    is_below,
    known,
    least_if_all,
    negate,
)

Settled: TypeAlias = Callable[[Maybe, Sequence[Maybe]], Maybe]


def follows_back(arrived: Maybe, rivals: Sequence[Maybe]) -> Maybe:
    return least_if_all(rivals)


@proof("R16", MONOTONE, rule=settled, weakened=follows_back)
def the_watermark_of_an_idle_input_never_decreases(rule: Settled) -> Claim:
    """Also if it is idle in one batch, and its rivals change in the next."""
    arrived, first, second = unknown_or("arrived"), unknown_or("first"), unknown_or("second")
    before = rule(arrived, [first])
    return Claim([before.there], is_at_least(rule(before, [first, second]), before))


def follows_the_fastest(arrived: Maybe, rivals: Sequence[Maybe]) -> Maybe:
    return greatest([arrived, *rivals])


@proof("R16", SOUND, rule=settled, weakened=follows_the_fastest)
def the_watermark_of_an_idle_input_passes_no_rival(rule: Settled) -> Claim:
    arrived, first, second = unknown_or("arrived"), unknown_or("first"), unknown_or("second")
    after = rule(arrived, [first, second])
    return Claim(
        [after.there, first.there, second.there, negate(is_at_least(arrived, after))],
        all_of(after.value <= first.value, after.value <= second.value),
    )


Rivals: TypeAlias = Callable[[Sequence[Maybe], Sequence[Maybe]], Sequence[Maybe]]


def of_the_join_above(below: Sequence[Maybe], above: Sequence[Maybe]) -> Sequence[Maybe]:
    return above


@proof("R16", OUTPUT, rule=rivals, weakened=of_the_join_above)
def an_idle_asof_join_emits_no_row_late_at_the_upper_join(rule: Rivals) -> Claim:
    """Both of its sides are idle and follow no input; the upper join's other input is not idle."""
    asof, probe = AsOf(z3.Int("reach"), None), z3.Int("probe")
    sides = [unknown_or("probe_watermark"), unknown_or("build_watermark")]
    at_the_join_above = [settled(side, rule([], [unknown_or("above")])) for side in sides]
    return Claim(
        [negate(asof.is_due(True, probe, asof.limit(*sides)))],
        negate(is_below(known(probe), asof.probe_watermark(*at_the_join_above))),
    )


class HastyPlans(Plans):
    union = Plans.greatest


@proof("R18", SOUND, rule=Plans, weakened=HastyPlans)
def computed_times_are_not_below_their_watermarks(plans: type[Plans]) -> list[Claim]:
    t, u, end, distance = z3.Ints("t u end distance")
    w, v = unknown_or("w"), unknown_or("v")
    t_in_time, u_in_time = negate(is_below(known(t), w)), negate(is_below(known(u), v))
    later = choose(t >= u, t, u)

    def stays_above(time: Term, watermark: Maybe) -> Truth:
        return negate(is_below(known(time), watermark))

    return [
        Claim([any_of(t_in_time, all_of(u_in_time, t == u))], stays_above(t, plans.union([w, v]))),
        Claim([t_in_time, u_in_time], stays_above(later, plans.greatest([w, v]))),
        Claim([t_in_time], stays_above(t + distance, plans.shifted(w, distance))),
        Claim([t_in_time, t < end], stays_above(end, plans.window(w))),
    ]


class MirroredPlans(Plans):
    @staticmethod
    def shifted(watermark: Maybe, distance: Term) -> Maybe:
        return Maybe(watermark.there, distance - watermark.value)


@proof("R18", MONOTONE, rule=Plans, weakened=MirroredPlans)
def computed_watermarks_rise_with_the_source_watermarks(plans: type[Plans]) -> list[Claim]:
    low, high = [unknown_or("w"), unknown_or("v")], [unknown_or("x"), unknown_or("y")]
    distance = z3.Int("distance")
    given = [shapes.not_before(low, high)]

    def rises(before: Maybe, after: Maybe) -> Claim:
        return Claim([*given, before.there], is_at_least(after, before))

    return [
        rises(plans.union(low), plans.union(high)),
        rises(plans.greatest(low), plans.greatest(high)),
        rises(plans.shifted(low[0], distance), plans.shifted(high[0], distance)),
        rises(plans.window(low[0]), plans.window(high[0])),
    ]


Remaining: TypeAlias = Callable[..., Maybe]


def without_unmatched(
    promised: Maybe,
    to_come: Maybe,
    buffered: Maybe,
    unmatched: Maybe,
    preserved: bool,
    governing: Sequence[Partners],
) -> Maybe:
    return remaining(promised, to_come, buffered, ABSENT, preserved, governing)


@proof("R19", OUTPUT, rule=remaining, weakened=without_unmatched)
def no_row_below_the_remaining_bound_is_emitted(rule: Remaining) -> list[Claim]:
    """For a column and two governing ones: buffered or new rows, joined or unmatched."""
    time, one, two = z3.Ints("time one two")
    slack = z3.Ints("slack_one slack_two")
    promised, to_come = unknown_or("promised"), unknown_or("to_come")
    buffered, unmatched = unknown_or("buffered"), unknown_or("unmatched")
    partners = [
        Partners(
            s,
            unknown_or(f"{name}_to_come"),
            Maybe(z3.Bool("any_partner"), z3.Int(f"{name}_buffered")),
        )
        for s, name in zip(slack, ["one", "two"], strict=True)
    ]
    given = [
        negate(is_below(known(time), promised)),
        # An unmatched row is one of the buffered rows.
        implies(unmatched.there, all_of(buffered.there, buffered.value <= unmatched.value)),
    ]

    def not_below(value: Term, limit: Maybe) -> Truth:
        return negate(is_below(known(value), limit))

    def held(value: Term, limit: Maybe) -> Truth:
        return all_of(limit.there, value >= limit.value)

    meets = [time >= one - slack[0], time >= two - slack[1]]
    new_partner = [not_below(v, p.to_come) for v, p in zip([one, two], partners, strict=True)]
    held_partner = [held(v, p.buffered) for v, p in zip([one, two], partners, strict=True)]
    found = []
    for preserved in (False, True):
        limit = rule(promised, to_come, buffered, unmatched, preserved, partners)
        cases = [
            all_of(held(time, buffered), *meets, *new_partner),
            all_of(not_below(time, to_come), *meets, *new_partner),
            all_of(not_below(time, to_come), *meets, *held_partner),
        ]
        if preserved:
            cases += [held(time, unmatched), not_below(time, to_come)]
        found.append(Claim([*given, any_of(*cases)], not_below(time, limit)))
    return found
