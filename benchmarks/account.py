"""Tables of where the time of batches went, from runs with ``account=yes``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from .process import Result
from .summary import Summary, summaries

_TABLES = {
    "parts": "ms of a batch, as its progress tells them; triggerExecution is all of it",
    "phases": "ms of planning",
    "spans": "ms of an execution, one after the other",
    "counts": "how many in a batch",
    "cpu": "CPU ms of a batch",
    "rules": "ms of analysis and optimization",
}


def tables(lines: Sequence[Result], rules: int) -> str:
    """Show the medians over the repetitions, an engine a column."""
    accounted = [line for line in lines if "account" in line and "against" in line]
    shown = []
    for case, engines in summaries(accounted).items():
        shown.append(f"## {case}")
        for part, title in _TABLES.items():
            most = rules + 2 if part == "rules" else None
            shown.append(_table(title, part, engines, most))
    return "\n\n".join(shown)


def _table(title: str, part: str, engines: Mapping[str, Summary], most: int | None) -> str:
    columns = [_medians(engine, part) for engine in engines.values()]
    names = [name for column in columns for name in list(column)[:most]]
    head = [[title, *engines], ["---"] * (len(engines) + 1)]
    rows = [
        [name.rpartition(".")[2], *(_number(column.get(name)) for column in columns)]
        for name in dict.fromkeys(names)
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [*head, *rows])


def _medians(engine: Summary, part: str) -> dict[str, float]:
    accounts = [line["account"][part] for line in engine.lines]
    return {
        name: median(account.get(name, 0.0) for account in accounts)
        for name in dict.fromkeys(name for account in accounts for name in account)
    }


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}" if value < 1000 else f"{value:,.0f}"
