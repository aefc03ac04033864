"""Random queries of each kind of join, cut at a random batch and changed at random.

A model says what each batch emits, before and after the change. Kinds: chains of event-time joins,
as-of joins, temporal joins, ordered outputs, joins that emit late rows, and joins without a key.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from streamjoin import evolve
from tests.evolve.columns import Columns, changed_columns
from tests.evolve.kinds import END, INPUTS, LEFT_ONLY, Model, Query, World
from tests.evolve.nodes import LATE, Item
from tests.parameters import STATE_FORMATS
from tests.streams import Run

KINDS = ("chain", "as-of", "temporal", "ordered", "late", "no-key", "join")
# from these types, the stored flags decide those
TYPES = {
    "inner": ["inner"],
    "left": ["left", "inner", "semi", "anti"],
    "right": ["right", "inner"],
    "full": ["full", "left", "right", "inner"],
    "semi": ["semi", "anti"],
    "anti": ["anti", "semi"],
    "asof": ["asof", "left_asof"],
    "left_asof": ["asof", "left_asof"],
}
TIMED = ("inner", "left", "right", "full", "semi", "anti")


def drawn(draw: random.Random) -> tuple[Query, Query, dict[str, str], dict[str, Any]]:
    """A query, the changed one, renamed columns, and the values of added ones."""
    old = drawn_query(draw)
    changes = drawn_changes(draw, old)
    chosen = draw.sample(sorted(changes), min(len(changes), draw.randrange(1, 4)))
    new = replace(old, **{name: changes[name] for name in chosen if name != "columns"})
    types = (new.how, new.below, new.above)
    if (new.is_as_of and new.below) or any(how in LEFT_ONLY for how in types):
        new = replace(new, late=False)
    if new.how in LEFT_ONLY:
        new = replace(new, exchanged=False)
    if new.late:
        # a late row has no position in an order
        new = replace(new, order=None)
    if new.order is not None:
        # a union would not keep it
        new = replace(new, beside="")
    rename: dict[str, str] = {}
    if "columns" in chosen:
        more = ("k", "t", "id", *(["n"] if old.kind == "temporal" else []))
        columns, rename = changed_columns(draw, old.columns, more=more)
        new = replace(new, columns=columns)
    is_added = any("x" in new.columns[i].names for i in new.shown)
    return old, new, rename, {"x": 7} if is_added and draw.random() < 0.5 else {}


def drawn_query(draw: random.Random) -> Query:
    kind = draw.choice(KINDS)
    columns = {name: Columns() for name in INPUTS}
    hows = {"as-of": ("asof", "left_asof"), "temporal": ("asof", "left_asof"), "late": TIMED[:4]}
    how = draw.choice(hows.get(kind, TIMED))
    old = Query(kind, how, columns, draw.choice([0, 5, 15]), draw.choice([5, 15, 30]))
    old = replace(old, most=draw.choice([None, 12]), late=kind == "late")
    if kind == "no-key":
        return replace(old, key=None)
    if kind == "ordered":
        how = draw.choice(["alone", "inner", "left", "semi"])
        order = "total" if how == "alone" else draw.choice(["total", "total", "partition"])
        return replace(old, how=how, order=order)
    joins = {
        "chain": draw.choice([["below"], ["above"], ["below", "above"]]),
        "late": draw.sample(["below", "above"], draw.randrange(2)),
    }.get(kind, [])
    types = TIMED[:4] if kind == "late" else TIMED
    chosen: dict[str, Any] = {name: draw.choice(types) for name in joins}
    return replace(old, **chosen)


def drawn_changes(draw: random.Random, old: Query) -> dict[str, Any]:
    """A change of each part of a query that allows one."""
    changes: dict[str, Any] = {"moved": True, "lag": draw.choice([1, 8])}
    if old.order is None:
        changes["beside"] = draw.choice(["ef", "Af", "eA"])
    if old.order != "partition":
        changes["columns"] = True
    for name in ("below", "above"):
        how = getattr(old, name)
        types = TIMED[:4] if old.late else TIMED
        if how is not None:
            changes[name] = draw.choice([*TYPES[how], None])
        elif old.order != "partition" and not (name == "below" and old.kind == "temporal"):
            changes[name] = draw.choice(types)
    if old.how == "alone":
        return changes
    changes["how"] = draw.choice(TYPES[old.how])
    if old.how not in LEFT_ONLY and old.order is None:
        changes["late"] = not old.late
    if old.is_as_of:
        return changes
    if old.order is None and not old.late:
        changes["order"] = "total"
    if old.how not in LEFT_ONLY:
        changes["key"] = draw.choice(["k", "v"])
        if old.order != "partition":
            changes["exchanged"] = True
    return changes | {
        "before": draw.choice([0, 5, 15]),
        "after": draw.choice([5, 15, 30]),
        "reach": draw.choice([3, 10, 20]),
        "most": draw.choice([None, 8, 16]),
        "only": draw.choice([3, 7]),
    }


@pytest.mark.thorough
@pytest.mark.sampled
def test_random_kind(
    number: int, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    draw = random.Random(f"kinds {pytestconfig.option.evolve_seed} {number}")
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", str(draw.choice([1, 2, 3])))
    session.conf.set("spark.sql.streamJoin.stateFormat", draw.choice(STATE_FORMATS))
    world = World(session, tmp_path, draw)
    old, new, rename, fill = drawn(draw)
    label = f"{old}\n-> {new}\nrename={rename}, fill={fill}"
    run, model = Run(old.of(world), tmp_path / "old"), Model(old, world)
    pending: list[Item] = []
    ordered: list[datetime] = []

    def step(run: Run, model: Model, last: bool = False) -> None:
        world.land(model.query, last)
        pending.extend(model.step())
        for rows in run.step().values():
            for row in rows:
                values = json.loads(row[0])
                take(frozenset(values.items()), model)
                if model.query.order == "total" and "a_id" in values:
                    ordered.append(world.times[values["a_id"]])
        assert ordered == sorted(ordered), f"{ordered} in batch {world.batch}: {label}"
        if model.query.order is None or last:
            missing = [model.text(item) for item in pending if not is_last(item)]
            assert not missing, f"missing {missing} in batch {world.batch}: {label}"

    def take(row: Any, model: Model) -> None:
        at = next((n for n, item in enumerate(pending) if model.text(item) == row), None)
        assert at is not None, f"unexpected {dict(row)} in batch {world.batch}: {label}"
        del pending[at]

    for _ in range(draw.randrange(1, 4)):
        step(run, model)
    changed, now = new.of(world), Model(new, world)
    if "order" in model.nodes:
        model.nodes["order"].held += pending
        pending.clear()
    is_late = now.continues(model, fill)
    sources: dict[str, str | None] = {}
    if new.moved:
        sources[str(tmp_path / "moved")] = str(tmp_path / "a")
    if model.sources.keys() - now.sources.keys():
        added = now.sources.keys() - model.sources.keys() - {"A"}
        sources |= {str(tmp_path / name): None for name in added}
    told: dict[str, Any] = {"rename": rename, "fill": fill, "sources": sources}
    if is_late:
        with pytest.raises(AnalysisException, match="LATE_ABOVE"):
            evolve(run.checkpoint, tmp_path / "new", changed, **told)
        return
    try:
        evolve(run.checkpoint, tmp_path / "new", changed, **told)
    except AnalysisException as refused:
        kept = ((how, new.types[name]) for name, how in old.types.items() if name in new.types)
        if "OTHER_JOIN_TYPE" in str(refused) and any(now not in TYPES[how] for how, now in kept):
            return
        raise
    evolved = Run(changed, tmp_path / "new")
    for last in (False, False, True)[draw.randrange(2) :]:
        step(evolved, now, last)


def is_last(item: Item) -> bool:
    """Whether an ordered output still holds the item when the test ends."""
    return any("t" in row and row["t"] >= END for n, row in item.items() if n != LATE)
