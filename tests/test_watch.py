"""What is seen of a query while it runs, drawn from its reports."""

from __future__ import annotations

import io
import os
from typing import Any

import pytest
from pyspark.errors import PySparkTypeError

import streamjoin
from streamjoin._watch import _in_terminal, render
from tests.orders import Shop

MINUTE = 60_000
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


def test_a_join_in_a_few_lines() -> None:
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
        "  left   3 in, 0 late, 1 buffered [#] (so far 3 in, 0 late)",
        "  right  0 in, 0 late, 0 buffered [ ] (so far 0 in, 0 late)",
        "  out    2 pairs, 0 without a match (so far 2, 0)",
    ]
    assert render([first, second])[2:] == [
        f"  dt #{' ' * 39} 2024-05-04 10:00:00, 1 minute after the clock",
        f"  ot {'#' * 40} 2024-05-04 10:20:00, 10 minutes behind the clock",
        "  left   4 in, 1 late, 7 buffered [.#] (so far 7 in, 1 late)",
        "  right  0 in, 0 late, 0 buffered [  ] (so far 0 in, 0 late)",
        "  out    2 pairs, 1 without a match (so far 4, 1)",
    ]


def test_before_the_first_batch_and_without_a_join() -> None:
    assert render([]) == ["no batch has run yet"]
    assert render([{**report(0), "stateOperators": []}])[1] == "no join of this project"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


MARKS = {"watermark.delivery_time": TEN + 20 * MINUTE, "watermark.ot": TEN}


def test_bars_fit_names_and_width() -> None:
    wide, narrow = (render([report(0, **MARKS)], width)[2:4] for width in (None, 90))
    assert wide == [
        f"  delivery_time {'#' * 40} {TEN + 20 * MINUTE}",
        f"  ot            #{' ' * 39} {TEN}",
    ]
    assert narrow[0].split()[1] == "#" * 14
    # never none at all
    assert render([report(0, **MARKS)], 30)[2].split()[1] == "#" * 8


@pytest.mark.parametrize("size", [(60, 24), (200, 4)])
def test_lines_stay_in_their_place_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    """As many as fit, none wrapped: the next drawing goes back over all of them."""
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size(size))
    columns, rows = size
    screen = Terminal()
    draw = _in_terminal(screen)
    draw([report(0, **MARKS)])
    first = screen.getvalue().splitlines()
    assert max(map(len, first)) < columns
    assert len(first) == min(rows - 1, 7)
    draw([report(1, **MARKS)])
    assert f"\n\x1b[{len(first)}A\x1b[Jorders, batch 1" in screen.getvalue()


def test_a_file_has_all_of_each_line() -> None:
    file = io.StringIO()
    _in_terminal(file)([report(0, **MARKS)])
    assert file.getvalue().splitlines() == render([report(0, **MARKS)])


def test_a_query_until_it_ends(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"))
    shop.deliver((1, "10:10"))
    query = run.start(availableNow=True)
    streamjoin.watch(query)
    assert not query.isActive
    seen = capsys.readouterr().out
    assert "out    1 pairs, 0 without a match" in seen
    assert "delivery_time" in seen
    with pytest.raises(PySparkTypeError, match="query"):
        streamjoin.watch("orders")  # type: ignore[arg-type]
