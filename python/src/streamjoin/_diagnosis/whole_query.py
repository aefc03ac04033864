"""Findings about the query as a whole: it has failed, reads nothing, or falls behind."""

from __future__ import annotations

import re

from streamjoin._diagnosis.figures import LASTS, falls_behind, source_rows
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.known import Known
from streamjoin._diagnosis.subjects import Subject
from streamjoin._progress import Distance, shown_span

_TRACEBACK = "Traceback (most recent call last):"

# The first texts that Spark appends to the error of a stream.
_APPENDED = ("=== Streaming Query ===", "JVM stacktrace:", "\n\tat ")

# A batch that has run for less is not long.
_LEAST_MS = 10_000

_SHORT = (
    " In real-time mode the time to plan a batch is part of it: a longer batch may read the rows."
)

# The number of lines of an exception in a finding.
_LINES = 3


def failed(s: Subject) -> Finding:
    return Finding(
        "FAILED",
        f"The query has ended with an error: {_innermost(s.known.error)}",
        cause="A query that does not run emits nothing.",
        write=_mend(s.known.error),
    )


def _innermost(error: str) -> str:
    """Return the cause of an error: the last lines of a Python traceback, else the first line."""
    said = error.strip()
    for mark in _APPENDED:
        said = said.partition(mark)[0]
    first = said.strip().splitlines()[0]
    if _TRACEBACK not in said:
        return first
    lines = said.rpartition(_TRACEBACK)[2].splitlines()
    # the exception follows the calls, which are indented
    calls = max((i for i, line in enumerate(lines) if line.startswith("  ")), default=0)
    raised = [line for line in lines[calls + 1 :] if not re.fullmatch(r"\s*(SQLSTATE: \w+)?", line)]
    if not raised:
        return first
    return f"{' '.join(line.strip() for line in raised[:_LINES])} {_raised_by(first)}".strip()


def _raised_by(first: str) -> str:
    """Return where it was raised, from the line before the traceback."""
    where = first.partition(_TRACEBACK)[0].strip().rstrip(":")
    return f"({where})" if where else ""


# A word in an error of Spark without advice, and the advice.
_MENDS = {
    "STREAMING_STATEFUL_OPERATOR_NOT_MATCH": (
        "The checkpoint has other operators: symmetricHashJoin is Spark's join, streamJoin is "
        "this project's. Let streamjoin.evolve take over the rows of Spark's join, or start with a "
        "new checkpointLocation, or restore the setting spark.sql.streamJoin.replaceBuiltin."
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
    return "Correct the cause of the error, and start the query again from its checkpoint."


def no_batch(s: Subject) -> Finding:
    return Finding(
        "NO_BATCH",
        f"No batch has run yet: {s.known.status or 'the query has not reported anything'}.",
        cause="Spark reports at the end of the first batch.",
        write="query.status",
    )


def first_batch_runs(s: Subject) -> Finding:
    return Finding(
        "NO_BATCH",
        f"No batch has ended yet. {s.known.next_batch or s.known.status}",
        cause="In real-time mode a match is emitted at once, and Spark reports at the end of a "
        "batch.",
        write="Call the doctor again when the batch has ended.",
    )


def runs_long(known: Known) -> bool:
    """Check whether the current batch has run for ten times as long as the batch before.

    In real-time mode, the length of a batch does not count.
    """
    took, length = _durations(known), known.length or 0
    runs = 0 if known.running is None else known.running[1]
    return bool(took) and runs - length >= max(_LEAST_MS, 10 * (took[-1] - length))


def batch_runs_long(s: Subject) -> Finding:
    assert s.known.running is not None
    number, runs = s.known.running
    took = _durations(s.known)[-1]
    return Finding(
        "BATCH_RUNS_LONG",
        f"Batch {number} has been running for {shown_span(runs)}; the batch before took "
        f"{shown_span(took)}.",
        {"batch": number, "runs for": Distance(runs), "a batch takes": Distance(took)},
        "A task, the sink or a function of foreachBatch waits, or the batch has many more rows.",
        "The page of the stages in Spark's UI shows the tasks that run. Without one, the sink or "
        "the function waits.",
    )


def is_slow(known: Known) -> bool:
    """Check whether the last batches took longer than the interval of the trigger."""
    took = _durations(known)
    return bool(known.interval) and len(took) == LASTS and min(took) > (known.interval or 0)


def slow_batches(s: Subject) -> Finding:
    took, interval = min(_durations(s.known)), s.known.interval or 0
    return Finding(
        "SLOW_BATCHES",
        f"A batch takes longer than its trigger: the last {LASTS} took {shown_span(took)} or more, "
        f"at a trigger of {shown_span(interval)}.",
        {"a batch takes": Distance(took), "trigger": Distance(interval)},
        "A batch begins when the one before has ended. The query falls behind if rows arrive "
        "faster.",
        "More partitions and cores, a faster sink, or a longer trigger.",
    )


def _durations(known: Known) -> list[int]:
    """Return the milliseconds that the last batches took."""
    last = (report.get("durationMs", {}) for report in known.progress[-LASTS:])
    return [each["triggerExecution"] for each in last if "triggerExecution" in each]


def never_any_input(s: Subject) -> Finding:
    since = s.known.clock(s.known.progress[0])
    return Finding(
        "NO_INPUT",
        f"No source has delivered a row since the query started ({since}).",
        {"reports": s.known.silent},
        "Only rows advance a watermark.",
        "Check the sources: paths, topics, starting offsets, and filters below the join."
        + _SHORT * (s.known.length is not None),
    )


def no_input_lately(s: Subject) -> Finding:
    clock, with_rows = s.known.clock, list(filter(source_rows, s.known.progress))
    since = (
        f"since batch {with_rows[-1]['batchId']} ({clock(with_rows[-1])})"
        if with_rows
        else f"in the kept reports, since {clock(s.known.progress[0])}"
    )
    return Finding(
        "NO_INPUT",
        f"No source has delivered a row {since}.",
        {"reports": s.known.silent},
        "Only rows advance a watermark, so buffered rows continue to wait.",
    )


def no_join(s: Subject) -> Finding:
    operators = s.known.operators()
    of_spark = "symmetricHashJoin" in operators
    return Finding(
        "NO_JOIN",
        f"The query has no join of this project. Its stateful operators: {_listed(operators)}.",
        cause="Spark executes a join of two streams without imposed orders itself."
        if of_spark
        else "Only Spark's own operators can buffer rows.",
        write="To use this project's join, impose an order on both inputs, or set "
        "spark.sql.streamJoin.replaceBuiltin=true. df.explain() then shows a StreamJoin."
        if of_spark
        else "df.explain() shows what the query does.",
    )


def _listed(operators: list[str]) -> str:
    return ", ".join(dict.fromkeys(operators)) or "nothing"


def backlog(s: Subject) -> Finding:
    found = falls_behind(s.known)
    assert found is not None
    source, first, last = found
    report = s.known.progress[-1]
    return Finding(
        "BACKLOG",
        f"The query falls behind: {last} messages of "
        f"{report['sources'][source]['description']} are unread, {first} were unread "
        f"{LASTS - 1} batches ago.",
        {
            "messages behind": last,
            "a batch takes": Distance(report.get("durationMs", {}).get("triggerExecution", 0)),
        },
        "A batch takes longer than its rows take to arrive.",
        "More partitions and cores, or a larger maxOffsetsPerTrigger.",
    )
