"""Random streams through the join, compared with the same join as a batch query.

How a case travels: ``generator`` draws a ``case`` (streams, conditions in one of many spellings,
``shapes`` below and above the joins, batch splits, restarts), ``feeds`` bring its rows to a running
query, ``runner`` restarts that query where the case says so, ``recorded`` reads from the checkpoint
which rows were in which micro-batch, ``lateness`` decides which of them were late, ``oracle`` joins
the others in a batch query, ``compare`` says what differs and ``invariants`` what the progress of
the query shows. Here is one case from beginning to end.

Batch splits are read back, not arranged. The watermarks of a batch judge the rows of the next, so
a model of lateness needs to know the batches exactly; but a trigger may fire between the arrival of
two inputs' rows, and after a restart a batch may be cut otherwise. The offset log of the checkpoint
has the truth, whatever the source and however often the query was stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from tests.differential.case import Case
from tests.differential.compare import difference, late_difference, report, unstable
from tests.differential.invariants import violations
from tests.differential.lateness import judge
from tests.differential.oracle import answer, late_ids
from tests.differential.plans import stream
from tests.differential.runner import BuildStream, OutputRow, Run, Running, run


@dataclass(frozen=True)
class Verdict:
    problems: tuple[str, ...]
    input_rows: int
    late_rows: int
    output_rows: int
    batches: int


def check(
    case: Case,
    spark: SparkSession,
    folder: Path,
    build: BuildStream = stream,
    running: Running = run,
) -> Verdict:
    """Compare the stream of a case with the batch query; ``build`` can be another stream."""
    result = running(case, spark, folder, build)
    arrivals = judge(case, result.batches, result.spark_ms)
    rows = _latest(case, result)
    columns = result.columns
    problems: list[str] = []
    if case.late:
        late = [row[:-1] for row in rows if row[-1] is not None]
        rows = [row[:-1] for row in rows if row[-1] is None]
        columns = columns[:-1]
        problems += late_difference(columns, late, late_ids(case, spark, arrivals))
    found = difference(columns, rows, answer(case, spark, arrivals))
    if found:
        problems.append(report(case, found, arrivals))
    problems += [f"batch {each} gave other rows when it ran again" for each in unstable(result)]
    if build is stream:
        problems += violations(case, result, arrivals)
    return Verdict(
        tuple(problems),
        input_rows=len(arrivals),
        late_rows=sum(each.late for each in arrivals),
        output_rows=len(rows),
        batches=len(result.batches),
    )


def _latest(case: Case, result: Run) -> list[OutputRow]:
    """Return the output; of a window, in update mode, its last row."""
    if case.mode == "update" and case.above == "windows":
        return list({row[:-1]: row for row in result.rows}.values())
    return result.rows
