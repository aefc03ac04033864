"""The driver of the pipeline, which gets killed: ``python -m tests.soak.job FOLDER ...``.

The three topics of examples/kafka_pipeline.py go to ``table/batch=<number>``, and with each batch a
copy of its entry in the offset log to ``planned/``, for the log itself forgets. ``progress.jsonl``
gets a line for each batch, ``vitals.jsonl`` one every few seconds. A file ``stop`` ends it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

import streamjoin
from examples import kafka_pipeline
from tests.crash.whole import write_whole
from tests.kafka.jars import connector_jars
from tests.soak.vitals import vitals

MIN_BATCHES_TO_RETAIN = 20
VITALS_EVERY_S = 4
SETTINGS: dict[str, Any] = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "700m",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # What Spark keeps of the past fills up early, so that growth beyond it is seen.
    "spark.sql.streaming.minBatchesToRetain": str(MIN_BATCHES_TO_RETAIN),
    "spark.sql.streaming.stateStore.maintenanceInterval": "5s",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.retainedExecutions": "10",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("bootstrap")
    parser.add_argument("prefix", help="of the topics")
    parser.add_argument("life", type=int, help="how often it has been started")
    parser.add_argument("--trigger", default="0 seconds")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    local = folder / f"local-{arguments.life}"
    spark = start_spark(folder, local)
    spark.streams.addListener(ProgressLines(folder / "progress.jsonl"))
    result = kafka_pipeline.joined(spark, arguments.bootstrap, arguments.prefix)
    sink = Sink(folder)
    query = (
        result.writeStream.foreachBatch(sink.write)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime=arguments.trigger)
        .start()
    )
    next_vitals = time.monotonic() + VITALS_EVERY_S
    while not (folder / "stop").exists():
        if query.awaitTermination(1):
            raise RuntimeError("the query has ended by itself")
        if time.monotonic() >= next_vitals:
            now = {"life": arguments.life, "at": time.time(), "batches": sink.batches}
            now |= vitals(spark, local)
            append(folder / "vitals.jsonl", json.dumps(now))
            next_vitals += VITALS_EVERY_S
    query.stop()
    spark.stop()


def start_spark(folder: Path, local: Path) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").appName("streamjoin soak")
    return (
        streamjoin.configure(builder.config("spark.jars", ",".join(connector_jars())))
        .config(map=SETTINGS)
        .config("spark.local.dir", str(local))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )


class Sink:
    def __init__(self, folder: Path) -> None:
        self.batches = 0
        self._folder = folder

    def write(self, batch: DataFrame, number: int) -> None:
        planned = self._folder / "checkpoint" / "offsets" / str(number)
        write_whole(self._folder / "planned" / str(number), planned.read_text())
        table = self._folder / "table" / f"batch={number}"
        shutil.rmtree(table, ignore_errors=True)
        batch.write.parquet(str(table))
        self.batches += 1


class ProgressLines(StreamingQueryListener):
    def __init__(self, file: Path) -> None:
        self._file = file

    def onQueryStarted(self, event: QueryStartedEvent) -> None: ...

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        progress = json.loads(event.progress.json)
        if progress["stateOperators"]:
            kept = ("batchId", "numInputRows", "durationMs", "stateOperators")
            append(self._file, json.dumps({name: progress[name] for name in kept}))

    def onQueryIdle(self, event: QueryIdleEvent) -> None: ...

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None: ...


def append(file: Path, line: str) -> None:
    # A kill may cut the line; the next process must not go on in the middle of it.
    with file.open("a") as lines:
        lines.write("\n" + line + "\n")


if __name__ == "__main__":
    main()
