"""What is said where no rule finds anything wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streamjoin._diagnosis.called import input_name, time_name
from streamjoin._diagnosis.figures import emitted_in
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.known import Known, Waiting
from streamjoin._progress import JOIN, ORDER, held, wait


def nothing_wrong(known: Known) -> Finding:
    waiting = known.waiting()
    there = rows_there(waiting, known.described_as)
    rows = sum(w.rows for w in waiting)
    if not known.described:
        # over Spark Connect, of a query that has ended, nobody knows the folder of its state
        rows = _reported_rows(known)
        there = (
            f"{held(rows, 'all joins') if rows else 'no row is held'} by its last report; "
            "streamjoin.doctor of the folder of its checkpoint looks at the rows themselves"
        )
    last = [r["batchId"] for r in known.progress if emitted_in(r)]
    out = f" Last output in batch {last[-1]}." if last else ""
    return Finding("HEALTHY", f"Nothing is wrong: {there}.{out}", {"waiting rows": rows})


def _reported_rows(known: Known) -> int:
    """Count what joins and orders hold by the last report."""
    last: list[dict[str, Any]] = known.progress[-1]["stateOperators"] if known.progress else []
    return sum(
        count
        for operator in last
        if operator["operatorName"] in (JOIN, ORDER)
        for name, count in operator["customMetrics"].items()
        if name.startswith("bufferedRows")
    )


def rows_there(waiting: Iterable[Waiting], described_as: Callable[[int], Mapping[str, Any]]) -> str:
    """Say of the rows of joins and orders that they are there, and until when."""
    ordered = sorted(waiting, key=lambda w: (w.operator, w.side, w.waits_for or ""))
    said = [_are_there(described_as(each.operator), each) for each in ordered]
    return "; ".join(said) or "no rows wait"


def _are_there(described: Mapping[str, Any], rows: Waiting) -> str:
    waits_for = time_name(described, rows.waits_for or "")
    until = f"the first until {waits_for} passes {rows.expires}" if waits_for else ""
    end = f", {until} (it is at {rows.watermark})" if rows.expires is not None else ""
    what = "the order" if rows.side == "held" else input_name(described, rows.side)
    are = held if described.get("changelog") else wait
    return f"{are(rows.rows, what)}{end}"
