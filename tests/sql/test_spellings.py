"""An inner join has the same bounds in every spelling, and no retention is added."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order
from tests.explained import explained
from tests.orders import Shop, ordered_view

SETTINGS = {"replaceBuiltin": "true", "retention": "1 minute"}
COLUMNS = "o.id, o.order_time, d.id AS of, d.delivery_time"
RENAMED = "o.id, o.order_time AS placed, d.id AS of, d.delivery_time AS arrived"


def as_view(stream: DataFrame, time: str, name: str) -> None:
    ordered_view(stream, time, name, minutes=1)


def as_dataframe(stream: DataFrame, time: str, name: str) -> None:
    impose_order(stream, time, "1 minute").createOrReplaceTempView(name)


def as_sparks(stream: DataFrame, time: str, name: str) -> None:
    stream.withWatermark(time, "1 minute").createOrReplaceTempView(name)


@pytest.fixture(params=[as_view, as_dataframe, as_sparks], ids=lambda way: way.__name__)
def session(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path
) -> Iterator[SparkSession]:
    shop = Shop(spark, tmp_path)
    request.param(shop.orders.stream(), "order_time", "spelt_orders")
    request.param(shop.deliveries.stream(), "delivery_time", "spelt_deliveries")
    for name, value in SETTINGS.items():
        spark.conf.set(f"spark.sql.streamJoin.{name}", value)
    yield spark
    for name in SETTINGS:
        spark.conf.unset(f"spark.sql.streamJoin.{name}")


def spellings(bounds: str) -> dict[str, str]:
    orders, deliveries, same = "spelt_orders AS o", "spelt_deliveries AS d", "o.id = d.id"
    select = f"SELECT {COLUMNS} FROM"
    renamed = bounds.replace("o.order_time", "placed").replace("d.delivery_time", "arrived")
    return {
        "ON": f"{select} {orders} JOIN {deliveries} ON {same} AND {bounds}",
        "bounds in WHERE": f"{select} {orders} JOIN {deliveries} ON {same} WHERE {bounds}",
        "keys in WHERE": f"{select} {orders} JOIN {deliveries} ON {bounds} WHERE {same}",
        "USING": f"{select} {orders} JOIN {deliveries} USING (id) WHERE {bounds}",
        "comma list": f"{select} {orders}, {deliveries} WHERE {same} AND {bounds}",
        "CROSS": f"{select} {orders} CROSS JOIN {deliveries} WHERE {same} AND {bounds}",
        "inputs as subqueries": f"{select} (SELECT * FROM {orders}) o JOIN (SELECT * FROM "
        f"{deliveries}) d ON {same} WHERE {bounds}",
        "inputs in WITH": "WITH p AS (SELECT * FROM spelt_orders), q AS (SELECT * FROM "
        f"spelt_deliveries) {select} p AS o JOIN q AS d ON {same} WHERE {bounds}",
        "the join in WITH": f"WITH j AS ({select} {orders} JOIN {deliveries} ON {same} "
        f"WHERE {bounds}) SELECT * FROM j",
        "WHERE above": f"SELECT * FROM (SELECT {RENAMED} FROM {orders} JOIN {deliveries} "
        f"ON {same}) WHERE {renamed}",
        "WHERE above a comma list": f"SELECT * FROM (SELECT {RENAMED} FROM {orders}, {deliveries}) "
        f"WHERE id = of AND {renamed}",
    }


@pytest.mark.parametrize(
    "bounds",
    [
        "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '2' HOUR",
        "d.delivery_time >= o.order_time AND d.delivery_time - o.order_time <= INTERVAL '2' HOUR",
        "NOT d.delivery_time < o.order_time "
        "AND NOT d.delivery_time > o.order_time + INTERVAL '2' HOUR",
        "d.delivery_time BETWEEN o.order_time AND timestampadd(MINUTE, 30, o.order_time)",
        "d.delivery_time = o.order_time",
        "date_trunc('HOUR', d.delivery_time) = date_trunc('HOUR', o.order_time)",
    ],
)
def test_every_spelling_has_the_same_bounds(
    session: SparkSession, capsys: pytest.CaptureFixture[str], bounds: str
) -> None:
    found = {}
    for way, query in spellings(bounds).items():
        plan = explained(session.sql(query).select("*"), capsys)
        found[way] = sorted(line for line in plan.splitlines() if line.startswith("a row of"))
    assert len(found["ON"]) == 2
    assert found == dict.fromkeys(found, found["ON"])
