"""Joins with symbolic slacks, and symbolic rows and watermarks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import z3

from tests.proofs.rules import LEFT, RIGHT, Bound, Column, Join, Row, Watermarks
from tests.proofs.terms import ABSENT, Maybe, Truth, all_of, implies

Pairs: TypeAlias = Sequence[tuple[int, int]]
Shape: TypeAlias = Callable[[type[Join]], Join]


def shape(columns: Sequence[Column], conjuncts: Pairs, facts: Pairs = ()) -> Shape:
    """A join whose bounds are `later >= earlier - slack`, each with its own slack."""

    def bounds(pairs: Pairs, name: str) -> list[Bound]:
        return [Bound(i, j, z3.Int(f"{name}_{i}_{j}")) for i, j in pairs]

    return lambda kind: kind(columns, bounds(conjuncts, "slack"), bounds(facts, "fact"))


_L, _R = Column(LEFT), Column(RIGHT)

BOTH_WAYS = shape([_L, _R], [(0, 1), (1, 0)])
"""``b BETWEEN a - c AND a + d``."""

ONE_WAY = shape([_L, _R], [(0, 1)])

TWO_LIMITS = shape([_L, _R, _R], [(0, 1), (1, 0)], [(1, 2), (2, 1)])
"""The left rows are limited by two watermarks, because the right input is a join."""

PER_ROW = shape([_L, Column(LEFT, watermarked=False), _R], [(2, 0), (1, 2)])
"""``b BETWEEN a AND a.expires``."""

OWN_NULL = shape([_L, Column(LEFT, nullable=True), _R], [(0, 2), (2, 0)], [(0, 1), (1, 0)])
"""The left input is an outer join, which can pad its second time."""

PARTNER_NULL = shape([_L, _R, Column(RIGHT, nullable=True)], [(0, 1), (1, 0)], [(1, 2), (2, 1)])

CHAIN_OF_FACTS = shape(
    [_L, Column(LEFT, nullable=True), _L, _R], [(3, 2), (2, 3)], [(2, 1), (1, 0), (0, 2)]
)
"""Facts connect two times through a time that can be NULL."""

BETWEEN = shape([_L, _L, _R], [(2, 1), (0, 2)], [(0, 1)])
"""``b BETWEEN x AND a``, which implies more about `a` and `x` than is known of each row."""

CONSTRAINED_NULL = shape([Column(LEFT, nullable=True), _L, _R], [(0, 2), (2, 0), (2, 1)], [(1, 0)])
"""The condition bounds a nullable time."""

ALL = (
    BOTH_WAYS,
    ONE_WAY,
    TWO_LIMITS,
    PER_ROW,
    OWN_NULL,
    PARTNER_NULL,
    CHAIN_OF_FACTS,
    BETWEEN,
    CONSTRAINED_NULL,
)


def row(join: Join, side: int, name: str = "t") -> Row:
    return {
        i: Maybe(
            z3.Bool(f"{name}_{i}_there") if join.columns[i].nullable else True,
            z3.Int(f"{name}_{i}"),
        )
        for i in join.of(side)
    }


def watermarks(join: Join, name: str = "w") -> Watermarks:
    return [
        Maybe(z3.Bool(f"{name}_{i}_known"), z3.Int(f"{name}_{i}")) if c.watermarked else ABSENT
        for i, c in enumerate(join.columns)
    ]


def joined(join: Join) -> tuple[Row, list[Truth]]:
    """A matching pair of rows, and the formula that makes it match."""
    left, right = row(join, LEFT), row(join, RIGHT)
    pair = {**left, **right}
    return pair, [join.arrives(LEFT, left), join.arrives(RIGHT, right), join.pairs(pair)]


def unknown_or(name: str) -> Maybe:
    return Maybe(z3.Bool(f"{name}_known"), z3.Int(name))


def not_before(earlier: Watermarks, later: Watermarks) -> Truth:
    """Watermarks do not decrease."""
    return all_of(
        *[
            implies(a.there, all_of(b.there, a.value <= b.value))
            for a, b in zip(earlier, later, strict=True)
        ]
    )
