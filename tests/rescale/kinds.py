"""Queries of every kind over random rows, with what lands for each batch."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import from_changelog, from_upserts, impose_order
from tests.streams import Landing

ROWS = "id INT, name STRING, t TIMESTAMP, m INT, v INT, n INT, gone BOOLEAN, _change_type STRING"
NAMES = "abc"
Row = dict[str, Any]


@dataclass
class World:
    """Three streams of random rows, whose times rise and are partly late."""

    spark: SparkSession
    folder: Path
    seed: int
    batch: int = 0
    table: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.landings = {n: Landing(self.spark, self.folder / n, ROWS) for n in NAMES}
        # without keys, a delete needs the row that it deletes
        self.landings["d"] = Landing(self.spark, self.folder / "d", ROWS)

    def stream(self, name: str) -> DataFrame:
        return self.landings[name].stream()

    def ordered(self, name: str, per: str | None = None) -> DataFrame:
        columns = self.stream(name).select("id", "name", "t", "m", "v")
        return impose_order(columns, "t", "5 minutes", per=per).alias(name)

    def latest(self, name: str, key: str | list[str] = "v") -> DataFrame:
        columns = self.stream(name).select("id", "name", "v", "n", "gone")
        changes = from_upserts(columns, key=key, sequence_by="n", deletes=F.col("gone"))
        return changes.alias(name)

    def land(self, rows: int = 40) -> None:
        """Land the rows of the next batch."""
        for name in NAMES:
            self.landings[name].land(*(self._row(i) for i in range(rows)))
        inserted = [self._row(i) | {"_change_type": "insert"} for i in range(rows)]
        deleted = [
            self.table.pop(self.random.randrange(len(self.table))) | {"_change_type": "delete"}
            for _ in range(min(rows // 2, len(self.table)))
        ]
        self.table += inserted
        self.landings["d"].land(*deleted, *inserted)
        self.batch += 1

    def close(self) -> None:
        """Land rows far ahead, which evict all others."""
        for landing in self.landings.values():
            landing.land(self._row(0) | {"t": "2024-05-06T00:00:00", "_change_type": "insert"})

    def _row(self, i: int) -> Row:
        draw = self.random.randrange
        minutes = 20 * self.batch + draw(30)
        clock = f"2024-05-04T{10 + minutes // 60:02}:{minutes % 60:02}:{draw(60):02}"
        return {
            "id": 1 if draw(4) == 0 else draw(12),
            "name": f"name {draw(9)}" if draw(5) else None,
            "t": clock if draw(30) else None,
            "m": draw(20),
            "v": draw(25),
            "n": self.batch * 1000 + i,
            "gone": draw(4) == 0,
        }


Build = Callable[[World], DataFrame]
KEYED = "a.id = b.id AND b.t BETWEEN a.t - INTERVAL '5' MINUTE AND a.t + INTERVAL '15' MINUTE"
BY_TIME = "b.t BETWEEN a.t AND a.t + INTERVAL '10' MINUTE AND a.v < b.v"
BY_ROW = (
    "b.t >= a.t AND b.t <= a.t + a.m * INTERVAL '1' MINUTE AND a.v = b.v + 1 "
    "AND a.t >= b.t - INTERVAL '1' HOUR"
)
OF_A_CHAIN = "c.id = b.id AND c.t BETWEEN b.t AND b.t + INTERVAL '15' MINUTE"
BY_BOTH = OF_A_CHAIN + " AND c.t BETWEEN a.t - INTERVAL '5' MINUTE AND a.t + INTERVAL '20' MINUTE"


def joined(on: str, how: str, **options: Any) -> Build:
    return lambda w: w.ordered("a").streamJoin(w.ordered("b"), on, how, **options)


def grouped(w: World) -> DataFrame:
    joined: DataFrame = w.ordered("a", per="name").streamJoin(w.ordered("b"), KEYED, "full")
    return joined


def chained(first: str, second: str, on: str = OF_A_CHAIN) -> Build:
    def build(w: World) -> DataFrame:
        pairs = w.ordered("a").streamJoin(w.ordered("b"), KEYED, first)
        joined: DataFrame = pairs.streamJoin(w.ordered("c"), on, second)
        return joined

    return build


def as_of(how: str, on: str = "b.id = a.id AND b.t <= a.t") -> Build:
    return lambda w: w.ordered("a").streamJoin(w.ordered("b"), on, how)


def versioned(how: str) -> Build:
    def build(w: World) -> DataFrame:
        columns = w.stream("b").select("id", "t", "v", "n", "gone")
        versions = from_upserts(columns, key="id", sequence_by="n", deletes=F.col("gone"))
        rates = impose_order(versions, "t", "5 minutes").alias("b")
        joined: DataFrame = w.ordered("a").streamJoin(rates, "a.id = b.id", how)
        return joined

    return build


def changes(how: str, on: str = "a.id = b.id AND a.v < b.v + 10", **options: Any) -> Build:
    return lambda w: w.latest("a").streamJoin(w.latest("b"), on, how, **options)


def counted(how: str) -> Build:
    def build(w: World) -> DataFrame:
        columns = w.stream("d").select("id", "name", "v", "_change_type")
        changes = from_changelog(columns).alias("d")
        joined: DataFrame = changes.streamJoin(w.latest("a"), "d.id = a.id", how)
        return joined

    return build


def sorted_rows(w: World) -> DataFrame:
    return w.ordered("a").orderBy("t", "id", "name", "m", "v")


def sorted_pairs(w: World) -> DataFrame:
    pairs: DataFrame = w.ordered("a").streamJoin(w.ordered("b"), KEYED)
    columns = pairs.selectExpr("a.t AS t", "a.id AS id", "a.v AS v", "b.t AS u", "b.v AS w")
    return columns.orderBy("t", "id", "v", "u", "w")


def sorted_by(how: str) -> Build:
    """The rows come from a join of two equalities, and each side's key may be NULL."""

    def build(w: World) -> DataFrame:
        pairs: DataFrame = w.ordered("a").streamJoin(w.ordered("b"), KEYED, how)
        columns = pairs.selectExpr(
            "coalesce(a.t, b.t) AS t", "a.id AS id", "b.id AS other", "a.v AS v", "b.v AS w"
        )
        return columns.orderBy("t", "id", "other", "v", "w")

    return build


KINDS: dict[str, Build] = {
    **{how: joined(KEYED, how) for how in ("inner", "left", "full", "left_semi", "left_anti")},
    "computed key": joined(KEYED.replace("a.id = b.id", "upper(a.name) = upper(b.name)"), "left"),
    "local date": joined(KEYED.replace("a.id = b.id", "date(a.t) = date(b.t)"), "left"),
    "null-safe key": joined(KEYED.replace("a.id = b.id", "a.name <=> b.name"), "full"),
    "floating-point key": joined(
        KEYED.replace("a.id = b.id", "CAST(a.id AS DOUBLE) = CAST(b.id AS DOUBLE)"), "left"
    ),
    "two keys": joined(KEYED + " AND a.name = b.name", "left"),
    "chain": chained("left", "full"),
    "groups": grouped,
    "time buckets, inner": joined(BY_TIME, "inner"),
    "time buckets, full": joined(BY_TIME, "full"),
    "one side in all partitions": joined(BY_ROW, "left"),
    "both sides in all partitions": joined(BY_ROW, "full"),
    "as-of": as_of("left_asof"),
    "as-of without a key": as_of("asof", "b.t <= a.t"),
    "versions": versioned("left_asof"),
    "changelog": changes("left"),
    "changelog, full": changes("full"),
    "changelog, full without a key": changes("full", "a.v < b.v"),
    "changelog, counted": counted("left"),
    "changelog, state_ttl": changes("left", state_ttl="1 hour"),
    "early": joined(KEYED, "left", emit="early"),
    "order": sorted_rows,
    "order above a join": sorted_pairs,
    "order above a full join": sorted_by("full"),
    "order above a right join": sorted_by("right"),
    "rows with two limits": chained("inner", "full", BY_BOTH),
}
IN_ORDER = {kind for kind in KINDS if kind.startswith("order")}
