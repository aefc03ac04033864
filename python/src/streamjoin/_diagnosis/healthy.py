"""Findings without a cause: nothing is wrong, or the cause is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from streamjoin._diagnosis import spark_drops
from streamjoin._diagnosis.advice import estimate
from streamjoin._diagnosis.called import SIDES, input_name, time_name
from streamjoin._diagnosis.figures import DAY, emitted, emitted_in, of, reported_rows, share
from streamjoin._diagnosis.findings import Finding, Severity
from streamjoin._diagnosis.inputs import null_keys, rejected
from streamjoin._diagnosis.keys import names as key_columns
from streamjoin._diagnosis.known import JoinKnown, Known, Waiting
from streamjoin._diagnosis.matching import far_apart
from streamjoin._diagnosis.subjects import Subject
from streamjoin._diagnosis.watermarks import emits_late, late_of
from streamjoin._progress import held, shown_span, wait

# An average number of partners that is mentioned, and the rows of which a sample says something.
_MANY = 3
_SAMPLE = 100


def nothing_wrong(known: Known) -> Finding:
    waiting = known.waiting()
    there = rows_there(waiting, known.described_as)
    rows = sum(w.rows for w in waiting)
    if not known.described and not waiting:
        # the state folder of a query that has ended may be unknown or deleted
        rows = reported_rows(known)
        there = (
            f"{held(rows, 'all joins') if rows else 'no row is stored'} by its last report. To "
            "inspect the rows, call streamjoin.doctor with the folder of the checkpoint"
        )
    last = [r["batchId"] for r in known.progress if emitted_in(known, r)]
    out = f" Last output in batch {last[-1]}." if last else ""
    notes = (_late_before(known), _emitted_late(known), null_keys(known), _fewer(known))
    per_join = (
        note(known, join)
        for join, note in product(known.joins, (_partners, _far_apart, _never_evicted))
    )
    out += "".join(f" {each}" for each in (*notes, *per_join, *_one_key(known, waiting)) if each)
    due = f" {known.next_batch}" if known.next_batch else ""
    unseen = _unseen(known)
    if unseen is not None:
        what, cause = unseen
        return Finding(
            "NOT_SEEN",
            f"{what}, and its reports do not show the reason: {there}.{out}{due}",
            {"waiting rows": rows},
            cause,
            "df.explain() lists the types and bounds of the joins. A query with a "
            "checkpointLocation keeps its state.",
            severity=Severity.UNSEEN.word,
        )
    return Finding(
        "HEALTHY",
        f"{_summary(known)}: {there}.{out}{due}",
        {"waiting rows": rows},
        severity=Severity.WELL.word,
    )


def _summary(known: Known) -> str:
    """Summarize the health: mention any lost rows, and joins without a pair."""
    lost = list(_lost(known))
    if lost:
        return f"Few rows are lost ({'; '.join(lost)}). The doctor found no other problem"
    if any(_joins_nothing(known)):
        return "The query has joined no pair yet, and the doctor found no cause"
    return "Nothing is wrong"


def _lost(known: Known) -> Iterator[str]:
    """Describe the lost share of the rows of each input and order, by reason."""
    for join, side in product((*known.joins, *known.changelog_joins), SIDES):
        s = Subject(known, join, side)
        rows = s.total("inputRows")
        counts = {
            "late": 0 if emits_late(s) else s.total("lateRows"),
            "without a time": s.total("nullTimeRows"),
            "further ahead than max_ahead": rejected(s),
            "deletes of rows that are not stored": s.total("unknownRetractions"),
        }
        for what, count in counts.items():
            if count:
                yield f"{share(count, max(rows, count))} of {s.name}, {what}"
    for order in known.orders:
        late, rows = late_of(Subject(known, order=order))
        if late:
            yield f"{share(late, rows)} of the ordered output, late"
    for operator in known.of_spark:
        s = Subject(known, operator=operator)
        late, rows = spark_drops.dropped(s)
        if late:
            yield f"{share(late, rows)} of the rows for {spark_drops.name(s)}, late"


def _late_before(known: Known) -> str:
    """Mention late rows from before the first report, by the stored greatest distances."""
    late = []
    for join in known.joins:
        for column in join.reported.columns():
            s = Subject(known, join, join.side_of(column), column)
            now = join.reported.last.metrics.get(f"lag.{column}")
            behind = join.last_of(f"lagForAll.{column}")
            if s.side is None or None in (now, behind) or emits_late(s) or s.total("lateRows"):
                continue
            if (behind or 0) > (now or 0):
                late.append(f"{join.span(column, behind or 0)} behind in {join.said(column)}")
    return (
        f"Before these reports a row arrived {', '.join(late)}, more than the current lag. It "
        "was late, unless the lag was longer then."
        if late
        else ""
    )


def _emitted_late(known: Known) -> str:
    """Mention emitted late rows: they were not joined with their partners."""
    emitted_late = [
        f"{share(s.total('lateRows'), s.total('inputRows'))} of {s.name}"
        for join, side in product(known.joins, SIDES)
        if emits_late(s := Subject(known, join, side)) and s.total("lateRows")
    ]
    return f"Emitted as late: {', '.join(emitted_late)}." if emitted_late else ""


def _fewer(known: Known) -> str:
    """Mention operators above the join that pass only some of its rows."""
    sink, out, above = known.sink_rows(), emitted(known), known.planned.fewer_above
    # an aggregation or a deduplication emits fewer rows than it reads
    if not above or sink is None or sink >= out or {*known.operators_above()} - {"globalLimit"}:
        return ""
    return f"{sink} of {out} rows of the join have reached the sink, through {'; '.join(above)}."


def _partners(known: Known, join: JoinKnown) -> str:
    """Mention rows with several partners on both sides: equal rows may have arrived repeatedly."""
    pairs = join.reported.total("joinedRows")
    left, right = (join.reported.total(of("inputRows", side)) for side in SIDES)
    rows = max(left, right)
    if not rows or pairs < _MANY * rows:
        return ""
    return f"A row has {pairs / rows:.0f} partners: {pairs} pairs of {left} and {right} rows."


def _far_apart(known: Known, join: JoinKnown) -> str:
    return far_apart(join)


def _never_evicted(known: Known, join: JoinKnown) -> str:
    """Mention rows that the bounds buffer for days, if none has been evicted."""
    kept = [
        f"a row of {size.input} for {shown_span(size.kept_for)}"
        for side in SIDES
        for size in estimate(join, side)
        if size.held and size.kept_for >= DAY and not size.is_number
        if not join.reported.total(of("evictedRows", side))
    ]
    return f"The bounds buffer {' and '.join(kept)}, and none was evicted yet." if kept else ""


def _one_key(known: Known, waiting: list[Waiting]) -> Iterator[str]:
    """Mention a key with most of the buffered rows of an input."""
    for join, side in product((*known.joins, *known.changelog_joins), SIDES):
        number, names = join.described.get("operator"), key_columns(join.described, side)
        rows = sum(w.rows for w in waiting if (w.operator, w.side) == (number, side))
        if number is None or not names or rows < _SAMPLE:
            continue
        top = known.top_key(number, side, rows, names)
        if top is not None and 2 * top.rows > top.of:
            part = share(top.rows, top.of)
            yield f"{part} of the rows of {join.input(side)} have the key {top.key!r}."


def _joins_nothing(known: Known) -> Iterator[bool]:
    """Check for each join whether both inputs had rows, but none matched."""
    for join in known.joins:
        rows = [join.reported.total(of("inputRows", side)) for side in SIDES]
        yield all(rows) and not join.reported.total("joinedRows")


def _unseen(known: Known) -> tuple[str, str] | None:
    """Return what is missing in the output, and why its cause is unknown; None if nothing is."""
    if all(join.described for join in known.joins):
        return None
    left = "neither the plan nor the state of the query is available."
    if any(_joins_nothing(known)):
        return "The query has joined no pair", f"Bounds and keys are unknown: {left}"
    top = known.joins[0]
    pairs = top.reported.total("joinedRows")
    if top.described or not pairs or known.sink_rows() != 0:
        return None
    return (
        f"The query has joined {pairs} pairs, but no row has reached the sink",
        f"The type of the join is unknown: {left} An anti join emits no pairs. Above a join of "
        "another type, an operator drops or buffers them.",
    )


def rows_there(waiting: Iterable[Waiting], described_as: Callable[[int], Mapping[str, Any]]) -> str:
    """Describe the buffered rows of joins and orders, and until when they stay."""
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
