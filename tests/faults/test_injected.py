"""Queries of all kinds go on, exactly, after any operation on a file of their checkpoint failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.crash.scenarios import last_rows, scenario
from tests.crash.test_crash import versions
from tests.differential.case import Case, inputs_of
from tests.differential.changelogs import generate as generate_changelog
from tests.differential.check import check
from tests.differential.generator import generate
from tests.differential.plans import valid_version
from tests.differential.runner import BuildStream
from tests.differential.runner import Run as CaseRun
from tests.differential.test_changelogs import check as check_changelog
from tests.faults.injected import Faults, FaultyRun, FaultyRunner
from tests.metamorphic import plans
from tests.metamorphic.check import problems as plan_problems
from tests.parameters import STATE_FORMATS

HERE = "tests/faults/test_injected.py"
MOST = 6
"""Faults of one query."""
STEPS = 3
Drawn = tuple[object, Callable[[SparkSession, Path, Faults], list[str]]]
"""A query to be shown, and what is wrong with its result."""


def _settings(rng: Random) -> dict[str, str]:
    state = "spark.sql.streaming.stateStore."
    return {
        "spark.sql.streamJoin.stateFormat": rng.choice(STATE_FORMATS),
        f"{state}minDeltasForSnapshot": rng.choice(["1", "2", "10"]),
        f"{state}rocksdb.changelogCheckpointing.enabled": rng.choice(["true", "false"]),
        # Spark 4.1 counts what a killed process left of its first entry in the offset log
        "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
        f"{state}maintenanceInterval": "100ms",
        # it stops while it holds a lock that maintenance may need
        f"{state}maintenanceShutdownTimeout": "1s",
        f"{state}maintenanceForceShutdownTimeout": "1s",
    }


def _running(faults: Faults) -> Callable[[Case, SparkSession, Path, BuildStream], CaseRun]:
    return lambda case, spark, folder, build: FaultyRunner(case, spark, folder, build, faults).run()


def _join(rng: Random, first: int, inputs: tuple[int, ...]) -> Drawn:
    cases = (generate(first, number) for number in count(rng.randrange(10**6)))
    drawn = next(case for case in cases if len(inputs_of(case.tree)) in inputs)
    case = replace(
        drawn,
        settings={**drawn.settings, **_settings(rng)},
        steps=plans.merged(drawn.steps, STEPS),
        restarts=(),
    )

    def problems(spark: SparkSession, folder: Path, faults: Faults) -> list[str]:
        return list(check(case, spark, folder, running=_running(faults)).problems)

    return case, problems


def _plan(rng: Random, seed: int, form: str) -> Drawn:
    drawn = (plans.draw(seed, number) for number in count(rng.randrange(10**6)))
    plan = next(plan for plan in drawn if plan.form == form).with_case(settings=_settings(rng))

    def problems(spark: SparkSession, folder: Path, faults: Faults) -> list[str]:
        wanted = plans.real(plans.expected(plan, spark))
        running = _running(faults)
        return list(plan_problems(plan, "the plan itself", wanted, spark, folder, running))

    return plan, problems


def _versions(rng: Random, seed: int) -> Drawn:
    case = last_rows(scenario("full_join", rng.randrange(10**6), STEPS))
    case = replace(case, feed="memory", settings={**case.settings, **_settings(rng)})

    def problems(spark: SparkSession, folder: Path, faults: Faults) -> list[str]:
        result = _running(faults)(
            case, spark, folder, lambda case, _, inputs: valid_version(case, inputs)
        )
        found, expected = versions(case, result)
        return [] if found == expected else [f"found {found}, expected {expected}"]

    return case, problems


def _changelog(rng: Random, seed: int) -> Drawn:
    drawn = generate_changelog(seed, rng.randrange(10**6))
    # a batch that lands while others do not is the same batch after any fault
    starts = tuple((batch,) for start in drawn.starts for batch in start)
    retained = {"spark.sql.streaming.minBatchesToRetain": rng.choice(["2", "3", "100"])}
    settings = {**drawn.settings, **_settings(rng), **retained}
    case = replace(drawn, starts=starts, settings=settings)

    def problems(spark: SparkSession, folder: Path, faults: Faults) -> list[str]:
        return check_changelog(
            case, spark, folder, lambda df, checkpoint: FaultyRun(df, checkpoint, faults)
        )

    return case, problems


KINDS: dict[str, Callable[[Random, int], Drawn]] = {
    "join": lambda rng, seed: _join(rng, seed, (2,)),
    "chain": lambda rng, seed: _join(rng, seed, (3, 4)),
    "changelog": _changelog,
    "asof": lambda rng, seed: _plan(rng, seed, "asof"),
    "versions": _versions,
    "ordered": lambda rng, seed: _plan(rng, seed, "ordered"),
}


@pytest.fixture
def busy_maintenance(spark: SparkSession) -> Iterator[None]:
    """The interval of maintenance is that of the first query of the process."""
    jvm: Any = spark._jvm
    store = jvm.org.apache.spark.sql.execution.streaming.state.StateStore
    store.stop()
    yield
    store.stop()


@pytest.mark.sampled
@pytest.mark.usefixtures("busy_maintenance")
@pytest.mark.parametrize("kind", KINDS)
def test_a_query_is_exact_after_injected_faults(
    kind: str, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    option = pytestconfig.option
    left = -(-option.injected_faults // len(KINDS))
    number: int = option.injected_first
    while left > 0:
        rng = Random(f"{kind}/{option.faults_seed}/{number}")
        case, problems = KINDS[kind](rng, option.faults_seed)
        faults = Faults(spark, rng, min(left, MOST))
        try:
            found = problems(spark, tmp_path / str(number), faults)
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"[:5000]]
        if found:
            again = (
                f"python -m pytest {HERE} -k {kind} --faults-seed {option.faults_seed} "
                f"--injected-first {number}"
            )
            pytest.fail("\n".join([*found, *faults.told, str(case), again]), pytrace=False)
        left -= len(faults.told)
        number += 1
