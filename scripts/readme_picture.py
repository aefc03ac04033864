"""Draws README's picture of the effect from measured runs.

``python scripts/readme_picture.py results/<date>.jsonl docs/images/effect.svg``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

ENGINES = {"spark-heap": ("Spark's join", "tab:gray"), "streamjoin": ("streamjoin", "tab:blue")}
Runs = dict[str, list[dict[str, Any]]]


def main(results: Path, picture: Path) -> None:
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    FigureCanvasSVG(figure)
    held, waiting = figure.subplots(1, 2, width_ratios=[3, 2])
    _held(held, _of(lines, "W2, deliveries idle"))
    _waiting(waiting, _of(lines, "LAT"))
    # text stays text, and the same results give the same file
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "streamjoin"})
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, metadata={"Date": None})


def _of(lines: list[dict[str, Any]], case: str) -> Runs:
    return {
        engine: [line for line in lines if (line["case"], line["engine"]) == (case, engine)]
        for engine in ENGINES
    }


def _held(axes: Axes, runs: Runs) -> None:
    """Of one run of each: all have the same rows."""
    for engine, (label, color) in ENGINES.items():
        rows = [batch[2] / 1000 for batch in runs[engine][0]["batch_log"]]
        axes.plot(rows, marker="o", markersize=4, color=color)
        peak = max(rows)
        # to the right of both peaks, between the two lines: in batches and thousands of rows
        place = (5.2, 0.97 * peak if engine == "spark-heap" else 170)
        axes.text(*place, f"{label}: {peak:.0f},000", color=color, fontsize="small")
    # the middle third of eight batches, each drawn at its end
    axes.axvspan(8 / 3 - 1, 16 / 3 - 1, color="tab:orange", alpha=0.15, label="one input is idle")
    axes.set_title("Buffered rows while one input is idle, with peaks", fontsize="medium")
    axes.set_xlabel("batch")
    axes.set_ylabel("thousands of rows")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="upper left")


def _waiting(axes: Axes, runs: Runs) -> None:
    delays = [median(line["median_delay_ms"] for line in runs[engine]) for engine in ENGINES]
    for place, (delay, (_, color)) in enumerate(zip(delays, ENGINES.values(), strict=True)):
        axes.bar_label(axes.bar(place, delay, color=color, width=0.6), fmt="%d ms")
    axes.set_xticks(range(len(ENGINES)), [label for label, _ in ENGINES.values()])
    sooner = max(delays) / min(delays)
    axes.set_title(f"Unmatched rows: {sooner:.1f} times sooner", fontsize="medium")
    axes.set_ylabel("delay, ms")
    axes.margins(y=0.15)
    axes.grid(axis="y", alpha=0.3)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
