"""Inputs whose columns change between two starts of a query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order
from tests.orders import at
from tests.streams import Landing, Run

FIRST = "id INT, order_time TIMESTAMP, name STRING, city STRING"
ON = "o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"


class Drift:
    """Orders whose schema changes at each start, and deliveries with a fixed schema."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.folder = folder
        self.orders = Landing(session, folder / "orders", FIRST)
        self.deliveries = Landing(session, folder / "deliveries", "id INT, delivery_time TIMESTAMP")

    def order(self, number: int, clock: str, **columns: Any) -> None:
        row = {"id": number, "order_time": at(clock), "name": "Ann", "city": "Ulm", **columns}
        self.orders.land(row)

    def deliver(self, number: int, clock: str) -> None:
        self.deliveries.land({"id": number, "delivery_time": at(clock)})

    def run(self, schema: str = FIRST, *columns: str) -> Run:
        self.orders.schema = schema
        orders: DataFrame = self.orders.stream().selectExpr(*(columns or "*"))
        left = impose_order(orders, "order_time", "0 seconds").alias("o")
        right = impose_order(self.deliveries.stream(), "delivery_time", "0 seconds").alias("d")
        return Run(left.streamJoin(right, ON, "left"), self.folder / "checkpoint")


@pytest.fixture
def drift(spark: SparkSession, tmp_path: Path) -> Drift:
    made = Drift(spark, tmp_path)
    made.order(1, "10:00")
    made.run().step()
    return made


READ = ("id", "order_time", "name", "city")


@pytest.mark.parametrize(
    ("schema", "columns"),
    [
        (f"note STRING, {FIRST}, price DOUBLE", READ),
        ("city STRING, id INT, name STRING, order_time TIMESTAMP", READ),
        ("id INT, order_time TIMESTAMP, name STRING", (*READ[:3], "CAST(NULL AS STRING) AS city")),
        (
            "id INT, order_time STRING, name STRING, city STRING",
            ("id", "to_timestamp(order_time) AS order_time", "name", "city"),
        ),
    ],
    ids=["unread columns", "reordered", "column replaced", "type changed and cast"],
)
def test_query_continues_if_the_columns_it_reads_are_unchanged(
    drift: Drift, schema: str, columns: tuple[str, ...]
) -> None:
    run = drift.run(schema, *columns)
    drift.order(2, "10:30", note="new", price=1.5)
    drift.deliver(1, "10:40")
    drift.deliver(9, "12:00")
    run.step()
    assert sorted(row[0] for row in run.rows()) == [1, 2]
    (first,) = (row for row in run.rows() if row[0] == 1)
    assert first[2:5] == ("Ann", "Ulm", 1)


@pytest.mark.parametrize(
    "schema",
    [
        f"{FIRST}, price DOUBLE",
        "id INT, order_time TIMESTAMP, name STRING",
        "id INT, order_time TIMESTAMP, name STRING, city INT",
        "id INT, order_time TIMESTAMP, name STRING, town STRING",
        "id INT, order_time TIMESTAMP, city STRING, name STRING",
        "id BIGINT, order_time TIMESTAMP, name STRING, city STRING",
        "id INT, order_time TIMESTAMP_NTZ, name STRING, city STRING",
    ],
    ids=["added", "removed", "type changed", "replaced", "moved", "key", "time"],
)
def test_changed_columns_of_the_rows_are_refused(drift: Drift, schema: str) -> None:
    drift.order(2, "10:30")
    drift.deliver(1, "10:40")
    with pytest.raises(AnalysisException) as refused:
        drift.run(schema).start(availableNow=True)
    # A time without a zone has no bound, with any checkpoint.
    condition = "NON_CONSTANT_BOUND" if "_NTZ" in schema else "INCOMPATIBLE_CHECKPOINT"
    assert refused.value.getCondition() == f"STREAM_JOIN.{condition}"
    # Nothing was overwritten: the original query continues.
    again = drift.run()
    drift.deliver(9, "12:00")
    again.step()
    assert sorted(again.rows())[0][2:5] == ("Ann", "Ulm", 1)
    assert [row[0] for row in sorted(again.rows())] == [1, 2]
