"""Joins whose rows expire, merged by the key of the result: the table after every batch.

One join keeps the results of expired rows. A chain retracts them.

An eighth of ``--diff-changelogs N`` is how many, ``--diff-changelog N`` runs one alone.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.parameters import STATE_FORMATS
from tests.streams import Landing, Run, planned_at

TTL = 30
"""The minutes after which an order and a customer expire."""
Row = tuple[int, ...]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.option
    one = option.diff_changelog
    chosen = range(max(1, option.diff_changelogs // 8)) if one is None else [one]
    metafunc.parametrize("case", [f"{option.diff_seed}-{number}" for number in chosen])


class Feed:
    """An input with a key, its rows and when they were written, and the changes of a batch."""

    def __init__(self, rng: Random, width: int, expires: bool) -> None:
        self.rng, self.width, self.expires = rng, width, expires
        self.rows: dict[int, Row] = {}
        self.written: dict[int, int] = {}
        self.sequence = 0
        self.touched: dict[int, Row] = {}

    def batch(self, minute: int) -> list[dict[str, Any]]:
        self.touched = {}
        changes = []
        for key in range(3):
            before = self.rows.get(key)
            if self.rng.random() < 0.5:
                continue
            self.sequence += 1
            # an update that changes nothing is void
            after = (key, self.rng.randrange(3), self.sequence)[: 1 + self.width]
            if after == before:
                continue
            if before:
                changes.append(self._change("update_preimage", before))
            if before and self.rng.random() < 0.4:
                changes[-1]["op"] = "delete"
                self.touched[key] = self.rows.pop(key)
                continue
            changes.append(self._change("update_postimage" if before else "insert", after))
            self.rows[key], self.written[key], self.touched[key] = after, minute, after
        return changes

    def _change(self, kind: str, row: Row) -> dict[str, Any]:
        names = ("id", "k", "v")[: len(row)]
        return {**dict(zip(names, row, strict=True)), "op": kind, "n": self.sequence}

    def stored(self, minute: int) -> dict[int, Row]:
        over = {key for key in self.rows if self.expires and self.written[key] + TTL < minute}
        return {key: row for key, row in self.rows.items() if key not in over}


def joined(
    table: dict[int, Any],
    left: dict[int, Any],
    again: set[int],
    right: Feed,
    minute: int,
    how: str,
) -> None:
    """Join rows ``id, k`` and more columns again: these, and those whose partner has changed.

    A result has the id, the k of the partner and the further columns.
    """
    for key in again | {key for key, row in left.items() if row[1] in right.touched}:
        table.pop(key, None)
        if key in left:
            number, k, *more = left[key]
            partner = right.stored(minute).get(k)
            if partner or how == "left":
                table[key] = (number, partner[1] if partner else None, *more)


def test_merged_table_equals_the_model(case: str, spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(f"merged changelogs/{case}")
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", rng.choice(["1", "2"]))
    session.conf.set("spark.sql.streamJoin.stateFormat", rng.choice(STATE_FORMATS))
    hows = rng.choice(["inner", "left"]), rng.choice(["inner", "left"])
    schema = "id INT, k INT, v INT, op STRING, n INT"
    # without a column of its own, the result of an order may be equal under another join key
    narrow = rng.random() < 0.5
    orders, customers = Feed(rng, 1 if narrow else 2, expires=True), Feed(rng, 1, expires=True)
    regions = Feed(rng, 1, expires=False)
    feeds = {"o": orders, "c": customers, "r": regions}
    landings = {name: Landing(session, tmp_path / name, schema) for name in feeds}
    o, c, r = (
        landings[name].stream().fromChangelog(key="id", op="op", sequence_by="n").alias(name)
        for name in feeds
    )
    chain = rng.random() < 0.5
    result = o.streamJoin(
        c,
        "o.k = c.id",
        hows[0],
        state_ttl=f"{TTL} minutes",
        on_expiry="retract" if chain else "keep",
    )
    if chain:
        result = result.streamJoin(r, "c.k = r.id", hows[1])
    own = [] if narrow else ["o.v"]
    result = result.select("o.id", "r.k" if chain else "c.k", *own, "_change_type")
    if rng.random() < 0.3:
        result = result.toUpserts("id")
    run = Run(result, tmp_path / "checkpoint")
    middle: dict[int, Any] = {}
    expected: dict[int, Any] = {}
    table: dict[int, Any] = {}
    history = []
    for number in range(6):
        minute = number * 20
        changes = {name: feed.batch(minute) for name, feed in feeds.items()}
        history.append(changes)
        for name, landing in landings.items():
            landing.land(*changes[name])
        out = planned_at(run, minute)
        for row in sorted(out, key=lambda row: row[-1] in ("insert", "update_postimage")):
            if row[-1] in ("insert", "update_postimage"):
                table[row[0]] = tuple(row[:-1])
            else:
                table.pop(row[0], None)
        stored, every = orders.stored(minute), {0, 1, 2}
        if chain:
            joined(middle, stored, every, customers, minute, hows[0])
            joined(expected, middle, every, regions, minute, hows[1])
        else:
            joined(expected, stored, set(orders.touched), customers, minute, hows[0])
        assert table == expected, f"batch {number}, {hows}, {history}, {out}"
