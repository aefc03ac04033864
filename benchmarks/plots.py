"""Throughput by engine; batch time against buffered rows; buffered rows over the batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .engine import LIMIT
from .process import Result
from .summary import Summary, summaries

_Draw = Callable[[Axes, Mapping[str, Summary]], None]


def draw(lines: Sequence[Result], beside: Path) -> list[Path]:
    """Draw into files whose names begin as ``beside``, and give their paths."""
    cases = summaries(lines)
    batched = {
        c: e for c, e in cases.items() if any(s.values("median_batch_ms") for s in e.values())
    }
    pictures = {"throughput": (_throughput, cases), "batches": (_batches, batched)}
    pictures["state"] = (_state, {c: e for c, e in batched.items() if c.startswith("W2")})
    return [
        _picture(beside.with_name(f"{beside.name}-{name}.png"), how, which)
        for name, (how, which) in pictures.items()
        if which
    ]


def _has_batches(engines: Mapping[str, Summary]) -> bool:
    return any(summary.values("median_batch_ms") for summary in engines.values())


def _picture(file: Path, how: _Draw, cases: Mapping[str, Mapping[str, Summary]]) -> Path:
    columns = min(3, len(cases))
    rows = -(-len(cases) // columns)
    figure = Figure(figsize=(6 * columns, 3.6 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False).flatten()
    for axes, (case, engines) in zip(grid, cases.items(), strict=False):
        axes.set_title(case, fontsize="medium")
        how(axes, engines)
        axes.grid(alpha=0.3)
    for axes in grid[len(cases) :]:
        axes.set_visible(False)
    figure.savefig(file, dpi=90)
    return file


def _throughput(axes: Axes, engines: Mapping[str, Summary]) -> None:
    shown = [s for s in engines.values() if s.measured and s.engine != LIMIT]
    middles = [s.median("rows_per_cpu_second") or 0 for s in shown]
    spread = [
        [m - min(s.values("rows_per_cpu_second")) for m, s in zip(middles, shown, strict=True)],
        [max(s.values("rows_per_cpu_second")) - m for m, s in zip(middles, shown, strict=True)],
    ]
    axes.barh([s.engine for s in shown], middles, xerr=spread)
    axes.invert_yaxis()
    axes.set_xlabel("rows per CPU second")


def _batches(axes: Axes, engines: Mapping[str, Summary]) -> None:
    for engine in engines.values():
        points = [(b[2], b[1]) for line in engine.lines for b in line.get("batch_log", ()) if b[0]]
        held = [p for p in points if p[0] >= 0]
        if held:
            axes.plot(*zip(*held, strict=True), ".", label=engine.engine)
    axes.set_xlabel("rows held after the batch")
    axes.set_ylabel("batch, ms")
    axes.set_yscale("log")
    axes.legend(fontsize="small")


def _state(axes: Axes, engines: Mapping[str, Summary]) -> None:
    for engine in engines.values():
        held = [batch[2] for batch in engine.lines[0].get("batch_log", ())]
        if held and min(held) >= 0:
            axes.plot(held, marker=".", label=engine.engine)
    axes.set_xlabel("batch")
    axes.set_ylabel("rows held")
    axes.legend(fontsize="small")
