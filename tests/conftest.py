from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import streamjoin
from tests import shared_classes
from tests.connect_server import local_builder
from tests.kafka.jars import connector_jars
from tests.orders import Shop
from tests.other_sparks import ON_SPARK_4_0

pytest_plugins = [
    "tests.connect_option",
    "tests.differential.options",
    "tests.metamorphic.options",
    "tests.part_option",
    "tests.rescale.options",
    "tests.evolve.options",
    "tests.warm.options",
    "tests.realtime.options",
    "tests.golden.options",
    "tests.groups.options",
    "tests.kafka.fixtures",
    "tests.cluster.options",
    "tests.proofs.options",
]


# The compiled code of many short queries needs more space than the JVM gives to its first compiler.
MANY_QUERIES = "-XX:ReservedCodeCacheSize=512m"

JARS = Path(__file__).parent / "jars"

# Hadoop's local file system starts a process or two for each file that it makes. Tests whose Spark
# runs in processes of its own have that one. Files of the scheme ``faulty`` fail on purpose.
LOCAL_FILES: dict[str, bool | float | int | str | None] = {
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.hadoop.fs.faulty.impl": "io.streamjoin.faults.FaultyFiles",
    "spark.hadoop.fs.faulty.impl.disable.cache": True,
    "spark.hadoop.spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming."
        f"{'' if ON_SPARK_4_0 else 'checkpointing.'}FileSystemBasedCheckpointFileManager"
    ),
}


# Slow folders, and folders that start brokers, clusters and drivers: `make test-all` runs them.
THOROUGH = {
    "benchmarks",
    "cluster",
    "crash",
    "delta",
    "differential",
    "faults",
    "golden_checkpoints",
    "kafka",
    "metamorphic",
    "peers",
    "soak",
}

# A join of each kind, some refusals, and an explanation: `make quick` runs them.
QUICK = {
    "eventtime/test_same_batch.py",
    "eventtime/test_watermarks.py",
    "changelog/test_state_ttl.py",
    "asof/test_asof.py",
    "ordered/test_order_sinks.py",
    "sql/test_draft.py",
    "sql/test_refusals.py",
    "doctor/test_explain.py",
}


def pytest_configure() -> None:
    os.environ.update(shared_classes.environment())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that only `make test-all` runs, and those of `make quick`."""
    for item in items:
        file = item.path.relative_to(Path(__file__).parent)
        if file.parts[0] in THOROUGH:
            item.add_marker("thorough")
        if file.as_posix() in QUICK:
            item.add_marker("quick")


@pytest.fixture(scope="session")
def spark(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[SparkSession]:
    """A session as a user configures it; on purpose, it selects no state store provider."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    warehouse: Path = tmp_path_factory.mktemp("warehouse")
    if pytestconfig.option.connect:
        session = on_connect(warehouse)
        yield session
        session.stop()
        return
    attempts: int = pytestconfig.option.task_attempts
    builder = SparkSession.builder.master(f"local[2, {attempts}]").appName("streamjoin tests")
    session = configured(builder, warehouse).config("spark.log.level", "ERROR").getOrCreate()
    yield session
    session.stop()


def configured(builder: SparkSession.Builder, warehouse: Path) -> SparkSession.Builder:
    """Configure a session of many queries in this process."""
    if connector_jars():
        builder = builder.config("spark.jars", ",".join(connector_jars()))
    jars = [str(jar) for jar in JARS.glob("*.jar")]
    if jars:
        class_path = os.pathsep.join(jars)
        builder = builder.config("spark.driver.extraClassPath", class_path).config(map=LOCAL_FILES)
    return (
        streamjoin.configure(builder)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", MANY_QUERIES)
        # With isolation, each query has its own class loader and recompiles its generated code.
        .config("spark.sql.artifact.isolation.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(warehouse))
    )


def on_connect(warehouse: Path) -> SparkSession:
    """A session whose server is a separate process on this machine, started with it."""
    return (
        streamjoin.configure(local_builder())
        # The server retains each query for an hour after its end, with some megabytes of settings.
        .config("spark.driver.memory", "3g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.artifact.isolation.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(warehouse))
        .getOrCreate()
    )


@pytest.fixture
def shop(spark: SparkSession, tmp_path: Path) -> Shop:
    return Shop(spark, tmp_path)
