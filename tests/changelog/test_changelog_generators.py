"""Generators such as `explode`, below the declaration and above a changelog join."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import streamjoin
from tests.parameters import rest_is_thorough
from tests.streams import Landing, Run

ORDERS = "id INT, customer INT, items STRING"
CUSTOMERS = "id INT, name STRING"
FEED = "{}, _change_type STRING"

GENERATORS = {
    "explode": ["explode(split(items, '')) AS item"],
    "posexplode": ["posexplode(split(items, '')) AS (n, item)"],
    "outer": ["explode_outer(if(items = '', NULL, split(items, ''))) AS item"],
    "stack": ["stack(2, items, 'x') AS item"],
}


def joined(orders: DataFrame, customers: DataFrame) -> DataFrame:
    left, right, on = orders.alias("o"), customers.alias("c"), "o.customer = c.id"
    if orders.isStreaming:
        result = streamjoin.stream_join(left, right, on, "left")
        return result.selectExpr("o.id", "o.item", "c.name", "_change_type")
    return left.join(right, on=left["customer"] == right["id"], how="left").selectExpr(
        "o.id", "o.item", "c.name"
    )


class Table:
    def __init__(self, spark: SparkSession, folder: Path, schema: str) -> None:
        self.schema = schema
        self.feed = Landing(spark, folder, FEED.format(schema))
        self.rows: dict[int, tuple[Any, ...]] = {}

    def write(self, *rows: tuple[Any, ...] | int) -> None:
        """Tuples are rows to write, integers are keys to delete."""
        changes = []
        for row in rows:
            key = row if isinstance(row, int) else row[0]
            before = self.rows.pop(key, None)
            if before is not None:
                changes.append(self._change(before, "delete" if row == key else "update_preimage"))
            if not isinstance(row, int):
                self.rows[key] = row
                changes.append(self._change(row, "update_postimage" if before else "insert"))
        self.feed.land(*changes)

    def _change(self, row: tuple[Any, ...], kind: str) -> dict[str, Any]:
        names = [column.split()[0] for column in self.schema.split(", ")]
        return {**dict(zip(names, row, strict=True)), "_change_type": kind}

    def df(self, spark: SparkSession) -> DataFrame:
        return spark.createDataFrame(list(self.rows.values()), self.schema)


def start(spark: SparkSession, folder: Path) -> tuple[Table, Table]:
    return Table(spark, folder / "orders", ORDERS), Table(spark, folder / "customers", CUSTOMERS)


@pytest.mark.parametrize("generator", rest_is_thorough(GENERATORS, "explode", "outer"))
def test_generator_below_the_declaration_equals_the_batch_join(
    spark: SparkSession, tmp_path: Path, generator: str
) -> None:
    orders, customers = start(spark, tmp_path)
    draw = random.Random(11)
    table: Counter[Any] = Counter()
    run: Run | None = None

    def exploded(rows: DataFrame, *more: str) -> DataFrame:
        return rows.selectExpr("id", "customer", *GENERATORS[generator], *more)

    for _ in range(4):
        orders.write(
            *(
                (n, draw.choice([None, 1, 2, 3]), "".join(draw.choices("pqr", k=draw.randrange(4))))
                for n in (draw.randrange(1, 7) for _ in range(6))
            ),
            draw.randrange(1, 7),
        )
        customers.write(*((n, draw.choice("ab")) for n in draw.sample([1, 2, 3], 2)))
        if run is None:
            feed = exploded(orders.feed.stream(), "_change_type")
            result = joined(
                streamjoin.from_changelog(feed),
                streamjoin.from_changelog(customers.feed.stream(), key="id"),
            )
            run = Run(result, tmp_path / "checkpoint")
        for rows in run.step().values():
            for *row, kind in rows:
                table[tuple(row)] += 1 if kind in ("insert", "update_postimage") else -1
        expected = joined(exploded(orders.df(spark)), customers.df(spark)).collect()
        assert +table == Counter(tuple(row) for row in expected)
        assert min(table.values()) >= 0


def test_generator_above_changes_is_refused_with_advice(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders, customers = start(spark, tmp_path)
    declared = streamjoin.from_changelog(
        orders.feed.stream().withColumnRenamed("items", "item"), key="id"
    )
    changed = joined(declared, streamjoin.from_changelog(customers.feed.stream(), key="id"))
    explode = "explode(split(item, '')) AS x"
    count = "sum(CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END) AS n"
    changed.createOrReplaceTempView("j")
    makers: dict[str, Callable[[], DataFrame]] = {
        "result": lambda: changed.selectExpr("id", explode, "_change_type"),
        "declared": lambda: declared.selectExpr("id", explode, "_change_type"),
        "upserts": lambda: streamjoin.to_upserts(changed, "id").selectExpr(explode, "_change_type"),
        "LATERAL VIEW": lambda: spark.sql(
            "SELECT id, x, _change_type FROM j LATERAL VIEW explode(split(item, '')) e AS x"
        ),
        "UNPIVOT": lambda: spark.sql("SELECT * FROM j UNPIVOT (text FOR place IN (item, name))"),
        "sums": lambda: spark.sql(
            f"SELECT x, {count} FROM j LATERAL VIEW explode(split(item, '')) e AS x GROUP BY x"
        ),
    }
    for name, make in makers.items():
        with pytest.raises(AnalysisException) as error:
            make().writeStream.outputMode("update").format("noop").start()
        assert error.value.getCondition() == "STREAM_JOIN.UNSUPPORTED_CHANGELOG", name
        message = str(error.value)
        assert ("UNPIVOT" if name == "UNPIVOT" else "the generator explode(") in message, name
        assert "Write this operator below the declaration" in message, name
