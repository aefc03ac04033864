"""Random joins, cut at a random batch and changed at random.

The changed query runs a second time, from the first batch on. It shows which pairs the evolved
query emits. Each row of a preserved side is emitted: in pairs of one of the two queries, or
unmatched by one of them.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamjoin import evolve, impose_order
from tests.fingerprints import fingerprints
from tests.parameters import STATE_FORMATS
from tests.streams import Landing, Run

ROW = "id INT, k INT, t TIMESTAMP, v INT"
START = datetime(2024, 5, 4, 10)
LAG = timedelta(minutes=4)
# from these types, the stored flags decide those
TYPES = {
    "inner": ["inner"],
    "left": ["left", "inner"],
    "right": ["right", "inner"],
    "full": ["full", "left", "right", "inner"],
}
Row = dict[str, Any]


@dataclass(frozen=True)
class Query:
    """A join of the inputs `a` and `b`. The IDs of rows are unique."""

    how: str
    before: int
    after: int
    key: str
    most: int | None
    kind: str
    extra: bool
    exchanged: bool

    def of(self, world: World) -> DataFrame:
        a, b = (self._input(world, name) for name in "ab")
        bounds = (
            f"b.t >= a.t - INTERVAL '{self.before}' MINUTE "
            f"AND b.t <= a.t + INTERVAL '{self.after}' MINUTE"
        )
        on = f"a.{self.key} = b.{self.key} AND {bounds}"
        if self.most is not None:
            on += f" AND a.v + b.v < {self.most}"
        how = self.how
        if self.exchanged:
            how = {"left": "right", "right": "left"}.get(how, how)
            a, b = b, a
        # all columns are read, so that all are stored
        columns = ("a.id AS a_id", "b.id AS b_id", "a.v + a.k + b.v + b.k AS other")
        joined: DataFrame = a.streamJoin(b, on, how).selectExpr(*columns)
        return joined

    def _input(self, world: World, name: str) -> DataFrame:
        columns = ["id", f"CAST(k AS {self.kind}) AS k", "t", "v"]
        if self.extra:
            columns = ["'x' AS x", *reversed(columns)]
        rows = world.landings[name].stream().selectExpr(*columns)
        return impose_order(rows, "t", LAG).alias(name)


class World:
    def __init__(self, spark: SparkSession, folder: Path, draw: random.Random) -> None:
        self.landings = {n: Landing(spark, folder / n, ROW) for n in "ab"}
        self.draw, self.batch = draw, 0
        self.times: dict[str, dict[int, datetime]] = {"a": {}, "b": {}}

    def land(self) -> None:
        for name, landing in self.landings.items():
            landing.land(*(self._row(name) for _ in range(25)))
        self.batch += 1

    def close(self) -> None:
        for name, landing in self.landings.items():
            last = self._row(name)
            landing.land(last | {"t": "2024-05-06T00:00:00"})
            # it stays buffered
            del self.times[name][last["id"]]

    def _row(self, name: str) -> Row:
        # never below the watermark: no row is late in one query and in time in another
        time = START + timedelta(minutes=4 * self.batch, seconds=self.draw.randrange(240))
        number = len(self.times[name])
        self.times[name][number] = time
        draw = self.draw.randrange
        return {"id": number, "k": draw(4), "t": time.isoformat(), "v": draw(10)}


def drawn(draw: random.Random) -> tuple[Query, Query]:
    old = Query(
        how=draw.choice([*TYPES]),
        before=draw.choice([0, 5, 15]),
        after=draw.choice([5, 15, 30]),
        key="k",
        most=draw.choice([None, 12]),
        kind="INT",
        extra=False,
        exchanged=False,
    )
    changes: dict[str, Any] = {
        "how": draw.choice(TYPES[old.how]),
        "before": draw.choice([0, 5, 15]),
        "after": draw.choice([5, 15, 30]),
        "key": draw.choice(["k", "v"]),
        "most": draw.choice([None, 8, 16]),
        "kind": "BIGINT",
        "extra": True,
        "exchanged": True,
    }
    chosen = draw.sample(sorted(changes), draw.randrange(1, 5))
    return old, replace(old, **{name: changes[name] for name in chosen})


@pytest.mark.thorough
@pytest.mark.sampled
def test_random_change(
    number: int, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    draw = random.Random(f"{pytestconfig.option.evolve_seed} {number}")
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", str(draw.choice([1, 2, 5])))
    formats = draw.choice(STATE_FORMATS), draw.choice(STATE_FORMATS)

    def step(run: Run, state_format: str) -> None:
        session.conf.set("spark.sql.streamJoin.stateFormat", state_format)
        run.step()

    world = World(session, tmp_path, draw)
    old, new = drawn(draw)
    run = Run(old.of(world), tmp_path / "old")
    always = Run(new.of(world), tmp_path / "always")
    for _ in range(draw.randrange(1, 5)):
        world.land()
        step(run, formats[0])
        step(always, formats[0])
    out, known = ids(run), len(ids(always))
    before = fingerprints(run.checkpoint)
    session.conf.set("spark.sql.streamJoin.stateFormat", formats[1])
    evolve(run.checkpoint, tmp_path / "new", new.of(world))
    assert fingerprints(run.checkpoint) == before
    evolved = Run(new.of(world), tmp_path / "new")
    for _ in range(draw.randrange(1, 4)):
        world.land()
        step(evolved, formats[1])
        step(always, formats[0])
    world.close()
    step(evolved, formats[1])
    step(always, formats[0])
    label = f"{old} -> {new}"
    check_pairs(world, old, new, ids(evolved), ids(always)[known:], label)
    check_unmatched(world, old, new, Counter(out), ids(evolved), label)


def ids(run: Run) -> list[tuple[Any, ...]]:
    return [row[:2] for row in run.rows()]


def is_pair(row: tuple[Any, ...]) -> bool:
    return None not in row


def check_pairs(
    world: World, old: Query, new: Query, found: list[Any], expected: list[Any], label: str
) -> None:
    """The pairs of the query that was always the changed one, as far as their rows are stored."""
    got, want = (Counter(filter(is_pair, rows)) for rows in (found, expected))
    assert not got - want, label
    missing = want - got
    if new.before <= old.before and new.after <= old.after:
        assert not missing, label
    for a, b in missing:
        # one of the two had left: no row within the old interval could follow it
        distance = world.times["b"][b] - world.times["a"][a]
        outside = distance > timedelta(minutes=old.after) or -distance > timedelta(
            minutes=old.before
        )
        assert outside, (a, b, label)


def check_unmatched(
    world: World, old: Query, new: Query, out: Counter[Any], found: list[Any], label: str
) -> None:
    """Each row of a preserved side is emitted, and unmatched only once and without any pair."""
    rows = Counter(found)
    for side, name in enumerate("ab"):
        preserves = [query.how in ("full", ("left", "right")[side]) for query in (old, new)]
        if not preserves[1]:
            assert not [r for r in rows if r[1 - side] is None], label
            continue
        for number in world.times[name]:
            pairs = sum(n for r, n in (out + rows).items() if r[side] == number and is_pair(r))
            alone = (out + rows)[(number, None) if side == 0 else (None, number)]
            assert alone == (0 if pairs else 1), (name, number, label)
