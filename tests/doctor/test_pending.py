"""`pending`: the buffered rows of a join."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkTypeError,
    PySparkValueError,
    SparkRuntimeException,
)
from pyspark.sql import DataFrame, Row, SparkSession

from streamjoin import impose_order, pending
from tests.fingerprints import fingerprints
from tests.orders import Shop, met
from tests.other_sparks import ON_SPARK_4_0
from tests.streams import Landing, Run

FORMAT = "spark.sql.streamJoin.stateFormat"
IDS = "spark.sql.streaming.stateStore.checkpointFormatVersion"


def clock(text: str) -> datetime:
    return datetime.fromisoformat(f"2024-05-04T{text}")


@pytest.fixture(params=["segments 1", "segments 2", "rocksdb 1", "rocksdb 2"])
def stored(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """Each state format, with each of Spark's checkpoint formats."""
    before = str(spark.conf.get(IDS))
    name, version = request.param.split()
    spark.conf.set(FORMAT, name)
    spark.conf.set(IDS, version)
    yield name
    spark.conf.unset(FORMAT)
    spark.conf.set(IDS, before)


@pytest.fixture(params=[True, False], ids=["by time", "copied to all"])
def by_time(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[bool]:
    """How a join without equality distributes rows: by time buckets, or replicated."""
    spark.conf.set("spark.sql.streamJoin.timeBuckets", str(request.param).lower())
    yield request.param
    spark.conf.unset("spark.sql.streamJoin.timeBuckets")


def waiting(shop: Shop) -> Run:
    """A full join after two batches: orders 2 and 3 and delivery 9 are unmatched."""
    run = shop.joined("full")
    shop.order((1, "10:00"), (2, "10:10"))
    shop.deliver((9, "10:25"))
    run.step()
    shop.order((3, "10:20"))
    shop.deliver((1, "10:30"))
    assert met(run.step()) == [(1, 1)]
    return run


def test_pending_lists_rows_of_both_sides_with_their_limits(shop: Shop, stored: str) -> None:
    run = waiting(shop)
    before = fingerprints(run.checkpoint)
    rows = pending(run.checkpoint)
    shown = sorted(
        (r.side, json.loads(r.row)["id"], r.time, r.waits_for, r.expires, r.watermark, r.matched)
        for r in rows.collect()
    )
    delivered, ordered = clock("10:30"), clock("10:20")
    assert shown == [
        ("left", 1, clock("10:00"), "right.delivery_time", clock("11:00"), delivered, True),
        ("left", 2, clock("10:10"), "right.delivery_time", clock("11:10"), delivered, False),
        ("left", 3, clock("10:20"), "right.delivery_time", clock("11:20"), delivered, False),
        ("right", 1, clock("10:30"), "left.order_time", clock("10:30"), ordered, True),
        ("right", 9, clock("10:25"), "left.order_time", clock("10:25"), ordered, False),
    ]
    for r in rows.collect():
        assert (r.batch_id, r.operator_id) == (1, 0)
        assert r.limits == [Row(waits_for=r.waits_for, expires=r.expires, watermark=r.watermark)]
    assert {r.partition_id for r in rows.collect()} <= {0, 1}
    assert fingerprints(run.checkpoint) == before
    # The query continues unaffected.
    shop.order((8, "14:00"))
    shop.deliver((7, "14:30"))
    assert met(run.step()) == [(2, None), (3, None), (None, 9)]
    assert pending(run.checkpoint).count() == run.operator()["numRowsTotal"] == 2


def test_pending_of_one_side_has_typed_columns(shop: Shop, stored: str) -> None:
    run = waiting(shop)
    left = pending(str(run.checkpoint), "left")
    assert sorted(map(tuple, left.where("NOT matched").select("row.*").collect())) == [
        (2, clock("10:10")),
        (3, clock("10:20")),
    ]
    assert left.select("row.order_time").schema[0].dataType.simpleString() == "timestamp"
    assert {r.side for r in pending(run.checkpoint, "right").collect()} == {"right"}


def test_pending_reads_an_earlier_batch(shop: Shop, stored: str) -> None:
    run = waiting(shop)
    assert sorted(
        (r.row.id, r.watermark) for r in pending(run.checkpoint, "left", batch_id=0).collect()
    ) == [(1, clock("10:25")), (2, clock("10:25"))]
    with pytest.raises(AnalysisException) as failed:
        pending(run.checkpoint, batch_id=2)
    assert failed.value.getCondition() == "STREAM_JOIN_STATE.NOT_FOUND"
    assert "no batch 2. It has batches 0 to 1" in str(failed.value)


def test_matched_is_null_unless_the_join_tracks_matches(shop: Shop) -> None:
    shop.order((1, "10:00"), (2, "10:00"))
    shop.deliver((1, "10:30"))
    for how, left, right in (
        ("inner", {None}, {None}),
        ("left", {True, False}, {None}),
        ("right", {None}, {True}),
        ("semi", {False}, {None}),
        ("anti", {False}, {None}),
    ):
        run = shop.run(shop.joined(how).result, how)
        run.step()
        rows = pending(run.checkpoint).collect()
        assert {r.matched for r in rows if r.side == "left"} == left, how
        assert {r.matched for r in rows if r.side == "right"} == right, how


def test_pending_shows_a_missing_watermark_as_null(shop: Shop, stored: str) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"))
    run.step()
    (row,) = pending(run.checkpoint, "left").collect()
    assert (row.expires, row.watermark, row.matched) == (clock("11:00"), None, False)


def test_pending_of_a_running_query_is_a_snapshot(shop: Shop) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"))
    query = run.start(processingTime="0 seconds")
    try:
        query.processAllAvailable()
        first = pending(query)
        assert first.count() == 1
        shop.order((2, "10:10"))
        query.processAllAvailable()
        assert pending(query).count() == 2
        # The first DataFrame still reads its batch.
        assert first.count() == 1
        shop.deliver((2, "10:20"))
        query.processAllAvailable()
    finally:
        query.stop()
    assert sorted(r.matched for r in pending(query, "left").collect()) == [False, True]


def test_pending_of_a_chain_and_of_rows_with_two_limits(shop: Shop, stored: str) -> None:
    calls = Landing(shop.session, shop.folder / "calls", "id INT, called TIMESTAMP")
    delivered = (
        shop.ordered()
        .streamJoin(
            shop.delivered(),
            "o.id = d.id "
            "AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR",
            "left",
        )
        .selectExpr("o.id", "order_time", "delivery_time")
        .alias("x")
    )
    called = impose_order(calls.stream(), "called", "0 seconds").alias("c")
    run = shop.run(
        called.streamJoin(
            delivered,
            "c.id = x.id AND x.order_time BETWEEN c.called - INTERVAL '2' HOURS AND c.called "
            "AND x.delivery_time BETWEEN c.called - INTERVAL '3' HOURS AND c.called",
        )
    )
    shop.order((1, "10:00"), (2, "10:10"))
    shop.deliver((1, "10:30"))
    calls.land({"id": 5, "called": "2024-05-04T10:35:00"})
    run.step()
    rows = pending(run.checkpoint).collect()
    assert {r.operator_id for r in rows} == {0, 1}
    call = next(r for r in rows if "called" in r.row)
    assert json.loads(call.row)["id"] == 5
    # Its order may be too late although its delivery is not.
    limits = {limit.waits_for: limit for limit in call.limits}
    assert set(limits) == {"right.order_time", "right.delivery_time"}
    assert {limit.expires for limit in limits.values()} == {clock("10:35")}
    assert call.waits_for in limits
    assert limits[call.waits_for].watermark == call.watermark
    with pytest.raises(AnalysisException, match="more than one streamJoin: 0, 1"):
        pending(run.checkpoint, "left")
    lower = call.operator_id ^ 1
    assert {r.row.id for r in pending(run.checkpoint, "left", operator=lower).collect()} == {1, 2}
    with pytest.raises(AnalysisException, match=r"no streamJoin with the number 7\. It has 0, 1"):
        pending(run.checkpoint, operator=7)


@pytest.mark.parametrize("how", ["inner", "full"])
def test_replicated_rows_are_listed_once(shop: Shop, stored: str, how: str, by_time: bool) -> None:
    near = "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '10' MINUTES"
    run = shop.joined(how, near, lag="1 hour")
    # Times at bucket edges, two in a row. With two partitions, one edge is between partitions.
    shop.order((1, "12:00"), (2, "12:10"), (3, "12:40"), (4, "12:40"))
    shop.deliver((8, "12:05"), (9, "12:25"))
    run.step()
    assert run.operator()["numRowsTotal"] > 6
    rows = pending(run.checkpoint).collect()
    assert sorted(json.loads(r.row)["id"] for r in rows) == [1, 2, 3, 4, 8, 9]
    copied = {"right"} if how == "inner" and not by_time else set()
    assert {r.side for r in rows if r.partition_id is None} == copied


def test_pending_keeps_the_type_of_event_times(
    spark: SparkSession, tmp_path: Path, stored: str
) -> None:
    for number, (kind, low, high) in enumerate(
        (
            ("DATE", "2024-05-04", "2024-05-05"),
            ("TIMESTAMP_NTZ", "2024-05-04T10:00:00", "2024-05-05T10:00:00"),
            ("SMALLINT", 32767, 32768),
            ("INT", 2**31 - 1, 2**31),
            ("BIGINT", -5, -4),
        )
    ):
        folder = tmp_path / str(number)
        left = Landing(spark, folder / "left", f"id INT, t {kind}")
        right = Landing(spark, folder / "right", f"id INT, t {kind}")
        step = "INTERVAL '1' DAY" if isinstance(low, str) else "1"
        ordered = [
            impose_order(side.stream(), "t", "0 days" if isinstance(low, str) else 0).alias(name)
            for side, name in ((left, "l"), (right, "r"))
        ]
        # A sum that overflows would be no bound.
        on = f"l.id = r.id AND r.t >= l.t AND CAST(r.t AS {wider(kind)}) <= l.t + {step}"
        run = Run(ordered[0].streamJoin(ordered[1], on, "left"), folder / "checkpoint")
        left.land({"id": 1, "t": low})
        run.step()
        (row,) = pending(run.checkpoint, "left").collect()
        assert str(row.time).replace(" ", "T") == str(low), kind
        assert str(row.expires).replace(" ", "T") == str(high), kind
        assert row.row.t == row.time


def wider(kind: str) -> str:
    return {"SMALLINT": "BIGINT", "INT": "BIGINT"}.get(kind, kind)


def test_rows_with_nested_types_as_json_and_as_struct(spark: SparkSession, tmp_path: Path) -> None:
    schema = "id INT, t TIMESTAMP, tags ARRAY<STRING>, at STRUCT<x: DOUBLE>, note STRING"
    side = Landing(spark, tmp_path / "rows", schema)
    stream = impose_order(side.stream(), "t", "0 seconds")
    on = "l.id = r.id + 1 AND l.t = r.t"
    run = Run(stream.alias("l").streamJoin(stream.alias("r"), on), tmp_path / "checkpoint")
    side.land({"id": 1, "t": "2024-05-04T10:00:00", "tags": ["a", None], "at": {"x": 1.5}})
    run.step()
    rows = pending(run.checkpoint).collect()
    assert len(rows) == 2
    for row in rows:
        shown = json.loads(row.row)
        assert (shown["tags"], shown["at"], shown["note"]) == (["a", None], {"x": 1.5}, None)
    (one,) = pending(run.checkpoint, "left").collect()
    assert (one.row.tags, one.row["at"].x, one.row.note) == (["a", None], 1.5, None)


@pytest.mark.thorough
def test_pending_reads_one_whole_batch_during_maintenance(
    spark: SparkSession, tmp_path: Path
) -> None:
    settings = {
        "spark.sql.streaming.stateStore.minDeltasForSnapshot": "1",
        "spark.sql.streaming.stateStore.maintenanceInterval": "50ms",
        "spark.sql.streaming.minBatchesToRetain": "8",
    }
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    side = Landing(spark, tmp_path / "rows", "b INT, t BIGINT")
    stream = impose_order(side.stream(), "t", 0)
    joined = stream.alias("l").streamJoin(
        stream.alias("r"), "l.b = r.b + 1000 AND l.t BETWEEN r.t - 1000 AND r.t + 1000"
    )
    run = Run(joined, tmp_path / "checkpoint")
    query = run.start(processingTime="0 seconds")
    try:
        for batch in range(24):
            side.land(*({"b": batch, "t": batch} for _ in range(5)))
            query.processAllAvailable()
            rows = pending(query)
            shown = rows.select("batch_id").distinct().collect()
            assert len(shown) == 1
            assert rows.count() == 2 * 5 * (batch + 1)
    finally:
        query.stop()
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def test_pending_refuses_a_folder_without_join_state(
    shop: Shop, spark: SparkSession, tmp_path: Path
) -> None:
    def refused(source: Any) -> str:
        with pytest.raises(AnalysisException) as failed:
            pending(source)
        assert failed.value.getCondition() == "STREAM_JOIN_STATE.NOT_FOUND"
        return str(failed.value)

    missing = tmp_path / "missing"
    assert "no such folder" in refused(missing)
    assert not missing.exists()
    shop.order((1, "10:00"))
    counted: DataFrame = shop.ordered().groupBy("order_time").count()
    run = shop.run(counted, "counted")
    run.step()
    assert "no state of a streamJoin" in refused(run.checkpoint)


@pytest.mark.parametrize(
    ("files", "content", "named"),
    [
        ("state/0/_metadata/v2/*", b"{", "state/0 "),
        ("state/0/_stateSchema/default/*", b"", "state/0/_stateSchema/default/0_"),
        ("commits/1", b"v1\nnonsense", "commits/1 "),
    ],
)
def test_error_names_the_damaged_file(shop: Shop, files: str, content: bytes, named: str) -> None:
    run = waiting(shop)
    damaged = [f for f in run.checkpoint.glob(files) if not f.name.startswith(".")]
    assert damaged
    for file in damaged:
        file.write_bytes(content)
    with pytest.raises(AnalysisException) as failed:
        pending(run.checkpoint)
    assert failed.value.getCondition() == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT"
    assert named in str(failed.value)
    assert "Found: null" not in str(failed.value)


def test_pending_refuses_arguments_of_wrong_type(spark: SparkSession) -> None:
    with pytest.raises(PySparkTypeError, match="source"):
        pending(spark)  # type: ignore[arg-type]
    with pytest.raises(PySparkTypeError, match="side"):
        pending("x", 1)  # type: ignore[arg-type]
    with pytest.raises(PySparkValueError, match="side"):
        pending("x", "both")  # type: ignore[arg-type]
    with pytest.raises(PySparkTypeError, match="batch_id"):
        pending("x", batch_id="last")  # type: ignore[arg-type]


def test_spark_state_readers_read_metadata_and_refuse_rows(
    shop: Shop, spark: SparkSession, stored: str
) -> None:
    run = waiting(shop)
    (row,) = spark.read.format("state-metadata").load(str(run.checkpoint)).collect()
    assert (row.operatorId, row.operatorName, row.stateStoreName) == (0, "streamJoin", "default")
    assert (row.numPartitions, row.minBatchId, row.maxBatchId) == (2, 0, 1)
    if ON_SPARK_4_0:  # it reads the schema of the state before the analyzer sees a plan
        with pytest.raises(SparkRuntimeException, match="STDS_FAILED_TO_READ_STATE_SCHEMA"):
            spark.read.format("statestore").load(str(run.checkpoint))
        return
    with pytest.raises(AnalysisException) as failed:
        spark.read.format("statestore").load(str(run.checkpoint))
    assert failed.value.getCondition() == "STREAM_JOIN_STATE.OTHER_READER"
    assert f"streamjoin.pending({run.checkpoint}, operator=0)" in str(failed.value)


def test_pending_data_source_in_sql(shop: Shop, spark: SparkSession) -> None:
    run = waiting(shop)
    where = f"`streamjoin-pending`.`{run.checkpoint}`"
    expected = sorted(pending(run.checkpoint).collect())

    def rows(query: str) -> list[Row]:
        return sorted(spark.sql(query).collect())

    assert sorted(spark.read.format("streamjoin-pending").load(str(run.checkpoint)).collect()) == (
        expected
    )
    assert rows(f"SELECT * FROM {where} AS w") == expected
    assert rows(f"SELECT row.id FROM {where} WITH ('side' = 'left', 'batch' = 0)") == [
        Row(id=1),
        Row(id=2),
    ]
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW waiting USING `streamjoin-pending` "
        f"OPTIONS (path '{run.checkpoint}', side 'right', operator 0)"
    )
    assert rows("SELECT row.id FROM waiting WHERE NOT matched") == [Row(id=9)]


def test_pending_pushes_down_filters_and_columns(shop: Shop, spark: SparkSession) -> None:
    rows = pending(waiting(shop).checkpoint)
    assert rows.rdd.getNumPartitions() == 2
    one = rows.where("partition_id = 1 AND side = 'left' AND NOT matched")
    shown = one.select("time")._jdf.queryExecution().executedPlan().toString()
    if not ON_SPARK_4_0:  # which pushes filters into files alone
        assert one.rdd.getNumPartitions() == 1
        assert "join 0, left, partitions 1" in shown
    assert "row#" not in shown
    assert sorted(map(tuple, rows.where("side = 'right'").select("side", "time").collect())) == [
        ("right", clock("10:25")),
        ("right", clock("10:30")),
    ]
    both = [rows.where(f"partition_id = {n}").count() for n in (0, 1)]
    assert sum(both) == rows.count() == 5
    assert rows.where("side = 'neither'").count() == 0
    assert rows.where("side = 'left' OR time < '2024-05-04T10:26:00'").count() == 4


def test_unknown_data_source_options_are_refused(shop: Shop, spark: SparkSession) -> None:
    reader = spark.read.format("streamjoin-pending")
    for options, message in (
        ({"path": "x", "side": "both"}, "it must be left or right"),
        ({"path": "x", "batch": "last"}, "a whole number"),
        ({"path": "x", "batch_id": "1"}, "one of path, query, side, operator, batch"),
        ({}, "the folder of a checkpoint"),
    ):
        with pytest.raises(AnalysisException, match=message) as failed:
            reader.options(**options).load()
        assert failed.value.getCondition() == "STREAM_JOIN_STATE.INVALID_OPTION"
        reader = spark.read.format("streamjoin-pending")
