"""The process of the example with Delta's tables: ``python -m tests.delta.job FOLDER [KILL]``.

``KILL`` is the batch in which it kills itself, after the merge and before the batch is committed.
Each attempt of a batch writes its changes to ``changes/``. A process that is not killed takes in
all that is there, and writes the target and the batch join of the tables to ``end.json``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import streamjoin
from examples import delta_tables
from tests.crash.whole import write_whole

JARS = Path(__file__).parent / "jars"
DELTA = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
JOIN = "SELECT order_id, amount, name FROM orders LEFT JOIN customers ON customer_id = id"
TABLES = {
    "orders": "order_id INT, customer_id INT, amount INT",
    "customers": "id INT, name STRING",
    "wide": "order_id INT, amount INT, name STRING",
}
FIRST = [
    "INSERT INTO orders VALUES (1, 1, 10), (2, 2, 20), (3, NULL, 30), (4, 1, 40)",
    "INSERT INTO customers VALUES (1, 'Ada'), (3, 'Cem')",
]
STEPS = [
    ["UPDATE orders SET customer_id = 3, amount = 11 WHERE order_id = 1"],
    ["DELETE FROM customers WHERE id = 1", "INSERT INTO customers VALUES (2, 'Bo')"],
    [
        "DELETE FROM orders WHERE order_id = 2",
        "UPDATE customers SET name = 'Eva' WHERE id = 3",
        "INSERT INTO orders VALUES (5, 3, 50)",
        "UPDATE customers SET name = 'Cem' WHERE id = 3",
    ],
]


def main() -> None:
    folder = Path(sys.argv[1])
    kill = int(sys.argv[2]) if len(sys.argv) > 2 else None
    spark = session(folder)
    # the catalog of the session forgets them
    for name, columns in TABLES.items():
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {name} ({columns}) USING delta "
            f"LOCATION '{folder}/tables/{name}' TBLPROPERTIES (delta.enableChangeDataFeed = true)"
        )
    if kill is not None:
        for statement in FIRST:
            spark.sql(statement)

    def sink(batch: DataFrame, number: int) -> None:
        rows = sorted([str(value) for value in row] for row in batch.collect())
        attempt = len(list((folder / "changes").glob(f"{number}.*")))
        write_whole(folder / "changes" / f"{number}.{attempt}.json", json.dumps(rows))
        delta_tables.merge(batch, number)
        if number == kill:
            os.killpg(os.getpgid(0), signal.SIGKILL)

    query = delta_tables.changes(spark).writeStream.foreachBatch(sink)
    query = query.option("checkpointLocation", str(folder / "checkpoint"))
    for step in [[], *STEPS] if kill is not None else [[]]:
        for statement in step:
            spark.sql(statement)
        query.trigger(availableNow=True).start().awaitTermination()
    target, expected = (
        sorted((list(row) for row in df.collect()), key=str)
        for df in (spark.table("wide"), spark.sql(JOIN))
    )
    write_whole(folder / "end.json", json.dumps({"target": target, "expected": expected}))
    spark.stop()


def session(folder: Path) -> SparkSession:
    (folder / "changes").mkdir(exist_ok=True)
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(str(jar) for jar in JARS.glob("*.jar")))
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
        .config("spark.databricks.delta.snapshotPartitions", "1")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )


if __name__ == "__main__":
    main()
