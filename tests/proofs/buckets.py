"""R31: distribution of rows without an equality, by time buckets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import z3

from tests.proofs.proof import SOUND, Claim, proof
from tests.proofs.rules import neighbour, shift_and_reach
from tests.proofs.terms import Term, all_of, any_of

Neighbour: TypeAlias = Callable[[Term, Term, Term], Term]


def nearer(within: Term, reach: Term, width: Term) -> Term:
    return neighbour(within, reach - 1, width)


@proof("R31", SOUND, rule=neighbour, weakened=nearer)
def one_of_two_partners_is_replicated_to_the_bucket_of_the_other(rule: Neighbour) -> Claim:
    """A time is the bucket number times the width, plus an offset within the bucket."""
    width, reach = z3.Ints("width reach")
    bucket, within, other, place = z3.Ints("bucket within other place")
    time, partner = bucket * width + within, other * width + place
    together = bucket == other
    beside = all_of(
        other == bucket + rule(within, reach, width), bucket == other + rule(place, reach, width)
    )
    return Claim(
        [
            reach >= 0,
            width >= 1,
            width >= 2 * reach,
            all_of(within >= 0, within < width),
            all_of(place >= 0, place < width),
            all_of(time - partner <= reach, partner - time <= reach),
        ],
        any_of(together, beside),
    )


Reach: TypeAlias = Callable[[Term, Term], tuple[Term, Term]]


def without_rounding_up(before: Term, after: Term) -> tuple[Term, Term]:
    shift, _ = shift_and_reach(before, after)
    return shift, before + shift


@proof("R31", SOUND, rule=shift_and_reach, weakened=without_rounding_up)
def partners_are_no_further_apart_than_the_reach(rule: Reach) -> Claim:
    """For ``r BETWEEN l - before AND l + after``."""
    left, right, before, after = z3.Ints("left right before after")
    shift, reach = rule(before, after)
    apart = right - shift - left
    return Claim(
        [right >= left - before, right <= left + after], all_of(apart <= reach, -apart <= reach)
    )
