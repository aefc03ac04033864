"""The parts of a live view that the terminal and the notebook share."""

from __future__ import annotations

from streamjoin._diagnosis.called import SIDES as SIDES
from streamjoin._diagnosis.called import alias
from streamjoin._diagnosis.figures import of as of
from streamjoin._diagnosis.known import JoinKnown, Known
from streamjoin._progress import Join, instant, shown_span

_SECOND = 1_000


def header(known: Known) -> str:
    """Return the header: the query and its last batch, with its time in the session's zone."""
    last = known.progress[-1]
    name = last.get("name") or last.get("id") or "query"
    took = last.get("durationMs", {}).get("triggerExecution", 0)
    at = instant(last["timestamp"]).astimezone(known.zone).isoformat(timespec="milliseconds")
    began = at.replace("+00:00", "Z")
    return f"{name}, batch {last['batchId']}: {began}, {shown_span(took)}"


def name_of(join: JoinKnown, side: str) -> str:
    """Return the display name of an input: its alias if it has one, else its side."""
    return alias(join.described, side) or side


def floor(join: JoinKnown) -> int:
    """Return the smallest span of a scale of watermarks: the longest lag, or a second.

    Smaller distances are normal in a healthy query.
    """
    lags = join.reported.last.of("lag")
    numbers = any(join.is_number(column) for column in join.reported.columns())
    return max([*lags.values(), 1 if numbers else _SECOND])


def late_share(join: JoinKnown, side: str) -> tuple[int, int]:
    """Count the late rows and all rows of an input, over the known batches."""
    return join.reported.total(of("lateRows", side)), join.reported.total(of("inputRows", side))


def others(known: Known) -> list[str]:
    """Return a line for each input and output of changelog joins, and for each ordered output."""
    lines = []
    for join in known.changelog_joins:
        lines.append(f"changelog join {join.reported.position}")
        lines += [f"  {name_of(join, side):<6} {_stored(join.reported, side)}" for side in SIDES]
        lines.append(f"  out    {_counted(join.reported, 'changesOut', 'changes')}")
    for order in known.orders:
        lines.append(f"ordered output {order.position}")
        lines.append(
            f"  {order.last.metrics.get('heldRows', 0)} buffered, "
            f"{_counted(order, 'lateRows', 'late')}"
        )
    return lines


def _stored(join: Join, side: str) -> str:
    stored = join.last.metrics.get(of("bufferedRows", side), 0)
    return f"{stored} stored, {_counted(join, of('lateRows', side), 'late')}"


def _counted(join: Join, metric: str, what: str) -> str:
    return f"{join.last.metrics.get(metric, 0)} {what} (so far {join.total(metric)})"
