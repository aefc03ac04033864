"""Findings about late rows and watermarks: ahead of the clock, standing, or with a long lag."""

from __future__ import annotations

from dataclasses import replace

from streamjoin._diagnosis import groups
from streamjoin._diagnosis.called import SIDES, time_name
from streamjoin._diagnosis.figures import (
    DAY,
    HOUR,
    MINUTE,
    brought,
    buffered,
    emitted,
    milliseconds,
    of,
    plain,
    share,
    waiting_for,
)
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.known import JoinKnown, Known
from streamjoin._diagnosis.subjects import Subject
from streamjoin._progress import Batch, Distance, shown_lag, shown_span, wait

WAITS_FOR_ROWS = (
    "Rows wait for the watermark of the other input, and only rows of that input advance it."
)

# A longer lag is not advised: times that are further apart are wrong, not late.
_LONGEST_LAG = 365 * DAY

# The advised max_ahead.
_MAX_AHEAD = 10 * MINUTE


# ---- ahead of the clock ----


def beyond_the_clock(s: Subject) -> list[tuple[Batch, int]]:
    """Return the batches with a watermark ahead of the clock by more than clocks and zones explain.

    A smaller distance counts if rows are late.
    """
    if s.of_join.is_number(s.time):
        return []
    late = any(s.total("lateRows", side) for side in SIDES if s.side in (None, side))
    with_zone = _MAX_AHEAD if late else HOUR
    margin = with_zone if s.of_join.has_zone(s.time) else 15 * HOUR
    return [
        (batch, mark)
        for batch in s.of_join.batches
        if (mark := batch.of("watermark").get(s.time)) is not None
        and mark > milliseconds(batch.ended) + margin
    ]


def ahead(s: Subject) -> Finding:
    beyond = beyond_the_clock(s)
    batch, mark = beyond[-1]
    since = beyond[0][0].number
    late = sum(batch.metrics.get(of("lateRows", side), 0) for side in SIDES)
    ever = sum(
        b.metrics.get(of("lateRows", side), 0)
        for b in s.of_join.batches
        if b.number >= since
        for side in SIDES
    )
    return watermark_ahead(
        s.of_join.said(s.time),
        s.of_join.time(s.time, mark),
        mark - milliseconds(batch.ended),
        f"since batch {since}; late rows in the last batch: {late}",
        alone=bool(ever),
    )


def watermark_ahead(column: str, mark: str, by: int, since: str, alone: bool = True) -> Finding:
    """Build the finding; `alone`: other rows are late, so not all times are that far ahead."""
    return Finding(
        "WATERMARK_AHEAD",
        f"The watermark of {column} is {mark}, {shown_span(by)} after the clock, {since}.",
        {"watermark": mark, "ahead by": Distance(by)},
        "One row with a time in the future has advanced it. Since then, all rows with real "
        "times are late."
        if alone
        else "The times of this input are after the clock: another time zone, another format, or "
        "a row with a time in the future.",
        _max_ahead(column),
    )


def _max_ahead(column: str) -> str:
    return (
        f'imposeOrder("{plain(column)}", ..., max_ahead="{shown_span(_MAX_AHEAD)}"), and a new '
        "checkpoint: watermarks never move back."
    )


# ---- after a change of the query ----


def incomplete(s: Subject) -> Finding:
    """Report that matches are missing, because rows had left the state before an interval grew."""
    said = s.of_join.said(s.time)
    until = s.of_join.time(s.time, s.last.of("completeFrom")[s.time])
    return Finding(
        "INCOMPLETE",
        f"Some matches are missing until the watermark of {said} has passed {until}.",
        {"complete from": until},
        "The query was changed by evolve. Its interval is wider now, and rows that it needs had "
        "left the state before.",
        "Nothing. To fill the gap, join the rows of that time in a batch query.",
    )


# ---- late rows ----


def late_of(s: Subject) -> tuple[int, int]:
    """Count the late rows and all rows of an input or of an ordered output."""
    if s.order is not None:
        late = s.order.total("lateRows")
        return late, max(late, emitted(s.known) if s.known.joins else sum(brought(s.known)))
    return s.total("lateRows"), s.total("inputRows")


def emits_late(s: Subject) -> bool:
    """Check whether late rows are emitted and therefore not lost."""
    return s.join is not None and s.join.planned is not None and s.join.planned.emits_late


def mostly_late(s: Subject) -> Finding:
    """Report that at least half of the rows are late: the watermark is far ahead of them."""
    column, _ = _latest(s)
    moved = _jump(s.of_join, column)
    said = s.of_join.said(column)
    jump = ""
    if moved:
        at = s.of_join.time(column, moved[1])
        jump = f"; the watermark of {said} moved to {at} in batch {moved[0]}"
    return _late_rows(
        "MOSTLY_LATE",
        s,
        jump,
        "A watermark follows the largest time seen. The query reads files or partitions of a "
        "backlog out of order, or a row is far ahead of the others.",
    )


def some_late(s: Subject) -> Finding:
    """Report a share of late rows, while the others are in time."""
    late, rows = late_of(s)
    return _late_rows(
        "LATE_ROWS",
        s,
        f": {share(late, rows)} of its rows",
        "A row is late when its time is below the watermark, the largest time seen minus the lag.",
    )


def _late_rows(code: str, s: Subject, more: str, cause: str) -> Finding:
    join = s.of_join
    late, rows = s.total("lateRows"), s.total("inputRows")
    column, by = _latest(s)
    lag = join.reported.greatest(f"lag.{column}")
    write = _longer_lag(join, column, by, lag)
    idle = _idle_before(s, column)
    if column and beyond_the_clock(replace(s, column=column)):
        cause = f"The watermark of {join.said(column)} was after the clock, so real times are late."
        write = _max_ahead(join.said(column))
    elif idle:
        cause = (
            f"{s.name} had no row for {idle}, its idle_timeout. Its watermark then followed the "
            "other inputs, so rows that arrived afterwards are late."
        )
        write = (
            f'imposeOrder("{plain(join.said(column))}", ..., idle_timeout=...) with a timeout '
            f"longer than such pauses. Or a longer lag: {write}"
        )
    else:
        cause = groups.late(join, column) or cause
        last = join.reported.last.metrics
        write = groups.advice(column, last, join.said(column), s.known) + write
    # not every join reports how late its rows were
    how_far = "" if by is None else f", by {join.span(column, by)} at most"
    return Finding(
        code,
        f"{late} of {rows} rows of {s.name} are late{how_far}{more}.",
        {"late rows": late, "rows": rows, **_distances(join, column, by, lag)},
        cause,
        write,
    )


def _idle_before(s: Subject, column: str) -> str:
    """Return the ``idle_timeout`` that moved the watermark before the first late row."""
    planned = s.of_join.planned
    idle = planned.idle_after(s.of_join.said(column)) if planned else ""
    before: int | None = None
    for batch in s.of_join.batches if idle else ():
        mark = batch.of("watermark").get(column)
        if batch.metrics.get(of("lateRows", s.own)):
            return ""
        if before is not None and mark != before and not batch.metrics.get(of("inputRows", s.own)):
            return idle
        before = mark
    return ""


def _distances(join: JoinKnown, column: str, by: int | None, lag: int | None) -> dict[str, object]:
    known = {"greatest lateness": by, "lag": lag}
    return {k: join.distance(column, v) for k, v in known.items() if v is not None}


def _longer_lag(join: JoinKnown, column: str, by: int | None, lag: int | None) -> str:
    """Return the call of imposeOrder whose lag would have accepted the late rows."""
    name = plain(join.said(column)) or "..."
    emit = 'late="emit" emits the late rows of an event-time join.'
    if by is None:
        return f'imposeOrder("{name}", <a longer lag>) would have accepted them; {emit}'
    needed = max(by + (lag or 0), join.last_of(f"lagForAll.{column}") or 0, 1)
    if not join.is_number(column) and needed > _LONGEST_LAG:
        return (
            f"No lag corrects times that are years apart. Check the largest {name}, or set "
            f"max_ahead; {emit}"
        )
    most = join.last_of(f"lagForMost.{column}")
    for_most = ""
    if most is not None and (lag or 0) < most < needed:
        for_most = f" {_lag(join, column, most)} would have accepted 99.9 % of all rows."
    order = f'imposeOrder("{name}", {_lag(join, column, needed)})'
    return f"{order} would have accepted them; {emit}{for_most}"


def _lag(join: JoinKnown, column: str, lag: int) -> str:
    """Format a lag, rounded up."""
    if join.is_number(column):
        return str(lag)
    return f'"{shown_lag(lag)}"'


def late_in_order(s: Subject) -> Finding:
    late, rows = late_of(s)
    columns = s.held.columns()
    column = columns[0] if columns else ""
    return Finding(
        "LATE_ROWS" if late * 2 < rows else "MOSTLY_LATE",
        f"{late} of {rows} rows of the ordered output are late: {share(late, rows)} are dropped.",
        {"late rows": late, "rows": rows},
        "An ordered output cannot emit a row below the watermark that it has reached.",
        groups.advice(column, s.held.last.metrics, column, s.known)
        + f'imposeOrder("{plain(column) or "..."}", <a longer lag>) would have accepted them.',
    )


def _latest(s: Subject) -> tuple[str, int | None]:
    """Return the column of an input with the greatest lateness, and that lateness."""
    found = [(c, s.of_join.reported.greatest(f"latestBy.{c}")) for c in s.columns]
    return max(found, key=lambda pair: pair[1] or 0, default=("", None))


def _jump(join: JoinKnown, column: str) -> tuple[int, int] | None:
    """Return the batch with the greatest jump of a watermark, and the new watermark."""
    best: tuple[int, int, int] | None = None
    before: int | None = None
    for batch in join.batches:
        mark = batch.of("watermark").get(column)
        if mark is not None:
            by = 0 if before is None else mark - before
            if best is None or by > best[0]:
                best = (by, batch.number, mark)
            before = mark
    return None if best is None else best[1:]


# ---- watermarks that stand ----


def standing(s: Subject) -> list[Batch]:
    """Return the batches with the current watermark, first the batch that moved it."""
    marks = s.of_join.reported.watermarks(s.time)
    since = next((i for i, mark in enumerate(marks) if mark == marks[-1]), 0)
    return list(s.of_join.batches[since:])


def others_move(s: Subject) -> bool:
    """Check whether another watermark of the join has moved in the same batches."""
    since = standing(s)
    return any(
        len({b.of("watermark").get(c) for b in since} - {None}) > 1
        for c in s.of_join.reported.columns()
        if c != s.time
    )


def idle_side(s: Subject) -> str | None:
    """Return the side of a time; if only reports exist, the only side without rows."""
    if s.side is not None:
        return s.side
    since = standing(s)[1:]
    quiet = [x for x in SIDES if not any(b.metrics.get(of("inputRows", x)) for b in since)]
    return quiet[0] if len(quiet) == 1 else None


def stands(s: Subject) -> Finding:
    join, side = s.of_join, idle_side(s)
    first, *batches = standing(s)
    waiting = waiting_for(join, side)
    said = join.said(s.time)
    mark = first.of("watermark").get(s.time)
    is_at = "has none yet" if mark is None else f"stands at {join.time(s.time, mark)}"
    lasted = shown_span(milliseconds(s.last.at) - milliseconds(first.at))
    if side is None:
        what, brought_rows = f"{waiting} rows wait", "its input may have had no row since"
    else:
        quiet = sum(b.metrics.get(of("inputRows", side), 0) for b in batches)
        other = SIDES[1 - SIDES.index(side)]
        what = wait(waiting, join.input(other))
        brought_rows = f"{join.input(side)} had {quiet or 'no'} row{'s' * (quiet > 1)} since"
    return Finding(
        "WATERMARK_STANDS",
        f"{what} for {said}, which {is_at} since batch {first.number} ({lasted}): {brought_rows}.",
        {"waiting rows": waiting, "batches": len(batches), **_due(s.known, join, said)},
        WAITS_FOR_ROWS,
        idle_timeout(said),
    )


def idle_timeout(column: str) -> str:
    return (
        f'imposeOrder("{plain(column)}", ..., idle_timeout="5 minutes") limits how long the join '
        "waits for an idle input."
    )


def _due(known: Known, join: JoinKnown, said: str) -> dict[str, object]:
    number = join.described.get("operator")
    first = [
        str(w.expires)
        for w in known.waiting()
        if w.operator == number and time_name(join.described, w.waits_for or "") == said
    ]
    return {"first goes above": first[0]} if first else {}


# ---- lags ----


def lag_is_long(s: Subject) -> bool:
    """Check whether a lag exceeds ten times the disorder and the join interval."""
    join = s.of_join
    lag = s.last.of("lag").get(s.time)
    disorder = join.reported.greatest(f"disorder.{s.time}")
    if lag is None or disorder is None or join.is_number(s.time):
        return False
    has_mark = s.last.of("watermark").get(s.time) is not None
    return has_mark and lag >= HOUR and lag > max(10 * disorder, join.reach())


def unmatched_wait(s: Subject) -> bool:
    """Check whether rows wait that will be emitted without a match.

    After matches, all buffered rows may be matched, so the match flags in the state decide.
    """
    preserved = [side for side in SIDES if s.of_join.preserves(side)]
    if not any(s.last.metrics.get(of("bufferedRows", side), 0) for side in preserved):
        return False
    if not s.total("joinedRows", ""):
        return True
    number = s.of_join.described.get("operator")
    return any(
        w.unmatched for w in s.known.waiting() if w.operator == number and w.side in preserved
    )


def long_lag(s: Subject) -> Finding:
    join, waiting = s.of_join, buffered(s.last)
    lag, said = s.last.of("lag")[s.time], join.said(s.time)
    disorder = join.reported.greatest(f"disorder.{s.time}") or 0
    distances = {"lag": lag, "disorder": disorder, "reach": join.reach()}
    return Finding(
        "LONG_LAG",
        f"{waiting} rows wait, and the join has emitted none without a match: the lag of {said} is "
        f"{shown_span(lag)}, the greatest disorder seen {shown_span(disorder)}.",
        {
            **{name: join.distance(s.time, value) for name, value in distances.items()},
            **_due(s.known, join, said),
        },
        "A watermark is the largest time seen minus the lag. So the lag delays each row without "
        "a match.",
        f'imposeOrder("{plain(said)}", "{shown_span(max(2 * disorder, 60_000))}"); the '
        "checkpoint continues with another lag.",
    )
