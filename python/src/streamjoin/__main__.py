"""``python -m streamjoin rescale CHECKPOINT TO --partitions N``: another number of partitions."""

from __future__ import annotations

import argparse
import sys

from pyspark.sql import SparkSession

from streamjoin._command import run
from streamjoin._launch import launch_setting
from streamjoin._rescale import rescale


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m streamjoin")
    command = parser.add_subparsers(dest="command", required=True).add_parser(
        "rescale", help="write a new checkpoint of a stopped query, with other partitions"
    )
    command.add_argument("checkpoint", help="the checkpointLocation of a query that does not run")
    command.add_argument("to", help="the folder of the new checkpoint")
    command.add_argument("--partitions", type=int, required=True, help="the new number")
    asked = parser.parse_args()
    builder = SparkSession.builder.appName("streamjoin rescale")
    if launch_setting("spark.master") is None:
        builder = builder.master("local[*]")
    return run(
        builder, lambda spark: rescale(asked.checkpoint, asked.to, asked.partitions, spark=spark)
    )


if __name__ == "__main__":
    sys.exit(main())
