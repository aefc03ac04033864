"""Random chains of joins in three ways: rows and buffered state; see ``chains``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.differential.chains import Again, Link, draw, problems

HERE = "tests/differential/test_chains.py"
LOST = (
    # bounds of both joins in WHERE: the lower join stayed Spark's, without them
    (Link(1, 0, "inner", "where", (0, 25)), Link(2, 1, "inner", "where", (0, 4))),
    # and where its bounds stand above an outer and an anti join of ours
    (Link(1, 0, "inner", "where", (15, 1)), Link(2, 1, "left", "on", (0, 4))),
    (Link(1, 0, "inner", "where", (15, 1)), Link(2, 1, "anti", "on", (0, 4))),
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "index" in metafunc.fixturenames:
        option = metafunc.config.option
        chosen = [option.diff_chain] if option.diff_chain is not None else range(option.diff_chains)
        metafunc.parametrize("index", chosen)


@pytest.mark.sampled
def test_rows_and_state_are_the_same(
    index: int, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    groups: int = pytestconfig.option.diff_groups
    chain = draw(pytestconfig.option.diff_seed, index, max(1, groups))
    found = problems(chain, spark, tmp_path)
    if found:
        again = f"python -m pytest {HERE} --diff-seed {chain.seed} --diff-chain {index}"
        again += f" --diff-groups {groups}"
        pytest.fail("\n".join([*found, chain.sql(), repr(chain), again]), pytrace=False)


@pytest.mark.parametrize("links", LOST, ids=["inner", "left", "anti"])
def test_chains_of_fixed_bugs_lose_no_rows(
    links: tuple[Link, ...], spark: SparkSession, tmp_path: Path
) -> None:
    chain = draw(7, 0).with_links(links)
    assert not problems(chain, spark, tmp_path)


def test_exists_on_a_stream_of_the_chain_continues_after_a_restart(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Names of columns that Spark numbers anew at each start were a part of the checkpoint."""
    chain = draw(7, 0).with_links((Link(1, 0, "inner", "where", (0, 25)),))
    again = Again(1, negated=False, reach=(3, 4))
    assert not problems(replace(chain, again=again, restart=True), spark, tmp_path)
