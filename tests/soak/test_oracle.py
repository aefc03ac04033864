"""The oracle sees what is wrong: a made-up run, right at first, then with one thing changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.kafka.orders import START
from tests.soak.checks import check
from tests.soak.oracle import After, Batch, Oracle, WrongResultError


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def rows(
    orders: Sequence[tuple[int, float]] = (),
    deliveries: Sequence[tuple[int, float]] = (),
    returns: Sequence[tuple[int, float]] = (),
) -> dict[str, list[dict[str, Any]]]:
    courier = {"courier": "Ada"}
    return {
        "orders": [{"order_id": n, "order_time": at(h).isoformat()} for n, h in orders],
        "deliveries": [
            {"order_id": n, "delivery_time": at(h).isoformat(), **courier} for n, h in deliveries
        ],
        "returns": [{"order_id": n, "return_time": at(h).isoformat()} for n, h in returns],
    }


RUN = [
    # order 1 delivered and returned at the very bounds, 2 delivered too late, 3 without anything
    Batch(
        0,
        rows([(1, 1), (2, 1), (3, 1)], [(1, 2), (2, 2.1)], [(1, 4)]),
        [(1, at(1), at(2), "Ada", at(4))],
    ),
    # the watermarks come to 6: these are no late rows, for they are judged by those of before
    Batch(
        1,
        rows([(4, 9), (5, 5)], [(9, 9)], [(9, 9)]),
        [(2, at(1), None, None, None), (3, at(1), None, None, None)],
    ),
    # a late order, whose delivery finds nothing; an order at the watermark is not late
    Batch(2, rows([(6, 5.9), (7, 6)], [(6, 6.5), (7, 6.5)]), []),
    Batch(
        3,
        rows([(-1, 99)], [(-2, 99)], [(-3, 99)]),
        [
            (4, at(9), None, None, None),
            (5, at(5), None, None, None),
            (7, at(6), at(6.5), "Ada", None),
        ],
    ),
]


def take(run: Sequence[Batch]) -> tuple[Oracle, list[After]]:
    oracle = Oracle()
    return oracle, [oracle.take(batch) for batch in run]


def test_a_run_as_it_should_be() -> None:
    oracle, afters = take(RUN)
    assert oracle.undecided() == [-3, -2, -1]
    assert oracle.checked_rows == 6
    assert [after.late["orders"] for after in afters] == [0, 0, 1, 0]
    assert not any(after.late[topic] for after in afters for topic in ("deliveries", "returns"))
    assert afters[1].watermarks == {topic: at(6) for topic in ("orders", "deliveries", "returns")}
    # at first three orders, two deliveries, a return, and order 1 with its delivery
    assert [after.most_buffered for after in afters] == [7, 8, 12, 3]


def changed(batch: int, change: Callable[[list[Any]], list[Any]]) -> list[Batch]:
    run = list(RUN)
    run[batch] = replace(run[batch], given=change(list(run[batch].given)))
    return run


WRONG = {
    "a row is missing": (changed(3, lambda given: given[1:]), "order 4, .*missing Counter.*None"),
    "a row comes twice": (changed(3, lambda given: given + given[2:]), "order 7, .*too many"),
    "a row twice, the second late": (changed(3, lambda given: [*given, RUN[1].given[0]]), "2"),
    "a match comes padded": (
        changed(0, lambda given: [(1, at(1), at(2), "Ada", None)]),
        "order 1, ",
    ),
    "a late row takes part": (
        changed(2, lambda given: [(6, at(5.9), at(6.5), "Ada", None)]),
        "order 6, ",
    ),
    "a row too late for its order": (
        changed(3, lambda given: [*given, (3, at(1), None, None, None)]),
        "3",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_run(what: str) -> None:
    run, error = WRONG[what]
    with pytest.raises(WrongResultError, match=error):
        take(run)


def progress() -> dict[str, Any]:
    """What the query says after the second of two batches, of which one row was late."""
    lower = {
        "lateRowsLeft": 1,
        "lateRowsRight": 0,
        "watermark.order_time": 1_714_802_400_000,
        "watermark.delivery_time": 1_714_802_400_000,
    }
    upper = {
        "lateRowsLeft": 0,
        "lateRowsRight": 0,
        "watermark.return_time": 1_714_802_400_000,
        "watermark.order_time": 1_714_791_600_000,
    }
    return {
        "batchId": 2,
        "stateOperators": [
            {"operatorName": "streamJoin", "numRowsTotal": 4, "customMetrics": upper},
            {"operatorName": "streamJoin", "numRowsTotal": 8, "customMetrics": lower},
        ],
    }


def test_a_report_as_it_should_be() -> None:
    check(progress(), take(RUN)[1][2])


@pytest.mark.parametrize(
    ("join", "metric", "value", "error"),
    [
        (1, "lateRowsLeft", 0, "1 of orders are late, not 0"),
        (0, "lateRowsRight", 2, "0 of returns are late, not 2"),
        (0, "lateRowsLeft", 1, "between the joins"),
        (1, "watermark.delivery_time", 1_714_802_399_999, "watermark of deliveries is"),
        (0, "watermark.return_time", 1_714_802_400_001, "watermark of returns is"),
    ],
)
def test_a_wrong_report(join: int, metric: str, value: int, error: str) -> None:
    report = progress()
    report["stateOperators"][join]["customMetrics"][metric] = value
    with pytest.raises(WrongResultError, match=error):
        check(report, take(RUN)[1][2])


def test_a_state_of_more_than_what_is_undecided() -> None:
    report = progress()
    report["stateOperators"][1]["numRowsTotal"] += 1
    with pytest.raises(WrongResultError, match="13 rows are buffered"):
        check(report, take(RUN)[1][2])
