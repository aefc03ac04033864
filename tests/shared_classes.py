"""A class data sharing archive of Spark's classes: ``python -m tests.shared_classes`` writes it.

Tests start some eighty JVMs. Without the archive, each of them reads and verifies fifteen thousand
classes before its first batch, which takes half of its life. A JVM with another class path or
another Java version ignores the archive.

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
"""For a process that lives for seconds, the second compiler and the concurrent garbage collector
cost more than they save."""
QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def environment() -> dict[str, str]:
    """The environment that makes all JVMs of the tests start faster."""
    options = [os.environ.get("JAVA_TOOL_OPTIONS", ""), SHORT_LIVED]
    if FILE.exists():
        options += [f"-XX:SharedArchiveFile={FILE}", QUIET]
    return {"JAVA_TOOL_OPTIONS": " ".join(options).strip()}


def make() -> None:
    """Run a job to its end; the JVM records the classes that it has loaded."""
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
