"""Refused queries: the error condition, and the advice in the message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

KEY = "o.id = d.id AND "
AFTER = "d.delivery_time >= o.order_time"


@pytest.fixture(scope="module")
def orders(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    folder: Path = tmp_path_factory.mktemp("orders")
    schema = "id INT, order_time TIMESTAMP, seq BIGINT, price DOUBLE, day DATE"
    return spark.readStream.schema(schema).json(str(folder))


@pytest.fixture(scope="module")
def deliveries(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    folder: Path = tmp_path_factory.mktemp("deliveries")
    return spark.readStream.schema("id INT, delivery_time TIMESTAMP, due TIMESTAMP").json(
        str(folder)
    )


def condition_of(action: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(AnalysisException) as refused:
        action()
    error = refused.value
    assert error.getSqlState() == "42K0E"
    # PySpark looks up the text in Spark's own table of error conditions.
    assert str(error.getCondition()) in error.getMessage()
    return str(error.getCondition()).removeprefix("STREAM_JOIN."), str(error)


@pytest.mark.parametrize(
    ("on", "condition", "hint"),
    [
        (KEY + "TRUE", "UNBOUNDED_STATE", "o.order_time >= d.delivery_time - INTERVAL '1' HOUR"),
        (KEY + AFTER, "UNBOUNDED_STATE", "o.order_time >= d.delivery_time - INTERVAL '1' HOUR"),
        (
            KEY + "o.order_time >= d.delivery_time - INTERVAL '1' HOUR",
            "UNBOUNDED_STATE",
            "d.delivery_time >= o.order_time - INTERVAL '1' HOUR",
        ),
        (
            KEY + "(d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR "
            "OR o.price > 3)",
            "DISJUNCTIVE_BOUND",
            "o.order_time >= d.delivery_time - INTERVAL '1' HOUR",
        ),
        (
            KEY + "o.order_time <=> d.delivery_time",
            "NON_CONSTANT_BOUND",
            "matches NULL with NULL",
        ),
        (
            KEY + "abs(CAST(o.order_time AS DOUBLE) - CAST(d.delivery_time AS DOUBLE)) < 60",
            "NON_CONSTANT_BOUND",
            "unix_seconds",
        ),
        (
            KEY + "window(o.order_time, '1 hour') = window(d.delivery_time, '1 hour')",
            "UNSUPPORTED_CONDITION",
            "column of each input",
        ),
        (KEY + AFTER + " AND current_user() = 'me'", "UNSUPPORTED_CONDITION", "constant"),
        (
            KEY + AFTER + " AND d.delivery_time <= o.order_time + INTERVAL '1' MONTH",
            "CALENDAR_INTERVAL",
            "INTERVAL '31' DAY",
        ),
        (
            KEY + AFTER + " AND d.delivery_time <= o.order_time + (d.due - o.order_time)",
            "NON_CONSTANT_BOUND",
            "o.order_time >= d.delivery_time - INTERVAL '1' HOUR",
        ),
    ],
)
def test_condition_without_usable_bounds_is_refused(
    orders: DataFrame, deliveries: DataFrame, on: str, condition: str, hint: str
) -> None:
    left = orders.imposeOrder("order_time", "1 minute").alias("o")
    right = deliveries.imposeOrder("delivery_time", "1 minute").alias("d")
    name, text = condition_of(lambda: left.streamJoin(right, on, "left"))
    assert name == condition
    assert hint in text
    # An inner join is refused after analysis, when Spark would add the plan to the message.
    name, text = condition_of(lambda: left.streamJoin(right, on))
    assert name == condition
    assert "ImposeOrder" not in text


@pytest.mark.parametrize(
    "part",
    [
        "o.id > (SELECT max(id) FROM limits)",
        "EXISTS (SELECT 1 FROM limits WHERE limits.id = o.id)",
        "d.id IN (SELECT id FROM limits)",
        "o.id + of_python(d.id) > 3",
        "of_python(o.id + d.id) > 3",
    ],
)
def test_subqueries_and_two_sided_python_functions_are_refused(
    orders: DataFrame, deliveries: DataFrame, spark: SparkSession, part: str
) -> None:
    spark.range(5).createOrReplaceTempView("limits")
    spark.udf.register("of_python", lambda n: n, "int")
    left = orders.imposeOrder("order_time", "1 minute").alias("o")
    right = deliveries.imposeOrder("delivery_time", "1 minute").alias("d")
    on = KEY + AFTER + " AND o.order_time >= d.delivery_time - INTERVAL '1' HOUR AND " + part
    if part.startswith("o.id + of_python"):
        assert left.streamJoin(right, on).isStreaming  # a function of one input is evaluated below
        return
    name, text = condition_of(lambda: left.streamJoin(right, on))
    assert name == "UNSUPPORTED_CONDITION"
    assert ("sub-query" in text) != ("Python function" in text)


def test_aliased_condition_is_accepted(orders: DataFrame, deliveries: DataFrame) -> None:
    left = orders.imposeOrder("order_time", "1 minute").alias("o")
    right = deliveries.imposeOrder("delivery_time", "1 minute").alias("d")
    bounds = "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"
    assert left.streamJoin(right, F.expr(KEY + bounds).alias("delivered")).isStreaming


def test_missing_watermark_is_refused_with_advice(orders: DataFrame, deliveries: DataFrame) -> None:
    left = orders.imposeOrder("order_time", "1 minute").alias("o")
    name, text = condition_of(lambda: left.streamJoin(deliveries.alias("d"), KEY + AFTER))
    assert name == "MISSING_WATERMARK"
    assert 'd.imposeOrder("delivery_time", "1 minute")' in text


def test_static_input_is_refused(orders: DataFrame, spark: SparkSession) -> None:
    left = orders.imposeOrder("order_time", "1 minute")
    table = spark.createDataFrame([(1,)], "id INT")
    name, text = condition_of(lambda: left.streamJoin(table, ["id"]))
    assert name == "STATIC_INPUT"
    assert "right input" in text


def test_unbounded_second_join_of_a_chain_names_both_times(
    orders: DataFrame, deliveries: DataFrame
) -> None:
    on = KEY + "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"
    left = orders.imposeOrder("order_time", "1 minute").alias("o")
    first = left.streamJoin(deliveries.imposeOrder("delivery_time", "1 minute").alias("d"), on)
    other = orders.imposeOrder("order_time", "1 minute").alias("r")
    name, text = condition_of(lambda: first.streamJoin(other, "d.id = r.id"))
    assert name == "UNBOUNDED_STATE"
    assert "o.order_time, d.delivery_time" in text


def test_cross_join_without_bounds_is_refused(orders: DataFrame, deliveries: DataFrame) -> None:
    """The join is refused as soon as no operator above it can supply the condition."""
    left = orders.imposeOrder("order_time", "1 minute").alias("o")
    right = deliveries.imposeOrder("delivery_time", "1 minute").alias("d")
    bounds = "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"
    joined = left.crossJoin(right)
    assert joined.where(bounds).isStreaming
    name, text = condition_of(lambda: joined.select("o.id"))
    assert name == "UNBOUNDED_STATE"
    assert "o.order_time >= d.delivery_time - INTERVAL '1' HOUR" in text


def test_invalid_lag_names_the_column_type(orders: DataFrame) -> None:
    """The message names the column with its type, and a lag that fits the type."""
    _, text = condition_of(lambda: orders.imposeOrder("seq", "soon"))
    assert "column seq of type BIGINT" in text
    assert "Give a whole number" in text
    _, text = condition_of(lambda: orders.imposeOrder("order_time", "soon"))
    assert "Give an interval such as '1 minute'" in text


@pytest.mark.parametrize(
    ("column", "lag", "condition"),
    [
        ("order_time", "-1 minute", "NEGATIVE_LAG"),
        ("seq", -1, "NEGATIVE_LAG"),
        ("order_time", "1 month", "CALENDAR_INTERVAL"),
        ("order_time", "soon", "INVALID_LAG"),
        ("order_time", "200000000 days", "INVALID_LAG"),
        ("day", "200000000 days", "INVALID_LAG"),
        ("order_time", 5, "INVALID_LAG"),
        ("seq", "5 minutes", "INVALID_LAG"),
        ("price", 5, "UNSUPPORTED_TIME_TYPE"),
        ("nothing", "1 minute", "INVALID_COLUMN"),
    ],
)
def test_invalid_impose_order_arguments_are_refused(
    orders: DataFrame, column: str, lag: str | int, condition: str
) -> None:
    name, _ = condition_of(lambda: orders.imposeOrder(column, lag))
    assert name == condition


@pytest.mark.parametrize(
    ("arguments", "condition"),
    [
        ("TABLE(shop_orders), INTERVAL '1' MINUTE", "INVALID_IMPOSE_ORDER"),
        ("TABLE(shop_orders), DESCRIPTOR(order_time)", "INVALID_IMPOSE_ORDER"),
        ("TABLE(shop_orders), DESCRIPTOR(a, b), INTERVAL '1' MINUTE", "INVALID_IMPOSE_ORDER"),
        ("DESCRIPTOR(order_time), TABLE(shop_orders), INTERVAL '1' MINUTE", "INVALID_IMPOSE_ORDER"),
        ("TABLE(shop_orders), DESCRIPTOR(nothing), INTERVAL '1' MINUTE", "INVALID_COLUMN"),
        ("TABLE(shop_orders), DESCRIPTOR(order_time), INTERVAL '1' MONTH", "CALENDAR_INTERVAL"),
        ("TABLE(shop_orders), DESCRIPTOR(order_time), INTERVAL '-1' MINUTE", "NEGATIVE_LAG"),
        ("TABLE(shop_orders), DESCRIPTOR(order_time), 5", "INVALID_LAG"),
        ("TABLE(shop_orders), DESCRIPTOR(price), 5", "UNSUPPORTED_TIME_TYPE"),
    ],
)
def test_invalid_impose_order_in_sql_is_refused(
    orders: DataFrame, spark: SparkSession, arguments: str, condition: str
) -> None:
    orders.createOrReplaceTempView("shop_orders")
    name, _ = condition_of(lambda: spark.sql(f"SELECT * FROM IMPOSE_ORDER({arguments})"))
    assert name == condition
