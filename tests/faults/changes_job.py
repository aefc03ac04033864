"""The changelog pipeline on a cluster; it runs until a file ``complete`` exists."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.crash.whole import write_whole
from tests.soak.changelog.pipeline import written


def main(folder: Path) -> None:
    spark = SparkSession.builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    query = written(spark, folder, 1).trigger(processingTime="500 milliseconds").start()
    while not (folder / "complete").exists():
        if query.awaitTermination(1):
            raise RuntimeError("the query has ended by itself")
    query.stop()
    progress = query.lastProgress
    assert progress is not None
    write_whole(folder / "progress.json", progress.json)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
