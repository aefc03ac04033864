"""What the shuffle of a join of two topics costs: ``python -m tests.kafka.shuffle_costs``.

The same rows of a broker on this machine are joined with a shuffle and with ``co_partitioned``, in
turns, in batches of one size that follow each other. A line for each run: milliseconds of a batch,
on the clock and of CPU, of the whole process that runs Spark.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import streamjoin
from tests.conftest import JARS, WITHOUT_FORKS
from tests.kafka.jars import connector_jars
from tests.kafka.process import BrokerProcess
from tests.kafka.topics import Topics

ITEMS = 100_000
ON = "o.key = d.key AND d.t BETWEEN o.t AND o.t + 1000"


def session(folder: Path) -> SparkSession:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(connector_jars()))
        .config("spark.driver.memory", "3g")
    )
    for jar in JARS.glob("hadoop-bare-naked-local-fs-*.jar"):
        builder = builder.config("spark.driver.extraClassPath", str(jar)).config(map=WITHOUT_FORKS)
    return (
        streamjoin.configure(builder)
        .config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.artifact.isolation.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )


def fill(topics: Topics, rows: int) -> None:
    for n in range(rows):
        key = f"item-{n * 7919 % ITEMS}".encode()
        topics.send_by_key("orders", key, str(n))
        # one in three is never delivered
        if n % 3:
            topics.send_by_key("deliveries", key, str(n + 500 + n % 7))
        if n % 20_000 == 0:
            topics.flush()
    topics.flush()


def joined(
    spark: SparkSession, topics: Topics, batch: int, how: Any, co_partitioned: bool
) -> DataFrame:
    def topic(name: str, alias: str, rows: int) -> DataFrame:
        messages = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", topics.broker.bootstrap)
            .option("subscribe", topics.prefix + name)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", rows)
            .load()
        )
        columns = messages.selectExpr(
            "CAST(key AS STRING) AS key", "CAST(CAST(value AS STRING) AS BIGINT) AS t"
        )
        return streamjoin.impose_order(columns, "t", 100).alias(alias)

    left, right = topic("orders", "o", batch * 3 // 5), topic("deliveries", "d", batch * 2 // 5)
    return streamjoin.stream_join(left, right, ON, how, co_partitioned=co_partitioned)


def cpu_ms(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) * 1000 / os.sysconf("SC_CLK_TCK")


def reached(query: StreamingQuery, batch: int) -> int:
    """Wait until a batch has ended; give the last one that has."""
    while True:
        progress = query.lastProgress
        if progress is not None and progress.batchId >= batch:
            return progress.batchId
        if not query.isActive:
            raise RuntimeError(str(query.exception()))
        time.sleep(0.01)


def measure(result: DataFrame, folder: Path, batches: int, warm: int, pid: int) -> str:
    query = (
        result.writeStream.format("noop")
        .option("checkpointLocation", tempfile.mkdtemp(dir=folder))
        .start()
    )
    try:
        begun = reached(query, warm)
        started, cpu = time.monotonic(), cpu_ms(pid)
        ended = reached(query, begun + batches)
        passed, used = (time.monotonic() - started) * 1000, cpu_ms(pid) - cpu
        count = ended - begun
        every = [p.durationMs["triggerExecution"] for p in query.recentProgress[-count:]]
        return (
            f"{passed / count:8.1f} ms a batch (median {statistics.median(every):.0f}), "
            f"{used / count:8.1f} ms of CPU, {count} batches"
        )
    finally:
        query.stop()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=1000, help="rows of a batch")
    parser.add_argument("--batches", type=int, default=150)
    parser.add_argument("--warm", type=int, default=150)
    parser.add_argument("--partitions", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--how", default="left")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    broker = BrokerProcess(folder / "kafka")
    broker.start()
    try:
        topics = Topics(broker, "")
        topics.create(given.partitions, "orders", "deliveries")
        fill(topics, given.batch * 3 // 5 * (given.batches + given.warm + 20))
        spark = session(folder)
        pid = spark._jvm.ProcessHandle.current().pid()  # type: ignore[union-attr]
        for pair in range(given.pairs):
            for co_partitioned in (True, False) if pair % 2 else (False, True):
                result = joined(spark, topics, given.batch, given.how, co_partitioned)
                name = "co_partitioned" if co_partitioned else "shuffled"
                said = measure(result, folder, given.batches, given.warm, pid)
                print(f"{name:15} {said}, load {os.getloadavg()[0]:.1f}", flush=True)
        spark.stop()
    finally:
        broker.remove()


if __name__ == "__main__":
    main()
