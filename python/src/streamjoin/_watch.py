"""A live view of the joins of a query."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from pyspark.sql.streaming.query import StreamingQuery

from streamjoin import _arguments, _zones
from streamjoin._diagnosis.known import JoinKnown, Known
from streamjoin._diagnosis.plan import Plan
from streamjoin._explained import plan_of
from streamjoin._pending import session_of
from streamjoin._picture import picture
from streamjoin._progress import Batch, reports, shown_span
from streamjoin._view import floor, header, late_share, name_of, of, others

# Characters of a bar, at most and at least, and of the text after it.
_BAR, _SHORT_BAR = 40, 8
_AFTER_BAR = len("2024-05-04 10:00:00, 11 minutes 30 seconds behind the clock")
_POLL_SECONDS = 0.5

# Mark an input of which half of the rows are late; its line is red in a terminal. A narrow terminal
# cuts the second mark, but not the first.
_ALARM, _MARK = " (!)", "  <- half of its rows or more are late"


def watch(query: StreamingQuery, *, timeout: float | None = None) -> None:
    """Show the joins of a query, redrawn with each batch, until the query ends.

    For each join it shows the watermarks relative to the clock and to each other. It also shows
    the buffered rows, and the input, output and late rows of the last batch. In a notebook, a
    picture replaces the cell's output. In a terminal, a few lines are redrawn in place, cut to the
    width. An interrupt ends the view, not the query. Inputs have their aliases, and times are in
    the time zone of the session.

    Parameters
    ----------
    query : StreamingQuery
        A query of a classic session or of Spark Connect.
    timeout : float or None, optional
        Seconds after which to stop watching. Default: None, when the query ends.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above.

    Notes
    -----
    Source: ``query.recentProgress``, of which Spark keeps the last 100 reports.

    Examples
    --------
    >>> streamjoin.watch(query)  # doctest: +SKIP
    """
    source = _arguments.query("query", query)
    ends = None if timeout is None else time.monotonic() + _arguments.seconds("timeout", timeout)
    draw, drawn = _drawing(), None
    view = _View(source)
    try:
        while True:
            active = source.isActive
            progress = source.recentProgress
            newest = next((r["timestamp"] for r in reversed(reports(progress))), None)
            if newest != drawn or drawn is None:
                draw(view.of(progress))
                drawn = newest
            if not active or (ends is not None and time.monotonic() >= ends):
                return
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        return


class _View:
    """The reports of a query and its plan, which is read until it contains a join."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query
        self._plan = Plan()
        self._zone = _zones.of_session(session_of(query))

    def of(self, progress: Sequence[Any]) -> Known:
        if not self._plan.joins:
            self._plan = plan_of(self._query)
        return Known(reports(progress), plan=lambda: self._plan, zone=self._zone)


def render(known: Known | Sequence[Any], width: int | None = None) -> list[str]:
    """Draw the joins of a query as lines, from progress reports, the oldest first.

    Bars are shorter if `width` characters leave less room.
    """
    if not isinstance(known, Known):
        known = Known(reports(known))
    if not known.progress:
        return ["no batch has ended yet"]
    drawn = [*(line for join in known.joins for line in _join(join, width)), *others(known)]
    return [header(known), *(drawn or ["no join of this project"])]


def _join(join: JoinKnown, width: int | None) -> list[str]:
    last = join.reported.last
    return [
        f"join {join.reported.position}",
        *_watermarks(join, width),
        _side_line(join, "left"),
        _side_line(join, "right"),
        f"  out    {last.metrics.get('joinedRows', 0)} pairs, "
        f"{last.metrics.get('nullPaddedRows', 0)} without a match "
        f"(so far {join.reported.total('joinedRows')}, {join.reported.total('nullPaddedRows')})",
    ]


def _watermarks(join: JoinKnown, width: int | None) -> list[str]:
    """Draw a line for each column; the bar shows the distance to the most advanced watermark."""
    last = join.reported.last
    marks, delays = last.of("watermark"), last.of("delay")
    columns = sorted({**last.of("lag"), **marks, **last.of("groups")})
    said = {column: join.said(column) for column in columns}
    name = max(map(len, said.values()), default=0)
    room = _BAR if width is None else width - name - _AFTER_BAR - len("    ")
    bar = max(_SHORT_BAR, min(_BAR, room))
    ahead, behind = max(marks.values(), default=0), min(marks.values(), default=0)
    scale = max(ahead - behind, floor(join))
    lines = []
    for column, called in said.items():
        mark = marks.get(column)
        if mark is None:
            lines.append(f"  {called:<{name}} no watermark yet{_groups(last, column)}")
            continue
        length = bar - round((bar - 1) * (ahead - mark) / scale)
        text = join.time(column, mark)
        if column in delays:
            delay = delays[column]
            where = "behind" if delay >= 0 else "after"
            text += f", {shown_span(abs(delay))} {where} the clock"
        text += _groups(last, column)
        lines.append(f"  {called:<{name}} {'#' * length:<{bar}} {text}")
    return lines


def _groups(last: Batch, column: str) -> str:
    """Name the slowest of the groups by ``per``."""
    count = last.of("groups").get(column, 0)
    if count < 2:
        return ""
    of_column = f"{column}."
    marks, silent = last.of("groupWatermark"), last.of("groupSilent")
    names = [name for name in silent if name.startswith(of_column)]
    slowest = min(names, key=lambda name: (name in marks, marks.get(name, 0)), default=None)
    if slowest is None:
        return ""
    spread = last.of("groupSpread").get(column, 0)
    behind = f"{shown_span(spread)} behind the fastest" if slowest in marks else "without a row"
    return f"; slowest of {count} groups: ({slowest.removeprefix(of_column)}), {behind}"


def _side_line(join: JoinKnown, side: str) -> str:
    metrics = join.reported.last.metrics
    late, rows = late_share(join, side)
    buffered = [b.metrics.get(of("bufferedRows", side), 0) for b in join.batches]
    arrived = metrics.get(of("inputRows", side), 0)
    is_alarm = late > 0 and late * 2 >= rows
    return (
        f"  {name_of(join, side):<6} {arrived} row{'s' * (arrived != 1)} in, "
        f"{metrics.get(of('lateRows', side), 0)} late{_ALARM * is_alarm}, {buffered[-1]} buffered "
        f"{_sparkline(buffered)} (so far {rows} in, {late} late)"
        f"{_MARK * is_alarm}"
    )


def _sparkline(values: Sequence[int]) -> str:
    levels = " .:-=+*#"
    shown = values[-_BAR:]
    most = max(shown, default=0) or 1
    return "[" + "".join(levels[round((len(levels) - 1) * v / most)] for v in shown) + "]"


def _drawing() -> Callable[[Known], None]:
    shell = _notebook()
    return _in_terminal(sys.stdout) if shell is None else shell


def _notebook() -> Callable[[Known], None] | None:
    """Return a function that draws in a notebook, if this is one; IPython in a terminal is not."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython import display

    shown: Any = display

    def draw(known: Known) -> None:
        # this also clears the progress of stages that Spark writes
        shown.clear_output(wait=True)
        shown.display(shown.HTML(picture(known)))

    return draw


def _in_terminal(out: TextIO) -> Callable[[Known | Sequence[Any]], None]:
    height = 0

    def draw(known: Known | Sequence[Any]) -> None:
        nonlocal height
        if not out.isatty():
            out.write("\n".join(render(known)) + "\n")
            out.flush()
            return
        columns, rows = shutil.get_terminal_size()
        # a line that wraps or scrolls off the screen could not be redrawn
        whole = render(known, columns - 1)[: rows - 1]
        lines = [_coloured(line[: columns - 1], _ALARM in line) for line in whole]
        if height:
            # back to the first line, and clear to the end of the screen
            out.write(f"\x1b[{height}A\x1b[J")
        out.write("\n".join(lines) + "\n")
        out.flush()
        height = len(lines)

    return draw


def _coloured(line: str, is_alarm: bool) -> str:
    return f"\x1b[31m{line}\x1b[0m" if is_alarm else line
