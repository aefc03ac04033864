from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.conftest import configured
from tests.realtime.running import SETTINGS


@pytest.fixture(scope="session")
def realtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with a slot for each task of several queries: all tasks of a batch run at once."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[64]").appName("real-time mode")
    builder = configured(builder, tmp_path_factory.mktemp("warehouse"))
    # The batch queries of the tests take few of these slots.
    builder = builder.config("spark.default.parallelism", "2").config("spark.log.level", "OFF")
    # set by the first store of a process
    builder = builder.config("spark.sql.streaming.stateStore.maintenanceInterval", "500ms")
    session = builder.config(map=dict(SETTINGS)).getOrCreate()
    yield session
    session.stop()
