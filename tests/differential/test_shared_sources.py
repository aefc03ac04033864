"""Random queries with shared sources, in batches without rows of some, against Spark's batch join.

Spark optimizes each batch by the rows that it has. So the plan of a query differs between batches.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.differential.shared_sources import ROW, SharedSources
from tests.streams import Landing, Run

ADDED = {"insert", "update_postimage"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.option
    seeds = range(option.diff_seed, option.diff_seed + option.diff_shared)
    metafunc.parametrize("seed", seeds)


def land(rng: Random, landing: Landing) -> None:
    landing.land(
        *(
            {
                "id": rng.randrange(4),
                "t": f"2024-05-04T1{rng.randrange(3)}:{rng.randrange(60):02d}:00Z",
                "v": rng.choice([None, 1, 2, 3, 4, 5, 6]),
            }
            for _ in range(6)
        )
    )


def table(rows: list[tuple[object, ...]]) -> Counter[tuple[object, ...]]:
    """The rows of a table after changes, whose last value is the kind of the change."""
    found: Counter[tuple[object, ...]] = Counter()
    for *row, kind in rows:
        found[tuple(row)] += 1 if kind in ADDED else -1
    return found


@pytest.mark.parametrize("kind", ["event time", "changes"])
def test_each_batch_and_restart_gives_the_rows_of_the_batch_query(
    spark: SparkSession, tmp_path: Path, kind: str, seed: int
) -> None:
    rng = Random(f"{kind} {seed}")
    landings = {name: Landing(spark, tmp_path / name, ROW) for name in "abc"}

    def query(sources: dict[str, DataFrame]) -> DataFrame:
        shared = SharedSources(spark, Random(seed), sources)
        return shared.by_event_time() if kind == "event time" else shared.of_changes()

    rows: list[tuple[object, ...]] = []
    for _ in range(4):
        for name in rng.sample("abc", rng.choice([1, 1, 2])):
            land(rng, landings[name])
        # a new DataFrame for each start, as a program that starts again makes one
        run = Run(query({n: of.stream() for n, of in landings.items()}), tmp_path / "checkpoint")
        run.step()
        rows += run.rows()
    read = spark.read.schema(ROW)
    batch = query({name: read.json(str(of.folder)) for name, of in landings.items()})
    expected = Counter(map(tuple, batch.collect()))
    found = table(rows) if kind == "changes" else Counter(rows)
    assert found == expected
