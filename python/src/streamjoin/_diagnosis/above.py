"""Findings about operators above the topmost join: an order, an aggregation, a filter."""

from __future__ import annotations

from streamjoin._diagnosis.figures import emitted, milliseconds, plain
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.plan import NextEnd
from streamjoin._diagnosis.subjects import Subject
from streamjoin._progress import instant, shown_span


def order_holds(s: Subject) -> Finding:
    """Report until when an ordered output buffers its rows."""
    rows = s.held.last.metrics.get("heldRows", 0)
    column = next(iter(s.held.columns()), "t")
    first = [w for w in s.known.waiting() if w.side == "held" and w.expires is not None]
    due = (
        f": the first until it reaches {first[0].expires}, and it is at {first[0].watermark}"
        if first
        else ""
    )
    return Finding(
        "ORDER_HOLDS",
        f"The ordered output has emitted nothing, and buffers {rows} rows until the watermark "
        f"of {column}{due}.",
        {"held rows": rows, **({"first goes above": str(first[0].expires)} if first else {})},
        "The operator emits a row when no earlier row can arrive: when the watermark reaches "
        "its time. The watermark is the largest time of the slowest input minus its lag.",
        f'A shorter lag: imposeOrder("{plain(column)}", ...).',
    )


def aggregation_waits(s: Subject) -> Finding:
    known, out = s.known, emitted(s.known)
    mark = known.progress[-1].get("eventTime", {}).get("watermark")
    ends = _next_end(s, mark)
    closes = known.time(ends.end) if ends else ""
    passes = known.time(ends.end + ends.held_back) if ends else ""
    held = ends.held_back if ends else 0
    older = f" Rows of the join can be {shown_span(held)} older than that." if held else ""
    at = known.clock({"timestamp": mark}) if mark else "not known yet"
    return Finding(
        "OPERATOR_ABOVE_WAITS",
        f"The join has emitted {out} rows; {known.operators_above()[0]} above it waits for Spark's "
        f"watermark, {at}{f', to pass {passes} at the earliest' if passes else ''}.",
        {"rows of the join": out, "watermark": at, **({"next end": closes} if closes else {})},
        "Operators above a join use Spark's watermark of the query, which follows the slowest "
        "input. A window closes when this watermark passes its end, and the group of a time "
        f"when it passes that time.{older}",
        "A shorter lag of the slowest input, or a shorter window.",
    )


def _next_end(s: Subject, mark: str | None) -> NextEnd | None:
    """Return the end of the window that is open at the watermark, if the plan has windows."""
    return None if mark is None else s.known.planned.next_end(milliseconds(instant(mark)))


def filtered_above(s: Subject) -> Finding:
    out, fewer = emitted(s.known), s.known.planned.fewer_above
    return Finding(
        "FILTERED_ABOVE",
        f"The join has emitted {out} rows, but none has reached the sink.",
        {"rows of the join": out},
        f"{'; '.join(fewer)} above the join passes none of them."
        if fewer
        else "A filter above the join passes none of them.",
        "query.explain() shows the operators above the join.",
    )
