"""Event-time joins in Spark's real-time mode, which has joins from Spark 4.3 on."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyspark
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order, stream_join
from tests.differential.case import HOWS, Case, How, Input, Join, Node, joins_of
from tests.differential.check import Verdict, check
from tests.differential.generator import generate
from tests.differential.pool import Pool, wanted
from tests.realtime.running import (
    Sink,
    Source,
    await_rows,
    needs_4_3,
    read_offsets,
    running,
    start,
)
from tests.streams import wait_until

REFUSED = {"distinct", "distinct_within", "windows"}
"""Operators that Spark or this project refuses in this mode."""
CONDITION = "oid = did AND dt BETWEEN ot AND ot + INTERVAL '1 hour'"


def typed(source: Source, prefix: str) -> DataFrame:
    schema = f"{prefix}id INT, {prefix}t TIMESTAMP"
    rows = source.df.select(F.from_json("value", schema).alias("row")).select("row.*")
    return rows.withColumn(f"{prefix}g", F.col(f"{prefix}id") % 2)


def row(prefix: str, number: int, minute: int) -> str:
    clock = f"2026-01-01 {12 + minute // 60}:{minute % 60:02d}:00"
    return json.dumps({f"{prefix}id": number, f"{prefix}t": clock})


class Streams:
    """Orders and deliveries, and their join."""

    def __init__(self, session: SparkSession, groups: bool = False) -> None:
        self.orders, self.deliveries = Source(session), Source(session)
        per = ("og", "dg") if groups else (None, None)
        self.left = typed(self.orders, "o").imposeOrder("ot", "0 seconds", per=per[0])
        self.right = typed(self.deliveries, "d").imposeOrder("dt", "0 seconds", per=per[1])

    def joined(self, how: How = "inner", condition: str = CONDITION) -> DataFrame:
        return stream_join(self.left, self.right, condition, how)


# ---- what it emits ----


@needs_4_3
def test_match_is_emitted_while_the_batch_runs(realtime: SparkSession, tmp_path: Path) -> None:
    streams = Streams(realtime)
    sink = Sink(realtime, "running")
    query = start(streams.joined("left"), sink, str(tmp_path), "10 minutes")
    try:
        streams.orders.add(row("o", 1, 0), row("o", 2, 1))
        streams.deliveries.add(row("d", 1, 10))
        wait_until(query, lambda: bool(sink.rows()))
        assert [each["did"] for _, each in sink.rows()] == [1]
        # the next match needs the row that is buffered, and not the end of the batch
        streams.deliveries.add(row("d", 2, 11))
        wait_until(query, lambda: len(sink.rows()) > 1)
        assert [each["did"] for _, each in sink.rows()] == [1, 2]
        assert not query.recentProgress
    finally:
        query.stop()


@needs_4_3
def test_max_ahead_counts_from_the_end_of_the_batch(realtime: SparkSession, tmp_path: Path) -> None:
    source, sink = Source(realtime), Sink(realtime, "ahead")
    df = impose_order(typed(source, "o"), "ot", "0 seconds", max_ahead="1 minute")
    query = start(df, sink, str(tmp_path), "10 minutes")
    try:
        now = datetime.now(timezone.utc)
        for number, minutes in enumerate([0, 9, 15, 1]):
            time = (now + timedelta(minutes=minutes)).strftime("%Y-%m-%d %H:%M:%S")
            source.add(json.dumps({"oid": number, "ot": time}))
        wait_until(query, lambda: any(each["oid"] == 3 for _, each in sink.rows()))
        assert [each["oid"] for _, each in sink.rows()] == [0, 1, 3]
    finally:
        query.stop()


@needs_4_3
def test_join_of_spark_is_replaced(realtime: SparkSession, tmp_path: Path) -> None:
    session = realtime.newSession()
    session.conf.set("spark.sql.streamJoin.replaceBuiltin", "true")
    orders, deliveries = Source(session), Source(session)
    left = typed(orders, "o").withWatermark("ot", "0 seconds")
    right = typed(deliveries, "d").withWatermark("dt", "0 seconds")
    sink = Sink(session, "replaced")
    df = left.join(right, F.expr(CONDITION))
    query = start(df, sink, str(tmp_path), "10 minutes")
    try:
        orders.add(row("o", 1, 0))
        deliveries.add(row("d", 1, 10))
        wait_until(query, lambda: bool(sink.rows()))
        assert not query.recentProgress
    finally:
        query.stop()


@needs_4_3
@pytest.mark.parametrize(
    ("condition", "groups"),
    [(CONDITION, False), (CONDITION.split(" AND ", 1)[1], False), (CONDITION, True)],
)
def test_batch_emits_the_rows_of_its_micro_batch(
    condition: str, groups: bool, realtime: SparkSession, tmp_path: Path
) -> None:
    feeds = [
        ([(1, 0), (2, 5), (3, 9)], [(2, 30)]),
        ([(4, 40), (5, 65)], [(1, 20), (4, 95), (9, 61)]),
        ([(6, 200), (2, 10)], [(6, 210), (5, 70), (7, 220)]),
    ]
    running = {}
    for how in HOWS:
        streams, sink = Streams(realtime, groups), Sink(realtime, str(tmp_path / how))
        checkpoint = tmp_path / how
        query = start(streams.joined(how, condition), sink, str(checkpoint), "2 seconds")
        running[how] = (streams, sink, checkpoint, query)
    fed = 0
    for orders, deliveries in feeds:
        for streams, *_ in running.values():
            streams.orders.add(*(row("o", *each) for each in orders))
            streams.deliveries.add(*(row("d", *each) for each in deliveries))
        fed += len(orders) + len(deliveries)
        for _, _, checkpoint, query in running.values():
            await_rows(query, checkpoint, fed)
    for *_, query in running.values():
        query.stop()
    given = [[row("od"[side], *each) for feed in feeds for each in feed[side]] for side in (0, 1)]
    for how, (_, sink, checkpoint, _) in running.items():
        again = Sink(realtime, str(tmp_path / f"{how} again"))
        streams, begun = Streams(realtime, groups), [0, 0]
        for batch, ends in enumerate(read_offsets(checkpoint)):
            if ends != begun:
                streams.orders.add(*given[0][begun[0] : ends[0]])
                streams.deliveries.add(*given[1][begun[1] : ends[1]])
                begun = ends
                df = streams.joined(how, condition)
                query = start(df, again, str(checkpoint) + "-again", None)
                query.processAllAvailable()
                query.stop()
            emitted = sorted(json.dumps(each) for number, each in sink.rows() if number == batch)
            assert emitted == sorted(json.dumps(each) for _, each in again.rows()), (how, batch)
            again.clear()
        assert begun == [len(rows) for rows in given]


def supported(seed: int, count: int) -> Iterator[Case]:
    numbers = itertools.count()
    while count:
        case = generate(seed, next(numbers))
        used = {each for source in case.inputs for each in source.below} | {case.above}
        itself = any(source.same_as for source in case.inputs)
        if not (used & REFUSED or itself or has_two_joins_below(case.tree) or is_not_read(case)):
            count -= 1
            if case.through == "dataframe" and len(case.inputs) == 2 and count % 2:
                case = replace(case, inputs=tuple(map(in_groups, case.inputs)))
            yield replace(case, mode="update", actions=1)


def is_not_read(case: Case) -> bool:
    """Whether a filter can leave nothing of the static table with which an input is joined.

    The task of such an input ends at once, and the mode takes the end of a batch from the tasks.
    """
    conjuncts = {each for join in joins_of(case.tree) for each in join.conjuncts}
    with_table = (source.alias for source in case.inputs if "table" in source.below)
    return any(f"{alias}.q IS NULL" in conjuncts for alias in with_table)


def in_groups(source: Input) -> Input:
    """With a watermark for each value of a column."""
    times = (replace(t, per="g") if t.by == "imposeOrder" else t for t in source.times)
    return replace(source, times=tuple(times))


def has_two_joins_below(node: Node) -> bool:
    if isinstance(node, str):
        return False
    below = (node.left, node.right)
    return all(isinstance(each, Join) for each in below) or any(map(has_two_joins_below, below))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        option = metafunc.config.option
        cases = list(supported(option.realtime_seed, option.realtime_cases))
        metafunc.parametrize("case", cases, ids=[case.name for case in cases])


@pytest.fixture(scope="module")
def verdicts(
    request: pytest.FixtureRequest,
    realtime: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pool]:
    run = running(request.config.option.realtime_batch)

    def work(case: Case) -> Verdict:
        return check(case, realtime, tmp_path_factory.mktemp(f"case-{case.name}-"), running=run)

    pool = Pool(wanted(request), request.config.option.realtime_jobs, work)
    yield pool
    pool.close()


@needs_4_3
def test_stream_gives_what_the_batch_join_gives(case: Case, verdicts: Pool) -> None:
    """In real-time mode and in micro-batches, which take turns at each restart."""
    assert verdicts.verdict(case).problems == ()


# ---- what it refuses ----


def refusal(df: DataFrame, folder: Path, name: str = "refused") -> str:
    query = start(df, Sink(df.sparkSession, name), str(folder / name), "5 seconds")
    with pytest.raises(StreamingQueryException) as refused:
        query.awaitTermination()
    return str(refused.value)


@needs_4_3
def test_list_of_operators_is_named(realtime: SparkSession, tmp_path: Path) -> None:
    session = realtime.newSession()
    session.conf.set("spark.sql.streaming.realTimeMode.allowlistCheck", "true")
    session.conf.set("spark.sql.streaming.realTimeMode.minBatchDuration", "1s")
    message = refusal(Streams(session).joined(), tmp_path)
    assert "STREAM_JOIN.UNSUPPORTED_REAL_TIME_MODE" in message
    assert "Set spark.sql.streaming.realTimeMode.allowlistCheck to false" in message


def changelog(streams: Streams) -> DataFrame:
    return stream_join(streams.left, streams.right, "oid = did", "left", mode="changelog")


def as_of(streams: Streams) -> DataFrame:
    return stream_join(streams.left, streams.right, "oid = did AND dt <= ot", "asof")


def bushy(streams: Streams) -> DataFrame:
    other = Streams(streams.left.sparkSession)
    renamed = other.joined().selectExpr("oid AS a", "ot AS b", "did AS c", "dt AS d")
    condition = "oid = a AND b BETWEEN ot AND ot + INTERVAL '1 hour'"
    return stream_join(streams.joined(), renamed, condition)


def shuffled_after(streams: Streams) -> DataFrame:
    left = streams.left.repartition(2, "oid").select(F.col("oid") + 0, "ot")
    return stream_join(left.toDF("oid", "ot"), streams.right, CONDITION)


def shuffled_between(streams: Streams) -> DataFrame:
    other = Streams(streams.left.sparkSession).left.toDF("a", "b", "g")
    condition = "oid = a AND b BETWEEN ot AND ot + INTERVAL '1 hour'"
    return stream_join(streams.joined().repartition(3, "dt"), other, condition)


def joined_in_second_place(streams: Streams) -> DataFrame:
    other = Streams(streams.left.sparkSession)
    joined = streams.joined().select("oid", "ot", "og")
    return stream_join(other.left.unionByName(joined), other.right, CONDITION)


def coalesced(streams: Streams) -> DataFrame:
    return stream_join(streams.left.coalesce(1), streams.right, CONDITION)


@needs_4_3
@pytest.mark.parametrize(
    ("query", "found"),
    [
        (changelog, "a changelog is consolidated at the end of a batch"),
        (as_of, "an as-of join emits a row when the watermark passes it"),
        (bushy, "Join one stream at a time"),
        (shuffled_after, "the rows of ot are shuffled between imposeOrder and the join"),
        (shuffled_between, "the rows of a join are shuffled before the next join"),
        (joined_in_second_place, "is not the first input of the union"),
        (coalesced, "CoalesceExec is not in the operator allowlist"),
    ],
)
def test_query_is_refused(
    query: Callable[[Streams], DataFrame], found: str, realtime: SparkSession, tmp_path: Path
) -> None:
    assert found in refusal(query(Streams(realtime)), tmp_path)


@needs_4_3
def test_ordered_output_is_refused(realtime: SparkSession, tmp_path: Path) -> None:
    """The mode has output mode update only, in which no output is ordered."""
    streams = Streams(realtime)
    df = stream_join(streams.left, streams.right, CONDITION, order_by="ot")
    with pytest.raises(AnalysisException, match="real-time mode does not have"):
        start(df, Sink(realtime, "ordered"), str(tmp_path), "1 second")


@needs_4_3
def test_too_few_slots_are_an_error(realtime: SparkSession, tmp_path: Path) -> None:
    session = realtime.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "100")
    message = refusal(Streams(session).joined(), tmp_path)
    assert "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT" in message


@pytest.mark.skipif(
    not pyspark.__version__.startswith(("4.1.", "4.2.")), reason="these have the mode, but no joins"
)
def test_mode_is_refused_before_spark_4_3(spark: SparkSession, tmp_path: Path) -> None:
    message = refusal(Streams(spark.newSession()).joined(), tmp_path)
    assert "Use Spark 4.3, or trigger(processingTime='0 seconds')" in message
