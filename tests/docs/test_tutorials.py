"""The tutorials print the output that they show."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

import streamjoin
from scripts.code_blocks import ROOT
from tests.delta.job import jars
from tests.docs.tutorial import printed

HERE = ("first-join.md", "replace-spark-joins.md")
ON_DELTA = ("cdc-to-delta.md",)


def page(name: str) -> str:
    return f"docs/tutorials/{name}"


def check(found: list[tuple[str, str]]) -> None:
    assert any(shown for shown, _ in found)
    for shown, output in found:
        lines = (".*" if line == "..." else re.escape(line) for line in shown.strip().splitlines())
        whole = re.compile("\n".join(lines), re.DOTALL)
        assert whole.fullmatch(output.strip()), f"shown:\n{shown}\nprinted:\n{output}"


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[None]:
    """Restores the session settings, because a tutorial builds the session with its own."""
    before = dict(spark.conf.getAll)
    yield
    for name, value in spark.conf.getAll.items():
        if name not in before:
            spark.conf.unset(name)
        elif value != before[name] and spark.conf.isModifiable(name):
            spark.conf.set(name, before[name])


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("name", HERE)
def test_tutorial_prints_the_output_it_shows(name: str) -> None:
    check(printed(page(name)))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ON_DELTA)
def test_delta_tutorial_prints_the_output_it_shows(name: str, tmp_path: Path) -> None:
    """In another process: the session needs Delta's jars, from a local folder instead of Maven."""
    if pyspark.__version__.startswith("4.3."):
        with pytest.raises(streamjoin.SetupError, match="has no package for Spark"):
            streamjoin.delta_package()
        return
    path = ":".join(map(str, jars()))
    ran = subprocess.run(
        [sys.executable, "-m", "tests.docs.tutorial", page(name)],
        cwd=ROOT,
        env={
            **os.environ,
            "PYSPARK_SUBMIT_ARGS": (
                f"--driver-class-path {path} --conf spark.jars.packages= pyspark-shell"
            ),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "TMPDIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert ran.returncode == 0, ran.stderr[-5000:]
    check(json.loads(ran.stdout.splitlines()[-1]))


def test_every_tutorial_has_a_test() -> None:
    assert sorted((*HERE, *ON_DELTA)) == sorted(p.name for p in (ROOT / "docs/tutorials").iterdir())
