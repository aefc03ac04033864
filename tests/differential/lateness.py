"""Which rows are late: an independent model of the contract, in plain Python.

The watermark of a column is the largest value that has arrived in it, late rows included, minus
its lag. With groups, it is the smallest of those of the groups, each of which starts at it. The
rows of a batch are judged by the watermarks that the batches before have left. A row
strictly below the watermark of any of its columns is late and takes part in nothing. NULL is never
late. Times count to the microsecond, finer than Spark's own statistics. What a join above another
one receives from it is never late, so this is all of it.

Of a union the smaller watermark counts, once all of it have one. A filter below a watermark hides
rows from it. Spark's own operators below a join drop rows that are late by Spark's one watermark,
which
is taken from the offset log: a row **at** the watermark of the batch before is late for them. What
a windowed aggregation gives is never late for the join, which has the same watermark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.differential.case import Below, Case, Input, Row, Step, TimeColumn, inputs_of
from tests.differential.instants import instant
from tests.differential.shapes import window_us


@dataclass(frozen=True)
class Arrival:
    alias: str
    batch: int
    row: Row
    late: bool


def judge(case: Case, batches: Sequence[Step], spark_ms: Sequence[int] = ()) -> list[Arrival]:
    """Say of each row whether it is late; ``spark_ms`` is Spark's watermark in each batch."""
    arrivals: list[Arrival] = []
    for leaf in inputs_of(case.tree):
        arrivals += _judge_leaf(case, leaf, batches, spark_ms)
    return arrivals


def _judge_leaf(
    case: Case, leaf: str, batches: Sequence[Step], spark_ms: Sequence[int]
) -> list[Arrival]:
    arrivals: list[Arrival] = []
    parts = case.parts(leaf)
    below = case.input(leaf).below
    watermarks: list[dict[str, int]] = [{} for _ in parts]
    for number, batch in enumerate(batches):
        brought = [[row for row in batch.get(part.alias, []) if _seen(part, row)] for part in parts]
        # Spark's aggregations and deduplications go by the watermark that the batch before had.
        spark_us = spark_ms[number - 1] * 1000 if 0 < number <= len(spark_ms) else 0
        for part, rows in zip(parts, brought, strict=True):
            for row in rows:
                late = _late_for_spark(case, part, below, row, spark_us)
                if "windows" not in below:
                    late = late or _late(case, part, row, watermarks)
                arrivals.append(Arrival(part.alias, number, row, late))
        for part, rows, reached in zip(parts, brought, watermarks, strict=True):
            for column in part.watermarked:
                _advance(case, column, rows, reached)
    return arrivals


def _seen(source: Input, row: Row) -> bool:
    return "unseen_filter" not in source.below or row["p"] != 2


def _late(case: Case, source: Input, row: Row, watermarks: Sequence[dict[str, int]]) -> bool:
    return any(
        row[column.name] is not None
        and all(column.name in each for each in watermarks)
        and instant(case, column.kind, row[column.name])
        < min(each[column.name] for each in watermarks)
        for column in source.watermarked
    )


def _late_for_spark(
    case: Case, source: Input, below: Sequence[Below], row: Row, spark_us: int
) -> bool:
    if row["t"] is None or source.time("t").kind != "timestamp":
        return False
    at = instant(case, "timestamp", row["t"])
    if "windows" in below:
        return at // window_us(case) * window_us(case) + window_us(case) <= spark_us
    return ("distinct" in below or "distinct_within" in below) and at <= spark_us


def _advance(case: Case, column: TimeColumn, rows: list[Row], watermarks: dict[str, int]) -> None:
    assert column.lag is not None
    before = watermarks.get(column.name)
    for row in rows:
        ticks = row[column.name]
        if ticks is not None:
            reached = instant(case, column.kind, ticks) - column.lag
            name = _name(column, row)
            known = [watermarks.get(name, reached), *([] if before is None else [before])]
            watermarks[name] = max(reached, *known)
    if column.per is not None:
        groups = [mark for name, mark in watermarks.items() if name.startswith(f"{column.name} of")]
        if groups:
            watermarks[column.name] = min(groups)


def _name(column: TimeColumn, row: Row) -> str:
    return column.name if column.per is None else f"{column.name} of {row[column.per]}"


def on_time(arrivals: Sequence[Arrival], alias: str) -> list[Row]:
    return [each.row for each in arrivals if each.alias == alias and not each.late]


def late_rows(arrivals: Sequence[Arrival], alias: str) -> list[Row]:
    return [each.row for each in arrivals if each.alias == alias and each.late]
