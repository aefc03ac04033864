"""Findings about rows that Spark's own stateful operators drop as late."""

from __future__ import annotations

from streamjoin._diagnosis.figures import brought, emitted, share
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.known import Known
from streamjoin._diagnosis.subjects import Subject


def dropped(s: Subject) -> tuple[int, int]:
    """Count the rows that an operator drops, and its input rows as far as they are reported."""
    late = sum(batch.report.get("numRowsDroppedByWatermark", 0) for batch in s.of_spark.batches)
    rows = _emitted(s.known) if is_above(s) else sum(brought(s.known))
    return late, max(late, rows)


def _emitted(known: Known) -> int:
    """Count the output rows of the topmost join; for an unknown join type, the possible maximum."""
    top = known.joins[0]
    return emitted(known) + (0 if top.join_type else top.reported.total("joinedRows"))


def is_above(s: Subject) -> bool:
    """Check whether an operator is above all joins: reports list such operators first."""
    return bool(s.known.joins) and s.of_spark.position < len(s.known.operators_above())


def name(s: Subject) -> str:
    return str(s.of_spark.last.report["operatorName"])


def mostly_late(s: Subject) -> Finding:
    return _late("MOSTLY_LATE", s)


def some_late(s: Subject) -> Finding:
    return _late("LATE_ROWS", s)


def _late(code: str, s: Subject) -> Finding:
    late, rows = dropped(s)
    above = is_above(s)
    where = " above the join" if above else " below the join" if s.known.joins else ""
    emits = above and any(j.planned is not None and j.planned.emits_late for j in s.known.joins)
    return Finding(
        code,
        f"{late} of {rows} rows are late for {name(s)}{where}, and dropped: {share(late, rows)}.",
        {"late rows": late, "rows": rows, "operator": name(s)},
        "This operator is Spark's own. It drops rows below Spark's watermark, which is the "
        "largest time seen minus the lag, of the slowest input.",
        'late="emit" emits rows that are also late here. Drop them with .where("late IS NULL") '
        "below this operator, or use a longer lag for their input."
        if emits
        else "A longer lag of the input whose rows are late: imposeOrder(..., <a longer lag>), or "
        "withWatermark.",
    )
