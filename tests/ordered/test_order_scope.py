"""Orders with the scope of a partition, and filters above an order."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order, stream_join
from tests.orders import WITHIN_THE_HOUR, Shop
from tests.streams import Landing


def explained(df: DataFrame) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        # Spark does not recognize an unanalyzed SQL query as a streaming query.
        df.select("*").explain()
    return output.getvalue()


def minutes(n: int) -> str:
    return f"{10 + n // 60:02d}:{n % 60:02d}"


def test_partition_scope_sorts_each_partition_without_a_sort(
    spark: SparkSession, shop: Shop
) -> None:
    joined = stream_join(
        shop.ordered("30 minutes"),
        shop.delivered("30 minutes"),
        WITHIN_THE_HOUR,
        order_by=["d.delivery_time", "o.id"],
        order_scope="partition",
    )
    seen: dict[int, list[tuple[Any, ...]]] = {}
    plans: list[str] = []

    def keep(batch: DataFrame, _: int) -> None:
        batch.persist()
        rows = batch.select(F.spark_partition_id(), "o.id", "delivery_time").collect()
        batch.unpersist()
        by_time = batch.sortWithinPartitions("delivery_time", "o.id")
        plans.append(by_time._jdf.queryExecution().executedPlan().toString())
        for partition, *row in rows:
            seen.setdefault(partition, []).append((row[1], row[0]))

    orders = [(i, i) for i in range(40)], [(i, i + 40) for i in range(40)]
    deliveries = (
        [(i, i + 17 * i % 40) for i in range(0, 40, 2)],
        [(i, i + 50) for i in range(0, 40, 3)],
    )
    shop.order(*((i, minutes(n)) for i, n in orders[0]))
    shop.deliver(*((i, minutes(n)) for i, n in deliveries[0]))
    query = joined.writeStream.foreachBatch(keep).option(
        "checkpointLocation", str(shop.folder / "checkpoint")
    )
    query.trigger(availableNow=True).start().awaitTermination()
    shop.order(*((i, minutes(n)) for i, n in orders[1]), (99, "15:00"))
    shop.deliver(*((i, minutes(n)) for i, n in deliveries[1]), (98, "15:00"))
    query.trigger(availableNow=True).start().awaitTermination()
    for rows in seen.values():
        assert rows == sorted(rows)
    assert len(seen) > 1
    assert plans
    assert not [plan for plan in plans if "Sort" in plan]
    everything = [(t.strftime("%H:%M"), i) for rows in seen.values() for t, i in rows]
    assert sorted(everything) == sorted(
        (minutes(d), i)
        for i, o in [*orders[0], *orders[1]]
        for j, d in [*deliveries[0], *deliveries[1]]
        if i == j and 0 <= d - o <= 60
    )


@pytest.mark.parametrize(
    ("columns", "order", "beyond"),
    [
        (["delivery_time AS at", "o.id + 0 AS n", "o.id AS i"], ["at", "i"], ["at", "i", "n"]),
        (["delivery_time", "order_time"], ["delivery_time"], ["delivery_time", "order_time"]),
        (["d.id AS i", "delivery_time AS a", "delivery_time AS b"], ["b"], ["b", "i"]),
    ],
)
def test_projection_keeps_the_known_output_ordering(
    spark: SparkSession, shop: Shop, columns: list[str], order: list[str], beyond: list[str]
) -> None:
    joined = stream_join(
        shop.ordered(),
        shop.delivered(),
        WITHIN_THE_HOUR,
        order_by=["d.delivery_time", "o.id"],
        order_scope="partition",
    )
    joined.selectExpr(*columns).createOrReplaceTempView("in_an_order")
    plans: list[str] = []

    def keep(batch: DataFrame, _: int) -> None:
        def look() -> None:
            for keys in (order, beyond):
                by = batch.sortWithinPartitions(*keys)
                plans.append(by._jdf.queryExecution().executedPlan().toString())

        look()
        batch.persist()
        batch.collect()
        look()
        batch.unpersist()

    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:10"), (2, "10:20"))
    spark.table("in_an_order").writeStream.foreachBatch(keep).option(
        "checkpointLocation", str(shop.folder / "checkpoint")
    ).trigger(availableNow=True).start().awaitTermination()
    assert ["Sort" in plan for plan in plans] == [False, True] * (len(plans) // 2)
    assert plans


def test_each_way_to_sort_partitions_sets_the_partition_scope(
    spark: SparkSession, shop: Shop, tmp_path: Path
) -> None:
    shop.ordered().createOrReplaceTempView("scoped_orders")
    shop.delivered().createOrReplaceTempView("scoped_deliveries")
    joins = f"scoped_orders AS o JOIN scoped_deliveries AS d ON {WITHIN_THE_HOUR}"
    sentence = "the order holds within each partition"
    for query in (
        f"SELECT o.id FROM {joins} SORT BY o.order_time",
        "SELECT id FROM scoped_orders DISTRIBUTE BY id SORT BY order_time",
    ):
        assert sentence in explained(spark.sql(query)), query
    joined = shop.ordered().join(shop.delivered(), F.expr(WITHIN_THE_HOUR))
    assert sentence in explained(joined.sortWithinPartitions("order_time"))
    assert sentence not in explained(joined.orderBy("order_time"))
    last = stream_join(
        shop.ordered(),
        shop.delivered(),
        "o.id = d.id AND d.delivery_time <= o.order_time",
        "asof",
        order_by="o.order_time",
        order_scope="partition",
    )
    assert sentence in explained(last)
    # The first ten rows are those of the whole query.
    assert sentence not in explained(last.limit(10))


def test_partition_scope_without_an_order_is_refused(shop: Shop) -> None:
    orders, deliveries = shop.ordered(), shop.delivered()
    with pytest.raises(PySparkValueError, match=r"order_by.*`order_scope` is"):
        stream_join(orders, deliveries, WITHIN_THE_HOUR, order_scope="partition")
    with pytest.raises(AnalysisException, match="its rows are changes"):
        stream_join(
            orders,
            deliveries,
            "o.id = d.id",
            order_by="o.order_time",
            mode="changelog",
            order_scope="partition",
        )


@pytest.mark.parametrize("form", ["partitions", "computed", "order above"])
def test_repartitioned_keys_are_each_sorted(spark: SparkSession, tmp_path: Path, form: str) -> None:
    source = Landing(spark, tmp_path / "events", "k INT, n BIGINT")
    rows = [{"k": i % 5, "n": (i * 37) % 100} for i in range(100)]
    by_key = {
        "partitions": lambda: impose_order(source.stream(), "n", 100).repartition(7, "k"),
        "computed": lambda: (
            impose_order(source.stream(), "n", 100)
            .repartition("k")
            .selectExpr("bigint(k) AS k", "n")
        ),
        "order above": lambda: impose_order(source.stream().repartition("k"), "n", 100),
    }
    ordered = by_key[form]().sortWithinPartitions("n")
    seen: dict[int, list[int]] = {}

    def keep(batch: DataFrame, _: int) -> None:
        for k, n in batch.collect():
            seen.setdefault(k, []).append(n)

    for part in (rows[:50], rows[50:], [{"k": 9, "n": 500}]):
        source.land(*part)
        ordered.writeStream.foreachBatch(keep).option(
            "checkpointLocation", str(tmp_path / "checkpoint")
        ).trigger(availableNow=True).start().awaitTermination()
    assert {k: ns for k, ns in seen.items() if k != 9} == {
        k: sorted(r["n"] for r in rows if r["k"] == k) for k in range(5)
    }


def test_filter_above_an_order_is_pushed_below_the_join(spark: SparkSession, shop: Shop) -> None:
    joined = stream_join(
        shop.ordered("10 minutes"),
        shop.delivered("10 minutes"),
        WITHIN_THE_HOUR,
        "left",
        order_by="o.order_time",
    )
    run = shop.run(joined.where("o.id < 3 AND d.id IS NOT NULL").select("o.id"))
    shop.order((3, "10:00"), (2, "10:05"), (1, "10:10"), (7, "10:11"))
    shop.deliver((2, "10:30"), (1, "10:20"), (3, "10:30"))
    run.step()
    # The outer join is narrowed to an inner join, with only orders below 3.
    assert run.operator()["customMetrics"]["inputRowsLeft"] == 2
    assert run.operator("streamOrder")["customMetrics"]["heldRows"] == 2
    shop.order((9, "12:00"))
    shop.deliver((9, "12:00"))
    run.step()
    assert run.rows() == [(2,), (1,)]
    assert run.total("nullPaddedRows") == 0


def test_probe_side_filter_is_pushed_below_an_asof_join(spark: SparkSession, shop: Shop) -> None:
    last = stream_join(shop.ordered(), shop.delivered(), "o.id = d.id", "left_asof")
    run = shop.run(last.where("o.id > 1 AND (d.id IS NULL OR minute(delivery_time) < 5)"))
    shop.order((1, "10:10"), (2, "10:10"), (3, "10:10"), (4, "10:10"))
    shop.deliver((1, "10:01"), (2, "10:01"), (2, "10:02"), (4, "10:01"), (4, "10:09"))
    run.step()
    shop.order((1, "10:30"))
    shop.deliver((1, "10:31"))
    run.step()
    assert run.operators()[0]["customMetrics"]["bufferedRowsLeft"] == 3
    assert sorted((r[0], r[3] and r[3].strftime("%H:%M")) for r in run.rows()) == [
        (2, "10:02"),
        (3, None),
    ]
