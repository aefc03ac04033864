"""A Spark Connect server on this machine, beside others."""

from __future__ import annotations

import os

from pyspark.sql import SparkSession


def local_builder() -> SparkSession.Builder:
    """A builder of a session whose server this process starts.

    PySpark has the server take any free port only in its own tests. Else all
    servers of the machine want port 15002.
    """
    os.environ["SPARK_TESTING"] = "1"
    return SparkSession.builder.remote("local[2]")
