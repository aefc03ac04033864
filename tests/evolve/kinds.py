"""Queries of each kind of join over append-only inputs, and what they emit."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tests.evolve.columns import Columns
from tests.evolve.nodes import FILLED, LATE, AsOf, Item, Join, Order, Row, Source, minutes
from tests.streams import Landing

SCHEMA = "_change_type STRING, n INT, id INT, k INT, v INT, x INT, t TIMESTAMP"
START = datetime(2024, 5, 4, 10)
END = datetime(2024, 5, 6)
LEFT_ONLY = ("semi", "anti")
INPUTS = "abcdefA"


def interval(number: int) -> str:
    return f"INTERVAL '{number}' MINUTE"


@dataclass(frozen=True)
class Query:
    """A join of `a` with `b`, or `a` alone, and the joins below, above and beside it."""

    kind: str
    how: str
    columns: dict[str, Columns]
    before: int
    after: int
    key: str | None = "k"
    most: int | None = None
    only: int | None = None
    below: str | None = None
    """The type of a join of `a` with `c` below."""
    above: str | None = None
    """The type of a join with `d` above."""
    reach: int = 10
    """How long the joins with `c` and `d` wait."""
    beside: str = ""
    """The two inputs of another join; `A` reads `a` once more."""
    order: str | None = None
    late: bool = False
    lag: int = 4
    exchanged: bool = False
    moved: bool = False

    @property
    def is_as_of(self) -> bool:
        return self.how in ("asof", "left_asof")

    @property
    def types(self) -> dict[str, str]:
        """The types of the joins with `c`, `b` and `d`, as Spark runs them."""
        joins = {"c": self.below, "b": self.how, "d": self.above}
        found = {name: how for name, how in joins.items() if how not in (None, "alone")}
        above = ""
        for name in reversed(found):
            # a join that drops the padded rows of the one below makes it a narrower one, except
            # for late rows, which it emits
            if above in ("inner", "right", "semi", "asof") and not self.late:
                found[name] = {"full": "left", "right": "inner"}.get(found[name], found[name])
            above = found[name]
        return found

    @property
    def shown(self) -> str:
        def more(name: str, how: str | None) -> str:
            return "" if how is None or how in LEFT_ONLY or how == "alone" else name

        return "a" + more("b", self.how) + more("c", self.below) + more("d", self.above)

    def of(self, world: World) -> DataFrame:
        late: dict[str, Any] = {"late": "emit"} if self.late else {}
        order: dict[str, Any] = {"order_by": self._name("a", "t")} if self.order else {}
        if self.order == "partition":
            order["order_scope"] = "partition"
        result = self._input(world, "a")
        if self.below is not None:
            result = result.streamJoin(self._input(world, "c"), self._with("c"), self.below, **late)
        if self.how != "alone":
            b, how, more = self._input(world, "b"), self.how, order if self.above is None else {}
            if self.exchanged:
                result, b = b, result
                how = {"left": "right", "right": "left"}.get(how, how)
            result = result.streamJoin(b, self._on(), how, **late, **more)
        elif self.order and self.above is None:
            result = result.orderBy(order["order_by"])
        if self.above is not None:
            d = self._input(world, "d")
            result = result.streamJoin(d, self._with("d"), self.above, **late, **order)
        shown = [
            f"{self._name(i, name)} AS {i}_{name}"
            for i in self.shown
            for name in self.columns[i].names
        ]
        shown += [f"IF({LATE} IS NULL, NULL, true) AS {LATE}"] if self.late else []
        result = result.selectExpr(f"to_json(struct({', '.join(shown)})) AS row")
        if self.beside:
            result = result.union(self._beside(world, *self.beside))
        return result

    def _name(self, of: str, column: str) -> str:
        return f"{of}.{self.columns[of].called(column)}"

    def _with(self, other: str) -> str:
        a, t = self._name("a", "t"), self._name(other, "t")
        within = f"{t} BETWEEN {a} - {interval(self.reach)} AND {a} + {interval(self.reach)}"
        return f"{self._name('a', 'k')} = {self._name(other, 'k')} AND {within}"

    def _beside(self, world: World, left: str, right: str) -> DataFrame:
        k, t, earlier = self._name(left, "k"), self._name(left, "t"), self._name(right, "t")
        within = f"{t} BETWEEN {earlier} AND {earlier} + {interval(9)}"
        on = f"{k} = {self._name(right, 'k')} AND {within}"
        joined = self._input(world, left).streamJoin(self._input(world, right), on)
        ids = f"{self._name(left, 'id')} AS {left}_id, {self._name(right, 'id')} AS {right}_id"
        result: DataFrame = joined.selectExpr(f"to_json(struct({ids})) AS row")
        return result

    def _on(self) -> str:
        a, b = (self._name(name, "t") for name in "ab")
        parts = [f"{b} <= {a}"] if self.is_as_of else [f"{b} <= {a} + {interval(self.after)}"]
        if self.before or not self.is_as_of:
            parts.append(f"{b} >= {a} - {interval(self.before)}")
        if self.key is not None:
            parts.append(" = ".join(self._name(name, self.key) for name in "ab"))
        if self.most is not None:
            parts.append(f"{self._name('a', 'v')} + {self._name('b', 'v')} < {self.most}")
        if self.only is not None:
            parts.append(f"{self._name('a', 'v')} < {self.only}")
        return " AND ".join(parts)

    def _input(self, world: World, name: str) -> DataFrame:
        of = self.columns[name]
        rows = world.landings[self.file(name)].stream()
        if self.kind == "temporal" and name == "b":
            rows = rows.selectExpr("_change_type", *of.sql("t", "v", "n"))
            rows = rows.fromChangelog(key=of.called("k"), sequence_by=of.called("n"))
        else:
            rows = rows.selectExpr(*of.sql("t", "v"))
        result: DataFrame = rows.imposeOrder(of.called("t"), minutes(self.lag)).alias(name)
        return result

    def file(self, name: str) -> str:
        return "moved" if name in "aA" and self.moved else name.lower()


class Model:
    """What a query emits, by the nodes of tests/evolve/nodes.py."""

    def __init__(self, query: Query, world: World) -> None:
        self.query, late, types = query, query.late, query.types
        lag = minutes(query.lag)
        of = {n: Source(n, world.files[query.file(n)], lag) for n in INPUTS}
        self.nodes: dict[str, Any] = {}

        def joined(left: Any, name: str) -> Any:
            reach = query.reach
            node = Join(left, of[name], ("a", name), types[name], "k", late, reach, reach)
            return self.nodes.setdefault(name, node)

        def meets(a: Row, b: Row) -> bool:
            return query.most is None or (b["v"] is not None and a["v"] + b["v"] < query.most)

        def can_match(a: Row) -> bool:
            return query.only is None or a["v"] < query.only

        result: Any = of["a"]
        if query.below is not None:
            result = joined(result, "c")
        if query.how != "alone":
            what = (result, of["b"], ("a", "b"), types["b"], query.key, late)
            if query.is_as_of:
                result = AsOf(*what, query.kind == "temporal", query.before or None, meets)
            else:
                result = Join(*what, query.before, query.after, meets, can_match)
            self.nodes["b"] = result
        if query.above is not None:
            result = joined(result, "d")
        if query.order is not None:
            result = self.nodes["order"] = Order(result)
        self.tops = [result]
        if query.beside:
            later, earlier = [*query.beside]
            beside = (earlier, later)
            self.tops.append(Join(of[earlier], of[later], beside, "inner", "k", before=0, after=9))
            self.nodes[query.beside] = self.tops[-1]
        self.sources = {s.name: s for top in self.tops for s in top.sources()}

    def step(self) -> list[Item]:
        return [item for top in self.tops for item in top.step()]

    def continues(self, old: Model, fill: dict[str, Any]) -> bool:
        """Takes over the state. Whether the first batch would emit rows that are late above."""

        def added(name: str, before: Iterable[str]) -> Row:
            now = self.query.columns[name].names
            return {column: fill.get(column) for column in now if column not in before}

        def filled(item: Item, below: str) -> Item:
            kept: Item = {
                n: row if n == LATE else row | added(n, old.query.columns[n].names)
                for n, row in item.items()
            }
            if "b" in kept and old.query.how in LEFT_ONLY and old.query.most is None:
                # a column that the earlier query did not need is not stored
                kept["b"] |= {"v": None}
            # no join has padded the row for an added input
            more = set(below) & set(self.query.shown) - set(old.query.shown)
            return kept | ({FILLED: {n: added(n, ()) for n in more}} if more else {})

        for name in self.sources.keys() & old.sources.keys():
            self.sources[name].continues(old.sources[name])
        for name in self.nodes.keys() & old.nodes.keys():
            inputs = {"b": "c", "d": "cb", "order": "cbd"}.get(name, "")
            self.nodes[name].continues(old.nodes[name], partial(filled, below=inputs))
        below = [n for n in self.nodes.values() if n not in self.tops and isinstance(n, Join)]
        return any(node.late_above() for node in below)

    def text(self, item: Item) -> Any:
        """The item as the query emits it."""
        columns = self.query.columns
        if any(name in item for name in "efA"):
            shown = {f"{name}_id": row["id"] for name, row in item.items()}
        else:
            rows = item.get(FILLED, {}) | item
            shown = {
                f"{i}_{name}": rows[i][name]
                for i in self.query.shown
                if i in rows
                for name in columns[i].names
            } | ({LATE: True} if LATE in item else {})
        return frozenset((name, value) for name, value in shown.items() if value is not None)


class World:
    """The inputs, and rows that land in them."""

    def __init__(self, spark: SparkSession, folder: Path, draw: random.Random) -> None:
        names = ("moved", *"abcdef")
        self.landings = {n: Landing(spark, folder / n, SCHEMA) for n in names}
        self.files: dict[str, list[Row]] = {n: [] for n in names}
        self.draw, self.batch, self.number = draw, 0, 0
        self.keys: set[int] = set()
        self.times: dict[int, datetime] = {}
        """By the id of a row."""

    def land(self, query: Query, last: bool = False) -> None:
        self.batch += 1
        for name in "abcdef":
            # an input without a watermark does not evict the rows that can match nothing
            least = 2 if name == "a" or self.batch == 1 else 0
            count = 1 if last else self.draw.choice([least, 4, 8])
            rows = [self._row(name, last) for _ in range(count)]
            if rows:
                file = query.file(name)
                self.files[file] += rows
                self.landings[file].land(*(row | {"t": row["t"].isoformat()} for row in rows))

    def _row(self, name: str, last: bool) -> Row:
        draw = self.draw.randrange
        self.number += 1
        ago = draw(12, 30) if draw(12) == 0 else draw(5)
        time = END if last else START + timedelta(minutes=5 * self.batch - ago, seconds=draw(60))
        key, gone = draw(3), name == "b" and draw(4) == 0
        kind = "delete" if gone and key in self.keys else "update_postimage"
        self.times[self.number] = time + timedelta(milliseconds=self.number)
        if name == "b":
            (self.keys.discard if kind == "delete" else self.keys.add)(key)
        return {
            **{"_change_type": kind, "n": self.number, "id": self.number, "k": key},
            **{"v": draw(10), "x": draw(3), "t": self.times[self.number]},
        }
