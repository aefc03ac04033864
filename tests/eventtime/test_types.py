"""Event times and keys of every type, compared with Spark's batch join of the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order
from tests.parameters import STATE_FORMATS
from tests.streams import Landing, Run

END = 10**6
"""The id of rows that only advance the watermarks."""


class Inputs:
    """Two inputs of rows (id, k, t), with key and time columns computed from k and t."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.folder = folder
        schema = "id INT, k STRING, t BIGINT"
        self.landings = {
            side: Landing(session, folder / side, schema) for side in ("left", "right")
        }

    def land(self, side: str, *rows: tuple[int, str | None, int]) -> None:
        self.landings[side].land(*({"id": i, "k": k, "t": t} for i, k, t in rows))

    def batch(self, side: str) -> DataFrame:
        landing = self.landings[side]
        return landing.session.read.schema(landing.schema).json(str(landing.folder))


def joined(
    inputs: Inputs, times: tuple[str, str], keys: tuple[str, str], lag: str | int, on: str, how: str
) -> tuple[DataFrame, DataFrame]:
    """The join of the streams, and the join of the same rows as tables."""

    def side(frame: DataFrame, name: str, n: int) -> DataFrame:
        columns = ["id", f"{keys[n]} AS key", f"{times[n]} AS time"]
        return frame.selectExpr(*columns).alias(name)

    streams = [
        impose_order(side(inputs.landings[name].stream(), name, n), "time", lag).alias(name[0])
        for n, name in enumerate(("left", "right"))
    ]
    tables = [
        side(inputs.batch(name), name, n).alias(name[0]) for n, name in enumerate(("left", "right"))
    ]
    columns = ["l.id AS l", "r.id AS r"]
    return (
        streams[0].streamJoin(streams[1], on, how).selectExpr(*columns),
        tables[0].join(tables[1], F.expr(on), how).selectExpr(*columns),
    )


def pairs(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return sorted((row for row in rows if END not in row), key=str)


def check(run: Run, table: DataFrame) -> list[tuple[object, ...]]:
    """Run to the end, compare the output with the batch join, and return it."""
    run.step()
    found = pairs(run.rows())
    assert found == pairs([tuple(row) for row in table.collect()])
    return found


TIMES: dict[str, tuple[str, str, str | int]] = {
    "TIMESTAMP": ("timestamp_seconds(t * 3600)", "INTERVAL '2' HOUR", "1 hour"),
    "TIMESTAMP_NTZ": (
        "CAST(timestamp_seconds(t * 3600) AS TIMESTAMP_NTZ)",
        "INTERVAL '2' HOUR",
        "1 hour",
    ),
    "DATE": ("date_from_unix_date(CAST(t AS INT))", "INTERVAL '2' DAY", "1 day"),
    "BIGINT": ("t", "2", 1),
    "INT": ("CAST(t AS INT)", "2", 1),
    "SMALLINT": ("CAST(t AS SMALLINT)", "2", 1),
}


@pytest.mark.connect
@pytest.mark.parametrize("kind", TIMES)
def test_event_times_of_every_type_join_as_in_batch(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    time, distance, lag = TIMES[kind]
    inputs = Inputs(spark, tmp_path)
    on = f"l.key = r.key AND r.time BETWEEN l.time AND l.time + {distance}"
    stream, _ = joined(inputs, (time, time), ("k", "k"), lag, on, "full")
    run = Run(stream, tmp_path / "checkpoint")
    inputs.land("left", (1, "a", 100), (2, "a", 101), (3, "b", 102), (4, "a", 103))
    inputs.land("right", (1, "a", 101), (2, "b", 105), (3, "a", 99))
    run.step()
    # 105 - 1 - 2 = 102: left rows 1 and 2 are evicted, 3 and 4 can still match.
    assert run.metrics()["bufferedRowsLeft"] == 2
    inputs.land("left", (5, "b", 104), (6, "a", 106), (END, "end", 200))
    inputs.land("right", (4, "a", 104), (5, None, 104), (END, "end", 300))
    _, table = joined(inputs, (time, time), ("k", "k"), lag, on, "full")
    found = check(run, table)
    assert {(4, 4), (5, 2), (None, 5)} <= set(found)


@pytest.mark.connect
@pytest.mark.parametrize(
    ("left", "right"), [("INT", "BIGINT"), ("SMALLINT", "INT"), ("SMALLINT", "BIGINT")]
)
def test_integer_event_times_of_different_width(
    spark: SparkSession, tmp_path: Path, left: str, right: str
) -> None:
    inputs = Inputs(spark, tmp_path)
    on = "l.key = r.key AND r.time BETWEEN l.time AND l.time + 2"
    times = (TIMES[left][0], TIMES[right][0])
    stream, _ = joined(inputs, times, ("k", "k"), 1, on, "left")
    inputs.land("left", (1, "a", 100), (2, "a", 103), (END, "end", 200))
    inputs.land("right", (1, "a", 101), (2, "a", 106), (END, "end", 300))
    _, table = joined(inputs, times, ("k", "k"), 1, on, "left")
    assert check(Run(stream, tmp_path / "checkpoint"), table) == [(1, 1), (2, None)]


@pytest.mark.parametrize("state", STATE_FORMATS)
@pytest.mark.parametrize(
    "on",
    [
        "r.time BETWEEN l.time * 1000 AND l.time * 1000 + 2000",
        "timestamp_millis(r.time) BETWEEN timestamp_seconds(l.time) "
        "AND timestamp_seconds(l.time) + INTERVAL '2' SECOND",
    ],
)
def test_integer_event_times_in_seconds_and_milliseconds(
    spark: SparkSession, tmp_path: Path, on: str, state: str
) -> None:
    inputs = Inputs(spark, tmp_path)
    times = (TIMES["BIGINT"][0], "t * 1000 + 5")
    spark.conf.set("spark.sql.streamJoin.stateFormat", state)
    try:
        stream, _ = joined(inputs, times, ("k", "k"), 1, f"l.key = r.key AND {on}", "full")
        run = Run(stream, tmp_path / "checkpoint")
        inputs.land("left", (1, "a", 100), (2, "a", 102), (3, "b", 104))
        inputs.land("right", (1, "a", 101), (2, "a", 105), (3, "b", 104))
        run.step()
        # The watermark of the right input is 105004: left rows from 104 on can still match.
        assert run.metrics()["bufferedRowsLeft"] == 1
        inputs.land("left", (END, "end", 200))
        inputs.land("right", (END, "end", 300))
        _, table = joined(inputs, times, ("k", "k"), 1, f"l.key = r.key AND {on}", "full")
        assert {(1, 1), (2, None), (None, 2), (3, 3)} <= set(check(run, table))
    finally:
        spark.conf.unset("spark.sql.streamJoin.stateFormat")


def test_an_idle_input_does_not_follow_times_in_another_unit(
    spark: SparkSession, tmp_path: Path
) -> None:
    inputs = Inputs(spark, tmp_path)
    seconds = inputs.landings["left"].stream()
    millis = inputs.landings["right"].stream().withColumn("t", F.expr("t * 1000"))
    result = (
        impose_order(seconds, "t", 1, idle_timeout="1 second")
        .alias("l")
        .streamJoin(
            impose_order(millis, "t", 1).alias("r"),
            "l.k = r.k AND r.t BETWEEN l.t * 1000 AND l.t * 1000 + 2000",
        )
    )
    run = Run(result.selectExpr("l.id AS l", "r.id AS r"), tmp_path / "checkpoint")
    inputs.land("left", (1, "a", 100))
    inputs.land("right", (1, "a", 100))
    run.step()
    # The left input is idle. The watermark of the right one, 100999, is no time in seconds.
    sleep(1.1)
    inputs.land("right", (2, "a", 101))
    run.step()
    inputs.land("left", (2, "a", 101))
    run.step()
    assert pairs(run.rows()) == [(1, 1), (1, 2), (2, 2)]
    assert run.total("lateRowsLeft") == 0


@pytest.mark.connect
def test_integer_event_time_keeps_its_watermark_when_widened(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Once with an explicit cast, once with the cast that Spark adds in a union."""
    inputs = Inputs(spark, tmp_path)

    def made(frame: DataFrame, number: str, where: str = "true") -> DataFrame:
        rows = frame.where(where).selectExpr("id", "k", f"CAST(t AS {number}) AS time")
        return impose_order(rows, "time", 1)

    def sides(left: DataFrame, right: DataFrame) -> tuple[DataFrame, DataFrame]:
        return (
            made(left, "SMALLINT").selectExpr("id", "k", "CAST(time AS BIGINT) AS time").alias("l"),
            made(right, "INT", f"id < 10 OR id = {END}")
            .union(made(right, "BIGINT", "id >= 10"))
            .alias("r"),
        )

    on = "l.k = r.k AND r.time BETWEEN l.time AND l.time + 2"
    ids = ["l.id AS l", "r.id AS r"]
    left, right = sides(*(landing.stream() for landing in inputs.landings.values()))
    run = Run(left.streamJoin(right, on, "full").selectExpr(*ids), tmp_path / "checkpoint")
    inputs.land("left", (1, "a", 100), (2, "a", 103), (END, "end", 200))
    inputs.land("right", (1, "a", 101), (12, "a", 104), (13, "b", 106), (END, "end", 300))
    left, right = sides(inputs.batch("left"), inputs.batch("right"))
    table = left.join(right, F.expr(on), "full").selectExpr(*ids)
    assert check(run, table) == [(1, 1), (2, 12), (None, 13)]


@pytest.mark.parametrize(
    ("left", "right"),
    [("TIMESTAMP", "DATE"), ("TIMESTAMP", "TIMESTAMP_NTZ"), ("DATE", "TIMESTAMP_NTZ")],
)
def test_event_times_of_different_type_families_are_refused(
    spark: SparkSession, tmp_path: Path, left: str, right: str
) -> None:
    inputs = Inputs(spark, tmp_path)
    on = "l.key = r.key AND r.time BETWEEN l.time AND l.time + INTERVAL '1' DAY"
    times = (TIMES[left][0], TIMES[right][0])
    with pytest.raises(AnalysisException) as refused:
        joined(inputs, times, ("k", "k"), "1 day", on, "inner")
    assert refused.value.getCondition() == "STREAM_JOIN.NON_CONSTANT_BOUND"
    assert "its event times are" in str(refused.value)


@pytest.fixture
def new_york(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield
    spark.conf.set("spark.sql.session.timeZone", "UTC")


# 2024-11-03 12:00 in New York. The calendar day that ends here has 25 hours.
NOON = 1730653200 // 3600


@pytest.mark.connect
@pytest.mark.parametrize("how", ["left", "right"])
def test_one_day_interval_across_a_daylight_saving_change(
    spark: SparkSession, tmp_path: Path, new_york: None, how: str
) -> None:
    inputs = Inputs(spark, tmp_path)
    on = "l.key = r.key AND r.time BETWEEN l.time AND l.time + INTERVAL '1' DAY"
    time = TIMES["TIMESTAMP"][0]
    stream, _ = joined(inputs, (time, time), ("k", "k"), "0 seconds", on, how)
    run = Run(stream, tmp_path / "checkpoint")
    inputs.land("left", (1, "a", NOON - 25), (2, "b", NOON - 25))
    # 24 hours of elapsed time later
    inputs.land("right", (1, "c", NOON - 1))
    run.step()
    inputs.land("right", (2, "a", NOON), (3, "b", NOON + 1), (END, "end", NOON + 100))
    inputs.land("left", (END, "end", NOON + 100))
    _, table = joined(inputs, (time, time), ("k", "k"), "0 seconds", on, how)
    assert (1, 2) in check(run, table)


KEYS = {
    "string": ("k", "k"),
    "collated": ("k COLLATE UTF8_LCASE", "k COLLATE UTF8_LCASE"),
    "collated by language": ("k COLLATE UNICODE_CI", "k COLLATE UNICODE_CI"),
    "trimmed": ("k COLLATE UTF8_BINARY_RTRIM", "k COLLATE UTF8_BINARY_RTRIM"),
    "struct": ("named_struct('x', k, 'y', 1)", "named_struct('x', k, 'y', 1)"),
    "struct of collated": (
        "named_struct('x', k COLLATE UTF8_LCASE)",
        "named_struct('x', k COLLATE UTF8_LCASE)",
    ),
    "array": ("array(k, 'x')", "array(k, 'x')"),
    "array of collated": ("array(k COLLATE UTF8_LCASE)", "array(k COLLATE UTF8_LCASE)"),
    "binary": ("CAST(k AS BINARY)", "CAST(k AS BINARY)"),
    "decimals": ("try_cast(k AS DECIMAL(5, 1))", "try_cast(k AS DECIMAL(38, 4))"),
    "double": ("try_cast(k AS DOUBLE)", "try_cast(k AS DOUBLE)"),
    "float and double": ("try_cast(k AS FLOAT)", "try_cast(k AS DOUBLE)"),
    "struct of double": (
        "named_struct('x', try_cast(k AS DOUBLE))",
        "named_struct('x', try_cast(k AS DOUBLE))",
    ),
    "array of float": ("array(try_cast(k AS FLOAT))", "array(try_cast(k AS FLOAT))"),
    "boolean": ("length(k) > 1", "length(k) > 1"),
    "date and timestamp": ("DATE'2024-01-01'", "TIMESTAMP'2024-01-01 00:00:00'"),
    "interval": ("make_dt_interval(length(k))", "make_dt_interval(length(k))"),
}
LEFT = ["a", "A", "a ", "Straße", "0.0", "-0.0", "NaN", "1.5", None]
RIGHT = ["a", "A", "A ", "STRASSE", "0", "-0", "nan", "NaN", "1.50", "2", None]


NULL_SAFE = ["collated", "struct of double", "decimals", "binary"]


@pytest.mark.connect
@pytest.mark.parametrize(
    ("kind", "equals"), [*((k, "=") for k in KEYS), *((k, "<=>") for k in NULL_SAFE)]
)
def test_keys_of_every_type_join_as_in_batch(
    spark: SparkSession, tmp_path: Path, kind: str, equals: str
) -> None:
    inputs = Inputs(spark, tmp_path)
    on = f"l.key {equals} r.key AND r.time BETWEEN l.time AND l.time + 2"
    stream, _ = joined(inputs, ("t", "t"), KEYS[kind], 0, on, "full")
    inputs.land("left", *((i, k, 10) for i, k in enumerate(LEFT)), (END, "end", 100))
    inputs.land("right", *((i, k, 11) for i, k in enumerate(RIGHT)), (END, "other end", 100))
    _, table = joined(inputs, ("t", "t"), KEYS[kind], 0, on, "full")
    found = check(Run(stream, tmp_path / "checkpoint"), table)
    assert any(None not in pair for pair in found)


@pytest.mark.parametrize(
    "key", ["map('x', k)", "parse_json('1')", "named_struct('m', map('x', k))"]
)
def test_key_types_without_equality_are_refused(
    spark: SparkSession, tmp_path: Path, key: str
) -> None:
    inputs = Inputs(spark, tmp_path)
    with pytest.raises(AnalysisException) as refused:
        joined(inputs, ("t", "t"), (key, key), 0, "l.key = r.key AND r.time = l.time", "inner")
    assert str(refused.value.getCondition()).startswith("DATATYPE_MISMATCH")
