"""Streams for ported tests: rows land batch by batch, and each input has its own watermark."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampNTZType, TimestampType

from streamjoin import How, impose_order, pending, stream_join
from tests.streams import Landing, Run

Row = tuple[Any, ...]
Rows = Sequence[Row]


def in_order(rows: Rows) -> list[Row]:
    return sorted(rows, key=str)


class Feeds:
    """Named streams, each with a SQL view; rows that land together form one micro-batch.

    TIMESTAMP and TIMESTAMP_NTZ columns take milliseconds since 1970.
    """

    def __init__(self, session: SparkSession, folder: Path, **schemas: str) -> None:
        self.session = session
        self.folder = folder
        self._landings = {
            name: Landing(session, folder / name, schema) for name, schema in schemas.items()
        }
        self._batches = 0
        for name in schemas:
            self.stream(name).createOrReplaceTempView(name)

    def stream(self, name: str) -> DataFrame:
        landing = self._landings[name]
        reader = self.session.readStream.schema(landing.schema).option("maxFilesPerTrigger", 1)
        return reader.json(str(landing.folder))

    def land(self, **rows: Rows) -> None:
        """Add a batch: one file for each stream, empty if no rows are given."""
        self._batches += 1
        for name, landing in self._landings.items():
            columns = [column.split() for column in landing.schema.split(", ")]
            landing.land(*(_record(columns, row) for row in rows.get(name, ())))
            # The source reads files by modification time; consecutive writes can have the same one.
            os.utime(max(landing.folder.glob("*.json")), (self._batches, self._batches))

    def run(self, result: DataFrame, name: str = "checkpoint") -> Run:
        """Run the query over all landed rows; times are returned as milliseconds."""
        run = Run(with_millis(result), self.folder / name)
        run.step()
        operators = {
            each["operatorName"]
            for progress in run.progress.values()
            for each in progress["stateOperators"]
        }
        assert "symmetricHashJoin" not in operators, "the join is Spark's own"
        return run

    def run_all(self, results: Mapping[str, DataFrame]) -> dict[str, list[Row]]:
        """The rows of several queries, run as one union query to save time."""
        found: dict[str, list[Row]] = {name: [] for name in results}
        whole = F.to_json(F.struct("*"), {"ignoreNullFields": "false"})
        for name, row in self.run(
            reduce(
                DataFrame.unionAll,
                (with_millis(r).select(F.lit(name), whole) for name, r in results.items()),
            )
        ).rows():
            found[name].append(tuple(json.loads(row).values()))
        return {name: in_order(rows) for name, rows in found.items()}

    def sql(self, query: str, name: str = "checkpoint") -> list[Row]:
        """The rows that a query emits in all batches."""
        return in_order(self.run(self.session.sql(query), name).rows())


def _record(columns: list[list[str]], row: Row) -> dict[str, Any]:
    return {
        name: _instant(value) if kind.startswith("TIMESTAMP") and value is not None else value
        for (name, kind), value in zip(columns, row, strict=True)
    }


def _instant(millis: int) -> str:
    return (datetime(1970, 1, 1) + timedelta(milliseconds=millis)).isoformat(" ", "milliseconds")


def with_millis(result: DataFrame) -> DataFrame:
    """Times as milliseconds since 1970, also for columns with equal names."""
    renamed = result.toDF(*(f"c{number}" for number in range(len(result.columns))))
    return renamed.select(
        [
            F.unix_millis(F.col(field.name).cast("timestamp")).alias(field.name)
            if isinstance(field.dataType, TimestampType | TimestampNTZType)
            else F.col(field.name)
            for field in renamed.schema.fields
        ]
    )


class Harness:
    """A join of two inputs that a test drives step by step, as an operator test harness does.

    An input has a key `k` and integer times. Its rows do not advance the watermark, because the lag
    is longer than any time. A mark row, with a key of its own and a time far ahead, sets the
    watermark.
    """

    LAG = 1_000_000
    MARK = "watermark of "

    def __init__(
        self,
        session: SparkSession,
        folder: Path,
        left: Sequence[str] = ("t",),
        right: Sequence[str] = ("t",),
    ) -> None:
        self.times = {"left": left, "right": right}
        self.feeds = Feeds(
            session,
            folder,
            **{
                side: ", ".join(["k STRING", *(f"{time} BIGINT" for time in times)])
                for side, times in self.times.items()
            },
        )

    def step(
        self,
        left: Rows = (),
        right: Rows = (),
        left_watermark: int | dict[str, int] | None = None,
        right_watermark: int | dict[str, int] | None = None,
    ) -> None:
        """A batch of rows, and then the watermarks: no smaller time arrives after that."""
        self.feeds.land(
            left=[*left, *self._marks("left", left_watermark)],
            right=[*right, *self._marks("right", right_watermark)],
        )

    def _marks(self, side: str, watermark: int | dict[str, int] | None) -> list[Row]:
        if watermark is None:
            return []
        times = self.times[side]
        by_time = watermark if isinstance(watermark, dict) else dict.fromkeys(times, watermark)
        ahead = (by_time[time] + self.LAG if time in by_time else None for time in times)
        return [(self.MARK + side, *ahead)]

    def input(self, side: str) -> DataFrame:
        ordered = self.feeds.stream(side)
        for time in self.times[side]:
            ordered = impose_order(ordered, time, self.LAG)
        return ordered.alias(side[0])

    def run(self, how: How, condition: str, **options: Any) -> Trace:
        """Join rows of one key whose times satisfy the condition."""
        joined = self.joined(how, condition, **options)
        return Trace(self.feeds.run(joined, f"checkpoint of {how}"))

    def joined(self, how: How, condition: str, **options: Any) -> DataFrame:
        on = f"l.k = r.k AND {condition}"
        return stream_join(self.input("left"), self.input("right"), on, how, **options)

    def limits(self, conditions: Sequence[str]) -> list[dict[str, int]]:
        """The expiry times of a row of each side, for each condition.

        The rows have the keys "0", "1" and so on; the condition at that index joins each key.
        """
        joins = [
            self.joined("inner", f"l.k = '{number}' AND ({condition})")
            for number, condition in enumerate(conditions)
        ]
        run = self.feeds.run(reduce(DataFrame.unionAll, joins))
        found: list[dict[str, int]] = [{} for _ in conditions]
        for row in pending(run.checkpoint).select("side", "row", "expires").collect():
            found[int(json.loads(row.row)["k"])][row.side] = row.expires
        return found


class Trace:
    """The output of a harness, batch by batch, without the mark rows."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.out = [in_order(_real(rows)) for _, rows in sorted(run.batches.items())]

        self._waiting: dict[int, dict[str, list[Row]]] = {}

    def buffered(self, batch: int, side: str) -> list[Row]:
        """The rows that are buffered after a batch."""
        if batch not in self._waiting:
            rows: dict[str, list[Row]] = {"left": [], "right": []}
            shown = pending(self.run.checkpoint, batch_id=batch).select("side", "row")
            for each in shown.collect():
                rows[each.side].append(tuple(json.loads(each.row).values()))
            self._waiting[batch] = rows
        return in_order(_real(self._waiting[batch][side]))

    def total(self, metric: str) -> int:
        return self.run.total(metric)


def _real(rows: Rows) -> list[Row]:
    return [row for row in rows if not any(str(v).startswith(Harness.MARK) for v in row)]
