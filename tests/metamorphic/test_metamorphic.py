"""Random plans, each in several variations that must not change its rows."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.metamorphic.check import check, report, smaller
from tests.metamorphic.plans import draw
from tests.metamorphic.variations import OPTIMIZER_RULES, chosen

HERE = "tests/metamorphic/test_metamorphic.py"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "index" in metafunc.fixturenames:
        option = metafunc.config.option
        numbers = range(option.meta_first, option.meta_first + option.meta_plans)
        metafunc.parametrize("index", numbers if option.meta_plan is None else [option.meta_plan])


@pytest.mark.sampled
def test_variations_give_the_same_rows(
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


def test_excluded_rules_have_these_names(spark: SparkSession) -> None:
    """Spark ignores an excluded rule that it does not know."""
    of = spark._jvm.org.apache.spark.util.Utils  # type: ignore[union-attr]
    for name in OPTIMIZER_RULES.values():
        assert of.classForName(f"{name}$", True, False).getName() == f"{name}$"
