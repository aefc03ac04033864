"""Changelogs whose rows leave the state: the output equals that of a naive join.

A quarter of ``--diff-changelogs N`` is how many, ``--diff-changelog N`` runs one alone.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamjoin
from tests.differential.test_changelogs import ADDED
from tests.differential.timed_changelogs import (
    SCHEMA,
    Change,
    Out,
    TimedCase,
    TimedInput,
    generate,
    tables,
)
from tests.streams import Landing, Run

HERE = "tests/differential/test_timed_changelogs.py"

FOUND = [(20261129, 68)]
"""Seeds and numbers of cases that once had a wrong row."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.option
    one = option.diff_changelog
    chosen = range(max(1, option.diff_changelogs // 4)) if one is None else [one]
    cases = [generate(option.diff_seed, number) for number in chosen]
    if one is None:
        cases += [generate(*found) for found in FOUND]
    metafunc.parametrize("case", cases, ids=[case.name for case in cases])


def test_applied_changes_equal_a_naive_join(
    case: TimedCase, spark: SparkSession, tmp_path: Path
) -> None:
    session = spark.newSession()
    for key, value in case.settings.items():
        session.conf.set(key, value)
    feeds = {
        each.alias: Landing(session, tmp_path / each.alias, SCHEMA)
        for each in (case.inputs[:1] if case.itself else case.inputs)
    }
    run = Run(_query(case, feeds), tmp_path / "checkpoint")
    table: Counter[Out] = Counter()
    for number, (expected, late) in enumerate(tables(case)):
        for alias, feed in feeds.items():
            feed.land(*(_encoded(each) for each in case.batches[number][alias]))
        for rows in run.step().values():
            for *row, kind in rows:
                table[tuple(row)] += 1 if kind in ADDED else -1
        table = Counter({row: n for row, n in table.items() if n})
        again = f"python -m pytest {HERE} --diff-seed {case.seed} --diff-changelog {case.index}"
        found = f"missing {expected - table}, too many {table - expected}"
        assert table == expected, f"after batch {number}: {found}\n{case}\n{again}"
        if len(case.inputs) == 2 and not any(each.keyed for each in case.inputs):
            counted = sum(
                operator["customMetrics"][f"lateRows{side}"]
                for progress in run.progress.values()
                for operator in progress["stateOperators"]
                for side in ("Left", "Right")
            )
            assert counted == late, f"after batch {number}\n{case}\n{again}"


def _encoded(change: Change) -> dict[str, object]:
    (number, k, v, t), added = change
    time = f"2024-01-01T00:{t // 60:02}:{t % 60:02}Z"
    return {"id": number, "k": k, "v": v, "t": time, "op": "insert" if added else "delete"}


def _query(case: TimedCase, feeds: dict[str, Landing]) -> DataFrame:
    inputs = [
        _declared(each, feeds["a" if case.itself else each.alias].stream()).alias(each.alias)
        for each in case.inputs
    ]
    joined = inputs[0]
    shown = ["a"]
    for each, how, right in zip(case.inputs[1:], case.hows, inputs[1:], strict=True):
        sides = {"left": case.inputs[0].ttl, "right": each.ttl}
        ttl = {side: f"{seconds} seconds" for side, seconds in sides.items() if seconds}
        joined = streamjoin.stream_join(
            joined,
            right,
            case.condition(each.alias),
            how,
            mode="changelog",
            state_ttl=ttl or None,
            on_expiry="retract" if case.retracts else "keep",
        )
        if how not in ("semi", "anti"):
            shown.append(each.alias)
    columns = [F.col(f"{alias}.{c}").alias(f"{alias}_{c}") for alias in shown for c in ("id", "v")]
    return joined.select(*columns, "_change_type")


def _declared(each: TimedInput, raw: DataFrame) -> DataFrame:
    def ordered(df: DataFrame) -> DataFrame:
        return streamjoin.impose_order(df, "t", f"{each.lag} seconds")

    def changes(df: DataFrame) -> DataFrame:
        if each.appends:
            return df.drop("op")
        return streamjoin.from_changelog(df, key="id" if each.keyed else None, op="op")

    return ordered(changes(raw)) if each.above else changes(ordered(raw))
