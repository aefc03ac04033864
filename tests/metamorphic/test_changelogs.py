"""Random changelog joins, each in several variations that must not change the table."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.metamorphic.changelogs import VARIATIONS, draw, problems, wanted
from tests.metamorphic.options import parametrize

HERE = "tests/metamorphic/test_changelogs.py"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize(metafunc, metafunc.config.option.meta_changelogs)


@pytest.mark.sampled
def test_variations_yield_the_same_table(
    index: int, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    option = pytestconfig.option
    case = draw(option.meta_seed, index)
    first, *others = VARIATIONS
    if option.meta_only:
        names = [option.meta_only]
    elif option.meta_variations:
        rng = Random(f"changelogs/{option.meta_seed}/{index}")
        names = [first, *rng.sample(others, option.meta_variations - 1)]
    else:
        names = [first, *others]
    want = wanted(case, spark)
    again = f"python -m pytest {HERE} --meta-seed {option.meta_seed} --meta-plan {index}"
    found = [
        f"{name}: {problem}\n{again} --meta-only '{name}'"
        for number, name in enumerate(names)
        for problem in problems(case, name, want, spark, tmp_path / str(number))
    ]
    if found:
        pytest.fail("\n".join([*found, str(case)]), pytrace=False)
