"""Malformed rows: the join emits, drops or refuses each one, and counts it in a metric.

Tests of times too far in the future are in test_max_ahead.py, of changed columns in
test_schema_drift.py, of messages that are not JSON in kafka/test_kafka.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import How, impose_order, stream_join
from tests.orders import WITHIN_THE_HOUR, Shop, at, met
from tests.parameters import JOIN_TYPES, STATE_FORMATS, rest_is_thorough
from tests.streams import Landing, Run

GREATEST, LEAST = 2**63 - 1, -(2**63)

Row = tuple[Any, ...]


@pytest.fixture(params=["ansi", "not ansi"])
def ansi(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[bool]:
    before = str(spark.conf.get("spark.sql.ansi.enabled"))
    spark.conf.set("spark.sql.ansi.enabled", str(request.param == "ansi").lower())
    yield request.param == "ansi"
    spark.conf.set("spark.sql.ansi.enabled", before)


class Pair:
    """Two inputs with rows (id, t) and an event time computed from t, as streams and as tables."""

    def __init__(self, session: SparkSession, folder: Path, raw: str = "BIGINT") -> None:
        self.folder = folder
        self.session = session
        self.landings = {
            side: Landing(session, folder / side, f"id INT, t {raw}") for side in ("l", "r")
        }

    def land(self, left: list[tuple[int, object]], right: list[tuple[int, object]]) -> None:
        for landing, rows in zip(self.landings.values(), (left, right), strict=True):
            if rows:
                landing.land(*({"id": i, "t": t} for i, t in rows))

    def run(self, time: str, lag: str | int, on: str, how: str = "full") -> Run:
        sides = [
            impose_order(self.made(landing.stream(), time), "time", lag).alias(name)
            for name, landing in self.landings.items()
        ]
        return Run(ids(sides[0].streamJoin(sides[1], on, how)), self.folder / "checkpoint")

    def expected(self, time: str, on: str, how: str = "full") -> list[Row]:
        sides = [
            self.made(self.session.read.schema(x.schema).json(str(x.folder)), time).alias(name)
            for name, x in self.landings.items()
        ]
        return ordered(
            tuple(row) for row in ids(sides[0].join(sides[1], F.expr(on), how)).collect()
        )

    @staticmethod
    def made(frame: DataFrame, time: str) -> DataFrame:
        return frame.selectExpr("id", f"{time} AS time")


def ids(joined: DataFrame) -> DataFrame:
    return joined.selectExpr("l.id", "r.id")


def ordered(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=str)


@pytest.fixture
def pair(spark: SparkSession, tmp_path: Path) -> Pair:
    return Pair(spark, tmp_path)


def test_row_from_the_year_1_is_late_and_counted(shop: Shop) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"))
    run.step()
    shop.orders.land({"id": 2, "order_time": "0001-01-01T00:00:00"})
    shop.deliveries.land({"id": 2, "delivery_time": "0001-01-01T00:00:00"})
    shop.deliver((1, "10:30"))
    # The delivery is the first row of its stream. Without a watermark it is unmatched, not late.
    assert met(run.step()) == [(1, 1)]
    assert (run.metrics()["lateRowsLeft"], run.metrics()["lateRowsRight"]) == (1, 0)
    shop.deliveries.land({"id": 2, "delivery_time": "0001-01-01T00:00:00"})
    assert met(run.step()) == []
    assert run.metrics()["lateRowsRight"] == 1


def test_row_with_null_time_is_counted_and_never_matches(shop: Shop) -> None:
    run = shop.joined("full")
    shop.order((1, None), (2, "10:00"))
    shop.deliver((1, "10:00"), (2, None))
    assert met(run.step()) == [(1, None), (None, 2)]
    assert (run.metrics()["nullTimeRowsLeft"], run.metrics()["nullTimeRowsRight"]) == (1, 1)
    # A row without a time neither holds back nor advances the watermark.
    shop.order((9, "12:00"))
    shop.deliver((9, "12:00"))
    assert met(run.step()) == [(2, None), (9, 9), (None, 1)]


@pytest.mark.parametrize("how", JOIN_TYPES)
def test_row_with_null_time_and_null_key_is_counted(shop: Shop, how: How) -> None:
    """A parser that fails leaves NULL in each column."""
    run = shop.joined(how)
    shop.order((None, None), (1, None), (None, "10:00"), (2, "10:00"))
    shop.deliver((None, None), (None, None), (2, "10:10"), (None, "10:10"), (1, None))
    rows = run.step()[0]
    assert (run.total("nullTimeRowsLeft"), run.total("nullTimeRowsRight")) == (2, 3)
    padded = sum(row[:2] == (None, None) for row in rows)
    assert padded == {"left": 1, "right": 4, "full": 5, "anti": 1}.get(how, 0)


def test_row_with_null_bound_column_is_counted(shop: Shop, spark: SparkSession) -> None:
    offers = Landing(spark, shop.folder / "offers", "id INT, at TIMESTAMP, ends TIMESTAMP")
    offered = impose_order(offers.stream(), "at", "0 seconds").alias("f")
    on = "f.id = d.id AND d.delivery_time BETWEEN f.at AND f.ends"
    run = shop.run(shop.delivered().streamJoin(offered, on, "left"))
    offers.land({"id": 1, "at": at("10:00"), "ends": None}, {"id": None, "at": None, "ends": None})
    shop.deliver((1, "10:10"))
    run.step()
    assert run.total("nullTimeRowsRight") == 2


def test_null_time_padded_by_a_lower_join_is_not_counted(shop: Shop) -> None:
    below = stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR, "left")
    first = below.selectExpr("o.id", "order_time", "delivery_time AS came").alias("x")
    on = "x.id = d.id AND d.delivery_time BETWEEN x.came AND x.came + INTERVAL '1' HOUR"
    run = shop.run(stream_join(first, shop.delivered(), on, "left"))
    shop.order((1, "10:00"), (2, "10:00"), (3, None), (9, "14:00"))
    shop.deliver((1, "10:30"), (9, "14:00"))
    run.step()
    found = sorted((row[0], row[3] is not None) for row in run.rows())
    assert found == [(1, True), (2, False), (3, False), (9, True)]
    # order 3: only the lower join counts it
    operators = [o for report in run.progress.values() for o in report["stateOperators"]]
    assert sum(o["customMetrics"]["nullTimeRowsLeft"] for o in operators) == 1


ENDS: dict[str, tuple[str, str | int, str, int, int]] = {
    "BIGINT": ("t", 5, "10", LEAST, GREATEST),
    "INT": ("CAST(t AS INT)", 5, "10", -(2**31), 2**31 - 1),
    "DATE": (
        "date_from_unix_date(CAST(t AS INT))",
        "5 days",
        "INTERVAL '10' DAY",
        -(2**31),
        2**31 - 1,
    ),
    "TIMESTAMP": ("timestamp_micros(t)", "5 seconds", "INTERVAL '10' SECOND", LEAST, GREATEST),
}


@pytest.mark.parametrize("kind", ENDS)
def test_times_at_the_limits_of_their_type_join_as_in_batch(
    pair: Pair, ansi: bool, kind: str
) -> None:
    time, lag, reach, least, greatest = ENDS[kind]
    step = 10**6 if kind == "TIMESTAMP" else 1
    on = f"l.id = r.id AND r.time BETWEEN l.time AND l.time + {reach}"
    run = pair.run(time, lag, on)
    # If the watermark arithmetic overflowed, these minus the lag would wrap to the other end.
    pair.land([(1, least), (2, least + 3 * step)], [(1, least), (2, least + 4 * step), (3, 0)])
    run.step()
    pair.land([(4, greatest - 10 * step), (5, 0)], [(4, greatest)])
    run.step()
    assert run.total("lateRowsLeft") + run.total("lateRowsRight") == 0
    assert ordered(run.rows()) == pair.expected(time, on)
    assert {(1, 1), (2, 2), (4, 4), (5, None)} <= set(run.rows())


def test_overflowing_bound_fails_query_until_max_ahead_drops_the_row(
    shop: Shop, ansi: bool
) -> None:
    shop.order((1, "10:00"))
    run = shop.joined("left")
    run.step()
    # No TIMESTAMP is an hour later than this one: Spark cannot evaluate the condition.
    greatest = "TIMESTAMP_MICROS(9223372036854775807)"

    def with_overflowing_row(landing: Landing, time: str, **options: Any) -> DataFrame:
        made = landing.stream().selectExpr("id", f"IF(id = 7, {greatest}, {time}) AS {time}")
        return impose_order(made, time, "0 seconds", **options)

    def joined(**options: str) -> Run:
        orders = with_overflowing_row(shop.orders, "order_time", **options).alias("o")
        deliveries = with_overflowing_row(shop.deliveries, "delivery_time", **options).alias("d")
        return shop.run(orders.streamJoin(deliveries, WITHIN_THE_HOUR, "left"))

    shop.order((7, "10:00"), (2, "10:10"))
    shop.deliver((7, "10:30"), (1, "10:30"), (2, "10:30"))
    with pytest.raises(StreamingQueryException, match="overflow"):
        joined().step()
    repaired = joined(max_ahead="1 day")
    assert met(repaired.step()) == [(1, 1), (2, 2)]
    assert (repaired.total("aheadRowsLeft"), repaired.total("aheadRowsRight")) == (1, 1)


def test_invalid_timestamp_text_fails_under_ansi_else_is_null(
    spark: SparkSession, tmp_path: Path, ansi: bool
) -> None:
    pair = Pair(spark, tmp_path, "STRING")
    on = "l.id = r.id AND r.time BETWEEN l.time AND l.time + INTERVAL '1' HOUR"
    run = pair.run("CAST(t AS TIMESTAMP)", "0 seconds", on, "left")
    pair.land([(1, at("10:00"))], [])
    run.step()
    pair.land([(2, "2024-13-01")], [(1, at("10:30"))])
    if ansi:
        with pytest.raises(StreamingQueryException, match="CAST_INVALID_INPUT"):
            run.step()
        run = pair.run("try_cast(t AS TIMESTAMP)", "0 seconds", on, "left")
    run.step()
    assert ordered(run.rows()) == [(1, 1), (2, None)]
    assert run.metrics()["nullTimeRowsLeft"] == 1


def test_invalid_bound_column_fails_under_ansi_else_is_null(shop: Shop, ansi: bool) -> None:
    """The bound is a column of the order, cast from text."""
    shop.orders.schema = "id INT, order_time TIMESTAMP, open STRING"
    on = (
        "o.id = d.id AND d.delivery_time >= o.order_time AND d.delivery_time <= "
        "o.order_time + make_dt_interval(0, 0, CAST(o.open AS INT))"
    )

    def joined(where: str = "true") -> Run:
        orders = impose_order(shop.orders.stream().where(where), "order_time", "0 seconds")
        return shop.run(orders.alias("o").streamJoin(shop.delivered(), on, "left"))

    shop.orders.land({"id": 1, "order_time": at("10:00"), "open": "30"})
    run = joined()
    run.step()
    shop.orders.land({"id": 2, "order_time": at("10:00"), "open": "long"})
    shop.deliver((1, "10:20"), (2, "10:20"))
    if ansi:
        with pytest.raises(StreamingQueryException, match="CAST_INVALID_INPUT"):
            run.step()
        repaired = joined("try_cast(open AS INT) IS NOT NULL")
        repaired.step()
        assert [(row[0], row[3]) for row in repaired.rows()] == [(1, 1)]
    else:
        run.step()
        assert ordered((row[0], row[3]) for row in run.rows()) == [(1, 1), (2, None)]
        assert run.metrics()["nullTimeRowsLeft"] == 1


HOT = 100_000


@pytest.mark.parametrize("form", rest_is_thorough(STATE_FORMATS, "segments"))
def test_100000_buffered_rows_of_one_key_join_by_time(
    spark: SparkSession, tmp_path: Path, form: str
) -> None:
    """A row is joined by its time bound, although 100,000 rows of its key are buffered."""
    spark.conf.set("spark.sql.streamJoin.stateFormat", form)
    try:
        schema = "k STRING, time TIMESTAMP, n BIGINT"

        def land(side: str, rows: DataFrame) -> None:
            frame = rows.selectExpr("'hot' AS k", "timestamp_seconds(id) AS time", "id AS n")
            frame.coalesce(1).write.mode("append").json(str(tmp_path / side))

        def stream(side: str) -> DataFrame:
            (tmp_path / side).mkdir()
            read = spark.readStream.schema(schema).json(str(tmp_path / side))
            # The lag of 2 days prevents eviction: all rows stay buffered.
            return impose_order(read, "time", "2 days").alias(side)

        on = "l.k = r.k AND r.time BETWEEN l.time AND l.time + INTERVAL '1' SECOND"
        joined = stream("l").streamJoin(stream("r"), on).selectExpr("l.n", "r.n")
        run = Run(joined, tmp_path / "checkpoint")
        land("l", spark.range(HOT))
        run.step()
        assert run.metrics()["bufferedRowsLeft"] == HOT
        land("r", spark.range(0, HOT, 2))
        run.step()
        # An even row matches the row of its own second, an odd row that of the next.
        assert sorted(run.rows()) == [(n, n + n % 2) for n in range(HOT) if n + n % 2 < HOT]
    finally:
        spark.conf.unset("spark.sql.streamJoin.stateFormat")
