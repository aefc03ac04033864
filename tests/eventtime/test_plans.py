"""The join combined with other operators, and on inputs of one partition."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import How, impose_order, stream_join
from tests.orders import WITHIN_THE_HOUR, Shop, at, ids, met
from tests.streams import Landing


@pytest.fixture
def one_partition(spark: SparkSession) -> Iterator[None]:
    before = str(spark.conf.get("spark.sql.shuffle.partitions"))
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", before)


def test_left_join_of_one_partition_on_both_inputs_and_output(
    shop: Shop, one_partition: None, capsys: pytest.CaptureFixture[str]
) -> None:
    left = impose_order(shop.orders.stream().coalesce(1), "order_time", "0 seconds").alias("o")
    right = impose_order(shop.deliveries.stream().coalesce(1), "delivery_time", "0 seconds")
    run = shop.run(stream_join(left, right.alias("d"), WITHIN_THE_HOUR, "left"))
    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"), (9, "11:05:01"))
    query = run.start(availableNow=True)
    query.awaitTermination()
    query.explain()
    plan = capsys.readouterr().out
    assert len(re.findall(r"Coalesce 1\n", plan)) == 2
    assert len(re.findall(r"StreamExchange hashpartitioning\(id#\d+, 1\)\n", plan)) == 2
    assert met(run.batches) == [(1, 1), (2, None)]


def test_union_uses_the_lower_watermark_of_its_branches(shop: Shop, spark: SparkSession) -> None:
    slow = Shop(spark, shop.folder / "slow")
    both = shop.ordered().union(slow.ordered()).alias("o")
    run = shop.run(stream_join(both, shop.delivered(), WITHIN_THE_HOUR, "full"))
    slow.order((1, "10:00"))
    shop.order((2, "12:00"))
    shop.deliver((1, "10:30"), (7, "10:30"))
    assert met(run.step()) == [(1, 1)]
    # Only now have both branches of the union passed 10:31.
    slow.order((3, "10:31"))
    assert met(run.step()) == [(None, 7)]


def test_join_with_filter_rename_and_static_table_join(shop: Shop, spark: SparkSession) -> None:
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


def test_deduplication_below_the_join_drops_duplicates(shop: Shop) -> None:
    left = shop.ordered().dropDuplicates(["id", "order_time"]).alias("o")
    run = shop.run(stream_join(left, shop.delivered(), WITHIN_THE_HOUR, "left"))
    shop.order((1, "10:00"), (1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"))
    assert met(run.step()) == [(1, 1)]
    shop.order((1, "10:00"))
    shop.deliver((9, "12:00"))
    assert met(run.step()) == [(2, None)]


def test_foreach_batch_reading_twice_sees_the_same_rows(shop: Shop) -> None:
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
    report = json.loads(query.recentProgress[0].json)["stateOperators"][0]
    once = {"bufferedRowsLeft": 0, "bufferedRowsRight": 2, "nullPaddedRows": 1}
    assert report["numRowsTotal"] == 2
    assert {name: report["customMetrics"][name] for name in once} == once


@pytest.mark.parametrize("how", ["inner", "semi"])
def test_self_join_of_columns_renamed_back_and_forth(shop: Shop, how: How) -> None:
    # Spark collapses consecutive renames into one from a name to itself: the alias must remain.
    there = shop.ordered().toDF("x", "y").toDF("id", "order_time").alias("d")
    on = "o.id = d.id AND d.order_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"
    joined = stream_join(shop.ordered(), there, on, how)
    run = shop.run(joined.where("o.id > 1").selectExpr("o.id", "o.order_time", "o.id"))
    shop.order((1, "10:00"), (2, "10:05"))
    assert met(run.step()) == [(2, 2)]


def test_window_over_an_event_time_cast_below_the_join_closes(shop: Shop) -> None:
    cast = shop.ordered().selectExpr("id", "CAST(order_time AS TIMESTAMP) AS order_time")
    joined = stream_join(cast.alias("o"), shop.delivered(), WITHIN_THE_HOUR, "left")
    hours = joined.groupBy(F.window("order_time", "1 hour")).count()
    run = shop.run(hours.select("window.start", "count"))
    shop.order((1, "10:00"), (2, "10:30"))
    shop.deliver((1, "10:00"))
    run.step()
    shop.order((3, "12:30"))
    shop.deliver((2, "12:30"))
    run.step()
    assert [(start.hour, count) for start, count in run.rows()] == [(10, 2)]


def test_left_join_emits_in_update_mode_as_in_append_mode(shop: Shop) -> None:
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


def test_filter_above_is_pushed_below_the_shuffle_and_columns_pruned(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    orders = shop.ordered().withColumn("price", F.col("id") * 10).withColumn("unused", F.lit("x"))
    joined = orders.alias("o").streamJoin(shop.delivered(), WITHIN_THE_HOUR, "left")
    joined.where("price > 10").select("o.id").explain()
    plan = capsys.readouterr().out
    below = plan[plan.index("Exchange") :]
    assert "StreamJoin LEFT OUTER" in plan
    assert "unused" not in plan
    assert below.index("StreamJoinInput") < below.index("Filter") < below.index("ImposeOrder")
    assert "Filter" not in plan[: plan.index("StreamJoin ")]


def test_reordered_columns_need_no_projection_above_the_join(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR).select("d.id", "o.id").explain()
    plan = capsys.readouterr().out
    assert "Project" not in plan[: plan.index("StreamJoin ")]


@pytest.mark.parametrize("columns", [["o.id"], ["d.id", "o.id AS again"], ["1 AS one"]], ids=str)
def test_projection_above_a_filter_that_is_not_pushed_down(shop: Shop, columns: list[str]) -> None:
    joined = stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR, "left")
    run = shop.run(joined.where("d.delivery_time IS NULL").selectExpr(*columns))
    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"), (9, "20:00"))
    run.step()
    expected = {"o.id": 2, "d.id": None, "o.id AS again": 2, "1 AS one": 1}
    assert run.rows() == [tuple(expected[column] for column in columns)]


SELECTIONS = [
    ["d.id", "order_time"],
    ["delivery_time", "d.id", "order_time", "o.id"],
    ["o.id", "o.id AS again"],
    ["coalesce(o.id, d.id) * 10 AS either"],
    ["1 AS one"],
]


@pytest.mark.parametrize("how", ["inner", "full"])
@pytest.mark.parametrize("columns", SELECTIONS, ids=str)
def test_any_projection_of_a_join_equals_the_batch_join(
    shop: Shop, spark: SparkSession, how: How, columns: list[str]
) -> None:
    joined = stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR, how)
    run = shop.run(joined.selectExpr(*columns))
    shop.order((1, "10:00"), (2, "10:05"), (3, "10:06"))
    shop.deliver((1, "10:40"), (3, "10:30"), (3, "10:45"), (7, "10:31"))
    landed = [
        stream.session.read.schema(stream.schema) for stream in (shop.orders, shop.deliveries)
    ]
    orders = landed[0].json(str(shop.orders.folder)).alias("o").cache()
    deliveries = landed[1].json(str(shop.deliveries.folder)).alias("d").cache()
    batch = orders.join(deliveries, F.expr(WITHIN_THE_HOUR), how).selectExpr(*columns).collect()
    run.step()
    shop.order((9, "20:00"))
    shop.deliver((8, "20:00"))
    run.step()
    assert sorted(run.rows(), key=str) == sorted(map(tuple, batch), key=str)


@pytest.mark.parametrize(("how", "met"), [("semi", {1, 3}), ("anti", {2})])
@pytest.mark.parametrize("columns", [["id", "order_time"], ["order_time", "id"], ["id"]], ids=str)
def test_any_projection_of_semi_and_anti_joins(
    shop: Shop, how: How, met: set[int], columns: list[str]
) -> None:
    joined = stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR, how)
    run = shop.run(joined.select(*columns))
    shop.order((1, "10:00"), (2, "10:05"), (3, "10:06"))
    shop.deliver((1, "10:40"), (3, "10:30"))
    run.step()
    shop.order((9, "20:00"))
    shop.deliver((8, "20:00"))
    run.step()
    assert {row[columns.index("id")] for row in run.rows()} == met
    assert {len(row) for row in run.rows()} == {len(columns)}


@pytest.mark.parametrize(
    ("how", "where", "narrower"),
    [
        ("left", "d.id > 0", "INNER"),
        ("full", "d.id > 0", "RIGHT OUTER"),
        ("full", "o.id > 0", "LEFT OUTER"),
        ("full", "o.id > 0 AND d.id > 0", "INNER"),
        ("right", "d.id > 0", "RIGHT OUTER"),
    ],
)
def test_outer_join_is_narrowed_if_a_filter_drops_padded_rows(
    shop: Shop, capsys: pytest.CaptureFixture[str], how: How, where: str, narrower: str
) -> None:
    on = WITHIN_THE_HOUR
    stream_join(shop.ordered(), shop.delivered(), on, how).where(where).explain()
    assert f"StreamJoin {narrower}, " in capsys.readouterr().out


def test_filter_above_inner_left_full_and_anti_joins(shop: Shop) -> None:
    filters: dict[How, str] = {
        "inner": "o.id > 1 AND d.id < 4",
        "left": "o.id > 1 AND (d.id IS NULL OR d.id < 4)",
        "full": "o.id > 1 OR d.id > 7",
        "anti": "id > 1",
    }
    runs = {
        how: shop.run(
            stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR, how).where(where), how
        )
        for how, where in filters.items()
    }
    shop.order((1, "10:00"), (2, "10:01"), (3, "10:02"), (4, "10:03"))
    shop.deliver((1, "10:30"), (3, "10:31"), (4, "10:32"), (7, "10:33"), (8, "10:34"))
    shop.order((9, "14:00"))
    shop.deliver((9, "14:00"))
    seen = {how: [row for rows in run.step().values() for row in rows] for how, run in runs.items()}
    assert ids(seen["inner"]) == [(3, 3)]
    assert ids(seen["left"]) == [(2, None), (3, 3)]
    assert ids(seen["full"]) == [(2, None), (3, 3), (4, 4), (9, 9), (None, 8)]
    assert [row[0] for row in seen["anti"]] == [2]


def test_rows_of_a_windowed_aggregation_below_the_join_are_not_late(shop: Shop) -> None:
    """Spark emits a window when its own watermark passes the end. The join must accept it."""
    counted = (
        shop.ordered()
        .groupBy(F.window("order_time", "10 minutes"), "id")
        .count()
        .select("id", F.window_time("window").alias("closed"), "count")
        .alias("o")
    )
    on = "o.id = d.id AND d.delivery_time BETWEEN o.closed AND o.closed + INTERVAL '1' HOUR"
    run = shop.run(stream_join(counted, shop.delivered(), on, "left"))
    shop.order((1, "10:00"), (1, "10:05"), (2, "10:05"))
    shop.deliver((1, "10:30"), (5, "10:31"))
    run.step()
    shop.order((3, "13:05"))
    shop.deliver((3, "13:15"))
    run.step()
    shop.order((4, "16:00"))
    shop.deliver((4, "16:00"))
    run.step()
    result_rows = sorted((row[0], row[2], row[3]) for row in run.rows())
    assert result_rows == [(1, 2, 1), (2, 1, None), (3, 1, 3)]
    assert run.total("lateRowsLeft") == run.total("lateRowsRight") == 0


@pytest.mark.parametrize("mode", ["update", "complete"])
@pytest.mark.parametrize("below", ["windows", "distinct"])
def test_aggregation_below_join_is_refused_outside_append_mode(
    shop: Shop, below: str, mode: str
) -> None:
    """The join would otherwise match a preliminary count and never correct it."""
    hours = shop.ordered().groupBy(F.window("order_time", "1 hour").alias("hour"), "id").count()
    closed = hours.select("id", F.window_time("hour").alias("order_time"))
    shop.ordered().createOrReplaceTempView("ordered")
    distinct = shop.session.sql("SELECT DISTINCT * FROM ordered")
    left = closed if below == "windows" else distinct
    joined = stream_join(left.alias("o"), shop.delivered(), WITHIN_THE_HOUR)
    writer = joined.writeStream.format("noop").outputMode(mode)
    with pytest.raises(AnalysisException) as refused:
        writer.start()
    assert refused.value.getCondition() == "STREAM_JOIN.UNSUPPORTED_OUTPUT_MODE"
    assert "append mode" in str(refused.value)


def test_window_over_a_time_without_output_watermark_is_refused(
    shop: Shop,
) -> None:
    """No bound limits the age of `packed`, so the window would never close."""
    stamped = shop.orders.stream().withColumn("packed", F.col("order_time"))
    orders = impose_order(impose_order(stamped, "order_time", "0 seconds"), "packed", "0 seconds")
    joined = stream_join(orders.alias("o"), shop.delivered(), WITHIN_THE_HOUR)
    windows = joined.groupBy(F.window("packed", "1 hour")).count()
    with pytest.raises(AnalysisException) as refused:
        windows.writeStream.format("noop").outputMode("append").start()
    assert "watermark" in str(refused.value)


def test_idle_union_branch_does_not_drop_nullable_conditions(
    shop: Shop, spark: SparkSession
) -> None:
    """Spark's optimizer sees one batch only: here one in which `channel` cannot be NULL."""
    app = Landing(spark, shop.folder / "app", "id INT, order_time TIMESTAMP, channel INT")
    web = shop.orders.stream().withColumn("channel", F.lit(7))
    both = web.unionByName(app.stream()).imposeOrder("order_time", "0 seconds").alias("o")
    on = WITHIN_THE_HOUR + " AND (o.channel IS NULL OR o.channel = d.id + 6)"
    run = shop.run(stream_join(both, shop.delivered(), on, "left"))
    shop.order((5, "10:00"))
    app.land({"id": 1, "order_time": at("10:00"), "channel": None})
    run.step()
    shop.order((2, "10:01"))
    shop.deliver((1, "10:30"))
    run.step()
    assert [(row[0], row[2], row[3]) for row in run.rows()] == [(1, None, 1)]


def test_window_of_a_computed_time_is_not_an_event_time(shop: Shop) -> None:
    """The window is hours before the row's event time, so rows on time would be late by it."""
    early = F.window(F.col("order_time") - F.expr("INTERVAL 2 HOURS"), "1 hour").alias("w")
    orders = impose_order(shop.orders.stream(), "order_time", "0 seconds")
    joined = stream_join(
        orders.select("id", "order_time", early).alias("o"), shop.delivered(), WITHIN_THE_HOUR
    )
    run = shop.run(joined)
    shop.order((1, "12:30"))
    shop.deliver((1, "12:30"))
    run.step()
    shop.order((2, "12:40"))
    shop.deliver((2, "12:40"))
    run.step()
    assert sorted(row[0] for row in run.rows()) == [1, 2]
    assert run.total("lateRowsLeft") == 0


def test_python_udf_over_both_inputs_filters_above_the_join(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    odd = F.udf(lambda x, y: (x + y) % 4 == 2, "boolean")
    joined = stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR)
    run = shop.run(joined.where(odd("o.id", "d.id")))
    shop.order((1, "10:00"), (2, "10:00"), (3, "10:00"))
    shop.deliver((1, "10:10"), (2, "10:10"), (3, "10:10"))
    assert met(run.step()) == [(1, 1), (3, 3)]
