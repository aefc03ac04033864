"""Peers' tests of joins on changing tables: Flink's regular join, views, KTables.

Their statements on our own rows. The expectation is Spark's join of the tables after every batch.
All statements run as one query.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamjoin

ROW = "id INT, k INT, v INT, w INT"
COLUMNS = [column.split()[0] for column in ROW.split(", ")]
BATCHES = 2
ADDED = ("insert", "update_postimage")

HINT = "/*+ STREAM_JOIN(mode => 'changelog') */"

# a and b have a key, rows of m and n are identified by all columns, e is append-only; ~ is the kind
STATEMENTS = {
    # Flink: JoinITCase
    "DependentConditionDerivationInnerJoin": (
        "SELECT a.id, b.id ~ FROM a, b WHERE (a.v = 1 AND b.v = 2) OR (a.k = 2 AND b.w IS NULL)"
    ),
    "NullFullOuterJoinWithNullCond": (
        "SELECT m.k, m.v, n.k, n.v ~ FROM m FULL JOIN n "
        "ON m.k = n.k OR (m.k IS NULL AND n.k IS NULL)"
    ),
    "LeftJoinWithRightNotPkNonEqui": (
        "SELECT g.k, g.s, b.id, b.v ~ "
        "FROM (SELECT k, CAST(sum(v) AS INT) AS s FROM e GROUP BY k) g "
        "LEFT JOIN b ON g.k = b.k AND g.s > b.v"
    ),
    "JoinWithFilterPushDown": (
        "SELECT a.id, a.v, b.id, b.v ~ FROM a LEFT JOIN b ON a.k = b.k "
        "WHERE b.k IS NULL AND a.k <= 2"
    ),
    "FullJoinWithEqualPkNonEqui": (
        f"SELECT {HINT} f.k, f.s, g.k, g.s ~ "
        "FROM (SELECT k, CAST(sum(v) AS INT) AS s FROM e GROUP BY k) f FULL JOIN "
        "(SELECT k, CAST(sum(w) AS INT) AS s FROM e GROUP BY k) g ON f.k = g.k AND f.s > g.s"
    ),
    # Flink: SemiAntiJoinStreamITCase, MultiJoinTestPrograms
    "SemiJoinWithOneSideRetraction": (
        "SELECT id, v ~ FROM a WHERE v IN (SELECT CAST(sum(v) AS INT) FROM e GROUP BY k)"
    ),
    "StreamExistsWithoutEqual": (
        "SELECT a.id ~ FROM a WHERE EXISTS (SELECT 1 FROM n WHERE n.v > a.v) "
        "AND NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.w = 1)"
    ),
    "ExistsWithUncorrelated": (
        "SELECT m.k, m.v ~ FROM m WHERE EXISTS (SELECT 1 FROM a WHERE a.v = 3 AND a.k = 1)"
    ),
    "FourWayComplex": (
        "SELECT a.id, b.id, m.v, e.v ~ FROM a LEFT JOIN b ON a.id = b.id "
        "JOIN m ON m.k = a.k AND a.v >= m.v LEFT JOIN e ON e.k = a.k AND e.v = b.v"
    ),
    # Materialize: joins.slt
    "scalars in subqueries": (
        "SELECT a.id ~ FROM a WHERE a.v IN "
        "(SELECT b.v + 1 FROM b WHERE b.v IN (SELECT m.v + 1 FROM m))"
    ),
    "outer join in a subquery": (
        "SELECT n.k, n.v ~ FROM n WHERE EXISTS "
        "(SELECT 1 FROM a LEFT JOIN b ON a.id = b.id WHERE a.v = n.v AND b.id IS NULL)"
    ),
    # RisingWave: stack_overflow_17342.slt
    "consecutive FULL OUTER JOIN USING": (
        "SELECT k ~ FROM m FULL JOIN n USING (k) FULL JOIN e USING (k)"
    ),
    # ksqlDB: fk-n-way-join.json
    "fk join at start of n-way join": (
        "SELECT a.w, b.v, c.v ~ FROM a JOIN b ON a.k = b.id LEFT JOIN b AS c ON a.id = c.id"
    ),
    # Kafka Streams: TableTableJoinIntegrationTest
    "OuterLeft": (
        "SELECT coalesce(a.id, b.id) AS i, a.v, b.v, c.v ~ FROM a FULL JOIN b ON a.id = b.id "
        "LEFT JOIN b AS c ON a.id = c.id"
    ),
    # Feldera: OuterJoinTests, AntiJoinDistinctTests
    "PredicatePullRightJoin": (
        "SELECT a.id, a.w, b.id, b.w ~ FROM a RIGHT JOIN b ON a.k = b.k AND a.w = 0"
    ),
    "Segment": (
        "SELECT a.id ~ FROM a LEFT JOIN (SELECT k FROM e WHERE v < 2 GROUP BY k) f ON a.k = f.k "
        "LEFT JOIN (SELECT k FROM e WHERE v > 1 GROUP BY k) g ON a.k = g.k "
        "WHERE f.k IS NOT NULL AND g.k IS NULL"
    ),
    # statements for which the peers use unions
    "union of two changelogs": (
        "SELECT u.id, n.v ~ FROM (SELECT id, k ~ FROM a UNION ALL SELECT id, k ~ FROM b) u "
        "LEFT JOIN n ON u.k = n.k"
    ),
    "append-only input by a changelog": (
        "SELECT e.v, e.w ~ FROM e WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.k = e.k)"
    ),
}


class Tables:
    """Changing tables, as files of changes, and their contents after each batch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.random = random.Random(325)
        self.tables: dict[str, dict[int, dict[str, Any]]] = {"a": {}, "b": {}, "e": {}}
        self.after: list[dict[str, list[tuple[Any, ...]]]] = []
        self.sequence = 0
        for batch in range(BATCHES):
            for name in self.tables:
                changes = [change for _ in range(9) for change in self.change(name)]
                self.write(name, batch, changes)
            self.after.append(
                {
                    name: [tuple(row[c] for c in COLUMNS) for row in table.values()]
                    for name, table in self.tables.items()
                }
            )

    def change(self, name: str) -> list[dict[str, Any]]:
        draw = self.random
        self.sequence += 1
        key = self.sequence if name == "e" else draw.randrange(6)
        before = self.tables[name].pop(key, None)
        found = []
        gone = name != "e" and draw.random() < 0.3
        if before is not None:
            found.append({**before, "op": "-D" if gone else "-U"})
        if not gone:
            k = draw.choice([None, 0, 1, 1, 2, 3])
            v, w = draw.randrange(4), draw.choice([None, 0, 1])
            self.tables[name][key] = {"id": key, "k": k, "v": v, "w": w}
            found.append({**self.tables[name][key], "op": "+I" if before is None else "+U"})
        return [{**change, "seq": self.sequence} for change in found]

    def write(self, name: str, batch: int, rows: list[dict[str, Any]]) -> None:
        file = self.folder / name / f"{batch}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        # The source reads files by modification time.
        os.utime(file, (batch, batch))

    def as_streams(self, session: SparkSession) -> None:
        raw = {
            name: session.readStream.schema(f"{ROW}, op STRING, seq INT")
            .option("maxFilesPerTrigger", 1)
            .json(str(self.folder / name))
            for name in self.tables
        }
        rows = raw["a"].where("op <> '-U'")
        a = streamjoin.from_upserts(rows, "id", "seq", deletes="op = '-D'").drop("op", "seq")
        b = streamjoin.from_changelog(raw["b"], key="id", op="op", sequence_by="seq").drop("seq")
        a.createOrReplaceTempView("a")
        b.createOrReplaceTempView("b")
        for name, of in (("m", "a"), ("n", "b")):
            whole = streamjoin.from_changelog(raw[of].drop("id", "seq"), op="op")
            whole.createOrReplaceTempView(name)
        raw["e"].drop("op", "seq").createOrReplaceTempView("e")

    def as_tables(self, session: SparkSession, batch: int) -> None:
        for name, rows in self.after[batch].items():
            session.createDataFrame(rows, ROW).createOrReplaceTempView(name)
        for name, of in (("m", "a"), ("n", "b")):
            session.table(of).drop("id").createOrReplaceTempView(name)


def results(session: SparkSession) -> DataFrame:
    """The rows of all statements, with the name of the statement and the same number of columns."""

    def one(name: str) -> DataFrame:
        kind, text = ", _change_type", STATEMENTS[name]
        if not session.table("a").isStreaming:
            kind, text = "", text.replace(HINT, "")
        found = session.sql(text.replace(" ~", kind))
        renamed = found.toDF(*(f"c{n}" for n in range(len(found.columns))))
        of_row = [F.col(f"c{n}") for n in range(len(found.columns) - bool(kind))]
        pads = [F.lit(None).cast("int")] * (4 - len(of_row))
        kinds = [F.col(renamed.columns[-1]).alias("kind")] if kind else []
        return renamed.select(F.lit(name).alias("name"), *of_row, *pads, *kinds)

    return reduce(DataFrame.unionAll, map(one, STATEMENTS))


Rows = list[tuple[Any, ...]]


def run(session: SparkSession, checkpoint: Path) -> dict[int, Rows]:
    """The output, batch by batch."""
    batches: dict[int, Rows] = {}

    def keep(batch: DataFrame, number: int) -> None:
        batches[number] = [tuple(row) for row in batch.collect()]

    writer = results(session).writeStream.outputMode("update").foreachBatch(keep)
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    writer.start().awaitTermination()
    return batches


@pytest.fixture(scope="module")
def found(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Rows, Rows]]:
    """The emitted changes and the expected rows of each batch."""
    folder = tmp_path_factory.mktemp("tables")
    tables = Tables(folder)
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    session.conf.set("spark.sql.adaptive.enabled", "false")
    tables.as_streams(session)
    batches = run(session, folder / "checkpoint")
    # For small tables, compilation is most of the work.
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    expected: list[Rows] = []
    for batch in range(BATCHES):
        tables.as_tables(session, batch)
        expected.append([tuple(row) for row in results(session).collect()])
    return [(batches.get(batch, []), expected[batch]) for batch in range(BATCHES)]


@pytest.mark.parametrize("name", STATEMENTS)
def test_applied_changes_equal_the_join_of_the_tables(
    name: str, found: list[tuple[Rows, Rows]]
) -> None:
    table: Counter[Any] = Counter()
    for changes, rows in found:
        of_statement = [(tuple(row), kind) for who, *row, kind in changes if who == name]
        inserted = Counter(row for row, kind in of_statement if kind in ADDED)
        deleted = Counter(row for row, kind in of_statement if kind not in ADDED)
        assert not inserted & deleted, "a batch inserts and deletes the same row"
        table.update(inserted)
        table.subtract(deleted)
        table = Counter({row: n for row, n in table.items() if n})
        assert table == Counter(tuple(row) for who, *row in rows if who == name)
    assert table, "no rows to compare"
