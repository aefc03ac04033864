"""Arithmetic and logic over numbers and over solver terms.

A rule written with these functions runs on integers as an oracle, and on solver terms as a formula
for all integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import z3

Term: TypeAlias = Any
"""An ``int``, or an integer term of the solver."""

Truth: TypeAlias = Any
"""A ``bool``, or a formula of the solver."""


class Maybe(NamedTuple):
    """A time that may be NULL, or a watermark that may be unknown."""

    there: Truth
    value: Term


ABSENT = Maybe(False, 0)


def known(value: Term) -> Maybe:
    return Maybe(True, value)


def all_of(*parts: Truth) -> Truth:
    symbolic = [part for part in parts if not isinstance(part, bool)]
    if False in [part for part in parts if isinstance(part, bool)]:
        return False
    return z3.And(*symbolic) if symbolic else True


def negate(part: Truth) -> Truth:
    return not part if isinstance(part, bool) else z3.Not(part)


def any_of(*parts: Truth) -> Truth:
    return negate(all_of(*map(negate, parts)))


def implies(given: Truth, then: Truth) -> Truth:
    return any_of(negate(given), then)


def same(a: Truth, b: Truth) -> Truth:
    return all_of(implies(a, b), implies(b, a))


def choose(test: Truth, then: Term, otherwise: Term) -> Term:
    if isinstance(test, bool):
        return then if test else otherwise
    return z3.If(test, then, otherwise)


def lowest(first: Term, *rest: Term) -> Term:
    return reduce(lambda a, b: choose(a <= b, a, b), rest, first)


def highest(first: Term, *rest: Term) -> Term:
    return reduce(lambda a, b: choose(a >= b, a, b), rest, first)


def select(test: Truth, then: Maybe, otherwise: Maybe) -> Maybe:
    return Maybe(
        choose(test, then.there, otherwise.there), choose(test, then.value, otherwise.value)
    )


def least(some: Iterable[Maybe]) -> Maybe:
    """The least of the present values."""

    def lower(a: Maybe, b: Maybe) -> Maybe:
        first = all_of(a.there, implies(b.there, a.value <= b.value))
        return Maybe(any_of(a.there, b.there), choose(first, a.value, b.value))

    return reduce(lower, some, ABSENT)


def greatest(some: Iterable[Maybe]) -> Maybe:
    """The greatest of the present values."""
    mirrored = least(Maybe(one.there, -one.value) for one in some)
    return Maybe(mirrored.there, -mirrored.value)


def least_if_all(some: Iterable[Maybe]) -> Maybe:
    """The least value, if all are present."""
    every = list(some)
    return Maybe(all_of(*[one.there for one in every]), lowest(*[one.value for one in every]))


def moved(time: Maybe, distance: Term) -> Maybe:
    return Maybe(time.there, time.value + distance)


def is_below(time: Maybe, limit: Maybe) -> Truth:
    """Strictly below; false for NULL, and below an unknown watermark."""
    return all_of(time.there, limit.there, time.value < limit.value)


def is_at_least(time: Maybe, limit: Maybe) -> Truth:
    """Whether both are present, and the first is not below the second."""
    return all_of(time.there, limit.there, time.value >= limit.value)
