"""Joins two streams of Spark's rate source on a cluster for a minute."""

from __future__ import annotations

import uuid

from pyspark.sql import DataFrame, SparkSession

import streamjoin

MATCHED = (
    "o.order_id = d.order_id "
    "AND d.delivery_time BETWEEN o.order_time - INTERVAL '1' MINUTE "
    "AND o.order_time + INTERVAL '1' MINUTE"
)


def ticks(spark: SparkSession, time: str) -> DataFrame:
    rates = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
    named = rates.withColumnsRenamed({"timestamp": time, "value": "order_id"})
    return streamjoin.impose_order(named, time, "5 seconds")


def main() -> None:
    spark = SparkSession.builder.appName("streamjoin on a cluster").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    orders = ticks(spark, "order_time").alias("o")
    deliveries = ticks(spark, "delivery_time").alias("d")
    query = (
        streamjoin.stream_join(orders, deliveries, MATCHED)
        .writeStream.format("console")
        .option("numRows", 5)
        .option("checkpointLocation", f"/checkpoints/{uuid.uuid4()}")
        .trigger(processingTime="5 seconds")
        .start()
    )
    query.awaitTermination(60)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
