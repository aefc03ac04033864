"""Common user errors: the error message says what to write instead.

Conditions and lags that are refused for their meaning are in test_refusals.py, arguments of a
wrong type in test_arguments.py, set-ups in test_setup_errors.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException, PySparkTypeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamjoin
from streamjoin import impose_order, stream_join
from tests.orders import Shop, met
from tests.streams import Run

BOUND = "d.dt BETWEEN o.ot AND o.ot + INTERVAL '1' HOUR"
ORDERS = "id INT, ot TIMESTAMP, s STRING, x DOUBLE, n BIGINT, m STRUCT<ot: TIMESTAMP>"


@dataclass
class Streams:
    """Two streams, without and with imposed orders."""

    orders: DataFrame
    deliveries: DataFrame

    @property
    def o(self) -> DataFrame:
        return impose_order(self.orders, "ot", "1 minute").alias("o")

    @property
    def d(self) -> DataFrame:
        return impose_order(self.deliveries, "dt", "1 minute").alias("d")

    def joined(self, on: Any) -> DataFrame:
        return stream_join(self.o, self.d, on, "left")

    def sql(self, text: str) -> DataFrame:
        return self.orders.sparkSession.sql(text)


@pytest.fixture(scope="module")
def streams(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Streams]:
    folder: Path = tmp_path_factory.mktemp("mistakes")
    orders = spark.readStream.schema(ORDERS).json(str(folder))
    deliveries = spark.readStream.schema("id INT, dt TIMESTAMP").json(str(folder))
    orders.createOrReplaceTempView("mistaken_orders")
    deliveries.createOrReplaceTempView("mistaken_deliveries")
    yield Streams(orders, deliveries)
    for name in ("mistaken_orders", "mistaken_deliveries"):
        spark.catalog.dropTempView(name)


def order(**given: str) -> Callable[[Streams], object]:
    arguments = {"column": "ot", "lag": "1 minute", **given}
    return lambda s: s.orders.imposeOrder(**arguments)


def condition(on: str) -> Callable[[Streams], object]:
    return lambda s: s.joined(f"o.id = d.id AND {on}")


def in_from(text: str) -> Callable[[Streams], object]:
    return lambda s: s.sql(f"SELECT * FROM {text}")


# The action, its condition under STREAM_JOIN, and the advice in the message.
MISTAKES: dict[str, tuple[Callable[[Streams], object], str, str]] = {
    "missing column": (
        order(column="order_time"),
        "INVALID_COLUMN",
        "order: id, ot, n",
    ),
    "misspelled column": (order(column="ott"), "INVALID_COLUMN", "Perhaps write ot"),
    "misspelled unit": (order(lag="1 minuet"), "INVALID_LAG", "perhaps '1 minute'"),
    "lag without a unit": (order(lag="10"), "INVALID_LAG", "'10 seconds' or '10 minutes'"),
    "abbreviated unit": (order(lag="10m"), "INVALID_LAG", "perhaps '10 minutes'"),
    "lag as ISO 8601": (order(lag="PT90M"), "INVALID_LAG", "perhaps '90 minutes'"),
    "number as a string": (
        order(column="n", lag="5"),
        "INVALID_LAG",
        "it is a string, and the column has numbers.\nGive a whole number",
    ),
    "lag in words": (order(lag="one minute"), "INVALID_LAG", "such as '1 minute'. "),
    "order on a string": (order(column="s"), "UNSUPPORTED_TIME_TYPE", "to_timestamp(s) AS s"),
    "order on seconds as DOUBLE": (
        order(column="x"),
        "UNSUPPORTED_TIME_TYPE",
        "timestamp_micros(CAST(x * 1000000 AS BIGINT))",
    ),
    "order on a struct": (order(column="m"), "UNSUPPORTED_TIME_TYPE", "select m.ot AS ot"),
    "order on a struct field": (order(column="m.ot"), "INVALID_COLUMN", "select m.ot AS ot"),
    "seconds added to a time": (
        condition("d.dt BETWEEN o.ot AND o.ot + 3600"),
        "TIME_TYPE_MISMATCH",
        "Write o.ot + INTERVAL '3600' SECOND",
    ),
    "seconds added to a time as a Column": (
        lambda s: s.joined((F.col("o.id") == F.col("d.id")) & (F.col("d.dt") < F.col("o.ot") + 60)),
        "TIME_TYPE_MISMATCH",
        "Write o.ot + INTERVAL '60' SECOND",
    ),
    "column of seconds added to a time": (
        condition("d.dt BETWEEN o.ot AND o.ot + o.n"),
        "TIME_TYPE_MISMATCH",
        "Write o.ot + make_dt_interval(0, 0, 0, o.n)",
    ),
    "interval in quotes": (
        condition("d.dt BETWEEN o.ot AND o.ot + '1 hour'"),
        "TIME_TYPE_MISMATCH",
        "Write o.ot + INTERVAL '1 hour'",
    ),
    "number in quotes": (
        condition("d.dt BETWEEN o.ot AND o.ot + ' 5'"),
        "TIME_TYPE_MISMATCH",
        "Write o.ot + INTERVAL '5' SECOND, or another unit",
    ),
    "time difference compared with a number": (
        condition("d.dt >= o.ot AND d.dt - o.ot < 3600"),
        "TIME_TYPE_MISMATCH",
        "with INTERVAL '3600' SECOND",
    ),
    "time compared with epoch milliseconds": (
        condition("d.dt >= o.n"),
        "TIME_TYPE_MISMATCH",
        "Compare d.dt with timestamp_millis(o.n), or timestamp_seconds(o.n)",
    ),
    "time between epoch milliseconds": (
        condition("d.dt BETWEEN o.n AND o.n + 3600"),
        "TIME_TYPE_MISMATCH",
        "Compare d.dt with timestamp_millis(o.n)",
    ),
    "time compared with epoch milliseconds in SQL": (
        in_from(
            "IMPOSE_ORDER(TABLE(mistaken_orders), DESCRIPTOR(ot), INTERVAL '1' MINUTE) AS o JOIN "
            "IMPOSE_ORDER(TABLE(mistaken_deliveries), DESCRIPTOR(dt), INTERVAL '1' MINUTE) AS d "
            "ON o.id = d.id AND d.dt >= o.n"
        ),
        "TIME_TYPE_MISMATCH",
        "Compare d.dt with timestamp_millis(o.n)",
    ),
    "self-join without aliases": (
        lambda s: s.o.streamJoin(s.o, "id = id AND ot = ot"),
        "AMBIGUOUS_COLUMN",
        'left.alias("l").streamJoin(right.alias("r")',
    ),
    "condition with aliases, inputs without": (
        lambda s: s.orders.imposeOrder("ot", "1 minute").streamJoin(
            s.deliveries.imposeOrder("dt", "1 minute"), f"o.id = d.id AND {BOUND}"
        ),
        "UNKNOWN_ALIAS",
        "no input has the alias o: the inputs have no aliases.\nGive the inputs the aliases that",
    ),
    "misspelled alias": (
        lambda s: s.joined(f"o.id = e.id AND {BOUND}"),
        "UNKNOWN_ALIAS",
        "no input has the alias e: there are o, d.",
    ),
    "LATERAL": (
        in_from(
            "IMPOSE_ORDER(TABLE(mistaken_orders), DESCRIPTOR(ot), INTERVAL '1' MINUTE) AS o, "
            "LATERAL (SELECT * FROM IMPOSE_ORDER(TABLE(mistaken_deliveries), DESCRIPTOR(dt), "
            f"INTERVAL '1' MINUTE) AS d WHERE o.id = d.id AND {BOUND})"
        ),
        "UNSUPPORTED_SUBQUERY",
        "Write the sub-query as a join: o [LEFT] JOIN d ON",
    ),
    "ASOF JOIN without a match condition": (
        in_from("mistaken_orders o ASOF JOIN mistaken_deliveries d USING (id)"),
        "UNSUPPORTED_AS_OF",
        "the ASOF JOIN has no MATCH_CONDITION",
    ),
    "temporal join of Flink": (
        in_from(
            "mistaken_orders o JOIN mistaken_deliveries FOR SYSTEM_TIME AS OF "
            "date_trunc('hour', o.ot) AS d ON o.id = d.id"
        ),
        "UNSUPPORTED_AS_OF",
        "as in o.order_time.\nWrite the column, without a function of it",
    ),
    "WATERMARK FOR": (
        in_from("mistaken_orders WATERMARK FOR ot AS ot - INTERVAL '1' MINUTE"),
        "OTHER_DIALECT",
        "Write the watermark in the query: FROM IMPOSE_ORDER(TABLE(",
    ),
    "misspelled function": (
        in_from("IMPOSEORDER(TABLE(mistaken_orders), DESCRIPTOR(ot), INTERVAL '1' MINUTE)"),
        "UNKNOWN_FUNCTION",
        "Write IMPOSE_ORDER, which has a similar name",
    ),
    "window function of Flink": (
        in_from("TUMBLE(TABLE(mistaken_orders), DESCRIPTOR(ot), INTERVAL '1' MINUTE)"),
        "OTHER_DIALECT",
        "GROUP BY window(order_time, '10 minutes')",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_error_message_says_what_to_write(streams: Streams, mistake: str) -> None:
    made, name, written = MISTAKES[mistake]
    with pytest.raises(PySparkException) as refused:
        made(streams)
    assert refused.value.getCondition() == f"STREAM_JOIN.{name}"
    assert written in str(refused.value)
    assert "commonexpressionref" not in str(refused.value)


def test_error_names_the_invalid_retention_setting(streams: Streams) -> None:
    session = streams.orders.sparkSession
    session.conf.set("spark.sql.streamJoin.retention", "1 fortnight")
    try:
        with pytest.raises(PySparkException) as refused:
            streams.joined("o.id = d.id")
    finally:
        session.conf.unset("spark.sql.streamJoin.retention")
    assert refused.value.getCondition() == "STREAM_JOIN.INVALID_LAG"
    assert "setting spark.sql.streamJoin.retention '1 fortnight'" in str(refused.value)


def test_type_error_lists_the_types_in_a_list(streams: Streams) -> None:
    with pytest.raises(PySparkTypeError, match="got list of str and int"):
        streams.joined(["id", 1])


def test_python_type_error_names_the_dataframe_method(streams: Streams) -> None:
    with pytest.raises(TypeError, match=r"^DataFrame\.imposeOrder\(\) missing 1 .* 'lag'$"):
        streams.orders.imposeOrder("ot")


def test_suggested_intervals_are_accepted(streams: Streams) -> None:
    """The replacements that the error messages suggest are accepted."""
    assert streams.joined(
        "o.id = d.id AND d.dt BETWEEN o.ot AND o.ot + INTERVAL '1 hour'"
    ).isStreaming
    made = streams.orders.selectExpr("id", "timestamp_millis(n) AS n").imposeOrder("n", "1 hour")
    on = "o.id = d.id AND d.dt BETWEEN o.n AND o.n + INTERVAL '3600' SECOND"
    assert made.alias("o").streamJoin(streams.d, on, "left").isStreaming


def test_type_mismatch_outside_a_join_keeps_the_spark_error(streams: Streams) -> None:
    with pytest.raises(PySparkException) as refused:
        streams.orders.where("ot + 3600 > ot")
    assert "DATATYPE_MISMATCH" in str(refused.value.getCondition())


def test_sql_functions_are_listed_with_parseable_examples(spark: SparkSession) -> None:
    listed = {row[0] for row in spark.sql("SHOW FUNCTIONS LIKE 'from_*'").collect()}
    assert {"from_changelog", "from_upserts", "from_debezium"} <= listed
    described = spark.sql("DESCRIBE FUNCTION impose_order").collect()
    assert "impose_order(TABLE(t), DESCRIPTOR(c), lag" in "".join(row[0] for row in described)
    for name in ("impose_order", "from_changelog", "from_upserts", "from_debezium"):
        extended = spark.sql(f"DESCRIBE FUNCTION EXTENDED {name}").collect()
        usage = "".join(row[0] for row in extended)
        assert "Arguments:\n      * " in usage
        (example,) = re.findall(rf"> (SELECT \* FROM {name}\(.*\));", usage)
        # The parser accepts the example; only its tables are missing.
        with pytest.raises(PySparkException) as refused:
            spark.newSession().sql(example)
        assert refused.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere", "no such folder. Give the checkpointLocation"),
        ("empty", "no checkpoint, but other files"),
        ("checkpoint/state", "Give the checkpointLocation of the query, which is file:"),
    ],
)
def test_folder_without_a_checkpoint_is_refused(shop: Shop, place: str, message: str) -> None:
    (shop.folder / "empty").mkdir()
    (shop.folder / "checkpoint" / "state").mkdir(parents=True)
    (shop.folder / "checkpoint" / "metadata").touch()
    for look in (streamjoin.pending, streamjoin.doctor):
        with pytest.raises(PySparkException) as refused:
            look(str(shop.folder / place))
        assert refused.value.getCondition() == "STREAM_JOIN_STATE.NOT_FOUND"
        assert message in str(refused.value)


def test_deduplication_within_watermark_above_a_join_of_file_sources(shop: Shop) -> None:
    """Spark gives the columns of a file source other ids in each batch."""
    joined = shop.joined("left").result.selectExpr("o.id", "order_time", "d.id", "delivery_time")
    once = joined.toDF("id", "order_time", "of", "delivery_time")
    run = Run(once.dropDuplicatesWithinWatermark(["id"]), shop.folder / "once")
    shop.order((1, "10:00"), (1, "10:01"), (2, "10:02"))
    shop.deliver((1, "10:05"), (1, "10:06"))
    run.step()
    shop.order((3, "12:00"))
    shop.deliver((3, "12:10"))
    run.step()
    assert sorted(row[0] for row in run.rows()) == [1, 2, 3]


def test_doctor_explains_a_checkpoint_of_another_join_operator(
    shop: Shop, spark: SparkSession
) -> None:
    shop.order((1, "10:00"))
    shop.deliver((1, "10:05"))
    assert met(shop.joined().step()) == [(1, 1)]
    shop.order((2, "10:00"))
    orders = shop.orders.stream().withWatermark("order_time", "0 seconds").alias("o")
    deliveries = shop.deliveries.stream().withWatermark("delivery_time", "0 seconds").alias("d")
    sparks = shop.run(orders.join(deliveries, F.expr("o.id = d.id")))
    query = sparks.start(availableNow=True)
    with pytest.raises(PySparkException):
        query.awaitTermination()
    headline = streamjoin.doctor(query).headline
    assert headline.code == "FAILED"
    assert "spark.sql.streamJoin.replaceBuiltin" in headline.write
