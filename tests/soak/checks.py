"""Compares the progress report of a batch with the oracle's result for that batch."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from tests.soak.oracle import TIMES, After, WrongResultError

LATE = {"orders": (0, "Left"), "deliveries": (0, "Right"), "returns": (1, "Right")}
"""The join, from below, and the side that decides the lateness of a topic's rows."""


def joins(progress: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The two joins, the lower first; only the upper one has the watermark of the returns."""
    return sorted(
        (each for each in progress["stateOperators"] if each["operatorName"] == "streamJoin"),
        key=lambda join: "watermark.return_time" in join["customMetrics"],
    )


def check(progress: Mapping[str, Any], after: After) -> None:
    """Raise WrongResultError if the two differ."""
    number = progress["batchId"]
    reports = joins(progress)
    if len(reports) != 2:
        raise WrongResultError(f"batch {number} has {len(reports)} of our joins, not 2")
    metrics = [report["customMetrics"] for report in reports]
    for topic, (join, side) in LATE.items():
        reported, late = metrics[join][f"lateRows{side}"], after.late.get(topic, 0)
        if reported != late:
            raise WrongResultError(f"batch {number}: {late} of {topic} are late, not {reported}")
        watermark = metrics[join].get(f"watermark.{TIMES[topic]}")
        expected = _millis(after.watermarks.get(topic))
        if watermark != expected:
            raise WrongResultError(
                f"batch {number}: the watermark of {topic} is {expected}, not {watermark}"
            )
    if metrics[1]["lateRowsLeft"]:
        raise WrongResultError(f"batch {number}: rows between the joins are late")
    buffered = sum(report["numRowsTotal"] for report in reports)
    if buffered > after.most_buffered:
        raise WrongResultError(
            f"batch {number}: {buffered} rows are buffered, of orders that are not decided "
            f"there are {after.most_buffered}"
        )


def progress_text(progress: Mapping[str, Any]) -> str:
    """One line of metrics, for debugging a failure."""
    counts = [
        {name: count for name, count in join["customMetrics"].items() if count}
        | {"numRowsTotal": join["numRowsTotal"]}
        for join in joins(progress)
    ]
    return f"{progress['numInputRows']} rows came, from below to above {counts}"


def _millis(time: datetime | None) -> int | None:
    if time is None:
        return None
    return int(time.astimezone(timezone.utc).timestamp() * 1000)
