"""Late rows that the join emits (`late="emit"`) instead of dropping them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from examples.kafka_pipeline import run_of
from streamjoin import How, impose_order, stream_join
from tests.orders import WITHIN_THE_HOUR, Ids, Shop, at, ids
from tests.parameters import STATE_FORMATS
from tests.streams import Landing, Run

LAG = "10 minutes"
ORDER_LATE = ("left", "order_time", "2024-05-04 11:50:00")
DELIVERY_LATE = ("right", "delivery_time", "2024-05-04 12:20:00")
ON_TIME_ALONE = "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"


def emitting(shop: Shop, how: How = "inner", on: Any = WITHIN_THE_HOUR) -> DataFrame:
    return stream_join(shop.ordered(LAG), shop.delivered(LAG), on, how, late="emit")


def late(run: Run) -> list[tuple[Any, ...]]:
    """The late rows: order id, delivery id, and the reason."""
    rows = [row for row in run.rows() if row[-1] is not None]
    return sorted(((*row[:-1:2], tuple(row[-1])) for row in rows), key=str)


def in_time(run: Run) -> Ids:
    return ids([row for row in run.rows() if row[-1] is None])


def with_late_rows(shop: Shop, run: Run) -> None:
    shop.order((1, "10:00"), (2, "12:00"))
    shop.deliver((1, "10:30"), (2, "12:30"))
    run.step()
    # the limits: strictly below 11:50 and 12:20 is late
    shop.order((3, "11:49"), (4, "11:50"), (None, "09:00"), (5, None))
    shop.deliver((3, "12:19"), (4, "12:20"))
    run.step()
    shop.order((9, "20:00"))
    shop.deliver((8, "20:00"))
    run.step()


@pytest.mark.connect
@pytest.mark.parametrize("how", ["inner", "full"])
def test_late_rows_with_selected_reordered_and_renamed_columns(shop: Shop, how: How) -> None:
    joined = emitting(shop, how)
    reason = joined.columns[-1]
    run = shop.run(joined.select(F.col(reason).alias("why"), "d.id", "o.id"), "renamed")
    as_it_is = shop.run(joined.select(reason, "d.id", "o.id"), "as_it_is")
    only_why = shop.run(joined.select(reason), "only_why")
    without = shop.run(joined.select("o.id"), "without")
    shop.order((1, "10:00"), (2, "12:00"))
    shop.deliver((1, "10:30"), (2, "12:30"))
    runs = (run, as_it_is, only_why, without)
    for each in runs:
        each.step()
    shop.order((3, "11:49"), (4, "11:50"))
    shop.deliver((3, "12:19"), (4, "12:20"))
    for each in runs:
        each.step()
    found = {(why and tuple(why), delivery, order) for why, delivery, order in run.rows()}
    assert found == {
        (None, 1, 1),
        (None, 2, 2),
        (None, 4, 4),
        (ORDER_LATE, None, 3),
        (DELIVERY_LATE, 3, None),
    }
    assert sorted(as_it_is.rows(), key=str) == sorted(run.rows(), key=str)
    assert sorted((row[0] for row in run.rows()), key=str) == sorted(
        (row[0] for row in only_why.rows()), key=str
    )
    assert sorted(str(row[0]) for row in without.rows()) == ["1", "2", "3", "4", "None"]


@pytest.mark.connect
@pytest.mark.parametrize("how", ["inner", "left", "right", "full"])
def test_late_row_is_emitted_once_with_its_columns_and_reason(shop: Shop, how: How) -> None:
    run = shop.run(emitting(shop, how))
    with_late_rows(shop, run)
    assert late(run) == [
        (3, None, ORDER_LATE),
        (None, 3, DELIVERY_LATE),
        (None, None, ORDER_LATE),
    ]
    assert [row[1].isoformat() for row in run.rows() if row[0] == 3] == [at("11:49")]
    padded: Ids = [(5, None)] if how in ("left", "full") else []
    assert in_time(run) == sorted([(1, 1), (2, 2), (4, 4), *padded], key=str)
    metrics = ("lateRowsLeft", "lateRowsRight", "nullPaddedRows")
    assert [run.total(name) for name in metrics] == [2, 1, len(padded)]


@pytest.mark.connect
@pytest.mark.parametrize(("how", "expected"), [("semi", [1, 2, 4]), ("anti", [5])])
def test_semi_and_anti_joins_emit_late_left_rows_only(
    shop: Shop, how: How, expected: list[int]
) -> None:
    run = shop.run(emitting(shop, how))
    with_late_rows(shop, run)
    assert late(run) == [(3, ORDER_LATE), (None, ORDER_LATE)]
    assert sorted(row[0] for row in run.rows() if row[-1] is None) == expected
    assert (run.total("lateRowsLeft"), run.total("lateRowsRight")) == (2, 1)


@pytest.mark.connect
def test_late_emit_adds_a_nullable_late_struct_column(shop: Shop) -> None:
    result = emitting(shop)
    assert result.columns == ["id", "order_time", "id", "delivery_time", "late"]
    assert result.schema["late"].dataType.simpleString() == (
        "struct<input:string,column:string,watermark:string>"
    )
    assert all(field.nullable for field in result.schema.fields)
    dropped = stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR, late="drop")
    assert dropped.columns == ["id", "order_time", "id", "delivery_time"]


@pytest.mark.connect
def test_batch_query_has_the_late_column(shop: Shop, spark: SparkSession) -> None:
    orders = spark.sql("SELECT 1 AS id, TIMESTAMP '2024-05-04 10:00:00' AS order_time").alias("o")
    deliveries = orders.select("id", F.col("order_time").alias("delivery_time")).alias("d")
    batch = stream_join(orders, deliveries, WITHIN_THE_HOUR, late="emit")
    assert batch.dtypes == emitting(shop).dtypes
    assert [row.late for row in batch.collect()] == [None]


@pytest.mark.connect
@pytest.mark.parametrize(
    ("kind", "early", "old", "shown"),
    [
        ("TIMESTAMP_NTZ", "2024-05-04T10:00:00.5", "2024-05-04T10:00:00", "2024-05-04 10:00:00.5"),
        ("DATE", "2024-05-04", "2024-05-03", "2024-05-04"),
        ("BIGINT", -5, -6, "-5"),
        ("SMALLINT", 7, 6, "7"),
    ],
)
def test_late_watermark_is_formatted_as_the_column_type(
    spark: SparkSession, tmp_path: Path, kind: str, early: object, old: object, shown: str
) -> None:
    lag = 0 if isinstance(early, int) else "0 seconds"
    a, b = (Landing(spark, tmp_path / name, f"k INT, {name}_time {kind}") for name in "ab")
    left, right = (
        impose_order(each.stream(), f"{name}_time", lag) for each, name in ((a, "a"), (b, "b"))
    )
    joined = stream_join(left, right, "a_time = b_time", "full", late="emit")
    run = Run(joined, tmp_path / "checkpoint")
    a.land({"k": 1, "a_time": early})
    run.step()
    a.land({"k": 2, "a_time": old})
    run.step()
    assert [(row[0], *row[-1]) for row in run.rows()] == [(2, "left", "a_time", shown)]
    cast = spark.sql(f"SELECT CAST('{shown}' AS {kind}) AS w, CAST('{early}' AS {kind}) AS e")
    assert cast.where("w = e").count() == 1


@pytest.mark.connect
def test_filter_above_applies_to_emitted_late_rows(shop: Shop) -> None:
    run = shop.run(emitting(shop).where("d.id < 4 OR late.column = 'order_time'"))
    with_late_rows(shop, run)
    assert in_time(run) == [(1, 1), (2, 2)]
    assert late(run) == [(3, None, ORDER_LATE), (None, 3, DELIVERY_LATE), (None, None, ORDER_LATE)]


@pytest.mark.connect
def test_filter_above_late_rows_is_not_pushed_down(shop: Shop) -> None:
    run = shop.run(emitting(shop).where("d.id < 4"))
    with_late_rows(shop, run)
    assert late(run) == [(None, 3, DELIVERY_LATE)]
    # The metric counts all late rows, filtered or not.
    assert run.total("lateRowsLeft") == 2


@pytest.mark.connect
@pytest.mark.parametrize("how", ["inner", "right", "full"])
def test_using_columns_join_keeps_keys_of_late_rows(shop: Shop, how: How) -> None:
    orders = shop.ordered().selectExpr("id", "order_time AS t", "'o' AS of")
    deliveries = shop.delivered().selectExpr(
        "CAST(id AS BIGINT)", "delivery_time AS t", "'d' AS by"
    )
    result = stream_join(orders, deliveries, ["id", "t"], how, late="emit")
    assert result.columns == ["id", "t", "of", "by", "late"]
    run = shop.run(result)
    shop.order((1, "10:00"))
    shop.deliver((1, "10:00"))
    run.step()
    shop.order((2, "09:00"))
    shop.deliver((3, "09:01"))
    run.step()
    rows = sorted(
        (row[0], row[1].isoformat(), *row[2:4], row[4] and row[4][0]) for row in run.rows()
    )
    assert rows == [
        (1, at("10:00"), "o", "d", None),
        (2, at("09:00"), "o", None, "left"),
        (3, at("09:01"), None, "d", "right"),
    ]
    assert {row[4][2] for row in run.rows() if row[4]} == {"2024-05-04 10:00:00"}


@pytest.mark.connect
def test_late_key_out_of_range_of_the_merged_column_is_null(shop: Shop) -> None:
    deliveries = shop.delivered().selectExpr("id + 3000000000L AS id", "delivery_time")
    within = shop.ordered().streamJoin(deliveries, ["id"], retention="1 hour", late="emit")
    run = shop.run(within)
    shop.deliver((1, "10:00"))
    run.step()
    shop.deliver((1, "09:00"))
    run.step()
    assert [(row[0], row[2].isoformat(), row[3][0]) for row in run.rows()] == [
        (None, at("09:00"), "right")
    ]


@pytest.mark.connect
def test_self_join_emits_a_late_row_per_input(shop: Shop) -> None:
    orders = shop.ordered()
    on = "a.id = b.id AND b.order_time BETWEEN a.order_time AND a.order_time + INTERVAL '1' HOUR"
    run = shop.run(stream_join(orders.alias("a"), orders.alias("b"), on, late="emit"))
    shop.order((1, "10:00"))
    run.step()
    shop.order((2, "09:00"))
    run.step()
    assert in_time(run) == [(1, 1)]
    assert late(run) == [
        (2, None, ("left", "a.order_time", "2024-05-04 10:00:00")),
        (None, 2, ("right", "b.order_time", "2024-05-04 10:00:00")),
    ]


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_join_without_equality_emits_each_late_row_once(
    spark: SparkSession, tmp_path: Path, how: How
) -> None:
    shop = partitioned(spark, tmp_path, 4)
    run = shop.run(emitting(shop, how, ON_TIME_ALONE))
    shop.order((0, "12:00"))
    shop.deliver((0, "12:30"))
    run.step()
    shop.order(*((n, f"10:{n}") for n in range(10, 18)))
    shop.deliver(*((n, f"10:{n}") for n in range(20, 28)))
    run.step()
    if how in ("semi", "anti"):
        assert late(run) == [(n, ORDER_LATE) for n in range(10, 18)]
    else:
        orders = [(n, None, ORDER_LATE) for n in range(10, 18)]
        assert late(run) == orders + [(None, n, DELIVERY_LATE) for n in range(20, 28)]
    assert (run.total("lateRowsLeft"), run.total("lateRowsRight")) == (8, 8)


def partitioned(spark: SparkSession, folder: Path, partitions: int) -> Shop:
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", str(partitions))
    return Shop(session, folder)


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_restarts_may_alternate_late_drop_and_late_emit(
    spark: SparkSession, tmp_path: Path, state_format: str
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.streamJoin.stateFormat", state_format)
    shop = Shop(session, tmp_path)
    emit = shop.run(emitting(shop, "left"))
    drop = shop.run(stream_join(shop.ordered(LAG), shop.delivered(LAG), WITHIN_THE_HOUR, "left"))
    shop.order((1, "12:00"))
    drop.step()
    shop.order((2, "10:00"), (3, "12:10"))
    emit.step()
    shop.order((4, "10:00"))
    shop.deliver((1, "12:30"))
    drop.step()
    shop.order((5, "10:00"))
    shop.deliver((3, "12:30"))
    emit.step()
    assert late(emit) == [
        (2, None, ORDER_LATE),
        (5, None, ("left", "order_time", "2024-05-04 12:00:00")),
    ]
    assert in_time(emit) == [(3, 3)]
    assert ids(drop.rows()) == [(1, 1)]


def test_rerun_batch_emits_the_same_late_rows(shop: Shop) -> None:
    run = shop.run(emitting(shop))
    shop.order((1, "12:00"))
    shop.deliver((1, "12:30"))
    run.step()
    shop.order((2, "10:00"), (2, "10:00"), (3, "12:10"))
    shop.deliver((3, "12:30"), (4, "10:00"))
    run.step()
    before = dict(run.batches)
    last = max(before)
    for name in (str(last), f".{last}.crc"):
        (run.checkpoint / "commits" / name).unlink(missing_ok=True)
    run.batches.clear()
    assert list(run.step()) == [last]
    assert sorted(run.batches[last], key=str) == sorted(before[last], key=str)
    assert late(run) == [(2, None, ORDER_LATE)] * 2 + [(None, 4, DELIVERY_LATE)]


def test_foreach_batch_splits_late_and_joined_rows(shop: Shop, tmp_path: Path) -> None:
    def write(batch: DataFrame, number: int) -> None:
        run = run_of(batch.sparkSession, str(tmp_path / "checkpoint"))
        batch.persist()
        for table, rows in (
            ("late", batch.where("late IS NOT NULL").select("o.id", "late.*")),
            ("joined", batch.where("late IS NULL").select("o.id", "d.delivery_time")),
        ):
            folder = tmp_path / table / f"run={run}" / f"batch={number}"
            rows.write.mode("overwrite").parquet(str(folder))
        batch.unpersist()

    def step() -> None:
        writer = emitting(shop).writeStream.foreachBatch(write).trigger(availableNow=True)
        started = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        started.awaitTermination()

    shop.order((1, "12:00"))
    shop.deliver((1, "12:30"))
    step()
    shop.order((2, "10:00"))
    step()
    late_table, joined = (
        shop.session.read.parquet(str(tmp_path / table)).drop("run", "batch").collect()
        for table in ("late", "joined")
    )
    assert [tuple(row) for row in late_table] == [(2, *ORDER_LATE)]
    assert [row.id for row in joined] == [1]


def test_grouping_by_the_other_inputs_key_puts_late_rows_in_null_group(
    spark: SparkSession, tmp_path: Path
) -> None:
    shop = partitioned(spark, tmp_path, 4)
    counted = emitting(shop).groupBy("d.id").count()
    found: dict[int, list[tuple[Any, ...]]] = {}

    def step() -> None:
        def keep(batch: DataFrame, number: int) -> None:
            found[number] = [tuple(row) for row in batch.collect()]

        writer = counted.writeStream.outputMode("complete").foreachBatch(keep)
        checkpointed = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        checkpointed.trigger(availableNow=True).start().awaitTermination()

    shop.order((1, "12:00"))
    shop.deliver((1, "12:30"))
    step()
    shop.order(*((n, "10:00") for n in range(2, 12)))
    step()
    assert sorted(found[max(found)], key=str) == [(1, 1), (None, 10)]


@pytest.mark.connect
def test_window_above_counts_late_rows_while_it_is_open(shop: Shop) -> None:
    result = emitting(shop)
    runs = [
        shop.run(rows.groupBy(F.window("order_time", "10 minutes")).count(), name)
        for name, rows in (("all", result), ("in time", result.where("late IS NULL")))
    ]
    shop.order((1, "12:00"))
    shop.deliver((1, "12:30"))
    for run in runs:
        run.step()
    # Both are below 11:50. Spark's watermark above the join is an hour lower.
    shop.order((2, "11:45"), (3, "09:00"))
    shop.deliver((4, "09:00"))
    for run in runs:
        run.step()
    shop.order((9, "20:00"))
    shop.deliver((9, "20:00"))
    for run in runs:
        run.step()
        run.step()
    found = [{row[0].start.hour: row[1] for row in run.rows()} for run in runs]
    assert found == [{12: 1, 11: 1}, {12: 1}]


@pytest.mark.connect
def test_explain_mentions_emitted_late_rows(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    def explained(result: DataFrame) -> str:
        result.explain()
        return capsys.readouterr().out

    assert "late rows are emitted, with the reason in late" in explained(emitting(shop))
    assert "late rows of o are emitted, with the reason in late" in explained(
        emitting(shop, "semi")
    )
    dropping = stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR)
    assert "late rows" not in explained(dropping)


@pytest.mark.connect
def test_invalid_late_argument_is_refused(shop: Shop) -> None:
    with pytest.raises(PySparkValueError, match="late"):
        stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR, late="keep")  # type: ignore[arg-type]
    with pytest.raises(PySparkTypeError):
        stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR, late=True)  # type: ignore[arg-type]


def test_existing_late_column_in_the_result_is_refused(shop: Shop) -> None:
    orders = shop.ordered().withColumn("LATE", F.lit(1)).alias("o")
    with pytest.raises(AnalysisException, match=r"the result already has one: o\.LATE") as refused:
        stream_join(orders, shop.delivered(), WITHIN_THE_HOUR, late="emit")
    assert refused.value.getCondition() == "STREAM_JOIN.LATE_COLUMN_EXISTS"
    # The right columns of a semi join are not in its result.
    deliveries = shop.delivered().withColumn("late", F.lit(1)).alias("d")
    semi = stream_join(shop.ordered(), deliveries, WITHIN_THE_HOUR, "semi", late="emit")
    assert semi.columns == ["id", "order_time", "late"]


# ---- late rows in joins above ----

RETURNED = "o.id = r.id AND r.return_time BETWEEN o.order_time AND o.order_time + INTERVAL '3' HOUR"
RETURN_LATE = ("right", "return_time", "2024-05-04 12:50:00")


@pytest.fixture
def returns(shop: Shop) -> Landing:
    return landing_returns(shop)


def landing_returns(shop: Shop) -> Landing:
    return Landing(shop.session, shop.folder / "returns", "id INT, return_time TIMESTAMP")


def returned(returns: Landing) -> DataFrame:
    return impose_order(returns.stream(), "return_time", LAG).alias("r")


def late_everywhere(shop: Shop, returns: Landing, run: Run) -> None:
    shop.order((1, "12:00"))
    shop.deliver((1, "12:30"))
    returns.land({"id": 1, "return_time": at("13:00")})
    run.step()
    # These rows are late for the first join. The second join allows another hour and would
    # accept both as on time.
    shop.order((2, "11:45"))
    shop.deliver((2, "12:15"))
    returns.land({"id": 2, "return_time": at("13:10")}, {"id": 1, "return_time": at("12:49")})
    run.step()


@pytest.mark.connect
def test_upper_join_emits_late_rows_of_the_lower_join(shop: Shop, returns: Landing) -> None:
    second = stream_join(emitting(shop, "left"), returned(returns), RETURNED, late="emit")
    assert second.columns == [
        *("id", "order_time", "id", "delivery_time", "id", "return_time", "late")
    ]
    run = shop.run(second)
    late_everywhere(shop, returns, run)
    assert [row[:-1:2] for row in run.rows() if row[-1] is None] == [(1, 1, 1)]
    assert late(run) == [
        (2, None, None, ORDER_LATE),
        (None, 2, None, DELIVERY_LATE),
        (None, None, 1, RETURN_LATE),
    ]
    # Each late row is counted by the join that found it late.
    counts = [
        (each["customMetrics"]["lateRowsLeft"], each["customMetrics"]["lateRowsRight"])
        for each in run.progress[max(run.progress)]["stateOperators"]
    ]
    assert sorted(counts) == [(0, 1), (1, 1)]


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_late_rows_pass_an_upper_join_without_equality_once(
    spark: SparkSession, tmp_path: Path, how: How
) -> None:
    shop = partitioned(spark, tmp_path, 3)
    returns = landing_returns(shop)
    on = "r.return_time BETWEEN o.order_time AND o.order_time + INTERVAL '3' HOUR"
    first = emitting(shop, "left").withColumnRenamed("late", "why").where("o.id < 9 OR d.id < 9")
    run = shop.run(stream_join(first, returned(returns), on, how, late="emit"))
    late_everywhere(shop, returns, run)
    if how in ("semi", "anti"):
        assert late(run) == [(2, None, ORDER_LATE), (None, 2, DELIVERY_LATE)]
    else:
        assert late(run) == [
            (2, None, None, ORDER_LATE),
            (None, 2, None, DELIVERY_LATE),
            (None, None, 1, RETURN_LATE),
        ]


@pytest.mark.connect
@pytest.mark.parametrize(
    "kept", ["late IS NULL", "o.id > 0 AND late.input IS NULL", "NOT late IS NOT NULL"]
)
def test_filtered_late_rows_do_not_reach_an_upper_join(
    shop: Shop, returns: Landing, kept: str
) -> None:
    first = emitting(shop, "left").where(kept)
    plain = shop.run(stream_join(first.drop("late"), returned(returns), RETURNED), "plain")
    late_everywhere(shop, returns, plain)
    assert ids(plain.rows()) == [(1, 1)]
    again = shop.run(stream_join(first, returned(returns), RETURNED, late="emit"), "again")
    again.step()
    shop.order((3, "11:00"))
    returns.land({"id": 3, "return_time": at("12:00")})
    again.step()
    assert late(again) == [(None, None, 3, ("right", "return_time", "2024-05-04 13:00:00"))]


def test_unfiltered_late_rows_below_a_join_are_refused(
    shop: Shop, returns: Landing, spark: SparkSession
) -> None:
    first = emitting(shop, "left")

    def refused(left: DataFrame, **options: Any) -> str:
        with pytest.raises(AnalysisException, match="late IS NULL") as failed:
            stream_join(left, returned(returns), RETURNED, **options)
        assert failed.value.getCondition() == "STREAM_JOIN.LATE_ROWS_BELOW"
        return str(failed.value)

    assert "the left input (o.id, o.order_time, d.id, d.delivery_time, late)" in refused(first)
    refused(first.withColumnRenamed("late", "why"))
    refused(first.where("late IS NULL OR o.id = 1"))
    refused(first.where("late IS NOT NULL").drop("late"))
    named = first.select("o.id", "order_time", "late")
    refused(named.union(named.where("late IS NULL")).alias("o"))
    # Without the column, late rows can no longer be identified.
    refused(first.drop("late"), late="emit")
    with pytest.raises(AnalysisException, match="the right input") as of_semi:
        stream_join(returned(returns), first, RETURNED, "semi", late="emit")
    assert of_semi.value.getCondition() == "STREAM_JOIN.LATE_ROWS_BELOW"
    # also with Spark's join syntax
    with pytest.raises(AnalysisException, match="LATE_ROWS_BELOW"):
        first.join(returned(returns), F.expr(RETURNED))
    first.select("o.*", "late").createOrReplaceTempView("first_joined")
    returned(returns).createOrReplaceTempView("returned")
    text = f"SELECT o.id FROM first_joined AS o JOIN returned AS r ON {RETURNED}"
    with pytest.raises(AnalysisException, match="LATE_ROWS_BELOW"):
        spark.sql(text)
    filtered = text.replace(
        "FROM first_joined", "FROM (SELECT * FROM first_joined WHERE late IS NULL)"
    )
    assert spark.sql(filtered).columns == ["id"]


@pytest.mark.connect
def test_late_rows_through_self_join_and_union_of_a_join(shop: Shop) -> None:
    first = emitting(shop, "left").select("o.id", "order_time", "late")
    on = "a.id = b.id AND b.order_time BETWEEN a.order_time AND a.order_time + INTERVAL '1' HOUR"
    both = stream_join(first.alias("a"), first.alias("b"), on, late="emit")
    assert both.columns == ["id", "order_time", "id", "order_time", "late"]
    run = shop.run(both, "both")
    with_late_rows(shop, run)
    assert in_time(run) == [(1, 1), (2, 2), (4, 4)]
    assert late(run) == [
        (3, None, ORDER_LATE),
        (None, 3, ORDER_LATE),
        *[(None, None, ORDER_LATE)] * 2,
        *[(None, None, DELIVERY_LATE)] * 2,
    ]
    united = first.union(first).alias("o")
    joined = stream_join(united, shop.delivered(LAG), WITHIN_THE_HOUR, late="emit")
    again = shop.run(joined, "united")
    again.step()
    shop.order((6, "19:00"))
    again.step()
    assert late(again) == [(6, None, ("left", "order_time", "2024-05-04 19:50:00"))] * 2
