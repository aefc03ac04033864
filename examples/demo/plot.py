"""Watermarks and buffered rows over the batches, one column of pictures for each pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import matplotlib.dates as dates
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .pipeline import Pipeline
from .progress import Batch


def plot(runs: Sequence[tuple[Pipeline, list[Batch]]], file: Path) -> None:
    figure = Figure(figsize=(7 * len(runs), 8), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(2, len(runs), sharex="col", squeeze=False)
    for column, (pipeline, batches) in enumerate(runs):
        _plot_watermarks(grid[0][column], pipeline, batches)
        _plot_buffers(grid[1][column], pipeline, batches)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110)


def _plot_watermarks(axes: Axes, pipeline: Pipeline, batches: list[Batch]) -> None:
    for stream in pipeline.streams:
        points = [
            (batch.number, watermark)
            for batch in batches
            if (watermark := _before_closing(pipeline, batch, stream.time)) is not None
        ]
        numbers = [number for number, _ in points]
        watermarks = [dates.date2num(watermark) for _, watermark in points]
        axes.step(numbers, watermarks, where="post", marker=".", label=stream.time)
    axes.yaxis_date()
    axes.yaxis.set_major_formatter(dates.DateFormatter("%d %b %H:%M"))
    axes.set_title(pipeline.name)
    axes.set_ylabel("watermark (UTC)")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", fontsize="small")


def _plot_buffers(axes: Axes, pipeline: Pipeline, batches: list[Batch]) -> None:
    numbers = [batch.number for batch in batches]
    for place, inputs in enumerate(pipeline.joins):
        joins = [batch.joins[place] for batch in batches]
        against = f"{inputs.left}, for {inputs.right}"
        axes.step(numbers, [join.buffered_left for join in joins], where="post", label=against)
        against = f"{inputs.right}, for {inputs.left}"
        axes.step(
            numbers, [join.buffered_right for join in joins], where="post", ls="--", label=against
        )
    axes.set_xlabel("batch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("buffered rows")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", fontsize="small")


def _before_closing(pipeline: Pipeline, batch: Batch, column: str) -> datetime | None:
    watermark = batch.watermarks.get(column)
    return watermark if watermark is not None and watermark <= pipeline.clock.end else None
