"""The join emits in the batch whose watermark allows it; Spark's join emits batches later."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from tests.orders import WITHIN_THE_HOUR, Shop, ids, met
from tests.streams import Run

pytestmark = pytest.mark.connect


def spark_join(shop: Shop, how: str) -> Run:
    orders = shop.orders.stream().withWatermark("order_time", "0 seconds").alias("o")
    deliveries = shop.deliveries.stream().withWatermark("delivery_time", "0 seconds").alias("d")
    return shop.run(orders.join(deliveries, F.expr(WITHIN_THE_HOUR), how), "spark")


def test_null_padded_rows_are_emitted_in_the_batch_that_passes_the_bound(shop: Shop) -> None:
    ours, theirs = shop.joined("left"), spark_join(shop, "left")
    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"))
    assert met(ours.step()) == met(theirs.step()) == [(1, 1)]
    # The watermark of deliveries is 11:05:01 now: 10:05 + 1 hour is below it.
    shop.deliver((9, "11:05:01"))
    data = max(ours.batches) + 1
    assert {n: ids(rows) for n, rows in ours.step().items()} == {data: [(2, None)]}
    assert met(theirs.step()) == []
    # Spark waits for the slower input, and then for one more batch.
    shop.order((8, "11:06"))
    shop.deliver((9, "11:06"))
    data = max(theirs.batches) + 1
    assert met(ours.step()) == []
    assert {n: ids(rows) for n, rows in theirs.step().items()} == {data: [], data + 1: [(2, None)]}


def test_rows_of_an_idle_input_are_evicted_by_the_other_watermark(shop: Shop) -> None:
    ours, theirs = shop.joined("full"), spark_join(shop, "full")
    shop.order((1, "10:00"))
    shop.deliver((1, "10:30"), (7, "10:30"), (8, "10:31"))
    ours.step()
    theirs.step()
    for hour in range(11, 16):
        shop.order((hour, f"{hour}:00"))
        output = ours.step()
        theirs.step()
        # The watermark of orders is 11:00: no order can match an earlier delivery any more.
        assert met(output) == ([(None, 7), (None, 8)] if hour == 11 else [])
        assert ours.metrics()["bufferedRowsRight"] == 0
    # The watermark of deliveries is 10:31: a delivery can still match every order from 9:31 on.
    assert ours.metrics()["bufferedRowsLeft"] == ours.operator()["numRowsTotal"] == 6
    # Spark's global watermark is that of the deliveries: nothing is evicted.
    assert theirs.operator("symmetricHashJoin")["numRowsTotal"] == 9
    assert ids(theirs.rows()) == [(1, 1)]


def test_rows_evicted_by_their_own_batch_never_enter_the_state(shop: Shop) -> None:
    run = shop.joined("left")
    # One batch spans a day: rows older than an hour at its end are never stored.
    shop.order(*((i, f"{i:02d}:00") for i in range(24)))
    shop.deliver(*((i, f"{i:02d}:30") for i in range(0, 24, 2)), (99, "23:59:59"))
    expected = [(i, i if i % 2 == 0 else None) for i in range(23)]
    assert met(run.step()) == sorted(expected, key=str)
    # The state has only the order of 23:00, and deliveries from then on.
    assert run.metrics()["bufferedRowsLeft"] == 1
    assert run.metrics()["bufferedRowsRight"] == 1
    assert run.operator()["numRowsUpdated"] == 2


def test_no_batch_runs_without_data(shop: Shop) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"))
    shop.deliver((2, "12:00"))
    assert {n: ids(rows) for n, rows in run.step().items()} == {0: [(1, None)]}
    assert run.step() == {}
