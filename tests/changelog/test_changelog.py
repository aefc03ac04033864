"""The changelog join: its output, applied to a table, equals the batch join of the tables."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkTypeError,
    PySparkValueError,
    StreamingQueryException,
)
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import streamjoin
from tests.parameters import STATE_FORMATS
from tests.streams import Landing, Run

TYPES = ["inner", "left", "right", "full", "semi", "anti"]
ORDERS = "id INT, customer INT, amount INT, seq INT, _change_type STRING"
CUSTOMERS = "id INT, name STRING, seq INT, _change_type STRING"
ADDED = ("insert", "update_postimage")


def change(kind: str, **row: Any) -> dict[str, Any]:
    return {**row, "_change_type": kind}


class Feed:
    """Two tables and their change feeds."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.orders = Landing(spark, folder / "orders", ORDERS)
        self.customers = Landing(spark, folder / "customers", CUSTOMERS)
        self.tables: dict[str, dict[int, dict[str, Any]]] = {"orders": {}, "customers": {}}
        self.random = random.Random(7)
        self.seq = 0

    def write(self, table: str, row: dict[str, Any] | None, key: int) -> list[dict[str, Any]]:
        self.seq += 1
        before = self.tables[table].pop(key, None)
        changes = []
        if before is not None:
            kind = "delete" if row is None else "update_preimage"
            changes.append(change(kind, **{**before, "seq": self.seq}))
        if row is not None:
            kind = "insert" if before is None else "update_postimage"
            self.tables[table][key] = {**row, "seq": self.seq}
            changes.append(change(kind, **self.tables[table][key]))
        return changes

    def order(self) -> list[dict[str, Any]]:
        key, amount = self.random.randrange(6), self.random.randrange(3)
        customer = self.random.choice([None, 1, 2, 3])
        gone = self.random.random() < 0.25
        row = {"id": key, "customer": customer, "amount": amount}
        return self.write("orders", None if gone else row, key)

    def customer(self) -> list[dict[str, Any]]:
        key = self.random.randrange(1, 4)
        gone = self.random.random() < 0.3
        row = {"id": key, "name": self.random.choice("ab")}
        return self.write("customers", None if gone else row, key)

    def land(self, keep: Any = lambda row: True) -> None:
        """A batch of random changes: orders are shuffled, customers stay in sequence."""
        for table, make in ((self.orders, self.order), (self.customers, self.customer)):
            rows = [row for _ in range(self.random.randrange(1, 8)) for row in make()]
            if table is self.orders:
                self.random.shuffle(rows)
            table.land(*filter(keep, rows))

    def table(self, name: str, schema: str) -> DataFrame:
        columns = [c.split()[0] for c in schema.split(", ")]
        rows = [tuple(row[c] for c in columns) for row in self.tables[name].values()]
        return self.spark.createDataFrame(rows, schema)


def shown(joined: DataFrame, how: str) -> DataFrame:
    """The same columns for every join type, so that one query unions all types."""
    left_only = how in ("semi", "anti")
    return joined.select(
        F.lit(how).alias("how"),
        F.col("o.id").alias("order"),
        "o.amount",
        (F.lit(None).cast("int") if left_only else F.col("c.id")).alias("customer"),
        (F.lit(None).cast("string") if left_only else F.col("c.name")).alias("name"),
        *(c for c in ("_change_type",) if c in joined.columns),
    )


def all_types(orders: DataFrame, customers: DataFrame, on: str, types: Sequence[str]) -> DataFrame:
    left, right = orders.alias("o"), customers.alias("c")
    joins = (
        shown(
            left.streamJoin(right, on, how)
            if orders.isStreaming
            else left.join(right, F.expr(on), how),
            how,
        )
        for how in types
    )
    return reduce(DataFrame.union, joins)


def fold(table: Counter[Any], rows: Iterable[tuple[Any, ...]]) -> None:
    """Apply the changes of a batch. No change may retract a row that does not exist."""
    for *row, kind in sorted(rows, key=lambda row: str(row[-1]) in ADDED):
        table[tuple(row)] += 1 if kind in ADDED else -1
        assert table[tuple(row)] >= 0, (row, kind)
    for row in [row for row, n in table.items() if n == 0]:
        del table[row]


LAYOUTS: dict[str, tuple[Any, Any, Any]] = {
    "keyed": (
        lambda o: o.fromChangelog(key="id", sequence_by="seq").drop("seq"),
        lambda c: c.fromChangelog(key="id", sequence_by="seq"),
        lambda row: True,
    ),
    "images": (
        lambda o: o.fromChangelog(key="id"),
        lambda c: c.fromChangelog(key=["id"]),
        lambda row: True,
    ),
    "counted": (
        lambda o: o.drop("seq").fromChangelog(),
        lambda c: c.drop("seq").fromChangelog(),
        lambda row: True,
    ),
    "upserts": (
        lambda o: o.fromUpserts("id", "seq", deletes="_change_type = 'delete'"),
        lambda c: c.fromUpserts("id", "seq", deletes=F.col("_change_type") == "delete").drop("seq"),
        lambda row: row["_change_type"] != "update_preimage",
    ),
}


@pytest.mark.parametrize(
    ("layout", "on", "types", "state_format"),
    [
        ("images", "o.customer = c.id AND o.amount + c.id > 2", TYPES, "segments"),
        pytest.param(
            *("counted", "o.customer = c.id", ["left", "semi"], "rocksdb"),
            marks=pytest.mark.thorough,
        ),
        ("upserts", "o.customer <=> c.id AND c.name = 'a'", ["right"], "rocksdb"),
        ("keyed", "o.customer < c.id", ["full"], "segments"),
    ],
)
def test_applied_changes_equal_the_batch_join_after_every_batch(
    spark: SparkSession, tmp_path: Path, layout: str, on: str, types: list[str], state_format: str
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.streamJoin.stateFormat", state_format)
    feed = Feed(session, tmp_path)
    orders, customers, keep = LAYOUTS[layout]
    feed.land(keep)
    joined = all_types(orders(feed.orders.stream()), customers(feed.customers.stream()), on, types)
    run = Run(joined, tmp_path / "checkpoint")
    table: Counter[Any] = Counter()
    for _ in range(3):
        # Each step restarts the query from the checkpoint.
        batches = run.step()
        assert len(batches) == 1
        for rows in batches.values():
            fold(table, rows)
            expected = all_types(
                feed.table("orders", ORDERS.rpartition(",")[0]),
                feed.table("customers", CUSTOMERS.rpartition(",")[0]),
                on,
                types,
            )
            assert table == Counter(tuple(row) for row in expected.collect())
            # An update has both images or none.
            assert sum(1 for row in rows if row[-1] == "update_preimage") == sum(
                1 for row in rows if row[-1] == "update_postimage"
            )
        feed.land(keep)


@pytest.mark.connect
def test_move_to_an_equal_partner_emits_no_change(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(spark, tmp_path)
    orders = feed.orders.stream().fromChangelog(key="id", sequence_by="seq").alias("o")
    customers = feed.customers.stream().fromChangelog(key="id", sequence_by="seq").alias("c")
    joined = orders.streamJoin(customers, "o.customer = c.id", "left")
    run = Run(joined.select("o.id", "c.name", "_change_type"), tmp_path / "checkpoint")

    def moved(to: int) -> list[tuple[Any, ...]]:
        feed.orders.land(*feed.write("orders", {"id": 7, "customer": to, "amount": 1}, 7))
        return [row for rows in run.step().values() for row in rows]

    for number, name in enumerate(["Bob", "Bob", "Ann"], 1):
        feed.customers.land(*feed.write("customers", {"id": number, "name": name}, number))
    assert moved(1) == [(7, "Bob", "insert")]
    assert moved(2) == []
    # A row that changes its join key is one update.
    assert moved(3) == [(7, "Bob", "update_preimage"), (7, "Ann", "update_postimage")]
    assert moved(8) == [(7, "Ann", "update_preimage"), (7, None, "update_postimage")]
    # no customer before or after
    assert moved(9) == []


MESSAGES = (
    "value STRUCT<op: STRING, before: STRUCT<id: INT, name: STRING>, "
    "after: STRUCT<id: INT, name: STRING>, source: STRUCT<lsn: BIGINT>>"
)


def message(op: str, lsn: int, before: Any = None, after: Any = None) -> dict[str, Any]:
    return {"value": {"op": op, "before": before, "after": after, "source": {"lsn": lsn}}}


def kinds(rows: Iterable[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in rows}


@pytest.mark.connect
def test_debezium_joined_with_changelog_emits_upserts_for_merge(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders = Landing(spark, tmp_path / "orders", ORDERS)
    customers = Landing(spark, tmp_path / "customers", MESSAGES)
    # An alias below the declaration also qualifies its columns.
    changes = orders.stream().alias("o").fromChangelog(key="id", sequence_by="seq")
    names = customers.stream().alias("c").fromDebezium("id", sequence_by="source.lsn")
    joined = changes.streamJoin(names, "o.customer = c.id", "left")
    assert joined.columns == [
        *("id", "customer", "amount", "seq", "id", "name"),
        *("_change_type", "_commit_version", "_commit_timestamp"),
    ]
    result = joined.select("o.id", "c.name", "_commit_version", "_change_type").toUpserts(key="id")
    run = Run(result, tmp_path / "checkpoint")

    orders.land(change("insert", id=1, customer=1, amount=1, seq=1))
    customers.land(message("c", 1, after={"id": 2, "name": "b"}), {"value": None})
    assert kinds(*run.step().values()) == {(1, None, 0, "insert")}

    # The join key changes without an old image: the row can be in another partition.
    orders.land(change("update_postimage", id=1, customer=2, amount=1, seq=2))
    customers.land(message("u", 2, after={"id": 2, "name": "B"}))
    assert kinds(*run.step().values()) == {(1, "B", 1, "update_postimage")}

    held = streamjoin.pending(str(tmp_path / "checkpoint"))
    counts = held.groupBy("side").count().collect()
    assert {row["side"]: row["count"] for row in counts} == {"left": 2, "right": 1}
    # Rows are found by their row identity, not by time.
    assert held.where("time IS NOT NULL").count() == 0

    # A change that affects no required column yields no update.
    orders.land(change("update_postimage", id=1, customer=2, amount=5, seq=3))
    customers.land(message("u", 3, after={"id": 2, "name": "B"}))
    assert kinds(*run.step().values()) == set()

    # Nor does a change whose images come from two partitions.
    orders.land(change("update_postimage", id=1, customer=3, amount=5, seq=4))
    customers.land(message("c", 4, after={"id": 3, "name": "B"}))
    assert kinds(*run.step().values()) == set()

    orders.land(change("insert", id=1, customer=2, amount=9, seq=1))
    customers.land(message("d", 5, before={"id": 3, "name": None}))
    assert kinds(*run.step().values()) == {(1, None, 4, "update_postimage")}

    orders.land(change("delete", id=1, seq=5))
    customers.land(message("t", 6))
    with pytest.raises(StreamingQueryException, match=r"value\.op has 't'"):
        run.step()


@pytest.mark.connect
def test_update_of_the_declared_key_deletes_the_old_key(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Debezium splits an update of the primary key, but the declared key can be another one."""
    orders = Landing(spark, tmp_path / "orders", ORDERS)
    customers = Landing(spark, tmp_path / "customers", MESSAGES)
    changes = orders.stream().fromChangelog(key="id", sequence_by="seq")
    names = customers.stream().fromDebezium("id", sequence_by="source.lsn")
    joined = names.alias("c").streamJoin(changes.alias("o"), "o.customer = c.id", "left")
    result = joined.select("c.id", "c.name", "o.amount", "_change_type").toUpserts(key="id")
    run = Run(result, tmp_path / "checkpoint")

    def step(*messages: dict[str, Any]) -> set[tuple[Any, ...]]:
        customers.land(*messages)
        return kinds(*run.step().values())

    a, b = {"id": 1, "name": "a"}, {"id": 2, "name": "b"}
    orders.land(change("insert", id=7, customer=1, amount=5, seq=1))
    assert step(message("c", 10, after=a)) == {(1, "a", 5, "insert")}
    moved = message("u", 20, before=a, after=b)
    assert step(moved) == {(1, "a", 5, "delete"), (2, "b", None, "insert")}
    # A later change of the old key takes effect, in whichever sequence the messages arrive.
    back = message("u", 40, before=b, after=a)
    new = {"id": 2, "name": "new"}
    assert step(message("c", 50, after=new), back) == {
        (1, "a", 5, "insert"),
        (2, "new", None, "update_postimage"),
    }
    assert step(
        message("u", 30, before={"id": 2, "name": "old"}, after={"id": 3, "name": "c"})
    ) == {(3, "c", None, "insert")}
    # Without the old key value, no row of an old key can be retracted.
    assert step(
        message("u", 60, after={"id": 4, "name": "d"}),
        message("u", 61, before={"id": None, "name": "a"}, after={"id": 5, "name": "e"}),
    ) == {(4, "d", None, "insert"), (5, "e", None, "insert")}

    # The two images of an update can have different keys.
    orders.land(
        change("update_preimage", id=7, customer=1, amount=5, seq=2),
        change("update_postimage", id=8, customer=4, amount=6, seq=2),
    )
    assert step() == {(1, "a", None, "update_postimage"), (4, "d", 6, "update_postimage")}


def test_foreach_batch_frame_and_written_files_carry_no_changelog(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The sink joins it, as MERGE does with its target."""
    landing = Landing(spark, tmp_path / "orders", ORDERS)
    orders = landing.stream().fromChangelog(key="id").alias("o")
    more = landing.stream().fromChangelog(key="id").alias("p")
    changes = orders.streamJoin(more, "o.id = p.id").select("o.id", "o.amount", "_change_type")
    names = spark.createDataFrame([(1, "a")], "id INT, name STRING")
    found: list[Any] = []

    def sink(batch: DataFrame, _: int) -> None:
        found.extend(tuple(row) for row in batch.join(names, "id").collect())
        batch.write.mode("append").parquet(str(tmp_path / "changes"))

    landing.land(change("insert", id=1, amount=5), change("insert", id=2, amount=6))
    query = changes.toUpserts("id").writeStream.foreachBatch(sink)
    query.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(
        availableNow=True
    ).start().awaitTermination()
    assert found == [(1, 5, "insert", "a")]
    # The written files carry no changelog declaration.
    spark.conf.set("spark.sql.streaming.schemaInference", "true")
    try:
        written = spark.readStream.parquet(str(tmp_path / "changes"))
    finally:
        spark.conf.unset("spark.sql.streaming.schemaInference")
    with pytest.raises(AnalysisException, match="UNDECLARED_CHANGELOG"):
        written.alias("a").streamJoin(orders, "a.id = o.id")
    declared = written.fromUpserts("id", "amount", deletes="_change_type = 'delete'")
    declared.alias("a").streamJoin(orders, "a.id = o.id").select("a.id", "_change_type")


def test_repartition_is_accepted_on_inputs_and_at_the_top_only(
    spark: SparkSession, tmp_path: Path
) -> None:
    feed = Feed(spark, tmp_path)
    orders = feed.orders.stream().fromChangelog(key="id").repartition(2).alias("o")
    customers = feed.customers.stream().fromChangelog(key="id").coalesce(1).alias("c")
    joined = orders.streamJoin(F.broadcast(customers), "o.customer = c.id", "full")
    changes = joined.select("o.amount", "c.name", "_change_type")
    laid = changes.repartition(3, "name").coalesce(1).observe("said", F.count("*").alias("n"))
    run = Run(laid, tmp_path / "checkpoint")
    table: Counter[Any] = Counter()
    for number in range(4):
        feed.land()
        run.step()
        fold(table, run.batches[number])
        tables = (
            feed.table(name, schema.rpartition(",")[0])
            for name, schema in (("orders", ORDERS), ("customers", CUSTOMERS))
        )
        left, right = (each.alias(name) for each, name in zip(tables, "oc", strict=True))
        expected = left.join(right, F.expr("o.customer = c.id"), "full").select("amount", "name")
        assert table == Counter(tuple(row) for row in expected.collect())
        observed = run.progress[number]["observedMetrics"]["said"]
        assert observed["n"] == len(run.batches[number])
    with pytest.raises(AnalysisException, match="Write this operator last, above all others"):
        Run(changes.coalesce(1).where("name = 'a'"), tmp_path / "other").step()


@pytest.mark.connect
def test_rerun_batch_emits_the_same_changes(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(spark, tmp_path)
    feed.land()
    orders = feed.orders.stream().fromChangelog(key="id").alias("o")
    customers = feed.customers.stream().fromChangelog(key="id").alias("c")
    run = Run(orders.streamJoin(customers, "o.customer = c.id", "full"), tmp_path / "checkpoint")
    run.step()
    for number in (1, 2):
        feed.land()
        run.step()
        first = run.batches[number]
        # the state that a process killed between sink and commit leaves behind
        for left in (tmp_path / "checkpoint" / "commits").glob(f"*{number}*"):
            left.unlink()
        run.step()
        assert first
        assert sorted(run.batches[number], key=str) == sorted(first, key=str)
        assert {row[-2] for row in first} == {number}


def test_signed_sums_above_a_using_join(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(spark, tmp_path)
    orders = feed.orders.stream().withColumnRenamed("id", "order").fromChangelog()
    customers = feed.customers.stream().drop("seq").withColumnRenamed("id", "customer")
    joined = orders.streamJoin(customers.fromChangelog(key="customer"), ["customer"], "left")
    assert joined.columns[:5] == ["customer", "order", "amount", "seq", "name"]
    sign = F.when(F.col("_change_type").isin(*ADDED), 1).otherwise(-1)
    sums = joined.groupBy("name").agg(
        F.sum(sign).alias("n"), F.sum(sign * F.col("amount")).alias("amount")
    )
    found: dict[str | None, tuple[int, int]] = {}

    def sink(batch: DataFrame, _: int) -> None:
        found.update({row["name"]: (row["n"], row["amount"]) for row in batch.collect()})

    for _ in range(3):
        feed.land()
        query = sums.writeStream.outputMode("update").foreachBatch(sink)
        query = query.option("checkpointLocation", str(tmp_path / "checkpoint"))
        query.trigger(availableNow=True).start().awaitTermination()
        expected: Counter[str | None] = Counter()
        amounts: Counter[str | None] = Counter()
        for order in feed.tables["orders"].values():
            customer = feed.tables["customers"].get(order["customer"], {"name": None})
            expected[customer["name"]] += 1
            amounts[customer["name"]] += order["amount"]
        assert {k: v for k, v in found.items() if v[0]} == {
            k: (n, amounts[k]) for k, n in expected.items()
        }


def test_written_changes_can_be_declared_or_read_as_plain_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The tests declare the table by any of its columns."""
    orders = Landing(spark, tmp_path / "orders", ORDERS)
    customers = Landing(spark, tmp_path / "customers", CUSTOMERS)
    named = customers.stream().fromUpserts("id", "seq").alias("c")
    joined = orders.stream().fromUpserts("id", "seq").alias("o")
    changes = joined.streamJoin(named, "o.customer = c.id", "left").selectExpr(
        "o.id", "o.customer", "_change_type AS op", "_commit_version AS version"
    )
    orders.land(*(change("", id=n, customer=n % 2, amount=n, seq=1) for n in (1, 2)))
    customers.land(change("", id=1, name="a", seq=1))
    table = tmp_path / "table"
    query = changes.writeStream.format("parquet").trigger(availableNow=True)
    query.option("checkpointLocation", str(tmp_path / "first")).start(str(table)).awaitTermination()
    schema = spark.read.parquet(str(table)).schema
    assert any(field.metadata for field in schema)
    written = spark.readStream.schema(schema).parquet(str(table))
    groups = written.groupBy("customer", "version", "op").agg(F.max("id").alias("id"))
    inputs = [
        written.fromUpserts("id", "version", deletes="op = 'delete'"),
        written.withColumn("kind", F.col("op")).fromChangelog(op="kind"),
        written,
        groups,
    ]
    results = (
        each.alias("t")
        .streamJoin(named, "t.customer = c.id", "left")
        .select("t.id", "t.version", "t.op", "c.name", "_change_type")
        for each in inputs
    )
    found: list[tuple[Any, ...]] = []

    def sink(batch: DataFrame, _: int) -> None:
        found.extend(tuple(row) for row in batch.collect())

    second = reduce(DataFrame.union, results).writeStream.outputMode("update").foreachBatch(sink)
    second.option("checkpointLocation", str(tmp_path / "second")).trigger(
        availableNow=True
    ).start().awaitTermination()
    expected = [(1, 0, "insert", "a", "insert"), (2, 0, "insert", None, "insert")]
    assert Counter(found) == Counter(expected * len(inputs))


def test_upserts_and_signed_sums_of_a_declared_changelog_without_join(
    spark: SparkSession, tmp_path: Path
) -> None:
    feed = Feed(spark, tmp_path)
    whole = feed.orders.stream()
    latest = whole.where("_change_type <> 'update_preimage'").fromUpserts(
        "id", "seq", deletes="_change_type = 'delete'"
    )
    columns = ["id", "customer", "amount", "_change_type"]
    rows = reduce(
        DataFrame.union,
        (
            changes.select(F.lit(name).alias("from"), *columns)
            for name, changes in (
                ("latest", latest.drop("seq").toUpserts()),
                ("images", whole.drop("seq").fromChangelog().toUpserts("id")),
            )
        ),
    )
    sign = F.when(F.col("_change_type").isin(*ADDED), 1).otherwise(-1)
    sums = latest.groupBy("customer").agg(F.sum(sign), F.sum(sign * F.col("amount")))
    tables: dict[str, dict[int, Row]] = {"latest": {}, "images": {}}
    totals: dict[int | None, tuple[int, int]] = {}

    def merge(batch: DataFrame, _: int) -> None:
        changes = batch.collect()
        keys = [(row["from"], row["id"]) for row in changes]
        assert len(keys) == len(set(keys))
        for row in changes:
            assert (row["id"] in tables[row["from"]]) == (row["_change_type"] != "insert")
            if row["_change_type"] == "delete":
                del tables[row["from"]][row["id"]]
            else:
                tables[row["from"]][row["id"]] = row

    def total(batch: DataFrame, _: int) -> None:
        totals.update({row[0]: (row[1], row[2]) for row in batch.collect()})

    for _ in range(3):
        feed.land()
        for query, sink in ((rows, merge), (sums, total)):
            query.writeStream.outputMode("append" if sink is merge else "update").option(
                "checkpointLocation", str(tmp_path / sink.__name__)
            ).trigger(availableNow=True).foreachBatch(sink).start().awaitTermination()
        expected = {k: (o["customer"], o["amount"]) for k, o in feed.tables["orders"].items()}
        for table in tables.values():
            assert {k: (row["customer"], row["amount"]) for k, row in table.items()} == expected
        counts: dict[int | None, tuple[int, int]] = {}
        for customer, amount in expected.values():
            n, of = counts.get(customer, (0, 0))
            counts[customer] = (n + 1, of + amount)
        assert {c: t for c, t in totals.items() if t[0]} == counts


@pytest.mark.connect
def test_checkpoint_of_the_other_join_kind_and_null_keys_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    schema = "id INT, t TIMESTAMP, _change_type STRING"
    left, right = (Landing(spark, tmp_path / name, schema) for name in "lr")

    def by_time() -> DataFrame:
        inputs = (
            df.stream().drop("_change_type").imposeOrder("t", "1 minute") for df in (left, right)
        )
        a, b = inputs
        return streamjoin.stream_join(a.alias("a"), b.alias("b"), "a.id = b.id AND a.t = b.t")

    def by_change() -> DataFrame:
        a, b = (df.stream().fromChangelog(key="id") for df in (left, right))
        return streamjoin.stream_join(a.alias("a"), b.alias("b"), "a.id = b.id")

    row = {"id": 1, "t": "2024-01-01T00:00:00Z", "_change_type": "insert"}
    for first, then in ((by_time, by_change), (by_change, by_time)):
        checkpoint = tmp_path / first.__name__
        left.land(row)
        right.land(row)
        Run(first(), checkpoint).step()
        left.land(row)
        with pytest.raises(AnalysisException, match="INCOMPATIBLE_CHECKPOINT"):
            Run(then(), checkpoint).step()
    right.land({**row, "id": None})
    with pytest.raises(StreamingQueryException, match=r"STREAM_JOIN\.NULL_KEY") as error:
        Run(by_change(), tmp_path / "nulls").step()
    assert "a change of b has NULL in its key (id)" in str(error.value)
    # A ChangelogNormalize below the join also reports the input's side.
    a, b = (df.stream().fromChangelog(key="id") for df in (left, right))
    moving = streamjoin.stream_join(a.alias("a"), b.alias("b"), "a.t = b.t")
    with pytest.raises(StreamingQueryException, match=r"STREAM_JOIN\.NULL_KEY") as error:
        Run(moving, tmp_path / "moving").step()
    assert "a change of b has NULL in its key (id)" in str(error.value)


@pytest.mark.connect
def test_sql_changelog_self_join_in_a_chain_with_expired_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders = Landing(spark, tmp_path / "orders", "id INT, parent INT, op STRING")
    orders.stream().createOrReplaceTempView("raw_orders")
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW changed_orders AS SELECT * FROM FROM_CHANGELOG("
        "TABLE(raw_orders), op => DESCRIPTOR(op), op_mapping => MAP('I', 'insert', 'D', '-D'))"
    )
    pairs = spark.sql(
        "SELECT * FROM changed_orders AS a JOIN changed_orders AS b ON a.parent = b.id"
    )
    named = spark.sql(
        "SELECT a.id, _change_type AS kind FROM changed_orders AS a JOIN changed_orders AS b "
        "ON a.parent = b.id WHERE _change_type <> 'insert'"
    )
    assert named.columns == ["id", "kind"]
    plain = spark.sql(
        "SELECT a.id, _change_type FROM changed_orders a LEFT JOIN changed_orders b ON a.id = b.id"
    )
    assert plain.columns == ["id", "_change_type"]
    assert pairs.columns[:4] == ["id", "parent", "id", "parent"]
    assert pairs.columns[4:] == ["_change_type", "_commit_version", "_commit_timestamp"]
    more = spark.sql("SELECT * FROM changed_orders").alias("c")
    chain = pairs.toDF("child", "x", "mid", "y", *pairs.columns[4:]).alias("p")
    result = chain.streamJoin(more, "p.y = c.id", state_ttl={"right": "1 millisecond"})
    run = Run(result.select("child", "mid", "c.id", "_change_type"), tmp_path / "checkpoint")

    orders.land(*({"id": n, "parent": n - 1, "op": "I"} for n in (1, 2, 3)))
    assert kinds(*run.step().values()) == {(3, 2, 1, "insert")}
    # The third input's rows have expired: a delete still retracts the result of its row.
    orders.land({"id": 4, "parent": 3, "op": "I"}, {"id": 1, "parent": 0, "op": "D"})
    assert kinds(*run.step().values()) == {(3, 2, 1, "delete")}
    assert {r["customMetrics"]["expiredRowsRight"] for r in run.progress[1]["stateOperators"]} == {
        0,
        3,
    }
    orders.land({"id": 2, "parent": 1, "op": "i"})
    # The new right row matches the stored pair.
    assert kinds(*run.step().values()) == {(4, 3, 2, "insert")}


CHAINS = [("left", "o.id", "left"), ("right", "c.id", "inner"), ("inner", "c.id", "anti")]


def chained(orders: DataFrame, customers: DataFrame) -> DataFrame:
    """Joins above joins on the same key: orders again, above orders and customers."""

    def joined(left: DataFrame, right: DataFrame, on: str, how: Any) -> DataFrame:
        if left.isStreaming:
            return streamjoin.stream_join(left, right, on, how)
        return left.join(right, F.expr(on), how)

    def one(how: str, key: str, above: str) -> DataFrame:
        pairs = joined(orders.alias("o"), customers.alias("c"), "o.id = c.id", how)
        both = joined(pairs, orders.alias("p"), f"{key} = p.id", above)
        last = ["p.amount"] if above != "anti" else [F.lit(None).cast("int").alias("amount")]
        kind = ["_change_type"] if orders.isStreaming else []
        # With the id of orders only, the output of a right join would be consolidated again.
        number = F.col("c.id" if how == "right" else "o.id").alias("id")
        return both.select(F.lit(how).alias("how"), number, "o.amount", "c.name", *last, *kind)

    return reduce(DataFrame.union, (one(*types) for types in CHAINS))


@pytest.mark.connect
def test_chain_on_one_key_shuffles_and_sorts_each_input_once(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = Feed(spark, tmp_path)
    declare = LAYOUTS["keyed"]
    changes = chained(declare[0](feed.orders.stream()), declare[1](feed.customers.stream()))
    changes.explain()
    plan = capsys.readouterr().out
    # for each of the three inputs of each chain
    assert plan.count("StreamExchange hashpartitioning") == 3 * len(CHAINS)
    assert plan.count(", sorted by ") == 3 * len(CHAINS)
    run = Run(changes, tmp_path / "checkpoint")
    table: Counter[Any] = Counter()
    for _ in range(3):
        feed.land()
        for rows in run.step().values():
            fold(table, rows)
        expected = chained(
            feed.table("orders", ORDERS.rpartition(",")[0]),
            feed.table("customers", CUSTOMERS.rpartition(",")[0]),
        )
        assert table == Counter(tuple(row) for row in expected.collect())


TIMED = "id INT, k INT, v INT, t TIMESTAMP, _change_type STRING"


def at(second: int) -> str:
    return f"2024-01-01T00:{second // 60:02}:{second % 60:02}Z"


class Timed:
    """An input of rows with event times, and the table of its changes that were not late."""

    def __init__(self, spark: SparkSession, folder: Path, lag: int, seed: int) -> None:
        self.source = Landing(spark, folder, TIMED)
        self.random = random.Random(seed)
        self.lag = lag
        self.now = 60
        self.seen = self.watermark = 0
        self.rows: dict[int, tuple[int, int, int, int]] = {}
        self.known: dict[int, tuple[int, int, int, int]] = {}
        self.late = 0
        self.ids = 0

    def land(self, now: int | None = None) -> None:
        batch = [change for _ in range(self.random.randrange(2, 9)) for change in self.changes()]
        if now is not None:
            batch += self.write("insert", (1000, 1, 1, now))
        self.random.shuffle(batch)
        self.source.land(*batch)
        self.watermark = self.seen - self.lag

    def changes(self) -> list[dict[str, Any]]:
        self.now += self.random.randrange(3)
        if self.rows and self.random.random() < 0.5:
            number, k, v, t = before = self.random.choice(list(self.rows.values()))
            if self.random.random() < 0.5:
                return self.write("delete", before)
            after = (number, k, v + 1, t)
            return self.write("update_preimage", before) + self.write("update_postimage", after)
        self.ids += 1
        time = self.now - self.random.randrange(6)
        return self.write("insert", (self.ids, self.random.randrange(2), 0, time))

    def write(self, kind: str, row: tuple[int, int, int, int]) -> list[dict[str, Any]]:
        number, k, v, t = row
        late = t < self.watermark
        self.late += late
        self.seen = max(self.seen, t)
        for table in (self.rows, *(() if late else (self.known,))):
            table.pop(number, None)
            if kind in ADDED:
                table[number] = row
        return [change(kind, id=number, k=k, v=v, t=at(t))]


def timed_result(left: Timed, right: Timed) -> Counter[Any]:
    result: Counter[Any] = Counter()
    met: set[int] = set()
    for a, k, v, t in left.known.values():
        pairs = [r for r in right.known.values() if r[1] == k and t <= r[3] <= t + 4]
        met.update(r[0] for r in pairs)
        result.update(("full", a, v, r[0], r[2]) for r in pairs)
        if not pairs:
            result.update([("full", a, v, None, None), ("anti", a, v, None, None)])
    result.update(("full", None, None, *r[::2]) for r in right.known.values() if r[0] not in met)
    return result


@pytest.mark.parametrize(("layout", "state_format"), [("key", "segments"), ("", "rocksdb")])
def test_rows_are_removed_by_watermark_and_by_delete(
    spark: SparkSession, tmp_path: Path, layout: str, state_format: str
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.streamJoin.stateFormat", state_format)
    left = Timed(session, tmp_path / "left", 4, seed=1)
    right = Timed(session, tmp_path / "right", 2, seed=2)
    key = {"key": "id"} if layout else {}
    a = left.source.stream().fromChangelog(**key).imposeOrder("t", "4 seconds").alias("a")
    b = right.source.stream().withWatermark("t", "2 seconds").fromChangelog(**key).alias("b")
    on = "a.k = b.k AND b.t BETWEEN a.t AND a.t + INTERVAL 4 SECONDS"
    none = F.lit(None).cast("int")
    full = a.streamJoin(b, on, "full").select(
        F.lit("full"), "a.id", "a.v", "b.id", "b.v", "_change_type"
    )
    anti = a.streamJoin(b, on, "anti").select(F.lit("anti"), "id", "v", none, none, "_change_type")
    run = Run(full.union(anti), tmp_path / "checkpoint")
    table: Counter[Any] = Counter()
    late = 0
    for step in range(6):
        left.land(900 if step == 5 else None)
        right.land(900 if step == 5 else None)
        # Each step restarts the query from the checkpoint.
        for rows in run.step().values():
            fold(table, rows)
        assert table == timed_result(left, right)
        for operator in run.progress[max(run.progress)]["stateOperators"]:
            late += sum(operator["customMetrics"][f"lateRows{side}"] for side in ("Left", "Right"))
    # counted by both joins
    assert late == 2 * (left.late + right.late) > 0
    operators = run.progress[max(run.progress)]["stateOperators"]
    # Only the two rows that advanced the watermarks remain.
    assert {operator["numRowsTotal"] for operator in operators} <= {1, 2}


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_state_ttl_uses_the_event_time_of_an_ordered_input(
    spark: SparkSession, tmp_path: Path, state_format: str
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.streamJoin.stateFormat", state_format)
    left, right = (Landing(session, tmp_path / name, TIMED) for name in ("left", "right"))

    def aged(ttl: str) -> Run:
        changes = left.stream().imposeOrder("t", "1 second").fromChangelog().alias("a")
        others = right.stream().drop("t").fromChangelog().alias("b")
        joined = changes.streamJoin(others, "a.k = b.k", state_ttl={"left": ttl})
        return Run(joined.select("a.id", "b.id", "_change_type"), tmp_path / "checkpoint")

    run = aged("10 seconds")
    row = {"k": 1, "v": 1, "_change_type": "insert"}
    left.land({**row, "id": 1, "t": at(10)}, {**row, "id": 2, "t": at(21)})
    assert kinds(*run.step().values()) == set()
    # Neither row is below the watermark. A change below the watermark still applies.
    right.land({**row, "id": 7, "t": None})
    left.land({**row, "id": 3, "t": at(22)}, {**row, "id": 4, "t": at(13)})
    expected = {(n, 7, "insert") for n in (1, 2, 3, 4)}
    assert kinds(*run.step().values()) == expected
    assert run.metrics()["expiredRowsLeft"] == 1
    assert run.metrics()["lateRowsLeft"] == 0
    # A row that is expired on arrival leaves with its batch, although no watermark advanced.
    left.land({**row, "id": 5, "t": at(1)})
    assert kinds(*run.step().values()) == {(5, 7, "insert")}
    assert run.metrics()["expiredRowsLeft"] == 1
    right.land({**row, "id": 7, "t": None, "_change_type": "delete"})
    assert kinds(*run.step().values()) == {(n, 7, "delete") for n in (2, 3, 4)}
    # Stored rows keep their expiry time; a deleted row leaves no timer behind.
    left.land({**row, "id": 2, "t": at(21), "_change_type": "delete"})
    run = aged("20 seconds")
    run.step()
    held = streamjoin.pending(run.checkpoint, "left").collect()
    assert sorted(r["row"]["id"] for r in held) == [3, 4]
    left.land({**row, "id": 6, "t": at(60)})
    run.step()
    assert run.metrics()["expiredRowsLeft"] == 2


def test_aggregation_input_updates_its_groups(spark: SparkSession, tmp_path: Path) -> None:
    sales = Landing(spark, tmp_path / "sales", "customer INT, amount INT")
    customers = Landing(spark, tmp_path / "customers", CUSTOMERS)
    sums = (
        sales.stream()
        .groupBy((F.col("customer") + 0).alias("c"))
        .agg(F.sum("amount").alias("sum"), F.max("amount").alias("largest"))
        .where("largest < 100")
        .select(F.col("c").alias("id"), "sum")
    )
    named = customers.stream().fromUpserts("id", "seq", deletes="_change_type = 'delete'")
    joined = named.alias("n").streamJoin(sums.alias("s"), "n.id = s.id", "left")
    run = Run(joined.select("n.id", "name", "sum", "_change_type"), tmp_path / "checkpoint")

    def step() -> set[tuple[Any, ...]]:
        query = (
            run.result.writeStream.outputMode("update")
            .foreachBatch(lambda b, n: run.batches.update({n: [tuple(r) for r in b.collect()]}))
            .trigger(availableNow=True)
            .option("checkpointLocation", str(run.checkpoint))
            .start()
        )
        query.awaitTermination()
        return kinds(run.batches[max(run.batches)])

    sales.land({"customer": 1, "amount": 5}, {"customer": 2, "amount": 7})
    customers.land(change("insert", id=1, name="a", seq=1), change("insert", id=3, name="c", seq=1))
    assert step() == {(1, "a", 5, "insert"), (3, "c", None, "insert")}
    sales.land({"customer": 1, "amount": 1}, {"customer": 3, "amount": 2})
    customers.land(change("insert", id=2, name="b", seq=1))
    updated = {(1, "a", 5, "update_preimage"), (1, "a", 6, "update_postimage")}
    assert step() == updated | {
        (2, "b", 7, "insert"),
        (3, "c", None, "update_preimage"),
        (3, "c", 2, "update_postimage"),
    }
    # A group that the filter rejects is deleted.
    sales.land({"customer": 1, "amount": 100})
    customers.land(change("delete", id=3, seq=2))
    assert step() == {
        (1, "a", 6, "update_preimage"),
        (1, "a", None, "update_postimage"),
        (3, "c", 2, "delete"),
    }


@pytest.mark.connect
def test_filter_above_turns_half_an_update_into_insert_or_delete(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders = Landing(spark, tmp_path / "orders", ORDERS)
    customers = Landing(spark, tmp_path / "customers", CUSTOMERS)
    joined = (
        orders.stream()
        .fromUpserts("id", "seq")
        .alias("o")
        .streamJoin(customers.stream().fromUpserts("id", "seq").alias("c"), "o.id = c.id", "left")
        .where("amount > 1 AND _change_type <> 'x'")
        .selectExpr("o.id", "upper(name) AS name", "_change_type AS kind")
    )
    run = Run(joined, tmp_path / "checkpoint")
    orders.land(*(change("", id=n, customer=1, amount=n, seq=1) for n in (1, 2, 3)))
    assert kinds(*run.step().values()) == {(2, None, "insert"), (3, None, "insert")}
    orders.land(
        change("", id=1, customer=1, amount=4, seq=2),
        change("", id=2, customer=1, amount=1, seq=2),
        # changes no required column
        change("", id=3, customer=1, amount=5, seq=2),
    )
    assert kinds(*run.step().values()) == {(1, None, "insert"), (2, None, "delete")}


@pytest.mark.connect
def test_filter_above_upserts_deletes_rows_that_no_longer_pass(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders = Landing(spark, tmp_path / "orders", ORDERS)
    customers = Landing(spark, tmp_path / "customers", CUSTOMERS)
    latest = orders.stream().fromUpserts("id", "seq")
    named = customers.stream().fromUpserts("id", "seq")
    joined = latest.alias("o").streamJoin(named.alias("c"), "o.customer = c.id", "left")
    columns = ["id", "amount", "_change_type AS kind"]
    results = [
        joined.select("o.id", "o.amount", "_change_type").toUpserts("id"),
        latest.toUpserts(),
    ]
    runs = [
        Run(
            upserts.where("amount > 1 AND _change_type <> 'x'").selectExpr(*columns),
            tmp_path / f"checkpoint-{n}",
        )
        for n, upserts in enumerate(results)
    ]

    def check(*expected: tuple[Any, ...]) -> None:
        for run in runs:
            assert kinds(*run.step().values()) == set(expected)

    orders.land(*(change("", id=n, customer=1, amount=n, seq=1) for n in (1, 2, 3)))
    check((2, 2, "insert"), (3, 3, "insert"))
    orders.land(
        change("", id=1, customer=1, amount=4, seq=2),
        change("", id=2, customer=1, amount=1, seq=2),
        change("", id=3, customer=2, amount=5, seq=2),
    )
    check((1, 4, "insert"), (2, 2, "delete"), (3, 5, "update_postimage"))


def test_filter_above_with_a_scalar_subquery_drops_single_images(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders = Landing(spark, tmp_path / "orders", ORDERS)
    customers = Landing(spark, tmp_path / "customers", CUSTOMERS)
    latest = orders.stream().fromUpserts("id", "seq").alias("o")
    named = customers.stream().fromUpserts("id", "seq").alias("c")
    latest.streamJoin(named, "o.customer = c.id", "left").select(
        "o.id", "o.amount", "c.name", "_change_type"
    ).createOrReplaceTempView("changes_by_a_table")
    spark.createDataFrame([(0,), (1,)], "n INT").createOrReplaceTempView("limits_by_a_table")
    query = spark.sql(
        "SELECT id, amount, _change_type FROM changes_by_a_table "
        "WHERE amount > (SELECT max(n) FROM limits_by_a_table)"
    )
    run = Run(query, tmp_path / "checkpoint")
    orders.land(*(change("", id=n, customer=1, amount=n, seq=1) for n in (1, 2)))
    assert kinds(*run.step().values()) == {(2, 2, "insert")}
    orders.land(*(change("", id=n, customer=1, amount=3 - n, seq=2) for n in (1, 2)))
    # One image of an update remains.
    expected = {(1, 2, "update_postimage"), (2, 2, "update_preimage")}
    assert kinds(*run.step().values()) == expected


def test_rows_that_fail_a_pushed_filter_are_not_stored(spark: SparkSession, tmp_path: Path) -> None:
    left, right = (Landing(spark, tmp_path / n, "id INT, v INT, _change_type STRING") for n in "lr")

    def joined(where: str, name: str) -> Run:
        changes = left.stream().fromChangelog().alias("l")
        both = changes.streamJoin(right.stream().fromChangelog().alias("r"), "l.id = r.id")
        query = both.where(where).selectExpr("l.id", "l.v", "r.v AS w", "_change_type AS kind")
        return Run(query, tmp_path / name)

    left.land(*(change("insert", id=n, v=v) for n in range(4) for v in (0, 1, 1)))
    right.land(*(change("insert", id=n, v=n) for n in range(4)))
    all_held, fewer = joined("l.v + r.v >= 0", "all"), joined("l.v = 1 AND r.v < 2", "fewer")
    assert len(next(iter(all_held.step().values()))) == 12
    expected = [(n, 1, n, "insert") for n in (0, 0, 1, 1)]
    assert sorted(next(iter(fewer.step().values()))) == expected
    assert all_held.operator()["numRowsTotal"] == 16
    assert fewer.operator()["numRowsTotal"] == 10

    left.land(change("delete", id=1, v=0), change("delete", id=1, v=1))
    right.land(change("insert", id=0, v=5))
    # With an additional filter, the matching changes still arrive.
    more = joined("l.v = 1 AND r.v < 2 AND l.id > 0", "fewer")
    assert kinds(*more.step().values()) == {(1, 1, 1, "delete")}
    assert more.operator()["numRowsTotal"] == 9
    # A checkpoint that stores all rows misses none.
    again = joined("l.v = 1 AND r.v < 2", "all")
    assert kinds(*again.step().values()) == {(1, 1, 1, "delete")}
    assert again.operator()["numRowsTotal"] == 15

    left.land(change("insert", id=3, v=1))
    for where in ("l.v = 1", "l.v = 1 AND r.v < 3"):
        with pytest.raises(AnalysisException, match="other filters on its result"):
            joined(where, "fewer").step()


@pytest.mark.connect
def test_debezium_messages_with_embedded_schema(spark: SparkSession, tmp_path: Path) -> None:
    schema = MESSAGES.replace("value STRUCT", "value STRUCT<schema: STRING, payload: STRUCT", 1)
    landing = Landing(spark, tmp_path / "customers", schema + ">")
    orders = Landing(spark, tmp_path / "orders", "id INT, customer INT")

    def land(*messages: dict[str, Any]) -> None:
        landing.land(*({"value": {"schema": "{}", "payload": m["value"]}} for m in messages))

    names = landing.stream().fromDebezium("id", sequence_by="source.lsn")
    assert names.columns == ["id", "name", "_commit_version", "_change_type"]
    same = landing.stream().fromDebezium("id", sequence_by="payload.source.lsn")
    assert same.columns == names.columns
    joined = orders.stream().alias("o").streamJoin(names.alias("c"), "o.customer = c.id", "left")
    run = Run(joined.select("o.id", "c.name", "_change_type"), tmp_path / "checkpoint")
    orders.land({"id": 1, "customer": 1})
    land(message("r", 1, after={"id": 1, "name": "a"}))
    landing.land({"value": None})
    assert kinds(*run.step().values()) == {(1, "a", "insert")}
    land(message("u", 3, after={"id": 1, "name": "b"}), message("u", 2, after={"id": 1}))
    assert kinds(*run.step().values()) == {(1, "a", "delete"), (1, "b", "insert")}
    land(message("d", 4, before={"id": 1}))
    assert kinds(*run.step().values()) == {(1, "b", "delete"), (1, None, "insert")}
    # a message that failed to parse, which is not a tombstone
    landing.land({"value": {"schema": "{}", "payload": None}})
    with pytest.raises(StreamingQueryException, match=r"value\.payload\.op has NULL"):
        run.step()


@pytest.mark.connect
@pytest.mark.parametrize("on", ["o.id = c.id", "o.customer = c.id"])
def test_older_change_of_a_deleted_key_is_stale(
    spark: SparkSession, tmp_path: Path, on: str
) -> None:
    orders = Landing(spark, tmp_path / "orders", ORDERS)
    customers = Landing(spark, tmp_path / "customers", CUSTOMERS)
    joined = (
        orders.stream()
        .fromUpserts("id", "seq", deletes="_change_type = 'delete'")
        .alias("o")
        .streamJoin(
            customers.stream().fromUpserts("id", "seq").alias("c"), on, "left", state_ttl="1 day"
        )
    )
    run = Run(joined.select("o.id", "amount", "_change_type"), tmp_path / "checkpoint")
    row = {"id": 1, "customer": 1, "amount": 1}
    orders.land(change("", **row, seq=1))
    customers.land(change("", id=1, name="a", seq=1))
    assert kinds(*run.step().values()) == {(1, 1, "insert")}
    orders.land(change("delete", **row, seq=5))
    assert kinds(*run.step().values()) == {(1, 1, "delete")}
    orders.land(change("", **{**row, "amount": 2}, seq=3))
    assert kinds(*run.step().values()) == set()
    operators = run.progress[max(run.progress)]["stateOperators"]
    assert sum(operator["customMetrics"]["staleRowsLeft"] for operator in operators) == 1
    # NULL sorts before all other sequence values: it applies only if its key has no other change.
    orders.land(
        change("", **{**row, "amount": 3}, seq=6),
        change("", **{**row, "amount": 4}, seq=None),
        change("", id=2, customer=1, amount=5, seq=None),
    )
    assert kinds(*run.step().values()) == {(1, 3, "insert"), (2, 5, "insert")}
    orders.land(
        change("", **{**row, "amount": 4}, seq=None), change("", id=2, customer=1, amount=6, seq=1)
    )
    assert {row[:2] for row in kinds(*run.step().values())} == {(2, 5), (2, 6)}
    operators = run.progress[max(run.progress)]["stateOperators"]
    assert sum(operator["customMetrics"]["staleRowsLeft"] for operator in operators) == 1


def test_invalid_changelog_queries_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    raw = Landing(spark, tmp_path / "orders", ORDERS + ", t TIMESTAMP").stream()
    customers = Landing(spark, tmp_path / "customers", CUSTOMERS).stream()
    orders = raw.fromChangelog(key="id")
    named = customers.fromUpserts("id", "seq").alias("c")
    on = "o.customer = c.id"

    def refused(condition: str, action: Any) -> None:
        with pytest.raises(AnalysisException) as error:
            action()
        assert error.value.getCondition() == f"STREAM_JOIN.{condition}"

    timed = raw.imposeOrder("t", "1 minute")
    refused(
        "UNDECLARED_CHANGELOG",
        lambda: timed.alias("a").streamJoin(timed.alias("b"), "a.id = b.id AND a.t = b.t"),
    )
    refused("UNDECLARED_CHANGELOG", lambda: raw.alias("o").streamJoin(named, on))
    kindless = orders.select("id", "customer").alias("o")
    refused("CHANGE_TYPE_DROPPED", lambda: kindless.streamJoin(named, on))
    refused(
        "CHANGE_TYPE_DROPPED",
        lambda: kindless.writeStream.format("noop").start(),
    )
    refused(
        "NONDETERMINISTIC_CHANGE",
        lambda: orders.withColumn("r", F.rand()).alias("o").streamJoin(named, on),
    )
    refused(
        "UNSUPPORTED_CONDITION",
        lambda: orders.alias("o").streamJoin(named, on + " AND o._change_type = 'insert'"),
    )
    absurd = ("1 month", "-1 day", "soon", "9999999 days", "999999999 days")
    for ttl in (*absurd, "", {"left": ""}, {"right": "0 seconds"}):
        refused(
            "INVALID_STATE_TTL",
            lambda ttl=ttl: orders.alias("o").streamJoin(named, on, state_ttl=ttl),
        )
    counted = customers.groupBy("id").count()
    for aggregated in (counted.distinct(), customers.groupBy().count()):
        refused(
            "UNSUPPORTED_CHANGELOG",
            lambda n=aggregated: orders.alias("o").streamJoin(n.alias("n"), "o.id = n.count"),
        )
    with pytest.raises(PySparkValueError):
        orders.alias("o").streamJoin(named, on, mode="changes")
    for options in ({"mode": "event_time"}, {"retention": "1 day"}, {"late": "emit"}):
        refused(
            "INVALID_OPTION",
            lambda options=options: orders.alias("o").streamJoin(named, on, **options),
        )
    refused("INVALID_CHANGELOG", lambda: raw.fromChangelog(op="kind"))
    refused("INVALID_CHANGELOG", lambda: raw.fromChangelog(op_mapping={"I": "in"}))
    refused("INVALID_CHANGELOG", lambda: raw.fromChangelog(op_mapping={"u": "-U", "U": "+U"}))
    for wrong in ("insert", [("I", "insert")], {"I": None}):
        with pytest.raises(PySparkTypeError):
            raw.fromChangelog(op_mapping=wrong)
    refused("INVALID_CHANGELOG", lambda: raw.toUpserts("id"))
    refused("INVALID_CHANGELOG", lambda: raw.fromDebezium("id", value="id"))
    messages = Landing(spark, tmp_path / "messages", MESSAGES).stream()
    refused("MISSING_SEQUENCE", lambda: messages.fromDebezium("id"))
    refused("STATIC_INPUT", lambda: orders.alias("o").streamJoin(spark.range(1).alias("c"), on))
    wide = orders.alias("o").streamJoin(named, on)
    refused(
        "UNSUPPORTED_CHANGELOG",
        lambda: (
            wide.groupBy("name")
            .agg(F.max("amount"))
            .writeStream.outputMode("update")
            .format("noop")
            .start()
        ),
    )
    # Also in append mode, where Spark itself only rejects the mode.
    by_name = wide.groupBy("amount").pivot("name", ["Ada", "Bob"])
    for rows in (wide.groupBy("name").count(), by_name.sum("o.id")):
        with pytest.raises(AnalysisException, match="counts a delete like an insert"):
            rows.writeStream.format("noop").start()
    today = wide.where("amount > day(current_date())")
    refused("UNSUPPORTED_CHANGELOG", lambda: today.writeStream.format("noop").start())
    refused(
        "UNSUPPORTED_CHANGELOG", lambda: orders.dropDuplicates().alias("o").streamJoin(named, on)
    )
    words = F.explode(F.split("name", " ")).alias("word")
    with pytest.raises(AnalysisException) as error:
        orders.alias("o").streamJoin(named.select(words, "c.id", "_change_type").alias("c"), on)
    assert error.value.getCondition() == "STREAM_JOIN.UNSUPPORTED_CHANGELOG"
    assert "the generator explode(split(" in str(error.value)
    assert "Write this operator below the declaration" in str(error.value)


@pytest.mark.connect
def test_adding_or_removing_state_ttl_requires_a_new_checkpoint(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders = Landing(spark, tmp_path / "orders", ORDERS)

    def joined(ttl: str | None) -> DataFrame:
        a, b = (orders.stream().fromChangelog(key="id").alias(name) for name in "ab")
        joined = streamjoin.stream_join(a, b, "a.id = b.id", state_ttl=ttl)
        return joined.select("a.id", "_change_type")

    for number, (first, goes_on, refused) in enumerate(
        [("1 day", "2 days", None), (None, None, "1 day")]
    ):
        checkpoint = tmp_path / str(number)
        for ttl in (first, goes_on):
            orders.land(change("insert", id=1, customer=1, amount=1, seq=1))
            Run(joined(ttl), checkpoint).step()
        orders.land(change("insert", id=1, customer=1, amount=1, seq=1))
        with pytest.raises(AnalysisException, match="INCOMPATIBLE_CHECKPOINT") as error:
            Run(joined(refused), checkpoint).step()
        assert "or state_ttl was added or removed" in str(error.value)


@pytest.mark.connect
def test_explain_states_row_identity_and_output_key(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    orders = Landing(spark, tmp_path / "orders", ORDERS).stream().fromChangelog(key="id")
    customers = Landing(spark, tmp_path / "customers", CUSTOMERS).stream()
    joined = orders.alias("o").streamJoin(
        customers.fromUpserts("id", "seq").alias("c"),
        "o.customer = c.id",
        "left",
        state_ttl={"right": "30 days"},
    )
    joined.explain(mode="extended")
    text = capsys.readouterr().out
    assert "ChangelogJoin, the latest version of each key (id) of o" in text
    assert "the latest version of each key (id) is stored" in text
    assert "rows of o are identified by key id, several rows for each join key" in text
    assert "rows of c are identified by key id, one row for each join key" in text
    assert text.count("a row of o is stored until it is deleted: without limit") == 2
    assert "output key: id" in text
