"""Which rows are late: an independent model of the contract, in plain Python.

The watermark of a column is the largest value that has arrived in it, late rows included, minus
its lag. The rows of a batch are judged by the watermarks that the batches before have left. A row
strictly below the watermark of any of its columns is late and takes part in nothing. NULL is never
late. Times count to the microsecond, finer than Spark's own statistics. What a join above another
one receives from it is never late, so this is all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.differential.case import Case, Input, Row, Step, TimeColumn
from tests.differential.instants import instant


@dataclass(frozen=True)
class Arrival:
    alias: str
    batch: int
    row: Row
    late: bool


def judge(case: Case, batches: Sequence[Step]) -> list[Arrival]:
    arrivals: list[Arrival] = []
    for each in case.inputs:
        arrivals += _judge_input(case, each, [batch.get(each.alias, []) for batch in batches])
    return arrivals


def _judge_input(case: Case, source: Input, batches: Sequence[list[Row]]) -> list[Arrival]:
    arrivals: list[Arrival] = []
    watermarks: dict[str, int] = {}
    for number, rows in enumerate(batches):
        for row in rows:
            late = any(
                column.name in watermarks
                and row[column.name] is not None
                and instant(case, column.kind, row[column.name]) < watermarks[column.name]
                for column in source.watermarked
            )
            arrivals.append(Arrival(source.alias, number, row, late))
        for column in source.watermarked:
            _advance(case, column, rows, watermarks)
    return arrivals


def _advance(case: Case, column: TimeColumn, rows: list[Row], watermarks: dict[str, int]) -> None:
    assert column.lag is not None
    for row in rows:
        ticks = row[column.name]
        if ticks is not None:
            reached = instant(case, column.kind, ticks) - column.lag
            watermarks[column.name] = max(watermarks.get(column.name, reached), reached)


def on_time(arrivals: Sequence[Arrival], alias: str) -> list[Row]:
    return [each.row for each in arrivals if each.alias == alias and not each.late]


def count_late(arrivals: Sequence[Arrival], alias: str) -> int:
    return sum(each.alias == alias and each.late for each in arrivals)
