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

SHORTEST_STALL = 3


def plot(runs: Sequence[tuple[Pipeline, list[Batch]]], file: Path) -> None:
    figure = Figure(figsize=(7 * len(runs), 8), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(2, len(runs), sharex="col", squeeze=False)
    for column, (pipeline, batches) in enumerate(runs):
        _plot_watermarks(grid[0][column], pipeline, batches)
        _plot_buffers(grid[1][column], pipeline, batches)
        for axes in grid[:, column]:
            _mark_stall(axes, pipeline, batches)
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
    axes.set_title(pipeline.name, pad=30)
    axes.set_ylabel("watermark (UTC)")
    axes.grid(alpha=0.3)
    _put_legend_above(axes, columns=3)


def _plot_buffers(axes: Axes, pipeline: Pipeline, batches: list[Batch]) -> None:
    numbers = [batch.number for batch in batches]
    for place, inputs in enumerate(pipeline.joins):
        joins = [batch.joins[place] for batch in batches]
        waiting = f"{inputs.left} that wait for {inputs.right}"
        axes.step(numbers, [join.buffered_left for join in joins], where="post", label=waiting)
        waiting = f"{inputs.right} that wait for {inputs.left}"
        axes.step(
            numbers, [join.buffered_right for join in joins], where="post", ls="--", label=waiting
        )
    axes.set_xlabel("batch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("buffered rows")
    axes.grid(alpha=0.3)
    _put_legend_above(axes)


def _put_legend_above(axes: Axes, columns: int = 2) -> None:
    """Keep the legend off the lines."""
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), fontsize="small", frameon=False, ncols=columns
    )


def _mark_stall(axes: Axes, pipeline: Pipeline, batches: list[Batch]) -> None:
    """Shade the batches in which the watermark of an input does not move while another's does."""
    for name, first, last in stalls(pipeline, batches):
        axes.axvspan(first, last, color="tab:red", alpha=0.08, lw=0)
        axes.annotate(
            f"no {name}",
            ((first + last) / 2, 0.98),
            xycoords=axes.get_xaxis_transform(),
            ha="center",
            va="top",
            fontsize="small",
            color="tab:red",
        )


def stalls(pipeline: Pipeline, batches: list[Batch]) -> list[tuple[str, int, int]]:
    """Give each input without rows for some batches, with the first and the last of them."""
    found = []
    for stream in pipeline.streams:
        seen = [(b.number, _before_closing(pipeline, b, stream.time)) for b in batches]
        moved = [(n, mark) for n, mark in seen if mark is not None]
        start = 0
        for at in range(1, len(moved) + 1):
            if at == len(moved) or moved[at][1] != moved[start][1]:
                if at < len(moved) and at - start > SHORTEST_STALL:
                    found.append((stream.name, moved[start][0] + 1, moved[at][0]))
                start = at
    return found


def _before_closing(pipeline: Pipeline, batch: Batch, column: str) -> datetime | None:
    watermark = batch.watermarks.get(column)
    return watermark if watermark is not None and watermark <= pipeline.clock.end else None
