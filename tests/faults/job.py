"""The query that tests disturb on a cluster: ``job.py FOLDER DISTURBANCE``.

A full join of the orders and deliveries that land in FOLDER, until a file ``complete`` exists. Its
sink is idempotent: a batch that runs again overwrites its earlier output.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import stream_join
from tests.crash.whole import write_whole
from tests.faults.day import LAG, plain
from tests.orders import WITHIN_THE_HOUR, Shop

STRAGGLES_FOR_S = 600
"""Longer than a test waits: the batch ends only if a copy of the task ends."""
NAMES = ("order_id", "order_time", "delivery_id", "delivery_time")

# The first task of its stage, in its first attempt. No SQL function returns the attempt, but the
# thread name contains it. The expression is evaluated for each row, thus before the join's iterator
# ends and before its state is committed.
FIRST_ATTEMPT = "reflect('java.lang.Thread', 'currentThread') LIKE '%task 0.0 in stage%'"


def as_it_is(result: DataFrame) -> DataFrame:
    return result


def fail_before_commit(result: DataFrame) -> DataFrame:
    return result.withColumn("said", F.expr(f"if({FIRST_ATTEMPT}, raise_error('disturbed'), '')"))


def straggle_before_commit(result: DataFrame) -> DataFrame:
    sleep = f"reflect('java.lang.Thread', 'sleep', {STRAGGLES_FOR_S * 1000}L)"
    return result.withColumn("said", F.expr(f"if({FIRST_ATTEMPT}, {sleep}, '')"))


def fail_after_commit(result: DataFrame) -> DataFrame:
    return _with_all_rows(result, _fail)


def straggle_after_commit(result: DataFrame) -> DataFrame:
    return _with_all_rows(result, lambda: time.sleep(STRAGGLES_FOR_S))


DISTURBANCES: dict[str, Callable[[DataFrame], DataFrame]] = {
    each.__name__: each
    for each in (
        as_it_is,
        fail_before_commit,
        fail_after_commit,
        straggle_before_commit,
        straggle_after_commit,
    )
}


def _with_all_rows(result: DataFrame, disturb: Callable[[], None]) -> DataFrame:
    """Disturb after the join has emitted all rows and thus committed its state."""

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kept = list(batches)
        context = TaskContext.get()
        assert context is not None
        if context.partitionId() == 0 and context.attemptNumber() == 0:
            disturb()
        yield from kept

    return result.mapInArrow(rows, result.schema)


def _fail() -> None:
    raise RuntimeError("disturbed")


def run(result: DataFrame, folder: Path) -> None:
    def sink(batch: DataFrame, number: int) -> None:
        rows = [plain(row[: len(NAMES)]) for row in batch.collect()]
        write_whole(folder / "output" / f"{number}.json", json.dumps(rows))

    writer = result.writeStream.foreachBatch(sink)
    query = writer.option("checkpointLocation", f"{folder}/checkpoint").start()
    query.processAllAvailable()
    (folder / f"caught_up.{os.getpid()}").touch()
    complete = False
    while not complete:
        complete = (folder / "complete").exists()
        query.processAllAvailable()
        time.sleep(0.05)
    progress = query.lastProgress
    assert progress is not None
    write_whole(folder / "progress.json", progress.json)
    query.stop()


def main(folder: Path, disturbance: str) -> None:
    spark = SparkSession.builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    shop = Shop(spark, folder)
    joined = stream_join(shop.ordered(LAG), shop.delivered(LAG), WITHIN_THE_HOUR, "full")
    run(DISTURBANCES[disturbance](joined.toDF(*NAMES)), folder)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
