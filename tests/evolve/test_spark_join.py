"""A query goes on from the checkpoint of a join of Spark."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import evolve, rescale
from tests.evolve.test_evolve import ROW, WITHIN, evolved, says
from tests.processes import run_python
from tests.streams import Landing, Run

REPLACE = "spark.sql.streamJoin.replaceBuiltin"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"
CHECKPOINT_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"

# What Spark's checkpoint is written with.
STORES: dict[str, dict[str, str]] = {
    "default": {},
    "rocksdb": {PROVIDER: ROCKS},
    "rocksdb-ids": {PROVIDER: ROCKS, CHECKPOINT_FORMAT: "2"},
    "rocksdb-format-3": {PROVIDER: ROCKS, JOIN_FORMAT: "3"},
    "rocksdb-format-4": {PROVIDER: ROCKS, JOIN_FORMAT: "4"},
}
# The first version of Spark whose join writes it, and whose source of states reads it.
SINCE = {"rocksdb-ids": (4, 1), "rocksdb-format-3": (4, 1), "rocksdb-format-4": (4, 3)}
SPARK = tuple(map(int, pyspark.__version__.split(".")[:2]))
TYPES = ("inner", "left", "right", "full", "left_semi")
LAST = 99


class World:
    """Streams with watermarks of Spark, and joins of them."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.landings = {n: Landing(session, folder / n, ROW) for n in "abc"}

    def stream(self, name: str) -> DataFrame:
        return self.landings[name].stream().withWatermark("t", "5 minutes").alias(name)

    def table(self, name: str) -> DataFrame:
        rows = self.session.read.schema(ROW).json(str(self.folder / name))
        return rows.where(f"id <> {LAST}").alias(name)

    def land(self, name: str, rows: list[tuple[int, datetime, int]]) -> None:
        self.landings[name].land(*({"id": i, "t": t.isoformat(), "v": v} for i, t, v in rows))

    def run(self, result: DataFrame) -> Run:
        return Run(result, self.folder / "checkpoint")


def joined(a: DataFrame, b: DataFrame, how: str) -> DataFrame:
    return a.join(b, F.expr(WITHIN.format(30)), how)


def chained(a: DataFrame, b: DataFrame, c: DataFrame, how: str) -> DataFrame:
    below = joined(a, b, how).selectExpr("a.id", "a.t", "a.v", "b.v AS w").alias("ab")
    above = "ab.id = c.id AND c.t BETWEEN ab.t AND ab.t + INTERVAL '20' MINUTE"
    return below.join(c, F.expr(above), how)


def rounds(seed: int, names: str) -> list[dict[str, list[tuple[int, datetime, int]]]]:
    """Rows of six times ten minutes, out of order within the lag, and a last row of each stream."""
    draw = random.Random(seed)
    start, value = datetime(2024, 5, 4, 10), iter(range(10_000))

    def at(minutes: float) -> datetime:
        return start + timedelta(seconds=round(minutes * 60))

    found = [
        {
            name: [
                (draw.randrange(8), at(10 * n + draw.uniform(0, 14)), next(value))
                for _ in range(draw.randrange(4, 12))
            ]
            for name in names
        }
        for n in range(6)
    ]
    return [*found, {name: [(LAST, at(1000), 0)] for name in names}]


def total(run: Run) -> list[str]:
    return sorted(str(row) for row in run.rows() if LAST not in (row[0], row[-3]))


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> World:
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "3")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return World(session, tmp_path)


def taken_over(world: World, run: Run, feed: list[dict[str, Any]], **changes: Any) -> list[str]:
    """Let Spark's join read the first half of the rows, and this project's the other half."""
    conf = world.session.conf
    for n, landing in enumerate(feed):
        for name, rows in landing.items():
            world.land(name, rows)
        if n == len(feed) // 2:
            conf.set(REPLACE, "true")
            lines = evolved(run, run.result, **changes)
        run.step()
    last = run.progress[max(run.progress)]["stateOperators"]
    assert {operator["operatorName"] for operator in last} == {"streamJoin"}
    return lines


@pytest.mark.parametrize(
    ("store", "how"),
    [
        pytest.param(store, how, marks=[] if m == n else [pytest.mark.thorough])
        for m, store in enumerate(STORES)
        for n, how in enumerate(TYPES)
    ],
)
def test_no_match_is_lost_and_no_row_comes_twice(world: World, store: str, how: str) -> None:
    if SINCE.get(store, SPARK) > SPARK:
        pytest.skip(f"Spark {pyspark.__version__} does not write or read this format")
    for key, value in STORES[store].items():
        world.session.conf.set(key, value)
    run = world.run(joined(world.stream("a"), world.stream("b"), how))
    lines = taken_over(world, run, rounds(seed=sum(map(ord, store + how)), names="ab"))
    assert says(lines, "continues Spark's join 0")
    expected = joined(world.table("a"), world.table("b"), how)
    assert total(run) == sorted(str(tuple(row)) for row in expected.collect())


def test_a_row_at_the_watermark_of_spark_is_late(world: World) -> None:
    """Spark's join has evicted the keys at its watermark, and emitted them unmatched."""
    a, b = map(world.stream, "ab")
    run = world.run(a.join(b, F.expr("a.id = b.id AND a.t = b.t"), "full"))
    watermark = datetime(2024, 5, 4, 10)
    beyond = (50, watermark + timedelta(minutes=5), 0)
    world.land("a", [(1, watermark, 1), beyond])
    world.land("b", [(9, watermark, 9), beyond])
    run.step()
    unmatched = sorted(str(row) for row in run.rows() if None in row)
    assert len(unmatched) == 2
    world.session.conf.set(REPLACE, "true")
    evolved(run, run.result)
    run.progress.clear()
    later = (2, watermark + timedelta(microseconds=1), 2)
    world.land("a", [later])
    world.land("b", [(1, watermark, 1), later])
    run.step()
    world.land("a", [(LAST, watermark + timedelta(hours=1), 0)])
    world.land("b", [(LAST, watermark + timedelta(hours=1), 0)])
    run.step()
    assert sorted(str(row) for row in run.rows() if None in row) == unmatched
    assert 2 in [row[0] for row in run.rows()]
    assert (run.total("lateRowsLeft"), run.total("lateRowsRight")) == (0, 1)


@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_chain_is_taken_over(world: World, how: str) -> None:
    a, b, c = map(world.stream, "abc")
    run = world.run(chained(a, b, c, how))
    taken_over(world, run, rounds(seed=5, names="abc"))
    a, b, c = map(world.table, "abc")
    expected = chained(a, b, c, how)
    assert total(run) == sorted(str(tuple(row)) for row in expected.collect())


def test_a_session_in_which_no_query_has_run_takes_over(world: World) -> None:
    """Readers of Spark report what they load, and nobody hears it there."""
    run = world.run(joined(world.stream("a"), world.stream("b"), "inner"))
    for name, rows in rounds(seed=2, names="ab")[0].items():
        world.land(name, rows)
    run.step()
    told = run_python(
        f"""
        import streamjoin
        from pyspark.sql import SparkSession, functions as F
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        spark = streamjoin.configure(builder).getOrCreate()
        spark.conf.set("{REPLACE}", "true")
        a, b = (
            spark.readStream.schema("{ROW}").json("{world.folder}/" + name)
            .withWatermark("t", "5 minutes").alias(name)
            for name in "ab"
        )
        result = a.join(b, F.expr({WITHIN.format(30)!r}))
        checkpoint = "{run.checkpoint}"
        print(streamjoin.evolve(checkpoint, checkpoint + "-2", result)[0])
        """
    )
    assert told.splitlines()[-1].startswith("StreamJoin 0: continues Spark's join 0, ")


def test_another_query_is_refused(world: World) -> None:
    a, b, c = map(world.stream, "abc")
    run = world.run(joined(a, b, "left"))
    for landing in rounds(seed=1, names="ab")[:2]:
        for name, rows in landing.items():
            world.land(name, rows)
        run.step()
    to = run.checkpoint.with_name("other")
    with pytest.raises(AnalysisException, match="OTHER_OPERATOR"):
        evolve(run.checkpoint, to, run.result)
    world.session.conf.set(REPLACE, "true")
    with pytest.raises(AnalysisException, match="OTHER_JOINS"):
        evolve(run.checkpoint, to, chained(a, b, c, "left"))
    with pytest.raises(AnalysisException, match="STREAM_JOIN_REWRITE"):
        rescale(run.checkpoint, to, 5)
    assert not to.exists()
