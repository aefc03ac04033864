"""A complete application: four batches of orders and deliveries, left join, JSON lines output.

Then it joins the same files in SQL, on time alone.

It starts as a user's application does (`spark-submit --jars`, or a cluster of processes). Master,
jars and extensions come from outside, unless `configure` is given.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import streamjoin
from tests.orders import Shop

BY_TIME = """
    WITH o AS (
      SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '10' MINUTE)
    ), d AS (
      SELECT * FROM IMPOSE_ORDER(TABLE(deliveries), DESCRIPTOR(delivery_time), INTERVAL '10' MINUTE)
    )
    SELECT o.id, order_time, d.id AS delivered, delivery_time
    FROM o JOIN d OVER (RANGE INTERVAL '30' SECOND FOLLOWING)
"""


def main(folder: Path, master: str) -> None:
    builder = SparkSession.builder
    if master:
        builder = streamjoin.configure(builder.master(master))
    spark = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    shop = Shop(spark, folder)
    run = shop.joined("left", lag="10 minutes")
    for hour in range(10, 14):
        shop.order(*((100 * hour + i, f"{hour}:{i:02d}") for i in range(60)))
        shop.deliver(*((100 * hour + i, f"{hour}:{i:02d}:30") for i in range(0, 60, 3)))
        run.step()
    for row in run.rows():
        print("ROW", json.dumps([str(value) for value in row]))
    shop.orders.stream().createOrReplaceTempView("orders")
    shop.deliveries.stream().createOrReplaceTempView("deliveries")
    by_time = shop.run(spark.sql(BY_TIME), "by_time")
    by_time.step()
    for row in by_time.rows():
        print("BY TIME", json.dumps([str(value) for value in row]))
    print("EXECUTORS", spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size())
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
