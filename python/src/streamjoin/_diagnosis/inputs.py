"""Findings about the rows of an input: none arrives, or their times are NULL."""

from __future__ import annotations

from collections.abc import Iterator

from streamjoin._diagnosis.figures import of
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.known import SIDES, JoinKnown, Known


def filtered_below(known: Known) -> Iterator[Finding]:
    sources = len(known.progress[-1]["sources"]) if known.progress else 0
    brought = [_brought(known, n) for n in range(sources)]
    # what an aggregation below holds back it has not lost
    if not known.joins or known.operators_below() or not brought or not all(brought):
        return
    # both inputs of the lowest join come from sources
    join = known.joins[-1]
    for side in SIDES:
        if not join.reported.total(of("inputRows", side)):
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


def null_times(known: Known, join: JoinKnown) -> Iterator[Finding]:
    for side in SIDES:
        rows = join.reported.total(of("inputRows", side))
        without = join.reported.total(of("nullTimeRows", side))
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
