"""The queries that are killed, and the streams that they read."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.differential.case import Case, Input, Join, TimeColumn, inputs_of
from tests.differential.rows import arrivals

SECOND_US = 1_000_000
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
SCENARIOS: dict[str, Join] = {
    "full_join": FULL,
    "chain": CHAIN,
    "no_equality": NO_EQUALITY,
    "groups": FULL,
}


def last_rows(case: Case) -> Case:
    """The as-of join over the first two inputs of a case."""
    return replace(case, tree=LAST, inputs=case.inputs[:2])


def scenario(name: str, seed: int, steps: int) -> Case:
    rng = Random(f"{name}/{seed}")
    aliases = inputs_of(SCENARIOS[name])
    per = "g" if name == "groups" else None
    inputs = tuple(
        Input(alias, "int", (TimeColumn("t", "timestamp", rng.randint(2, 8) * SECOND_US, per=per),))
        for alias in aliases
    )
    case = Case(
        seed=seed,
        index=0,
        tick_us=SECOND_US,
        number_base=0,
        qualified=True,
        through="dataframe",
        feed="files",
        files_per_trigger=1,
        partitions=2,
        settings={
            # The checkpoint must still contain the offsets of every batch at the end.
            "spark.sql.streaming.minBatchesToRetain": "100000",
            # Maintenance runs all the time.
            "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
            "spark.sql.streaming.stateStore.minDeltasForSnapshot": "1",
            # Every key first seen in a task is spread over the tasks.
            "spark.sql.streamJoin.hotKeyRows": "1",
            "spark.sql.streamJoin.hotKeyBuckets": "0",
        },
        inputs=inputs,
        tree=SCENARIOS[name],
        steps=(),
        features=(name,),
    )
    drawn = arrivals(rng, case, steps)
    # A step in which all inputs are idle would land no file and thus run no batch.
    return replace(case, steps=tuple(step or {alias: [] for alias in aliases} for step in drawn))
