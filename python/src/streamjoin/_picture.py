"""The joins of a query as a picture for notebooks: SVG, drawn by hand.

Each join has three panels over the known batches: the distance of the watermarks from the clock,
the buffered rows, and in red the late or dropped rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from streamjoin._diagnosis.known import JoinKnown, Known
from streamjoin._diagnosis.subjects import Subject
from streamjoin._diagnosis.watermarks import rejected
from streamjoin._progress import shown_span
from streamjoin._view import SIDES, floor, header, late_share, name_of, of

_WIDTH, _PANEL, _TEXT, _LINE, _EDGE = 760, 84, 320, 16, 8

# Of the left input and the right one, told apart also where colours are not seen; red is for what
# is lost.
_COLOURS, _RED, _GREY = ("#1565c0", "#00838f", "#6a1b9a", "#4e342e"), "#c62828", "#9e9e9e"
_DASHES = ("", "6 3", "2 2", "8 3 2 3")

# From how large a share on late rows are written in red: that of the alerts.
_SHARE = 0.01


@dataclass(frozen=True)
class _Series:
    """What one line of a panel shows: a value for each batch, and the text of the last one."""

    name: str
    values: Sequence[int | None]
    text: str
    alarm: bool = False


def picture(known: Known) -> str:
    """Draw the joins of a query."""
    if not known.progress:
        return "<p>no batch has run yet</p>"
    if not known.joins:
        return f"<p><b>{escape(header(known))}</b></p><p>no join of this project</p>"
    drawings = [_join(known, join) for join in known.joins]
    return f"<div><p><b>{escape(header(known))}</b></p>{''.join(drawings)}</div>"


def _join(known: Known, join: JoinKnown) -> str:
    panels = [
        _lines(_title(join), _marks(join), floor(join), _span_of(join)),
        _lines("rows buffered", _buffered(join), 1, str),
        _bars("late and dropped rows of a batch", _lost(known, join)),
    ]
    height = 0
    drawn = []
    for panel, size in panels:
        drawn.append(f"<g transform='translate(0,{height})'>{panel}</g>")
        height += size
    metrics = join.reported.last.metrics
    out = (
        f"{metrics.get('joinedRows', 0)} pairs and {metrics.get('nullPaddedRows', 0)} rows without "
        f"a match in this batch; {join.reported.total('joinedRows')} and "
        f"{join.reported.total('nullPaddedRows')} so far"
    )
    text = f"join {join.reported.position}: {out}"
    drawn.append(f"<text x='{_EDGE}' y='{height + _LINE}'>{escape(text)}</text>")
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{_WIDTH}' "
        f"height='{height + 2 * _LINE}' font-family='sans-serif' font-size='12' "
        f"style='background:#fff'><title>{escape(text)}</title>{''.join(drawn)}</svg>"
    )


def _title(join: JoinKnown) -> str:
    if any(join.is_number(column) for column in join.reported.columns()):
        return "watermarks behind the one that is ahead"
    return "watermarks behind the clock"


def _span_of(join: JoinKnown) -> Callable[[int], str]:
    numbers = any(join.is_number(column) for column in join.reported.columns())
    return str if numbers else shown_span


def _marks(join: JoinKnown) -> list[_Series]:
    series = []
    # in the order of the inputs, whose colours they have
    for column in sorted(join.reported.columns(), key=lambda c: (join.side_of(c) or "", c)):
        delays = [_behind(join, column, n) for n in range(len(join.batches))]
        mark = join.reported.last.of("watermark").get(column)
        text = "no watermark yet" if mark is None else join.time(column, mark)
        if mark is not None and delays[-1] is not None:
            text += (
                f", {join.span(column, abs(delays[-1]))} {'behind' * (delays[-1] >= 0) or 'after'}"
            )
        series.append(_Series(join.said(column), delays, text))
    return series


def _behind(join: JoinKnown, column: str, number: int) -> int | None:
    """Give how far a watermark is behind the clock or, of numbers, behind the largest one."""
    batch = join.batches[number]
    delay = batch.of("delay").get(column)
    if delay is not None:
        return delay
    mark = batch.of("watermark").get(column)
    return None if mark is None else max(batch.of("watermark").values()) - mark


def _buffered(join: JoinKnown) -> list[_Series]:
    return [
        _Series(
            name_of(join, side),
            [b.metrics.get(of("bufferedRows", side), 0) for b in join.batches],
            f"{join.reported.last.metrics.get(of('bufferedRows', side), 0)} rows",
        )
        for side in SIDES
    ]


def _lost(known: Known, join: JoinKnown) -> list[_Series]:
    series = []
    for side in SIDES:
        late, rows = late_share(join, side)
        ahead = rejected(Subject(known, join, side))
        # rows that max_ahead keeps are not lost
        metrics = [of("lateRows", side), *([of("aheadRows", side)] if ahead else [])]
        values = [sum(b.metrics.get(m, 0) for m in metrics) for b in join.batches]
        dropped = f", {ahead} further ahead than max_ahead" if ahead else ""
        text = f"{late} of {rows} late so far{dropped}"
        alarm = late >= max(1, _SHARE * rows) or ahead > 0
        series.append(_Series(name_of(join, side), values, text, alarm))
    return series


def _lines(
    title: str, series: list[_Series], least: int, said: Callable[[int], str]
) -> tuple[str, int]:
    """Draw a line for each series; the scale is at least so large that little looks like little."""
    values = [v for each in series for v in each.values if v is not None]
    top, bottom = max([*values, least]), min([*values, 0])
    drawn = []
    for n, each in enumerate(series):
        points = " ".join(
            f"{_x(i, len(each.values)):.1f},{_y(v, bottom, top):.1f}"
            for i, v in enumerate(each.values)
            if v is not None
        )
        drawn.append(
            f"<polyline fill='none' stroke='{_COLOURS[n % len(_COLOURS)]}' stroke-width='2' "
            f"stroke-dasharray='{_DASHES[n % len(_DASHES)]}' points='{points}'/>"
        )
    zero = _y(0, bottom, top)
    drawn.append(
        f"<line x1='{_EDGE}' x2='{_TEXT}' y1='{zero:.1f}' y2='{zero:.1f}' stroke='{_GREY}'/>"
    )
    return _panel(f"{title} (scale {said(top)})", series, "".join(drawn))


def _bars(title: str, series: list[_Series]) -> tuple[str, int]:
    top = max([v or 0 for each in series for v in each.values] + [1])
    drawn = []
    for n, each in enumerate(series):
        width = max(1.0, (_TEXT - _EDGE) / max(len(each.values), 1) / len(series) - 1)
        for i, value in enumerate(each.values):
            if value:
                y = _y(value, 0, top)
                x = _x(i, len(each.values) + 1) + n * (width + 1)
                drawn.append(
                    f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' "
                    f"height='{_y(0, 0, top) - y:.1f}' fill='{_RED}' "
                    f"fill-opacity='{1 - 0.4 * n}'/>"
                )
    return _panel(title, series, "".join(drawn))


def _panel(title: str, series: list[_Series], drawn: str) -> tuple[str, int]:
    """Put a title above what is drawn, and the names with the last values beside it."""
    rows = []
    for n, each in enumerate(series):
        y = 2 * _LINE + n * _LINE
        colour = _RED if each.alarm else _COLOURS[n % len(_COLOURS)]
        weight = "bold" if each.alarm else "normal"
        rows.append(
            f"<text x='{_TEXT + 2 * _EDGE}' y='{y}' fill='{colour}' font-weight='{weight}'>"
            f"{'&#9650; ' if each.alarm else ''}{escape(each.name)}: {escape(each.text)}</text>"
        )
    size = max(_PANEL + 2 * _LINE, (len(series) + 3) * _LINE)
    heading = f"<text x='{_EDGE}' y='{_LINE - 4}' fill='#424242'>{escape(title)}</text>"
    return heading + drawn + "".join(rows), size


def _x(index: int, count: int) -> float:
    return _EDGE + (_TEXT - _EDGE) * (index / (count - 1) if count > 1 else 1)


def _y(value: int, bottom: int, top: int) -> float:
    return _LINE + _PANEL * (1 - (value - bottom) / ((top - bottom) or 1))
