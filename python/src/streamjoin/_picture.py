"""The joins of a query as a picture for notebooks, in SVG without a plotting library.

Each join has three panels over the known batches. The first has the distance of the watermarks from
the clock, the second the buffered rows, and the third, in red, the late or dropped rows. If the
times are old, as in a replay of files, the first panel has the distance from the most advanced
watermark: relative to the clock, all lines would be flat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from streamjoin._diagnosis.inputs import rejected
from streamjoin._diagnosis.known import JoinKnown, Known
from streamjoin._diagnosis.subjects import Subject
from streamjoin._progress import shown_span
from streamjoin._view import SIDES, floor, header, late_share, name_of, of, others

_WIDTH, _PANEL, _TEXT, _LINE, _EDGE = 760, 84, 320, 16, 8

# Upper limit of the average width of a character, also in bold.
_CHARACTER = 7.2

# Colours of the left and the right input; red marks lost rows. Dashes distinguish the columns of
# one input, and the lines for readers who do not see colours.
_COLOURS = {"left": "#1565c0", "right": "#00838f"}
_OTHERS = (*_COLOURS.values(), "#6a1b9a", "#4e342e")
_RED, _GREY = "#c62828", "#9e9e9e"
_DASHES = ("", "6 3", "2 2", "8 3 2 3")

# The watermarks are drawn relative to each other if they are this many times further from the clock
# than from each other.
_OLD = 20

# The share of late rows from which they are written in red, as in the alerts.
_SHARE = 0.01


@dataclass(frozen=True)
class _Series:
    """One line of a panel: a value for each batch, and a text for the last batch."""

    name: str
    values: Sequence[int | None]
    text: str
    side: str | None
    alarm: bool = False

    @property
    def line(self) -> str:
        return f"{'▲ ' if self.alarm else ''}{self.name}: {self.text}"

    def colour(self, number: int) -> str:
        """Return the colour of the input, or by number if the input is unknown."""
        return _OTHERS[number % len(_OTHERS)] if self.side is None else _COLOURS[self.side]


def picture(known: Known) -> str:
    """Draw the joins of a query."""
    if not known.progress:
        return "<p>no batch has ended yet</p>"
    drawings = [_join(known, join) for join in known.joins]
    if text := others(known):
        drawings.append(f"<pre>{escape(chr(10).join(text))}</pre>")
    drawn = "".join(drawings) or "<p>no join of this project</p>"
    return f"<div><p><b>{escape(header(known))}</b></p>{drawn}</div>"


def _join(known: Known, join: JoinKnown) -> str:
    marks, buffered, lost = _marks(join), _buffered(join), _lost(known, join)
    panels = [
        _lines(_title(join), marks, floor(join), _span_of(join)),
        _lines("rows buffered", buffered, 1, str),
        _bars("late and dropped rows of a batch", lost),
    ]
    longest = max(len(each.line) for each in (*marks, *buffered, *lost))
    width = max(_WIDTH, _TEXT + 3 * _EDGE + round(_CHARACTER * longest))
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
        f"<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{width}' "
        f"height='{height + 2 * _LINE}' font-family='sans-serif' font-size='12' "
        f"style='background:#fff'><title>{escape(text)}</title>{''.join(drawn)}</svg>"
    )


def _title(join: JoinKnown) -> str:
    ahead = _has_numbers(join) or _is_old(join)
    return f"watermarks behind the {'one that is ahead' if ahead else 'clock'}"


def _span_of(join: JoinKnown) -> Callable[[int], str]:
    return str if _has_numbers(join) else shown_span


def _has_numbers(join: JoinKnown) -> bool:
    return any(join.is_number(column) for column in join.reported.columns())


def _is_old(join: JoinKnown) -> bool:
    """Check whether the clock is too far away to draw distances from it."""
    delays = [list(delay.values()) for b in join.batches if (delay := b.of("delay"))]
    apart = max((max(each) - min(each) for each in delays), default=0)
    return bool(delays) and min(map(min, delays)) > _OLD * max(apart, floor(join))


def _marks(join: JoinKnown) -> list[_Series]:
    series = []
    old = _is_old(join)
    # in the order of the inputs
    for column in sorted(join.reported.columns(), key=lambda c: (join.side_of(c) or "", c)):
        delays = [_behind(join, column, n) for n in range(len(join.batches))]
        drawn = [_apart(join, column, n) for n in range(len(delays))] if old else delays
        mark = join.reported.last.of("watermark").get(column)
        text = "no watermark yet" if mark is None else join.time(column, mark)
        if mark is not None and delays[-1] is not None:
            text += (
                f", {join.span(column, abs(delays[-1]))} {'behind' * (delays[-1] >= 0) or 'after'}"
                f"{' the clock' * old}"
            )
        series.append(_Series(join.said(column), drawn, text, join.side_of(column)))
    return series


def _behind(join: JoinKnown, column: str, number: int) -> int | None:
    """Return how far a watermark is behind the clock or, for numbers, behind the largest one."""
    delay = join.batches[number].of("delay").get(column)
    return _apart(join, column, number) if delay is None else delay


def _apart(join: JoinKnown, column: str, number: int) -> int | None:
    """Return how far a watermark is behind the most advanced one."""
    marks = join.batches[number].of("watermark")
    mark = marks.get(column)
    return None if mark is None else max(marks.values()) - mark


def _buffered(join: JoinKnown) -> list[_Series]:
    return [
        _Series(
            name_of(join, side),
            [b.metrics.get(of("bufferedRows", side), 0) for b in join.batches],
            f"{join.reported.last.metrics.get(of('bufferedRows', side), 0)} rows",
            side,
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
        series.append(_Series(name_of(join, side), values, text, side, alarm))
    return series


def _lines(
    title: str, series: list[_Series], least: int, said: Callable[[int], str]
) -> tuple[str, int]:
    """Draw a line for each series; the scale spans at least `least`, so small values look small."""
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
            f"<polyline fill='none' stroke='{each.colour(n)}' stroke-width='2' "
            f"stroke-dasharray='{_DASHES[n % len(_DASHES)]}' points='{points}'/>"
        )
        if points:
            # one batch makes no line yet
            x, y = points.split(" ")[-1].split(",")
            drawn.append(f"<circle cx='{x}' cy='{y}' r='3' fill='{each.colour(n)}'/>")
    drawn.append(_zero(bottom, top))
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
    drawn.append(_zero(0, top))
    return _panel(f"{title} (scale {top})", series, "".join(drawn))


def _zero(bottom: int, top: int) -> str:
    y = _y(0, bottom, top)
    return f"<line x1='{_EDGE}' x2='{_TEXT}' y1='{y:.1f}' y2='{y:.1f}' stroke='{_GREY}'/>"


def _panel(title: str, series: list[_Series], drawn: str) -> tuple[str, int]:
    """Compose a panel: the title above the drawing, and names with the last values next to it."""
    rows = []
    for n, each in enumerate(series):
        y = 2 * _LINE + n * _LINE
        colour = _RED if each.alarm else each.colour(n)
        weight = "bold" if each.alarm else "normal"
        rows.append(
            f"<text x='{_TEXT + 2 * _EDGE}' y='{y}' fill='{colour}' font-weight='{weight}'>"
            f"{escape(each.line)}</text>"
        )
    size = max(_PANEL + 2 * _LINE, (len(series) + 3) * _LINE)
    heading = f"<text x='{_EDGE}' y='{_LINE - 4}' fill='#424242'>{escape(title)}</text>"
    return heading + drawn + "".join(rows), size


def _x(index: int, count: int) -> float:
    return _EDGE + (_TEXT - _EDGE) * (index / (count - 1) if count > 1 else 1)


def _y(value: int, bottom: int, top: int) -> float:
    return _LINE + _PANEL * (1 - (value - bottom) / ((top - bottom) or 1))
