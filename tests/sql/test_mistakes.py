"""What a newcomer gets wrong, and that the answer says what to write.

Mistakes in conditions and lags that are refused for their meaning are in test_refusals.py,
arguments of a wrong type in test_arguments.py, set-ups in test_setup_errors.py.
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
    """Two streams, as they are and with orders."""

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


# What is done, the condition under STREAM_JOIN, and what the text says to write.
MISTAKES: dict[str, tuple[Callable[[Streams], object], str, str]] = {
    "a column that is not there": (
        order(column="order_time"),
        "INVALID_COLUMN",
        "order: id, ot, n",
    ),
    "a column misspelt": (order(column="ott"), "INVALID_COLUMN", "Perhaps write ot"),
    "a unit misspelt": (order(lag="1 minuet"), "INVALID_LAG", "perhaps '1 minute'"),
    "a lag without a unit": (order(lag="10"), "INVALID_LAG", "'10 seconds' or '10 minutes'"),
    "a unit cut short": (order(lag="10m"), "INVALID_LAG", "perhaps '10 minutes'"),
    "a lag as ISO 8601": (order(lag="PT90M"), "INVALID_LAG", "perhaps '90 minutes'"),
    "a number as a string": (
        order(column="n", lag="5"),
        "INVALID_LAG",
        "it is a string, and the column has numbers.\nGive a whole number",
    ),
    "a lag in words": (order(lag="one minute"), "INVALID_LAG", "such as '1 minute'. "),
    "an order on a string": (order(column="s"), "UNSUPPORTED_TIME_TYPE", "to_timestamp(s) AS s"),
    "an order on seconds as DOUBLE": (
        order(column="x"),
        "UNSUPPORTED_TIME_TYPE",
        "timestamp_micros(CAST(x * 1000000 AS BIGINT))",
    ),
    "an order on a struct": (order(column="m"), "UNSUPPORTED_TIME_TYPE", "select m.ot AS ot"),
    "an order on a field": (order(column="m.ot"), "INVALID_COLUMN", "select m.ot AS ot"),
    "seconds added to a time": (
        condition("d.dt BETWEEN o.ot AND o.ot + 3600"),
        "TIME_TYPE_MISMATCH",
        "Write o.ot + INTERVAL '3600' SECOND",
    ),
    "the same as a Column": (
        lambda s: s.joined((F.col("o.id") == F.col("d.id")) & (F.col("d.dt") < F.col("o.ot") + 60)),
        "TIME_TYPE_MISMATCH",
        "Write o.ot + INTERVAL '60' SECOND",
    ),
    "a column of seconds added": (
        condition("d.dt BETWEEN o.ot AND o.ot + o.n"),
        "TIME_TYPE_MISMATCH",
        "Write o.ot + make_dt_interval(0, 0, 0, o.n)",
    ),
    "an interval in quotes": (
        condition("d.dt BETWEEN o.ot AND o.ot + '1 hour'"),
        "TIME_TYPE_MISMATCH",
        "Write o.ot + INTERVAL '1 hour'",
    ),
    "a number in quotes": (
        condition("d.dt BETWEEN o.ot AND o.ot + ' 5'"),
        "TIME_TYPE_MISMATCH",
        "Write o.ot + INTERVAL '5' SECOND, or another unit",
    ),
    "a span held against a number": (
        condition("d.dt >= o.ot AND d.dt - o.ot < 3600"),
        "TIME_TYPE_MISMATCH",
        "with INTERVAL '3600' SECOND",
    ),
    "a time held against epoch milliseconds": (
        condition("d.dt >= o.n"),
        "TIME_TYPE_MISMATCH",
        "Compare d.dt with timestamp_millis(o.n), or timestamp_seconds(o.n)",
    ),
    "the same by BETWEEN": (
        condition("d.dt BETWEEN o.n AND o.n + 3600"),
        "TIME_TYPE_MISMATCH",
        "Compare d.dt with timestamp_millis(o.n)",
    ),
    "the same in SQL": (
        in_from(
            "IMPOSE_ORDER(TABLE(mistaken_orders), DESCRIPTOR(ot), INTERVAL '1' MINUTE) AS o JOIN "
            "IMPOSE_ORDER(TABLE(mistaken_deliveries), DESCRIPTOR(dt), INTERVAL '1' MINUTE) AS d "
            "ON o.id = d.id AND d.dt >= o.n"
        ),
        "TIME_TYPE_MISMATCH",
        "Compare d.dt with timestamp_millis(o.n)",
    ),
    "a join with itself without aliases": (
        lambda s: s.o.streamJoin(s.o, "id = id AND ot = ot"),
        "AMBIGUOUS_COLUMN",
        'left.alias("l").streamJoin(right.alias("r")',
    ),
    "no aliases, though the condition has some": (
        lambda s: s.orders.imposeOrder("ot", "1 minute").streamJoin(
            s.deliveries.imposeOrder("dt", "1 minute"), f"o.id = d.id AND {BOUND}"
        ),
        "UNKNOWN_ALIAS",
        "no input has the alias o: the inputs have no aliases.\nGive the inputs the aliases that",
    ),
    "an alias misspelt": (
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
    "an ASOF JOIN without a match condition": (
        in_from("mistaken_orders o ASOF JOIN mistaken_deliveries d USING (id)"),
        "UNSUPPORTED_AS_OF",
        "the ASOF JOIN has no MATCH_CONDITION",
    ),
    "the temporal join of Flink": (
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
    "a function misspelt": (
        in_from("IMPOSEORDER(TABLE(mistaken_orders), DESCRIPTOR(ot), INTERVAL '1' MINUTE)"),
        "UNKNOWN_FUNCTION",
        "Write IMPOSE_ORDER, which has a similar name",
    ),
    "a window as Flink writes it": (
        in_from("TUMBLE(TABLE(mistaken_orders), DESCRIPTOR(ot), INTERVAL '1' MINUTE)"),
        "OTHER_DIALECT",
        "GROUP BY window(order_time, '10 minutes')",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_answer_says_what_to_write(streams: Streams, mistake: str) -> None:
    made, name, written = MISTAKES[mistake]
    with pytest.raises(PySparkException) as refused:
        made(streams)
    assert refused.value.getCondition() == f"STREAM_JOIN.{name}"
    assert written in str(refused.value)
    assert "commonexpressionref" not in str(refused.value)


def test_a_setting_that_cannot_be_read_is_named(streams: Streams) -> None:
    session = streams.orders.sparkSession
    session.conf.set("spark.sql.streamJoin.retention", "1 fortnight")
    try:
        with pytest.raises(PySparkException) as refused:
            streams.joined("o.id = d.id")
    finally:
        session.conf.unset("spark.sql.streamJoin.retention")
    assert refused.value.getCondition() == "STREAM_JOIN.INVALID_LAG"
    assert "setting spark.sql.streamJoin.retention '1 fortnight'" in str(refused.value)


def test_a_list_says_what_is_in_it(streams: Streams) -> None:
    with pytest.raises(PySparkTypeError, match="got list of str and int"):
        streams.joined(["id", 1])


def test_python_calls_a_method_by_its_name(streams: Streams) -> None:
    with pytest.raises(TypeError, match=r"^DataFrame\.imposeOrder\(\) missing 1 .* 'lag'$"):
        streams.orders.imposeOrder("ot")


def test_what_an_interval_says_is_read(streams: Streams) -> None:
    """What the answers say to write is taken."""
    assert streams.joined(
        "o.id = d.id AND d.dt BETWEEN o.ot AND o.ot + INTERVAL '1 hour'"
    ).isStreaming
    made = streams.orders.selectExpr("id", "timestamp_millis(n) AS n").imposeOrder("n", "1 hour")
    on = "o.id = d.id AND d.dt BETWEEN o.n AND o.n + INTERVAL '3600' SECOND"
    assert made.alias("o").streamJoin(streams.d, on, "left").isStreaming


def test_a_time_and_a_number_of_other_queries_are_sparks(streams: Streams) -> None:
    with pytest.raises(PySparkException) as refused:
        streams.orders.where("ot + 3600 > ot")
    assert "DATATYPE_MISMATCH" in str(refused.value.getCondition())


def test_the_functions_are_listed_and_described(spark: SparkSession) -> None:
    listed = {row[0] for row in spark.sql("SHOW FUNCTIONS LIKE 'from_*'").collect()}
    assert {"from_changelog", "from_upserts", "from_debezium"} <= listed
    described = spark.sql("DESCRIBE FUNCTION impose_order").collect()
    assert "impose_order(TABLE(t), DESCRIPTOR(c), lag" in "".join(row[0] for row in described)
    for name in ("impose_order", "from_changelog", "from_upserts", "from_debezium"):
        extended = spark.sql(f"DESCRIBE FUNCTION EXTENDED {name}").collect()
        said = "".join(row[0] for row in extended)
        assert "Arguments:\n      * " in said
        (example,) = re.findall(rf"> (SELECT \* FROM {name}\(.*\));", said)
        # it is as the parser takes it: only the tables are not there
        with pytest.raises(PySparkException) as refused:
            spark.newSession().sql(example)
        assert refused.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("nowhere", "no such folder. Give the checkpointLocation"),
        ("empty", "no checkpoint, but other files"),
        ("checkpoint/state", "Give the checkpointLocation of the query, which is file:"),
    ],
)
def test_a_folder_that_is_no_checkpoint(shop: Shop, place: str, said: str) -> None:
    (shop.folder / "empty").mkdir()
    (shop.folder / "checkpoint" / "state").mkdir(parents=True)
    (shop.folder / "checkpoint" / "metadata").touch()
    for look in (streamjoin.pending, streamjoin.doctor):
        with pytest.raises(PySparkException) as refused:
            look(str(shop.folder / place))
        assert refused.value.getCondition() == "STREAM_JOIN_STATE.NOT_FOUND"
        assert said in str(refused.value)


def test_deduplication_above_a_join_of_files(shop: Shop) -> None:
    """Spark gives the columns of such a source other ids in each batch."""
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


def test_a_query_that_ended_with_another_join_in_its_checkpoint(
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
    said = streamjoin.doctor(query).headline
    assert said.code == "FAILED"
    assert "spark.sql.streamJoin.replaceBuiltin" in said.write
