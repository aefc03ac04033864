"""Random changelogs: after each batch, the output sums up to Spark's join of the tables.

``--diff-changelogs N`` is how many, ``--diff-changelog N`` runs one alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.differential.changelog_plans import ChangelogFeed, expected, stream
from tests.differential.changelogs import ChangelogCase, generate
from tests.streams import Run

HERE = "tests/differential/test_changelogs.py"
ADDED = ("insert", "update_postimage")
Rows = Counter[tuple[Any, ...]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.option
    one = option.diff_changelog
    chosen = range(option.diff_changelogs) if one is None else [one]
    groups = max(1, option.diff_groups)
    cases = [generate(option.diff_seed, number, groups) for number in chosen]
    metafunc.parametrize("case", cases, ids=[case.name for case in cases])


@pytest.mark.sampled
def test_what_comes_out_sums_up_to_the_batch_join(
    case: ChangelogCase, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    problems = check(case, spark, tmp_path)
    if problems:
        groups = pytestconfig.option.diff_groups
        again = f"python -m pytest {HERE} --diff-seed {case.seed} --diff-changelog {case.index}"
        again += f" --diff-groups {groups}"
        pytest.fail("\n".join([*problems, str(case), again]), pytrace=False)


def check(
    case: ChangelogCase,
    spark: SparkSession,
    folder: Path,
    running: Callable[[DataFrame, Path], Run] = Run,
) -> list[str]:
    session = spark.newSession()
    for key, value in case.settings.items():
        session.conf.set(key, value)
    feed = ChangelogFeed(case, session, folder / "source")
    run = running(stream(case, session, feed.streams()), folder / "checkpoint")
    for start in case.starts:
        for batch in start:
            feed.land(batch)
        run.step()
    results: dict[int, Rows] = defaultdict(Counter)
    for number, *row in expected(case, session).collect():
        results[number][tuple(row)] += 1
    problems: list[str] = []
    table: Rows = Counter()
    for number in range(len(case.tables)):
        rows = run.batches.get(number, [])
        came: Rows = Counter(tuple(row) for *row, kind in rows if kind in ADDED)
        went: Rows = Counter(tuple(row) for *row, kind in rows if kind not in ADDED)
        table.update(came)
        table.subtract(went)
        table = Counter({row: n for row, n in table.items() if n})
        if table != results[number]:
            found = f"missing {results[number] - table}, too many {table - results[number]}"
            problems.append(f"after batch {number}: {found}")
            break
        problems += _images(number, rows, came & went)
    return problems + (_metrics(case, run) if case.well_formed else [])


def _images(number: int, rows: list[tuple[Any, ...]], both: Rows) -> list[str]:
    kinds = Counter(row[-1] for row in rows)
    problems = []
    if kinds["update_preimage"] != kinds["update_postimage"]:
        problems.append(f"batch {number}: update without its other half: {rows}")
    # whatever columns are selected, with the join key or without
    if both:
        problems.append(f"batch {number}: taken back and given: {both}")
    return problems


def _metrics(case: ChangelogCase, run: Run) -> list[str]:
    """No join takes back from one above it what it has not given."""
    return [
        f"batch {number}: {name} = {value}"
        for number, progress in run.progress.items()
        for operator in progress["stateOperators"]
        for name, value in operator["customMetrics"].items()
        if name.startswith(("unknownRetractions", "staleRows")) and value
    ]
