"""Random changelog joins, each in several variations that must not change the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import SparkSession

from tests.differential.changelog_plans import ChangelogFeed, expected, stream
from tests.differential.changelogs import Batch, ChangelogCase, generate
from tests.metamorphic.variations import EXCLUDED, OPTIMIZER_RULES, OURS
from tests.streams import Run

ADDED = ("insert", "update_postimage")
Table = Counter[tuple[Any, ...]]
Variation = Callable[[ChangelogCase, Random], ChangelogCase]


def draw(seed: int, index: int) -> ChangelogCase:
    """A case whose result does not depend on its batches: no delete of a row that is not there."""
    numbers = (2_000_000 + index * 100 + n for n in range(100))
    return next(case for n in numbers if (case := generate(seed, n)).well_formed)


def _setting(**settings: str) -> Variation:
    return lambda case, rng: replace(case, settings={**case.settings, **settings})


def _one_batch(case: ChangelogCase, rng: Random) -> ChangelogCase:
    together: Batch = {}
    for start in case.starts:
        for batch in start:
            for alias, rows in batch.items():
                together.setdefault(alias, []).extend(rows)
    return replace(case, starts=((together,),))


def _input_by_input(case: ChangelogCase, rng: Random) -> ChangelogCase:
    """The changes of each input in batches of their own."""
    starts = tuple(
        tuple(
            {a: rows if a == alias else [] for a, rows in batch.items()}
            for batch in start
            for alias in batch
        )
        for start in case.starts
    )
    return replace(case, starts=starts)


def _start_for_each_batch(case: ChangelogCase, rng: Random) -> ChangelogCase:
    return replace(case, starts=tuple((batch,) for start in case.starts for batch in start))


def _one_start(case: ChangelogCase, rng: Random) -> ChangelogCase:
    return replace(case, starts=(tuple(batch for start in case.starts for batch in start),))


VARIATIONS: dict[str, Variation] = {
    "the plan itself": lambda case, rng: case,
    "one batch": _one_batch,
    "input by input": _input_by_input,
    "a start for each batch": _start_for_each_batch,
    "one start": _one_start,
    "one partition": _setting(**{"spark.sql.shuffle.partitions": "1"}),
    "five partitions": _setting(**{"spark.sql.shuffle.partitions": "5"}),
    "segments": _setting(**{"spark.sql.streamJoin.stateFormat": "segments"}),
    "rocksdb": _setting(**{"spark.sql.streamJoin.stateFormat": "rocksdb"}),
    "state on the disk": _setting(
        **{
            "spark.sql.streamJoin.stateFormat": "segments",
            "spark.sql.streamJoin.segmentMemory": "1",
        }
    ),
    "without generated code": _setting(
        **{"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    ),
    "without our rules": _setting(
        **{EXCLUDED: ",".join(r for r in OPTIMIZER_RULES.values() if r.startswith(OURS))}
    ),
    "without Spark's rules": _setting(
        **{EXCLUDED: ",".join(r for r in OPTIMIZER_RULES.values() if not r.startswith(OURS))}
    ),
    **{f"without {name}": _setting(**{EXCLUDED: rule}) for name, rule in OPTIMIZER_RULES.items()},
}


def wanted(case: ChangelogCase, spark: SparkSession) -> Table:
    """The batch join of the tables after the last batch."""
    session = spark.newSession()
    last = len(case.tables) - 1
    return Counter(
        tuple(row) for number, *row in expected(case, session).collect() if number == last
    )


def problems(
    case: ChangelogCase, name: str, want: Table, spark: SparkSession, folder: Path
) -> list[str]:
    other = VARIATIONS[name](case, Random(f"{case.name}/{name}"))
    session = spark.newSession()
    for key, value in other.settings.items():
        session.conf.set(key, value)
    feed = ChangelogFeed(other, session, folder / "source")
    try:
        run = Run(stream(other, session, feed.streams()), folder / "checkpoint")
        for start in other.starts:
            for batch in start:
                feed.land(batch)
            run.step()
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    table: Table = Counter()
    for number in sorted(run.batches):
        for *row, kind in run.batches[number]:
            table[tuple(row)] += 1 if kind in ADDED else -1
    table = Counter({row: n for row, n in table.items() if n})
    if table == want:
        return []
    missing = {row: n - table[row] for row, n in want.items() if n > table[row]}
    superfluous = {row: n - want[row] for row, n in table.items() if n > want[row]}
    negative = {row: n for row, n in table.items() if n < 0}
    return [f"missing {missing}, superfluous {superfluous}, taken back too often {negative}"]
