"""Rules that are not tight: the solver finds a row that is buffered or delayed without need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import z3

from tests.proofs import shapes
from tests.proofs.changelog_rules import EvictionRule
from tests.proofs.rules import INNER, LEFT, AsOf, Join
from tests.proofs.shapes import unknown_or
from tests.proofs.terms import Truth, all_of, is_below, known, negate

Gap: TypeAlias = Callable[[], Truth]

GAPS: list[tuple[str, Gap]] = []


def gap(number: str) -> Callable[[Gap], Gap]:
    def register(formula: Gap) -> Gap:
        GAPS.append((number, formula))
        return formula

    return register


@gap("R27")
def a_changelog_row_whose_end_is_a_column_is_never_evicted() -> Truth:
    """For ``b BETWEEN a AND a.expires``: no change can arrive, but no single time implies it."""
    join = shapes.PER_ROW(Join)
    row, marks = shapes.row(join, LEFT), shapes.watermarks(join)
    return all_of(
        join.late(LEFT, row, marks),
        negate(join.survives(LEFT, row, marks)),
        negate(EvictionRule(join).leaves(LEFT, row, marks)),
    )


@gap("R10")
def a_second_watermark_of_the_input_gives_a_better_bound() -> Truth:
    """For an inner join with a condition between two event times of one input."""
    join = shapes.BETWEEN(Join)
    marks = [known(z3.Int(f"w_{i}")) for i in range(3)]
    by_the_other = marks[1].value - join.slack[0][1]
    pair, given = shapes.joined(join)
    return all_of(
        *given,
        not INNER.preserved,
        negate(join.late(LEFT, pair, marks)),
        is_below(marks[0], known(by_the_other)),
        marks[2].value - join.slack[0][2] > by_the_other,
        join.output_watermark(0, marks).value < by_the_other,
    )


@gap("R21")
def a_probe_row_waits_for_its_own_watermark() -> Truth:
    """Its last build row is final: all rows between have arrived."""
    asof, probe = AsOf(z3.Int("reach"), None), z3.Int("probe")
    marks = unknown_or("probe_watermark"), unknown_or("build_watermark")
    final = is_below(known(asof.due(True, probe)), marks[1])
    return all_of(final, marks[0].there, negate(asof.is_due(True, probe, asof.limit(*marks))))
