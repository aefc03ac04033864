"""A case of changelogs as a streaming query, and the batch query that gives all its results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamjoin
from tests.differential.changelogs import Batch, ChangelogCase, Input

ROW = "id INT, k INT, v INT, w STRING"
NARROW = ["id", "k", "v", "w", "_change_type"]
RAW = {
    "counted": f"{ROW}, op STRING",
    "images": f"{ROW}, op STRING",
    "sequenced": f"{ROW}, op STRING, seq BIGINT",
    "upserts": f"{ROW}, gone BOOLEAN, seq BIGINT",
    "debezium": (
        "value STRUCT<op: STRING, before: STRUCT<id: INT, k: INT, v: INT, w: STRING>, "
        "after: STRUCT<id: INT, k: INT, v: INT, w: STRING>, source: STRUCT<lsn: BIGINT>>"
    ),
    "appends": ROW,
}


class ChangelogFeed:
    """One file a batch and input; the query takes one of each at a time."""

    def __init__(self, case: ChangelogCase, session: SparkSession, folder: Path) -> None:
        self.case = case
        self.session = session
        self.folder = folder
        self._files = 0
        for each in case.inputs:
            (folder / each.alias).mkdir(parents=True, exist_ok=True)

    def land(self, batch: Batch) -> None:
        for alias, rows in batch.items():
            hidden = self.folder / alias / ".landing"
            hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
            # the source takes them by their age
            os.utime(hidden, (1_700_000_000 + self._files, 1_700_000_000 + self._files))
            hidden.rename(self.folder / alias / f"{self._files:04d}.json")
        self._files += 1

    def streams(self) -> dict[str, DataFrame]:
        reader = self.session.readStream.option("maxFilesPerTrigger", 1)
        return {
            each.alias: reader.schema(RAW[each.declared]).json(str(self.folder / each.alias))
            for each in self.case.inputs
        }


def stream(case: ChangelogCase, session: SparkSession, raw: Mapping[str, DataFrame]) -> DataFrame:
    if case.through == "sql":
        return _by_sql(case, session, raw)
    left, *others = (_declared(each, raw[each.alias]).alias(each.alias) for each in case.inputs)
    for right, join in zip(others, case.joins, strict=True):
        left = streamjoin.stream_join(
            left, right, join.on, join.how, mode="changelog", state_ttl=case.state_ttl
        )
        if join.where:
            left = left.where(join.where)
    named = [F.expr(case.shown(c)).alias(c.replace(".", "_")) for c in case.columns]
    return left.select(*named, "_change_type")


def _declared(each: Input, raw: DataFrame) -> DataFrame:
    declared: dict[str, Callable[[], DataFrame]] = {
        "counted": lambda: streamjoin.from_changelog(raw, op="op"),
        "images": lambda: streamjoin.from_changelog(raw, key="id", op="op"),
        "sequenced": lambda: streamjoin.from_changelog(raw, key="id", op="op", sequence_by="seq"),
        "upserts": lambda: streamjoin.from_upserts(raw, "id", "seq", deletes="gone"),
        "debezium": lambda: streamjoin.from_debezium(raw, "id", sequence_by="source.lsn"),
        "appends": lambda: raw,
    }
    df = declared[each.declared]()
    if each.narrow:
        df = df.select(*NARROW)
    return df.where(each.where) if each.where else df


def _by_sql(case: ChangelogCase, session: SparkSession, raw: Mapping[str, DataFrame]) -> DataFrame:
    for alias, df in raw.items():
        df.createOrReplaceTempView(f"raw_{alias}")
    text = f"{_relation(case.inputs[0])} AS a"
    ttl = f"/*+ STREAM_JOIN(state_ttl => '{case.state_ttl}') */ " if case.state_ttl else ""
    select = f"SELECT {ttl}" + ", ".join(
        [*(f"{case.shown(c)} AS {c.replace('.', '_')}" for c in case.columns), "_change_type"]
    )
    where: list[str] = []
    for right, join in zip(case.inputs[1:], case.joins, strict=True):
        # WHERE applies to the result of all joins
        last = join is case.joins[-1]
        relation = f"{_relation(right)} AS {right.alias}"
        if last and join.how in ("semi", "anti"):
            no = "NOT " if join.how == "anti" else ""
            where.append(f"{no}EXISTS (SELECT 1 FROM {relation} WHERE {join.on})")
        else:
            how = {"semi": "LEFT SEMI", "anti": "LEFT ANTI"}.get(join.how, join.how.upper())
            text = f"{text} {how} JOIN {relation} ON {join.on}"
        if join.where:
            where.append(join.where)
    condition = f" WHERE {' AND '.join(where)}" if where else ""
    return session.sql(f"{select} FROM {text}{condition}")


def _relation(each: Input) -> str:
    table = f"TABLE(raw_{each.alias})"
    key = "key => DESCRIPTOR(id)"
    function = {
        "counted": f"FROM_CHANGELOG({table}, op => DESCRIPTOR(op))",
        "images": f"FROM_CHANGELOG({table}, {key}, op => DESCRIPTOR(op))",
        "sequenced": (
            f"FROM_CHANGELOG({table}, {key}, op => DESCRIPTOR(op), sequence_by => DESCRIPTOR(seq))"
        ),
        "upserts": f"FROM_UPSERTS({table}, {key}, sequence_by => DESCRIPTOR(seq), deletes => gone)",
        "debezium": f"FROM_DEBEZIUM({table}, {key}, sequence_by => DESCRIPTOR(source.lsn))",
        "appends": f"(SELECT * FROM raw_{each.alias})",
    }[each.declared]
    if not each.where and not each.narrow:
        return function
    columns = ", ".join(NARROW) if each.narrow else "*"
    return f"(SELECT {columns} FROM {function} WHERE {each.where or 'true'})"


def expected(case: ChangelogCase, session: SparkSession) -> DataFrame:
    """The results of Spark's batch join after each batch; ``batch`` identifies them."""
    tables = [_tables(case, session, each) for each in case.inputs]
    left, *others = tables
    seen = [case.inputs[0].alias]
    for number, (right, join) in enumerate(zip(others, case.joins, strict=True), 1):
        together = F.coalesce(*(F.col(f"{a}.batch") for a in seen))
        alias = case.inputs[number].alias
        on = (together == F.col(f"{alias}.batch")) & F.expr(join.on)
        left = left.join(right, on, join.how)
        if join.where:
            left = left.where(join.where)
        if join.how not in ("semi", "anti"):
            seen.append(alias)
    columns = [F.expr(case.shown(column)) for column in case.columns]
    return left.select(F.coalesce(*(F.col(f"{a}.batch") for a in seen)), *columns)


def _tables(case: ChangelogCase, session: SparkSession, each: Input) -> DataFrame:
    rows = [
        (number, row["id"], row["k"], row["v"], row["w"])
        for number, tables in enumerate(case.tables)
        for row in tables[each.alias]
    ]
    df = session.createDataFrame(rows, f"batch INT, {ROW}")
    return (df.where(each.where) if each.where else df).alias(each.alias)
