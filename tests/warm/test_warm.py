"""A query that starts from history emits what a query emits that has always run."""

from __future__ import annotations

import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from streamjoin import warm
from tests.orders import WITHIN_THE_HOUR, Shop, ids
from tests.rescale.kinds import IN_ORDER, KINDS, ROWS, World
from tests.streams import Run, clocks
from tests.warm.job import histories

# What make test runs of all kinds.
FEW = ("left", "chain", "as-of", "changelog", "order above a join")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.option.warm_cases))


class Recorded(World):
    """Streams of which it is known which ones a query reads."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.read: dict[str, DataFrame] = {}

    def stream(self, name: str) -> DataFrame:
        self.read[name] = super().stream(name)
        return self.read[name]

    def archived(self) -> list[tuple[DataFrame, DataFrame]]:
        """Move what has landed to tables, and return each stream with its table."""
        return [(stream, self._archived(name)) for name, stream in self.read.items()]

    def _archived(self, name: str) -> DataFrame:
        folder = self.landings[name].folder
        table = folder.with_name(f"{name}-history")
        table.mkdir()
        for file in folder.glob("*.json"):
            shutil.move(file, table)
        return self.spark.read.schema(ROWS).json(str(table))


def after(run: Run, world: World, kind: str) -> list[list[tuple[Any, ...]]]:
    """The output of three batches, the last of which evicts all rows."""
    steps = []
    for land in (world.land, world.land, world.close):
        land()
        rows = [_untimed(row) for rows in run.step().values() for row in rows]
        steps.append(rows if kind in IN_ORDER else sorted(rows, key=repr))
    return steps


def _untimed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row without the time of its batch."""
    return tuple(v for v in row if not (isinstance(v, datetime) and v.year > 2024))


@pytest.mark.parametrize(
    "kind", [k if k in FEW else pytest.param(k, marks=pytest.mark.thorough) for k in KINDS]
)
def test_output_after_the_history_is_that_of_a_query_that_always_ran(
    kind: str, seed: int, spark: SparkSession, tmp_path: Path
) -> None:
    always, late = (Recorded(spark, tmp_path / name, seed) for name in ("always", "late"))
    for world in (always, late):
        # the first ones are too old to have an effect
        for _ in range(3 + seed % 5):
            world.land()
    known = Run(KINDS[kind](always), tmp_path / "known")
    known.step()
    run = Run(KINDS[kind](late), tmp_path / "run")
    warm(run.result, run.checkpoint, late.archived())
    expected, found = after(known, always, kind), after(run, late, kind)
    assert min(run.batches) == 1
    assert found == expected
    # in another seed, few rows may have no match at all
    assert sum(map(len, found)) > (3 if seed and kind.endswith("anti") else 10)


def test_named_sources_start_from_history(spark: SparkSession, tmp_path: Path) -> None:
    if not hasattr(spark.readStream, "name"):
        pytest.skip("readStream.name is new in Spark 4.2")
    shop, past = Shop(spark, tmp_path / "live"), Shop(spark, tmp_path / "past")
    past.order((1, "10:00"))
    past.deliver((9, "10:00"))
    settings = {"queryEvolution.enableSourceEvolution": "true", "offsetLog.formatVersion": "2"}
    for name, value in settings.items():
        spark.conf.set(f"spark.sql.streaming.{name}", value)
    try:
        orders, deliveries = (
            spark.readStream.schema(of.schema).name(of.folder.name).json(str(of.folder))
            for of in (shop.orders, shop.deliveries)
        )
        joined = (
            orders.imposeOrder("order_time", "0 seconds")
            .alias("o")
            .streamJoin(
                deliveries.imposeOrder("delivery_time", "0 seconds").alias("d"), WITHIN_THE_HOUR
            )
        )
        run = shop.run(joined)
        tables = [
            spark.read.schema(of.schema).json(str(of.folder))
            for of in (past.orders, past.deliveries)
        ]
        warm(run.result, run.checkpoint, list(zip((orders, deliveries), tables, strict=True)))
        shop.deliver((1, "10:30"))
        assert ids(run.step()[1]) == [(1, 1)]
    finally:
        for name in settings:
            spark.conf.unset(f"spark.sql.streaming.{name}")


@pytest.fixture
def past(spark: SparkSession, tmp_path: Path) -> Shop:
    """Orders 1 to 3 and a delivery, in folders that the query does not read."""
    past = Shop(spark, tmp_path / "past")
    past.order((1, "10:00"), (2, "13:50"), (3, "13:40"))
    past.deliver((1, "10:10"), (4, "13:59"))
    return past


def test_results_of_the_history_are_not_emitted(shop: Shop, past: Shop) -> None:
    run = shop.joined("left")
    warm(run.result, run.checkpoint, histories(shop, past))
    shop.deliver((3, "14:10"), (2, "13:49"))
    shop.order((4, "13:30"))
    # order 1 had its delivery, and the last two rows are late
    assert ids(run.step()[1]) == [(3, 3)]
    shop.deliver((9, "15:00"))
    assert clocks(run.step()) == [("2", "13:50", "None", "None")]


def test_only_rows_that_can_have_an_effect_are_read(shop: Shop, past: Shop) -> None:
    run = shop.joined("left")
    told = warm(run.result, run.checkpoint, histories(shop, past))
    # the least watermark is 13:50, and a row has an effect for twice the hour of the join
    assert len(told) == 3
    assert all("2024-05-04 11:50:00" in line for line in told[:2])
    assert told[2] == "streamJoin: 3 rows"
    # a column that is computed above the stream does not exist in the table
    computed = shop.orders.stream().selectExpr("id", "order_time + INTERVAL '1' HOUR AS order_time")
    shop.orders.land({"id": 5, "order_time": "2024-05-04T13:00:00"})
    other = shop.run(
        computed.imposeOrder("order_time", "0 seconds")
        .alias("o")
        .streamJoin(
            shop.delivered(),
            "o.id = d.id AND d.delivery_time BETWEEN o.order_time "
            "AND o.order_time + INTERVAL '1' HOUR",
        ),
        "other",
    )
    told = warm(other.result, other.checkpoint, histories(shop, past))
    assert "order_time + INTERVAL" in told[0]


def test_table_with_all_rows_is_read_if_a_join_has_no_distance(shop: Shop, past: Shop) -> None:
    latest = shop.ordered().streamJoin(
        shop.delivered(), "o.id = d.id AND d.delivery_time <= o.order_time", "left_asof"
    )
    run = shop.run(latest)
    told = warm(run.result, run.checkpoint, histories(shop, past))
    assert [line.rpartition(": ")[2] for line in told[:2]] == ["all rows", "all rows"]
    shop.order((1, "14:00"), (5, "14:05"))
    shop.deliver((9, "14:05"))
    assert (1, 1) in ids(run.step()[1])


def test_stream_without_a_history_begins_with_its_live_rows(shop: Shop, past: Shop) -> None:
    run = shop.joined("left")
    orders, _ = histories(shop, past)
    told = warm(run.result, run.checkpoint, [orders])
    assert told[1].endswith("no history")
    shop.deliver((1, "10:30"), (3, "14:00"))
    assert sorted(ids(run.step()[1])) == [(1, 1), (3, 3)]


@pytest.mark.parametrize("marked", [True, False])
def test_checkpoint_of_an_interrupted_call_is_refused(shop: Shop, past: Shop, marked: bool) -> None:
    run = shop.joined("left")
    warm(run.result, run.checkpoint, histories(shop, past))
    shop.order((5, "14:00"))
    if marked:
        (run.checkpoint / "unfinished-history").touch()
    else:
        for file in (run.checkpoint / "commits").iterdir():
            file.unlink()
    for kept in ("state", "nothing"):
        with pytest.raises(AnalysisException, match=r"interrupted call of .* or warm"):
            run.start(availableNow=True)
        shutil.rmtree(run.checkpoint / "state", ignore_errors=kept == "nothing")


def test_call_can_be_repeated_after_spark_refused_the_query(shop: Shop, past: Shop) -> None:
    run = shop.joined("left")
    with pytest.raises(AnalysisException, match=r"(?i)complete"):
        warm(run.result, run.checkpoint, histories(shop, past), output_mode="complete")
    warm(run.result, run.checkpoint, histories(shop, past))
    shop.deliver((3, "14:10"))
    assert ids(run.step()[1]) == [(3, 3)]


def test_stream_of_a_history_may_have_its_watermark(
    shop: Shop, past: Shop, spark: SparkSession
) -> None:
    run = shop.joined("left")
    orders, deliveries = histories(shop, past)
    timed = shop.ordered()
    shop.delivered().createOrReplaceTempView("delivered_in_order")
    view = spark.table("delivered_in_order")
    warm(run.result, run.checkpoint, [(timed, orders[1]), (view, deliveries[1])])
    shop.deliver((3, "14:10"))
    assert ids(run.step()[1]) == [(3, 3)]
    changed = shop.run(timed.filter("id > 0").streamJoin(shop.delivered(), WITHIN_THE_HOUR), "to")
    said = refusal(changed, (timed.filter("id > 0"), orders[1]), deliveries)
    assert "TIMED_STREAM" in said


def refusal(run: Run, *pairs: Any, **options: Any) -> str:
    with pytest.raises(AnalysisException) as refused:
        warm(run.result, run.checkpoint, list(pairs), **options)
    assert not run.checkpoint.exists()
    return str(refused.value)


def test_history_that_does_not_fit_is_refused(shop: Shop, past: Shop, spark: SparkSession) -> None:
    run = shop.joined("left")
    orders, deliveries = histories(shop, past)
    other = spark.readStream.format("rate").load()
    assert "NOT_READ" in refusal(run, (past.orders.stream(), orders[1]))
    assert "STREAMING_HISTORY" in refusal(run, (orders[0], orders[0]))
    both = orders[0].union(past.orders.stream())
    assert "SEVERAL_SOURCES" in refusal(run, (both, orders[1]))
    same = spark.read.schema(shop.orders.schema).json(str(shop.orders.folder))
    shop.order((1, "10:00"))
    assert "SAME_FILES" in refusal(run, (orders[0], same), deliveries)
    near = Shop(spark, Path(os.path.relpath(shop.orders.folder.parent)))
    assert "SAME_FILES" in refusal(near.joined("left"), (near.orders.stream(), same))
    near.orders.folder /= "[a-z]*"
    assert "SAME_FILES" in refusal(near.joined("left"), (near.orders.stream(), same))
    made = spark.createDataFrame([(1, None)], shop.orders.schema)
    assert "UNKNOWN_CUT" in refusal(run, (orders[0], made), deliveries)
    assert "NO_JOIN" in refusal(shop.run(other), (other, made), allow_gap=True)
    assert "INCOMPATIBLE" not in str(
        warm(run.result, run.checkpoint, [(orders[0], made), deliveries], allow_gap=True)
    )
    with pytest.raises(AnalysisException, match="TARGET_NOT_EMPTY"):
        warm(run.result, run.checkpoint, [orders, deliveries])
