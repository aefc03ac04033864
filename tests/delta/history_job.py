"""A query over Delta tables that starts from versions: ``tests.delta.history_job FOLDER``.

The query joins orders with deliveries. Its history are the tables at a version; further versions
are live. ``end.json`` has the output, the lines of ``warm``, and the error for a stream that begins
at another version.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from streamjoin import warm
from tests.crash.whole import write_whole
from tests.delta.job import session
from tests.orders import WITHIN_THE_HOUR, ids
from tests.streams import Run

TABLES = {"orders": "order_time", "deliveries": "delivery_time"}


def main() -> None:
    folder = Path(sys.argv[1])
    spark = session(folder, "segments")
    for name, time in TABLES.items():
        spark.sql(
            f"CREATE TABLE {name} (id INT, {time} TIMESTAMP) USING delta LOCATION '{folder}/{name}'"
        )
    insert(spark, "orders", "(1, '13:40'), (2, '13:50'), (3, '13:10'), (4, '14:00')")
    insert(spark, "deliveries", "(3, '13:30'), (4, '14:00')")
    run, streams = query(spark, folder, 2)
    past = {n: spark.read.option("versionAsOf", 1).table(n) for n in TABLES}
    late, others = query(spark, folder, 3)
    refused = ""
    try:
        warm(late.result, late.checkpoint, [(others[n], past[n]) for n in TABLES])
    except AnalysisException as error:
        refused = str(error)
    told = warm(run.result, run.checkpoint, [(streams[n], past[n]) for n in TABLES])
    insert(spark, "deliveries", "(1, '14:10'), (9, '15:00')")
    insert(spark, "orders", "(9, '15:00')")
    found = ids([row for rows in run.step().values() for row in rows])
    write_whole(folder / "end.json", json.dumps({"found": found, "told": told, "refused": refused}))
    spark.stop()


def insert(spark: SparkSession, name: str, rows: str) -> None:
    values = f"VALUES {rows} AS rows (id, clock)"
    spark.sql(f"INSERT INTO {name} SELECT id, to_timestamp('2024-05-04 ' || clock) FROM {values}")


def query(spark: SparkSession, folder: Path, version: int) -> tuple[Run, dict[str, DataFrame]]:
    streams = {n: spark.readStream.option("startingVersion", version).table(n) for n in TABLES}
    o, d = (
        streams[name].imposeOrder(time, "0 seconds").alias(name[0]) for name, time in TABLES.items()
    )
    joined: DataFrame = o.streamJoin(d, WITHIN_THE_HOUR, "left")
    return Run(joined, folder / f"checkpoint-{version}"), streams


if __name__ == "__main__":
    main()
