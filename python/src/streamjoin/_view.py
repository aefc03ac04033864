"""What a view of running joins shows, in a terminal and in a notebook alike."""

from __future__ import annotations

from streamjoin._diagnosis.called import SIDES as SIDES
from streamjoin._diagnosis.called import alias
from streamjoin._diagnosis.figures import of as of
from streamjoin._diagnosis.known import JoinKnown, Known
from streamjoin._progress import instant, shown_span

_SECOND = 1_000


def header(known: Known) -> str:
    """Name the query and its last batch, at a time in the zone of the session."""
    last = known.progress[-1]
    name = last.get("name") or last.get("id") or "query"
    took = last.get("durationMs", {}).get("triggerExecution", 0)
    at = instant(last["timestamp"]).astimezone(known.zone).isoformat(timespec="milliseconds")
    began = at.replace("+00:00", "Z")
    return f"{name}, batch {last['batchId']}: {began}, {shown_span(took)}"


def name_of(join: JoinKnown, side: str) -> str:
    """Name an input as the doctor does, by its alias where it has one."""
    return alias(join.described, side) or side


def floor(join: JoinKnown) -> int:
    """Give the least distance that a scale of watermarks spans: the longest lag, or a second.

    Smaller distances are part of how a healthy query runs.
    """
    lags = join.reported.last.of("lag")
    numbers = any(join.is_number(column) for column in join.reported.columns())
    return max([*lags.values(), 1 if numbers else _SECOND])


def late_share(join: JoinKnown, side: str) -> tuple[int, int]:
    """Count the late rows of an input, and all of them, over the batches that are known."""
    return join.reported.total(of("lateRows", side)), join.reported.total(of("inputRows", side))
