"""The joins of a query, seen live."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, TextIO

from pyspark.sql.streaming.query import StreamingQuery

from streamjoin import _arguments
from streamjoin._progress import Batch, Join, joins, reports, shown_span, shown_time

# Characters of a bar: at most, at least, and those of the text behind one.
_BAR, _SHORT_BAR = 40, 8
_AFTER_BAR = len("2024-05-04 10:00:00, 11 minutes 30 seconds behind the clock")
_POLL_SECONDS = 0.5


def watch(query: StreamingQuery, *, timeout: float | None = None) -> None:
    """Show the joins of a query, redrawn with each batch, until the query ends.

    For each join: the watermarks against the clock and against each other, the rows that wait, and
    what the last batch brought, emitted and found late. In a notebook the view is drawn anew, in
    a terminal a few lines stay in their place, cut to its width. Interrupting it leaves the query
    as it is.

    Parameters
    ----------
    query : StreamingQuery
        A query of a classic session or of Spark Connect.
    timeout : float or None, optional
        Seconds after which to stop watching. Default: None, when the query ends.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument is of another type than the ones above.

    Notes
    -----
    Source: ``query.recentProgress``; the demo's plot.

    Examples
    --------
    >>> streamjoin.watch(query)  # doctest: +SKIP
    """
    source = _arguments.query("query", query)
    ends = None if timeout is None else time.monotonic() + _arguments.seconds("timeout", timeout)
    draw = _drawing()
    drawn = None
    try:
        while True:
            active = source.isActive
            progress = source.recentProgress
            newest = next((r["timestamp"] for r in reversed(reports(progress))), None)
            if newest != drawn or drawn is None:
                draw(progress)
                drawn = newest
            if not active or (ends is not None and time.monotonic() >= ends):
                return
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        return


def render(progress: Sequence[Any], width: int | None = None) -> list[str]:
    """Draw the joins of a query from its progress reports, the oldest first, line by line.

    Bars are shorter where `width` characters leave less room.
    """
    known = reports(progress)
    if not known:
        return ["no batch has run yet"]
    last = known[-1]
    name = last.get("name") or last.get("id") or "query"
    took = last.get("durationMs", {}).get("triggerExecution", 0)
    head = f"{name}, batch {last['batchId']}: {last['timestamp']}, {shown_span(took)}"
    found = joins(known)
    if not found:
        return [head, "no join of this project"]
    return [head, *(line for join in found for line in _join(join, width))]


def _join(join: Join, width: int | None) -> list[str]:
    last = join.last
    return [
        f"join {join.position}",
        *_watermarks(last, width),
        _side_line(join, "left"),
        _side_line(join, "right"),
        f"  out    {last.metrics.get('joinedRows', 0)} pairs, "
        f"{last.metrics.get('nullPaddedRows', 0)} without a match "
        f"(so far {join.total('joinedRows')}, {join.total('nullPaddedRows')})",
    ]


def _watermarks(batch: Batch, width: int | None) -> list[str]:
    """Give a line for each column; the bar is how far it is behind the one that is ahead of all."""
    marks, delays = batch.of("watermark"), batch.of("delay")
    columns = sorted({**batch.of("lag"), **marks})
    name = max((len(column) for column in columns), default=0)
    room = _BAR if width is None else width - name - _AFTER_BAR - len("    ")
    bar = max(_SHORT_BAR, min(_BAR, room))
    ahead, behind = max(marks.values(), default=0), min(marks.values(), default=0)
    lines = []
    for column in columns:
        mark = marks.get(column)
        if mark is None:
            lines.append(f"  {column:<{name}} no watermark yet")
            continue
        length = bar - round((bar - 1) * (ahead - mark) / (ahead - behind or 1))
        if column in delays:
            delay = delays[column]
            where = "behind" if delay >= 0 else "after"
            text = f"{shown_time(mark)}, {shown_span(abs(delay))} {where} the clock"
        else:
            text = str(mark)
        lines.append(f"  {column:<{name}} {'#' * length:<{bar}} {text}")
    return lines


def _side_line(join: Join, side: str) -> str:
    metrics, end = join.last.metrics, side.capitalize()
    late = metrics.get(f"lateRows{end}", 0)
    return (
        f"  {side:<6} {metrics.get(f'inputRows{end}', 0)} in, {late} late, "
        f"{metrics.get(f'bufferedRows{end}', 0)} buffered "
        f"{_sparkline([b.metrics.get(f'bufferedRows{end}', 0) for b in join.batches])} "
        f"(so far {join.total(f'inputRows{end}')} in, {join.total(f'lateRows{end}')} late)"
    )


def _sparkline(values: Sequence[int]) -> str:
    levels = " .:-=+*#"
    shown = values[-_BAR:]
    most = max(shown, default=0) or 1
    return "[" + "".join(levels[round((len(levels) - 1) * v / most)] for v in shown) + "]"


def _drawing() -> Callable[[Sequence[Any]], None]:
    shell = _notebook()
    return _in_terminal(sys.stdout) if shell is None else shell


def _notebook() -> Callable[[Sequence[Any]], None] | None:
    """Draw in a notebook, where there is one; IPython in a terminal is a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython import display

    html: Any = display.HTML
    show: Any = display.display
    handle = show(html(""), display_id=True)

    def draw(progress: Sequence[Any]) -> None:
        text = "\n".join(escape(line) for line in render(progress))
        handle.update(html(f"<pre style='line-height:1.3'>{text}</pre>"))

    return draw


def _in_terminal(out: TextIO) -> Callable[[Sequence[Any]], None]:
    height = 0

    def draw(progress: Sequence[Any]) -> None:
        nonlocal height
        if not out.isatty():
            out.write("\n".join(render(progress)) + "\n")
            out.flush()
            return
        columns, rows = shutil.get_terminal_size()
        # a line that is wrapped, or has left the screen, could not be drawn over
        lines = [line[: columns - 1] for line in render(progress, columns - 1)[: rows - 1]]
        if height:
            # back to the first line, and clear to the end of the screen
            out.write(f"\x1b[{height}A\x1b[J")
        out.write("\n".join(lines) + "\n")
        out.flush()
        height = len(lines)

    return draw
