"""Rewrites the cases of ``cases``: ``python -m tests.proofs.new_cases``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import z3

from tests.proofs import batches, chains, closure, eviction, shapes
from tests.proofs.answers import answered
from tests.proofs.cases import FILE, Fields, join_text
from tests.proofs.draws import drawn
from tests.proofs.proof import PROOFS, model
from tests.proofs.rules import (
    INNER,
    SIDES,
    Bound,
    Join,
    Row,
    Watermarks,
)
from tests.proofs.terms import Maybe, Truth, all_of, any_of, implies, negate

MODULES = (batches, chains, closure, eviction)
"""The cases with the weakened rules of joins."""


# ---- solver cases: inputs for which a weakened rule decides differently ----


def decisions(join: Join, row: Row, marks: Watermarks) -> list[Maybe]:
    """The decisions of a join on a pair of rows, in a fixed order."""
    of_sides = [
        decided
        for side in SIDES
        for decided in (
            join.late(side, row, marks),
            join.consistent(side, row),
            join.survives(side, row, marks),
        )
    ]
    n = range(len(join.columns))
    limits = [join.limit(1 - join.columns[i].side, row, i) for i in n]
    outputs = [join.output_watermark(i, marks) for i in n]
    flags = [Maybe(decided, 0) for decided in [join.contradictory, *of_sides]]
    return [*flags, *limits, *outputs]


def differ(a: Maybe, b: Maybe) -> Truth:
    both = all_of(a.there, b.there)
    return any_of(
        all_of(a.there, negate(b.there)),
        all_of(b.there, negate(a.there)),
        all_of(both, negate(implies(both, a.value == b.value))),
    )


def weakened_joins() -> list[type[Join]]:
    assert MODULES
    return list(dict.fromkeys(proof.weakened for proof in PROOFS if proof.rule is Join))


def solved() -> Iterator[Fields]:
    """A case for each shape, weakened rule and decision that distinguishes it from the rule."""
    for shape in shapes.ALL:
        join = shape(Join)
        row = {**shapes.row(join, 0), **shapes.row(join, 1)}
        marks = shapes.watermarks(join)
        arrive = [join.arrives(side, row) for side in SIDES]
        numbers = [b.slack for b in [*join.conjuncts, *join.facts]]
        numbers += [time.value for time in [*row.values(), *marks] if z3.is_expr(time.value)]
        small = all_of(*[all_of(n >= -30, n <= 30) for n in numbers])
        expected = decisions(join, row, marks)
        for rule in weakened_joins():
            found = decisions(shape(rule), row, marks)
            for a, b in zip(expected, found, strict=True):
                values = model(all_of(*arrive, small, differ(a, b)))
                if values is not None:
                    yield concrete(join, row, marks, values)


def concrete(join: Join, row: Row, marks: Watermarks, values: z3.ModelRef) -> Fields:
    def number(term: object) -> int:
        if not z3.is_expr(term):
            return int(str(term))
        return int(str(values.eval(term, model_completion=True)))

    def time(one: Maybe) -> Maybe:
        there = one.there
        if z3.is_expr(there):
            there = z3.is_true(values.eval(there, model_completion=True))
        return Maybe(there, number(one.value))

    def bounds(some: Sequence[Bound]) -> list[Bound]:
        return [b._replace(slack=number(b.slack)) for b in some]

    made = Join(join.columns, bounds(join.conjuncts), bounds(join.facts))
    return join_text(made, {i: time(t) for i, t in row.items()}, [time(m) for m in marks], INNER)


def fresh(random: Random) -> list[Fields]:
    return drawn(random, list(solved()))


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text("\n".join(answered(fresh(Random(1)))) + "\n", encoding="utf-8")
