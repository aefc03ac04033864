"""Random changelogs, the joins of them, and the tables that they stand for after each batch."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal

from tests.differential.case import How
from tests.parameters import STATE_FORMATS

Declared = Literal["counted", "images", "sequenced", "upserts", "debezium", "appends"]
Row = dict[str, Any]
Batch = dict[str, list[Row]]
"""What comes of each input."""

COLUMNS = ("id", "k", "v", "w")
GROUP = 10
"""From the ids and keys of a group to those of the next one."""
HOWS: tuple[How, ...] = ("inner", "left", "right", "full", "semi", "anti")
WORDS = {
    "insert": ("insert", "+I", "INSERT"),
    "update_preimage": ("update_preimage", "-U", "UPDATE_BEFORE"),
    "update_postimage": ("update_postimage", "+u", "Update_After"),
    "delete": ("delete", "-D", "DELETE"),
}


@dataclass(frozen=True)
class Input:
    alias: str
    declared: Declared
    where: str | None
    """A filter between the declaration and the join."""
    narrow: bool = False
    """Whether only the columns of the row are taken along, and not its sequence."""

    @property
    def keyed(self) -> bool:
        return self.declared not in ("counted", "appends")


@dataclass(frozen=True)
class Join:
    """The join of the rest with one more input."""

    left: str
    """The input whose columns the condition compares."""
    how: How
    on: str
    where: str | None
    """A filter on what comes out."""


@dataclass(frozen=True)
class ChangelogCase:
    seed: int
    index: int
    inputs: tuple[Input, ...]
    joins: tuple[Join, ...]
    columns: tuple[str, ...]
    through: Literal["dataframe", "sql"]
    state_ttl: str | None
    """So long that nothing goes by it: keys that are gone leave their sequence behind."""
    settings: dict[str, str]
    starts: tuple[tuple[Batch, ...], ...]
    """The batches of each start of the query from its checkpoint."""
    tables: tuple[Batch, ...]
    """The rows of each input after each batch."""
    well_formed: bool
    computed: bool
    """Whether only what is computed of the column v comes out."""

    def shown(self, column: str) -> str:
        return f"{column} % 2" if self.computed and column.endswith(".v") else column

    @property
    def name(self) -> str:
        return f"{self.seed}-{self.index}"

    def __str__(self) -> str:
        parts = [
            *(str(each) for each in self.inputs),
            *(str(each) for each in self.joins),
            f"{self.through}: {', '.join(map(self.shown, self.columns))}",
            f"{self.state_ttl}; {self.settings}",
        ]
        for number, start in enumerate(self.starts):
            for batch in start:
                parts += [f"start {number}: {json.dumps(batch)}"]
        return "\n".join(parts)


def visible(inputs: Sequence[Input], joins: Sequence[Join]) -> list[str]:
    """The aliases whose columns are in the output."""
    found = [inputs[0].alias]
    for each, join in zip(inputs[1:], joins, strict=True):
        if join.how not in ("semi", "anti"):
            found.append(each.alias)
    return found


def generate(seed: int, index: int, groups: int = 1) -> ChangelogCase:
    """Draw a case.

    With groups, each join has one equality more, and the rows of each group are drawn apart.
    """
    rng = Random(f"changelogs/{seed}/{index}")
    through: Literal["dataframe", "sql"] = rng.choice(["dataframe", "dataframe", "sql"])
    inputs = _inputs(rng, through)
    joins = _joins(rng, inputs, through)
    if groups > 1:
        inputs = tuple(replace(each, where=_of_group(each.where)) for each in inputs)
        joins = tuple(
            replace(join, on=f"{_group(join.left)} = {_group(right.alias)} AND {join.on}")
            for join, right in zip(joins, inputs[1:], strict=True)
        )
    shown = [f"{a}.{c}" for a in visible(inputs, joins) for c in COLUMNS]
    if rng.random() < 0.5:
        shown = sorted(rng.sample(shown, rng.randint(1, len(shown))))
    tables = {each.alias: [_Table(rng, each, n) for n in range(groups)] for each in inputs}
    starts, after = [], []
    for _ in range(rng.randint(2, 3)):
        start = []
        for _ in range(rng.randint(1, 3)):
            start.append({a: [c for t in some for c in t.changes()] for a, some in tables.items()})
            after.append({a: [r for t in some for r in t.copy()] for a, some in tables.items()})
        starts.append(tuple(start))
    state_ttl = rng.choice([None, None, "10000 days"])
    every = [table for some in tables.values() for table in some]
    if any(table.removes_unknown for table in every):
        # with an age such a row may have expired, and is taken back
        state_ttl = None
    return ChangelogCase(
        seed,
        index,
        inputs,
        joins,
        tuple(shown),
        through,
        state_ttl,
        {
            "spark.sql.shuffle.partitions": rng.choice(["1", "2", "3"]),
            "spark.sql.streamJoin.stateFormat": rng.choice(STATE_FORMATS),
        },
        tuple(starts),
        tuple(after),
        all(table.well_formed for table in every),
        # drawn last: what a seed gave before stays
        rng.random() < 0.3,
    )


def _inputs(rng: Random, through: str) -> tuple[Input, ...]:
    count = rng.choice([2, 2, 2, 3, 3, 4])
    kinds: list[Declared] = ["counted", "images", "sequenced", "upserts", "debezium", "appends"]
    drawn = [rng.choice(kinds) for _ in range(count)]
    if through == "sql" and drawn[0] == "appends":
        drawn[0] = "counted"
    return tuple(
        Input(
            alias,
            declared,
            rng.choice(["v <> 2", "w = 'a'", "id < 3", "k > 0"]) if rng.random() < 0.25 else None,
            declared != "appends" and rng.random() < 0.5,
        )
        for alias, declared in zip("abcd", drawn, strict=False)
    )


def _group(alias: str) -> str:
    return f"{alias}.id div {GROUP}"


def _of_group(where: str | None) -> str | None:
    return where and re.sub(r"\b(id|k) ", rf"\1 % {GROUP} ", where)


def _joins(rng: Random, inputs: Sequence[Input], through: str) -> tuple[Join, ...]:
    joins: list[Join] = []
    for number, right in enumerate(inputs[1:], 1):
        left = rng.choice(visible(inputs[:number], joins))
        how = rng.choice(HOWS)
        after = left if how in ("semi", "anti") else rng.choice([left, right.alias])
        # WHERE in SQL is above all joins
        may_filter = through == "dataframe" or number == len(inputs) - 1
        where = f"{after}.v < 4" if may_filter and rng.random() < 0.25 else None
        joins.append(Join(left, how, _condition(rng, left, right.alias), where))
    return tuple(joins)


def _condition(rng: Random, x: str, y: str) -> str:
    equality = rng.choice(
        [
            *[f"{x}.k = {y}.k"] * 3,
            *[f"{x}.k = {y}.id"] * 3,
            f"{x}.k <=> {y}.k",
            f"{x}.id = {y}.id",
            f"{x}.id = {y}.k",
            f"{x}.id = {y}.id AND {x}.k = {y}.k",
            f"{x}.k + 1 = {y}.k + 1",
            "",
        ]
    )
    residual = rng.choice(
        [
            *[""] * 3,
            f"{x}.v <> {y}.v",
            f"{x}.v + {y}.v > 3",
            f"{y}.v < 3",
            f"{x}.w = 'a'",
            f"{x}.w <=> {y}.w",
            f"({x}.v < {y}.v OR {x}.w IS NULL)",
        ]
    )
    if not equality and not residual:
        residual = f"{x}.v < {y}.v"
    return " AND ".join(part for part in (equality, residual) if part)


@dataclass
class _Table:
    """A table, and the changes that lead from one of its states to the next."""

    rng: Random
    input: Input
    group: int = 0
    rows: list[Row] = field(default_factory=list)
    sequence: int = 0
    well_formed: bool = True
    removes_unknown: bool = False

    def __post_init__(self) -> None:
        # deletes of rows that are not there, and changes older than the stored row
        self.disturbed = self.rng.random() < 0.3
        self.hot = self.rng.random() < 0.3

    def copy(self) -> list[Row]:
        return [dict(row) for row in self.rows]

    def changes(self) -> list[Row]:
        count = self.rng.choice([0, 1, 3, 8])
        batch = [change for _ in range(count) for change in self._operation()]
        self.rng.shuffle(batch)
        return batch

    def _row(self, key: int | None = None) -> Row:
        draw, first = self.rng, self.group * GROUP
        key = first + draw.randrange(5) if key is None else key
        k = draw.choice([0, 0, 0, 0, 1] if self.hot else [None, 0, 1, 2, 3])
        return {
            "id": key,
            "k": None if k is None else first + k,
            "v": draw.randrange(6),
            "w": draw.choice(["a", "b", None]),
        }

    def _operation(self) -> list[Row]:
        draw = self.rng.random()
        if self.input.declared == "appends":
            self.rows.append(self._row())
            return [dict(self.rows[-1])]
        if self.disturbed and draw < 0.15:
            return self._disturbance()
        if self.rows and draw < 0.4:
            gone = self.rng.choice(self.rows)
            return self._write(gone, None)
        if self.rows and draw < 0.6:
            # there and back, or nothing but the sequence
            before = self.rng.choice(self.rows)
            if self.rng.random() < 0.3:
                return self._write(before, dict(before))
            between = self._row(before["id"])
            return self._write(before, between) + self._write(between, dict(before))
        if self.input.keyed:
            row = self._row()
            held = [each for each in self.rows if each["id"] == row["id"]]
            return self._write(held[0] if held else None, row)
        if self.rows and draw < 0.8:
            return self._write(self.rng.choice(self.rows), self._row())
        again = self.rows and self.rng.random() < 0.3
        return self._write(None, dict(self.rng.choice(self.rows)) if again else self._row())

    def _write(self, before: Row | None, after: Row | None) -> list[Row]:
        self.sequence += 1
        if before is not None:
            self.rows.remove(before)
        if after is not None:
            self.rows.append(after)
        return self._encoded(before, after, self.sequence)

    def _disturbance(self) -> list[Row]:
        """Changes that change nothing."""
        self.well_formed = False
        row = self._row()
        held = [each for each in self.rows if each["id"] == row["id"]]
        if held and self.input.keyed and self.input.declared != "images":
            return self._encoded(None, row, 0)
        self.sequence += 1
        if self.input.keyed and not held and self.input.declared != "images":
            self.removes_unknown = True
            return self._encoded(row, None, self.sequence)
        return []

    def _encoded(self, before: Row | None, after: Row | None, sequence: int) -> list[Row]:
        declared = self.input.declared
        if declared == "debezium":
            op = "d" if after is None else self.rng.choice("cur")
            shown = before if after is None or self.rng.random() < 0.5 else None
            value = {"op": op, "before": shown, "after": after, "source": {"lsn": sequence}}
            found: list[Row] = [{"value": value}]
            if after is None:
                found.append({"value": None})
            return found
        if declared == "upserts":
            row = after or {"id": before["id"] if before else None}
            return [{**row, "seq": sequence, "gone": after is None}] * self.rng.choice([1, 1, 2])
        changes = []
        update = before is not None and after is not None
        if before is not None:
            word = self._word("update_preimage" if update else "delete")
            changes.append({**before, "op": word})
        if after is not None:
            word = self._word("update_postimage" if update else "insert")
            changes.append({**after, "op": word})
        if declared == "sequenced":
            changes = [{**change, "seq": sequence} for change in changes]
            if update and self.rng.random() < 0.3:
                changes = changes[1:]
            if after is None and before is not None and self.rng.random() < 0.5:
                changes = [{"id": before["id"], "op": changes[0]["op"], "seq": sequence}]
            changes = changes * self.rng.choice([1, 1, 2])
        return changes

    def _word(self, kind: str) -> str:
        return self.rng.choice(WORDS[kind])
