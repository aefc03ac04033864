"""The classes of Spark in a file that a JVM maps: ``python -m tests.shared_classes`` makes it.

Tests start some eighty JVMs, each of which would read and check fifteen thousand classes anew
before its first batch, for half of its life. A JVM that the file does not fit (another class path,
another Java) goes on without it.

Source: class data sharing, JEP 350.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark

import streamjoin
from tests.processes import run

FILE = Path(sys.prefix) / "spark-classes.jsa"
JOB = Path(__file__).parent / "cluster_job.py"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Compiling well and collecting beside the work cost a process that lives for seconds more than
they save it."""
QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def environment() -> dict[str, str]:
    """Give what makes all JVMs of the tests quick to start."""
    options = [os.environ.get("JAVA_TOOL_OPTIONS", ""), SHORT_LIVED]
    if FILE.exists():
        options += [f"-XX:SharedArchiveFile={FILE}", QUIET]
    return {"JAVA_TOOL_OPTIONS": " ".join(options).strip()}


def make() -> None:
    """Let a job run to its end; the JVM notes what it has loaded."""
    home = Path(pyspark.__file__).parent
    FILE.unlink(missing_ok=True)
    with TemporaryDirectory() as folder:
        run(
            [
                str(home / "bin" / "spark-submit"),
                *("--master", "local[2]"),
                *("--jars", streamjoin.jar_path()),
                *("--conf", "spark.sql.extensions=io.streamjoin.StreamJoinExtensions"),
                *("--conf", "spark.sql.shuffle.partitions=2"),
                *("--conf", "spark.ui.enabled=false"),
                *("--driver-java-options", f"-XX:ArchiveClassesAtExit={FILE} {QUIET}"),
                *(str(JOB), folder),
            ],
            {"SPARK_HOME": str(home), "PYTHONPATH": str(JOB.parents[1])},
        )


if __name__ == "__main__":
    make()
