r"""Orders, their deliveries and their returns: three topics of Kafka, joined by event time.

    spark-submit --jars <the jars of streamjoin and of Spark's Kafka connector> \
      kafka_pipeline.py --bootstrap broker:9092 --checkpoint FOLDER --to-topic completed

Every order is emitted: with its deliveries, if there were any within the hour, and with their
returns, if there were any within two hours of the delivery. With ``--to-topic`` as JSON in another
topic, at least once, for Kafka's sink can do no better; with ``--to-table`` in Parquet files,
exactly once, for a batch that runs again overwrites what it wrote before, and a new checkpoint
writes beside what an earlier one has written.
"""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

import streamjoin

LAG = "3 hours"
DELIVERED = (
    "o.order_id = d.order_id "
    "AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"
)
RETURNED = (
    "o.order_id = r.order_id "
    "AND r.return_time BETWEEN d.delivery_time AND d.delivery_time + INTERVAL '2' HOURS"
)
SCHEMAS = {
    "orders": "order_id BIGINT, order_time TIMESTAMP",
    "deliveries": "order_id BIGINT, delivery_time TIMESTAMP, courier STRING",
    "returns": "order_id BIGINT, return_time TIMESTAMP",
}


def rows(messages: DataFrame, topic: str) -> DataFrame:
    """What the JSON of a topic says; text that is no JSON of its schema becomes NULL."""
    parsed = F.from_json(F.col("value").cast("string"), SCHEMAS[topic])
    return messages.select(parsed.alias("row")).select("row.*")


def topic(spark: SparkSession, bootstrap: str, prefix: str, name: str) -> DataFrame:
    messages = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", prefix + name)
        .option("startingOffsets", "earliest")
        .load()
    )
    return rows(messages, name)


def joined(spark: SparkSession, bootstrap: str, prefix: str = "") -> DataFrame:
    orders = topic(spark, bootstrap, prefix, "orders")
    deliveries = topic(spark, bootstrap, prefix, "deliveries")
    returns = topic(spark, bootstrap, prefix, "returns")
    delivered = streamjoin.stream_join(
        streamjoin.impose_order(orders, "order_time", LAG).alias("o"),
        streamjoin.impose_order(deliveries, "delivery_time", LAG).alias("d"),
        DELIVERED,
        "left",
    )
    returned = streamjoin.stream_join(
        delivered,
        streamjoin.impose_order(returns, "return_time", LAG).alias("r"),
        RETURNED,
        "left",
    )
    return returned.select("o.order_id", "order_time", "delivery_time", "courier", "return_time")


def to_topic(result: DataFrame, bootstrap: str, name: str) -> DataStreamWriter:
    messages = result.select(
        F.col("order_id").cast("string").alias("key"), F.to_json(F.struct("*")).alias("value")
    )
    return (
        messages.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("topic", name)
    )


def run_of(spark: SparkSession, checkpoint: str) -> str:
    """The id of the query, which its checkpoint keeps: a new checkpoint has a new one."""
    metadata = spark.read.schema("id STRING").option("mode", "FAILFAST")
    [row] = metadata.json(f"{checkpoint}/metadata").collect()
    return str(row["id"])


def to_table(result: DataFrame, folder: str, checkpoint: str) -> DataStreamWriter:
    """Parquet files in ``run=<id>/batch=<number>``, as each checkpoint counts from 0 again."""

    def write(batch: DataFrame, number: int) -> None:
        run = run_of(batch.sparkSession, checkpoint)
        batch.write.mode("overwrite").parquet(f"{folder}/run={run}/batch={number}")

    return result.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True, help="host:port of a broker")
    parser.add_argument("--prefix", default="", help="what the names of the topics begin with")
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--once", action="store_true", help="take in what is there, and end")
    to = parser.add_mutually_exclusive_group(required=True)
    to.add_argument("--to-topic", metavar="NAME")
    to.add_argument("--to-table", metavar="FOLDER")
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("orders, deliveries, returns").getOrCreate()
    result = joined(spark, arguments.bootstrap, arguments.prefix)
    writer = (
        to_topic(result, arguments.bootstrap, arguments.prefix + arguments.to_topic)
        if arguments.to_topic
        else to_table(result, arguments.to_table, arguments.checkpoint)
    )
    writer = writer.option("checkpointLocation", arguments.checkpoint)
    if arguments.once:
        writer = writer.trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    main()
