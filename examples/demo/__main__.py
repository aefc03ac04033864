"""``python -m demo``: runs both pipelines, prints what happens and checks the results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from . import flights, orders
from .check import check
from .pipeline import Pipeline
from .plot import plot
from .progress import Batch
from .report import print_batch, print_heading, print_result
from .run import run
from .session import start


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--plot", type=Path, default=Path("demo.png"), help="where the PNG goes")
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="streamjoin-demo-") as name:
        folder = Path(name)
        spark = start(folder)
        try:
            shown = [show(spark, made(), folder) for made in (orders.pipeline, flights.pipeline)]
        finally:
            spark.stop()
    plot([(pipeline, batches) for pipeline, batches, _ in shown], arguments.plot)
    print(f"\nPlot of watermarks and buffered rows: {arguments.plot.resolve()}")
    return 0 if all(passed for _, _, passed in shown) else 1


def show(
    spark: SparkSession, pipeline: Pipeline, folder: Path
) -> tuple[Pipeline, list[Batch], bool]:
    own = folder / pipeline.name
    own.mkdir()
    print_heading(pipeline)
    result, batches = run(spark, pipeline, own, lambda batch: print_batch(pipeline, batch))
    checks = check(spark, pipeline, own, result, batches)
    print_result(pipeline, result, batches, checks)
    return pipeline, batches, all(check.passed for check in checks)


if __name__ == "__main__":
    sys.exit(main())
