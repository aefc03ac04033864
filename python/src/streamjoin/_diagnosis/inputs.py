"""Findings about the rows of an input: none arrives, or their times are NULL or too far ahead."""

from __future__ import annotations

import re

from streamjoin._diagnosis.called import SIDES
from streamjoin._diagnosis.figures import brought, plain, share
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.known import Known
from streamjoin._diagnosis.subjects import Subject

_NULL_KEYS = "a column of the equality is NULL in all rows"
# A row without a time reaches the join with any key, and the join counts it.
_OR_NO_TIME = re.compile(r"isnull\(\w+\) OR | OR isnull\(\w+\)")
_NOT_NULL = re.compile(r"isnotnull\((\w+)\)")

_LOOK = "df.explain() shows the operators below the join."


def of_sources(s: Subject) -> list[int]:
    """Return the number of rows of each source, if they are the input of the lowest join.

    Empty for a join above it, and if an aggregation below buffers rows.
    """
    lowest = s.join is s.known.joins[-1] and not s.known.operators_below()
    return brought(s.known) if lowest else []


def came(s: Subject) -> int:
    """Count the rows of an input before any drop, as far as the reports count them."""
    came = s.total("inputRows") + s.total("aheadRows")
    if s.total("inputRows") > s.total("nullTimeRows"):
        return came
    # No row with a time arrives, so a filter may have dropped the others. The reports do not name
    # the source of the input, but it has at least as many rows as the smallest source.
    return max(came, min(of_sources(s), default=0))


def filtered_below(s: Subject) -> Finding:
    causes, write = _what_filters(s)
    without, ahead = s.total("nullTimeRows"), s.total("aheadRows")
    but = f" except {without} without a time" if without else ""
    if ahead:
        causes += f" max_ahead has also dropped {ahead} rows."
    return Finding(
        "FILTERED_BELOW",
        f"Each source has delivered rows, but none{but} has reached {s.name}.",
        {"rows of the sources": sum(brought(s.known)), "side": s.own},
        causes,
        write,
    )


def _what_filters(s: Subject) -> tuple[str, str]:
    """Describe the causes that the plan does not exclude, and the place to look at."""
    planned = s.of_join.planned
    below = None if planned is None else planned.below[s.own]
    if planned is None or below is None:
        return (
            f"A filter below the join drops all rows, or {_NULL_KEYS}. Spark pushes a filter "
            "above an inner join below it.",
            _LOOK,
        )
    of_condition = planned.filters(s.own)
    filters = [text for text in below if text.startswith("Filter") and not _only_nulls(s, text)]
    found = []
    if of_condition:
        found.append(f"the condition passes only rows with {' and '.join(of_condition)}")
    elif filters:
        found.append(f"a filter passes only some rows: {'; '.join(filters)}")
    if s.of_join.described.get("keys") and not s.of_join.preserves(s.own):
        found.append(_NULL_KEYS)
    if not found:
        return "An operator below the join drops all rows.", _LOOK
    cause = ", or ".join(found)
    if found == [_NULL_KEYS]:
        columns = _keys(s)
        return (
            "No filter is below the join, so a column of the equality is NULL in all rows "
            f"({columns}). The parser of the rows and their schema disagree about a name or a "
            "type.",
            f"Check {columns} of that input below the join.",
        )
    return f"{cause[0].upper()}{cause[1:]}.", _LOOK


def _keys(s: Subject) -> str:
    """Return the columns of the equality of one side, with their names in the plan."""
    planned = s.of_join.planned
    keys = [] if planned is None else planned.described["keys"]
    return ", ".join(key.split(" = ")[0 if s.own == "left" else -1] for key in keys)


# Operators below a join that pass every row.
_PASS = ("StreamJoinInput", "ImposeOrder", "EventTimeWatermark", "Project", "Union", "Coalesce")
_MOVE = ("StreamExchange", "Exchange", "ToBuckets")
_READ = (
    "FileScan",
    "BatchScan",
    "MicroBatchScan",
    "RowDataSourceScan",
    "Scan ",
    "DataSourceV2Scan",
)


def null_keys(known: Known) -> str:
    """Mention rows that did not reach the only join of a query because of NULL in their keys."""
    if len(known.joins) != 1 or known.changelog_joins:
        return ""
    sides = [Subject(known, known.joins[0], side) for side in SIDES]
    sources = sum(of_sources(sides[0]))
    missing = sources - sum(s.total("inputRows") + s.total("aheadRows") for s in sides)
    keys = ", ".join(_keys(s) for s in sides if not s.of_join.preserves(s.own))
    if missing <= 0 or not keys or not all(map(_passes_all_but_nulls, sides)):
        return ""
    return f"NULL in a column of the equality ({keys}) excludes {missing} of {sources} rows."


def _passes_all_but_nulls(s: Subject) -> bool:
    planned = s.of_join.planned
    below = None if planned is None else planned.below[s.own]
    if planned is None or below is None or planned.filters(s.own):
        return False
    return all(
        _only_nulls(s, text)
        if text.startswith("Filter")
        else text.startswith(_PASS + _MOVE + _READ)
        for text in below
    )


def _only_nulls(s: Subject, text: str) -> bool:
    """Recognize the filter on NULL keys, which Spark adds below every such join."""
    rest = _OR_NO_TIME.sub("", text)
    known = {plain(name) for name in (*_keys(s).split(", "), *s.of_join.times(s.own))}
    others = set(_NOT_NULL.findall(rest)) - known
    return not others and not re.sub(r"Filter|AND|[()\s]", "", _NOT_NULL.sub("", rest))


def null_times(s: Subject) -> Finding:
    rows, without = s.total("inputRows"), s.total("nullTimeRows")
    what = f"All {rows}" if without == rows else f"{without} of {rows}"
    return _without_times("NULL_TIMES", s, f"{what} rows of {s.name}")


def some_null_times(s: Subject) -> Finding:
    rows, without = s.total("inputRows"), s.total("nullTimeRows")
    what = f"{without} of {rows} rows of {s.name} ({share(without, rows)})"
    return _without_times("NULL_TIME_ROWS", s, what)


def _without_times(code: str, s: Subject, what: str) -> Finding:
    names = list(s.of_join.times(s.own))
    times = " and ".join(names) or "its event time"
    column = plain(next(iter(names), "t"))
    return Finding(
        code,
        f"{what} had NULL in {times}.",
        {"rows": s.total("nullTimeRows"), "side": s.own},
        "The parser of the rows and their schema disagree about a time format, a field name or "
        "a type.",
        f'.where("{column} IS NULL") on that input shows the rows. to_timestamp(text, '
        "format) reads another format.",
    )


def rejected(s: Subject) -> int:
    """Count the rows of an input that `max_ahead` has dropped."""
    count = s.total("aheadRows")
    return 0 if count and _keeps_ahead(s) else count


def _keeps_ahead(s: Subject) -> bool:
    planned = s.of_join.planned
    return planned is not None and any(
        planned.keeps_ahead(s.of_join.said(column)) for column in s.columns
    )


def rejects_all(s: Subject) -> Finding:
    count, arrived = rejected(s), s.total("inputRows")
    what = f"All {count}" if not arrived else f"{count} of {count + arrived}"
    return _rejects("REJECTED_AHEAD", s, what)


def rejects_some(s: Subject) -> Finding:
    count = rejected(s)
    return _rejects("AHEAD_ROWS", s, f"{count} of {count + s.total('inputRows')}")


def _rejects(code: str, s: Subject, what: str) -> Finding:
    return Finding(
        code,
        f"{what} rows of {s.name} are further ahead of the clock than max_ahead allows.",
        {"rows ahead": rejected(s), "rows that arrived": s.total("inputRows"), "side": s.own},
        "max_ahead drops rows whose time is too far after the clock of their batch. Causes: the "
        "clock of the producer, another time zone, or milliseconds read as seconds.",
        'A longer max_ahead. Or ahead="keep", which joins such rows and only ignores their times '
        "for the watermark. Or correct the times below imposeOrder.",
    )
