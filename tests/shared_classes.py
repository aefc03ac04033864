"""A class data sharing archive of Spark's classes: ``python -m tests.shared_classes`` writes it.

The job that loads the classes is a join of Spark itself: the archive needs no jar of this project.

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
from pyspark.sql import SparkSession

from tests.processes import run
from tests.streams import Landing, Run

FILE = Path(sys.prefix) / "spark-classes.jsa"
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
    """Run the job to its end; the JVM records the classes that it has loaded."""
    home = Path(pyspark.__file__).parent
    FILE.unlink(missing_ok=True)
    with TemporaryDirectory() as folder:
        run(
            [
                str(home / "bin" / "spark-submit"),
                *("--master", "local[2]"),
                *("--conf", "spark.sql.shuffle.partitions=2"),
                *("--conf", "spark.ui.enabled=false"),
                *("--driver-java-options", f"-XX:ArchiveClassesAtExit={FILE} {QUIET}"),
                *(str(Path(__file__).resolve()), folder),
            ],
            {"SPARK_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[1])},
        )


def job(folder: Path) -> None:
    """Join two streams of files in SQL, in four batches, and read the result."""
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    sides = {name: Landing(spark, folder / name, f"id INT, {name} TIMESTAMP") for name in "ab"}
    for name, side in sides.items():
        side.stream().withWatermark(name, "1 minute").createOrReplaceTempView(name)
    joined = Run(
        spark.sql(
            "SELECT a.id, a, b FROM a LEFT JOIN b "
            "ON a.id = b.id AND b BETWEEN a AND a + INTERVAL '1' HOUR WHERE a.id > 0"
        ),
        folder / "checkpoint",
    )
    for hour in range(10, 14):
        for name, side in sides.items():
            side.land(*({"id": i, name: f"2024-05-04T{hour}:{i}:00"} for i in range(10, 60)))
        joined.step()
    assert joined.rows()
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        job(Path(sys.argv[1]))
    else:
        make()
