"""The watched figures of a run over time, one plot each, with marks at the faults."""

from __future__ import annotations

from pathlib import Path

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tests.soak.growth import WARM_UP
from tests.soak.outcome import BYTES, OF_THE_DRIVERS_LIFE, OF_THE_RUN, STEADY_AFTER, Outcome

MARKS = {
    "driver killed": ("tab:red", "-"),
    "driver restarted": ("tab:orange", "--"),
    "broker killed": ("tab:purple", ":"),
}
COLUMNS = 3
Samples = list[dict[str, float]]


def draw(outcome: Outcome, file: Path) -> None:
    figure = drawn(outcome)
    FigureCanvasAgg(figure)
    figure.savefig(file, dpi=90)


def drawn(outcome: Outcome) -> Figure:
    watched = [*OF_THE_RUN, *OF_THE_DRIVERS_LIFE]
    rows = -(-len(watched) // COLUMNS)
    figure = Figure(figsize=(15, 3.2 * rows + 0.6), layout="constrained")
    figure.suptitle(f"Soak, seed {outcome.seed}: {outcome.verdict}", wrap=True)
    grid = figure.subplots(rows, COLUMNS, squeeze=False, sharex=True).flatten()
    for axes, what in zip(grid, watched, strict=True):
        _mark(axes, outcome)
        if what in OF_THE_RUN:
            _line(axes, outcome, what, "run", outcome.samples, "the run")
        else:
            for life in range(1, outcome.driver_starts + 1):
                lived = [vitals for vitals in outcome.vitals if vitals["life"] == life]
                _line(axes, outcome, what, f"driver {life}", lived, "a life of the driver")
        axes.set_title(what.replace("_", " "), fontsize=10)
        axes.set_ylabel("MB" if what in BYTES else "number")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    for axes in grid[-COLUMNS:]:
        axes.set_xlabel("seconds since the start")
    shown: dict[str, Artist] = {}
    for axes in grid:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    figure.legend(
        list(shown.values()), list(shown), loc="outside lower center", ncols=max(len(shown), 1)
    )
    return figure


def _mark(axes: Axes, outcome: Outcome) -> None:
    for each in outcome.happened:
        if each["event"] in MARKS:
            color, style = MARKS[each["event"]]
            axes.axvline(
                each["at"], color=color, linestyle=style, linewidth=0.8, label=each["event"]
            )


def _line(axes: Axes, outcome: Outcome, what: str, of: str, samples: Samples, label: str) -> None:
    scale = 1e6 if what in BYTES else 1
    seen = [sample for sample in samples if what in sample]
    if not seen:
        return
    points = [(sample["at"], sample[what] / scale) for sample in seen]
    [line] = axes.plot(
        *zip(*points, strict=True), marker=".", markersize=3, linewidth=1, label=label
    )
    for each in outcome.growth:
        if (each["what"], each["of"]) == (what, of):
            steady = [sample["at"] for sample in seen if sample["batches"] >= STEADY_AFTER]
            begin = steady[int(len(steady) * WARM_UP)]
            ends = [each["begin"] / scale, each["end"] / scale]
            axes.plot(
                [begin, steady[-1]],
                ends,
                color=line.get_color(),
                linestyle="--",
                linewidth=3 if each["grows"] else 1.5,
                label="its trend (thick: grows)",
            )
