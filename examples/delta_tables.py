r"""Two Delta tables that change, joined into a third: orders, each with its customer's name.

    spark-submit --packages $(streamjoin delta) --jars $(streamjoin jar) \
      --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension \
      --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog \
      delta_tables.py --checkpoint FOLDER

The tables ``orders (order_id, customer_id, amount)`` and ``customers (id, name)`` have their change
feed on (``delta.enableChangeDataFeed``). The first batch has the rows of the tables, later batches
have each change. After every batch the table ``wide`` is their current left join. A batch that runs
again, because the process was killed before it was committed, emits the same changes. Merging them
twice has no further effect.
"""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamjoin

WIDE = "CREATE TABLE IF NOT EXISTS wide (order_id INT, amount INT, name STRING) USING delta"


def feed(spark: SparkSession, table: str) -> DataFrame:
    return spark.readStream.option("readChangeFeed", True).table(table)


def changes(spark: SparkSession) -> DataFrame:
    """What becomes of each order of the result: one row for each of a batch."""
    # Delta's feed has whole images, so orders, which may change their customer, need no key
    orders = streamjoin.from_changelog(feed(spark, "orders")).alias("o")
    customers = streamjoin.from_changelog(feed(spark, "customers"), key="id").alias("c")
    joined = streamjoin.stream_join(orders, customers, "o.customer_id = c.id", "left")
    rows = joined.select("o.order_id", "o.amount", "c.name", "_change_type")
    return streamjoin.to_upserts(rows, key="order_id")


def merge(batch: DataFrame, number: int) -> None:
    """Merge the changes of a batch into the table; again, if the batch runs again."""
    gone = F.col("s._change_type") == "delete"
    (
        batch.alias("s")
        .mergeInto("wide", F.expr("wide.order_id = s.order_id"))
        .whenMatched(gone)
        .delete()
        .whenMatched()
        .updateAll()
        .whenNotMatched(~gone)
        .insertAll()
        .merge()
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--once", action="store_true", help="take in what is there, and end")
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("orders with names").getOrCreate()
    spark.sql(WIDE)
    writer = changes(spark).writeStream.foreachBatch(merge)
    writer = writer.option("checkpointLocation", arguments.checkpoint)
    if arguments.once:
        writer = writer.trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    main()
