"""The progress reports of a query, by join and batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cached_property
from typing import Any

JOIN = "streamJoin"
ORDER = "streamOrder"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Batch:
    """One batch of one join: its report, and the times at which the batch began and ended."""

    number: int
    at: datetime
    ended: datetime
    report: Mapping[str, Any]

    @classmethod
    def of_report(cls, report: Mapping[str, Any], operator: Mapping[str, Any]) -> Batch:
        at = instant(report["timestamp"])
        took = timedelta(milliseconds=report.get("durationMs", {}).get("triggerExecution", 0))
        return cls(report["batchId"], at, at + took, operator)

    @property
    def metrics(self) -> Mapping[str, int]:
        metrics: Mapping[str, int] = self.report.get("customMetrics", {})
        return metrics

    def of(self, prefix: str) -> dict[str, int]:
        """Return the values of a metric that exists per column, by column."""
        start = f"{prefix}."
        return {k[len(start) :]: v for k, v in self.metrics.items() if k.startswith(start)}


@dataclass(frozen=True)
class Join:
    """One join, ordered output or operator of Spark, over the known batches."""

    position: int
    batches: tuple[Batch, ...]

    @property
    def last(self) -> Batch:
        return self.batches[-1]

    def total(self, metric: str) -> int:
        return sum(batch.metrics.get(metric, 0) for batch in self.batches)

    def greatest(self, metric: str) -> int | None:
        values = [b.metrics[metric] for b in self.batches if metric in b.metrics]
        return max(values, default=None)

    def columns(self) -> list[str]:
        return self._columns

    @cached_property
    def _columns(self) -> list[str]:
        names = {name: None for b in self.batches for p in ("lag", "watermark") for name in b.of(p)}
        return list(names)

    def watermarks(self, column: str) -> list[int | None]:
        return [batch.of("watermark").get(column) for batch in self.batches]


def reports(progress: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the progress reports as dicts, one for each batch that ran.

    If no batch has run yet, the reports of triggers without a batch are returned.
    """
    every = [plain(each) for each in progress]
    seen: dict[int, dict[str, Any]] = {}
    for report in [p for p in every if ran(p)] or every:
        seen.setdefault(report["batchId"], report)
    return [seen[number] for number in sorted(seen)]


def ran(report: Mapping[str, Any]) -> bool:
    """Check whether a batch has run.

    A trigger without new data reports the number of the next batch, and may repeat the figures of
    the last one.
    """
    return bool(report.get("numInputRows")) or "addBatch" in report.get("durationMs", {})


def plain(each: Any) -> dict[str, Any]:
    """Return a report as a dict of its JSON; on Spark Connect it lacks the total input rows."""
    if not isinstance(each, str):
        text = getattr(each, "json", None)
        if not isinstance(text, str):
            return dict(each)
        each = text
    report: dict[str, Any] = json.loads(each)
    return report


def joins(progress: list[dict[str, Any]]) -> list[Join]:
    """Return the event-time joins of a query, the topmost first, as in the report."""
    return _with(progress, "joinedRows")


def changelog_joins(progress: list[dict[str, Any]]) -> list[Join]:
    """Return the changelog joins, in the same order: they have other metrics and causes."""
    return _with(progress, "changesOut")


def orders(progress: list[dict[str, Any]]) -> list[Join]:
    """Return the ordered outputs."""
    return _with(progress, "heldRows", ORDER)


def _with(progress: list[dict[str, Any]], metric: str, name: str = JOIN) -> list[Join]:
    of: dict[int, list[Batch]] = {}
    for report in progress:
        operators = [
            o
            for o in report["stateOperators"]
            if o["operatorName"] == name and metric in o["customMetrics"]
        ]
        for position, operator in enumerate(operators):
            of.setdefault(position, []).append(Batch.of_report(report, operator))
    return [Join(position, tuple(batches)) for position, batches in sorted(of.items())]


def of_spark(progress: list[dict[str, Any]]) -> list[Join]:
    """Return Spark's own stateful operators; the position counts all operators."""
    of: dict[int, list[Batch]] = {}
    for report in progress:
        for position, operator in enumerate(report["stateOperators"]):
            if operator["operatorName"] not in (JOIN, ORDER):
                of.setdefault(position, []).append(Batch.of_report(report, operator))
    return [Join(position, tuple(batches)) for position, batches in sorted(of.items())]


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def shown_time(ms: int, zone: tzinfo = timezone.utc) -> str:
    """Format a time in a zone; the number if it is out of the range of Python."""
    try:
        at = (_EPOCH + timedelta(milliseconds=ms)).astimezone(zone)
    except OverflowError:
        return f"{ms} ms"
    return at.strftime("%Y-%m-%d %H:%M:%S") + (f".{ms % 1000:03d}" if ms % 1000 else "")


def wait(rows: int, what: str) -> str:
    """Format a count of waiting rows: ``2 rows of o wait``."""
    return f"1 row of {what} waits" if rows == 1 else f"{rows} rows of {what} wait"


def held(rows: int, what: str) -> str:
    """Format a count of stored rows: ``2 rows of o are stored``."""
    return f"1 row of {what} is stored" if rows == 1 else f"{rows} rows of {what} are stored"


_UNITS = (
    ("year", 31_557_600_000),
    ("day", 86_400_000),
    ("hour", 3_600_000),
    ("minute", 60_000),
    ("second", 1_000),
)


def shown_span(ms: int) -> str:
    """Format a distance with its two largest units: ``2 days 3 hours``."""
    if ms < 0:
        return f"-{shown_span(-ms)}"
    parts = []
    for unit, size in _UNITS:
        count, ms = divmod(ms, size)
        if count:
            parts.append(f"{count} {unit}{'' if count == 1 else 's'}")
    if not parts:
        return f"{ms / 1000:g} seconds"
    return " ".join(parts[:2])


def shown_lag(ms: int) -> str:
    """Write a lag that is at least so long, in the units of `shown_span`."""
    sizes = [size for _, size in _UNITS]
    for large, small in zip(sizes, [*sizes[1:], 1_000], strict=True):
        if ms >= large:
            whole, rest = divmod(ms, large)
            return shown_span(whole * large - (-rest // small) * small)
    return shown_span(ms)


class Distance(int):
    """A distance of two times, in milliseconds or in the unit of a column of numbers.

    Its text has the unit.
    """

    unit: str

    def __new__(cls, value: int, unit: str = "") -> Distance:
        distance = super().__new__(cls, value)
        distance.unit = unit
        return distance

    def __str__(self) -> str:
        return f"{int(self)} {self.unit}" if self.unit else shown_span(int(self))
