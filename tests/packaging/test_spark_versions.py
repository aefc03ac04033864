"""The features of joins on the other versions of Spark, each in its own environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pyspark
import pytest

import streamjoin
from scripts import spark_versions
from scripts.missing_members import missing
from scripts.spark_versions import PAGE, keep, page
from streamjoin._version import _JAR_OF
from tests.golden_checkpoints.archive import OF_OTHER_SPARKS
from tests.other_sparks import MINORS, python_of
from tests.processes import ROOT, run, run_python

BREADTH = [
    # outer joins, a chain, changelogs, as-of joins and ordered outputs go on from checkpoints
    "tests/golden_checkpoints",
    # syntax that Spark 4.3 has, too
    "tests/asof/test_asof_sql.py",
    "tests/eventtime/test_replace_builtin.py",
    "tests/doctor/test_pending.py",
    # every SQL form, and every mistake with its error
    "tests/sql",
    "tests/golden/test_golden.py",
    "tests/eventtime/test_wrong_in_spark.py",
    "tests/docs/test_tutorials.py",
    # each kind of operator with another number of partitions; and the tool as a process
    "tests/rescale/test_rescale.py::test_a_query_goes_on",
    "tests/rescale/test_kills.py::test_a_kill_while_rows_are_written",
    # the joins of that version, in each of its formats
    "tests/evolve/test_spark_join.py::test_no_match_is_lost_and_no_row_comes_twice",
]
CHOSEN = "not golden_checkpoints or (goes_on and spark)"
USED = """
import platform, pyspark
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
java = spark._jvm.java.lang.System.getProperty("java.version")
print(pyspark.__version__, platform.python_version(), java)
"""


@pytest.mark.parametrize("minor", MINORS)
def test_checkpoints_of_spark_4_0_continue_on_other_versions(minor: str) -> None:
    """Each continues from a checkpoint of Spark 4.0; and a query is refused there as here."""
    kept = "tests/golden_checkpoints/test_golden_checkpoints.py::test_a_kept_checkpoint_goes_on"
    cases = [f"{kept}[spark-4.0-segments-1-{case}]" for case in OF_OTHER_SPARKS]
    refusal = "tests/sql/test_refusals.py::test_missing_watermark_is_refused_with_advice"
    # the dialect with the most syntax of its own
    dialect = "tests/sql/test_seed_queries.py"
    assert passed_on(minor, *cases, refusal, dialect) > len(cases) + 1


def test_joins_run_in_real_time_mode_on_spark_4_3() -> None:
    tests = "tests/realtime/test_real_time.py"
    emitted = f"{tests}::test_match_is_emitted_while_the_batch_runs"
    example = "tests/realtime/test_real_time_kafka.py"
    example += "::test_example_emits_matches_while_the_batch_runs"
    assert passed_on("4.3", emitted, f"{tests}::test_query_is_refused", example) > 2


@pytest.mark.thorough
def test_real_time_mode_equals_micro_batches_on_spark_4_3() -> None:
    """In a process of its own, because all tasks of a batch run at once and need many slots."""
    assert passed_on("4.3", "tests/realtime") > 10


CELL = "---- end of a cell ----"


@pytest.mark.thorough
@pytest.mark.parametrize("minor", MINORS)
def test_notebook_prints_its_output_on_other_versions(minor: str, tmp_path: Path) -> None:
    notebook = json.loads((ROOT / "examples" / "walkthrough.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    script = tmp_path / "cells.py"
    script.write_text("".join(f"{''.join(c['source'])}\nprint({CELL!r})\n" for c in cells))
    python = python_of(minor)
    printed = run([python, "-u", str(script)], {"PYSPARK_PYTHON": python}).split(CELL)
    shown = ["".join(t for o in cell["outputs"] for t in o["text"]) for cell in cells]
    assert [part.strip() for part in printed] == [*(each.strip() for each in shown), ""]


@pytest.mark.thorough
@pytest.mark.parametrize("minor", MINORS)
def test_feature_tests_pass_on_other_versions(minor: str) -> None:
    passed = passed_on(minor, "-k", CHOSEN, *BREADTH)
    assert passed > 50
    if "STREAMJOIN_KEEP_VERSIONS" in os.environ:
        version, python, java = run([python_of(minor), "-c", USED]).split()
        keep("tests", version, {"java": java, "python": python, "passed": passed})


def passed_on(minor: str, *chosen: str) -> int:
    """Run tests on a version of Spark and count those that passed: none may fail."""
    python = python_of(minor)
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen],
        cwd=ROOT,
        env={**os.environ, "PYSPARK_PYTHON": python},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    counted = re.search(r"(\d+) passed", done.stdout)
    assert counted is not None
    return int(counted[1])


@pytest.mark.thorough
@pytest.mark.parametrize("minor", MINORS)
def test_jar_links_against_other_versions(minor: str) -> None:
    jars = run([python_of(minor), "-c", "import pyspark; print(pyspark.__path__[0] + '/jars')"])
    assert missing(Path(streamjoin.jar_path(minor)), Path(jars)) == []


def test_jar_links_against_the_installed_version() -> None:
    assert missing(Path(streamjoin.jar_path()), Path(pyspark.__path__[0]) / "jars") == []


def test_link_check_finds_missing_members() -> None:
    here = Path(pyspark.__path__[0]) / "jars"
    found = missing(Path(streamjoin.jar_path("4.1")), here)
    # a provider of 4.1 opens stores by fewer parameters
    assert any("StateStoreProvider.getStore" in line for line in found)


def test_versions_page_matches_the_record() -> None:
    text = PAGE.read_text()
    assert page(text) == text


def test_sizes_are_those_of_the_wheel_and_of_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"links": {}, "tests": {}}))
    monkeypatch.setattr(spark_versions, "RECORD", record)
    jar = f"streamjoin-spark-4.1_2.13-{streamjoin.__version__}.jar"
    wheel = tmp_path / "some.whl"
    with ZipFile(wheel, "w") as contents:
        contents.writestr(f"streamjoin/jars/{jar}", b" " * 2_340_000)
        contents.writestr("streamjoin/__init__.py", b"")
    spark_versions.sizes(wheel)
    written = spark_versions.tables()
    assert "| the jar `streamjoin-spark-4.1_2.13` | 2.3 MB |\n" in written
    assert re.search(r"\| sources of every version \| \d\d,\d{3} lines \|\n", written)
    assert re.search(r"\| sources of 4\.0-4\.1 \| \d+ lines \|\n", written)


def test_each_jar_states_the_versions_that_choose_it() -> None:
    for minor in _JAR_OF:
        with ZipFile(streamjoin.jar_path(minor)) as jar:
            stated = jar.read("streamjoin.properties").decode()
        assert minor in stated.split("spark=")[1].strip().split(",")


def test_jar_of_an_unknown_version_is_refused() -> None:
    assert streamjoin.jar_path("4.1.4") == streamjoin.jar_path("4.1")
    with pytest.raises(streamjoin.SetupError, match=r"the requested version is 3\.5\.9"):
        streamjoin.jar_path("3.5.9")


OTHER = f"""
    import warnings
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import lit
    import streamjoin

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.jars", {streamjoin.jar_path("4.1")!r})
"""
SENTENCE = "runs on Spark 4.1, but this is Spark 4.2"


def test_jar_of_another_version_is_refused_when_configured() -> None:
    printed = run_python(
        OTHER
        + """
    try:
        builder.config(
            "spark.sql.extensions", "io.streamjoin.StreamJoinExtensions"
        ).getOrCreate()
    except Exception as refused:
        print(refused)
        """
    )
    assert SENTENCE in printed
    assert "python -m streamjoin jar --spark 4.2" in printed


def test_jar_of_another_version_is_refused_at_first_use() -> None:
    """Spark continues without an extension that is not configured."""
    printed = run_python(
        OTHER
        + """
    spark = builder.getOrCreate()
    print(spark.range(3).count())
    rates = spark.readStream.format("rate").load()
    rates.createOrReplaceTempView("rates")
    for use in (
        lambda: rates.imposeOrder("timestamp", "1 minute"),
        lambda: spark.sql("SELECT /*+ IMPOSE_ORDER(timestamp) */ * FROM rates"),
        lambda: spark.sql(
            "SELECT * FROM IMPOSE_ORDER(TABLE(rates), DESCRIPTOR(timestamp), INTERVAL '1' MINUTE)"
        ),
    ):
        try:
            use()
            print("done")
        except Exception as refused:
            print(str(refused))
        """
    )
    count, *refused = printed.splitlines()
    assert count == "3"
    assert "done" not in refused
    assert printed.count(SENTENCE) == 3, printed
