"""The session of a job that reads topics in a process of its own."""

from __future__ import annotations

from pyspark.sql import SparkSession

import streamjoin
from tests.kafka.jars import connector_jars


def started(master: str) -> SparkSession:
    builder = SparkSession.builder.master(master)
    builder = builder.config("spark.jars", ",".join(connector_jars()))
    return (
        streamjoin.configure(builder)
        .config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .getOrCreate()
    )
