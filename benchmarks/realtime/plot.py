"""The plot of measured latencies: a panel for each path and rate, a line for each engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from .latency import ENGINES
from .report import Line, newest

_QUANTILES = ("p50", "p90", "p99", "max")


def draw(lines: Sequence[Line], picture: Path) -> None:
    # text stays text, and the same results give the same file
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "streamjoin"})
    latest = newest(lines)
    paths = list(dict.fromkeys(path for path, _, _ in latest))
    rates = sorted({rate for _, rate, _ in latest})
    figure = Figure(figsize=(3.2 * len(rates) + 1, 2.8 * len(paths)), layout="constrained")
    FigureCanvasSVG(figure)
    grid = figure.subplots(len(paths), len(rates), squeeze=False, sharey=True)
    for path, panels in zip(paths, grid, strict=True):
        for rate, axes in zip(rates, panels, strict=True):
            for number, engine in enumerate(ENGINES):
                line = latest.get((path, rate, engine))
                if line and line["latency_ms"]:
                    values = [max(each, 0.5) for each in line["latency_ms"][1:]]
                    label = "Spark's join" if engine == "spark" else engine
                    axes.plot(_QUANTILES, values, marker=".", color=f"C{number}", label=label)
            axes.set_yscale("log")
            axes.set_title(f"{path}, {rate:,} rows/s", fontsize="medium")
            axes.grid(alpha=0.3)
        panels[0].set_ylabel("latency, ms")
    handles = {h.get_label(): h for axes in grid.flatten() for h in axes.get_lines()}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=3, fontsize="small")
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, metadata={"Date": None})
