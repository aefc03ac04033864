"""The Spark session of the demo: two cores, no web server, errors only."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import SparkSession

import streamjoin


def start(folder: Path) -> SparkSession:
    # A machine's own name may lead to an address that nothing answers on.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").appName("streamjoin demo")
    return (
        streamjoin.configure(builder)
        .config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
