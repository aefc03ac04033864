"""State and checkpoints: restarts, what Spark can read of them, and refused checkpoints."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import ANY

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order, stream_join
from tests.fingerprints import fingerprints
from tests.orders import WITHIN_THE_HOUR, Shop, met
from tests.streams import Landing, Run

FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"


@pytest.mark.parametrize("version", ["1", "2"])
def test_rows_match_flags_and_watermarks_survive_restarts(
    shop: Shop, spark: SparkSession, version: str
) -> None:
    before = str(spark.conf.get(FORMAT))
    spark.conf.set(FORMAT, version)
    try:
        run = shop.joined("full")
        shop.order((1, "10:00"), (2, "10:10"), (3, "10:20"))
        shop.deliver((1, "10:30"), (9, "10:25"))
        assert met(run.step()) == [(1, 1)]
        shop.deliver((2, "10:40"))
        assert met(run.step()) == [(2, 2)]
        # Orders 1 and 2 have matched: only order 3 and delivery 9 are emitted unmatched.
        shop.order((8, "14:00"))
        shop.deliver((7, "14:30"))
        assert met(run.step()) == [(3, None), (None, 9)]
        assert run.operator()["numRowsTotal"] == 2
    finally:
        spark.conf.set(FORMAT, before)


def test_join_runs_with_the_default_state_store_provider(shop: Shop, spark: SparkSession) -> None:
    provider = str(spark.conf.get("spark.sql.streaming.stateStore.providerClass"))
    assert provider.endswith("HDFSBackedStateStoreProvider")
    run = shop.joined()
    shop.order((1, "10:00"))
    shop.deliver((1, "10:30"))
    assert met(run.step()) == [(1, 1)]


def test_spark_reads_operator_metadata_of_the_state(shop: Shop, spark: SparkSession) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"))
    run.step()
    (row,) = spark.read.format("state-metadata").load(str(run.checkpoint)).collect()
    assert (row.operatorName, row.stateStoreName, row.numPartitions) == ("streamJoin", "default", 2)


def test_nullability_that_differs_between_batches_is_compatible(shop: Shop) -> None:
    # With rows, Spark folds the constants to literals. Without rows, it removes the input first.
    constants = shop.ordered().selectExpr(
        "*", "CAST('1' AS INT) AS one", "struct(CAST('1.5' AS DOUBLE) AS x) AS point"
    )
    run = shop.run(constants.alias("o").streamJoin(shop.delivered(), WITHIN_THE_HOUR))
    shop.order((1, "10:00"))
    shop.deliver((9, "10:00"))
    assert run.step() == {0: []}
    shop.deliver((1, "10:30"))
    assert [row[:4] for rows in run.step().values() for row in rows] == [(1, ANY, 1, (1.5,))]


def refused(shop: Shop, how: str = "left", on: str = WITHIN_THE_HOUR) -> str:
    run = shop.joined(how, on)
    before = fingerprints(run.checkpoint)
    with pytest.raises(AnalysisException) as failed:
        run.start(availableNow=True)
    assert fingerprints(run.checkpoint) == before
    return str(failed.value)


@pytest.mark.parametrize(
    ("how", "on", "reason"),
    [
        ("full", WITHIN_THE_HOUR, "another join type"),
        ("left", WITHIN_THE_HOUR.replace("'1' HOUR", "'2' HOUR"), "other time bounds"),
        ("left", WITHIN_THE_HOUR + " AND o.id + 1 = d.id + 1", "other equalities as keys"),
        ("left", WITHIN_THE_HOUR.replace("o.id =", "o.id + 1 ="), "other equalities as keys"),
    ],
)
def test_checkpoint_of_a_different_join_is_refused(
    shop: Shop, how: str, on: str, reason: str
) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"))
    run.step()
    # The refusal comes at the start, before any new row.
    assert reason in refused(shop, how, on)
    shop.order((2, "10:00"))
    message = refused(shop, how, on)
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in message
    assert reason in message
    # The refused start overwrote nothing: the original query continues.
    shop.deliver((1, "10:30"), (9, "12:00"))
    assert met(run.step()) == [(1, 1), (2, None)]


UNTIL_IT_EXPIRES = (
    "o.id = d.id AND d.delivery_time >= o.order_time "
    "AND d.delivery_time <= o.order_time + o.id * INTERVAL '10' MINUTE"
)


@pytest.mark.parametrize(
    "on",
    [
        UNTIL_IT_EXPIRES,
        "o.id = d.id AND o.order_time + o.id * INTERVAL '10' MINUTE >= d.delivery_time "
        "AND NOT (d.delivery_time < o.order_time) "
        "AND d.delivery_time >= o.order_time - INTERVAL '1' DAY",
    ],
)
def test_checkpoint_continues_with_equivalent_bounds(shop: Shop, on: str) -> None:
    shop.order((1, "10:00"), (2, "10:00"))
    shop.joined("left", UNTIL_IT_EXPIRES).step()
    shop.deliver((1, "10:10:01"), (2, "10:20"))
    run = shop.joined("left", on)
    assert met(run.step()) == [(1, None), (2, 2)]


def test_bound_computed_differently_is_refused(shop: Shop) -> None:
    shop.order((1, "10:00"))
    shop.joined("left", UNTIL_IT_EXPIRES).step()
    shop.order((2, "10:00"))
    message = refused(shop, "left", UNTIL_IT_EXPIRES.replace("'10'", "'20'"))
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in message
    assert "other time bounds" in message


DAY = WITHIN_THE_HOUR.replace("'1' HOUR", "'24' HOUR")


def test_other_time_zone_is_refused_if_bounds_depend_on_it(shop: Shop, spark: SparkSession) -> None:
    """Days in a condition have the length of days in the session time zone."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None
    shop.order((1, "10:00"))
    shop.joined("left", DAY).step()
    shop.order((2, "10:00"))
    try:
        spark.conf.set("spark.sql.session.timeZone", "America/New_York")
        message = refused(shop, "left", DAY)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert f"Found: spark.sql.session.timeZone = {zone}." in message
    assert f"Set spark.sql.session.timeZone to '{zone}' and start the query again" in message
    shop.deliver((1, "10:30"), (9, "12:00"))
    assert met(shop.joined("left", DAY).step()) == [(1, 1)]


def test_other_time_zone_is_refused_if_event_times_are_local(
    shop: Shop, spark: SparkSession
) -> None:
    """Stored local times are clock times of the zone in which they arrived, in joins and orders."""

    def local(stream: DataFrame, time: str, alias: str) -> DataFrame:
        ntz = stream.selectExpr("id", f"CAST({time} AS TIMESTAMP_NTZ) AS {time}")
        return impose_order(ntz, time, "0 seconds").alias(alias)

    def runs() -> dict[str, Run]:
        orders = local(shop.orders.stream(), "order_time", "o")
        deliveries = local(shop.deliveries.stream(), "delivery_time", "d")
        joined = orders.streamJoin(deliveries, WITHIN_THE_HOUR, "left")
        return {"join": shop.run(joined, "join"), "order": shop.run(orders.orderBy("order_time"))}

    shop.order((1, "10:00"), (2, "10:10"))
    for run in runs().values():
        run.step()
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    shop.order((3, "10:30"))
    shop.deliver((2, "10:30"))
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        for name, run in runs().items():
            with pytest.raises(AnalysisException) as caught:
                run.start(availableNow=True)
            assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in str(caught.value), name
            assert "CAST(order_time AS TIMESTAMP_NTZ)" in str(caught.value), name
            assert f"Set spark.sql.session.timeZone to '{zone}'" in str(caught.value), name
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    after = runs()
    assert met(after["join"].step()) == [(2, 2)]
    assert [row[0] for rows in after["order"].step().values() for row in rows] == [3]


def test_checkpoint_with_other_columns_is_refused(shop: Shop) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"))
    run.step()
    shop.order((2, "10:00"))
    shop.deliveries.schema = "id INT, delivery_time TIMESTAMP, note STRING"
    message = refused(shop)
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in message
    assert "other columns" in message


BOTH_WAYS = "l.id = r.id AND r.t BETWEEN l.t - INTERVAL '1' MINUTE AND l.t + INTERVAL '1' MINUTE"


@pytest.mark.parametrize("mode", ["event time", "as of", "changelog"])
def test_exchanged_inputs_are_refused(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    """Only the sources distinguish the inputs. Spark's own join continues with wrong rows."""
    schema = "id INT, t TIMESTAMP"
    a, b, moved = (Landing(spark, tmp_path / name, schema) for name in ("a1", "b1", "c1"))

    def run(left: str, right: str) -> Run:
        def stream(name: str, alias: str) -> DataFrame:
            # a glob pattern, because Spark refuses another folder
            read = spark.readStream.schema(schema).json(str(tmp_path / f"{name}*"))
            if mode == "changelog":
                return read.alias(alias)
            return impose_order(read, "t", "1 minute").alias(alias)

        inputs = stream(left, "l"), stream(right, "r")
        if mode == "event time":
            both = stream_join(*inputs, BOTH_WAYS)
        elif mode == "as of":
            both = stream_join(*inputs, "l.id = r.id AND r.t <= l.t", "asof")
        else:
            both = stream_join(*inputs, "l.id = r.id", mode="changelog")
        kinds = ["_change_type"] if mode == "changelog" else []
        columns = ["l.id", "minute(l.t) AS lt", "minute(r.t) AS rt", *kinds]
        return Run(both.selectExpr(*columns), tmp_path / "checkpoint")

    def land(landing: Landing, number: int, clock: str) -> None:
        landing.land({"id": number, "t": f"2024-05-04T{clock}:00Z"})

    land(a, 1, "10:01")
    land(b, 2, "10:00")
    first = run("a", "b")
    first.step()
    before = fingerprints(first.checkpoint)
    for new_rows in (False, True):
        with pytest.raises(AnalysisException) as refused:
            run("b", "a").step()
        assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in str(refused.value), new_rows
        for part in (
            f"its inputs were exchanged: json {tmp_path}/b* was read by the right input",
            f"Found: the left input from json {tmp_path}/a*; the right input from json {tmp_path}",
        ):
            assert part in str(refused.value)
        assert fingerprints(first.checkpoint) == before
        if not new_rows:
            land(b, 1, "10:00")
    first.step()
    # All files of an input are in another place: new files contain its next rows.
    land(a, 2, "10:01")
    land(moved, 9, "12:00")
    land(a, 9, "12:00")
    last = run("a", "c")
    last.step()
    rows = sorted(row[:3] for row in [*first.rows(), *last.rows()])
    assert rows[:2] == [(1, 1, 0), (2, 1, 0)]


def test_refusal_names_the_optimizer_setting_that_changed_the_state(
    shop: Shop, spark: SparkSession
) -> None:
    """A rule of Spark determines which columns are stored."""
    setting = "spark.sql.optimizer.excludedRules"
    pruning = "org.apache.spark.sql.catalyst.optimizer.ColumnPruning"

    def run(name: str) -> Run:
        orders = shop.orders.stream().selectExpr("*", "id + 1 AS unread")
        left = impose_order(orders, "order_time", "0 seconds").alias("o")
        joined = left.streamJoin(shop.delivered(), WITHIN_THE_HOUR, "left")
        return shop.run(joined.select("o.id", "order_time", "d.id"), name)

    shop.order((1, "10:00"))
    run("with").step()
    spark.conf.set(setting, pruning)
    try:
        run("without").step()
        with pytest.raises(AnalysisException) as excluded:
            run("with").start(availableNow=True)
    finally:
        spark.conf.unset(setting)
    with pytest.raises(AnalysisException) as included:
        run("without").start(availableNow=True)
    for refused, words in (
        (excluded, f"was '' when the checkpoint was written, and is '{pruning}' now"),
        (included, f"was '{pruning}' when the checkpoint was written, and is '' now"),
    ):
        assert "its rows have other columns" in str(refused.value)
        assert f"{setting} {words}" in str(refused.value)
    shop.deliver((1, "10:30"))
    assert met(run("with").step()) == [(1, 1)]


def test_checkpoint_of_a_spark_join_is_refused(shop: Shop) -> None:
    from tests.eventtime.test_same_batch import spark_join

    theirs = spark_join(shop, "left")
    shop.order((1, "10:00"))
    theirs.step()
    shop.order((2, "10:00"))
    ours = shop.run(shop.ordered().streamJoin(shop.delivered(), WITHIN_THE_HOUR, "left"), "spark")
    with pytest.raises(StreamingQueryException, match="symmetricHashJoin"):
        ours.step()


def test_exceeding_max_buffered_rows_fails_the_query(shop: Shop, spark: SparkSession) -> None:
    spark.conf.set("spark.sql.streamJoin.maxBufferedRows", "3")
    try:
        run = shop.joined("left")
        # All rows have one key and thus one partition; the limit applies to a partition.
        shop.order((1, "10:00"), (1, "10:01"), (1, "10:02"))
        run.step()
        shop.order((1, "10:03"))
        with pytest.raises(StreamingQueryException) as failed:
            run.step()
        assert "STREAM_JOIN.BUFFER_LIMIT_EXCEEDED" in str(failed.value)
        assert "would buffer 4 rows (4 left, 0 right)" in str(failed.value)
        assert "streamjoin.rescale(checkpoint, to, partitions)" in str(failed.value)
    finally:
        spark.conf.unset("spark.sql.streamJoin.maxBufferedRows")
    # The failed batch changed no state.
    shop.deliver((1, "10:30"))
    assert met(run.step()) == [(1, 1)] * 4
