"""Findings about watermarks that are ahead, stand or lag behind, and about late rows."""

from __future__ import annotations

from collections.abc import Iterator

from streamjoin._diagnosis.figures import HOUR, LASTS, buffered, milliseconds, of, plain
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.known import SIDES, JoinKnown, Known
from streamjoin._progress import shown_span, shown_time, wait

WAITS_FOR_ROWS = (
    "Rows wait for the watermark of the other input, and that moves with its rows only."
)


def ahead(known: Known, join: JoinKnown) -> Iterator[Finding]:
    for column in join.reported.columns():
        if join.is_number(column):
            continue
        margin = HOUR if join.has_zone(column) else 15 * HOUR
        beyond = [
            (batch, mark)
            for batch in join.reported.batches
            if (mark := batch.of("watermark").get(column)) is not None
            and mark > milliseconds(batch.at) + margin
        ]
        if beyond:
            batch, mark = beyond[-1]
            late = sum(batch.metrics.get(of("lateRows", s), 0) for s in SIDES)
            yield watermark_ahead(
                join.said(column),
                mark,
                mark - milliseconds(batch.at),
                f"since batch {beyond[0][0].number}; late rows in the last batch: {late}",
            )


def watermark_ahead(column: str, mark: int, by: int, since: str) -> Finding:
    return Finding(
        "WATERMARK_AHEAD",
        f"The watermark of {column} is {shown_time(mark)}, {shown_span(by)} after the clock, "
        f"{since}.",
        {"watermark": shown_time(mark), "milliseconds ahead": by},
        "One row with a time in the future has moved it; all rows with real times are late since "
        "then.",
        f'imposeOrder("{plain(column)}", ..., max_ahead="10 minutes"), and a new checkpoint: '
        "watermarks do not go back.",
    )


def mostly_late(known: Known, join: JoinKnown) -> Iterator[Finding]:
    for side in SIDES:
        rows = join.reported.total(of("inputRows", side))
        late = join.reported.total(of("lateRows", side))
        if not late or late * 2 < rows:
            continue
        column, by = max(
            (
                (c, join.reported.greatest(f"latestBy.{c}"))
                for c in join.reported.columns()
                if join.side_of(c) in (side, None)
            ),
            key=lambda pair: pair[1] or 0,
            default=("", None),
        )
        said, moved = join.said(column), _jump(join, column)
        lag = join.reported.greatest(f"lag.{column}")
        span = str if join.is_number(column) else shown_span
        time = str if join.is_number(column) else shown_time
        jump = (
            f"; the watermark of {said} went to {time(moved[1])} in batch {moved[0]}"
            if moved
            else ""
        )
        # not every join says how late its rows were
        how_far = "" if by is None else f", by {span(by)} at most"
        enough = "<a longer lag>" if by is None else _lag(join, column, max(by + (lag or 0), 1))
        yield Finding(
            "MOSTLY_LATE",
            f"{late} of {rows} rows of {join.input(side)} are late{how_far}{jump}.",
            {"late rows": late, "rows": rows, "greatest lateness": by, "lag": lag},
            "A watermark goes by the largest time seen: files or partitions of a backlog are read "
            "out of order, or a row is far ahead of the others.",
            f'imposeOrder("{plain(said)}", {enough}) would have kept them; '
            'late="emit" emits the late rows of an event-time join.',
        )


def _lag(join: JoinKnown, column: str, lag: int) -> str:
    return str(lag) if join.is_number(column) else f'"{shown_span(lag)}"'


def stands(known: Known, join: JoinKnown) -> Iterator[Finding]:
    columns = join.reported.columns()
    for column in columns:
        side = join.side_of(column)
        if side is None:
            continue
        marks = join.reported.watermarks(column)
        since = next((i for i, mark in enumerate(marks) if mark == marks[-1]), 0)
        batches = join.reported.batches[since + 1 :]
        others = [join.reported.watermarks(c)[since:] for c in columns if c != column]
        moved = any(len({m for m in other if m is not None}) > 1 for other in others)
        other = "right" if side == "left" else "left"
        waiting = join.reported.last.metrics.get(of("bufferedRows", other), 0)
        first = join.reported.batches[since]
        quiet = sum(b.metrics.get(of("inputRows", side), 0) for b in batches)
        if len(batches) < LASTS or not moved or not waiting:
            continue
        said, alias = join.said(column), join.input(side)
        mark = marks[-1]
        stands = "has none yet" if mark is None else f"stands at {_time(join, column, mark)}"
        lasted = shown_span(milliseconds(join.reported.last.at) - milliseconds(first.at))
        brought = (
            f"{alias} brought no row since" if not quiet else f"{alias} brought {quiet} rows since"
        )
        yield Finding(
            "WATERMARK_STANDS",
            f"{wait(waiting, join.input(other))} for {said}, which {stands} since batch "
            f"{first.number} ({lasted}): {brought}.",
            {"waiting rows": waiting, "batches": len(batches), **_due(known, said)},
            WAITS_FOR_ROWS,
            idle_timeout(said),
        )


def idle_timeout(column: str) -> str:
    return (
        f'imposeOrder("{plain(column)}", ..., idle_timeout="5 minutes") says how long an input '
        "that brings nothing is waited for."
    )


def long_lag(known: Known, join: JoinKnown) -> Iterator[Finding]:
    given_out = join.reported.total("nullPaddedRows")
    waiting = buffered(join.reported.last)
    if given_out or not waiting or join.described.get("joinType") in ("INNER", "LEFT SEMI"):
        return
    for column, lag in join.reported.last.of("lag").items():
        if join.is_number(column) or join.reported.last.of("watermark").get(column) is None:
            continue
        disorder = join.reported.greatest(f"disorder.{column}")
        if disorder is None or lag < HOUR or lag <= max(10 * disorder, join.reach()):
            continue
        said = join.said(column)
        yield Finding(
            "LONG_LAG",
            f"{waiting} rows wait, and none has come out unmatched: the lag of {said} is "
            f"{shown_span(lag)}, the greatest disorder seen {shown_span(disorder)}.",
            {"lag": lag, "disorder": disorder, "reach": join.reach(), **_due(known, said)},
            "A watermark is the largest time seen minus the lag, so an unmatched row comes out as "
            "much later as the lag is long.",
            f'imposeOrder("{plain(said)}", "{shown_span(max(2 * disorder, 60_000))}"); the '
            "checkpoint goes on with another lag.",
        )


def _jump(join: JoinKnown, column: str) -> tuple[int, int] | None:
    """Give the batch with the greatest jump of a watermark, and where it went."""
    best: tuple[int, int, int] | None = None
    before: int | None = None
    for batch in join.reported.batches:
        mark = batch.of("watermark").get(column)
        if mark is not None:
            by = 0 if before is None else mark - before
            if best is None or by > best[0]:
                best = (by, batch.number, mark)
            before = mark
    return None if best is None else best[1:]


def _due(known: Known, said: str) -> dict[str, object]:
    first = [w for w in known.waiting() if (w.waits_for or "").endswith(said.rpartition(".")[2])]
    return {"first goes above": str(first[0].expires)} if first else {}


def _time(join: JoinKnown, column: str, value: int) -> str:
    return str(value) if join.is_number(column) else shown_time(value)
