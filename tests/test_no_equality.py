"""Joins on time alone: any number of partitions gives what one gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.orders import Ids, Shop, at, ids
from tests.streams import Run

WITHIN_TEN_MINUTES = "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '10' MINUTE"
ORDERS = [(n, f"10:{n:02}") for n in range(0, 40, 2)]
DELIVERIES = [(n, f"10:{n:02}") for n in (1, 5, 6, 17, 18, 19, 35)]


def partitioned(spark: SparkSession, folder: Path, partitions: int) -> Shop:
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", str(partitions))
    return Shop(session, folder / str(partitions))


def fill(shop: Shop, run: Run) -> None:
    """Two batches with a restart between them, so that rows meet in a batch and across batches."""
    for part in range(2):
        shop.order(*ORDERS[part::2])
        shop.deliver(*DELIVERIES[part::2])
        run.step()


def close(shop: Shop, run: Run) -> None:
    shop.order((98, "20:00"))
    shop.deliver((99, "20:00"))
    run.step()


def batch_join(spark: SparkSession, how: str) -> Ids:
    orders = spark.createDataFrame(
        [(i, at(c)) for i, c in [*ORDERS, (98, "20:00")]], "id INT, order_time STRING"
    )
    deliveries = spark.createDataFrame(
        [(i, at(c)) for i, c in [*DELIVERIES, (99, "20:00")]], "id INT, delivery_time STRING"
    )
    joined = (
        orders.withColumn("order_time", F.to_timestamp("order_time"))
        .alias("o")
        .join(
            deliveries.withColumn("delivery_time", F.to_timestamp("delivery_time")).alias("d"),
            F.expr(WITHIN_TEN_MINUTES),
            how,
        )
    )
    return ids([(*row, None, None)[:4] for row in joined.collect()])


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_four_partitions_give_what_one_gives(spark: SparkSession, tmp_path: Path, how: str) -> None:
    found: list[Ids] = []
    buffered: list[tuple[int, int]] = []
    for partitions in (1, 4):
        shop = partitioned(spark, tmp_path, partitions)
        run = shop.joined(how, WITHIN_TEN_MINUTES, lag="1 hour")
        fill(shop, run)
        metrics = run.metrics()
        buffered.append((metrics["bufferedRowsLeft"], metrics["bufferedRowsRight"]))
        close(shop, run)
        found.append(ids([(*row, None, None)[:4] for row in run.rows()]))
    assert found[0] == found[1] == batch_join(spark, how)
    left, right = buffered[0]
    copies = {"right": (4, 1), "full": (4, 4)}.get(how, (1, 4))
    assert buffered[1] == (left * copies[0], right * copies[1])
