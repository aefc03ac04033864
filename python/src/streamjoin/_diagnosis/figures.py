"""Figures of reports that several findings stand on."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from streamjoin._diagnosis.changelog import changes_out
from streamjoin._diagnosis.known import SIDES, Known
from streamjoin._progress import JOIN, Batch


def of(metric: str, side: str) -> str:
    return f"{metric}{side.capitalize()}"


def source_rows(report: dict[str, Any]) -> int:
    return sum(source.get("numInputRows") or 0 for source in report["sources"])


def buffered(batch: Batch) -> int:
    return sum(batch.metrics.get(of("bufferedRows", side), 0) for side in SIDES)


def emitted(known: Known) -> int:
    return sum(emitted_in(report) for report in known.progress)


def emitted_in(report: dict[str, Any]) -> int:
    joins = [o for o in report["stateOperators"] if o["operatorName"] == JOIN]
    metrics = joins[0]["customMetrics"] if joins else {}
    if "changesOut" in metrics:
        return changes_out(report)
    return int(metrics.get("joinedRows", 0) + metrics.get("nullPaddedRows", 0))


def milliseconds(at: datetime) -> int:
    return int(at.astimezone(timezone.utc).timestamp() * 1000)


def plain(said: str) -> str:
    return said.rpartition(".")[2]


HOUR = 3_600_000


# Batches over which something must last before it is called so.
LASTS = 3
