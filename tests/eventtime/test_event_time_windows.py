"""Joins by event-time windows: the end of a window counts as its event time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order, stream_join
from tests.orders import Shop
from tests.streams import Landing, Run


@pytest.fixture
def replaced(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.streamJoin.replaceBuiltin", "true")
    yield
    spark.conf.unset("spark.sql.streamJoin.replaceBuiltin")


def windowed(stream: DataFrame, time: str, *window: str) -> DataFrame:
    marked = stream.withWatermark(time, "0 seconds")
    return marked.select("id", F.window(time, *window).alias("w"), time)


def orders(shop: Shop, *window: str) -> DataFrame:
    return windowed(shop.orders.stream(), "order_time", *window)


def deliveries(shop: Shop, *window: str) -> DataFrame:
    return windowed(shop.deliveries.stream(), "delivery_time", *window)


def clocks(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    def clock(value: Any) -> Any:
        return value.strftime("%H:%M") if hasattr(value, "strftime") else value

    return sorted((tuple(clock(value) for value in row) for row in rows), key=str)


def operators(run: Run) -> list[str]:
    return [s["operatorName"] for s in run.progress[max(run.progress)]["stateOperators"]]


def test_join_by_tumbling_windows_evicts_at_window_end(shop: Shop, replaced: None) -> None:
    joined = orders(shop, "1 hour").join(deliveries(shop, "1 hour"), ["id", "w"], "full")
    run = shop.run(joined.select("id", "w.start", "order_time", "delivery_time"))
    shop.order((1, "10:10"), (2, "10:20"), (3, "11:20"))
    shop.deliver((1, "10:40"), (3, "10:50"))
    assert clocks(run.step()[0]) == [(1, "10:00", "10:10", "10:40"), (3, "10:00", None, "10:50")]
    # A window is evicted when the other input's watermark reaches its end.
    shop.deliver((9, "10:59:59"))
    assert run.step() == {1: [(9, *run.batches[1][0][1:])]}
    assert run.metrics()["bufferedRowsLeft"] == 3
    shop.deliver((9, "11:00"))
    assert clocks(run.step()[2]) == [(2, "10:00", "10:20", None)]
    assert run.metrics()["bufferedRowsLeft"] == 1
    assert operators(run) == ["streamJoin"]
    # After that, rows of the window are late.
    shop.order((4, "10:59"))
    shop.deliver((4, "10:59"))
    assert run.step()[3] == []
    assert (run.metrics()["lateRowsLeft"], run.metrics()["lateRowsRight"]) == (1, 1)


def test_join_by_sliding_windows_buffers_open_windows(shop: Shop, replaced: None) -> None:
    sliding = ("1 hour", "30 minutes")
    joined = orders(shop, *sliding).join(deliveries(shop, *sliding), ["id", "w"], "left")
    run = shop.run(joined.select("id", "w.start", "delivery_time"))
    shop.order((1, "10:10"), (2, "12:00"))
    shop.deliver((1, "10:40"), (9, "12:00"))
    assert clocks(run.step()[0]) == [(1, "09:30", None), (1, "10:00", "10:40")]
    assert run.metrics()["bufferedRowsLeft"] == 2
    assert operators(run) == ["streamJoin"]


def test_chain_of_left_joins_by_windows(
    shop: Shop, spark: SparkSession, tmp_path: Path, replaced: None
) -> None:
    returns = Landing(spark, tmp_path / "returns", "id INT, return_time TIMESTAMP")
    returned = windowed(returns.stream(), "return_time", "1 hour")
    two = orders(shop, "1 hour").join(deliveries(shop, "1 hour"), ["id", "w"], "left")
    run = shop.run(two.join(returned, ["id", "w"], "left").select("id", "w.start", "return_time"))
    shop.order((1, "10:10"), (2, "10:20"), (3, "12:00"))
    shop.deliver((1, "10:40"), (9, "12:00"))
    returns.land(
        {"id": 1, "return_time": "2024-05-04T10:50:00"},
        {"id": 9, "return_time": "2024-05-04T12:00:00"},
    )
    assert clocks(run.step()[0]) == [(1, "10:00", "10:50"), (2, "10:00", None)]
    assert operators(run) == ["streamJoin", "streamJoin"]


def test_left_join_of_windowed_counts(shop: Shop, replaced: None) -> None:
    placed = orders(shop, "1 hour").groupBy("w").agg(F.count("*").alias("orders"))
    delivered = deliveries(shop, "1 hour").groupBy("w").agg(F.count("*").alias("deliveries"))
    run = shop.run(placed.join(delivered, "w", "left").select("w.start", "orders", "deliveries"))
    shop.order((1, "10:10"), (2, "10:20"), (3, "11:20"), (4, "12:00"))
    shop.deliver((1, "10:40"), (9, "12:00"))
    run.step()
    shop.order((5, "15:00"))
    shop.deliver((5, "15:00"))
    run.step()
    assert clocks(run.rows()) == [("10:00", 2, 1), ("11:00", 1, None), ("12:00", 1, 1)]
    assert operators(run) == ["streamJoin", "stateStoreSave", "stateStoreSave"]


def test_windows_over_impose_order_follow_each_watermark(shop: Shop) -> None:
    left = impose_order(shop.orders.stream(), "order_time", "10 minutes")
    right = impose_order(shop.deliveries.stream(), "delivery_time", "0 seconds")
    joined = stream_join(
        left.select("id", F.window("order_time", "1 hour")).alias("o"),
        right.select("id", F.window("delivery_time", "1 hour")).alias("d"),
        "o.id = d.id AND o.window = d.window",
        "full",
    )
    run = shop.run(joined.select("o.id", "o.window.start", "d.id"))
    shop.order((1, "10:10"), (2, "11:09"))
    shop.deliver((1, "10:40"), (3, "10:50"))
    assert clocks(run.step()[0]) == [(1, "10:00", 1)]
    # The watermark of orders is 10:59 here.
    shop.order((2, "11:10"))
    assert clocks(run.step()[1]) == [(None, None, 3)]


@pytest.mark.parametrize("on", ["o.w.start = d.w.start", "o.w.end = d.w.end - INTERVAL '1' HOUR"])
def test_left_join_of_counts_with_windows_of_two_lengths(
    shop: Shop, replaced: None, on: str
) -> None:
    placed = orders(shop, "1 hour").groupBy("w").agg(F.count("*").alias("orders"))
    delivered = deliveries(shop, "2 hours").groupBy("w").agg(F.count("*").alias("deliveries"))
    joined = placed.alias("o").join(delivered.alias("d"), F.expr(on), "left")
    run = shop.run(joined.select("o.w.start", "orders", "deliveries"))
    shop.order((1, "10:10"), (2, "10:20"), (3, "11:20"), (4, "12:00"))
    shop.deliver((1, "10:40"), (2, "11:50"), (9, "14:00"))
    run.step()
    shop.order((5, "20:00"))
    shop.deliver((5, "20:00"))
    run.step()
    assert clocks(run.rows()) == [("10:00", 2, 2), ("11:00", 1, None), ("12:00", 1, None)]
    assert operators(run) == ["streamJoin", "stateStoreSave", "stateStoreSave"]


def test_renamed_window_ends_act_as_event_times(shop: Shop) -> None:
    # Spark merges the projections: the physical plan has no window column.
    def ends(stream: DataFrame, time: str) -> DataFrame:
        ordered = impose_order(stream, time, "0 seconds")
        return ordered.select("id", F.window(time, "1 hour").alias("w")).selectExpr(
            "struct(w.end AS end) AS s", "id"
        )

    left = ends(shop.orders.stream(), "order_time").selectExpr("s.end AS ended", "id").alias("o")
    right = (
        ends(shop.deliveries.stream(), "delivery_time").selectExpr("s.end AS done", "id").alias("d")
    )
    run = shop.run(stream_join(left, right, "o.id = d.id AND ended = done", "left"))
    shop.order((1, "10:10"), (2, "10:20"), (3, "11:20"))
    shop.deliver((1, "10:40"), (3, "11:00"))
    assert clocks(run.step()[0]) == [
        ("11:00", 1, "11:00", 1),
        ("11:00", 2, None, None),
        ("12:00", 3, "12:00", 3),
    ]
    assert run.metrics()["bufferedRowsLeft"] == 1


def test_explain_suggests_window_equality(
    shop: Shop, replaced: None, capsys: pytest.CaptureFixture[str]
) -> None:
    left = orders(shop, "1 hour").select("id", "w").alias("o")
    right = deliveries(shop, "1 hour").select("id", "w").alias("d")
    left.join(right, F.expr("o.id = d.id")).explain()
    # The plan has no aliases, so explain suggests l and r.
    aliased = (
        "for example l.w = r.w. Give the left input the alias l and the right input the alias r"
    )
    assert aliased in capsys.readouterr().out
    with pytest.raises(AnalysisException, match=r"STREAM_JOIN\.UNSUPPORTED_TIME_TYPE"):
        impose_order(left, "w", "1 minute")


def test_window_inequality_gives_no_bound(shop: Shop, replaced: None) -> None:
    # Windows of different lengths: a window that starts earlier can end later.
    left = orders(shop, "2 hours").select("id", "w").alias("o")
    right = deliveries(shop, "1 hour").select("id", "w").alias("d")
    joined = left.join(right, F.expr("o.id = d.id AND o.w <= d.w AND o.w >= d.w"))
    run = shop.run(joined)
    shop.order((1, "10:10"))
    shop.deliver((1, "10:40"))
    assert run.step()[0] == []
    assert operators(run) == ["symmetricHashJoin"]
