"""The harness with Spark's own join in the product's place: it passes, and a broken one fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.differential import builtin
from tests.differential.case import Case, How
from tests.differential.check import check
from tests.differential.invariants import dropped_below
from tests.differential.rows import closing
from tests.differential.samples import row, two_inputs


@pytest.mark.parametrize(("how", "feed"), [("full", "memory"), ("left", "files")])
def test_harness_accepts_spark_join(
    how: How, feed: Literal["memory", "files"], spark: SparkSession, tmp_path: Path
) -> None:
    case = builtin.suitable_case(1, how, feed)
    verdict = check(case, spark, tmp_path, builtin.stream)
    assert verdict.problems == ()
    assert verdict.output_rows > 0
    steps = (*case.steps, *closing(case))
    assert verdict.input_rows == sum(len(rows) for step in steps for rows in step.values())


def test_harness_rejects_a_join_that_loses_matches(spark: SparkSession, tmp_path: Path) -> None:
    def broken(case: Case, session: SparkSession, inputs: Mapping[str, DataFrame]) -> DataFrame:
        return builtin.stream(case, session, inputs).where("b_id <> 'b2'")

    case = two_inputs(
        "inner", "a.k = b.k", "a.t = b.t", lags=(builtin.LAG_US,) * 2, kind="timestamp"
    )
    steps = ({"a": [row("a1", 1), row("a2", 2)], "b": [row("b1", 1), row("b2", 2)]},)
    (problem,) = check(case.with_steps(steps), spark, tmp_path, broken).problems
    assert "missing: 1 rows" in problem
    assert "superfluous: 0 rows" in problem
    assert " input b: {'id': 'b2'" in problem


@pytest.mark.parametrize(
    ("how", "at", "dropped"),
    [
        ("full", None, ()),
        ("full", "a", ("b",)),
        ("full", "b", ("a",)),
        ("left", "a", ("b",)),
        ("left", "b", ("a", "b")),
        ("right", "a", ("a", "b")),
        ("anti", "a", ("b",)),
        ("inner", "a", ("a", "b")),
    ],
)
def test_inputs_whose_null_times_are_dropped_below_windows(
    how: How, at: str | None, dropped: tuple[str, ...]
) -> None:
    case = two_inputs(how)
    if at is not None:
        case = replace(case, above="windows", at=(at, "t"))
    assert dropped_below(case) == dropped
