"""When the next batch of a query begins, where its trigger decides that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone, tzinfo
from itertools import pairwise
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from streamjoin import _connect
from streamjoin._progress import instant, reports, shown_span, shown_time

# What Spark says of a query whose trigger has an interval, between its batches.
_WAITS = "Waiting for next trigger"
_INTERVAL = re.compile(r"ProcessingTimeTrigger\((\d+)\)")

# Shorter intervals explain nothing.
_LEAST_MS = 10_000


def next_batch(query: StreamingQuery, progress: Sequence[Any], zone: tzinfo) -> str:
    """Say when the next batch begins; nothing where that does not wait for a trigger."""
    if not query.isActive or query.status.get("message") != _WAITS:
        return ""
    now = round(datetime.now(timezone.utc).timestamp() * 1000)
    return said(_interval(query, progress), now, zone)


def said(interval: int | None, now: int, zone: tzinfo) -> str:
    """Say when a trigger of an interval comes next: at a multiple of it, as Spark reckons."""
    if interval is None:
        return "The next batch begins with the next trigger."
    if interval < _LEAST_MS:
        return ""
    due = (now // interval + 1) * interval
    return (
        f"The next batch begins with its trigger at {shown_time(due // 1000 * 1000, zone)}, in "
        f"{shown_span(max(due - now, 1000) // 1000 * 1000)}."
    )


def _interval(query: StreamingQuery, progress: Sequence[Any]) -> int | None:
    """Give the milliseconds between two triggers; on Spark Connect by the reports."""
    if not _connect.is_connect(query):
        of_jvm: Any = query._jsq
        found = _INTERVAL.fullmatch(str(of_jvm.streamingQuery().trigger().toString()))
        return int(found[1]) if found else None
    # the first batch begins when the query does, those after it at multiples
    times = [instant(r["timestamp"]).timestamp() * 1000 for r in reports(progress)][1:]
    return min((round((b - a) / 1000) * 1000 for a, b in pairwise(times)), default=None)
