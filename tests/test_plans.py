"""The join among other operators, and where there is nothing to shuffle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order, stream_join
from tests.orders import WITHIN_THE_HOUR, Shop, met


@pytest.fixture
def shop(spark: SparkSession, tmp_path: Path) -> Shop:
    return Shop(spark, tmp_path)


@pytest.fixture
def one_partition(spark: SparkSession) -> Iterator[None]:
    before = str(spark.conf.get("spark.sql.shuffle.partitions"))
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", before)


def test_one_partition_on_both_ends(shop: Shop, one_partition: None) -> None:
    left = impose_order(shop.orders.stream().coalesce(1), "order_time", "0 seconds").alias("o")
    right = impose_order(shop.deliveries.stream().coalesce(1), "delivery_time", "0 seconds")
    run = shop.run(stream_join(left, right.alias("d"), WITHIN_THE_HOUR, "left"))
    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"), (9, "11:05:01"))
    assert met(run.step()) == [(1, 1), (2, None)]


def test_a_union_has_the_smaller_watermark(shop: Shop, spark: SparkSession) -> None:
    slow = Shop(spark, shop.folder / "slow")
    both = shop.ordered().union(slow.ordered()).alias("o")
    run = shop.run(stream_join(both, shop.delivered(), WITHIN_THE_HOUR, "full"))
    slow.order((1, "10:00"))
    shop.order((2, "12:00"))
    shop.deliver((1, "10:30"), (7, "10:30"))
    assert met(run.step()) == [(1, 1)]
    # only now do both halves of the union promise nothing before 10:31
    slow.order((3, "10:31"))
    assert met(run.step()) == [(None, 7)]


def test_filters_renames_and_tables_around_the_join(shop: Shop, spark: SparkSession) -> None:
    names = spark.createDataFrame([(1, "one"), (2, "two"), (3, "three")], "id INT, name STRING")
    left = shop.ordered().where("id <> 4").withColumnRenamed("order_time", "placed").alias("o")
    on = WITHIN_THE_HOUR.replace("order_time", "placed")
    joined = stream_join(left, shop.delivered(), on, "left")
    result = joined.select("o.id", "placed", "d.id", "delivery_time").join(
        names, F.col("o.id") == names.id
    )
    run = shop.run(result.drop(names.id))
    shop.order((1, "10:00"), (2, "10:05"), (4, "10:06"), (5, "10:07"))
    shop.deliver((1, "10:40"), (9, "11:30"))
    assert met(run.step()) == [(1, 1), (2, None)]


def test_deduplication_below_the_join(shop: Shop) -> None:
    left = shop.ordered().dropDuplicates(["id", "order_time"]).alias("o")
    run = shop.run(stream_join(left, shop.delivered(), WITHIN_THE_HOUR, "left"))
    shop.order((1, "10:00"), (1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"))
    assert met(run.step()) == [(1, 1)]
    shop.order((1, "10:00"))
    shop.deliver((9, "12:00"))
    assert met(run.step()) == [(2, None)]


def test_a_batch_that_is_read_twice_gives_the_same_twice(shop: Shop) -> None:
    result = stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR, "full")
    seen: list[tuple[int, int]] = []

    def twice(batch: DataFrame, number: int) -> None:
        seen.append((batch.count(), len(batch.collect())))

    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"), (9, "11:30"))
    query = (
        result.writeStream.foreachBatch(twice)
        .trigger(availableNow=True)
        .option("checkpointLocation", str(shop.folder / "twice"))
        .start()
    )
    query.awaitTermination()
    assert seen == [(2, 2)]


def test_update_mode_does_the_same_as_append_mode(shop: Shop) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"), (9, "11:30"))
    rows: list[tuple[object, ...]] = []
    query = (
        run.result.writeStream.outputMode("update")
        .foreachBatch(lambda batch, _: rows.extend(tuple(row) for row in batch.collect()))
        .trigger(availableNow=True)
        .option("checkpointLocation", str(shop.folder / "update"))
        .start()
    )
    query.awaitTermination()
    assert met({0: rows}) == [(1, 1), (2, None)]


def test_explain_says_how_long_rows_are_kept(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    on = WITHIN_THE_HOUR + " AND (o.order_time > d.delivery_time OR o.id > 3)"
    stream_join(shop.ordered("1 minute"), shop.delivered("2 minutes"), on, "left").explain()
    text = capsys.readouterr().out
    for line in [
        "StreamJoin LEFT OUTER, hash by [o.id] = [d.id]",
        "watermark: largest order_time seen - INTERVAL '1' MINUTE",
        "watermark: largest delivery_time seen - INTERVAL '2' MINUTE",
        "bound: d.delivery_time >= o.order_time   from",
        "bound: o.order_time >= d.delivery_time - INTERVAL '1' HOUR   from",
        "(stands inside OR)",
        "left rows are kept until o.order_time < watermark of d.delivery_time - INTERVAL '1' HOUR",
        "right rows are kept until d.delivery_time < watermark of o.order_time",
        "output watermark of d.delivery_time: the smaller of its own and the watermark of",
    ]:
        assert line in text
