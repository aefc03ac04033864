"""Fills the topics of examples/kafka_pipeline.py with a day of orders, deliveries and returns."""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True, help="host:port of a broker")
    parser.add_argument("--orders", type=int, default=10_000)
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("feed").getOrCreate()
    placed = spark.range(arguments.orders).select(
        F.col("id").alias("order_id"),
        F.expr(
            "TIMESTAMP '2024-05-04 00:00:00Z' + make_dt_interval(0, 0, 0, "
            f"id * 86400 div {arguments.orders})"
        ).alias("order_time"),
    )
    # by number, so that each run has the same rows: three of four delivered, one of ten returned
    delivered = placed.where("order_id % 4 > 0").select(
        "order_id",
        F.expr("order_time + make_dt_interval(0, 0, cast(pmod(hash(order_id), 80) AS INT))").alias(
            "delivery_time"
        ),
        F.concat(F.lit("courier "), F.col("order_id") % 7).alias("courier"),
    )
    returned = delivered.where("order_id % 10 = 1").select(
        "order_id",
        F.expr(
            "delivery_time + make_dt_interval(0, 0, cast(pmod(hash(order_id, 1), 150) AS INT))"
        ).alias("return_time"),
    )
    for topic, rows in {"orders": placed, "deliveries": delivered, "returns": returned}.items():
        write(rows, arguments.bootstrap, topic)
        print(f"{rows.count()} messages to the topic {topic}", flush=True)
    spark.stop()


def write(rows: DataFrame, bootstrap: str, topic: str) -> None:
    messages = rows.select(
        F.col("order_id").cast("string").alias("key"), F.to_json(F.struct("*")).alias("value")
    )
    (
        messages.write.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("topic", topic)
        .save()
    )


if __name__ == "__main__":
    main()
