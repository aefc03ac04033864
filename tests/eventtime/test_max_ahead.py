"""Times more than `max_ahead` ahead of the clock do not advance the watermark."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order
from tests.explained import explained
from tests.orders import WITHIN_THE_HOUR, Shop, at, met
from tests.streams import Landing, Run

POISON = "2200-01-01T00:00:00"


def poison_orders(shop: Shop, *ids: int) -> None:
    shop.orders.land(*({"id": i, "order_time": POISON} for i in ids))


def guarded(shop: Shop, how: str = "left", **options: Any) -> Run:
    left = shop.ordered(**{"max_ahead": "5 minutes", **options})
    return shop.run(left.streamJoin(shop.delivered(), WITHIN_THE_HOUR, how))


@pytest.mark.connect
def test_without_max_ahead_one_future_row_makes_later_rows_late(shop: Shop) -> None:
    run = shop.joined("left")
    poison_orders(shop, 7)
    run.step()
    shop.order((1, "10:00"))
    shop.deliver((1, "10:30"))
    assert met(run.step()) == []
    assert run.metrics()["lateRowsLeft"] == 1
    assert run.metrics()["aheadRowsLeft"] == 0


@pytest.mark.connect
def test_row_beyond_max_ahead_is_dropped_and_counted(shop: Shop) -> None:
    run = guarded(shop)
    poison_orders(shop, 7, 8)
    shop.order((2, "10:00"))
    assert run.step() == {0: []}
    assert (run.metrics()["aheadRowsLeft"], run.metrics()["aheadRowsRight"]) == (2, 0)
    assert run.metrics()["bufferedRowsLeft"] == 1
    shop.order((1, "10:00"), (3, "12:00"))
    shop.deliver((1, "10:30"), (9, "12:00"))
    # The watermark of orders is 12:00, not in 2200.
    assert met(run.step()) == [(1, 1), (2, None)]
    assert run.total("lateRowsLeft") == 0
    assert run.total("aheadRowsLeft") == 2


@pytest.mark.connect
def test_ahead_keep_joins_the_row_without_advancing_the_watermark(shop: Shop) -> None:
    run = guarded(shop, ahead="keep")
    poison_orders(shop, 7)
    run.step()
    assert (run.metrics()["aheadRowsLeft"], run.metrics()["bufferedRowsLeft"]) == (1, 1)
    assert "watermark.order_time" not in run.metrics()
    shop.order((1, "10:00"), (3, "12:00"))
    shop.deliver((1, "10:30"))
    assert met(run.step()) == [(1, 1)]
    # The row is joined like any other.
    shop.deliveries.land({"id": 7, "delivery_time": POISON})
    assert met(run.step()) == [(3, None), (7, 7)]
    assert run.total("lateRowsLeft") == 0


@pytest.mark.connect
def test_max_ahead_guards_only_the_input_that_sets_it(shop: Shop) -> None:
    run = guarded(shop)
    shop.deliveries.land({"id": 7, "delivery_time": POISON})
    run.step()
    shop.deliver((1, "10:30"))
    run.step()
    assert run.metrics()["lateRowsRight"] == 1
    assert run.total("aheadRowsRight") == 0


KINDS = {
    "TIMESTAMP": "current_timestamp() + id * INTERVAL '1' SECOND",
    "TIMESTAMP_NTZ": "localtimestamp() + id * INTERVAL '1' SECOND",
    "DATE": "date_add(to_date(current_timestamp() + INTERVAL '10' SECOND), id - 10)",
}


@pytest.mark.connect
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland"])
@pytest.mark.parametrize("kind", KINDS)
def test_time_exactly_at_max_ahead_is_accepted(
    spark: SparkSession, tmp_path: Path, kind: str, zone: str
) -> None:
    """The query computes its times from the batch time, so they hit the limit exactly."""
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        landing = Landing(spark, tmp_path / "l", "id INT")
        rows = landing.stream().selectExpr("id", f"{KINDS[kind]} AS t")
        left = impose_order(rows, "t", "0 seconds", max_ahead=timedelta(seconds=10)).alias("l")
        right = impose_order(rows, "t", "0 seconds").alias("r")
        run = Run(left.streamJoin(right, "l.id = r.id AND l.t = r.t"), tmp_path / "c")
        landing.land({"id": 9}, {"id": 10}, {"id": 11})
        (found,) = run.step().values()
        assert sorted(row[0] for row in found) == [9, 10]
        assert run.metrics()["aheadRowsLeft"] == 1
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_rerun_batch_measures_max_ahead_from_its_recorded_time(shop: Shop) -> None:
    run = guarded(shop)
    shop.order((1, "10:00"), (2, "10:06"))
    run.step()
    assert run.metrics()["aheadRowsLeft"] == 0
    # as if the batch had been planned at 10:00 on that day, and the process killed before its end
    offsets = run.checkpoint / "offsets" / "0"
    version, planned, *sources = offsets.read_text().splitlines()
    recorded = json.loads(planned)
    began = datetime.fromisoformat(f"{at('10:00')}+00:00")
    recorded["batchTimestampMs"] = int(began.timestamp() * 1000)
    offsets.write_text("\n".join([version, json.dumps(recorded), *sources]))
    (run.checkpoint / "commits" / "0").unlink()
    for hidden in [*run.checkpoint.glob("offsets/.*.crc"), *run.checkpoint.glob("commits/.*.crc")]:
        hidden.unlink()
    again = guarded(shop)
    again.step()
    assert again.operators()[0]["customMetrics"]["aheadRowsLeft"] == 1


@pytest.mark.connect
def test_max_ahead_may_change_at_a_restart(shop: Shop) -> None:
    guarded(shop, ahead="keep").step()
    for options in ({"max_ahead": "1 hour"}, {"max_ahead": None}, {"ahead": "keep"}):
        shop.order((1, "10:00"))
        run = guarded(shop, **options)
        run.step()
        assert run.total("lateRowsLeft") == 0
    shop.deliver((1, "10:30"))
    assert met(guarded(shop).step()) == [(1, 1)] * 3


@pytest.mark.connect
@pytest.mark.parametrize("ahead", ["reject", "keep"])
def test_future_row_does_not_close_windows_above_a_join(shop: Shop, ahead: str) -> None:
    left = shop.ordered("1 minute", max_ahead="5 minutes", ahead=ahead)
    right = shop.delivered("1 minute", max_ahead="5 minutes", ahead=ahead)
    joined = left.streamJoin(right, WITHIN_THE_HOUR)
    run = shop.run(hourly(joined))
    poison_orders(shop, 7)
    shop.deliveries.land({"id": 7, "delivery_time": POISON})
    shop.order((1, "10:00"))
    shop.deliver((1, "10:10"))
    run.step()
    shop.order((2, "10:20"), (3, "14:00"))
    shop.deliver((2, "10:30"), (3, "14:00"))
    run.step()
    assert counts(run) == [("2024-05-04 10:00", 2)]


@pytest.mark.connect
@pytest.mark.parametrize("ahead", ["reject", "keep"])
def test_future_row_does_not_close_windows_without_a_join(shop: Shop, ahead: str) -> None:
    run = shop.run(hourly(shop.ordered("1 minute", max_ahead="5 minutes", ahead=ahead)))
    poison_orders(shop, 7)
    run.step()
    shop.order((1, "10:00"), (2, "10:30"), (3, "11:02"))
    run.step()
    assert counts(run) == [("2024-05-04 10:00", 2)]


def hourly(rows: DataFrame) -> DataFrame:
    windows = rows.groupBy(F.window("order_time", "1 hour")).count()
    return windows.selectExpr("date_format(window.start, 'yyyy-MM-dd HH:mm')", "count")


def counts(run: Run) -> list[tuple[Any, ...]]:
    return sorted(run.rows())


@pytest.mark.connect
def test_chain_counts_an_ahead_row_only_in_its_first_join(shop: Shop, tmp_path: Path) -> None:
    returns = Landing(shop.session, tmp_path / "returns", "id INT, return_time TIMESTAMP")
    first = shop.ordered(max_ahead="5 minutes").streamJoin(shop.delivered(), WITHIN_THE_HOUR)
    third = impose_order(returns.stream(), "return_time", "0 seconds", max_ahead="0 seconds")
    run = shop.run(
        first.streamJoin(
            third.alias("r"),
            "r.id = o.id AND r.return_time BETWEEN d.delivery_time AND "
            "d.delivery_time + INTERVAL '1' HOUR",
        )
    )
    poison_orders(shop, 7, 8)
    returns.land({"id": 7, "return_time": POISON})
    shop.order((1, "10:00"))
    shop.deliver((1, "10:30"))
    run.step()
    seen = [s["customMetrics"] for s in run.progress[0]["stateOperators"]]
    found = sorted((m["aheadRowsLeft"], m["aheadRowsRight"]) for m in seen)
    assert found == [(0, 1), (2, 0)]


@pytest.mark.connect
def test_union_applies_max_ahead_of_each_branch(shop: Shop) -> None:
    near, far = shop.ordered(max_ahead="5 minutes"), shop.ordered(max_ahead="365000 days")
    left = near.union(far).alias("o")
    run = shop.run(left.streamJoin(shop.delivered(), WITHIN_THE_HOUR))
    poison_orders(shop, 7, 8)
    run.step()
    assert (run.metrics()["aheadRowsLeft"], run.metrics()["bufferedRowsLeft"]) == (2, 2)


def test_input_with_only_rows_beyond_max_ahead_counts_as_idle(shop: Shop) -> None:
    idle = shop.delivered(idle_timeout="1 second", max_ahead="5 minutes")
    run = shop.run(shop.ordered().streamJoin(idle, WITHIN_THE_HOUR, "left"))
    shop.order((1, "10:00"))
    shop.deliver((5, "10:00"))
    run.step()
    query = run.start(processingTime="0 seconds")
    shop.order((2, "12:00"))
    give_up = time.monotonic() + 120
    while (1, None) not in met(run.batches) and query.isActive:
        assert time.monotonic() < give_up
        shop.deliveries.land({"id": 7, "delivery_time": POISON})
        query.processAllAvailable()
    query.stop()
    assert met(run.batches) == [(1, None)]


@pytest.mark.connect
def test_sql_impose_order_accepts_max_ahead_and_ahead(shop: Shop, spark: SparkSession) -> None:
    shop.orders.stream().createOrReplaceTempView("orders_ahead")
    ordered = spark.sql(
        "SELECT * FROM IMPOSE_ORDER(TABLE(orders_ahead), DESCRIPTOR(order_time), "
        "INTERVAL '0' SECOND, max_ahead => INTERVAL '5' MINUTE, ahead => 'keep')"
    ).alias("o")
    run = shop.run(ordered.streamJoin(shop.delivered(), WITHIN_THE_HOUR))
    poison_orders(shop, 7)
    run.step()
    assert (run.metrics()["aheadRowsLeft"], run.metrics()["bufferedRowsLeft"]) == (1, 1)


@pytest.mark.connect
@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        ("reject", "does not advance it, and its row is dropped"),
        ("keep", "does not advance it"),
    ],
)
def test_explain_states_max_ahead(
    shop: Shop, capsys: pytest.CaptureFixture[str], ahead: str, expected: str
) -> None:
    left = shop.ordered("1 minute", max_ahead="5 minutes", ahead=ahead)
    text = explained(left.streamJoin(shop.delivered(), WITHIN_THE_HOUR), capsys)
    assert text.splitlines()[:2] == [
        "watermark of order_time: the latest order_time seen - 1 minute; a time more than "
        f"5 minutes ahead of its batch {expected}",
        "watermark of delivery_time: the latest delivery_time seen",
    ]


@pytest.mark.parametrize(
    ("column", "given", "condition", "hint"),
    [
        ("order_time", "-1 minute", "NEGATIVE_LAG", "max_ahead"),
        ("order_time", "1 month", "CALENDAR_INTERVAL", "INTERVAL '31' DAY"),
        ("order_time", "soon", "INVALID_LAG", "max_ahead 'soon'"),
        ("id", "1 minute", "INVALID_LAG", "numbers cannot be compared with a clock"),
    ],
)
def test_invalid_max_ahead_is_refused(
    shop: Shop, column: str, given: str, condition: str, hint: str
) -> None:
    lag = 0 if column == "id" else "0 seconds"
    with pytest.raises(AnalysisException) as refused:
        impose_order(shop.orders.stream(), column, lag, max_ahead=given)
    assert refused.value.getCondition() == f"STREAM_JOIN.{condition}"
    assert hint in str(refused.value)
