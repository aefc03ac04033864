"""Findings about the query as a whole: it has failed, reads nothing, or falls behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamjoin._diagnosis.figures import LASTS, buffered, source_rows
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.known import Known
from streamjoin._progress import JOIN, ORDER, ran


def failed(known: Known) -> Iterator[Finding]:
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


def no_batch(known: Known) -> Iterator[Finding]:
    if not known.progress and not known.error:
        yield Finding(
            "NO_BATCH",
            f"No batch has run yet: {known.status or 'the query has not reported anything'}.",
            cause="The first report comes with the end of the first batch.",
            write="query.status",
        )


def never_any_input(known: Known) -> Iterator[Finding]:
    if known.silent >= LASTS and not any(source_rows(report) for report in known.progress):
        since = known.progress[0]["timestamp"]
        yield Finding(
            "NO_INPUT",
            f"No source has brought a row since the query started ({since}).",
            {"reports": known.silent},
            "Watermarks move with rows only.",
            "Look at the sources: paths, topics, starting offsets, and filters before the join.",
        )


def no_input_lately(known: Known) -> Iterator[Finding]:
    with_rows = [report for report in known.progress if source_rows(report)]
    if known.silent >= LASTS and with_rows and any(buffered(j.reported.last) for j in known.joins):
        since = with_rows[-1]
        yield Finding(
            "NO_INPUT",
            f"No source has brought a row since batch {since['batchId']} ({since['timestamp']}).",
            {"reports": known.silent},
            "Watermarks move with rows only: what waits goes on waiting.",
        )


def no_join(known: Known) -> Iterator[Finding]:
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


def backlog(known: Known) -> Iterator[Finding]:
    for n in range(len(known.progress[-1]["sources"]) if known.progress else 0):
        behind = [_behind(report["sources"][n]) for report in known.progress[-LASTS:]]
        if len(behind) == LASTS and None not in behind:
            first, last = behind[0] or 0, behind[-1] or 0
            if 0 < first < last:
                report = known.progress[-1]
                took = report.get("durationMs", {}).get("triggerExecution", 0)
                yield Finding(
                    "BACKLOG",
                    f"The query falls behind: {last} messages of "
                    f"{report['sources'][n]['description']} are not read yet, {first} were "
                    f"{_batches(LASTS - 1)} ago.",
                    {"messages behind": last, "milliseconds of a batch": took},
                    "A batch takes longer than what it reads takes to arrive.",
                    "More partitions and cores, or a larger maxOffsetsPerTrigger.",
                )


def _batches(count: int) -> str:
    return f"{count} batch{'' if count == 1 else 'es'}"


def _behind(source: dict[str, Any]) -> int | None:
    latest, end = _total(source.get("latestOffset")), _total(source.get("endOffset"))
    return None if latest is None or end is None else latest - end


def _total(offset: Any) -> int | None:
    if isinstance(offset, dict):
        parts = [_total(value) for value in offset.values()]
        return None if not parts or None in parts else sum(p for p in parts if p is not None)
    return offset if isinstance(offset, int) and not isinstance(offset, bool) else None
