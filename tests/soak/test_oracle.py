"""The oracle detects errors: a synthetic correct run, then one change to it."""

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
    # order 1 delivered and returned exactly at the bounds, 2 delivered too late, 3 unmatched
    Batch(
        0,
        rows([(1, 1), (2, 1), (3, 1)], [(1, 2), (2, 2.1)], [(1, 4)]),
        [(1, at(1), at(2), "Ada", at(4))],
    ),
    # The watermarks advance to 6. These rows are not late: the previous watermarks decide.
    Batch(
        1,
        rows([(4, 9), (5, 5)], [(9, 9)], [(9, 9)]),
        [(2, at(1), None, None, None), (3, at(1), None, None, None)],
    ),
    # A late order, whose delivery is unmatched. An order at the watermark is not late.
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


def test_oracle_accepts_a_correct_run() -> None:
    oracle, afters = take(RUN)
    assert oracle.undecided() == [-3, -2, -1]
    assert oracle.checked_rows == 6
    assert [after.late["orders"] for after in afters] == [0, 0, 1, 0]
    assert not any(after.late[topic] for after in afters for topic in ("deliveries", "returns"))
    assert afters[1].watermarks == {topic: at(6) for topic in ("orders", "deliveries", "returns")}
    # At first three orders, two deliveries, a return, and order 1 joined with its delivery.
    assert [after.most_buffered for after in afters] == [7, 8, 12, 3]


def changed(batch: int, change: Callable[[list[Any]], list[Any]]) -> list[Batch]:
    run = list(RUN)
    run[batch] = replace(run[batch], given=change(list(run[batch].given)))
    return run


WRONG = {
    "missing row": (changed(3, lambda given: given[1:]), "order 4, .*missing Counter.*None"),
    "duplicate row": (changed(3, lambda given: given + given[2:]), "order 7, .*too many"),
    "duplicate row in a later batch": (changed(3, lambda given: [*given, RUN[1].given[0]]), "2"),
    "padded instead of matched": (
        changed(0, lambda given: [(1, at(1), at(2), "Ada", None)]),
        "order 1, ",
    ),
    "late row joined": (
        changed(2, lambda given: [(6, at(5.9), at(6.5), "Ada", None)]),
        "order 6, ",
    ),
    "row after its order is final": (
        changed(3, lambda given: [*given, (3, at(1), None, None, None)]),
        "3",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_oracle_rejects_a_wrong_run(what: str) -> None:
    run, error = WRONG[what]
    with pytest.raises(WrongResultError, match=error):
        take(run)


def progress() -> dict[str, Any]:
    """The report after the third batch, in which one row was late."""
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


def test_check_accepts_a_correct_report() -> None:
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
def test_check_rejects_wrong_metrics(join: int, metric: str, value: int, error: str) -> None:
    report = progress()
    report["stateOperators"][join]["customMetrics"][metric] = value
    with pytest.raises(WrongResultError, match=error):
        check(report, take(RUN)[1][2])


def test_check_rejects_more_buffered_rows_than_expected() -> None:
    report = progress()
    report["stateOperators"][1]["numRowsTotal"] += 1
    with pytest.raises(WrongResultError, match="13 rows are buffered"):
        check(report, take(RUN)[1][2])
