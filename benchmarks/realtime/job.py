"""A query of Spark, in a process of its own, until a file ``stop`` is in its folder.

``progress.jsonl`` gets the reports. ``vitals.jsonl`` gets a line every `vitals` seconds: heap after
a collection, threads, open files, files of the checkpoint. Of computed rows, ``begun`` has the time
of the first one in milliseconds since 1970, and is written when the sink has had a match.
``latencies`` is written at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import streamjoin
from benchmarks.engine import Engine
from benchmarks.realtime.feed import DELIVERED_AFTER_S
from tests.crash.whole import write_whole
from tests.kafka.jars import connector_jars
from tests.soak.vitals import size, vitals

CONDITION = (
    "order_id = delivered_id AND "
    "delivery_time BETWEEN order_time AND order_time + INTERVAL 10 SECONDS"
)
LAG = "1 second"
_POLL_S = 0.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("engine", choices=["real-time", "micro-batch", "spark"])
    parser.add_argument("--kafka", metavar="ADDRESS", help="else rows are computed")
    parser.add_argument("--rate", type=int, help="of computed rows, of both inputs")
    parser.add_argument("--batch", default="30 seconds", help="in real-time mode")
    parser.add_argument("--buffer", type=int, help="milliseconds that a row may wait in a buffer")
    parser.add_argument("--vitals", type=float, metavar="SECONDS")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    spark = _session(folder, arguments)
    begun = round(1000 * time.time())
    inputs = _inputs(spark, begun, arguments)
    query = _start(spark, joined(inputs, arguments.engine), arguments)
    if arguments.kafka is None:
        while query.isActive and not _sink(spark).hasRows():
            time.sleep(_POLL_S)
        write_whole(folder / "begun", str(begun))
    _live(spark, query, folder, arguments.vitals)
    reports = [json.loads(each.json) for each in query.recentProgress]
    lines = "".join(f"{json.dumps(each)}\n" for each in reports)
    (folder / "progress.jsonl").write_text(lines, encoding="utf-8")
    if arguments.kafka is None:
        _sink(spark).write(str(folder / "latencies"))
    query.stop()
    spark.stop()


def joined(inputs: tuple[DataFrame, DataFrame], engine: str) -> DataFrame:
    orders, deliveries = inputs
    if engine == "spark":
        orders = orders.withWatermark("order_time", LAG)
        deliveries = deliveries.withWatermark("delivery_time", LAG)
        return orders.join(deliveries, F.expr(CONDITION), "left")
    return streamjoin.stream_join(
        streamjoin.impose_order(orders, "order_time", LAG),
        streamjoin.impose_order(deliveries, "delivery_time", LAG),
        CONDITION,
        "left",
    )


def _session(folder: Path, arguments: argparse.Namespace) -> SparkSession:
    """Give a session with two partitions, and a slot for each task of a batch in real-time mode."""
    builder = SparkSession.builder.master("local[8]")
    builder = builder.config("spark.jars", ",".join(connector_jars()))
    settings = {
        "spark.driver.extraClassPath": os.pathsep.join(map(str, Engine.of("spark-heap").jars())),
        "spark.driver.memory": "3g",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
        # without its native library, Hadoop starts processes for each file
        "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    }
    if arguments.buffer is not None:
        settings["spark.shuffle.streaming.networkBufferMaxWaitTimeMs"] = str(arguments.buffer)
    return streamjoin.configure(builder).config(map=dict(settings)).getOrCreate()


def _inputs(
    spark: SparkSession, begun: int, arguments: argparse.Namespace
) -> tuple[DataFrame, DataFrame]:
    schemas = (
        "order_id BIGINT, order_time TIMESTAMP",
        "delivered_id BIGINT, delivery_time TIMESTAMP",
    )
    if arguments.kafka is None:
        delayed = begun + round(1000 * DELIVERED_AFTER_S)
        pairs = zip(schemas, (begun, delayed), strict=True)
        left, right = (_paced(spark, schema, at, arguments.rate // 2) for schema, at in pairs)
        return left, right

    def messages(topic: str, schema: str) -> DataFrame:
        kafka = spark.readStream.format("kafka").option("subscribe", topic)
        rows = kafka.option("kafka.bootstrap.servers", arguments.kafka)
        rows = rows.option("startingOffsets", "earliest")
        value = F.from_json(F.col("value").cast("string"), schema).alias("m")
        return rows.load().select(value).select("m.*")

    return messages("orders", schemas[0]), messages("deliveries", schemas[1])


def _paced(spark: SparkSession, schema: str, start: int, rate: int) -> DataFrame:
    rows = spark.readStream.format("io.streamjoin.benchmarks.spark.PacedSource")
    names = [column.split()[0] for column in schema.split(", ")]
    return rows.option("startMs", start).option("rowsPerSecond", rate).load().toDF(*names)


def _start(spark: SparkSession, df: DataFrame, arguments: argparse.Namespace) -> StreamingQuery:
    # PySpark before 4.3 has no trigger for the mode
    jvm: Any = spark._jvm
    trigger = jvm.org.apache.spark.sql.streaming.Trigger
    if arguments.kafka is None:
        writer = df.select("order_id", "delivery_time")._jdf.writeStream().foreach(_sink(spark))
    else:
        value = F.to_json(F.struct("order_id", "delivered_id")).alias("value")
        writer = df.select(value)._jdf.writeStream().format("kafka").option("topic", "results")
        writer = writer.option("kafka.bootstrap.servers", arguments.kafka)
    if arguments.engine == "real-time":
        writer = writer.outputMode("update").trigger(trigger.RealTime(arguments.batch))
    else:
        writer = writer.trigger(trigger.ProcessingTime(0))
    checkpoint = str(arguments.folder / "checkpoint")
    return StreamingQuery(writer.option("checkpointLocation", checkpoint).start())


def _sink(spark: SparkSession) -> Any:
    jvm: Any = spark._jvm
    return jvm.io.streamjoin.benchmarks.spark.LatencySink()


def _live(spark: SparkSession, query: StreamingQuery, folder: Path, every: float | None) -> None:
    begun = time.time()
    due = begun + every if every else float("inf")
    while not (folder / "stop").exists():
        if not query.isActive:
            raise RuntimeError("the query has ended by itself")
        time.sleep(_POLL_S)
        if time.time() >= due:
            with (folder / "vitals.jsonl").open("a") as lines:
                measured = {"seconds": round(due - begun), **_measured(spark, query, folder)}
                lines.write(f"{json.dumps(measured)}\n")
            due += every or 0


def _measured(spark: SparkSession, query: StreamingQuery, folder: Path) -> dict[str, Any]:
    last = json.loads(query.lastProgress.json) if query.lastProgress else {}
    state = last.get("stateOperators") or [{}]
    files, total = size(folder / "checkpoint")
    return {
        "batch": last.get("batchId"),
        "rows": last.get("numInputRows"),
        "buffered": state[0].get("numRowsTotal"),
        **vitals(spark, folder / "local"),
        "checkpoint_files": files,
        "checkpoint_bytes": total,
    }


if __name__ == "__main__":
    main()
