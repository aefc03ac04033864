"""R20: output in the order of event time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import z3

from tests.proofs.proof import EXACT, SOUND, TIGHT, Claim, proof
from tests.proofs.rules import comes_out
from tests.proofs.shapes import unknown_or
from tests.proofs.terms import (
    Maybe,
    Term,
    Truth,
    all_of,
    any_of,
    implies,
    is_at_least,
    is_below,
    known,
    moved,
    negate,
    same,
)

ComesOut: TypeAlias = Callable[[Term, Maybe, Maybe, bool], Truth]


def as_if_untied(time: Term, before: Maybe, now: Maybe, tied: bool) -> Truth:
    return comes_out(time, before, now, False)


@proof("R20", SOUND, rule=comes_out, weakened=as_if_untied)
def each_batch_is_above_all_earlier_ones(rule: ComesOut) -> list[Claim]:
    """An emitted row, and one that is buffered or arrives later."""
    early, late, key, other = z3.Ints("early late key other")
    before, now = unknown_or("before"), unknown_or("now")
    found = []
    for tied in (False, True):
        comes = rule(early, before, now, tied)
        held = all_of(negate(is_below(known(late), before)), negate(rule(late, before, now, tied)))
        arrives = negate(is_below(known(late), now))
        in_order = any_of(
            early < late, all_of(early == late, key <= other) if tied else early == late
        )
        advanced = implies(before.there, is_at_least(now, before))
        found.append(Claim([advanced, comes, any_of(held, arrives)], in_order))
    return found


def one_late(time: Term, before: Maybe, now: Maybe, tied: bool) -> Truth:
    return comes_out(time, before, moved(now, -1), tied)


@proof("R20", TIGHT, rule=comes_out, weakened=one_late)
def a_buffered_row_waits_for_a_row_that_can_arrive(rule: ComesOut) -> list[Claim]:
    """The row at the limit of the batch that sorts before it, with a smaller key if necessary."""
    time, before, now = z3.Int("time"), unknown_or("before"), known(z3.Int("now"))
    in_time = negate(is_below(known(time), before))
    return [
        Claim([in_time, negate(rule(time, before, now, False))], now.value < time),
        Claim([in_time, negate(rule(time, before, now, True))], now.value <= time),
    ]


@proof("R20", EXACT, rule=comes_out, weakened=one_late)
def a_row_is_emitted_in_the_first_batch_whose_limit_reaches_it(rule: ComesOut) -> list[Claim]:
    time, before, now = z3.Int("time"), unknown_or("before"), known(z3.Int("now"))
    in_time = negate(is_below(known(time), before))
    return [
        Claim([in_time], same(rule(time, before, now, False), time <= now.value)),
        Claim([in_time], same(rule(time, before, now, True), time < now.value)),
    ]
