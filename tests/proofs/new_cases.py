"""Rewrites the cases of ``cases``: ``python -m tests.proofs.new_cases``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from random import Random

import z3

from tests.proofs import batches, chains, closure, eviction, shapes
from tests.proofs.cases import FILE, NONE, Fields, answered, join_of, join_text, listed
from tests.proofs.proof import PROOFS, model
from tests.proofs.rules import (
    INNER,
    JOIN_TYPES,
    LEFT,
    SIDES,
    Bound,
    Column,
    Join,
    Row,
    Watermarks,
)
from tests.proofs.terms import ABSENT, Maybe, Truth, all_of, any_of, implies, known, negate

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


# ---- random cases ----


def random_join(random: Random) -> Fields:
    counts = [random.randint(1, 3) for _ in SIDES]
    columns = [
        Column(side, random.random() < 0.85, random.random() < 0.25)
        for side in SIDES
        for _ in range(counts[side])
    ]
    n = range(len(columns))
    own = [(i, j) for i in n for j in n if i != j and columns[i].side == columns[j].side]
    across = [(i, j) for i in n for j in n if columns[i].side != columns[j].side]
    conjuncts = [
        Bound(*random.choice(across), random.randint(-2, 9)) for _ in range(random.randint(1, 4))
    ]
    conjuncts += [Bound(*pair, random.randint(-1, 6)) for pair in own if random.random() < 0.08]
    facts = [Bound(*pair, random.randint(0, 6)) for pair in own if random.random() < 0.3]
    row = {
        i: ABSENT
        if columns[i].nullable and random.random() < 0.4
        else known(random.randint(90, 110))
        for i in n
    }
    marks = [
        known(random.randint(90, 110))
        if columns[i].watermarked and random.random() < 0.85
        else ABSENT
        for i in n
    ]
    return join_text(Join(columns, conjuncts, facts), row, marks, random.choice(JOIN_TYPES))


def random_plan(random: Random, joins: Sequence[Join], bases: int, depth: int) -> list[str]:
    kind = random.choice("BLGSWJJ") if depth else "B"
    if kind == "B":
        return [f"B:{random.randrange(bases)}"]
    if kind == "J":
        number = random.randrange(len(joins))
        join = joins[number]
        inputs = [
            random_plan(random, joins, bases, depth - 1) if column.watermarked else ["N"]
            for column in join.columns
        ]
        return [f"J:{number}:{random.randrange(len(join.columns))}", *chain.from_iterable(inputs)]
    if kind in "SW":
        of = random_plan(random, joins, bases, depth - 1)
        return [f"S:{random.randint(-9, 9)}" if kind == "S" else "W", *of]
    inputs = [random_plan(random, joins, bases, depth - 1) for _ in range(random.randint(1, 3))]
    return [f"{kind}:{len(inputs)}", *chain.from_iterable(inputs)]


def random_mark(random: Random) -> str:
    return str(random.randint(90, 110)) if random.random() < 0.85 else NONE


def random_remaining(random: Random, joins: Sequence[Join]) -> Fields:
    while True:
        number = random.randrange(len(joins))
        join, kind = joins[number], random.choice(JOIN_TYPES)
        emitted = [i for i, c in enumerate(join.columns) if c.watermarked and join.governing(i)]
        emitted = [i for i in emitted if not kind.left_only or join.columns[i].side == LEFT]
        if emitted and not join.contradictory:
            break
    earliest: list[str] = []
    unmatched: list[str] = []
    for side in SIDES:
        empty, all_met = random.random() < 0.2, random.random() < 0.3
        for _ in join.of(side):
            time = random.randint(85, 110)
            earliest.append(NONE if empty else str(time))
            alone = not empty and not all_met and side in kind.preserved
            unmatched.append(str(time + random.randint(0, 5)) if alone else NONE)
    return {
        "remaining": f"{number}:{random.choice(emitted)}",
        "type": kind.name.replace(" ", "_"),
        "base": listed([random_mark(random) if c.watermarked else NONE for c in join.columns]),
        "earliest": listed(earliest),
        "unmatched": listed(unmatched),
    }


def random_asof(random: Random) -> Fields:
    return {
        "asof": random.choice("LR"),
        "reach": str(random.randint(-5, 3)),
        "tolerance": NONE if random.random() < 0.2 else str(random.randint(0, 8)),
        "marks": listed([random_mark(random), random_mark(random)]),
        "time": str(random.randint(88, 112)),
    }


def random_order(random: Random) -> Fields:
    before = random.randint(90, 100)
    now = before + random.randint(0, 8)
    known_from = random.randint(0, 4)
    return {
        "order": random.choice(["tied", "untied"]),
        "limits": listed([NONE if known_from < 2 else before, NONE if known_from < 1 else now]),
        "times": listed([random.randint(88, 110) for _ in range(8)]),
    }


def fresh(random: Random) -> list[Fields]:
    cases = [*solved(), *[random_join(random) for _ in range(150)]]
    cases = [dict(case) for case in dict.fromkeys(tuple(case.items()) for case in cases)]
    joins = [join_of(fields) for fields in cases]
    for _ in range(100):
        plan = random_plan(random, joins, 4, 3)
        while len(plan) > 40:
            plan = random_plan(random, joins, 4, 3)
        base = listed([random_mark(random) for _ in range(4)])
        cases.append({"plan": listed(plan), "base": base})
    cases += [random_remaining(random, joins) for _ in range(100)]
    cases += [random_asof(random) for _ in range(40)]
    return cases + [random_order(random) for _ in range(20)]


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text("\n".join(answered(fresh(Random(1)))) + "\n", encoding="utf-8")
