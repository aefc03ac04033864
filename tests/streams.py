"""Streams whose rows land on demand, and the output of a query, batch by batch."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.utils import is_remote


class Landing:
    """A folder of JSON files as a stream; each file appears atomically.

    If it continues a folder that no longer exists, `files` is the number of files that had landed.
    """

    def __init__(self, session: SparkSession, folder: Path, schema: str, files: int = 0) -> None:
        self.session = session
        self.folder = folder
        self.schema = schema
        self._files = files
        folder.mkdir(parents=True, exist_ok=True)

    def land(self, *rows: Mapping[str, Any]) -> None:
        hidden = self.folder / ".landing"
        hidden.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        hidden.rename(self.folder / f"{self._files:06d}.json")
        self._files += 1

    def stream(self, **options: str) -> DataFrame:
        return self.session.readStream.schema(self.schema).options(**options).json(str(self.folder))


def wait_for_report(query: StreamingQuery, checkpoint: Path) -> None:
    """Wait for the report of the last batch, which Spark commits before it reports it."""
    last = max((int(p.name) for p in (checkpoint / "commits").glob("[0-9]*")), default=-1)
    until = time.monotonic() + 60
    while (query.lastProgress or {"batchId": -1})["batchId"] < last:
        assert time.monotonic() < until, f"batch {last} is not reported"
        time.sleep(0.02)


def wait_until(query: StreamingQuery, reached: Callable[[], bool], seconds: float = 300) -> None:
    """Wait for an effect of a running query. Fail if the query ends first or needs too long."""
    until = time.monotonic() + seconds
    while not reached():
        assert query.isActive, f"the query has ended: {query.exception()}"
        assert time.monotonic() < until, f"not reached in {seconds} s: {query.lastProgress}"
        time.sleep(0.2)


class Run:
    """A query run step by step: each step continues from the checkpoint and reads all landed rows.

    Every step is a separate start (`availableNow`), so rows that land together form one batch.
    """

    def __init__(self, result: DataFrame, checkpoint: Path) -> None:
        self.result = result
        self.checkpoint = checkpoint
        self.batches: dict[int, list[tuple[Any, ...]]] = {}
        self.progress: dict[int, dict[str, Any]] = {}

    @property
    def location(self) -> str:
        """The path of the checkpoint, as the query gets it."""
        return str(self.checkpoint)

    def start(self, **trigger: Any) -> StreamingQuery:
        if is_remote():
            return self._start_remotely(**trigger)

        def keep(batch: DataFrame, number: int) -> None:
            self.batches[number] = [tuple(row) for row in batch.collect()]

        return (
            self.result.writeStream.foreachBatch(keep)
            .trigger(**trigger)
            .option("checkpointLocation", self.location)
            .start()
        )

    def _start_remotely(self, **trigger: Any) -> StreamingQuery:
        """Write to files, because the client cannot run a function on a batch of the server."""
        # A file cannot have two columns of one name.
        columns = [f"c{n}" for n in range(len(self.result.columns))]
        return (
            self.result.toDF(*columns)
            .writeStream.format("parquet")
            .trigger(**trigger)
            .option("checkpointLocation", str(self.checkpoint))
            .start(str(self._files))
        )

    @property
    def _files(self) -> Path:
        return self.checkpoint.with_name(f"{self.checkpoint.name}-rows")

    def _catch_up(self) -> None:
        """Read new output files, batch by batch, from the log of the file sink."""
        if not is_remote():
            return
        for log in sorted((self._files / "_spark_metadata").glob("[0-9]*")):
            if log.name.isdecimal() and int(log.name) not in self.batches:
                entries = [json.loads(line) for line in log.read_text().splitlines()[1:]]
                files = [unquote(entry["path"]) for entry in entries]
                # Read together, files would be ordered by size.
                read = [self.result.sparkSession.read.parquet(file).collect() for file in files]
                self.batches[int(log.name)] = [tuple(row) for rows in read for row in rows]

    def step(self, **trigger: Any) -> dict[int, list[tuple[Any, ...]]]:
        """Run a step and return its output, by batch."""
        before = set(self.batches)
        query = self.start(**(trigger or {"availableNow": True}))
        if "availableNow" in trigger or not trigger:
            query.awaitTermination()
        else:
            query.processAllAvailable()
        for each in query.recentProgress:
            report = json.loads(each.json)
            self.progress[report["batchId"]] = report
        query.stop()
        self._catch_up()
        return {n: rows for n, rows in sorted(self.batches.items()) if n not in before}

    def rows(self) -> list[tuple[Any, ...]]:
        self._catch_up()
        return [row for number in sorted(self.batches) for row in self.batches[number]]

    def operator(self, name: str = "streamJoin") -> dict[str, Any]:
        """The last report of the first operator of this name."""
        return self.operators(name)[-1]

    def operators(self, name: str = "streamJoin") -> list[dict[str, Any]]:
        """The reports of the first operator of this name, batch by batch."""
        return [
            next(s for s in self.progress[batch]["stateOperators"] if s["operatorName"] == name)
            for batch in sorted(self.progress)
        ]

    def metrics(self) -> dict[str, int]:
        return dict(self.operator()["customMetrics"])

    def total(self, metric: str, name: str = "streamJoin") -> int:
        return sum(each["customMetrics"][metric] for each in self.operators(name))


def planned_at(run: Run, minutes: int) -> list[tuple[Any, ...]]:
    """Run landed rows as a batch that was planned at this time, by running it again."""
    (number,) = run.step()
    offsets = run.checkpoint / "offsets" / str(number)
    version, planned, *sources = offsets.read_text().splitlines()
    at = 1_700_000_000 + minutes * 60
    recorded = json.loads(planned) | {"batchTimestampMs": at * 1000}
    offsets.write_text("\n".join([version, json.dumps(recorded), *sources]))
    hidden = [*run.checkpoint.glob("offsets/.*.crc"), *run.checkpoint.glob("commits/.*.crc")]
    for file in [run.checkpoint / "commits" / str(number), *hidden]:
        file.unlink()
    run.step()
    return run.batches[number]


def clocks(batches: dict[int, list[tuple[Any, ...]]]) -> list[tuple[str, ...]]:
    """The rows of all batches as sorted text, with times as HH:MM."""
    return sorted(
        tuple(v.strftime("%H:%M") if hasattr(v, "strftime") else str(v) for v in row)
        for rows in batches.values()
        for row in rows
    )
