"""Contradictory time bounds: the join buffers nothing and emits unmatched rows at once."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from streamjoin import stream_join
from tests.orders import WITHIN_THE_HOUR, Shop, met

NEVER = (
    "o.id = d.id AND d.delivery_time >= o.order_time + INTERVAL '2' HOUR "
    "AND d.delivery_time <= o.order_time + INTERVAL '1' HOUR"
)


@pytest.mark.parametrize(
    ("how", "on", "expected"),
    [
        ("inner", NEVER, []),
        ("left", NEVER, [(1, None)]),
        ("full", NEVER, [(1, None), (None, 1)]),
        # Spark's optimizer reduces these to FALSE or NULL.
        ("left", f"{WITHIN_THE_HOUR} AND 1 > 2", [(1, None)]),
        ("full", f"{WITHIN_THE_HOUR} AND CAST(NULL AS BOOLEAN)", [(1, None), (None, 1)]),
    ],
)
def test_contradictory_bounds_emit_at_once_and_buffer_nothing(
    shop: Shop, how: str, on: str, expected: list[tuple[int | None, int | None]]
) -> None:
    run = shop.joined(how, on)
    shop.order((1, "10:00"))
    shop.deliver((1, "11:30"))
    assert met(run.step()) == expected
    assert run.operator()["numRowsTotal"] == 0


@pytest.mark.parametrize(
    "on", [NEVER.replace("o.id = d.id AND ", ""), f"{WITHIN_THE_HOUR} AND 1 > 2"]
)
def test_join_that_never_matches_replicates_no_row(
    shop: Shop, capsys: pytest.CaptureFixture[str], on: str
) -> None:
    result = stream_join(shop.ordered(), shop.delivered(), on, "full")
    result.explain()
    plan = capsys.readouterr().out
    assert "no two rows can match: each is sent to one partition" in plan
    assert plan.count("Exchange hashpartitioning") == 2
    run = shop.run(result)
    shop.order((1, "10:00"), (2, "10:01"), (3, None))
    shop.deliver((1, "11:30"), (4, "11:31"))
    assert met(run.step()) == [(1, None), (2, None), (3, None), (None, 1), (None, 4)]


def test_aggregation_above_contradictory_join_closes_windows(shop: Shop) -> None:
    joined = stream_join(shop.ordered(), shop.delivered(), NEVER, "left")
    hours = joined.groupBy(F.window("order_time", "1 hour")).count().select("window.start", "count")
    run = shop.run(hours)
    shop.order((1, "10:00"), (2, "10:30"))
    shop.deliver((1, "10:00"))
    run.step()
    shop.order((3, "12:30"))
    shop.deliver((2, "12:30"))
    run.step()
    assert [(start.hour, count) for start, count in run.rows()] == [(10, 2)]


def test_explain_reports_contradictory_bounds(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    stream_join(shop.ordered(), shop.delivered(), NEVER, "left").explain()
    text = capsys.readouterr().out
    reason = "is not buffered: the time bounds contradict each other, so no two rows can match"
    assert f"a row of o {reason}; it is emitted at once\n" in text
    assert f"a row of d {reason}\n" in text


def test_explain_reports_condition_that_is_never_true(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    never = WITHIN_THE_HOUR + " AND 1 = 2"
    stream_join(shop.ordered(), shop.delivered(), never, "left").explain()
    text = capsys.readouterr().out
    reason = "is not buffered: the condition is never true, so no two rows can match"
    assert f"a row of o {reason}; it is emitted at once\n" in text
    assert "condition false: no bound: it is the same for all rows\n" in text
