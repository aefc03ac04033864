"""From what is known of a query to findings: a rule for each, what explains most first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

from streamjoin._advice import lags, sizes
from streamjoin._called import input_name, time_name
from streamjoin._changes import changelog_findings, changes_out
from streamjoin._findings import Diagnosis, Finding
from streamjoin._keys import agreement
from streamjoin._known import SIDES, JoinKnown, Known, Sample, Waiting
from streamjoin._progress import JOIN, ORDER, Batch, held, ran, shown_span, shown_time, wait

_HOUR = 3_600_000

WAITS_FOR_ROWS = (
    "Rows wait for the watermark of the other input, and that moves with its rows only."
)

# Batches over which something must last before it is called so.
_LASTS = 3


def diagnose(known: Known) -> Diagnosis:
    rules = (
        _failed,
        _no_batch,
        _each(_contradiction),
        _never_any_input,
        _filtered_below,
        _each(_null_times),
        _each(_ahead),
        _each(_mostly_late),
        _each(_stands),
        _each(_long_lag),
        _each(_no_key_met),
        _each(_times_never_meet),
        changelog_findings,
        _aggregation_waits,
        _filtered_above,
        _backlog,
        _no_input_lately,
        _no_join,
    )
    found = [finding for rule in rules for finding in rule(known)]
    return Diagnosis(
        tuple(found or [_nothing_wrong(known)]), tuple(lags(known)), tuple(sizes(known))
    )


def _each(rule: Any) -> Any:
    """Ask a rule of each join, the lowest first: those above see what it has decided."""

    def of_all(known: Known) -> Iterator[Finding]:
        for join in reversed(known.joins):
            yield from rule(known, join)

    return of_all


def _failed(known: Known) -> Iterator[Finding]:
    if known.error:
        first = known.error.strip().splitlines()[0]
        yield Finding(
            "FAILED",
            f"The query has ended with an error: {first}",
            cause="Nothing comes out of a query that does not run.",
            write=_mend(known.error),
        )


# Errors of Spark's that do not say what to do: a word of theirs, and what to write.
_MENDS = {
    "STREAMING_STATEFUL_OPERATOR_NOT_MATCH": (
        "The checkpoint is of other operators: symmetricHashJoin is Spark's join, streamJoin this "
        "one. Start with a new checkpointLocation, or set spark.sql.streamJoin.replaceBuiltin as "
        "it was."
    ),
    "OutOfMemoryError": (
        "Give the executors more memory (in local mode spark.driver.memory), or set "
        "spark.sql.streamJoin.stateFormat=rocksdb."
    ),
}


def _mend(error: str) -> str:
    for word, mend in _MENDS.items():
        if word in error:
            return mend
    return "Mend what the error names, and start the query again from its checkpoint."


def _no_batch(known: Known) -> Iterator[Finding]:
    if not known.progress and not known.error:
        yield Finding(
            "NO_BATCH",
            f"No batch has run yet: {known.status or 'the query has not reported anything'}.",
            cause="The first report comes with the end of the first batch.",
            write="query.status",
        )


def _contradiction(known: Known, join: JoinKnown) -> Iterator[Finding]:
    if join.described.get("contradiction"):
        yield contradiction(join.described["operator"])


def contradiction(operator: int) -> Finding:
    return Finding(
        "CONTRADICTION",
        "The bounds of the join contradict each other: no two rows can match.",
        {"operator": operator},
        "Two parts of the condition ask for times that exclude each other, as d.t >= o.t + 1 hour "
        "and d.t <= o.t do.",
        "df.explain() lists the bounds, each with the part of the condition it comes from.",
    )


def _never_any_input(known: Known) -> Iterator[Finding]:
    if known.silent >= _LASTS and not any(_rows(report) for report in known.progress):
        since = known.progress[0]["timestamp"]
        yield Finding(
            "NO_INPUT",
            f"No source has brought a row since the query started ({since}).",
            {"reports": known.silent},
            "Watermarks move with rows only.",
            "Look at the sources: paths, topics, starting offsets, and filters before the join.",
        )


def _no_input_lately(known: Known) -> Iterator[Finding]:
    with_rows = [report for report in known.progress if _rows(report)]
    if (
        known.silent >= _LASTS
        and with_rows
        and any(_buffered(j.reported.last) for j in known.joins)
    ):
        since = with_rows[-1]
        yield Finding(
            "NO_INPUT",
            f"No source has brought a row since batch {since['batchId']} ({since['timestamp']}).",
            {"reports": known.silent},
            "Watermarks move with rows only: what waits goes on waiting.",
        )


def _no_join(known: Known) -> Iterator[Finding]:
    operators = known.operators()
    # a start that found nothing to do has shown no operator
    has_run = any(map(ran, known.progress))
    if has_run and not known.described and not {JOIN, ORDER}.intersection(operators):
        of_spark = "symmetricHashJoin" in operators
        yield Finding(
            "NO_JOIN",
            f"No join of this project is in the query; stateful in it: {_listed(operators)}.",
            cause="A join of two streams, neither of which has an imposed order, is Spark's own."
            if of_spark
            else "Rows are held back by Spark's own operators, if by any.",
            write="imposeOrder on both inputs makes it one, and so does "
            "spark.sql.streamJoin.replaceBuiltin=true; df.explain() then has a StreamJoin."
            if of_spark
            else "df.explain() shows what the query does.",
        )


def _listed(operators: list[str]) -> str:
    return ", ".join(dict.fromkeys(operators)) or "nothing"


def _filtered_below(known: Known) -> Iterator[Finding]:
    sources = len(known.progress[-1]["sources"]) if known.progress else 0
    brought = [_brought(known, n) for n in range(sources)]
    # what an aggregation below holds back it has not lost
    if not known.joins or known.operators_below() or not brought or not all(brought):
        return
    # both inputs of the lowest join come from sources
    join = known.joins[-1]
    for side in SIDES:
        if not join.reported.total(_of("inputRows", side)):
            yield Finding(
                "FILTERED_BELOW",
                f"Each source has brought rows, and none has reached {join.input(side)}.",
                {"rows of the sources": sum(brought), "side": side},
                "A filter before the join lets none through, or a column of the equality is NULL "
                "in all rows; a filter above an inner join goes below it.",
                "df.explain() shows what stands below the join.",
            )


def _brought(known: Known, source: int) -> int:
    return sum(report["sources"][source].get("numInputRows") or 0 for report in known.progress)


def _null_times(known: Known, join: JoinKnown) -> Iterator[Finding]:
    for side in SIDES:
        rows = join.reported.total(_of("inputRows", side))
        without = join.reported.total(_of("nullTimeRows", side))
        if rows and without == rows:
            times = " and ".join(join.times(side)) or "its event time"
            alias = join.input(side)
            plain = (next(iter(join.times(side)), "t")).rpartition(".")[2]
            yield Finding(
                "NULL_TIMES",
                f"All {rows} rows of {alias} had NULL in {times}.",
                {"rows": rows, "side": side},
                "The parser of the rows and their schema disagree: a format of times, a name of a "
                "field, a type.",
                f'.where("{plain} IS NULL") on that input shows the rows; to_timestamp(text, '
                "format) reads another format.",
            )


def _ahead(known: Known, join: JoinKnown) -> Iterator[Finding]:
    for column in join.reported.columns():
        if join.is_number(column):
            continue
        margin = _HOUR if join.has_zone(column) else 15 * _HOUR
        beyond = [
            (batch, mark)
            for batch in join.reported.batches
            if (mark := batch.of("watermark").get(column)) is not None
            and mark > _ms(batch.at) + margin
        ]
        if beyond:
            batch, mark = beyond[-1]
            late = sum(batch.metrics.get(_of("lateRows", s), 0) for s in SIDES)
            yield watermark_ahead(
                join.said(column),
                mark,
                mark - _ms(batch.at),
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
        f'imposeOrder("{_plain(column)}", ..., max_ahead="10 minutes"), and a new checkpoint: '
        "watermarks do not go back.",
    )


def _mostly_late(known: Known, join: JoinKnown) -> Iterator[Finding]:
    for side in SIDES:
        rows = join.reported.total(_of("inputRows", side))
        late = join.reported.total(_of("lateRows", side))
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
            f'imposeOrder("{_plain(said)}", {enough}) would have kept them; '
            'late="emit" emits the late rows of an event-time join.',
        )


def _lag(join: JoinKnown, column: str, lag: int) -> str:
    return str(lag) if join.is_number(column) else f'"{shown_span(lag)}"'


def _stands(known: Known, join: JoinKnown) -> Iterator[Finding]:
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
        waiting = join.reported.last.metrics.get(_of("bufferedRows", other), 0)
        first = join.reported.batches[since]
        quiet = sum(b.metrics.get(_of("inputRows", side), 0) for b in batches)
        if len(batches) < _LASTS or not moved or not waiting:
            continue
        said, alias = join.said(column), join.input(side)
        mark = marks[-1]
        stands = "has none yet" if mark is None else f"stands at {_time(join, column, mark)}"
        lasted = shown_span(_ms(join.reported.last.at) - _ms(first.at))
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
        f'imposeOrder("{_plain(column)}", ..., idle_timeout="5 minutes") says how long an input '
        "that brings nothing is waited for."
    )


def _long_lag(known: Known, join: JoinKnown) -> Iterator[Finding]:
    given_out = join.reported.total("nullPaddedRows")
    waiting = _buffered(join.reported.last)
    if given_out or not waiting or join.described.get("joinType") in ("INNER", "LEFT SEMI"):
        return
    for column, lag in join.reported.last.of("lag").items():
        if join.is_number(column) or join.reported.last.of("watermark").get(column) is None:
            continue
        disorder = join.reported.greatest(f"disorder.{column}")
        if disorder is None or lag < _HOUR or lag <= max(10 * disorder, join.reach()):
            continue
        said = join.said(column)
        yield Finding(
            "LONG_LAG",
            f"{waiting} rows wait, and none has come out unmatched: the lag of {said} is "
            f"{shown_span(lag)}, the greatest disorder seen {shown_span(disorder)}.",
            {"lag": lag, "disorder": disorder, "reach": join.reach(), **_due(known, said)},
            "A watermark is the largest time seen minus the lag, so an unmatched row comes out as "
            "much later as the lag is long.",
            f'imposeOrder("{_plain(said)}", "{shown_span(max(2 * disorder, 60_000))}"); the '
            "checkpoint goes on with another lag.",
        )


def _no_key_met(known: Known, join: JoinKnown) -> Iterator[Finding]:
    r = join.reported
    rows = {side: r.total(_of("inputRows", side)) for side in SIDES}
    looked = r.total("lookedIntoRows")
    if not all(rows.values()) or r.total("joinedRows") or r.total("keyMetRows") or not looked:
        return
    figures = {f"rows, {side}": count for side, count in rows.items()}
    what = f"No row has met its key, of {looked} looked into"
    yield keys_differ(what, join.described, known.sample, figures)


def keys_differ(
    what: str, described: Mapping[str, Any], sample: Sample, figures: Mapping[str, object]
) -> Finding:
    keys = described.get("keys", [])
    seen = agreement(described, sample(described["operator"]) if keys else {})
    return Finding(
        "NO_KEY_MET",
        f"{what}{'. ' + seen.text if seen.text else '.'}",
        figures,
        "The columns of the equality hold other values in the two inputs: another spelling, "
        "spaces, upper and lower case, leading zeros, or another column.",
        seen.write
        or f"Compare the values of both sides of {' and '.join(keys) or 'the equality'}.",
    )


def _times_never_meet(known: Known, join: JoinKnown) -> Iterator[Finding]:
    r = join.reported
    met = r.total("keyMetRows")
    if r.total("joinedRows") or not met:
        return
    misses = [b.metrics["closestMiss"] for b in r.batches if "closestMiss" in b.metrics]
    if not misses:
        return
    miss = min(misses, key=abs)
    lookup = join.described.get("lookup", {})
    left, right = lookup.get("left", "the left time"), lookup.get("right", "the right time")
    if miss == 0:
        yield Finding(
            "CONDITION_NEVER_TRUE",
            f"Keys and times meet ({met} rows), but the rest of the condition never holds.",
            {"rows that met their key": met},
            "What is compared besides keys and times is false, or NULL, for each pair.",
            "df.explain() lists the parts of the condition.",
        )
        return
    number = join.is_number(left)
    span = str if number else shown_span
    low, high = join.slack(right, left), join.slack(left, right)
    is_now = ""
    if low is not None and high is not None:
        distance = (high if miss > 0 else -low) + miss
        allowed = f"{_signed(span, -low)} to {_signed(span, high)}"
        is_now = f" {right} - {left} is {_signed(span, distance)}, allowed {allowed}."
    hours = -(-abs(miss) // _HOUR)
    zone = ""
    if not number and hours <= 14:
        earlier = "earlier" if miss > 0 else "later"
        zone = f" {hours} hour{'' if hours == 1 else 's'} {earlier} it would fit: a time zone?"
    yield Finding(
        "TIMES_NEVER_MEET",
        f"Keys meet ({met} rows), times never: the closest pair misses its bounds by "
        f"{span(abs(miss))}.{is_now}{zone}",
        {"rows that met their key": met, "closest miss": miss},
        f"{right} is too {'late' if miss > 0 else 'early'} for what the condition allows after "
        f"{left}. Whole hours are mostly a text that was read in another time zone.",
        "to_utc_timestamp(t, zone) or a text with its zone on one input; or a wider bound.",
    )


def _aggregation_waits(known: Known) -> Iterator[Finding]:
    out, sink, above = _given_out(known), known.sink_rows(), known.operators_above()
    if out and sink == 0 and above:
        mark = known.progress[-1].get("eventTime", {}).get("watermark", "not known yet")
        yield Finding(
            "OPERATOR_ABOVE_WAITS",
            f"The join has emitted {out} rows; {above[0]} above it waits for Spark's watermark, "
            f"{mark}.",
            {"rows of the join": out, "watermark": mark},
            "A window above a join closes by Spark's own watermark of the query, which the slowest "
            "of all inputs holds back.",
            "A shorter lag of the slowest input, or a shorter window.",
        )


def _filtered_above(known: Known) -> Iterator[Finding]:
    out = _given_out(known)
    if out and known.sink_rows() == 0 and not known.operators_above():
        yield Finding(
            "FILTERED_ABOVE",
            f"The join has emitted {out} rows, and none has reached the sink.",
            {"rows of the join": out},
            "A filter above the join lets none of them through.",
            "query.explain() shows what stands above the join.",
        )


def _backlog(known: Known) -> Iterator[Finding]:
    for n in range(len(known.progress[-1]["sources"]) if known.progress else 0):
        behind = [_behind(report["sources"][n]) for report in known.progress[-_LASTS:]]
        if len(behind) == _LASTS and None not in behind:
            first, last = behind[0] or 0, behind[-1] or 0
            if 0 < first < last:
                report = known.progress[-1]
                took = report.get("durationMs", {}).get("triggerExecution", 0)
                yield Finding(
                    "BACKLOG",
                    f"The query falls behind: {last} messages of "
                    f"{report['sources'][n]['description']} are not read yet, {first} were "
                    f"{_batches(_LASTS - 1)} ago.",
                    {"messages behind": last, "milliseconds of a batch": took},
                    "A batch takes longer than what it reads takes to arrive.",
                    "More partitions and cores, or a larger maxOffsetsPerTrigger.",
                )


def _nothing_wrong(known: Known) -> Finding:
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
    last = [r["batchId"] for r in known.progress if _given_out_in(r)]
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


# ---- figures ----


def _of(metric: str, side: str) -> str:
    return f"{metric}{side.capitalize()}"


def _rows(report: dict[str, Any]) -> int:
    return sum(source.get("numInputRows") or 0 for source in report["sources"])


def _buffered(batch: Batch) -> int:
    return sum(batch.metrics.get(_of("bufferedRows", side), 0) for side in SIDES)


def _given_out(known: Known) -> int:
    return sum(_given_out_in(report) for report in known.progress)


def _given_out_in(report: dict[str, Any]) -> int:
    joins = [o for o in report["stateOperators"] if o["operatorName"] == JOIN]
    metrics = joins[0]["customMetrics"] if joins else {}
    if "changesOut" in metrics:
        return changes_out(report)
    return int(metrics.get("joinedRows", 0) + metrics.get("nullPaddedRows", 0))


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


def _behind(source: dict[str, Any]) -> int | None:
    latest, end = _total(source.get("latestOffset")), _total(source.get("endOffset"))
    return None if latest is None or end is None else latest - end


def _total(offset: Any) -> int | None:
    if isinstance(offset, dict):
        parts = [_total(value) for value in offset.values()]
        return None if not parts or None in parts else sum(p for p in parts if p is not None)
    return offset if isinstance(offset, int) and not isinstance(offset, bool) else None


def _due(known: Known, said: str) -> dict[str, object]:
    first = [w for w in known.waiting() if (w.waits_for or "").endswith(said.rpartition(".")[2])]
    return {"first goes above": str(first[0].expires)} if first else {}


def _time(join: JoinKnown, column: str, value: int) -> str:
    return str(value) if join.is_number(column) else shown_time(value)


def _signed(span: Any, value: int) -> str:
    return f"-{span(-value)}" if value < 0 else str(span(value))


def _plain(said: str) -> str:
    return said.rpartition(".")[2]


def _batches(count: int) -> str:
    return f"{count} batch{'' if count == 1 else 'es'}"


def _ms(at: datetime) -> int:
    return int(at.astimezone(timezone.utc).timestamp() * 1000)
