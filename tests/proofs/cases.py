"""Cases with the answers of the rules, which a suite of the Scala core replays.

A line is a list of ``name=values``; the answer of the rules follows ``=>``. ``-`` is NULL, an
unknown watermark, no bound, or no row. ``new_cases`` rewrites the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.proofs.changelog_rules import EvictionRule
from tests.proofs.rules import (
    JOIN_TYPES,
    LEFT,
    SIDES,
    AsOf,
    Bound,
    Column,
    Join,
    JoinType,
    Partners,
    Row,
    Slack,
    Watermarks,
    comes_out,
    furthest,
    remaining,
    shifted,
    slowest,
    window_end,
)
from tests.proofs.terms import (
    ABSENT,
    Maybe,
    Truth,
    all_of,
    is_below,
    known,
)

FILE = Path(__file__).parents[2] / "jvm/core/src/test/resources/io/streamjoin/rules/cases.txt"

NONE = "-"

Fields = dict[str, str]


# ---- writing and reading ----


def text(fields: Fields) -> str:
    return " ".join(f"{name}={values}" for name, values in fields.items())


def parsed(line: str) -> Fields:
    return dict(field.split("=", 1) for field in line.split())


def listed(values: Sequence[object]) -> str:
    return ",".join(str(v) for v in values)


def items(values: str) -> list[str]:
    return values.split(",") if values else []


def optional(time: Maybe) -> str:
    return str(time.value) if time.there else NONE


def maybe(value: str) -> Maybe:
    return ABSENT if value == NONE else known(int(value))


def maybes(values: str) -> list[Maybe]:
    return [maybe(v) for v in items(values)]


def flags(values: Sequence[Truth]) -> str:
    return "".join("1" if v else "0" for v in values)


def column_text(column: Column) -> str:
    side = "L" if column.side == LEFT else "R"
    return side + ("" if column.watermarked else "u") + ("n" if column.nullable else "")


def column_of(text: str) -> Column:
    return Column("LR".index(text[0]), "u" not in text, "n" in text)


def bounds_text(bounds: Sequence[Bound]) -> str:
    return listed([f"{b.later}:{b.earlier}:{b.slack}" for b in bounds])


def bounds_of(values: str) -> list[Bound]:
    return [Bound(*map(int, bound.split(":"))) for bound in items(values)]


def type_of(name: str) -> JoinType:
    return next(kind for kind in JOIN_TYPES if kind.name == name.replace("_", " "))


# ---- the answers of the rules ----


def join_text(join: Join, row: Row, marks: Watermarks, kind: JoinType) -> Fields:
    return {
        "columns": listed([column_text(c) for c in join.columns]),
        "conjuncts": bounds_text(join.conjuncts),
        "facts": bounds_text(join.facts),
        "times": listed([optional(row[i]) for i in range(len(join.columns))]),
        "marks": listed([optional(mark) for mark in marks]),
        "type": kind.name.replace(" ", "_"),
    }


def join_of(fields: Fields, rule: type[Join] = Join) -> Join:
    return rule(
        [column_of(c) for c in items(fields["columns"])],
        bounds_of(fields["conjuncts"]),
        bounds_of(fields["facts"]),
    )


def slack_text(slack: Slack) -> str:
    return NONE if slack is None else str(slack)


def answer_join(fields: Fields, rule: type[Join] = Join) -> Fields:
    join, kind = join_of(fields, rule), type_of(fields["type"])
    row = dict(enumerate(maybes(fields["times"])))
    marks = maybes(fields["marks"])
    n = range(len(join.columns))
    leaving = EvictionRule(join)
    required = [all_of(*[row[i].there for i in join.of(s) if join.constrained(i)]) for s in SIDES]
    limits = [join.limit(s, row, b) for s in SIDES for b in join.limiting(s)]
    return {
        "contradictory": flags([join.contradictory]),
        "slack": listed([slack_text(join.slack[i][j]) for i in n for j in n]),
        "limiting": listed([b for s in SIDES for b in join.limiting(s)]),
        "late": flags([join.late(s, row, marks) for s in SIDES]),
        "required": flags(required),
        "consistent": flags([join.consistent(s, row) for s in SIDES]),
        "limits": listed([optional(limit) for limit in limits]),
        "survives": flags([join.survives(s, row, marks) for s in SIDES]),
        "output": listed([optional(join.output_watermark(i, marks)) for i in n]),
        "above": bounds_text(join.output_facts(kind)),
        "nullable": flags([join.nullable_in_output(i, kind) for i in n]),
        "leaving": listed([c for s in SIDES for c in leaving.columns(s)]),
        "clocks": listed(
            [optional(leaving.clock(c, marks)) for s in SIDES for c in leaving.columns(s)]
        ),
        "pairs": flags([all_of(join.pairs(row), *[join.arrives(s, row) for s in SIDES])]),
    }


def evaluated(tokens: Iterator[str], base: Watermarks, joins: Sequence[Join]) -> Maybe:
    """A plan in prefix notation: base, least, greatest, shifted, window, never, join."""
    kind, *arguments = next(tokens).split(":")
    if kind == "B":
        return base[int(arguments[0])]
    if kind == "N":
        return ABSENT
    if kind == "S":
        return shifted(evaluated(tokens, base, joins), int(arguments[0]))
    if kind == "W":
        return window_end(evaluated(tokens, base, joins))
    if kind == "J":
        join = joins[int(arguments[0])]
        inputs = [evaluated(tokens, base, joins) for _ in join.columns]
        return join.output_watermark(int(arguments[1]), inputs)
    inputs = [evaluated(tokens, base, joins) for _ in range(int(arguments[0]))]
    return slowest(inputs) if kind == "L" else furthest(inputs)


def answer_plan(fields: Fields, joins: Sequence[Join]) -> Fields:
    found = evaluated(iter(items(fields["plan"])), maybes(fields["base"]), joins)
    return {"value": optional(found)}


def answer_remaining(fields: Fields, joins: Sequence[Join]) -> Fields:
    number, column = map(int, fields["remaining"].split(":"))
    join = joins[number]
    marks = maybes(fields["base"])
    earliest, unmatched = maybes(fields["earliest"]), maybes(fields["unmatched"])
    partners = [
        Partners(join.slack[column][b], marks[b], earliest[b]) for b in join.governing(column)
    ]
    found = remaining(
        join.output_watermark(column, marks),
        marks[column],
        earliest[column],
        unmatched[column],
        join.columns[column].side in type_of(fields["type"]).preserved,
        partners,
    )
    return {"value": optional(found)}


def answer_asof(fields: Fields) -> Fields:
    tolerance = fields["tolerance"]
    asof = AsOf(int(fields["reach"]), None if tolerance == NONE else int(tolerance))
    limit = asof.limit(*maybes(fields["marks"]))
    time = int(fields["time"])
    return {
        "limit": optional(limit),
        "due": flags([asof.is_due(probes, time, limit) for probes in (True, False)]),
        "expired": flags([asof.expired(time, limit)]),
    }


def answer_order(fields: Fields) -> Fields:
    before, now = maybes(fields["limits"])
    tied = fields["order"] == "tied"

    def fate(time: int) -> str:
        if is_below(known(time), before):
            return "late"
        return "out" if comes_out(time, before, now, tied) else "held"

    return {"fates": listed([fate(int(time)) for time in items(fields["times"])])}


def answer(fields: Fields, joins: Sequence[Join]) -> Fields:
    if "columns" in fields:
        return answer_join(fields)
    if "plan" in fields:
        return answer_plan(fields, joins)
    if "remaining" in fields:
        return answer_remaining(fields, joins)
    return answer_asof(fields) if "asof" in fields else answer_order(fields)


def answered(cases: Sequence[Fields]) -> list[str]:
    joins = [join_of(fields) for fields in cases if "columns" in fields]
    return [f"{text(fields)} => {text(answer(fields, joins))}" for fields in cases]
