"""Random changelog joins whose columns change at a random batch.

Before and after the change, the changes that came out add up to the join of the tables. In an added
column, a row that was stored before the change has the value of `fill` until it changes itself.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from streamjoin import evolve
from tests.evolve.columns import Columns, changed_columns
from tests.parameters import STATE_FORMATS
from tests.streams import Landing, Run

Row = dict[str, Any]
SCHEMA = "_change_type STRING, id INT, n INT, k INT, v INT, x INT"
DECLARED = ("images", "sequenced", "upserts", "counted")
CONDITIONS: dict[str, Callable[[Row, Row], bool]] = {
    "a.k = b.k": lambda a, b: a["k"] == b["k"],
    "a.k = b.k AND a.id <= b.id + 2": lambda a, b: a["k"] == b["k"] and a["id"] <= b["id"] + 2,
    "a.k < b.k": lambda a, b: a["k"] < b["k"],
}
HOWS = ("inner", "left", "right", "full", "semi", "anti")


@dataclass(frozen=True)
class Query:
    declared: dict[str, str]
    how: str
    on: str
    above: str | None
    """The type of the join with a third input."""
    columns: dict[str, Columns]

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The output: inputs and their columns as the tables name them."""
        inputs = ["a"] if self.how in ("semi", "anti") else ["a", "b"]
        if self.above is not None:
            inputs.append("c")
        return [(i, name) for i in inputs for name in sorted(self.columns[i].names)]

    def of(self, landings: dict[str, Landing]) -> DataFrame:
        a, b, c = (self._input(landings[name], name) for name in "abc")
        joined = a.streamJoin(b, self.on, self.how)
        if self.above is not None:
            joined = joined.streamJoin(c, "a.k = c.k", self.above)
        called = [f"{i}.{self.columns[i].called(n)}" for i, n in self.shown]
        result: DataFrame = joined.selectExpr(*called, "_change_type")
        return result

    def _input(self, landing: Landing, name: str) -> DataFrame:
        rows = landing.stream().selectExpr("_change_type", "n", *self.columns[name].sql())
        declared = self.declared[name]
        if declared == "counted":
            rows = rows.drop("n").fromChangelog()
        elif declared == "images":
            rows = rows.drop("n").fromChangelog(key="id")
        elif declared == "sequenced":
            rows = rows.fromChangelog(key="id", sequence_by="n")
        else:
            rows = rows.withColumn("gone", rows["_change_type"] == "delete").drop("_change_type")
            rows = rows.fromUpserts("id", "n", deletes="gone")
        named: DataFrame = rows.alias(name)
        return named

    def rows(self, tables: dict[str, list[Row]]) -> Counter[tuple[Any, ...]]:
        """The join of the tables."""
        found = joined(tables["a"], tables["b"], self.how, CONDITIONS[self.on])
        made = [{"a": a, "b": b} for a, b in found]
        if self.above is not None:
            above = joined(
                made,
                tables["c"],
                self.above,
                lambda of, c: of["a"] is not None and of["a"]["k"] == c["k"],
            )
            made = [(of or {}) | {"c": c} for of, c in above]
        return Counter(
            tuple(None if row.get(i) is None else row[i][name] for i, name in self.shown)
            for row in made
        )


def joined(left: list[Any], right: list[Any], how: str, matches: Any) -> list[tuple[Any, Any]]:
    pairs = [(x, y) for x in left for y in right if matches(x, y)]
    if how in ("semi", "anti"):
        return [(x, None) for x in left if any(p[0] is x for p in pairs) == (how == "semi")]
    if how in ("left", "full"):
        pairs += [(x, None) for x in left if not any(p[0] is x for p in pairs)]
    if how in ("right", "full"):
        pairs += [(None, y) for y in right if not any(p[1] is y for p in pairs)]
    return pairs


class Table:
    """The rows of an input, and changes of them."""

    def __init__(self, draw: random.Random, landing: Landing, declared: str) -> None:
        self.draw, self.landing, self.declared = draw, landing, declared
        self.rows: dict[int, Row] = {}
        self.known: dict[int, Row] = {}
        """The same as the query knows them."""
        self.number = 0

    def land(self) -> None:
        landed: list[Row] = []
        for number in self.draw.sample(range(8), self.draw.randrange(1, 6)):
            before = self.rows.pop(number, None)
            if before is not None and self.draw.random() < 0.4:
                del self.known[number]
                landed.append(self._change("delete", before))
                continue
            if before is not None and self.declared != "upserts":
                landed.append(self._change("update_preimage", before))
            self.rows[number] = self._row(number)
            # two equal images change nothing, so the row keeps the value of an added column
            if self.declared != "images" or self.rows[number] != before:
                self.known[number] = self.rows[number]
            landed.append(self._change("update_postimage", self.rows[number]))
        self.landing.land(*landed)

    def _row(self, number: int) -> Row:
        draw = self.draw.randrange
        return {"id": number, "k": draw(4), "v": draw(3), "x": draw(3)}

    def _change(self, kind: str, row: Row) -> Row:
        self.number += 1
        return {"_change_type": kind, "n": self.number, **row}


def drawn(draw: random.Random) -> tuple[Query, Query, dict[str, str], dict[str, int]]:
    """A query, the changed one, renamed columns, and the values of added ones."""
    old = Query(
        {name: draw.choice(DECLARED) for name in "abc"},
        draw.choice(HOWS),
        draw.choice([*CONDITIONS]),
        draw.choice([None, None, "inner", "left"]),
        {name: Columns() for name in "abc"},
    )
    counted = tuple(name for name in "abc" if old.declared[name] == "counted")
    columns, rename = changed_columns(draw, old.columns, counted)
    new = replace(old, columns=columns)
    is_added = any(name == "x" for _, name in new.shown)
    return old, new, rename, {"x": 7} if is_added and draw.random() < 0.5 else {}


@pytest.mark.thorough
@pytest.mark.sampled
def test_random_columns(
    number: int, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    draw = random.Random(f"changelog {pytestconfig.option.evolve_seed} {number}")
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", str(draw.choice([1, 2, 3])))
    session.conf.set("spark.sql.streamJoin.stateFormat", draw.choice(STATE_FORMATS))
    old, new, rename, fill = drawn(draw)
    label = f"{old} -> {new}, {rename}, {fill}"
    landings = {name: Landing(session, tmp_path / name, SCHEMA) for name in "abc"}
    tables = {name: Table(draw, landings[name], old.declared[name]) for name in "abc"}
    out: Counter[tuple[Any, ...]] = Counter()

    def step(run: Run, query: Query) -> None:
        for table in tables.values():
            table.land()
        for rows in run.step().values():
            for *row, kind in rows:
                out[tuple(row)] += 1 if kind in ("insert", "update_postimage") else -1
        now = {name: list(table.known.values()) for name, table in tables.items()}
        assert +out == query.rows(now), label
        assert not -out, label

    run = Run(old.of(landings), tmp_path / "old")
    for _ in range(draw.randrange(1, 4)):
        step(run, old)
    changed = new.of(landings)
    try:
        evolve(run.checkpoint, tmp_path / "new", changed, rename=rename, fill=fill)
    except AnalysisException:
        # the input above has no key, and would get a column from below
        assert old.above is not None, label
        with pytest.raises(AnalysisException, match="to an input without a key"):
            evolve(run.checkpoint, tmp_path / "new", changed, rename=rename, fill=fill)
        return
    for table in tables.values():
        for number in table.known:
            table.known[number] = table.known[number] | {"x": fill.get("x")}
    shown = dict.fromkeys(old.shown)
    was = {of: place for place, of in enumerate(shown)}
    converted: Counter[tuple[Any, ...]] = Counter()
    for row, count in out.items():
        values = {of: row[place] for of, place in was.items()}

        def value(name: str, column: str, of: dict[Any, Any] = values) -> Any:
            if column == "x":
                return None if of[name, "id"] is None else fill.get("x")
            return of[name, column]

        converted[tuple(value(*of) for of in new.shown)] += count
    out.clear()
    out.update(converted)
    evolved = Run(changed, tmp_path / "new")
    for _ in range(draw.randrange(2, 4)):
        step(evolved, new)
