"""The page of a run of Nexmark: one table, one plot, and how each query is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .engine import OURS, SPARK_HEAP
from .process import Result
from .summary import Summary, read, summaries

ENGINES = {OURS: "streamjoin", SPARK_HEAP: "Spark's own join", "flink-heap": "Flink SQL, heap"}

_INTRODUCTION = """\
Each query is complete, from its inputs to its sink. `make nexmark` repeats the run. It works as
[all benchmarks](../docs/internals/benchmarks.md#how-a-run-works) do, with the same settings. All
engines compute the same rows. Text columns other than names and cities are one column with their
total length. Results are compared by the number of rows and an order-independent checksum. If an
engine corrects its result, the final rows are compared.

The columns of Spark's own join and of Flink SQL say how many times more CPU time per row than
streamjoin the engine needs. A figure is the median of the pairs of runs, with the least and the
greatest one. Below 1, streamjoin needs more."""

_QUERIES = {
    "q3": "As written, without a bound. streamjoin runs a changelog join of append-only inputs.",
    "q4": "On all engines, the condition also states that no auction is open for longer than "
    "3.333 s. In Flink the join is then an interval join, which takes less CPU time. In Spark the "
    "auction's time then has a watermark above both joins. An aggregation in append mode emits the "
    "price of each auction once, when no bid can change it. Spark allows no second aggregation "
    "without a window, so a `foreachBatch` sink adds the prices to a table of sums and counts.",
    "q7": "As written. streamjoin imposes an order on the windows of the aggregation. In Flink, "
    "the window's time attribute replaces its end, so that the join is an interval join.",
    "q8": "As written: both inputs are aggregated by window, then joined. streamjoin imposes an "
    "order on the windows of both.",
    "q9": "The condition is that of q4. In Spark, the aggregation takes the greatest structure of "
    "price, time and the other columns of a bid instead of `ROW_NUMBER`. Its result is final, "
    "while Flink's is corrected.",
    "q20": "As written, without a bound, as q3.",
    "q23": "As written, without a bound, as q3: two joins by the bidder.",
}


def write(results: Path) -> str:
    """Write the page and the plot beside the results, and give the page."""
    lines = read(results)
    picture = results.with_suffix(".png")
    _draw(summaries(lines), picture)
    text = page(lines, picture.name)
    results.with_suffix(".md").write_text(text, encoding="utf-8")
    return text


def page(lines: list[Result], picture: str) -> str:
    dates = [line["date"] for line in lines]
    loads = [line["load"] for line in lines]
    machines = "; ".join(sorted({line["machine"] for line in lines}))
    head = ["query", "input rows", "result rows", "streamjoin, input rows per CPU second"]
    head += [name for engine, name in ENGINES.items() if engine != OURS]
    head += ["CPU seconds of a run, in this order", "load"]
    table = [head, ["---"] * len(head)]
    table += [_row(case, engines) for case, engines in summaries(lines).items()]
    written = [f"| {case} | {_QUERIES[case]} |" for case in summaries(lines)]
    parts = [
        "# Nexmark, whole queries",
        f"{min(dates)} to {max(dates)}; {machines}; load {min(loads):.1f} to {max(loads):.1f}.",
        _INTRODUCTION,
        "\n".join(f"| {' | '.join(row)} |" for row in table),
        f"![Input rows per CPU second, by query and engine]({picture})",
        "## How the queries are written",
        "\n".join(["| query | statement |", "| --- | --- |", *written]),
    ]
    return "\n\n".join(parts) + "\n"


def _row(case: str, engines: Mapping[str, Summary]) -> list[str]:
    mine = engines[OURS]
    loads = [line["load"] for engine in engines.values() for line in engine.lines]
    seconds = [engine.median("cpu_seconds") for e in ENGINES if (engine := engines.get(e))]
    return [
        case,
        f"{mine.lines[0].get('rows', 0):,}",
        f"{mine.lines[0].get('result_rows', 0):,}",
        f"{mine.median('rows_per_cpu_second') or 0:,.0f}" + _unless_correct(mine),
        *(_ratio(mine, engines.get(engine)) for engine in ENGINES if engine != OURS),
        ", ".join("none" if s is None else f"{s:.0f}" for s in seconds),
        f"{min(loads):.0f} to {max(loads):.0f}",
    ]


def _ratio(mine: Summary, other: Summary | None) -> str:
    if other is None:
        return ""
    ratios = mine.ratios(other, "rows_per_cpu_second")
    if not ratios:
        reason = other.lines[0].get("refused") or other.lines[0].get("failure") or ""
        return f"{other.outcome}: {' '.join(reason.split())[:160]}"
    spread = f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
    return spread + _unless_correct(other)


def _unless_correct(engine: Summary) -> str:
    return "" if engine.outcome == "correct" else f", {engine.outcome}"


def _draw(cases: Mapping[str, Mapping[str, Summary]], file: Path) -> None:
    figure = Figure(figsize=(9, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    width = 0.8 / len(ENGINES)
    for n, (engine, name) in enumerate(ENGINES.items()):
        measured = [
            (place + n * width, rows)
            for place, engines in enumerate(cases.values())
            if engine in engines
            and (rows := engines[engine].median("rows_per_cpu_second")) is not None
        ]
        if measured:
            places, heights = zip(*measured, strict=True)
            axes.bar(places, heights, width, label=name)
    axes.set_xticks([place + width for place in range(len(cases))], list(cases))
    axes.set_ylabel("input rows per CPU second")
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(file, dpi=90)
