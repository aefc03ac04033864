"""The answers of the rules in ``cases``, by the kind of a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import z3

from tests.proofs.cases import (
    NONE,
    Fields,
    bounds_text,
    flags,
    items,
    join_of,
    joins_of,
    kind_of,
    listed,
    maybe,
    maybes,
    number_of,
    optional,
    side_of,
    text,
    type_of,
)
from tests.proofs.changelog_rules import EvictionRule
from tests.proofs.changelog_runs import Change, Changed, ChangelogRun
from tests.proofs.longs import clamp, divided, product, saturated
from tests.proofs.rules import (
    SIDES,
    AsOf,
    Column,
    Group,
    Join,
    Partners,
    Plans,
    Slack,
    Watermarks,
    comes_out,
    neighbour,
    of_group,
    of_groups,
    remaining,
    rivals,
    shift_and_reach,
)
from tests.proofs.runs import AsOfRow, AsOfRun, Batch, EventRow, EventTimeRun
from tests.proofs.terms import (
    ABSENT,
    Maybe,
    all_of,
    is_below,
    known,
)


def slack_text(slack: Slack) -> str:
    return NONE if slack is None else str(slack)


def answer_join(fields: Fields, joins: Sequence[Join]) -> Fields:
    join, kind = join_of(fields), type_of(fields["type"])
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
        return Plans.shifted(evaluated(tokens, base, joins), int(arguments[0]))
    if kind == "W":
        return Plans.window(evaluated(tokens, base, joins))
    if kind == "J":
        join = joins[int(arguments[0])]
        inputs = [evaluated(tokens, base, joins) for _ in join.columns]
        return join.output_watermark(int(arguments[1]), inputs)
    inputs = [evaluated(tokens, base, joins) for _ in range(int(arguments[0]))]
    return Plans.union(inputs) if kind == "L" else Plans.greatest(inputs)


def answer_plan(fields: Fields, joins: Sequence[Join]) -> Fields:
    found = evaluated(iter(items(fields["plan"])), maybes(fields["base"]), joins)
    return {"value": optional(found)}


def answer_remaining(fields: Fields, joins: Sequence[Join]) -> Fields:
    number, column = map(int, fields["remaining"].split(":"))
    join = joins[number]
    marks, coming = maybes(fields["base"]), maybes(fields["coming"])
    earliest, unmatched = maybes(fields["earliest"]), maybes(fields["unmatched"])
    partners = [
        Partners(join.slack[column][b], coming[b], earliest[b]) for b in join.governing(column)
    ]
    found = remaining(
        join.output_watermark(column, marks),
        coming[column],
        earliest[column],
        unmatched[column],
        join.columns[column].side in type_of(fields["type"]).preserved,
        partners,
    )
    return {"value": optional(found)}


class Followed(NamedTuple):
    """R16: the base columns of a plan, those not below a join, and what each follows."""

    bases: set[int]
    direct: set[int]
    rivals: dict[int, set[int]]


def followed(tokens: Iterator[str], joins: Sequence[Join]) -> Followed:
    """A plan in prefix notation, in which each base occurs once: base, shifted, asof, join."""
    kind, *arguments = next(tokens).split(":")
    if kind == "B":
        return Followed({int(arguments[0])}, {int(arguments[0])}, {})
    if kind == "N":
        return Followed(set(), set(), {})
    if kind == "S":
        return followed(tokens, joins)
    columns = joins[int(arguments[0])].columns if kind == "J" else [Column(s) for s in SIDES]
    inputs = [(column.side, followed(tokens, joins)) for column in columns]
    found: dict[int, set[int]] = {}
    for side, one in inputs:
        others = {base for s, other in inputs if s != side for base in other.bases}
        for base in one.bases:
            found[base] = others if base in one.direct else rivals(one.rivals[base], others)
    return Followed({base for _, one in inputs for base in one.bases}, set(), found)


def answer_rivals(fields: Fields, joins: Sequence[Join]) -> Fields:
    found = followed(iter(items(fields["rivals"])), joins).rivals
    pairs = [f"{base}:{'.'.join(map(str, sorted(of)))}" for base, of in sorted(found.items())]
    return {"rivals": listed(pairs)}


def asof_of(fields: Fields) -> AsOf:
    tolerance = maybe(fields["tolerance"])
    return AsOf(int(fields["reach"]), tolerance.value if tolerance.there else None)


def answer_asof(fields: Fields, joins: Sequence[Join]) -> Fields:
    asof, marks, time = asof_of(fields), maybes(fields["marks"]), int(fields["time"])
    limit = asof.limit(*marks)
    output = [asof.probe_watermark(*marks), asof.build_watermark(*marks)]
    return {
        "limit": optional(limit),
        "due": flags([asof.is_due(probes, time, limit) for probes in (True, False)]),
        "expired": flags([asof.expired(time, limit)]),
        "output": listed([optional(mark) for mark in output]),
    }


def answer_bucket(fields: Fields, joins: Sequence[Join]) -> Fields:
    shift, reach = shift_and_reach(int(fields["before"]), int(fields["after"]))
    width, time = int(fields["width"]), int(fields["time"])
    bucket, within = divmod(time - (0 if fields["bucket"] == "L" else shift), width)
    beside = neighbour(within, reach, width)
    return {"shift": str(shift), "reach": str(reach), "bucket": str(bucket), "beside": str(beside)}


def answer_long(fields: Fields, joins: Sequence[Join]) -> Fields:
    """By the rule for bits as well as by the rule for integers."""
    a, b, form = int(fields["a"]), int(fields["b"]), fields["long"]
    if form == "divide":
        return {"bits": str(divided(a, b)), "value": str(clamp(divided(a, b)))}
    if form == "multiply":
        bits, exact = product(z3.BitVecVal(a * b, 128)), a * b
    else:
        minus = form == "subtract"
        bits = saturated(z3.BitVecVal(a, 64), z3.BitVecVal(b, 64), minus)
        exact = a - b if minus else a + b
    return {"bits": str(z3.simplify(bits).as_signed_long()), "value": str(clamp(exact))}


def answer_order(fields: Fields, joins: Sequence[Join]) -> Fields:
    before, now = maybes(fields["limits"])
    tied = fields["order"] == "tied"

    def fate(time: int) -> str:
        if is_below(known(time), before):
            return "late"
        return "out" if comes_out(time, before, now, tied) else "held"

    return {"fates": listed([fate(int(time)) for time in items(fields["times"])])}


def answer_groups(fields: Fields, joins: Sequence[Join]) -> Fields:
    column, lag = maybe(fields["before"]), int(fields["lag"])
    groups = [
        Group(maybe(before), maybe(largest), fate == "i")
        for before, largest, fate in (g.split(":") for g in items(fields["groups"]))
    ]
    marks = [ABSENT if g.idle else of_group(column, g, lag) for g in groups]
    return {
        "value": optional(of_groups(column, groups, lag)),
        "marks": listed([optional(mark) for mark in marks]),
    }


# ---- runs of operators ----


def batches_of(fields: Fields) -> list[list[str]]:
    """The batches of a run: numbers of the batch, watermarks, and rows, separated by ``|``."""
    return [batch.split("|") for batch in fields["batches"].split(";")]


def rows_of(text: str) -> list[str]:
    return text.split("/") if text else []


def answer_batches(batches: Sequence[Batch]) -> Fields:
    return {
        "emitted": ";".join("/".join(batch.emitted) for batch in batches),
        "stored": ";".join("/".join(batch.stored) for batch in batches),
    }


def answer_event_time_run(fields: Fields, joins: Sequence[Join]) -> Fields:
    join = joins[int(fields["run"])]
    run, number, found = EventTimeRun(join, type_of(fields["type"])), 0, []
    for first, marks, texts in batches_of(fields):
        rows = []
        for one in rows_of(texts):
            side, (key, times) = side_of(one[0]), one[1:].split(":")
            row = dict(zip(join.of(side), maybes(times), strict=True))
            rows.append(EventRow(number, side, number_of(key), row))
            number += 1
        found.append(run.batch(side_of(first), rows, maybes(marks)))
    return answer_batches(found)


def answer_asof_run(fields: Fields, joins: Sequence[Join]) -> Fields:
    probe, last = side_of(fields["probe"]), int(fields["last"])
    run = AsOfRun(asof_of(fields), type_of(fields["type"]), probe, last)
    number, found = 0, []
    for marks, texts in batches_of(fields):
        rows = []
        for one in rows_of(texts):
            key, time = one[1:].rstrip("x").split(":")
            side, ends = side_of(one[0]), one.endswith("x")
            rows.append(AsOfRow(number, side, number_of(key), int(time), ends))
            number += 1
        found.append(run.batch(rows, maybes(marks)))
    return answer_batches(found)


def answer_changelog_run(fields: Fields, joins: Sequence[Join]) -> Fields:
    left, right = items(fields["inputs"])
    run = ChangelogRun(
        type_of(fields["type"]),
        (left, right),
        number_of(fields["within"]),
        fields["parity"] == "1",
        number_of(fields["ttl"]),
        fields["expiry"] == "retract",
    )
    found = []
    for clock, marks, texts in batches_of(fields):
        changes = []
        for one in rows_of(texts):
            *row, sequence = one[2:].split(".")
            changed = Changed(*map(int, row))
            changes.append(Change(one[0] == "+", side_of(one[1]), changed, maybe(sequence)))
        found.append(run.batch(int(clock), changes, maybes(marks)))
    return answer_batches(found)


ANSWERS: Mapping[str, Callable[[Fields, Sequence[Join]], Fields]] = {
    "groups": answer_groups,
    "columns": answer_join,
    "plan": answer_plan,
    "remaining": answer_remaining,
    "rivals": answer_rivals,
    "asof": answer_asof,
    "order": answer_order,
    "bucket": answer_bucket,
    "long": answer_long,
    "run": answer_event_time_run,
    "last": answer_asof_run,
    "changelog": answer_changelog_run,
}
"""By the first field of a case, its kind."""


def answer(fields: Fields, joins: Sequence[Join]) -> Fields:
    return ANSWERS[kind_of(fields)](fields, joins)


def answered(cases: Sequence[Fields]) -> list[str]:
    joins = joins_of(cases)
    return [f"{text(fields)} => {text(answer(fields, joins))}" for fields in cases]
