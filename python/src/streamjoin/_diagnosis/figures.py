"""Figures from the reports that several findings use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from streamjoin._diagnosis.called import SIDES
from streamjoin._diagnosis.known import JoinKnown, Known
from streamjoin._progress import JOIN, ORDER, Batch

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
YEAR = 365 * DAY

# A condition must last for this number of batches to be a finding.
LASTS = 3


def of(metric: str, side: str) -> str:
    return f"{metric}{side.capitalize()}"


def source_rows(report: Mapping[str, Any]) -> int:
    return sum(source.get("numInputRows") or 0 for source in report["sources"])


def brought(known: Known) -> list[int]:
    """Return the number of rows of each source over all reports."""
    sources = len(known.progress[-1]["sources"]) if known.progress else 0
    return [
        sum(report["sources"][n].get("numInputRows") or 0 for report in known.progress)
        for n in range(sources)
    ]


def buffered(batch: Batch) -> int:
    return sum(batch.metrics.get(of("bufferedRows", side), 0) for side in SIDES)


def reported_rows(known: Known) -> int:
    """Count the rows that joins and orders buffer in the last report."""
    last: list[dict[str, Any]] = known.progress[-1]["stateOperators"] if known.progress else []
    return sum(
        count
        for operator in last
        if operator["operatorName"] in (JOIN, ORDER)
        for name, count in operator["customMetrics"].items()
        if name.startswith("bufferedRows") or name == "heldRows"
    )


def emitted(known: Known) -> int:
    """Count the rows that the topmost join has certainly emitted."""
    return sum(emitted_in(known, report) for report in known.progress)


def emitted_in(known: Known, report: Mapping[str, Any]) -> int:
    joins = [o for o in report["stateOperators"] if o["operatorName"] == JOIN]
    metrics = joins[0]["customMetrics"] if joins else {}
    if "changesOut" in metrics:
        return int(metrics["changesOut"])
    # an anti join does not emit rows with a partner, and an unknown join may be an anti join
    joined = known.joins[0].join_type not in ("", "LEFT ANTI") if known.joins else False
    return int(metrics.get("nullPaddedRows", 0) + (metrics.get("joinedRows", 0) if joined else 0))


def waiting_for(join: JoinKnown, side: str | None) -> int:
    """Count the rows that wait for a side; for an unknown side, all waiting rows."""
    if side is None:
        return buffered(join.reported.last)
    other = SIDES[1 - SIDES.index(side)]
    return join.reported.last.metrics.get(of("bufferedRows", other), 0)


def behind(source: Mapping[str, Any]) -> int | None:
    """Count the unread messages of a source, if it reports them."""
    latest, end = _total(source.get("latestOffset")), _total(source.get("endOffset"))
    return None if latest is None or end is None else latest - end


def _total(offset: Any) -> int | None:
    if isinstance(offset, dict):
        parts = [_total(value) for value in offset.values()]
        return None if not parts or None in parts else sum(p for p in parts if p is not None)
    return offset if isinstance(offset, int) and not isinstance(offset, bool) else None


def milliseconds(at: datetime) -> int:
    return int(at.astimezone(timezone.utc).timestamp() * 1000)


def plain(said: str) -> str:
    return said.rpartition(".")[2]


def share(part: int, whole: int) -> str:
    """Format a share: ``45 %``; below 1 %, with the first decimal that is not 0."""
    percent = 100 * part / whole if whole else 0
    if percent >= 1 or not percent:
        return f"{percent:.0f} %"
    return f"{percent:.1g} %" if percent >= 0.001 else "less than 0.001 %"


def falls_behind(known: Known) -> tuple[int, int, int] | None:
    """Return a source that falls behind: its number, its unread messages before and now."""
    for n in range(len(known.progress[-1]["sources"]) if known.progress else 0):
        counts = [behind(report["sources"][n]) for report in known.progress[-LASTS:]]
        if len(counts) == LASTS and None not in counts:
            first, last = counts[0] or 0, counts[-1] or 0
            if 0 < first < last:
                return n, first, last
    return None
