"""`watch`: a running query drawn from its progress reports."""

from __future__ import annotations

import io
import os
import sys
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from pyspark.errors import PySparkTypeError

import streamjoin
from streamjoin._diagnosis.known import Known
from streamjoin._diagnosis.plan import read
from streamjoin._picture import picture
from streamjoin._progress import reports
from streamjoin._watch import _in_terminal, _notebook, render
from streamjoin._zones import zone
from tests.orders import Shop

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
TEN = 1714816800000


def report(batch: int, **metrics: Any) -> dict[str, Any]:
    return {
        "batchId": batch,
        "name": "orders",
        "timestamp": "2024-05-04T10:30:00.000Z",
        "durationMs": {"triggerExecution": 1500},
        "stateOperators": [
            {"operatorName": "streamJoin", "customMetrics": {"joinedRows": 2, **metrics}}
        ],
    }


def test_render_shows_watermarks_rows_and_totals_of_a_join() -> None:
    first = report(0, inputRowsLeft=3, bufferedRowsLeft=1, **{"lag.dt": 0})
    second = report(
        1,
        inputRowsLeft=4,
        lateRowsLeft=1,
        bufferedRowsLeft=7,
        nullPaddedRows=1,
        **{
            "watermark.ot": TEN + 20 * MINUTE,
            "delay.ot": 10 * MINUTE,
            "watermark.dt": TEN,
            "delay.dt": -MINUTE,
        },
    )
    assert render([first, first]) == [
        "orders, batch 0: 2024-05-04T10:30:00.000Z, 1 second",
        "join 0",
        "  dt no watermark yet",
        "  left   3 rows in, 0 late, 1 buffered [#] (so far 3 in, 0 late)",
        "  right  0 rows in, 0 late, 0 buffered [ ] (so far 0 in, 0 late)",
        "  out    2 pairs, 0 without a match (so far 2, 0)",
    ]
    assert render([first, second])[2:] == [
        f"  dt #{' ' * 39} 2024-05-04 10:00:00, 1 minute after the clock",
        f"  ot {'#' * 40} 2024-05-04 10:20:00, 10 minutes behind the clock",
        "  left   4 rows in, 1 late, 7 buffered [.#] (so far 7 in, 1 late)",
        "  right  0 rows in, 0 late, 0 buffered [  ] (so far 0 in, 0 late)",
        "  out    2 pairs, 1 without a match (so far 4, 1)",
    ]


def test_render_without_a_batch_or_a_join() -> None:
    assert render([]) == ["no batch has ended yet"]
    assert render([{**report(0), "stateOperators": []}])[1] == "no join of this project"


def test_changelog_joins_and_ordered_outputs_are_shown() -> None:
    changes = {"changesOut": 4, "bufferedRowsLeft": 3, "lateRowsLeft": 1, "bufferedRowsRight": 2}
    operators = [
        {"operatorName": "streamOrder", "customMetrics": {"heldRows": 5, "lateRows": 2}},
        {"operatorName": "streamJoin", "customMetrics": changes},
    ]
    shown = [
        "changelog join 0",
        "  left   3 stored, 1 late (so far 2)",
        "  right  2 stored, 0 late (so far 0)",
        "  out    4 changes (so far 8)",
        "ordered output 0",
        "  5 buffered, 2 late (so far 4)",
    ]
    batches = [{**report(n), "stateOperators": operators} for n in range(2)]
    assert render(batches)[1:] == shown
    assert f"<pre>{chr(10).join(shown)}</pre></div>" in picture(Known(reports(batches)))
    for each in batches:
        each["stateOperators"] = [*report(0)["stateOperators"], *operators]
    assert render(batches)[1] == "join 0"
    assert render(batches)[-6:] == shown
    assert "</svg><pre>changelog join 0" in picture(Known(reports(batches)))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


MARKS = {"watermark.delivery_time": TEN + 20 * MINUTE, "watermark.ot": TEN}


def test_bars_fit_the_terminal_width() -> None:
    wide, narrow = (render([report(0, **MARKS)], width)[2:4] for width in (None, 90))
    assert wide == [
        f"  delivery_time {'#' * 40} {TEN + 20 * MINUTE}",
        f"  ot            #{' ' * 39} {TEN}",
    ]
    assert narrow[0].split()[1] == "#" * 14
    # at least eight characters
    assert render([report(0, **MARKS)], 30)[2].split()[1] == "#" * 8


@pytest.mark.parametrize("size", [(60, 24), (200, 4)])
def test_terminal_output_fits_and_is_redrawn_in_place(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    """Only lines that fit, without wrapping, because the next drawing overwrites them in place."""
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: os.terminal_size(size))
    columns, rows = size
    screen = Terminal()
    draw = _in_terminal(screen)
    draw([report(0, **MARKS)])
    first = screen.getvalue().splitlines()
    assert max(map(len, first)) < columns
    assert len(first) == min(rows - 1, 7)
    draw([report(1, **MARKS)])
    assert f"\n\x1b[{len(first)}A\x1b[Jorders, batch 1" in screen.getvalue()


def test_output_to_a_file_is_not_truncated() -> None:
    file = io.StringIO()
    _in_terminal(file)([report(0, **MARKS)])
    assert file.getvalue().splitlines() == render([report(0, **MARKS)])


PLAN_TEXT = """
+- StreamJoin LEFT OUTER, hash by [o.id] = [d.id], d.dt >= o.ot
   :  :- watermark of ot: the latest ot seen - 1 minute
   :  :- watermark of dt: the latest dt seen
   :  :- condition (d.dt >= o.ot): bound d.dt >= o.ot
   :  :- a row of o is buffered until the latest d.dt seen passes o.ot
   :  +- a row of d is buffered until the latest o.ot seen passes d.dt
   :- Exchange hashpartitioning(id#1, 2)
   +- Exchange hashpartitioning(id#2, 2)
"""
PLAN = read(PLAN_TEXT)


def close(behind: int, lag: int = MINUTE, **metrics: Any) -> dict[str, Any]:
    """A report in which one watermark is `behind` milliseconds below the other."""
    times = {
        **{"watermark.ot": TEN, "delay.ot": 2_000, "lag.ot": lag},
        **{"watermark.dt": TEN - behind, "delay.dt": 2_000 + behind, "lag.dt": 0},
    }
    return report(0, inputRowsLeft=10, inputRowsRight=10, **{**times, **metrics})


def bars(behind: int, lag: int) -> list[int]:
    return [line.count("#") for line in render([close(behind, lag)])[2:4]]


def test_bar_scale_spans_at_least_the_lag_or_a_second() -> None:
    """The scale spans at least a lag or a second, so small differences stay small."""
    assert bars(50, 0) == [38, 40]
    assert bars(50, MINUTE) == [40, 40]
    assert bars(30_000, MINUTE) == [20, 40]
    assert bars(10 * MINUTE, MINUTE) == [1, 40]


def test_render_uses_aliases_and_the_session_zone() -> None:
    tokyo = Known(reports([close(0)]), plan=lambda: PLAN, zone=zone("Asia/Tokyo"))
    lines = render(tokyo)
    assert lines[0] == "orders, batch 0: 2024-05-04T19:30:00.000+09:00, 1 second"
    assert lines[2].startswith("  d.dt ###")
    assert lines[2].endswith(" 2024-05-04 19:00:00, 2 seconds behind the clock")
    assert [line[:11] for line in lines[4:6]] == ["  o      10", "  d      10"]


def test_input_with_half_its_rows_late_is_marked_red(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Known(reports([close(0, lateRowsRight=5)]), plan=lambda: PLAN)
    left, right = render(known)[4:6]
    assert "(!)" not in left
    assert "10 rows in, 5 late (!), " in right
    assert right.endswith("  <- half of its rows or more are late")
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: os.terminal_size((60, 24)))
    screen = Terminal()
    _in_terminal(screen)(known)
    (red,) = [line for line in screen.getvalue().splitlines() if "\x1b[31m" in line]
    assert red.startswith("\x1b[31m  d      10 rows in, 5 late (!)")


def drawn(known: Known) -> ElementTree.Element:
    """The SVG of the first join, parsed as XML."""
    html = ElementTree.fromstring(picture(known).replace("▲", "!"))
    found = html.find("{http://www.w3.org/2000/svg}svg")
    assert found is not None
    return found


def test_picture_shows_lost_rows_in_red_and_lines_to_scale() -> None:
    batches = [
        {**close(50, lateRowsRight=late, bufferedRowsLeft=late), "batchId": late}
        for late in range(3)
    ]
    svg = drawn(Known(reports(batches), plan=lambda: PLAN))
    texts = {text.text: text.get("fill") for text in svg.iter() if text.tag.endswith("}text")}
    assert "o.ot: 2024-05-04 10:00:00, 2 seconds behind" in texts
    assert "watermarks behind the clock (scale 1 minute)" in texts
    assert "o: 2 rows" in texts
    # Lost rows are red: a sign, and the bars.
    assert texts["! d: 3 of 30 late so far"] == "#c62828"
    assert texts["o: 0 of 30 late so far"] != "#c62828"
    red = [bar for bar in svg.iter() if bar.tag.endswith("}rect")]
    assert [bar.get("fill") for bar in red] == ["#c62828"] * 2
    lines = [line for line in svg.iter() if line.tag.endswith("}polyline")]
    assert len(lines) == 4
    # 2 of 60 seconds above the zero line, not the whole panel
    heights = {point.split(",")[1] for point in str(lines[0].get("points")).split()}
    assert max(map(float, heights)) - min(map(float, heights)) < 1
    assert float(next(iter(heights))) > 90


def batch_of(at: int, behind: int, **metrics: Any) -> dict[str, Any]:
    """A batch of old data, in which one watermark is below the other."""
    old = {"delay.ot": 40 * DAY, "delay.dt": 40 * DAY + behind}
    return {**close(behind, **old, **metrics), "batchId": at}


def lines_of(svg: ElementTree.Element) -> list[list[float]]:
    """The y coordinates of each line, from the top."""
    return [
        [float(point.split(",")[1]) for point in str(line.get("points")).split()]
        for line in svg.iter()
        if line.tag.endswith("}polyline")
    ]


def texts_of(svg: ElementTree.Element) -> list[str]:
    return [str(text.text) for text in svg.iter() if text.tag.endswith("}text")]


def test_watermarks_of_old_data_are_drawn_relative_to_each_other() -> None:
    """Compared with the clock, a standing input and a live one would be one flat line."""
    batches = [batch_of(n, n * 5 * MINUTE) for n in range(3)]
    svg = drawn(Known(reports(batches), plan=lambda: PLAN))
    assert "watermarks behind the one that is ahead (scale 10 minutes)" in texts_of(svg)
    ahead, stands = lines_of(svg)[:2]
    assert ahead == [100.0] * 3
    assert stands == [100.0, 58.0, 16.0]
    # The texts compare with the clock.
    assert "o.ot: 2024-05-04 10:00:00, 40 days behind the clock" in texts_of(svg)


def test_input_has_the_same_colour_in_all_panels() -> None:
    svg = drawn(Known(reports([close(50)]), plan=lambda: PLAN))
    colours = {text.text: text.get("fill") for text in svg.iter() if text.tag.endswith("}text")}
    of_o, of_d = ({c for t, c in colours.items() if t and t.startswith(s)} for s in ("o", "d"))
    assert len(of_o) == len(of_d) == 1
    assert of_o != of_d


def test_picture_widens_for_long_names() -> None:
    named = read(str(PLAN_TEXT).replace("o.", f"{'o' * 60}.").replace("of o", f"of {'o' * 60}"))
    short = drawn(Known(reports([close(50)]), plan=lambda: PLAN))
    long = drawn(Known(reports([close(50)]), plan=lambda: named))
    longest = max(map(len, texts_of(long)))
    assert longest > 90
    assert short.get("width") == "760"
    # the x position of the texts, plus about 7 px a character
    assert int(str(long.get("width"))) >= 336 + 7 * longest


def test_single_batch_is_drawn_as_dots() -> None:
    svg = drawn(Known(reports([close(50)]), plan=lambda: PLAN))
    assert len([dot for dot in svg.iter() if dot.tag.endswith("}circle")]) == 4


def test_special_characters_keep_the_picture_well_formed() -> None:
    odd = {**report(0), "name": "<b> & 'c'"}
    drawn(Known(reports([odd])))
    assert "no join of this project" in picture(Known(reports([{**odd, "stateOperators": []}])))
    assert "no batch has ended yet" in picture(Known())


def test_notebook_replaces_the_previous_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark's progress bars between two batches are cleared with the previous picture."""
    seen: list[str] = []
    shell = SimpleNamespace(kernel=object())
    display = SimpleNamespace(
        HTML=lambda text: text,
        display=seen.append,
        clear_output=lambda wait: seen.append(f"cleared, wait {wait}"),
    )
    python = SimpleNamespace(get_ipython=lambda: shell, display=display)
    monkeypatch.setitem(sys.modules, "IPython", python)
    draw = _notebook()
    assert draw is not None
    draw(Known(reports([close(0)])))
    assert seen[0] == "cleared, wait True"
    assert "<svg" in seen[1]
    shell.__dict__.clear()
    assert _notebook() is None


def test_watch_follows_a_query_until_it_ends(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"))
    shop.deliver((1, "10:10"))
    query = run.start(availableNow=True)
    streamjoin.watch(query)
    assert not query.isActive
    seen = capsys.readouterr().out
    assert "out    1 pairs, 0 without a match" in seen
    assert "d.delivery_time" in seen
    assert "  o      1 row in, 0 late" in seen
    with pytest.raises(PySparkTypeError, match="query"):
        streamjoin.watch("orders")  # type: ignore[arg-type]
