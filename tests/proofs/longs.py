"""R32: 64-bit arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import z3

from tests.proofs.proof import EXACT, SOUND, Claim, proof
from tests.proofs.terms import Term, Truth, all_of, any_of, choose, highest, lowest

Product: TypeAlias = Callable[[z3.BitVecRef], z3.BitVecRef]
Quotient: TypeAlias = Callable[[Term, Term], Term]
Clamp: TypeAlias = Callable[[Term], Term]
Saturated: TypeAlias = Callable[[z3.BitVecRef, z3.BitVecRef, bool], z3.BitVecRef]

LONGEST = 2**63 - 1


def clamp(exact: Term) -> Term:
    """R32: the code's 64-bit arithmetic saturates at the limits of the range."""
    return highest(-LONGEST - 1, lowest(LONGEST, exact))


FIRST = z3.BitVecVal(-LONGEST - 1, 64)
LAST = z3.BitVecVal(LONGEST, 64)


def saturated(a: z3.BitVecRef, b: z3.BitVecRef, minus: bool) -> z3.BitVecRef:
    """`Saturated.add` and `Saturated.subtract`, as bit vectors."""
    sum_ = a - b if minus else a + b
    overflows = (a ^ b) & (a ^ sum_) if minus else (a ^ sum_) & (b ^ sum_)
    return z3.If(overflows < 0, z3.If(a < 0, FIRST, LAST), sum_)


def wraps_around(a: z3.BitVecRef, b: z3.BitVecRef, minus: bool) -> z3.BitVecRef:
    return a - b if minus else a + b


def clamped(exact: z3.BitVecRef) -> z3.BitVecRef:
    """The nearest 64-bit number, in the width of the exact one."""
    first, last = (z3.SignExt(exact.size() - 64, end) for end in (FIRST, LAST))
    return z3.If(exact < first, first, z3.If(exact > last, last, exact))


@proof("R32", EXACT, rule=saturated, weakened=wraps_around)
def the_code_saturates_at_the_limits_of_the_range(rule: Saturated) -> list[Claim]:
    """It equals the exact 66-bit sum if that is in range."""
    a, b = z3.BitVecs("a b", 64)
    found = []
    for minus in (False, True):
        wide, other = z3.SignExt(2, a), z3.SignExt(2, b)
        exact = wide - other if minus else wide + other
        found.append(Claim([], z3.SignExt(2, rule(a, b, minus)) == clamped(exact)))
    return found


def product(exact: z3.BitVecRef) -> z3.BitVecRef:
    """`Saturated.multiply`, from the exact 128-bit product."""
    high, low = z3.Extract(127, 64, exact), z3.Extract(63, 0, exact)
    fits = z3.Or(z3.And(high == 0, low >= 0), z3.And(high == -1, low < 0))
    return z3.If(fits, low, z3.If(high < 0, FIRST, LAST))


def ignores_the_sign_of_its_low_half(exact: z3.BitVecRef) -> z3.BitVecRef:
    high, low = z3.Extract(127, 64, exact), z3.Extract(63, 0, exact)
    return z3.If(z3.Or(high == 0, high == -1), low, z3.If(high < 0, FIRST, LAST))


@proof("R32", EXACT, rule=product, weakened=ignores_the_sign_of_its_low_half)
def a_product_saturates_at_the_limits_of_the_range(rule: Product) -> Claim:
    """For each number of 128 bits, hence for each product of two numbers of 64 bits."""
    exact = z3.BitVec("exact", 128)
    return Claim([], z3.SignExt(64, rule(exact)) == clamped(exact))


def divided(multiple: Term, factor: Term) -> Term:
    """`Saturated.divideUp`: the least number of which the multiple is at least this."""
    whole = multiple / factor if z3.is_expr(multiple) else multiple // factor
    return whole + choose(whole * factor == multiple, 0, 1)


def rounded_down(multiple: Term, factor: Term) -> Term:
    return multiple / factor if z3.is_expr(multiple) else multiple // factor


@proof("R32", EXACT, rule=divided, weakened=rounded_down)
def a_quotient_is_rounded_up(rule: Quotient) -> list[Claim]:
    """So a time is not below a watermark exactly if its multiple is not below that of the other.

    The quotient is in the range of 64 bits if the dividend is.
    """
    time, multiple, factor = z3.Ints("time multiple factor")
    found = rule(multiple, factor)
    return [
        Claim([factor > 1, time * factor >= multiple], time >= found),
        Claim([factor > 1, time >= found], time * factor >= multiple),
        Claim([factor > 1, long(multiple)], long(found)),
    ]


def around(exact: Term) -> Term:
    """The wrapped 64-bit sum."""
    whole = 2 * (LONGEST + 1)
    below = choose(exact < -LONGEST - 1, exact + whole, exact)
    return choose(exact > LONGEST, exact - whole, below)


def long(*values: Term) -> Truth:
    return all_of(*[all_of(v >= -LONGEST - 1, v <= LONGEST) for v in values])


@proof("R32", SOUND, rule=clamp, weakened=around)
def saturation_evicts_no_row_and_loses_no_match(rule: Clamp) -> list[Claim]:
    a, b, slack, more, mark = z3.Ints("a b slack more mark")
    bounded = [long(a, b, slack, mark), a >= b - slack]
    path = rule(slack + more)
    return [
        # A buffered row stays, and a probe finds it: R8, and the range of a probe.
        Claim([*bounded, b >= mark], rule(a + slack) >= mark),
        Claim(bounded, all_of(rule(a + slack) >= b, rule(b - slack) <= a)),
        # output watermark: R10
        Claim([*bounded, b >= mark], rule(mark - slack) <= a),
        # path: R3; the upper limit means unbounded
        Claim([long(slack, more)], any_of(path == LONGEST, path >= slack + more)),
    ]
