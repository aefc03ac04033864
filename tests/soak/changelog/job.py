"""The driver of the changelog pipeline, which gets killed: ``python -m tests.soak.changelog.job``.

Rows that are counted, last images and rows with a key, so that all layouts of state are there, in a
FULL and a LEFT join. Each attempt of a batch goes to ``table/batch=<number>/life=<number>``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamjoin
from tests.soak.changelog import rows
from tests.soak.session import Life

COUNTED, KEYED = rows.Tracked(salt=0), rows.Tracked(salt=3)
RESULT = ("a_id", "a_j", "a_p", "b_id", "b_p", "c_j", "c_p")


def numbers(spark: SparkSession) -> DataFrame:
    return (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", rows.A_BATCH)
        .option("numPartitions", 2)
        .load()
    )


def joined(spark: SparkSession) -> DataFrame:
    counted = streamjoin.from_changelog(COUNTED.changes(numbers(spark)).drop("seq"))
    images = streamjoin.from_upserts(rows.images(numbers(spark)), ["id"], "seq", deletes="gone")
    keyed = streamjoin.from_changelog(
        KEYED.changes(numbers(spark)), key=["id"], sequence_by="seq"
    ).drop("seq")
    both = streamjoin.stream_join(counted.alias("a"), images.alias("b"), "a.j = b.j", "full")
    chain = streamjoin.stream_join(both, keyed.alias("c"), "a.id = c.id AND a.p <= c.p", "left")
    columns = [F.col(name.replace("_", ".", 1)).alias(name) for name in RESULT]
    return chain.select(*columns, "_change_type")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("life", type=int, help="how often it has been started")
    parser.add_argument("state_format")
    parser.add_argument("trigger")
    arguments = parser.parse_args()
    life = Life(arguments.folder, arguments.life)
    life.spark.conf.set("spark.sql.streamJoin.stateFormat", arguments.state_format)
    written = 0

    def write(batch: DataFrame, number: int) -> None:
        nonlocal written
        attempt = life.folder / "table" / f"batch={number}" / f"life={life.number}"
        batch.write.mode("overwrite").parquet(str(attempt))
        written += 1

    query = (
        joined(life.spark)
        .writeStream.foreachBatch(write)
        .outputMode("update")
        .option("checkpointLocation", str(life.checkpoint))
        .trigger(processingTime=arguments.trigger)
        .start()
    )
    life.live(query, lambda: written)


if __name__ == "__main__":
    main()
