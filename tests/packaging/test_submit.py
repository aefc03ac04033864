"""The jar by `spark-submit --jars`, with separate executors, and on other Spark versions."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from zipfile import ZipFile

import pyspark
import pytest

import streamjoin
from tests.other_sparks import MINORS, python_of
from tests.processes import run

ROOT = Path(__file__).parents[2]
JOB = ROOT / "tests" / "cluster_job.py"


def result(printed: str) -> list[str]:
    return sorted(line for line in printed.splitlines() if line.startswith(("ROW", "BY TIME")))


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    home = Path(pyspark.__file__).parent
    printed = run(
        [
            str(home / "bin" / "spark-submit"),
            *("--master", "local[2]"),
            *("--jars", streamjoin.jar_path()),
            *("--conf", "spark.sql.extensions=io.streamjoin.StreamJoinExtensions"),
            *("--conf", "spark.sql.shuffle.partitions=2"),
            *("--conf", "spark.ui.enabled=false"),
            str(JOB),
            str(tmp_path_factory.mktemp("submitted")),
        ],
        {"SPARK_HOME": str(home), "PYTHONPATH": str(ROOT)},
    )
    return result(printed)


def test_spark_submit_with_jars_emits_the_expected_rows(submitted: list[str]) -> None:
    # Of four hours, the fourth is still buffered. A third of the orders was delivered.
    rows = [row for row in submitted if row.startswith("ROW")]
    assert len([row for row in rows if '"None"' not in row]) == 80
    assert len(rows) > 150
    # The join on time alone matches every delivery half a minute after any order.
    assert len(submitted) - len(rows) == 80


@pytest.mark.thorough
def test_spark_submit_with_a_package_archive_emits_the_same_rows(
    submitted: list[str], tmp_path: Path
) -> None:
    """As managed platforms use it: the wheel, copied to `streamjoin.zip`."""
    home = Path(pyspark.__file__).parent
    package = Path(streamjoin.__file__).parent
    archive = tmp_path / "streamjoin.zip"
    with ZipFile(archive, "w") as into:
        for file in package.rglob("*"):
            into.write(file, Path("streamjoin") / file.relative_to(package))
    job = tmp_path / "job.py"
    job.write_text(
        "import sys\nfrom pathlib import Path\n\nimport streamjoin\n"
        "from tests.cluster_job import main\n\n"
        "print('PACKAGE', streamjoin.__file__)\nmain(Path(sys.argv[1]), '')\n"
    )
    printed = run(
        [
            str(home / "bin" / "spark-submit"),
            *("--master", "local[2]"),
            *("--jars", streamjoin.jar_path()),
            *("--py-files", str(archive)),
            *("--conf", "spark.sql.extensions=io.streamjoin.StreamJoinExtensions"),
            *("--conf", "spark.sql.shuffle.partitions=2"),
            *("--conf", "spark.ui.enabled=false"),
            str(job),
            str(tmp_path),
        ],
        {"SPARK_HOME": str(home), "PYTHONPATH": str(ROOT)},
    )
    (imported,) = (line for line in printed.splitlines() if line.startswith("PACKAGE"))
    assert ".zip/" in imported
    assert result(printed) == submitted


@pytest.mark.thorough
def test_separate_executors_emit_the_same_rows(submitted: list[str], tmp_path: Path) -> None:
    printed = run(
        [sys.executable, str(JOB), str(tmp_path), "local-cluster[2,1,1024]"],
        {"PYTHONPATH": str(ROOT)},
    )
    # Spark creates a work folder in its own installation.
    shutil.rmtree(Path(pyspark.__file__).parent / "work", ignore_errors=True)
    assert "EXECUTORS 3" in printed
    assert result(printed) == submitted


@pytest.mark.thorough
@pytest.mark.parametrize("minor", MINORS)
def test_other_spark_versions_emit_the_same_rows(
    minor: str, submitted: list[str], tmp_path: Path
) -> None:
    python = python_of(minor)
    version = run([python, "-c", "import pyspark; print(pyspark.__version__)"])
    assert version.startswith(f"{minor}.")
    printed = run(
        [python, str(JOB), str(tmp_path), "local[2]"],
        {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": python},
    )
    assert result(printed) == submitted
