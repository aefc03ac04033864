from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import streamjoin
from tests.conftest import JARS, LOCAL_FILES, MANY_QUERIES
from tests.realtime.running import SETTINGS


@pytest.fixture(scope="session")
def realtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with a slot for each task of several queries: all tasks of a batch run at once."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    class_path = os.pathsep.join(str(jar) for jar in JARS.glob("*.jar"))
    builder = SparkSession.builder.master("local[64]").appName("real-time mode")
    builder = builder.config("spark.driver.extraClassPath", class_path).config(map=LOCAL_FILES)
    session = (
        streamjoin.configure(builder)
        .config("spark.log.level", "OFF")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", MANY_QUERIES)
        .config("spark.sql.artifact.isolation.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .config(map=dict(SETTINGS))
        .getOrCreate()
    )
    yield session
    session.stop()
