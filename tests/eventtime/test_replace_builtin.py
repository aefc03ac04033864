"""Plain joins with Spark's watermarks that spark.sql.streamJoin.replaceBuiltin replaces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.orders import WITHIN_THE_HOUR, Shop, ids, met
from tests.other_sparks import ON_SPARK_4_0
from tests.streams import Landing, Run

SETTING = "spark.sql.streamJoin.replaceBuiltin"

OURS = "StreamJoin "
SPARKS = "StreamingSymmetricHashJoin"
WHY_NOT = "StreamJoin not used: "


@contextmanager
def replacing(spark: SparkSession, value: str = "true") -> Iterator[None]:
    spark.conf.set(SETTING, value)
    try:
        yield
    finally:
        spark.conf.unset(SETTING)


@pytest.fixture
def replaced(spark: SparkSession) -> Iterator[None]:
    with replacing(spark):
        yield


def orders(shop: Shop, lag: str = "0 seconds") -> DataFrame:
    return shop.orders.stream().withWatermark("order_time", lag).alias("o")


def deliveries(shop: Shop, lag: str = "0 seconds") -> DataFrame:
    return shop.deliveries.stream().withWatermark("delivery_time", lag).alias("d")


def plain_join(shop: Shop, how: str = "inner", on: str = WITHIN_THE_HOUR) -> DataFrame:
    return orders(shop).join(deliveries(shop), F.expr(on), how)


def explained(df: DataFrame, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    df.explain()
    return capsys.readouterr().out


def test_replace_builtin_is_off_by_default(
    shop: Shop, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    text = explained(plain_join(shop), capsys)
    assert SPARKS in text
    assert OURS not in text
    assert spark.conf.get(SETTING) == "false"


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", [(1, 1)]),
        ("left", [(1, 1), (2, None)]),
        ("right", [(1, 1), (None, 9)]),
        ("full", [(1, 1), (2, None), (None, 9)]),
        ("semi", [1]),
        ("anti", [2]),
    ],
)
def test_every_join_type_is_replaced(
    shop: Shop,
    replaced: None,
    how: str,
    expected: list[object],
    capsys: pytest.CaptureFixture[str],
) -> None:
    joined = plain_join(shop, how)
    text = explained(joined, capsys)
    assert OURS in text
    assert SPARKS not in text
    run = shop.run(joined)
    shop.order((1, "10:00"), (2, "10:05"), (3, "12:00"))
    shop.deliver((1, "10:40"), (9, "10:50"), (8, "12:10"))
    # The first batch emits all of them, as soon as the watermarks allow it.
    rows = run.step()[0]
    emitted: list[object] = (
        sorted(row[0] for row in rows) if how in ("semi", "anti") else list(ids(rows))
    )
    assert emitted == sorted(expected, key=str)
    assert run.operator()["operatorName"] == "streamJoin"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM o JOIN d ON o.id = d.id AND {bounds}",
        "SELECT * FROM o, d WHERE o.id = d.id AND {bounds}",
        "SELECT * FROM o JOIN d ON o.id = d.id WHERE {bounds}",
        "SELECT o.id, order_time, o.id, delivery_time FROM o JOIN d USING (id) WHERE {bounds}",
        "SELECT o.id, order_time, o.id, delivery_time FROM o NATURAL JOIN d WHERE {bounds}",
        "WITH a AS (SELECT * FROM o), b AS (SELECT * FROM d) "
        "SELECT * FROM a o JOIN b d ON o.id = d.id AND {bounds}",
        "SELECT id, order_time, id, delivery_time FROM "
        "(SELECT o.*, delivery_time FROM o JOIN d ON o.id = d.id) "
        "WHERE order_time <= delivery_time AND order_time >= delivery_time - INTERVAL '1' HOUR",
        "SELECT id, made, id, came FROM "
        "(SELECT o.id, order_time AS made, delivery_time AS came FROM o JOIN d ON o.id = d.id) "
        "WHERE came BETWEEN made AND made + INTERVAL '1' HOUR",
    ],
)
def test_sql_spellings_of_a_join_are_replaced(
    shop: Shop, spark: SparkSession, replaced: None, query: str
) -> None:
    for view, stream, time in [
        ("o", shop.orders.stream(), "order_time"),
        ("d", shop.deliveries.stream(), "delivery_time"),
    ]:
        stream.createOrReplaceTempView("plain")
        if ON_SPARK_4_0:  # has no such clause
            delayed = stream.withWatermark(time, "0 seconds")
        else:
            delayed = spark.sql(f"SELECT * FROM plain WATERMARK {time} DELAY OF INTERVAL 0 SECONDS")
        delayed.createOrReplaceTempView(view)
    bounds = "delivery_time BETWEEN order_time AND order_time + INTERVAL '1' HOUR"
    joined = spark.sql(query.format(bounds=bounds))
    run = shop.run(joined)
    shop.order((1, "10:00"), (2, "10:05"), (3, "10:06"))
    shop.deliver((1, "10:40"), (2, "11:30"))
    assert met(run.step()) == [(1, 1)]
    assert run.operator()["operatorName"] == "streamJoin"


def test_chain_on_two_event_times_runs_only_when_replaced(
    shop: Shop, spark: SparkSession, tmp_path: Path
) -> None:
    returns = Landing(spark, tmp_path / "returns", "id INT, return_time TIMESTAMP")

    def chain() -> DataFrame:
        returned = returns.stream().withWatermark("return_time", "0 seconds").alias("r")
        on = (
            "d.id = r.id AND r.return_time BETWEEN d.delivery_time "
            "AND d.delivery_time + INTERVAL '2' HOURS"
        )
        return plain_join(shop, "left").join(returned, F.expr(on), "left")

    shop.order((1, "10:00"), (2, "10:05"), (3, "15:00"))
    shop.deliver((1, "10:40"), (3, "15:10"))
    returns.land({"id": 1, "return_time": "2024-05-04T11:00:00"})
    returns.land({"id": 3, "return_time": "2024-05-04T15:30:00"})
    with pytest.raises((AnalysisException, StreamingQueryException)):
        shop.run(chain(), "spark").step()
    with replacing(spark):
        run = shop.run(chain())
        run.step()
    assert sorted(((r[0], r[2], r[4]) for r in run.rows()), key=str) == [
        (1, 1, 1),
        (2, None, None),
        (3, 3, 3),
    ]


@pytest.mark.parametrize(("how", "rows"), [("full", {1: 1, 3: None}), ("right", {1: 1})])
def test_where_clause_bounds_a_join_below_an_outer_join(
    shop: Shop,
    spark: SparkSession,
    tmp_path: Path,
    replaced: None,
    how: str,
    rows: dict[int, int | None],
) -> None:
    returns = Landing(spark, tmp_path / "returns", "id INT, return_time TIMESTAMP")
    returned = returns.stream().withWatermark("return_time", "0 seconds").alias("r")
    on = (
        "d.id = r.id AND r.return_time BETWEEN d.delivery_time "
        "AND d.delivery_time + INTERVAL '2' HOURS"
    )
    chain = (
        orders(shop)
        .join(deliveries(shop), F.expr("o.id = d.id"))
        .join(returned, F.expr(on), how)
        .where("delivery_time BETWEEN order_time AND order_time + INTERVAL '1' HOUR")
    )
    shop.order((1, "10:00"), (2, "10:05"), (3, "12:00"), (9, "18:00"))
    shop.deliver((1, "10:40"), (2, "11:40"), (3, "12:10"), (9, "20:00"))
    returns.land({"id": 1, "return_time": "2024-05-04T11:00:00"})
    # WHERE drops the returns that have no order.
    returns.land({"id": 7, "return_time": "2024-05-04T11:30:00"})
    returns.land({"id": 8, "return_time": "2024-05-04T20:00:00"})
    run = shop.run(chain)
    run.step()
    assert {row[0]: row[4] for row in run.rows()} == rows


def test_full_join_that_spark_refuses_runs_when_replaced(shop: Shop, spark: SparkSession) -> None:
    # The lower bound of orders follows only from both conjuncts together.
    on = "o.id = d.id AND abs(o.id) > 0 AND d.delivery_time - o.order_time <= INTERVAL '1' HOUR"
    on += " AND NOT d.delivery_time < o.order_time"
    run = shop.run(plain_join(shop, "full", on), "spark")
    shop.order((1, "10:00"), (2, "10:05"), (3, "12:00"))
    shop.deliver((1, "10:40"), (9, "10:50"), (8, "12:10"))
    with pytest.raises(AnalysisException, match=r"(?i)not supported"):
        run.step()
    with replacing(spark):
        assert met(shop.run(plain_join(shop, "full", on)).step()) == [
            (1, 1),
            (2, None),
            (None, 9),
        ]


def test_replaced_left_join_runs_in_update_mode(shop: Shop, replaced: None) -> None:
    rows: list[tuple[object, ...]] = []
    shop.order((1, "10:00"), (2, "10:05"), (3, "12:00"))
    shop.deliver((1, "10:40"), (8, "12:10"))
    query = (
        plain_join(shop, "left")
        .writeStream.outputMode("update")
        .foreachBatch(lambda batch, _: rows.extend(tuple(row) for row in batch.collect()))
        .trigger(availableNow=True)
        .option("checkpointLocation", str(shop.folder / "update"))
        .start()
    )
    query.awaitTermination()
    assert met({0: rows}) == [(1, 1), (2, None)]


def test_self_join_with_aliases_is_replaced(
    shop: Shop, replaced: None, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = shop.orders.stream().withWatermark("order_time", "0 seconds")
    on = (
        "a.id = b.id AND b.order_time > a.order_time "
        "AND b.order_time <= a.order_time + INTERVAL '1' HOUR"
    )
    joined = stream.alias("a").join(stream.alias("b"), F.expr(on), "left")
    assert OURS in explained(joined, capsys)
    run = shop.run(joined)
    shop.order((1, "10:00"), (1, "10:30"), (2, "10:05"), (3, "15:00"))
    rows = run.step()[0]
    assert sorted(str(r[3] and r[3].time()) for r in rows) == ["10:30:00", "None", "None"]
    assert run.operator()["operatorName"] == "streamJoin"


def test_self_join_using_columns_is_replaced(shop: Shop, replaced: None) -> None:
    stream = shop.orders.stream().withWatermark("order_time", "0 seconds")
    run = shop.run(stream.join(stream, ["id", "order_time"], "left"))
    shop.order((1, "10:00"), (2, "10:05"), (3, "15:00"))
    assert sorted(row[0] for row in run.step()[0]) == [1, 2, 3]
    assert run.operator()["operatorName"] == "streamJoin"


def test_replaced_join_between_aggregation_and_deduplication(shop: Shop, replaced: None) -> None:
    distinct = orders(shop).dropDuplicates(["id", "order_time"]).alias("o")
    joined = distinct.join(deliveries(shop), F.expr(WITHIN_THE_HOUR), "left")
    counts = joined.groupBy(F.window("order_time", "1 hour")).count()
    run = shop.run(counts.select("window.start", "count"))
    shop.order((1, "10:00"), (1, "10:00"), (2, "10:05"), (3, "12:00"))
    shop.deliver((1, "10:40"), (8, "12:10"))
    run.step()
    shop.order((4, "16:00"))
    shop.deliver((8, "16:10"))
    run.step()
    assert sorted((r[0].hour, r[1]) for r in run.rows()) == [(10, 2), (12, 1)]
    names = [s["operatorName"] for s in run.progress[0]["stateOperators"]]
    assert names == ["stateStoreSave", "streamJoin", "dedupe"]


def test_stream_table_join_is_not_replaced(
    shop: Shop, spark: SparkSession, replaced: None, capsys: pytest.CaptureFixture[str]
) -> None:
    names = spark.createDataFrame([(1, "one")], "id INT, name STRING")
    text = explained(orders(shop).join(names, "id"), capsys)
    assert "SortMergeJoin" in text or "BroadcastHashJoin" in text
    assert "StreamJoin" not in text


@pytest.mark.parametrize(
    ("on", "reason"),
    [
        ("o.id = d.id", "the condition (o.id = d.id) does not bound how long"),
        ("o.id = d.id AND o.order_time >= d.delivery_time", "Add the missing inequality"),
        (
            "o.id = d.id AND (o.order_time = d.delivery_time OR o.id = 1)",
            "the time bound is inside OR",
        ),
    ],
)
def test_explain_states_why_a_join_is_not_replaced(
    shop: Shop, replaced: None, on: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = explained(plain_join(shop, on=on), capsys)
    assert WHY_NOT in text
    assert reason in text
    assert SPARKS in text
    run = shop.run(plain_join(shop, on=on))
    shop.order((1, "10:00"))
    shop.deliver((1, "10:00"))
    assert met(run.step()) == [(1, 1)]
    assert run.operator("symmetricHashJoin")["numRowsTotal"] == 2


def test_python_udf_over_both_inputs_prevents_replacement_in_the_condition(
    shop: Shop, replaced: None, capsys: pytest.CaptureFixture[str]
) -> None:
    same = F.udf(lambda a, b: a == b, "BOOLEAN", useArrow=False)
    condition = F.expr(WITHIN_THE_HOUR) & same("o.id", "d.id")
    joined = orders(shop).join(deliveries(shop), condition)
    text = explained(joined, capsys)
    assert SPARKS in text
    # A function of one input, or above the join, does not prevent the replacement.
    even = F.udf(lambda a: a % 2 == 0, "BOOLEAN", useArrow=False)
    joined = orders(shop).join(deliveries(shop), F.expr(WITHIN_THE_HOUR) & even("o.id"), "left")
    run = shop.run(joined.where(same(F.lit(1), F.lit(1)) | same("o.id", "d.id")))
    shop.order((1, "10:00"), (2, "10:05"), (3, "12:00"))
    shop.deliver((1, "10:40"), (2, "10:40"), (8, "12:10"))
    assert met(run.step()) == [(1, None), (2, 2), (3, None)]
    assert run.operator()["operatorName"] == "streamJoin"


def test_explain_names_the_join_of_a_chain_that_lacks_a_bound(
    shop: Shop, replaced: None, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = plain_join(shop, "left", "o.id = d.id AND order_time <= delivery_time")
    # Spark does not plan its own join on two event times of one input.
    below = kept.select("o.id", "order_time").alias("o")
    again = shop.deliveries.stream().withWatermark("delivery_time", "0 seconds").alias("e")
    on = "o.id = e.id AND e.delivery_time BETWEEN order_time AND order_time + INTERVAL '1' HOUR"
    upper, lower = explained(below.join(again, F.expr(on), "left"), capsys).split(WHY_NOT)[1:]
    assert upper.startswith("a join below it remains Spark's")
    assert "Add the missing" not in upper
    assert "Add the missing inequality" in lower


def test_explain_names_the_input_without_a_watermark(
    shop: Shop, replaced: None, capsys: pytest.CaptureFixture[str]
) -> None:
    joined = orders(shop).join(shop.deliveries.stream().alias("d"), F.expr(WITHIN_THE_HOUR))
    text = explained(joined, capsys)
    assert f"{WHY_NOT}the right input (" in text
    assert SPARKS in text


def test_setting_takes_effect_when_the_query_starts(shop: Shop, spark: SparkSession) -> None:
    run = shop.run(plain_join(shop))
    with replacing(spark):
        shop.order((1, "10:00"))
        shop.deliver((1, "10:30"))
        assert met(run.step()) == [(1, 1)]
    assert run.operator()["operatorName"] == "streamJoin"


@pytest.mark.parametrize("first", ["true", "false"])
def test_checkpoint_of_the_other_operator_is_refused_unchanged(
    shop: Shop, spark: SparkSession, first: str
) -> None:
    with replacing(spark, first):
        run = shop.run(plain_join(shop, "left"))
        shop.order((1, "10:00"))
        run.step()
    shop.deliver((1, "10:30"))
    with replacing(spark, "false" if first == "true" else "true"):
        other = Run(plain_join(shop, "left"), run.checkpoint)
        with pytest.raises(StreamingQueryException) as failed:
            other.step()
    message = str(failed.value)
    assert "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA" in message
    assert "streamJoin" in message
    assert "symmetricHashJoin" in message
    # The failed start overwrote nothing: the original setting continues.
    with replacing(spark, first):
        assert met(Run(plain_join(shop, "left"), run.checkpoint).step()) == [(1, 1)]


def test_invalid_value_of_the_setting_is_refused(spark: SparkSession) -> None:
    with pytest.raises(Exception, match=SETTING):
        spark.conf.set(SETTING, "perhaps")


def test_retention_setting_does_not_bound_a_builtin_join(
    shop: Shop, replaced: None, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    spark.conf.set("spark.sql.streamJoin.retention", "1 hour")
    try:
        left = shop.orders.stream().withWatermark("order_time", "0 seconds").alias("o")
        right = shop.deliveries.stream().withWatermark("delivery_time", "0 seconds").alias("d")
        left.join(right, F.expr("o.id = d.id")).explain()
    finally:
        spark.conf.unset("spark.sql.streamJoin.retention")
    assert "StreamJoin not used" in capsys.readouterr().out
