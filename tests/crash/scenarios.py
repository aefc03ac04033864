"""The queries that are killed, with the streams that they read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import Literal

from tests.differential.case import Case, Input, Join, Key, Step, TimeColumn, inputs_of
from tests.differential.rows import KEYS, arrivals

SECOND_US = 1_000_000
Feed = Literal["files", "topics"]
FULL = Join(
    "a",
    "b",
    "full",
    (
        "a.k = b.k",
        "b.t BETWEEN a.t - INTERVAL 5 SECONDS AND a.t + INTERVAL 8 SECONDS",
        "a.p <> b.p OR b.q IS NULL",
    ),
)
CHAIN = Join(
    Join("a", "b", "left", ("a.k = b.k", "b.t >= a.t", "b.t <= a.t + INTERVAL 12 SECONDS")),
    "c",
    "full",
    ("a.k = c.k", "c.t BETWEEN a.t - INTERVAL 2 SECONDS AND a.t + INTERVAL 6 SECONDS"),
)
NO_EQUALITY = Join(
    "a",
    "b",
    "full",
    ("b.t BETWEEN a.t - INTERVAL 1 SECONDS AND a.t + INTERVAL 2 SECONDS", "a.p <> b.p"),
)
LAST = Join("a", "b", "left", ("a.k = b.k", "b.t <= a.t"))
SCENARIOS: dict[str, Join] = {"full_join": FULL, "chain": CHAIN, "no_equality": NO_EQUALITY}


def last_rows(case: Case) -> Case:
    """The as-of join over the first two inputs of a case."""
    return replace(case, tree=LAST, inputs=case.inputs[:2])


def scenario(name: str, seed: int, steps: int, feed: Feed = "files") -> Case:
    rng = Random(f"{name}/{seed}")
    aliases = inputs_of(SCENARIOS[name])
    # the key of a message is the text of its row's
    key: Key = "string" if feed == "topics" else "int"
    inputs = tuple(
        Input(alias, key, (TimeColumn("t", "timestamp", rng.randint(2, 8) * SECOND_US),))
        for alias in aliases
    )
    case = Case(
        seed=seed,
        index=0,
        tick_us=SECOND_US,
        number_base=0,
        qualified=True,
        through="dataframe",
        feed=feed,
        files_per_trigger=1,
        partitions=2,
        settings={
            # What each batch consisted of must still be in the checkpoint at the end.
            "spark.sql.streaming.minBatchesToRetain": "100000",
            # Maintenance has something to do all the time.
            "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
            "spark.sql.streaming.stateStore.minDeltasForSnapshot": "1",
            # Every key that is seen first in a task is spread over the tasks.
            "spark.sql.streamJoin.hotKeyRows": "1",
            "spark.sql.streamJoin.hotKeyBuckets": "0",
        },
        inputs=inputs,
        tree=SCENARIOS[name],
        steps=(),
        features=(name,),
    )
    drawn = arrivals(rng, case, steps)
    if feed == "topics":
        drawn = tuple(_going_on(rng, case, drawn))
    # A step in which all inputs are idle would bring no file, hence no batch.
    return replace(case, steps=tuple(step or {alias: [] for alias in aliases} for step in drawn))


def _going_on(rng: Random, case: Case, steps: Iterable[Step]) -> Iterator[Step]:
    """Let each step end with a row later than all before: of other partitions' rows it proves more.

    So whatever batch is the last one owes what it has proved to one without rows.
    """
    latest = dict.fromkeys(case.fed, 0)
    for number, step in enumerate(steps):
        going = {}
        for alias in case.fed:
            rows = step.get(alias, [])
            times = (row["t"] for row in rows if row["t"] is not None)
            latest[alias] = max([latest[alias], *times]) + 1
            key = rng.choice(KEYS[case.input(alias).key])
            last = {"id": f"{alias}{number}.last", "k": key, "g": 0, "p": 0, "q": 0}
            going[alias] = [*rows, {**last, "t": latest[alias]}]
        yield going
