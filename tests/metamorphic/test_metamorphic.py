"""Random plans, each in several variations that must not change its rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.metamorphic.check import check, report, smaller
from tests.metamorphic.options import parametrize
from tests.metamorphic.plans import Plan, draw
from tests.metamorphic.variations import OPTIMIZER_RULES, VARIATIONS, chosen

HERE = "tests/metamorphic/test_metamorphic.py"
LATE_WITHOUT_LAG = 8


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize(metafunc, metafunc.config.option.meta_plans)


@pytest.mark.sampled
def test_variations_yield_the_same_rows(
    index: int, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    option = pytestconfig.option
    plan = draw(option.meta_seed, index)
    rng = Random(f"{option.meta_seed}/{index}")
    names = [option.meta_only] if option.meta_only else chosen(plan, option.meta_variations, rng)
    failures = check(plan, names, spark, tmp_path)
    if failures and option.meta_shrink:
        failures = [smaller(each, spark, tmp_path, option.meta_shrink) for each in failures]
    again = f"python -m pytest {HERE} --meta-seed {option.meta_seed} --meta-plan {index}"
    if failures:
        parts = [report(f, f"{again} --meta-only '{f.variation}'") for f in failures]
        pytest.fail("\n\n".join(parts), pytrace=False)


def test_check_finds_a_variation_that_loses_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a lag, rows of this plan are late."""

    def without_lag(plan: Plan, rng: Random) -> Plan:
        inputs = [
            replace(each, times=tuple(replace(t, lag=t.lag and 0) for t in each.times))
            for each in plan.case.inputs
        ]
        return plan.with_case(inputs=tuple(inputs))

    monkeypatch.setitem(VARIATIONS, "without lag", without_lag)
    (failure,) = check(draw(1, LATE_WITHOUT_LAG), ["without lag"], spark, tmp_path)
    assert any(problem.startswith(("missing", "superfluous")) for problem in failure.problems)


@pytest.mark.sampled
def test_excluded_optimizer_rules_exist(spark: SparkSession) -> None:
    """Spark ignores an excluded rule that it does not know."""
    of = spark._jvm.org.apache.spark.util.Utils  # type: ignore[union-attr]
    for name in OPTIMIZER_RULES.values():
        assert of.classForName(f"{name}$", True, False).getName() == f"{name}$"
