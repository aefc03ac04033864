"""What the commands ``python -m streamjoin...`` share that start Spark."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamjoin._session import configure


def run(builder: SparkSession.Builder, lines: Callable[[SparkSession], Iterable[object]]) -> int:
    """Print the lines of a command, or its refusal. Give the exit code."""
    session = configure(builder).config("spark.log.level", "ERROR").getOrCreate()
    try:
        for line in lines(session):
            print(line)
    except PySparkException as refused:
        print(refused, file=sys.stderr)
        return 1
    finally:
        session.stop()
    return 0
