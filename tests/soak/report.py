"""What a run was like, for a person: a page and a picture; and for programs: JSON."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tests.soak.outcome import OF_THE_DRIVERS_LIFE, OF_THE_RUN, Outcome

BYTES = ("heap", "resident", "state_bytes", "checkpoint_bytes")


def write(outcome: Outcome, folder: Path) -> str:
    """Write ``soak.json``, ``soak.md`` and ``soak.png``, and give the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "soak.json").write_text(outcome.as_json(), encoding="utf-8")
    text = page(outcome)
    (folder / "soak.md").write_text(text + "\n\n![](soak.png)\n", encoding="utf-8")
    _draw(outcome, folder / "soak.png")
    return text


def page(outcome: Outcome) -> str:
    late = sum(outcome.late_rows.values())
    events = ", ".join(f"{what} {count}" for what, count in sorted(outcome.events.items()))
    return "\n\n".join(
        [
            f"# Soak: {outcome.failure or 'as it should be'}",
            f"Seed {outcome.seed}, {outcome.seconds / 60:.1f} minutes. {outcome.messages:,} "
            f"messages in {outcome.waves:,} waves, {late:,} of them late; {outcome.batches:,} "
            f"batches, {outcome.driver_starts} starts of the driver.",
            f"Compared with the oracle: {outcome.checked_rows:,} rows of the result of "
            f"{outcome.decided_orders:,} orders; watermarks, late rows and buffered rows of "
            f"{outcome.checked_reports:,} batches.",
            f"Happened: {events or 'nothing'}.",
            _table(outcome),
        ]
    )


def _table(outcome: Outcome) -> str:
    rows = [
        (
            each["what"].replace("_", " "),
            each["of"],
            *(_figure(each["what"], each[name]) for name in ("begin", "end", "most")),
            "grows" if each["grows"] else "steady",
        )
        for each in outcome.growth
    ]
    if not rows:
        return "Too short to tell whether anything grows."
    heads = ("watched", "of", "after warm-up", "at the end", "most", "")
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _figure(what: str, value: float) -> str:
    return f"{value / 1e6:,.1f} MB" if what in BYTES else f"{value:,.0f}"


def _draw(outcome: Outcome, file: Path) -> None:
    watched = [*OF_THE_RUN, *OF_THE_DRIVERS_LIFE]
    figure = Figure(figsize=(15, 3.2 * -(-len(watched) // 3)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(-(-len(watched) // 3), 3, squeeze=False, sharex=True).flatten()
    for axes, what in zip(grid, watched, strict=True):
        axes.set_title(f"{what.replace('_', ' ')}{', MB' if what in BYTES else ''}", fontsize=10)
        axes.grid(alpha=0.3)
        if what in OF_THE_RUN:
            _line(axes, what, outcome.samples)
        else:
            for life in range(1, outcome.driver_starts + 1):
                _line(axes, what, [v for v in outcome.vitals if v["life"] == life])
        axes.set_ylim(bottom=0)
    for axes in grid[-3:]:
        axes.set_xlabel("seconds")
    figure.savefig(file, dpi=90)


def _line(axes: Axes, what: str, samples: list[dict[str, float]]) -> None:
    scale = 1e6 if what in BYTES else 1
    points = [(sample["at"], sample[what] / scale) for sample in samples if what in sample]
    if points:
        axes.plot(*zip(*points, strict=True), marker=".", markersize=3, linewidth=1)
