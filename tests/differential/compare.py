"""Differences between the output and the expected rows, in a readable form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.differential.case import SENTINEL, Case
from tests.differential.lateness import Arrival
from tests.differential.plans import sql_text
from tests.differential.runner import OutputRow, Run

SHOWN = 12


@dataclass(frozen=True)
class Difference:
    columns: tuple[str, ...]
    missing: Counter[OutputRow]
    superfluous: Counter[OutputRow]

    def __bool__(self) -> bool:
        return bool(self.missing or self.superfluous)


def difference(
    columns: Sequence[str],
    got: Iterable[OutputRow],
    expected: Iterable[OutputRow],
) -> Difference:
    ids = [number for number, name in enumerate(columns) if name.endswith("id")]
    actual = Counter(_without_sentinels(got, ids))
    wanted = Counter(_without_sentinels(expected, ids))
    return Difference(tuple(columns), wanted - actual, actual - wanted)


def late_difference(
    columns: Sequence[str], got: Iterable[OutputRow], expected: Iterable[tuple[str, str]]
) -> list[str]:
    """Errors of the rows that were emitted as late; each has the id of one input alone."""
    ids = [number for number, name in enumerate(columns) if name.endswith("_id")]
    rows = _without_sentinels(got, ids)
    found = Counter(tuple((columns[n][:-3], row[n]) for n in ids if row[n]) for row in rows)
    wanted = Counter((each,) for each in expected)
    return [
        f"{what} late rows: {dict(rows)}"
        for what, rows in (("missing", wanted - found), ("superfluous", found - wanted))
        if rows
    ]


def _without_sentinels(rows: Iterable[OutputRow], ids: list[int]) -> Iterable[OutputRow]:
    return (row for row in rows if not any(SENTINEL in (row[each] or "") for each in ids))


def unstable(run: Run) -> list[int]:
    """Batches that gave other rows when they ran again."""
    return [
        batch
        for batch, attempts in run.attempts.items()
        if any(Counter(attempt) != Counter(attempts[0]) for attempt in attempts)
    ]


def report(case: Case, found: Difference, arrivals: Sequence[Arrival]) -> str:
    parts = [
        f"case {case.name}, features: {', '.join(case.features)}",
        f"how: {case.through}, {case.partitions} partitions, restarts: {case.restarts or 'none'}",
        "the query, as SQL:",
        sql_text(case),
        *_around(case),
    ]
    for title, rows in (("missing", found.missing), ("superfluous", found.superfluous)):
        parts.append(f"{title}: {rows.total()} rows")
        parts += [f"  {_shown(found, row, count)}" for row, count in rows.most_common(SHOWN)]
    parts.append("rows of the inputs that these hold, in the order of the batches:")
    parts += _history(found, arrivals)
    return "\n".join(parts)


def _around(case: Case) -> list[str]:
    """What the SQL text does not show."""
    lines = [
        f"between {each.alias} and the join: {', '.join(each.below)}"
        for each in case.inputs
        if each.below
    ]
    lines += [
        f"united with {each.part_of}: {each.alias}, lags {[time.lag for time in each.watermarked]}"
        for each in case.inputs
        if each.part_of
    ]
    if case.above:
        lines.append(f"above the joins: {case.above} by {case.at}")
    return lines if case.mode == "append" else [*lines, f"output mode: {case.mode}"]


def _shown(found: Difference, row: OutputRow, count: int) -> str:
    named = (f"{n}={v}" for n, v in zip(found.columns, row, strict=True) if v is not None)
    times = f"{count} times " if count > 1 else ""
    return times + (" ".join(named) or "(all NULL)")


def _history(found: Difference, arrivals: Sequence[Arrival]) -> list[str]:
    shown = [*found.missing.most_common(SHOWN), *found.superfluous.most_common(SHOWN)]
    values = {value for row, _ in shown for value in row}
    rows = sorted(
        (each for each in arrivals if each.row["id"] in values), key=lambda each: each.batch
    )
    return [
        f"  batch {each.batch} input {each.alias}{' LATE' if each.late else ''}: {each.row}"
        for each in rows
    ]
