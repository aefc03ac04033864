"""Joins on time alone: any number of partitions yields the results of one partition."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from streamjoin import pending
from tests.orders import Ids, Shop, at, ids
from tests.parameters import JOIN_TYPES, rest_is_thorough
from tests.streams import Run

WITHIN_TEN_MINUTES = "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '10' MINUTE"
ORDERS = [(n, f"10:{n:02}") for n in range(0, 40, 2)]
DELIVERIES = [(n, f"10:{n:02}") for n in (1, 5, 6, 17, 18, 19, 35)]


BUCKETS = "spark.sql.streamJoin.timeBuckets"

# A bucket spans 20 minutes, in a full join 40. Deliveries count with their time minus 5 minutes. Of
# 7 deliveries, 3 are within 5 minutes of a bucket edge and get a replica. Of 20 orders, 10 are in
# the first and 5 in the second bucket; two of them have both buckets in one partition. An order
# that needs one delivery only has no replica.
HELD_BY_TIME = {
    "inner": (20, 10),
    "left": (20, 10),
    "right": (28, 7),
    "full": (23, 10),
    "semi": (5, 10),
    "anti": (5, 10),
}


def partitioned(
    spark: SparkSession, folder: Path, partitions: int, buckets: bool = True, name: str = ""
) -> Shop:
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", str(partitions))
    session.conf.set(BUCKETS, str(buckets).lower())
    return Shop(session, folder / (name or f"{partitions}{buckets}"))


def fill(shop: Shop, run: Run) -> None:
    """Two batches with a restart between, so that rows match within a batch and across batches."""
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


@pytest.mark.parametrize("how", rest_is_thorough(JOIN_TYPES, "inner", "full"))
def test_four_partitions_yield_the_results_of_one(
    spark: SparkSession, tmp_path: Path, how: str
) -> None:
    found: list[Ids] = []
    buffered: list[tuple[int, int]] = []
    for partitions, buckets in ((1, True), (4, True), (4, False)):
        shop = partitioned(spark, tmp_path, partitions, buckets)
        run = shop.joined(how, WITHIN_TEN_MINUTES, lag="1 hour")
        fill(shop, run)
        metrics = run.metrics()
        buffered.append((metrics["bufferedRowsLeft"], metrics["bufferedRowsRight"]))
        waiting = pending(run.checkpoint).groupBy("side").count().collect()
        assert dict(map(tuple, waiting)) == dict(zip(("left", "right"), buffered[0], strict=True))
        close(shop, run)
        found.append(ids([(*row, None, None)[:4] for row in run.rows()]))
    assert found[0] == found[1] == found[2] == batch_join(spark, how)
    one, by_time, copied = buffered
    copies = {"right": (4, 1), "full": (4, 4)}.get(how, (1, 4))
    assert copied == (one[0] * copies[0], one[1] * copies[1])
    assert by_time == HELD_BY_TIME[how]


@pytest.mark.parametrize("how", ["left", "full"])
@pytest.mark.parametrize("first", [False, True])
def test_restart_keeps_the_checkpointed_time_buckets_setting(
    spark: SparkSession, tmp_path: Path, how: str, first: bool
) -> None:
    shop = partitioned(spark, tmp_path, 4, first, "shop")
    run = shop.joined(how, WITHIN_TEN_MINUTES, lag="1 hour")
    shop.order(*ORDERS[::2])
    shop.deliver(*DELIVERIES[::2])
    run.step()
    shop.session.conf.set(BUCKETS, str(not first).lower())
    shop.order(*ORDERS[1::2])
    shop.deliver(*DELIVERIES[1::2])
    run.step()
    by_time, copied = HELD_BY_TIME[how][1], 4 * len(DELIVERIES)
    assert run.metrics()["bufferedRowsRight"] == (by_time if first else copied)
    close(shop, run)
    assert ids([(*row, None, None)[:4] for row in run.rows()]) == batch_join(spark, how)
