"""Run the streaming query of a case through its batches and restarts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tests.differential import recorded
from tests.differential.case import Case, Restart, Step
from tests.differential.feeds import Feed, FileFeed, MemoryFeed
from tests.differential.rows import closing

HANGS_AFTER_S = 300
OutputRow = tuple[str | None, ...]
Running = Callable[[Case, SparkSession, Path, "BuildStream"], "Run"]
BuildStream = Callable[[Case, SparkSession, Mapping[str, DataFrame]], DataFrame]


@dataclass
class Run:
    attempts: dict[int, list[list[OutputRow]]] = field(default_factory=dict)
    """What came out, by batch: once; again if the sink reads it twice, or if the query was stopped
    inside that batch."""
    progress: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Progress by batch. A batch in which the query was stopped may be missing."""
    columns: list[str] = field(default_factory=list)
    batches: list[Step] = field(default_factory=list)
    """What went in, by batch, from the checkpoint."""
    spark_ms: list[int] = field(default_factory=list)
    """Spark's own watermark, by batch, from the checkpoint."""

    @property
    def rows(self) -> list[OutputRow]:
        """The output of an idempotent sink: of each batch the last attempt."""
        return [row for batch in sorted(self.attempts) for row in self.attempts[batch][-1]]


def run(case: Case, spark: SparkSession, folder: Path, build: BuildStream) -> Run:
    return Runner(case, spark, folder, build).run()


def session_of(case: Case, spark: SparkSession) -> SparkSession:
    """Make a session of the case's own: settings and views of cases that run at once stay apart."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.streaming.stopTimeout", "60s")
    session.conf.set("spark.sql.shuffle.partitions", str(case.partitions))
    for key, value in case.settings.items():
        session.conf.set(key, value)
    return session


class Runner:
    def __init__(self, case: Case, spark: SparkSession, folder: Path, build: BuildStream) -> None:
        session = session_of(case, spark)
        self.case = case
        self.feed: Feed = MemoryFeed(case, session)
        if case.feed == "files":
            self.feed = FileFeed(case, session, folder / "source")
        self.df = build(case, session, self.feed.inputs)
        self.checkpoint = folder / "checkpoint"
        self.failure: Exception | None = None
        self.result = Run(columns=self.df.columns)

    @property
    def location(self) -> str:
        """The path of the checkpoint, as the query gets it."""
        return str(self.checkpoint)

    def run(self) -> Run:
        restarts = {restart.step: restart for restart in self.case.restarts}
        query = self._start()
        try:
            for number, step in enumerate((*self.case.steps, *closing(self.case))):
                query = self._step(query, step, restarts.get(number))
        finally:
            self._stop(query)
        return self._recorded()

    def _recorded(self) -> Run:
        self.result.spark_ms = recorded.spark_watermarks(self.checkpoint)
        self.result.batches = recorded.batches(self.case, self.checkpoint, self.feed.arrived)
        return self.result

    def _step(self, query: StreamingQuery, step: Step, restart: Restart | None) -> StreamingQuery:
        if restart is not None and restart.moment == "before":
            self._stop(query)
        begun = self._begun()
        self.feed.add(step)
        if restart is not None:
            if restart.moment == "during" and any(step.values()):
                self._await_batch(query, begun)
                time.sleep(restart.delay_ms / 1000)
            # The batch may be over by now, or not: the offset log says what it consists of, and
            # that is what it consists of when it runs again.
            self._stop(query)
            query = self._restart(restart)
        self._work_off(query)
        return query

    def _work_off(self, query: StreamingQuery) -> None:
        """Wait until all is processed; a query that hangs is stopped, and reported as such."""
        self.failure = None
        hung = threading.Event()

        def give_up() -> None:
            hung.set()
            query.stop()

        guard = threading.Timer(HANGS_AFTER_S, give_up)
        guard.start()
        try:
            query.processAllAvailable()
        except StreamingQueryException as error:
            raise self.failure or error from error
        finally:
            guard.cancel()
        if hung.is_set():
            raise TimeoutError(f"{self.case.name}: a step was not processed in {HANGS_AFTER_S} s")

    def _begun(self) -> int:
        return len(list((self.checkpoint / "offsets").glob("[0-9]*")))

    def _await_batch(self, query: StreamingQuery, begun: int) -> None:
        while query.isActive and self._begun() == begun:
            time.sleep(0.005)

    def _restart(self, restart: Restart) -> StreamingQuery:
        if restart.available_now:
            query = self._start(available_now=True)
            query.awaitTermination()
            self._stop(query)
        return self._start()

    def _start(self, available_now: bool = False) -> StreamingQuery:
        writer = self.df.writeStream.outputMode(self.case.mode).foreachBatch(self._sink)
        writer = writer.option("checkpointLocation", self.location)
        if available_now:
            writer = writer.trigger(availableNow=True)
        return writer.start()

    def _stop(self, query: StreamingQuery) -> None:
        query.stop()
        for progress in query.recentProgress:
            self.result.progress[progress["batchId"]] = progress

    def _sink(self, df: DataFrame, batch: int) -> None:
        try:
            attempts: list[list[OutputRow]] = [
                [tuple(row) for row in df.collect()] for _ in range(self.case.actions)
            ]
        except Exception as error:
            self.failure = error
            # Short, since Spark runs a regular expression over it that overflows the stack when
            # all of a cancelled job's trace is in it.
            raise RuntimeError(f"batch {batch} was not finished") from None
        self.result.attempts.setdefault(batch, []).extend(attempts)
