"""Runs a query in real-time mode, from sources whose rows are read at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tests.differential.case import Case, Restart, Row, Step
from tests.differential.feeds import Arrived, leaves, lines, parsed
from tests.differential.runner import BuildStream, OutputRow, Run, Runner, Running
from tests.streams import wait_until

needs_4_3 = pytest.mark.skipif(
    tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 3), reason="needs Spark 4.3"
)
SETTINGS = {
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    "spark.sql.streaming.realTimeMode.minBatchDuration": "100ms",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
"""A query of the mode has the last two by itself; a micro-batch of the same checkpoint has not."""


class Source:
    """Rows of text, each of which a running batch reads when it is added."""

    def __init__(self, session: SparkSession) -> None:
        jvm: Any = session._jvm
        self._jvm = jvm
        memory = jvm.org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
        text = jvm.org.apache.spark.sql.Encoders.STRING()
        self._stream = memory.apply(session._jsparkSession, 1, text)
        self.df = DataFrame(self._stream.toDF(), session)

    def add(self, *rows: str) -> None:
        self._stream.addData(self._jvm.PythonUtils.toSeq(list(rows)))


class Sink:
    """The rows that a query has written, seen at once."""

    def __init__(self, session: SparkSession, name: str) -> None:
        jvm: Any = session._jvm
        self._seen = jvm.io.streamjoin.sinks.SeenRows
        self._name = name
        self.writer = self._seen(name)

    def rows(self) -> list[tuple[int, dict[str, Any]]]:
        """The batch of each row, and the row."""
        text = self._seen.lines(self._name)
        parts = [line.split("\t", 2) for line in text.splitlines()]
        return [(int(batch), json.loads(row)) for _, batch, row in parts]

    def clear(self) -> None:
        self._seen.clear(self._name)


def start(
    df: DataFrame, sink: Sink, checkpoint: str, every: str | None, mode: str = "update"
) -> StreamingQuery:
    """Start a query in real-time mode with batches of this length; None: in micro-batches."""
    jvm: Any = df.sparkSession._jvm
    trigger = jvm.org.apache.spark.sql.streaming.Trigger
    writer = df._jdf.writeStream().foreach(sink.writer).outputMode(mode)
    writer = writer.trigger(trigger.ProcessingTime(0) if every is None else trigger.RealTime(every))
    return StreamingQuery(writer.option("checkpointLocation", checkpoint).start())


def read_offsets(checkpoint: Path) -> list[list[int]]:
    """For each batch that has ended, the number of rows that each source had given until then."""
    ended = sorted(int(each.name) for each in (checkpoint / "commits").glob("[0-9]*"))
    lines = [(checkpoint / "offsets" / str(each)).read_text().splitlines()[2:] for each in ended]
    return [[0 if o == "-" else _sum(json.loads(o)) for o in each] for each in lines]


def _sum(offsets: Any) -> int:
    return offsets if isinstance(offsets, int) else sum(map(_sum, offsets.values()))


def await_rows(query: StreamingQuery, checkpoint: Path, count: int) -> None:
    """Wait for the end of the batch with the last of so many rows of all sources.

    In this mode, Spark's ``processAllAvailable`` can return before a batch has read all rows. The
    length of a batch includes the time to plan it, so a batch of half a second may read few rows on
    a busy machine. So only the time without a new row is limited.
    """

    def read() -> int:
        return max((sum(each) for each in read_offsets(checkpoint)), default=0)

    def more(than: int) -> Callable[[], bool]:
        return lambda: read() > than

    while (before := read()) != count:
        wait_until(query, more(before))


class RealTimeFeed:
    def __init__(self, case: Case, session: SparkSession) -> None:
        self._case = case
        self._sources = {alias: Source(session) for alias in case.fed}
        self._added: dict[str, dict[str | int, list[Row]]] = {alias: {} for alias in case.fed}
        self.inputs = leaves(
            case, {alias: parsed(source.df) for alias, source in self._sources.items()}
        )

    def add(self, step: Step) -> None:
        for alias, rows in step.items():
            added = self._added[alias]
            for row in rows:
                added[len(added)] = [row]
            self._sources[alias].add(*lines(self._case, alias, rows))

    @property
    def arrived(self) -> Arrived:
        return self._added

    @property
    def count(self) -> int:
        return sum(map(len, self._added.values()))


class RealTimeRunner(Runner):
    """Starts in real-time mode, and changes to micro-batches or back at each restart."""

    def __init__(
        self, case: Case, spark: SparkSession, folder: Path, build: BuildStream, length: str
    ) -> None:
        # the rows in between are those of the feed
        case = replace(case, settings={**case.settings, **SETTINGS}, feed="memory")
        super().__init__(case, spark, folder, build)
        session = self.df.sparkSession
        self.rows = self.feed = RealTimeFeed(case, session)
        self.df = build(case, session, self.feed.inputs)
        self._length = length
        self.every: str | None = length

    def _work_off(self, query: StreamingQuery) -> None:
        try:
            await_rows(query, self.checkpoint, self.rows.count)
        except AssertionError:
            raise query.exception() or TimeoutError(self.case.name) from None

    def _restart(self, restart: Restart) -> StreamingQuery:
        self.every = self._length if self.every is None else None
        return self._start()

    def _start(self, available_now: bool = False) -> StreamingQuery:
        # tasks of a stopped query may still write rows
        self.sink = Sink(self.df.sparkSession, str(uuid4()))
        return start(self.df, self.sink, self.location, self.every)

    def _stop(self, query: StreamingQuery) -> None:
        super()._stop(query)
        committed = {int(each.name) for each in (self.checkpoint / "commits").glob("[0-9]*")}
        new: dict[int, list[OutputRow]] = {}
        for batch, row in self.sink.rows():
            new.setdefault(batch, []).append(tuple(row.get(name) for name in self.df.columns))
        self.sink.clear()
        # a batch that was stopped runs again, with other rows: the sink gets rows once more
        for batch in committed & set(new):
            self.result.attempts[batch] = [new[batch]]


def running(length: str) -> Running:
    """Run cases in batches of this length."""

    def run(case: Case, spark: SparkSession, folder: Path, build: BuildStream) -> Run:
        return RealTimeRunner(case, spark, folder, build, length).run()

    return run
