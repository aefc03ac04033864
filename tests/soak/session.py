"""The session and life of a driver process, shared by both pipelines."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

import streamjoin
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
    # A small history fills up early, so that growth beyond it is visible.
    "spark.sql.streaming.minBatchesToRetain": str(MIN_BATCHES_TO_RETAIN),
    "spark.sql.streaming.stateStore.maintenanceInterval": "5s",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.retainedExecutions": "10",
}


class Life:
    """One driver process: its session, and its query until a file ``stop`` appears.

    ``progress.jsonl`` gets a line for each batch, ``vitals.jsonl`` one every few seconds.
    """

    def __init__(self, folder: Path, number: int, *, jars: str = "") -> None:
        self.folder = folder
        self.number = number
        self._local = folder / f"local-{number}"
        builder = SparkSession.builder.master("local[2]").appName("streamjoin soak")
        if jars:
            builder = builder.config("spark.jars", jars)
        self.spark = (
            streamjoin.configure(builder)
            .config(map=SETTINGS)
            .config("spark.local.dir", str(self._local))
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
            .getOrCreate()
        )
        self._progress = _ProgressLines(folder / "progress.jsonl")
        self.spark.streams.addListener(self._progress)

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    def live(self, query: StreamingQuery) -> None:
        next_vitals = time.monotonic() + VITALS_EVERY_S
        while not (self.folder / "stop").exists():
            if query.awaitTermination(1):
                raise RuntimeError("the query has ended by itself")
            if time.monotonic() >= next_vitals:
                now = {"life": self.number, "at": time.time(), "batches": self._progress.batches}
                now |= vitals(self.spark, self._local)
                _append(self.folder / "vitals.jsonl", json.dumps(now))
                next_vitals += VITALS_EVERY_S
        query.stop()
        self.spark.stop()


class _ProgressLines(StreamingQueryListener):
    def __init__(self, file: Path) -> None:
        self.batches = 0
        self._file = file

    def onQueryStarted(self, event: QueryStartedEvent) -> None: ...

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        progress = json.loads(event.progress.json)
        if progress["stateOperators"]:
            self.batches += 1
            kept = ("batchId", "numInputRows", "durationMs", "stateOperators")
            _append(self._file, json.dumps({name: progress[name] for name in kept}))

    def onQueryIdle(self, event: QueryIdleEvent) -> None: ...

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None: ...


def _append(file: Path, line: str) -> None:
    # A kill can truncate the line; the next process must not continue in the middle of it.
    with file.open("a") as lines:
        lines.write("\n" + line + "\n")
