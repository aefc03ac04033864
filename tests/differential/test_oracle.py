"""The oracle itself, on rows small enough to see the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from tests.differential.case import HOWS, Case, How, Row
from tests.differential.generator import generate
from tests.differential.lateness import judge
from tests.differential.oracle import answer
from tests.differential.plans import output_columns
from tests.differential.samples import row, two_inputs

WITHIN_4 = ("a.k = b.k", "b.t BETWEEN a.t AND a.t + 4")
ROWS: list[dict[str, list[Row]]] = [
    {"a": [row("a1", 10), row("a2", 20, k=None)], "b": [row("b1", 12)]},
    {"a": [row("a3", 20)], "b": [row("b2", 14), row("b3", 11), row("b4", 30, k=None)]},
]
"""The watermarks after the first batch are 20 and 12: b3 is late."""
INNER = {("a1", "b1"), ("a1", "b2")}
LEFT_ONLY = {("a2", None), ("a3", None)}
RIGHT_ONLY = {(None, "b4")}
EXPECTED: dict[How, set[tuple[str | None, ...]]] = {
    "inner": {*INNER},
    "left": {*INNER, *LEFT_ONLY},
    "right": {*INNER, *RIGHT_ONLY},
    "full": {*INNER, *LEFT_ONLY, *RIGHT_ONLY},
    "semi": {("a1",)},
    "anti": {("a2",), ("a3",)},
}


def ids(case: Case, spark: SparkSession) -> list[tuple[str | None, ...]]:
    names = [name for _, name in output_columns(case)]
    at = [number for number, name in enumerate(names) if name.endswith("_id")]
    rows = answer(case, spark, judge(case, ROWS))
    return sorted((tuple(found[n] for n in at) for found in rows), key=str)


@pytest.mark.parametrize("how", HOWS)
def test_oracle_answers_of_a_small_join(how: How, spark: SparkSession) -> None:
    case = two_inputs(how, *WITHIN_4)
    assert ids(case, spark) == sorted(EXPECTED[how], key=str)
    assert ids(replace(case, qualified=False), spark) == sorted(EXPECTED[how], key=str)


def test_oracle_runs_every_generated_query(spark: SparkSession) -> None:
    with_rows = 0
    for number in range(30):
        case = generate(3, number)
        batches = [
            {each.alias: step.get(each.same_as or each.alias, []) for each in case.inputs}
            for step in case.steps
        ]
        with_rows += bool(answer(case, spark, judge(case, batches)))
    # In some cases no rows match.
    assert with_rows >= 20
