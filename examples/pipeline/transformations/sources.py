"""The streams: files of JSON in two folders. In SQL, use tables that another job writes."""

from __future__ import annotations

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession


def landed(name: str, schema: str) -> DataFrame:
    spark = SparkSession.active()
    return spark.readStream.schema(schema).json(f"{spark.conf.get('shop.input')}/{name}")


@dp.table
def orders() -> DataFrame:
    return landed("orders", "order_id INT, order_time TIMESTAMP")


@dp.table
def deliveries() -> DataFrame:
    return landed("deliveries", "order_id INT, delivery_time TIMESTAMP")
