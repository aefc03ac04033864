"""Hundreds of random cases against Spark's batch join; how: see ``check``."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.differential.case import Case, from_json, to_json
from tests.differential.check import Verdict, check
from tests.differential.feeds import MemoryFeed
from tests.differential.generator import generate
from tests.differential.oracle import batch_join
from tests.differential.plans import imposed, join_inputs, join_tree, stream_join
from tests.differential.pool import Pool, wanted
from tests.differential.runner import session_of
from tests.differential.shrink import shrink

HERE = "tests/differential/test_differential.py"
CASES_FOR_COLUMNS = 24


def chosen_cases(config: pytest.Config) -> list[Case]:
    option = config.option
    if option.diff_replay:
        return [from_json(Path(option.diff_replay).read_text())]
    if option.diff_case is not None:
        return [generate(option.diff_seed, option.diff_case, option.diff_groups)]
    numbers = range(option.diff_cases)
    cases = [generate(option.diff_seed, number, option.diff_groups) for number in numbers]
    only, skip = _features(option.diff_only), _features(option.diff_skip)
    return [
        case
        for case in cases
        if not skip & set(case.features) and (not only or only & set(case.features))
    ]


def _features(text: str) -> set[str]:
    return {each for each in text.split(",") if each}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        cases = chosen_cases(metafunc.config)
        if metafunc.function is test_stream_has_the_columns_of_the_batch_join:
            cases = [case for case in cases if case.through == "dataframe"][:CASES_FOR_COLUMNS]
        metafunc.parametrize("case", cases, ids=[case.name for case in cases])


@pytest.fixture(scope="session")
def verdicts(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pool]:
    def work(case: Case) -> Verdict:
        folder = tmp_path_factory.mktemp(f"case-{case.name}-")
        verdict = check(case, spark, folder)
        if not verdict.problems:
            # a store of Spark may still write to it
            shutil.rmtree(folder, ignore_errors=True)
        return verdict

    pool = Pool(wanted(request), request.config.option.diff_jobs, work)
    yield pool
    pool.close()


@pytest.mark.sampled
def test_stream_gives_what_the_batch_join_gives(
    case: Case,
    verdicts: Pool,
    spark: SparkSession,
    tmp_path: Path,
    pytestconfig: pytest.Config,
) -> None:
    problems = problems_of(lambda: verdicts.verdict(case))
    if problems and pytestconfig.option.diff_shrink:
        case, problems = _shrunk(case, problems, spark, tmp_path, pytestconfig.option.diff_shrink)
    if problems:
        pytest.fail(explanation(case, problems, tmp_path), pytrace=False)


def problems_of(verdict: Callable[[], Verdict]) -> tuple[str, ...]:
    try:
        return verdict().problems
    except Exception as error:
        return (f"{type(error).__name__}: {error}",)


def _shrunk(
    case: Case, problems: tuple[str, ...], spark: SparkSession, folder: Path, runs: int
) -> tuple[Case, tuple[str, ...]]:
    last = problems
    tried = iter(range(runs))

    def fails(candidate: Case) -> bool:
        nonlocal last
        here = folder / f"shrink-{next(tried)}"
        found = problems_of(lambda: check(candidate, spark, here))
        last = found or last
        return bool(found)

    return shrink(case, fails, runs), last


def explanation(case: Case, problems: tuple[str, ...], folder: Path) -> str:
    path = folder / f"case-{case.name}.json"
    path.write_text(to_json(case))
    return "\n".join(
        [
            *problems,
            "to draw this case again and run it:",
            f"  python -m pytest {HERE} --diff-seed {case.seed} --diff-case {case.index}"
            f" --diff-groups {case.groups}",
            "to make it smaller first, add --diff-shrink 40; to run it as it is here:",
            f"  python -m pytest {HERE} --diff-replay {path}",
            to_json(case),
        ]
    )


def test_stream_has_the_columns_of_the_batch_join(case: Case, spark: SparkSession) -> None:
    session = session_of(case, spark)
    inputs = join_inputs(case, MemoryFeed(case, session).inputs, imposed)
    streaming = join_tree(case, case.tree, inputs, stream_join(case))
    batch = batch_join(case, session, {each.alias: [] for each in case.inputs})
    if case.late:
        why = "struct<input:string,column:string,watermark:string>"
        assert streaming.dtypes[-1] == ("late", why)
    assert streaming.drop("late").dtypes == batch.dtypes
