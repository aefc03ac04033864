"""`emit="early"`: results at once, corrected later, and evicted as in the final join."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.orders import WITHIN_THE_HOUR, Shop
from tests.streams import Run

Changes = list[tuple[Any, ...]]


def early(shop: Shop, how: str = "left") -> DataFrame:
    joined: DataFrame = shop.ordered().streamJoin(
        shop.delivered(), WITHIN_THE_HOUR, how, emit="early"
    )
    return joined


def shown(result: DataFrame) -> DataFrame:
    return result.select(
        "o.id", F.date_format("delivery_time", "HH:mm").alias("delivered"), "_change_type"
    )


def stepped(run: Run) -> Changes:
    return sorted((row for rows in run.step().values() for row in rows), key=str)


BATCHES = [
    ([(1, "10:00"), (2, "10:10")], []),
    ([(3, "10:30")], [(1, "10:20")]),
    ([(4, "12:00")], [(4, "12:10")]),
    ([], [(2, "11:05")]),
    ([(5, "10:40")], [(3, "12:15")]),
]
"""The example of docs/concepts/early-results.md."""

EMITTED = [
    [(1, None, "insert"), (2, None, "insert")],
    [(1, "10:20", "insert"), (1, None, "delete"), (3, None, "insert")],
    [(4, "12:10", "insert")],
    [],
    [],
]


def test_example_of_the_page(spark: SparkSession, tmp_path: Path) -> None:
    """Each batch is a separate run of the query, after a restart."""
    shop = Shop(spark, tmp_path)
    run = shop.run(shown(early(shop)))
    late = []
    for (orders, deliveries), emitted in zip(BATCHES, EMITTED, strict=True):
        shop.order(*orders)
        shop.deliver(*deliveries)
        assert stepped(run) == emitted
        late.append((run.metrics()["lateRowsLeft"], run.metrics()["lateRowsRight"]))
    assert late == [(0, 0), (0, 0), (0, 0), (0, 1), (1, 0)]


def test_correction_is_an_update_if_both_inputs_declare_keys(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The output key is inferred, and `toUpserts` needs no argument, as the page says."""
    shop = Shop(spark, tmp_path)
    orders = shop.orders.stream().fromUpserts(key="id", sequence_by="order_time")
    ordered = orders.imposeOrder("order_time", "0 seconds").alias("o")
    deliveries = shop.deliveries.stream().fromUpserts(key="id", sequence_by="delivery_time")
    delivered = deliveries.imposeOrder("delivery_time", "0 seconds").alias("d")
    joined = ordered.streamJoin(delivered, WITHIN_THE_HOUR, "left", emit="early")
    images = shop.run(shown(joined), "images")
    upserts = shop.run(shown(joined).toUpserts(), "upserts")
    shop.order((1, "10:00"))
    assert stepped(images) == stepped(upserts) == [(1, None, "insert")]
    shop.deliver((1, "10:20"))
    assert stepped(images) == [(1, "10:20", "update_postimage"), (1, None, "update_preimage")]
    assert stepped(upserts) == [(1, "10:20", "update_postimage")]


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_early_changes_add_up_to_the_final_result(
    spark: SparkSession, tmp_path: Path, how: str
) -> None:
    """The final join of the same batches emits a row when both watermarks have passed it."""
    shop = Shop(spark, tmp_path)
    columns = ["o.id"] if how in ("semi", "anti") else ["o.id", "d.id"]
    corrected = shop.run(early(shop, how).select(*columns, "_change_type"), "early")
    final = shop.ordered().streamJoin(shop.delivered(), WITHIN_THE_HOUR, how, emit="final")
    once = shop.run(final.select(*columns), "final")
    rows: list[tuple[Any, ...]] = []
    for orders, deliveries in [*BATCHES, ([(9, "20:00")], [(8, "20:00")])]:
        shop.order(*orders)
        shop.deliver(*deliveries)
        for *row, kind in stepped(corrected):
            if kind in ("insert", "update_postimage"):
                rows.append(tuple(row))
            else:
                rows.remove(tuple(row))
        once.step()
    # Rows of 20:00 are undecided in the final join, and padded in the early one.
    decided = [row for row in rows if not {8, 9} & set(row)]
    assert sorted(decided, key=str) == sorted(once.rows(), key=str)
    # Only the rows of 20:00 remain buffered.
    buffered = [corrected.metrics()[f"bufferedRows{side}"] for side in ("Left", "Right")]
    assert buffered == [1, 1]


def test_early_join_above_an_early_join_emits_one_insert(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A join above an early join is early too, and emits one change for each row and batch."""
    shop = Shop(spark, tmp_path)
    returns = Shop(spark, tmp_path / "returns").ordered().select("id", "order_time").alias("r")
    on = "o.id = r.id AND r.order_time BETWEEN o.order_time AND o.order_time + INTERVAL '2' HOUR"
    both = early(shop).streamJoin(returns, on, "left", emit="early")
    run = shop.run(both.select("o.id", "d.delivery_time", "r.order_time", "_change_type"))
    shop.order((1, "10:00"))
    shop.deliver((1, "10:20"))
    assert [(row[0], row[-1]) for row in stepped(run)] == [(1, "insert")]


def test_invalid_early_joins_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(spark, tmp_path)
    orders, deliveries = shop.ordered(), shop.delivered()

    def refusal(left: DataFrame, on: str, how: str = "left", **options: Any) -> str:
        with pytest.raises(AnalysisException) as refused:
            left.streamJoin(deliveries, on, how, **options)
        assert refused.value.getCondition() == "STREAM_JOIN.INVALID_OPTION"
        return str(refused.value)

    unbounded = refusal(orders, "o.id = d.id", emit="early")
    assert "no watermark evicts those of the left and the right input" in unbounded
    assert "mode => 'changelog'" in unbounded
    half = "o.id = d.id AND d.delivery_time >= o.order_time"
    assert "no watermark evicts those of the left input" in refusal(orders, half, emit="early")
    not_final = refusal(orders, WITHIN_THE_HOUR, emit="early", mode="event_time")
    assert "but mode => 'event_time' emits final results" in not_final
    not_early = refusal(orders, WITHIN_THE_HOUR, emit="final", mode="changelog")
    assert "this join corrects its results later" in not_early
    below = early(Shop(spark, tmp_path / "below"), "semi")
    message = refusal(below, WITHIN_THE_HOUR, "inner", emit="final")
    assert "the output of a join with emit => 'early'" in message


def test_sql_hint_emits_early_results(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(spark, tmp_path)
    shop.ordered().createOrReplaceTempView("early_orders")
    shop.delivered().createOrReplaceTempView("early_deliveries")
    joined = spark.sql(
        "SELECT /*+ STREAM_JOIN(emit => 'early') */ o.id, d.id AS delivery, _change_type "
        f"FROM early_orders AS o LEFT JOIN early_deliveries AS d ON {WITHIN_THE_HOUR}"
    )
    shop.order((1, "10:00"))
    assert stepped(shop.run(joined)) == [(1, None, "insert")]
