"""What a running query reports, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True)
class JoinCounts:
    """Of one join: rows buffered at the end of the batch, and what happened during it."""

    buffered_left: int
    buffered_right: int
    evicted_left: int
    evicted_right: int
    late_left: int
    late_right: int
    padded: int


@dataclass(frozen=True)
class Batch:
    number: int
    rows_in: int
    rows_out: int
    milliseconds: int
    watermarks: dict[str, datetime]
    joins: tuple[JoinCounts, ...]
    """From the join next to the sources to the one next to the sink."""

    @property
    def late(self) -> int:
        return sum(join.late_left + join.late_right for join in self.joins)

    @property
    def padded(self) -> int:
        return sum(join.padded for join in self.joins)


class ProgressReader:
    """Gives each batch of a query once, in order."""

    def __init__(self, query: StreamingQuery, on_batch: Callable[[Batch], None]) -> None:
        self._query = query
        self._on_batch = on_batch
        self.batches: list[Batch] = []

    def poll(self) -> None:
        for progress in self._query.recentProgress:
            # An idle query reports too, under the number of the batch that is yet to come.
            ran = "addBatch" in progress.durationMs
            if ran and not (self.batches and progress.batchId <= self.batches[-1].number):
                batch = _batch(progress)
                self.batches.append(batch)
                self._on_batch(batch)


def _batch(progress: Any) -> Batch:
    operators = [dict(operator.customMetrics) for operator in reversed(progress.stateOperators)]
    return Batch(
        number=progress.batchId,
        rows_in=progress.numInputRows,
        rows_out=progress.sink.numOutputRows,
        milliseconds=progress.batchDuration,
        watermarks=_watermarks(operators),
        joins=tuple(_counts(metrics) for metrics in operators),
    )


def _counts(metrics: dict[str, int]) -> JoinCounts:
    return JoinCounts(
        buffered_left=metrics["bufferedRowsLeft"],
        buffered_right=metrics["bufferedRowsRight"],
        evicted_left=metrics["evictedRowsLeft"],
        evicted_right=metrics["evictedRowsRight"],
        late_left=metrics["lateRowsLeft"],
        late_right=metrics["lateRowsRight"],
        padded=metrics["nullPaddedRows"],
    )


def _watermarks(operators: list[dict[str, int]]) -> dict[str, datetime]:
    """Of a column that passes several joins, take the highest: the one next to its source."""
    highest: dict[str, int] = {}
    for metrics in operators:
        for key, value in metrics.items():
            kind, _, column = key.partition(".")
            # Not positive: no row of that input has come yet.
            if kind == "watermark" and value > max(0, highest.get(column, 0)):
                highest[column] = value
    return {
        column: datetime.fromtimestamp(value / 1000, timezone.utc)
        for column, value in highest.items()
    }
