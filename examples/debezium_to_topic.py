r"""Debezium's messages of two tables, in Kafka, joined into a compacted topic.

    spark-submit --jars <the jars of streamjoin and of Spark's Kafka connector> \
      debezium_to_topic.py --bootstrap broker:9092 --checkpoint FOLDER --to-topic orders_wide

The topics ``orders`` and ``customers`` have what Debezium's connectors write, as JSON without
schemas, tombstones included. The topic that is written has one message for each order that changed
in a batch, with the order's number as its key: the row as it is now, or no value if it was deleted.
The last message of each key is the table; Kafka's compaction keeps that one.
"""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

import streamjoin

ROWS = {
    "orders": "order_id: INT, customer_id: INT, amount: INT",
    "customers": "id: INT, name: STRING",
}


def messages(spark: SparkSession, bootstrap: str, prefix: str, table: str) -> DataFrame:
    row = f"STRUCT<{ROWS[table]}>"
    envelope = f"op STRING, before {row}, after {row}, source STRUCT<lsn: BIGINT>"
    read = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", prefix + table)
        .option("startingOffsets", "earliest")
        .load()
    )
    return read.select(F.from_json(F.col("value").cast("string"), envelope).alias("value"))


def changes(spark: SparkSession, bootstrap: str, prefix: str = "") -> DataFrame:
    def table(name: str, key: str) -> DataFrame:
        raw = messages(spark, bootstrap, prefix, name)
        return streamjoin.from_debezium(raw, key, sequence_by="source.lsn")

    orders = table("orders", "order_id").alias("o")
    customers = table("customers", "id").alias("c")
    joined = streamjoin.stream_join(orders, customers, "o.customer_id = c.id", "left")
    rows = joined.select("o.order_id", "o.amount", "c.name", "_change_type")
    return streamjoin.to_upserts(rows, key="order_id")


def to_topic(result: DataFrame, bootstrap: str, name: str) -> DataStreamWriter:
    row = F.to_json(F.struct("order_id", "amount", "name"))
    upserts = result.select(
        F.col("order_id").cast("string").alias("key"),
        F.when(F.col("_change_type") != "delete", row).alias("value"),
        "_change_type",
    )
    return (
        upserts.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("topic", name)
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True, help="host:port of a broker")
    parser.add_argument("--prefix", default="", help="what the names of the topics begin with")
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--to-topic", metavar="NAME", required=True)
    parser.add_argument("--once", action="store_true", help="take in what is there, and end")
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("orders with names").getOrCreate()
    result = changes(spark, arguments.bootstrap, arguments.prefix)
    writer = to_topic(result, arguments.bootstrap, arguments.prefix + arguments.to_topic)
    writer = writer.option("checkpointLocation", arguments.checkpoint)
    if arguments.once:
        writer = writer.trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    main()
