"""The join of three changelogs in all state layouts, and its output.

Counted rows, latest versions and keyed rows, in a FULL and a LEFT join.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

import streamjoin
from tests.soak.changelog import rows

COUNTED, KEYED = rows.Tracked(salt=0), rows.Tracked(salt=3)
Change = tuple[Any, ...]
"""A row of the result, followed by its row kind."""
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


def written(session: SparkSession, folder: Path, life: int) -> DataStreamWriter:
    """Write each attempt of a batch to ``table/batch=<number>/life=<number>``."""

    def write(batch: DataFrame, number: int) -> None:
        attempt = folder / "table" / f"batch={number}" / f"life={life}"
        batch.write.mode("overwrite").parquet(str(attempt))

    return (
        joined(session)
        .writeStream.foreachBatch(write)
        .outputMode("update")
        .option("checkpointLocation", str(folder / "checkpoint"))
    )


def finished(folder: Path) -> int:
    """The number of committed batches."""
    commits = (folder / "checkpoint" / "commits").glob("[0-9]*")
    return max((int(commit.name) for commit in commits), default=-1) + 1


def attempts(folder: Path, batch: int) -> list[list[Change]]:
    """The attempts of a batch by all driver processes so far."""
    table = folder / "table" / f"batch={batch}"
    return [_changes(done.parent) for done in sorted(table.glob("*/_SUCCESS"))]


def _changes(attempt: Path) -> list[Change]:
    changes: list[Change] = []
    for file in sorted(attempt.glob("*.parquet")):
        columns: dict[str, Any] = pq.read_table(file).to_pydict()
        wanted = (columns[name] for name in (*RESULT, "_change_type"))
        changes += zip(*wanted, strict=True)
    return changes
