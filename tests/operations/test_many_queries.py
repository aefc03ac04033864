"""Hundreds of short queries in one session leave no resources behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import streamjoin
from tests.processes import run_python
from tests.streams import Landing

pytestmark = pytest.mark.thorough

QUERIES = 300
WARM_UP = 60
EXECUTOR_QUERIES = 200

OWN = "org.apache.spark.sql.streamjoin"


class Process:
    """A snapshot of the process, which is both driver and executor."""

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext
        self._jvm: Any = self._context._jvm

    def _field(self, name: str, of: str) -> Any:
        loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        owner = self._jvm.java.lang.Class.forName(f"{OWN}.{of}$", True, loader)
        field = owner.getDeclaredField(name)
        field.setAccessible(True)
        return field.get(owner.getField("MODULE$").get(None))

    def registries(self) -> dict[str, int]:
        # Spark notifies listeners asynchronously of the end of a query.
        self._context._jsc.sc().listenerBus().waitUntilEmpty()
        return {
            "runs": self._field("scopes", "run.RunScope").size(),
            "applications": self._field("done", "run.OncePerApplication").size(),
            "partitions in memory": self._field(
                "holders", "checkpoint.segment.ResidentState"
            ).size(),
            "bytes in memory": self._field("pool", "checkpoint.segment.LocalDisk").used(),
        }

    def threads(self) -> int:
        beans = self._jvm.java.lang.management.ManagementFactory
        return int(beans.getThreadMXBean().getThreadCount())

    def heap(self) -> int:
        runtime = self._jvm.java.lang.Runtime.getRuntime()
        for _ in range(3):
            self._jvm.java.lang.System.gc()
            time.sleep(0.5)
        return int(runtime.totalMemory() - runtime.freeMemory())


def event_times(folder: Path, spark: SparkSession) -> DataFrame:
    sides = []
    for name in ("o", "d"):
        rows = Landing(spark, folder / name, "id INT, t TIMESTAMP")
        rows.land(*({"id": n, "t": f"2024-05-04T10:00:{n:02d}Z"} for n in range(20)))
        sides.append(rows.stream().imposeOrder("t", lag="5 seconds").alias(name))
    on = "o.id = d.id AND d.t BETWEEN o.t AND o.t + INTERVAL '1' MINUTE"
    return streamjoin.stream_join(sides[0], sides[1], on, "left")


def changes(folder: Path, spark: SparkSession) -> DataFrame:
    sides = []
    for name in ("a", "b"):
        rows = Landing(spark, folder / name, "id INT, n INT, _change_type STRING")
        rows.land(*({"id": n, "n": n % 3, "_change_type": "insert"} for n in range(20)))
        sides.append(streamjoin.from_changelog(rows.stream(), key="id").alias(name))
    return streamjoin.stream_join(sides[0], sides[1], "a.n = b.id", "left")


def eventually(holds: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(1)
    return True


def test_ended_queries_release_registries_threads_and_heap(
    spark: SparkSession, tmp_path: Path
) -> None:
    process = Process(spark)
    # Earlier tests may have left stores, which Spark closes within a minute.
    first = process.registries()
    first["applications"] = max(1, first["applications"])
    results = [event_times(tmp_path, spark), changes(tmp_path, spark)]
    before: tuple[int, int] | None = None
    for number in range(QUERIES):
        writer = results[number % 2].writeStream.outputMode("append").format("noop")
        writer = writer.option("checkpointLocation", str(tmp_path / f"checkpoint{number}"))
        writer.trigger(availableNow=True).start().awaitTermination()
        if number == WARM_UP:
            before = (process.threads(), process.heap())
    assert before is not None
    assert process.registries()["runs"] <= first["runs"]

    def is_as_before() -> bool:
        return all(size <= first[name] for name, size in process.registries().items())

    # Spark's maintenance closes the stores of ended queries, once a minute.
    assert eventually(is_as_before, 180), (first, process.registries())
    threads, heap = process.threads(), process.heap()
    assert threads <= before[0] + 20
    assert heap <= before[1] + (64 << 20), (before[1], heap)


def test_executor_drops_what_ended_queries_kept(tmp_path: Path) -> None:
    """No end of a run is reported to an executor: the next run removes what it kept."""
    printed = run_python(
        f"""
        from pathlib import Path
        from pyspark.sql import SparkSession
        import streamjoin
        from tests.operations.test_many_queries import changes

        builder = SparkSession.builder.master("local-cluster[1,1,1024]")
        builder = builder.config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "1")
        spark = streamjoin.configure(builder).getOrCreate()
        folder = Path({str(tmp_path)!r})
        result = changes(folder, spark)
        for number in range({EXECUTOR_QUERIES}):
            writer = result.writeStream.outputMode("append").format("noop")
            writer = writer.option("checkpointLocation", str(folder / f"checkpoint{{number}}"))
            writer.trigger(availableNow=True).start().awaitTermination()
        call = "java_method('{OWN}.run.RunScope', 'runs')"
        print(spark.sql(f"SELECT {{call}} FROM range(0, 1, 1, 1)").first()[0])
        """
    )
    assert printed.split()[-1] == "1"
