"""The streams and tables that the statements of tests/golden use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.orders import at
from tests.streams import Landing

Row = tuple[Any, ...]

SCHEMAS = {
    "orders": "id INT, order_time TIMESTAMP, item STRING, price DOUBLE, seq BIGINT",
    "deliveries": "id INT, delivery_time TIMESTAMP, address STRING, due TIMESTAMP",
    "returns": "id INT, return_time TIMESTAMP",
    "clicks": "id INT, n BIGINT",
    "purchases": "id INT, n INT",
    "shipments": "id INT, day DATE",
    "holidays": "id INT, day DATE",
}

# The last row of each stream is late enough to make all earlier results final.
ROWS: dict[str, list[Row]] = {
    "orders": [
        (1, at("10:00"), "pen", 2.0, 10),
        (2, at("10:10"), "ink", 3.0, 20),
        (3, at("10:20"), "pad", 5.0, 30),
        (None, at("10:25"), "cup", 7.0, 40),
        (99, at("23:00"), "end", 0.0, 99),
    ],
    "deliveries": [
        (1, at("10:40"), "Ash St", at("11:00")),
        (1, at("11:00"), "Oak St", at("11:00")),
        (2, at("11:10:01"), "Elm St", at("11:00")),
        (4, at("10:30"), "Fir St", at("11:00")),
        (98, at("23:00"), "end", at("23:00")),
    ],
    "returns": [(1, at("10:50")), (1, at("12:30")), (97, at("23:00"))],
    "clicks": [(1, 10), (2, 20), (99, 1000)],
    "purchases": [(1, 12), (1, 16), (2, 19), (98, 1000)],
    "shipments": [(1, "2024-05-04"), (2, "2024-05-04"), (99, "2024-12-31")],
    "holidays": [(1, "2024-05-05"), (2, "2024-05-07"), (98, "2024-12-31")],
}

ORDERED = {"orders": "order_time", "deliveries": "delivery_time", "returns": "return_time"}


TABLES = {
    "shop_orders": "id INT, order_time TIMESTAMP",
    "shop_deliveries": "id INT, delivery_time TIMESTAMP",
}


def drop(session: SparkSession) -> None:
    """Drop the objects that other sessions would see."""
    session.sql("DROP VIEW IF EXISTS shop_joined")
    for name in TABLES:
        session.sql(f"DROP TABLE IF EXISTS {name}")


def create(session: SparkSession, folder: Path) -> None:
    """Create a temporary view of each stream, with an order (`orders_ordered`) and without."""
    for name, schema in SCHEMAS.items():
        stream = Landing(session, folder / name, schema)
        columns = [column.split()[0] for column in schema.split(", ")]
        stream.land(*(dict(zip(columns, row, strict=True)) for row in ROWS[name]))
        stream.stream().createOrReplaceTempView(name)
    for name, column in ORDERED.items():
        session.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW {name}_ordered AS SELECT * FROM IMPOSE_ORDER("
            f"TABLE({name}), DESCRIPTOR({column}), INTERVAL '1' MINUTE)"
        )
    for name, schema in TABLES.items():
        session.sql(f"CREATE TABLE {name} ({schema}) USING parquet")
    session.sql("INSERT INTO shop_orders VALUES (1, TIMESTAMP '2024-05-04 10:00:00')")
    session.sql("INSERT INTO shop_deliveries VALUES (1, TIMESTAMP '2024-05-04 10:40:00')")
    session.sql(
        "CREATE OR REPLACE TEMPORARY VIEW customers AS SELECT * FROM VALUES "
        "(1, 'Ann', TIMESTAMP '2024-05-04 10:05:00'), (2, 'Bob', TIMESTAMP '2024-05-04 10:06:00') "
        "AS customers(id, name, since)"
    )
