"""Python refuses arguments of a wrong type by name, before it calls the JVM."""

from __future__ import annotations

import inspect
from datetime import timedelta
from typing import Any, get_args

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import col

import streamjoin
from streamjoin import _arguments, _words


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.range(1)


@pytest.mark.parametrize("lag", [True, 1.5, None, ["1 minute"]])
def test_lag_of_wrong_type_is_refused(rows: DataFrame, lag: object) -> None:
    with pytest.raises(PySparkTypeError, match="`lag`"):
        streamjoin.impose_order(rows, "id", lag)  # type: ignore[arg-type]


def test_lag_beyond_bigint_is_refused(rows: DataFrame) -> None:
    with pytest.raises(PySparkValueError, match="`lag`"):
        streamjoin.impose_order(rows, "id", 2**63)


@pytest.mark.parametrize("idle", [5, True])
def test_idle_timeout_of_wrong_type_is_refused(rows: DataFrame, idle: object) -> None:
    with pytest.raises(PySparkTypeError, match="`idle_timeout`"):
        streamjoin.impose_order(rows, "id", 1, idle_timeout=idle)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [5, True])
def test_max_ahead_of_wrong_type_is_refused(rows: DataFrame, limit: object) -> None:
    with pytest.raises(PySparkTypeError, match="`max_ahead`"):
        streamjoin.impose_order(rows, "id", 1, max_ahead=limit)  # type: ignore[arg-type]


def test_ahead_must_be_reject_or_keep_and_requires_max_ahead(rows: DataFrame) -> None:
    with pytest.raises(PySparkTypeError, match="`ahead`"):
        streamjoin.impose_order(rows, "id", 1, max_ahead="1 hour", ahead=1)  # type: ignore[arg-type]
    with pytest.raises(PySparkValueError, match="'reject', 'keep'"):
        streamjoin.impose_order(rows, "id", 1, max_ahead="1 hour", ahead="cap")  # type: ignore[arg-type]
    with pytest.raises(PySparkValueError, match="`max_ahead` is required"):
        streamjoin.impose_order(rows, "id", 1, ahead="keep")


def test_column_of_wrong_type_is_refused(rows: DataFrame) -> None:
    with pytest.raises(PySparkTypeError, match="`column`"):
        streamjoin.impose_order(rows, col("id"), 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("on", [None, 1, ["id", 1], {"id"}])
def test_on_of_wrong_type_is_refused(rows: DataFrame, on: object) -> None:
    with pytest.raises(PySparkTypeError, match="`on`"):
        streamjoin.stream_join(rows, rows, on)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["ad_id", "o.ad_id", "`ad id`", " Ad_id "])
def test_on_with_a_bare_name_suggests_a_list(rows: DataFrame, name: str) -> None:
    with pytest.raises(PySparkValueError) as refused:
        streamjoin.stream_join(rows, rows, name)
    assert f'write ["{name}"]' in str(refused.value)


def test_on_list_combines_names_and_conditions_with_and(rows: DataFrame) -> None:
    other = rows.withColumn("n", col("id") + 1)
    joined = streamjoin.stream_join(rows, other, ["id", other["n"] > 0])
    assert joined.columns == ["id", "id", "n"]
    assert joined.collect() == [(0, 0, 1)]
    assert streamjoin.stream_join(rows, other, "true").columns == joined.columns


@pytest.mark.parametrize("how", ["left", "asof", "LEFT_OUTER"])
def test_exchanged_on_and_how_are_refused_with_the_call(rows: DataFrame, how: Any) -> None:
    for condition in ("o.id = d.id", col("o.id") == col("d.id")):
        with pytest.raises(PySparkValueError, match="they are exchanged") as refused:
            streamjoin.stream_join(rows, rows, how, condition)  # type: ignore[arg-type]
        assert f"Write left.streamJoin(right, {condition!r}, {how!r})." in str(refused.value)


@pytest.mark.parametrize(
    ("order", "written"),
    [("o.ot DESC", "F.desc('o.ot')"), (["id", " n  asc "], "F.asc('n')")],
)
def test_direction_in_a_name_of_order_by_is_refused(
    rows: DataFrame, order: Any, written: str
) -> None:
    with pytest.raises(PySparkValueError) as refused:
        streamjoin.stream_join(rows, rows, ["id"], order_by=order)
    assert f"Write {written}." in str(refused.value)


def test_upserts_without_a_sequence_are_refused_with_the_argument(rows: DataFrame) -> None:
    with pytest.raises(AnalysisException, match='in Python sequence_by="column"') as refused:
        streamjoin.from_upserts(rows, "id")
    assert refused.value.getCondition() == "STREAM_JOIN.MISSING_SEQUENCE"


def test_empty_on_list_is_refused(rows: DataFrame) -> None:
    with pytest.raises(PySparkValueError, match="`on`"):
        streamjoin.stream_join(rows, rows, [])


def test_how_of_wrong_type_is_refused(rows: DataFrame) -> None:
    with pytest.raises(PySparkTypeError, match="`how`"):
        streamjoin.stream_join(rows, rows, ["id"], None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"how": "outter"}, "`how`.*'left_anti', .*it is 'outter'. Perhaps write 'outer'"),
        ({"how": "LEFT OUTER"}, "Perhaps write 'left_outer'"),
        ({"how": "both"}, "`how`"),
        ({"how": "right_asof"}, r"'right_asof'. .* right.streamJoin\(left, on, \"left_asof\"\)"),
        ({"how": "FullAsOf"}, "An as-of join only preserves left rows"),
        ({"late": "emitt"}, "`late`.*'drop', 'emit'; it is 'emitt'. Perhaps write 'emit'"),
        ({"late": "Emit"}, "`late`.*Perhaps write 'emit'"),
        ({"mode": "change_log"}, "`mode`.*'event_time', 'changelog'; it is 'change_log'"),
        ({"emit": "earl"}, "`emit`.*'final', 'early'; it is 'earl'. Perhaps write 'early'"),
        ({"order_scope": "partitions"}, "`order_scope`.*'query', 'partition'"),
        ({"state_ttl": {"rihgt": "1 day"}}, "`state_ttl`.*'left', 'right'.*Perhaps write 'right'"),
        ({"state_ttl": {}}, "`state_ttl`.*'left', 'right'; it is {}"),
    ],
)
def test_unknown_option_value_is_refused_with_a_suggestion(
    rows: DataFrame, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(PySparkValueError, match=message) as refused:
        streamjoin.stream_join(rows, rows, ["id"], **given)
    assert refused.value.getCondition() == "VALUE_NOT_ALLOWED"


def test_pending_refuses_an_unknown_side(rows: DataFrame) -> None:
    with pytest.raises(PySparkValueError, match=r"`side`.*'left', 'right'; it is 'Left'"):
        streamjoin.pending("/checkpoint", "Left")  # type: ignore[arg-type]


@pytest.mark.parametrize("how", ["INNER", "Left_Outer", "fullouter", "LEFT_SEMI", "cross"])
def test_how_accepts_the_spellings_of_spark_join(rows: DataFrame, how: Any) -> None:
    assert streamjoin.stream_join(rows, rows.alias("r"), "true", how).collect()


def test_every_value_of_how_maps_to_a_spark_join_type(rows: DataFrame) -> None:
    for word in get_args(streamjoin.How):
        kind, match = _words.how(word)
        assert (match == "last") == ("asof" in word)
        assert rows.join(rows.alias("r"), on=F.expr("true"), how=kind).columns


@pytest.mark.parametrize("retention", [True, 1.5, ["1 hour"]])
def test_retention_of_wrong_type_is_refused(rows: DataFrame, retention: object) -> None:
    with pytest.raises(PySparkTypeError, match="`retention`"):
        streamjoin.stream_join(rows, rows, ["id"], retention=retention)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (1, "str, Column, list of str or Column, or None, got int"),
        (["id", 1], "got list of str and int"),
        (("id", None), "got tuple of str and NoneType"),
    ],
)
def test_order_by_of_wrong_type_is_refused(rows: DataFrame, order: Any, message: str) -> None:
    with pytest.raises(PySparkTypeError, match=message):
        streamjoin.stream_join(rows, rows, ["id"], order_by=order)


def test_order_by_accepts_names_and_columns(rows: DataFrame) -> None:
    by_name = streamjoin.stream_join(rows, rows.alias("r"), ["id"], order_by=["id"])
    by_column = streamjoin.stream_join(rows, rows.alias("r"), ["id"], order_by=[F.col("id")])
    one = streamjoin.stream_join(rows, rows.alias("r"), ["id"], order_by=F.col("id"))
    assert by_column.sameSemantics(by_name)
    assert one.sameSemantics(by_name)


def test_state_ttl_of_wrong_type_is_refused(rows: DataFrame) -> None:
    with pytest.raises(PySparkTypeError, match=r"`state_ttl`.*mapping by side.*got int"):
        streamjoin.stream_join(rows, rows, ["id"], state_ttl=3600)  # type: ignore[arg-type]


def test_configure_refuses_a_session(spark: SparkSession) -> None:
    with pytest.raises(
        PySparkTypeError, match=r"`builder` .*builder\)\.getOrCreate\(\), got Spark"
    ):
        streamjoin.configure(spark)  # type: ignore[arg-type]


def test_right_input_must_be_a_dataframe(rows: DataFrame) -> None:
    with pytest.raises(PySparkTypeError, match="`right`"):
        streamjoin.stream_join(rows, "t", ["id"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "interval"),
    [
        (timedelta(minutes=1), "60000000 microseconds"),
        (timedelta(seconds=-1), "-1000000 microseconds"),
        (timedelta(milliseconds=1.5), "1500 microseconds"),
    ],
)
def test_timedelta_converts_to_an_interval_in_microseconds(given: timedelta, interval: str) -> None:
    assert _arguments.lag(given) == interval
    assert _arguments.duration("idle_timeout", given) == interval


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("imposeOrder", streamjoin.impose_order),
        ("streamJoin", streamjoin.stream_join),
        ("fromChangelog", streamjoin.from_changelog),
        ("fromUpserts", streamjoin.from_upserts),
        ("fromDebezium", streamjoin.from_debezium),
        ("toUpserts", streamjoin.to_upserts),
    ],
)
def test_dataframe_method_is_the_function_under_its_own_name(name: str, function: Any) -> None:
    method = vars(DataFrame)[name]
    assert method.__code__ is function.__code__
    assert method.__name__ == name
    assert function.__name__ != name
    assert method.__doc__ == function.__doc__
    assert inspect.signature(method) == inspect.signature(function)
