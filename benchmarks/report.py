"""The page of a run: a table of each case, and the plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

from . import plots
from .process import Result
from .summary import Summary, ours, read, summaries

_COLUMNS = (
    "engine",
    "rows per CPU second",
    "ours divided by it",
    "CPU s per million rows",
    "rows a second",
    "peak rows held",
    "checkpointed",
    "rows written to state",
    "changes emitted",
    "batch ms, median and most",
    "CPU ms of a batch",
    "s to the first output",
    "CPU s of ten batches",
    "batches (without data)",
    "result",
)
# Left out where no engine of a case has a value.
_SOMETIMES = (
    "changes emitted",
    "CPU ms of a batch",
    "s to the first output",
    "CPU s of ten batches",
)


def write(results: Path) -> str:
    """Write the page and the plots beside the results, and give the page."""
    lines = read(results)
    drawn = plots.draw(lines, results.with_suffix(""))
    text = page(lines, [picture.name for picture in drawn])
    results.with_suffix(".md").write_text(text, encoding="utf-8")
    return text


def page(lines: Sequence[Result], pictures: Sequence[str] = ()) -> str:
    dates = [line["date"] for line in lines]
    machines = sorted({line["machine"] for line in lines})
    loads = [line["load"] for line in lines]
    parts = [
        "# Benchmark results",
        f"{min(dates)} to {max(dates)}; {'; '.join(machines)}; "
        f"load {min(loads):.1f} to {max(loads):.1f}.",
        "Medians, in brackets least and greatest of the repetitions. "
        "A ratio is that of two runs next to each other.",
        *(_case(case, engines) for case, engines in summaries(lines).items()),
        *(f"![]({picture})" for picture in pictures),
    ]
    return "\n\n".join(parts) + "\n"


def _case(case: str, engines: Mapping[str, Summary]) -> str:
    first = next(iter(engines.values())).lines[0]
    parameters = ", ".join(f"{k} {v}" for k, v in first.get("parameters", {}).items())
    mine = ours(dict(engines))
    rows = [_row(engine, mine) for engine in engines.values()]
    shown = [
        n for n, name in enumerate(_COLUMNS) if name not in _SOMETIMES or any(r[n] for r in rows)
    ]
    head = [_COLUMNS, ["---"] * len(_COLUMNS)]
    table = "\n".join(_joined([row[n] for n in shown]) for row in [*head, *rows])
    extras = [line for engine in engines.values() if (line := _delays(engine))]
    return "\n\n".join([f"## {case}", f"{first['workload']}: {parameters}", table, *extras])


def _row(engine: Summary, mine: Summary | None) -> list[str]:
    if not engine.measured:
        return [engine.engine, *[""] * (len(_COLUMNS) - 2), engine.outcome]
    ratios = mine.ratios(engine, "rows_per_cpu_second") if mine else []
    rows = engine.lines[0]["rows"]
    batch_ms = [engine.median(name) for name in ("median_batch_ms", "max_batch_ms")]
    return [
        engine.engine,
        _spread(engine.values("rows_per_cpu_second"), _whole),
        _spread(ratios, lambda ratio: f"{ratio:.2f}"),
        _spread(engine.values("cpu_seconds"), lambda s: f"{s / rows * 1e6:.1f}"),
        _spread(engine.values("wall_seconds"), lambda s: _whole(rows / s)),
        _optional(engine.median("peak_buffered_rows"), _whole),
        _optional(engine.median("bytes_checkpointed"), _megabytes),
        _optional(engine.median("state_rows_written"), lambda n: f"{n / rows:.0%}"),
        _optional(engine.median("changes_out"), _whole),
        "" if batch_ms[0] is None else " / ".join(_optional(ms, _whole) for ms in batch_ms),
        _spread(engine.values("median_batch_cpu_ms"), _whole),
        _spread(engine.values("first_output_seconds"), lambda s: f"{s:.1f}"),
        _spread(engine.values("cpu_seconds_of_ten_batches"), lambda s: f"{s:.1f}"),
        f"{engine.lines[0]['batches']} ({engine.lines[0]['no_data_batches']})",
        engine.outcome,
    ]


def _delays(engine: Summary) -> str | None:
    if not engine.values("unmatched_rows"):
        return None
    batches, ms = engine.median("median_delay_batches"), engine.median("median_delay_ms")
    most, longest = engine.median("max_delay_batches"), engine.median("max_delay_ms")
    return (
        f"{engine.engine}: unmatched rows are emitted {batches:.0f} batches and {ms:.0f} ms "
        f"(most: {most:.0f}, {longest:.0f} ms) after the batch that allows them."
    )


def _spread(values: Sequence[float], text: Callable[[float], str]) -> str:
    if not values:
        return ""
    middle = text(median(values))
    if len(values) == 1:
        return middle
    low, high = sorted((text(min(values)), text(max(values))), key=_number)
    return f"{middle} ({low} to {high})"


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _optional(value: float | None, text: Callable[[float], str]) -> str:
    return "" if value is None else text(value)


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _megabytes(value: float) -> str:
    return f"{value / 1e6:.1f} MB"


def _joined(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
