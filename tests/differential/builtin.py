"""Spark's own stream-stream join in the place of the product's: does the harness itself work?

Spark's semantics differ for late rows (one watermark for all, a row equal to it is late) and for
null times, so the cases for it have neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from tests.differential.case import Case, How
from tests.differential.generator import generate
from tests.differential.plans import join_tree, output, plain_join, with_watermarks

LAG_US = 30 * 86_400_000_000


def stream(case: Case, session: SparkSession, inputs: Mapping[str, DataFrame]) -> DataFrame:
    marked = with_watermarks(
        case, inputs, lambda df, name, _: df.withWatermark(name, f"{LAG_US} microseconds")
    )
    return output(case, join_tree(case, case.tree, marked, plain_join(case)))


def suitable_case(seed: int, how: How, *features: str) -> Case:
    """Find a generated case that Spark's own join can run, and leave out what it does otherwise."""
    drawn = (generate(seed, number) for number in range(10_000))
    return next(_tamed(case) for case in drawn if case.tree.how == how and _suits(case, features))


def _suits(case: Case, features: tuple[str, ...]) -> bool:
    wanted = {"inputs_2", "dataframe", "timestamp", *features} <= set(case.features)
    plain = not set(case.features) & {
        "no_key", "null_safe_key", "expression_key", "contradiction", "two_watermarks", "self_join",
        "using", "row_bound", "mixed_keys", "double_key", "one_sided", "where", "more_bounds",
        "with_watermark", "date", "timestamp_ntz", "bigint", "int", "width_0",
    }  # fmt: skip
    return wanted and plain and len(case.inputs[0].times) == 1


def _tamed(case: Case) -> Case:
    inputs = tuple(
        replace(each, times=tuple(replace(time, lag=LAG_US) for time in each.times))
        for each in case.inputs
    )
    steps = tuple(
        {alias: [row for row in rows if row["t"] is not None] for alias, rows in step.items()}
        for step in case.steps
    )
    settings = {**case.settings, "spark.sql.streaming.noDataMicroBatches.enabled": "true"}
    return replace(case, inputs=inputs, steps=steps, settings=settings)
