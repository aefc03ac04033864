"""The queries of the Hazelcast documents, verbatim."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.orders import at
from tests.streams import Landing, Run


@pytest.fixture
def shop(spark: SparkSession, tmp_path: Path) -> Path:
    """Table 1: an order with a delivery within the hour, and one without."""
    orders = Landing(spark, tmp_path / "o", "order_id BIGINT, order_time TIMESTAMP, item_id BIGINT")
    deliveries = Landing(
        spark,
        tmp_path / "d",
        "delivery_id BIGINT, order_id BIGINT, delivery_time TIMESTAMP, address STRING",
    )
    orders.stream().createOrReplaceTempView("orders")
    deliveries.stream().createOrReplaceTempView("deliveries")
    for name, column in (("orders", "order_time"), ("deliveries", "delivery_time")):
        spark.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW {name}_ordered AS SELECT * FROM IMPOSE_ORDER("
            f"TABLE({name}), DESCRIPTOR({column}), INTERVAL '1' MINUTE)"
        )
    orders.land(
        {"order_id": 1, "order_time": at("10:00"), "item_id": 100},
        {"order_id": 2, "order_time": at("12:00"), "item_id": 100},
    )
    deliveries.land(
        {"delivery_id": 1, "order_id": 1, "delivery_time": at("10:40"), "address": "address_1"},
        {"delivery_id": 2, "order_id": 2, "delivery_time": at("13:20"), "address": "address_2"},
    )
    return tmp_path


def test_query_of_table_1(spark: SparkSession, shop: Path) -> None:
    query = """SELECT *
 FROM orders_ordered AS o
 JOIN deliveries_ordered  AS d
     ON d.delivery_time BETWEEN o.order_time
         AND o.order_time + INTERVAL '1' HOUR"""
    run = Run(spark.sql(query), shop / "checkpoint")
    run.step()
    assert [(row[0], row[3]) for row in run.rows()] == [(1, 1)]


def test_view_of_the_draft(spark: SparkSession, shop: Path) -> None:
    """The draft's second DESCRIPTOR names a column of the other stream; it is corrected here."""
    spark.sql(
        """CREATE OR REPLACE TEMPORARY VIEW fast_delivered_orders AS
 SELECT o.order_id, d.delivery_id FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE) AS o
 JOIN SELECT * FROM IMPOSE_ORDER(TABLE(deliveries), DESCRIPTOR(delivery_time), INTERVAL '1' MINUTE) AS d
 ON d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"""  # noqa: E501
    )
    run = Run(spark.sql("SELECT * FROM fast_delivered_orders"), shop / "checkpoint")
    run.step()
    assert run.rows() == [(1, 1)]


def test_query_of_the_draft_with_seconds(spark: SparkSession, tmp_path: Path) -> None:
    s1 = Landing(spark, tmp_path / "s1", "id BIGINT, payload BIGINT, s1_time TIMESTAMP")
    s2 = Landing(spark, tmp_path / "s2", "id BIGINT, payload STRING, s2_time TIMESTAMP")
    s1.stream().createOrReplaceTempView("S1")
    s2.stream().createOrReplaceTempView("S2")
    query = """SELECT * FROM IMPOSE_ORDER(TABLE(S1), DESCRIPTOR(s1_time), INTERVAL '1' SECOND) AS s1
  INNER JOIN 
  SELECT * FROM IMPOSE_ORDER(TABLE(S2), DESCRIPTOR(s2_time), INTERVAL '1' SECOND) AS s2
  ON s2.s2_time BETWEEN s1.s1_time AND s1.s1_time + INTERVAL '2' SECOND"""  # noqa: W291
    s1.land({"id": 1, "s1_time": at("10:00:01")})
    s2.land(*({"id": n, "s2_time": at(f"10:00:0{n}")} for n in range(5)))
    run = Run(spark.sql(query), tmp_path / "checkpoint")
    run.step()
    assert sorted((row[0], row[3]) for row in run.rows()) == [(1, 1), (1, 2), (1, 3)]


def test_queries_on_numeric_times_with_two_and_three_inputs(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name in ("input1", "input2", "orders", "deliveries", "returns"):
        stream = Landing(spark, tmp_path / name, "time BIGINT")
        stream.land(*({"time": t} for t in (100, 103, 120)))
        stream.stream().imposeOrder("time", 0).createOrReplaceTempView(name)
    two = """SELECT * from input1 i1
JOIN input2 i2 ON i2.time BETWEEN i1.time - 1 AND i1.time + 4"""
    three = """select *
from orders o
join deliveries d ON d.time BETWEEN o.time - 1 and o.time + 3
join returns r ON r.time BETWEEN d.time - 1 AND d.time + 4"""
    pairs = Run(spark.sql(two), tmp_path / "two")
    pairs.step()
    assert sorted(pairs.rows()) == [(100, 100), (100, 103), (103, 103), (120, 120)]
    triples = Run(spark.sql(three), tmp_path / "three")
    triples.step()
    assert sorted(triples.rows()) == [
        (100, 100, 100),
        (100, 100, 103),
        (100, 103, 103),
        (103, 103, 103),
        (120, 120, 120),
    ]
