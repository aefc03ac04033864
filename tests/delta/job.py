"""The process of the Delta example: ``python -m tests.delta.job`` with arguments.

The arguments are the folder, the state format, and the seed of the statements (`written`). A
process that kills itself also gets the batch after whose merge it does so, and the delay in
milliseconds; with 0 that batch is not committed. Without such a batch it does so at the end. Each
attempt of a batch writes its changes to ``changes/``. A process that is not killed processes
all data, and writes the target and the batch join of the tables to ``end.json``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path

import pyspark
from pyspark.sql import DataFrame, SparkSession

import streamjoin
from examples import delta_tables
from tests.crash.whole import write_whole
from tests.delta.statements import written

_JARS = Path(__file__).parent / "jars"
DELTA = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
JOIN = "SELECT order_id, amount, name FROM orders LEFT JOIN customers ON customer_id = id"
TABLES = {
    "orders": "order_id INT, customer_id INT, amount INT",
    "customers": "id INT, name STRING",
    "wide": "order_id INT, amount INT, name STRING",
}


def main() -> None:
    folder, state_format, seed, *moment = (Path(sys.argv[1]), *sys.argv[2:])
    kill, delay_ms = map(int, moment) if moment else (None, 0)
    first, steps = written(int(seed))
    spark = session(folder, state_format)
    # The catalog of the session does not persist the tables.
    for name, columns in TABLES.items():
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {name} ({columns}) USING delta "
            f"LOCATION '{folder}/tables/{name}' TBLPROPERTIES (delta.enableChangeDataFeed = true)"
        )
    if kill is not None:
        for statement in first:
            spark.sql(statement)

    ending = threading.Event()

    def sink(batch: DataFrame, number: int) -> None:
        rows = sorted([str(value) for value in row] for row in batch.collect())
        attempt = len(list((folder / "changes").glob(f"{number}.*")))
        write_whole(folder / "changes" / f"{number}.{attempt}.json", json.dumps(rows))
        delta_tables.merge(batch, number)
        if number == kill:
            ending.set()
            threading.Timer(delay_ms / 1000, end).start() if delay_ms else end()

    query = delta_tables.changes(spark).writeStream.foreachBatch(sink)
    query = query.option("checkpointLocation", str(folder / "checkpoint"))
    for step in [[], *steps] if kill is not None else [[]]:
        for statement in step:
            spark.sql(statement)
        query.trigger(availableNow=True).start().awaitTermination()
    if kill is not None:
        signal.pause() if ending.is_set() else end()
    target, expected = (
        sorted((list(row) for row in df.collect()), key=str)
        for df in (spark.table("wide"), spark.sql(JOIN))
    )
    write_whole(folder / "end.json", json.dumps({"target": target, "expected": expected}))
    spark.stop()


def jars() -> list[Path]:
    """The jars of Delta for the installed Spark; empty if they are not staged."""
    of_spark = f"delta-spark_{'.'.join(pyspark.__version__.split('.')[:2])}_*.jar"
    return [*_JARS.glob(of_spark), *_JARS.glob("delta-storage-*.jar")]


def end() -> None:
    os.killpg(os.getpgid(0), signal.SIGKILL)


def session(folder: Path, state_format: str) -> SparkSession:
    (folder / "changes").mkdir(exist_ok=True)
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(map(str, jars())))
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", DELTA)
    )
    return (
        streamjoin.configure(builder)
        .config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.streamJoin.stateFormat", state_format)
        .config("spark.databricks.delta.snapshotPartitions", "1")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )


if __name__ == "__main__":
    main()
