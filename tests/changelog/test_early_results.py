"""`emit="early"`: results at once, corrected later, and evicted as in the final join."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.orders import WITHIN_THE_HOUR, Shop
from tests.parameters import JOIN_TYPES, rest_is_thorough
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


@pytest.mark.parametrize("how", rest_is_thorough(JOIN_TYPES, "left", "full"))
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


KEYED, BOUNDS = WITHIN_THE_HOUR.split(" AND ", 1)
SAME_AS_ON = [
    f"early_orders AS o, early_deliveries AS d WHERE {WITHIN_THE_HOUR}",
    f"early_orders AS o CROSS JOIN early_deliveries AS d WHERE {WITHIN_THE_HOUR}",
    f"early_orders AS o JOIN early_deliveries AS d ON {KEYED} WHERE {BOUNDS}",
    # one bound in ON, one in WHERE, and columns without a qualifier
    f"early_orders AS o JOIN early_deliveries AS d ON {KEYED} AND delivery_time >= order_time "
    "WHERE delivery_time <= order_time + INTERVAL '1' HOUR",
    # what concerns one input, the change, or a table stays above the join
    f"early_orders AS o JOIN early_deliveries AS d ON {KEYED} WHERE {BOUNDS} AND o.id > 0 "
    "AND _change_type = 'insert' AND o.id IN (SELECT id FROM early_ids)",
]


def early_views(shop: Shop) -> None:
    shop.ordered().createOrReplaceTempView("early_orders")
    shop.delivered().createOrReplaceTempView("early_deliveries")
    shop.session.range(1, 100).createOrReplaceTempView("early_ids")


def early_sql(shop: Shop, source: str, columns: str = "o.id, delivery_time") -> DataFrame:
    hint = "/*+ STREAM_JOIN(emit => 'early') */"
    return shop.session.sql(f"SELECT {hint} {columns}, _change_type FROM {source}")


# EarlyBoundsSuite compares the plans in `make test`.
@pytest.mark.thorough
def test_bounds_in_where_of_an_inner_join(spark: SparkSession, tmp_path: Path) -> None:
    """They equal those of ON: the rows and the buffered state."""
    shop = Shop(spark, tmp_path)
    early_views(shop)
    expected = early(shop, "inner").select("o.id", "delivery_time", "_change_type")
    in_on = shop.run(expected, "on")
    runs = [shop.run(early_sql(shop, text), f"where {n}") for n, text in enumerate(SAME_AS_ON)]
    for orders, deliveries in BATCHES:
        shop.order(*orders)
        shop.deliver(*deliveries)
        rows = stepped(in_on)
        for text, run in zip(SAME_AS_ON, runs, strict=True):
            assert stepped(run) == rows, text
            for metric in ("bufferedRowsLeft", "bufferedRowsRight", "lateRowsRight"):
                assert run.metrics()[metric] == in_on.metrics()[metric], text
    assert len(in_on.rows()) == 2


def test_bounds_in_where_of_a_chain(spark: SparkSession, tmp_path: Path) -> None:
    """A conjunct moves to the join of the inputs that it names."""
    shop, returned = Shop(spark, tmp_path), Shop(spark, tmp_path / "returns")
    early_views(shop)
    returned.ordered().createOrReplaceTempView("early_returns")
    again = "o.id = r.id AND r.order_time BETWEEN o.order_time AND o.order_time + INTERVAL '2' HOUR"
    forms = [
        f"early_orders AS o JOIN early_deliveries AS d ON {WITHIN_THE_HOUR} "
        f"JOIN early_returns AS r ON {again}",
        "early_orders AS o, early_deliveries AS d, early_returns AS r "
        f"WHERE {WITHIN_THE_HOUR} AND {again}",
        f"early_orders AS o JOIN early_deliveries AS d ON {KEYED} "
        f"JOIN early_returns AS r ON o.id = r.id WHERE {BOUNDS} AND {again}",
    ]
    columns = "o.id, d.delivery_time, r.order_time"
    runs = [shop.run(early_sql(shop, text, columns), f"chain {n}") for n, text in enumerate(forms)]
    shop.order((1, "10:00"), (2, "10:10"))
    shop.deliver((1, "10:20"))
    assert [stepped(run) for run in runs] == [[], [], []]
    returned.order((1, "11:00"), (2, "11:10"))
    for run in runs:
        assert [(row[0], row[-1]) for row in stepped(run)] == [(1, "insert")]


def test_where_above_an_outer_join_is_no_bound(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(spark, tmp_path)
    early_views(shop)
    said = []
    for text in (
        f"early_orders AS o LEFT JOIN early_deliveries AS d ON {KEYED} WHERE {BOUNDS}",
        f"early_orders AS o FULL JOIN early_deliveries AS d ON {KEYED} WHERE {BOUNDS}",
        f"early_orders AS o JOIN early_deliveries AS d USING (id) WHERE {BOUNDS}",
    ):
        with pytest.raises(AnalysisException) as refused:
            early_sql(shop, text, "id" if "USING" in text else "o.id")
        said.append(str(refused.value))
    with pytest.raises(AnalysisException) as refused:
        shop.ordered().streamJoin(shop.delivered(), KEYED, emit="early").where(BOUNDS)
    for message in [*said, str(refused.value)]:
        assert "bound the two times against each other in the condition of the join (ON)" in message
        assert f"for example {BOUNDS}. Bounds in a filter above the join count only in" in message


def test_a_final_join_above_in_sql(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(spark, tmp_path)
    early_views(shop)
    below = (
        "(SELECT /*+ STREAM_JOIN(emit => 'early') */ o.id, o.order_time, _change_type "
        f"FROM early_orders AS o LEFT JOIN early_deliveries AS d ON {WITHIN_THE_HOUR}) AS o"
    )
    with pytest.raises(AnalysisException) as refused:
        spark.sql(
            "SELECT /*+ STREAM_JOIN(emit => 'final') */ o.id "
            f"FROM {below} JOIN early_deliveries AS d ON {WITHIN_THE_HOUR}"
        )
    assert "this join corrects its results later" in str(refused.value)
    assert "the output of a join with emit => 'early'" in str(refused.value)
