"""Random queries in which several inputs read one DataFrame, as streams and as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions

from streamjoin import impose_order, stream_join

ROW = "id INT, t TIMESTAMP, v INT"
NEAR = "{b}.t BETWEEN {a}.t - INTERVAL '30' MINUTE AND {a}.t + INTERVAL '30' MINUTE"

# Each leaves the columns of ROW. The optimizer simplifies some, and removes their aliases.
STEPS: tuple[Callable[[DataFrame], DataFrame], ...] = (
    lambda rows: rows.where("v > 3"),
    lambda rows: rows.where("id = 1"),
    lambda rows: rows.select(*(functions.col(name).alias(name) for name in ("id", "t", "v"))),
    lambda rows: rows.selectExpr("id AS k", "t AS u", "v AS w").selectExpr(
        "k AS id", "u AS t", "w AS v"
    ),
    lambda rows: rows.selectExpr("struct(id, t, v) AS s").selectExpr("s.id", "s.t", "s.v"),
    lambda rows: rows.selectExpr("id", "t", "coalesce(v, 0) AS v"),
    lambda rows: rows.selectExpr("id", "t", "CAST(NULL AS INT) AS v"),
    lambda rows: rows.selectExpr("nullif(id, 2) AS id", "t", "v"),
    lambda rows: rows.selectExpr("id", "t", "explode(array(v, v + 1)) AS v"),
)


@dataclass
class SharedSources:
    """One query, as far as its random numbers tell it.

    Parameters
    ----------
    rng : random.Random
        Two objects with equal numbers make the same query.
    sources : mapping of str to DataFrame
        The sources by name, each as one DataFrame.
    """

    session: SparkSession
    rng: Random
    sources: Mapping[str, DataFrame]
    aliases: int = field(default=0, init=False)

    @property
    def _streams(self) -> bool:
        return all(rows.isStreaming for rows in self.sources.values())

    def _alias(self) -> str:
        self.aliases += 1
        return f"q{self.aliases}"

    def _rows(self, depth: int) -> DataFrame:
        if depth == 0 or self.rng.random() < 0.25:
            return self.sources[self.rng.choice(sorted(self.sources))]
        kind = self.rng.choice(["step", "step", "step", "union", "union", "table"])
        rows = self._rows(depth - 1)
        if kind == "union":
            return rows.union(self._rows(depth - 1))
        if kind == "table":
            table = self.session.createDataFrame([(i, i * 7) for i in range(3)], "id INT, s INT")
            joined = rows.join(table, "id", self.rng.choice(["inner", "left"]))
            return joined.selectExpr("id", "t", "coalesce(s, v) AS v")
        return self.rng.choice(STEPS)(rows)

    def _timed(self, depth: int) -> DataFrame:
        rows = self._rows(depth)
        # no row is late
        return impose_order(rows, "t", "10 hours") if self._streams else rows

    def by_event_time(self, depth: int = 2) -> DataFrame:
        """A query of INNER and LEFT SEMI joins, and of unions of them."""
        if depth == 0 or self.rng.random() < 0.3:
            return self._timed(2)
        how = self.rng.choice(["inner", "inner", "left_semi"])
        left = self.by_event_time(depth - 1)
        if self.rng.random() < 0.3:
            return left.union(self.by_event_time(depth - 1))
        right = self.by_event_time(depth - 1)
        a, b = self._alias(), self._alias()
        on = f"{a}.id = {b}.id AND {NEAR.format(a=a, b=b)}"
        if self.rng.random() < 0.4:
            on += f" AND {a}.v <= {b}.v"
        joined = self._join(left.alias(a), right.alias(b), on, how)
        if how == "left_semi":
            return joined.selectExpr(f"{a}.id", f"{a}.t", f"{a}.v")
        if self.rng.random() < 0.5:
            return joined.selectExpr(f"{a}.id", f"{a}.t", f"{b}.v")
        return joined.selectExpr(f"{b}.id", f"{b}.t", f"{a}.v + {b}.v AS v")

    def of_changes(self, depth: int = 2) -> DataFrame:
        """A query of changelog joins of any type; as a stream with the kinds of its changes."""
        left, right = self._rows(3), self._rows(3)
        if depth > 1 and self.rng.random() < 0.5:
            left = self.of_changes(depth - 1)
        how = self.rng.choice(["inner", "left", "right", "full", "left_semi", "left_anti"])
        a, b = self._alias(), self._alias()
        on = f"{a}.id = {b}.id" + (f" AND {a}.v <= {b}.v" if self.rng.random() < 0.5 else "")
        joined = self._join(left.alias(a), right.alias(b), on, how, "changelog")
        kind = ["_change_type"] if self._streams else []
        if how in ("left_semi", "left_anti"):
            return joined.selectExpr(f"{a}.id", f"{a}.t", f"{a}.v", *kind)
        return joined.selectExpr(f"coalesce({a}.id, {b}.id) AS id", f"{b}.t", f"{a}.v", *kind)

    def _join(
        self, left: DataFrame, right: DataFrame, on: str, how: Any, mode: Any = None
    ) -> DataFrame:
        if self._streams:
            return stream_join(left, right, on, how, mode=mode)
        return left.join(right, functions.expr(on), how)
