"""The answer: the same join as a batch query of Spark over the rows that were not late."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.differential.case import SENTINEL, Case, Row, visible
from tests.differential.feeds import lines, parsed
from tests.differential.lateness import Arrival, late_rows, on_time
from tests.differential.plans import join_inputs, join_tree, plain_join, typed, whole
from tests.differential.runner import OutputRow, session_of
from tests.differential.shapes import column


def answer(case: Case, spark: SparkSession, arrivals: Sequence[Arrival]) -> list[OutputRow]:
    session = session_of(case, spark)
    # A few dozen rows: what helps with many only costs time here.
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    rows = {each.alias: _real(on_time(arrivals, each.alias)) for each in case.inputs}
    return [tuple(row) for row in whole(case, batch_join(case, session, rows)).collect()]


def batch_join(case: Case, session: SparkSession, rows: dict[str, list[Row]]) -> DataFrame:
    inputs = join_inputs(case, _tables(case, session, rows), None)
    return join_tree(case, case.tree, inputs, plain_join(case))


def late_ids(case: Case, spark: SparkSession, arrivals: Sequence[Arrival]) -> list[tuple[str, str]]:
    """The rows that must be emitted as late: their input and ids."""
    rows = {each.alias: _real(late_rows(arrivals, each.alias)) for each in case.inputs}
    inputs = join_inputs(case, _tables(case, session_of(case, spark), rows), None)
    ids = [
        inputs[alias].select(F.lit(alias), F.col(column(case, alias, "id")))
        for alias in visible(case.tree)
    ]
    return [(row[0], row[1]) for row in reduce(DataFrame.union, ids).collect()]


def _tables(case: Case, session: SparkSession, rows: dict[str, list[Row]]) -> dict[str, DataFrame]:
    return {
        alias: typed(case, case.input(alias), _table(case, session, alias, each))
        for alias, each in rows.items()
    }


def _real(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if SENTINEL not in row["id"]]


def _table(case: Case, session: SparkSession, alias: str, rows: Sequence[Row]) -> DataFrame:
    jvm: Any = session._jvm
    text = jvm.org.apache.spark.sql.Encoders.STRING()
    # A relation inside the plan: createDataFrame would run jobs over a Python RDD for it.
    dataset = session._jsparkSession.createDataset(lines(case, alias, rows), text)
    return parsed(DataFrame(dataset.toDF(), session))
