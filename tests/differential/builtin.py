"""Spark's own stream-stream join in the place of the product's: does the harness itself work?

Spark's semantics differ for late rows (one watermark for all, a row equal to it is late) and for
null times, so the cases for it have neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pyspark.sql import DataFrame, SparkSession

from tests.differential.case import HOWS, Case, How
from tests.differential.generator import generate
from tests.differential.plans import join_tree, output, plain_join, with_watermarks

LAG_US = 30 * 86_400_000_000


def stream(case: Case, session: SparkSession, inputs: Mapping[str, DataFrame]) -> DataFrame:
    marked = with_watermarks(
        case, inputs, lambda df, name, _: df.withWatermark(name, f"{LAG_US} microseconds")
    )
    return output(case, join_tree(case, case.tree, marked, plain_join(case)))


def suitable_case(seed: int, how: How, feed: Literal["memory", "files"]) -> Case:
    """Find a generated case that Spark's own join can run, and leave out what it does otherwise."""
    numbers = range(HOWS.index(how), 10_000, len(HOWS))
    found = next(case for case in (generate(seed, each) for each in numbers) if _suits(case))
    return replace(_tamed(found), feed=feed)


def _suits(case: Case) -> bool:
    wanted = {"inputs_2", "dataframe", "timestamp", "restart"}
    plain = {
        "bigint_key", "both_sides", "constant_first", "files", "int_key", "memory", "negated",
        "negative_size", "odd_microseconds", "one_partition", "one_sided", "residual", "restart",
        "string_key", "two_keys",
    }  # fmt: skip
    around = {each for each in case.features if each.endswith(("_below", "_above"))}
    around |= {"late", "two_actions", "update"}
    suitable = wanted <= set(case.features) <= wanted | plain | around
    return suitable and all(len(each.times) == 1 for each in case.inputs)


def _tamed(case: Case) -> Case:
    inputs = tuple(
        replace(each, times=tuple(replace(time, lag=LAG_US) for time in each.times), below=())
        for each in case.inputs
    )
    steps = tuple(
        {alias: [row for row in rows if row["t"] is not None] for alias, rows in step.items()}
        for step in case.steps
    )
    settings = {**case.settings, "spark.sql.streaming.noDataMicroBatches.enabled": "true"}
    tamed = replace(case, inputs=inputs, steps=steps, settings=settings)
    return replace(tamed, above=None, at=None, mode="append", actions=1, late=False)
