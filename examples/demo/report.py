"""What the demo prints."""

from __future__ import annotations

from pyspark.sql import DataFrame

from .check import Check
from .pipeline import Pipeline
from .progress import Batch, JoinCounts

_ROWS_SHOWN = 8


def print_heading(pipeline: Pipeline) -> None:
    clock = pipeline.clock
    hours = clock.step.total_seconds() / 3600
    print(f"\n== {pipeline.name}: {pipeline.about}")
    print(f"   {clock.count} steps of {hours:g} h land while the query runs, then closing rows")
    times = "".join(f"{stream.time:>15}" for stream in pipeline.streams)
    buffers = "".join(f"{join.left} + {join.right}".rjust(33) for join in pipeline.joins)
    print(f"   {'':32} watermarks{'buffered rows'.rjust(len(times) + 16)}")
    print(f"   batch    in   out  late padded{times}{buffers}", flush=True)


def print_batch(pipeline: Pipeline, batch: Batch) -> None:
    counts = f"{batch.rows_in:>6}{batch.rows_out:>6}{batch.late:>6}{batch.padded:>7}"
    times = "".join(f"{_watermark(pipeline, batch, s.time):>15}" for s in pipeline.streams)
    buffers = "".join(
        f"{join.buffered_left} + {join.buffered_right}".rjust(33) for join in batch.joins
    )
    print(f"   {batch.number:>5}{counts}{times}{buffers}", flush=True)


def print_result(
    pipeline: Pipeline, result: DataFrame, batches: list[Batch], checks: list[Check]
) -> None:
    print(f"\nResult of {pipeline.name}, the first of {result.count()} rows:")
    result.orderBy(*result.columns[:2]).show(_ROWS_SHOWN, truncate=False)
    print("Watermarks before the closing rows:")
    for stream in pipeline.streams:
        print(f"   {stream.name:<12}{_last_watermark(pipeline, batches, stream.time)}")
    print("Rows of each join:")
    for number, inputs in enumerate(pipeline.joins):
        counts = [batch.joins[number] for batch in batches]
        print(f"   {inputs.left} + {inputs.right}: {_totals(counts)}")
    print("Check against a batch join of the rows that were not late:")
    for check in checks:
        verdict = "ok" if check.passed else "WRONG"
        print(f"   {check.what:<42}expected {check.expected:>6}  found {check.found:>6}  {verdict}")


def _totals(counts: list[JoinCounts]) -> str:
    late_left = sum(count.late_left for count in counts)
    late_right = sum(count.late_right for count in counts)
    evicted_left = sum(count.evicted_left for count in counts)
    evicted_right = sum(count.evicted_right for count in counts)
    peak_left = max(count.buffered_left for count in counts)
    peak_right = max(count.buffered_right for count in counts)
    padded = sum(count.padded for count in counts)
    return (
        f"late {late_left} + {late_right}, buffered at most {peak_left} + {peak_right}, "
        f"evicted {evicted_left} + {evicted_right}, null-padded {padded}"
    )


def _watermark(pipeline: Pipeline, batch: Batch, column: str) -> str:
    watermark = batch.watermarks.get(column)
    if watermark is None:
        return "-"
    return "closed" if watermark > pipeline.clock.end else f"{watermark:%m-%d %H:%M}"


def _last_watermark(pipeline: Pipeline, batches: list[Batch], column: str) -> str:
    open_watermarks = [
        watermark
        for batch in batches
        if (watermark := batch.watermarks.get(column)) is not None
        and watermark <= pipeline.clock.end
    ]
    return f"{open_watermarks[-1]:%Y-%m-%d %H:%M:%S}" if open_watermarks else "-"
