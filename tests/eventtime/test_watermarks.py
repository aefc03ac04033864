"""Watermarks per column: stored with the state, and never moving back."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.orders import WITHIN_THE_HOUR, Shop, at, met
from tests.streams import Landing, Run, wait_until


def millis(spark: SparkSession, clock: str) -> int:
    return int(spark.sql(f"SELECT unix_millis(TIMESTAMP '{at(clock)}')").head()[0])  # type: ignore[index]


@pytest.mark.connect
def test_row_strictly_below_the_previous_batch_watermark_is_late(shop: Shop) -> None:
    run = shop.joined("left", lag="10 minutes")
    # 10:00 in the batch of 12:00 is not late: lateness uses the watermark of the previous batch.
    shop.order((1, "12:00"), (2, "10:00"))
    shop.deliver((2, "10:30"))
    assert met(run.step()) == [(2, 2)]
    # The watermark of orders is 11:50.
    shop.order((3, "11:49:59.999999"), (4, "11:50"))
    run.step()
    assert run.metrics()["lateRowsLeft"] == 1
    shop.deliver((3, "12:10"), (4, "12:20"))
    assert met(run.step()) == [(4, 4)]
    # A late row of the preserved side is not emitted null-padded either.
    shop.deliver((0, "14:00"))
    assert met(run.step()) == [(1, None)]
    assert run.total("lateRowsLeft") == 1


@pytest.mark.connect
def test_watermark_metric_is_in_milliseconds_at_batch_end(shop: Shop, spark: SparkSession) -> None:
    run = shop.joined(lag="10 minutes")
    shop.order((1, "12:00"))
    run.step()
    assert run.metrics()["watermark.order_time"] == millis(spark, "11:50")
    assert "watermark.delivery_time" not in run.metrics()


@pytest.mark.connect
def test_available_now_runs_with_alternating_inputs_keep_state_small(shop: Shop) -> None:
    run = shop.joined("full")
    for hour in range(8, 16):
        if hour % 2:
            shop.order((hour, f"{hour:02d}:00"))
        else:
            shop.deliver((hour, f"{hour:02d}:30"))
        run.step()
        assert run.operator()["numRowsTotal"] <= 3
    padded = met({0: run.rows()})
    assert {(None, 8), (9, None), (None, 12)} <= set(padded)


@pytest.mark.connect
def test_watermark_never_decreases_across_restarts_and_triggers(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shop.joined("left", lag="10 minutes")
    triggers = [{"availableNow": True}, {"processingTime": "0 seconds"}, {"once": True}]
    for number, clock in enumerate(["10:00", "12:00", "11:00", "11:30", "12:30", "09:00"]):
        shop.order((number, clock))
        run.step(**triggers[number % len(triggers)])  # type: ignore[arg-type]
    marks = [each["customMetrics"]["watermark.order_time"] for each in run.operators()]
    assert marks == sorted(marks)
    assert len(set(marks)) == 3
    # 11:00, 11:30 and 9:00 arrived when the watermark was 11:50 or later.
    assert run.total("lateRowsLeft") == 3
    # All rows but the first arrived at a column with a watermark; 9:00 arrived after 12:30.
    metrics = run.metrics()
    hours = 3_600_000
    assert metrics["disorderRows.order_time"] == 5
    assert metrics["lagForMost.order_time"] == metrics["lagForAll.order_time"] == 3.5 * hours
    assert metrics["lag.order_time"] == hours / 6
    assert "disorderRows.delivery_time" not in metrics
    shop.order((7, "12:00"))
    query = run.start(availableNow=True)
    query.awaitTermination()
    query.explain()
    seen = "lag of order_time: 3 hours 30 minutes would have accepted all of 6 rows; now 10 minutes"
    assert seen in capsys.readouterr().out


@pytest.mark.connect
def test_larger_lag_after_a_restart_does_not_lower_the_watermark(shop: Shop) -> None:
    first = shop.joined("left", lag="0 seconds")
    shop.order((1, "12:00"))
    first.step()
    second = shop.joined("left", lag="1 hour")
    shop.order((2, "11:30"), (3, "12:15"))
    second.step()
    assert second.metrics()["lateRowsLeft"] == 1
    assert second.metrics()["watermark.order_time"] == first.metrics()["watermark.order_time"]


@pytest.mark.connect
def test_each_of_two_watermarks_on_one_input_decides_lateness(
    spark: SparkSession, tmp_path: Path
) -> None:
    left = Landing(spark, tmp_path / "l", "k INT, made TIMESTAMP, sent TIMESTAMP")
    right = Landing(spark, tmp_path / "r", "k INT, t TIMESTAMP")
    one = left.stream().imposeOrder("made", "1 hour").imposeOrder("sent", "0 seconds").alias("l")
    other = right.stream().imposeOrder("t", "0 seconds").alias("r")
    on = "l.k = r.k AND r.t BETWEEN l.made AND l.made + INTERVAL '10' MINUTE"
    run = Run(one.streamJoin(other, on, "left"), tmp_path / "c")
    left.land({"k": 1, "made": at("10:00"), "sent": at("10:05")})
    run.step()
    # On time by `made`, late by `sent`, which no bound mentions.
    left.land({"k": 2, "made": at("09:30"), "sent": at("10:04")})
    left.land({"k": 3, "made": at("09:30"), "sent": at("10:06")})
    run.step()
    assert run.metrics()["lateRowsLeft"] == 1
    assert set(run.metrics()) >= {"watermark.made", "watermark.sent"}


@pytest.mark.connect
def test_join_uses_spark_watermarks(shop: Shop) -> None:
    orders = shop.orders.stream().withWatermark("order_time", "10 minutes").alias("o")
    deliveries = shop.deliveries.stream().withWatermark("delivery_time", "0 seconds").alias("d")
    run = shop.run(orders.streamJoin(deliveries, WITHIN_THE_HOUR, "left"))
    shop.order((1, "10:00"))
    shop.deliver((2, "11:00:01"))
    assert met(run.step()) == [(1, None)]


def test_idle_input_releases_the_other_input_after_its_timeout(shop: Shop) -> None:
    result = shop.ordered().streamJoin(
        shop.delivered(idle_timeout="2 seconds"), WITHIN_THE_HOUR, "left"
    )
    run = shop.run(result)
    shop.order((1, "10:00"))
    shop.deliver((5, "10:00"))
    run.step()
    query = run.start(processingTime="0 seconds")
    shop.order((2, "12:00"))
    # No delivery arrives: after two seconds of clock time, the watermark of orders evicts order 1.
    try:
        wait_until(query, lambda: (1, None) in met(run.batches))
    finally:
        query.stop()
    assert met(run.batches) == [(1, None)]
    # A delivery that then arrives with an old time is late.
    shop.deliver((2, "11:00"))
    run.step()
    assert run.total("lateRowsRight") == 1
