"""Generators such as `explode` above a join of changelogs, against those above a batch join."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import streamjoin
from tests.streams import Landing, Run

ORDERS = "id INT, customer INT, items STRING"
CUSTOMERS = "id INT, name STRING"
FEED = "{}, _change_type STRING"
ADDED = ("insert", "update_postimage")

# What stands above `j`, the joined rows, as SQL; each gives a text.
GENERATORS = {
    "explode": "SELECT concat(id, item) AS text, {} FROM j LATERAL VIEW explode(items) e AS item",
    "posexplode, and no more than that": (
        "SELECT concat(n, item) AS text, {} FROM j LATERAL VIEW posexplode(items) e AS n, item"
    ),
    "outer": "SELECT concat_ws('', name, item) AS text, {} FROM j "
    "LATERAL VIEW OUTER explode(if(name = 'a', NULL, items)) e AS item",
    "inline": "SELECT concat(a, b) AS text, {} FROM j "
    "LATERAL VIEW inline(array(struct(id AS a, name AS b), struct(id AS a, 'x' AS b))) e",
    "UNPIVOT": "SELECT concat(place, text) AS text, {} FROM (SELECT *, items[0] AS a FROM j) "
    "UNPIVOT INCLUDE NULLS (text FOR place IN (name, a))",
    "stack": "SELECT c AS text, {} FROM j LATERAL VIEW stack(2, name, items[0]) e AS c",
    "twice, with filters": "SELECT concat(item, m) AS text, {} FROM (SELECT * FROM j LATERAL VIEW "
    "explode(items) e AS item WHERE item <> 'p') LATERAL VIEW explode(sequence(1, id)) f AS m "
    "WHERE m < 4",
}


def joined(orders: DataFrame, customers: DataFrame) -> DataFrame:
    left, right, on = orders.alias("o"), customers.alias("c"), "o.customer = c.id"
    if orders.isStreaming:
        result = streamjoin.stream_join(left, right, on, "left")
        return result.selectExpr(*ASKED, "_change_type")
    return left.join(right, on=left["customer"] == right["id"], how="left").selectExpr(*ASKED)


ASKED = ("o.id", "split(o.items, '') AS items", "c.name")


def exploded(rows: DataFrame) -> DataFrame:
    rows.createOrReplaceTempView("j")
    asked = "_change_type" if rows.isStreaming else "1 AS one"
    parts = [
        rows.sparkSession.sql(text.format(asked)).selectExpr(f"'{name}' AS form", "*")
        for name, text in GENERATORS.items()
    ]
    return reduce(DataFrame.union, parts)


class Table:
    def __init__(self, spark: SparkSession, folder: Path, schema: str) -> None:
        self.schema = schema
        self.feed = Landing(spark, folder, FEED.format(schema))
        self.rows: dict[int, tuple[Any, ...]] = {}

    def write(self, *rows: tuple[Any, ...] | int) -> None:
        """Rows that are there from now on, or the keys of those that are no more."""
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


def stream(orders: Table, customers: Table, key: str | None = "id") -> DataFrame:
    left, right = (
        streamjoin.from_changelog(each.feed.stream(), key=key) for each in (orders, customers)
    )
    return joined(left, right)


def only(batches: dict[int, list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    return [row for rows in batches.values() for row in rows]


@pytest.mark.parametrize("key", ["id", None])
def test_after_every_batch_it_is_what_the_generators_make_of_the_batch_join(
    spark: SparkSession, tmp_path: Path, key: str | None
) -> None:
    orders, customers = start(spark, tmp_path)
    draw = random.Random(11)
    table: Counter[Any] = Counter()
    run: Run | None = None
    for _ in range(4):
        orders.write(
            *(
                (n, draw.choice([None, 1, 2, 3]), "".join(draw.choices("pqr", k=draw.randrange(4))))
                for n in (draw.randrange(1, 7) for _ in range(6))
            ),
            draw.randrange(1, 7),
        )
        customers.write(*((n, draw.choice("ab")) for n in draw.sample([1, 2, 3], 2)))
        run = run or Run(exploded(stream(orders, customers, key)), tmp_path / "checkpoint")
        # each step is a restart
        rows = only(run.step())
        change: Counter[Any] = Counter()
        for *row, kind in rows:
            assert kind in ("insert", "delete")
            change[tuple(row)] += 1 if kind == "insert" else -1
        # no row both taken back and given
        assert sum(map(abs, change.values())) == len(rows)
        table.update(change)
        expected = exploded(joined(orders.df(spark), customers.df(spark))).drop("one").collect()
        assert +table == Counter(tuple(row) for row in expected)
        assert min(table.values()) >= 0


def test_an_update_takes_back_only_what_its_new_image_does_not_give(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders, customers = start(spark, tmp_path)
    orders.write((1, 1, "pq"))
    customers.write((1, "a"))
    stream(orders, customers).createOrReplaceTempView("j")
    words = spark.sql(
        "SELECT id, item, name, _change_type FROM j LATERAL VIEW explode(items) e AS item"
    )
    upserts = streamjoin.to_upserts(words, ["id", "item"])
    words_run, upserts_run = (
        Run(df, tmp_path / name) for df, name in ((words, "words"), (upserts, "upserts"))
    )
    assert sorted(only(words_run.step())) == [(1, i, "a", "insert") for i in "pq"]
    only(upserts_run.step())
    orders.write((1, 1, "qrs"))
    expected = [(1, "p", "a", "delete"), (1, "r", "a", "insert"), (1, "s", "a", "insert")]
    assert sorted(only(words_run.step())) == expected
    assert sorted(only(upserts_run.step())) == expected
    customers.write((1, "b"))
    assert sorted(only(upserts_run.step())) == [(1, i, "b", "update_postimage") for i in "qrs"]
    orders.write(1)
    assert sorted(only(words_run.step())) == [(1, i, "a", "delete") for i in "qrs"]


def test_sums_of_what_is_exploded(spark: SparkSession, tmp_path: Path) -> None:
    orders, customers = start(spark, tmp_path)
    orders.write((1, 1, "pq"), (2, 1, "p"))
    customers.write((1, "a"))
    stream(orders, customers).createOrReplaceTempView("j")
    counts = spark.sql(
        "SELECT item, sum(CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 "
        "END) AS n FROM j LATERAL VIEW explode(items) e AS item GROUP BY item"
    )
    seen: list[dict[str, int]] = []

    def sink(batch: DataFrame, number: int) -> None:
        seen.append({row.item: row.n for row in batch.collect()})

    for orders_now in ((), ((1, 1, "qq"),)):
        if orders_now:
            orders.write(*orders_now)
        query = counts.writeStream.outputMode("update").foreachBatch(sink)
        query = query.option("checkpointLocation", str(tmp_path / "sums"))
        query.trigger(availableNow=True).start().awaitTermination()
    assert seen == [{"p": 2, "q": 1}, {"p": 1, "q": 2}]


def test_what_would_not_go_as_it_came_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    orders, customers = start(spark, tmp_path)
    changed = stream(orders, customers)
    declared = streamjoin.from_changelog(orders.feed.stream(), key="id")
    explode = "explode({}) AS x"
    wrong: dict[str, Callable[[], DataFrame]] = {
        "the generator explode(": lambda: changed.selectExpr(
            explode.format("array(_change_type)"), "_change_type"
        ),
        "the filter": lambda: changed.selectExpr(explode.format("items"), "_change_type").where(
            "_change_type = 'insert'"
        ),
        "that are not the result of a join": lambda: declared.selectExpr(
            explode.format("split(items, '')"), "_change_type"
        ),
        "stands above changes": lambda: streamjoin.to_upserts(changed, "id").selectExpr(
            explode.format("items"), "_change_type"
        ),
    }
    for reason, make in wrong.items():
        with pytest.raises(AnalysisException) as error:
            make().writeStream.format("noop").start()
        assert error.value.getCondition() == "STREAM_JOIN.UNSUPPORTED_CHANGELOG"
        assert reason in str(error.value)
