"""The changed chain of joins of tests/evolve/test_kills.py, for the command."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tests.evolve.test_evolve import OF_C, Pair

FOLDER = "EVOLVE_FOLDER"


def chain(pair: Pair, minutes: int) -> DataFrame:
    above: DataFrame = pair.joined(minutes=minutes).streamJoin(pair.stream("c"), OF_C, "left")
    return above


def result(spark: SparkSession) -> DataFrame:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return chain(Pair(spark, Path(os.environ[FOLDER])), minutes=45)
