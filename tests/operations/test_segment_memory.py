"""Buffered rows that exceed the memory limit spill to local disk between batches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from tests.orders import WITHIN_THE_HOUR, Shop
from tests.parameters import rest_is_thorough

MEMORY = "spark.sql.streamJoin.segmentMemory"
HOWS = ["inner", "left", "right", "full", "left_semi", "left_anti"]
HOURS = 4
"""For each run of the query."""
CLOSING = 10**6

Row = tuple[Any, ...]


@pytest.fixture(params=["1", "64k"])
def memory(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[None]:
    """Too little for any row, or enough for some rows."""
    spark.conf.set(MEMORY, request.param)
    yield
    spark.conf.unset(MEMORY)


def clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def land(shop: Shop, rng: Random, hour: int) -> None:
    """Rows of one hour, unsorted; deliveries are up to an hour and a half behind."""
    orders: list[tuple[int | None, str | None]] = []
    deliveries: list[tuple[int | None, str | None]] = []
    for number in range(hour * 50, hour * 50 + 50):
        placed = hour * 60 + rng.randrange(60)
        orders.append((number, clock(placed)))
        for _ in range(rng.choice([0, 1, 1, 2])):
            # The order of a delivery can be of a future hour or already evicted.
            due = max(0, number + rng.choice([-50, 0, 0, 50]))
            deliveries.append((due, clock(hour * 60 + rng.randrange(60))))
    shop.order(*orders)
    shop.deliver(*deliveries)


def decided(rows: Iterable[Row]) -> list[Row]:
    kept = (row for row in rows if not any(isinstance(n, int) and n >= CLOSING for n in row))
    return sorted(kept, key=str)


def spilled(query: StreamingQuery) -> list[int]:
    reports = [json.loads(each.json) for each in query.recentProgress]
    operators = [operator for report in reports for operator in report["stateOperators"]]
    return [operator["customMetrics"]["spilledBytes"] for operator in operators]


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("how", rest_is_thorough(HOWS, "left", "full"))
def test_join_with_spilled_rows_equals_the_batch_join(shop: Shop, how: str) -> None:
    rng = Random(f"memory/{how}")
    run = shop.joined(how, lag="1 hour")
    for life in range(2):
        query = run.start(processingTime="0 seconds")
        try:
            for hour in range(life * HOURS, (life + 1) * HOURS):
                land(shop, rng, hour)
                query.processAllAvailable()
            assert max(spilled(query)) > 0
        finally:
            query.stop()
    shop.order((CLOSING, "23:00"))
    shop.deliver((CLOSING + 1, "23:00"))
    run.step()
    left, right = (
        shop.session.read.schema(side.schema).json(str(side.folder))
        for side in (shop.orders, shop.deliveries)
    )
    answer = left.alias("o").join(right.alias("d"), F.expr(WITHIN_THE_HOUR), how)
    expected = decided(tuple(row) for row in answer.collect())
    assert len(expected) > 50
    assert decided(run.rows()) == expected


def test_no_bytes_are_spilled_within_the_memory_limit(shop: Shop) -> None:
    run = shop.joined("full")
    for hour in range(3):
        land(shop, Random(hour), hour)
        run.step()
        assert run.metrics()["spilledBytes"] == 0


def test_invalid_segment_memory_is_refused(spark: SparkSession) -> None:
    for wrong in ("0", "much"):
        with pytest.raises(IllegalArgumentException, match="segmentMemory"):
            spark.conf.set(MEMORY, wrong)
