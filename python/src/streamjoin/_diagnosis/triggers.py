"""The batch of a query that runs now, and the start of the next one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone, tzinfo
from itertools import pairwise
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from streamjoin import _connect
from streamjoin._progress import instant, reports, shown_span, shown_time

# The status of a query between batches, if its trigger has an interval, and in a batch.
_WAITS = "Waiting for next trigger"
_RUNS = "Processing new data"
_INTERVAL = re.compile(r"ProcessingTimeTrigger\((\d+)\)")
_REAL_TIME = re.compile(r"RealTimeTrigger\((\d+)\)")

# A shorter interval does not explain missing output.
_LEAST_MS = 10_000


def next_batch(query: StreamingQuery, progress: Sequence[Any], zone: tzinfo) -> str:
    """Describe when the next batch begins; empty if the query does not wait for a trigger."""
    if not query.isActive or query.status.get("message") != _WAITS:
        return ""
    now = round(datetime.now(timezone.utc).timestamp() * 1000)
    every = _by_reports(progress) if _connect.is_connect(query) else interval(query)
    return said(every, now, zone)


def said(interval: int | None, now: int, zone: tzinfo) -> str:
    """Describe the next start of a trigger: at a multiple of its interval, as in Spark."""
    if interval is None:
        return "The next batch begins with the next trigger."
    if interval < _LEAST_MS:
        return ""
    due = (now // interval + 1) * interval
    return (
        f"The next batch begins with its trigger at {shown_time(due // 1000 * 1000, zone)}, in "
        f"{shown_span(max(due - now, 1000) // 1000 * 1000)}."
    )


def running(query: StreamingQuery) -> tuple[int, int] | None:
    """Return the number of the batch that runs now, and for how many milliseconds it has run.

    None on Spark Connect, which has no start time of a batch before its report.
    """
    if _connect.is_connect(query) or query.status.get("message") != _RUNS:
        return None
    of_jvm: Any = query._jsq
    if batch_length(query) is not None:
        # the offsets of a batch are written at its end
        execution = of_jvm.streamingQuery().lastExecution()
        if execution is None:
            return None
        return execution.currentBatchId(), _since(execution.offsetSeqMetadata())
    latest = of_jvm.streamingQuery().offsetLog().getLatest()
    if latest.isEmpty():
        return None
    number, offsets = latest.get()._1(), latest.get()._2()
    # named differently up to Spark 4.1
    metadata = offsets.metadataOpt() if "metadataOpt" in dir(offsets) else offsets.metadata()
    return number, _since(metadata.get())


def _since(metadata: Any) -> int:
    began: int = metadata.batchTimestampMs()
    return round(datetime.now(timezone.utc).timestamp() * 1000) - began


def interval(query: StreamingQuery) -> int | None:
    """Return the milliseconds between two triggers; None on Spark Connect, which hides them."""
    return _of_trigger(query, _INTERVAL)


def batch_length(query: StreamingQuery) -> int | None:
    """Return the milliseconds of a batch in real-time mode; None on Spark Connect, too."""
    return _of_trigger(query, _REAL_TIME)


def unreported(runs: tuple[int, int] | None, length: int | None) -> str:
    """Describe the batch that runs in real-time mode, which has no report; empty otherwise."""
    if runs is None or length is None:
        return ""
    return (
        f"Batch {runs[0]} has been running for {shown_span(runs[1])} of {shown_span(length)}; its "
        "rows are counted at its end."
    )


def _of_trigger(query: StreamingQuery, kind: re.Pattern[str]) -> int | None:
    if _connect.is_connect(query):
        return None
    of_jvm: Any = query._jsq
    found = kind.fullmatch(str(of_jvm.streamingQuery().trigger().toString()))
    return int(found[1]) if found else None


def _by_reports(progress: Sequence[Any]) -> int | None:
    """Estimate the interval: the first batch begins with the query, later ones at its multiples."""
    times = [instant(r["timestamp"]).timestamp() * 1000 for r in reports(progress)][1:]
    return min((round((b - a) / 1000) * 1000 for a, b in pairwise(times)), default=None)
