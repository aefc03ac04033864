"""A checkpoint with another number of partitions: the query goes on as if it had begun with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamjoin import pending, rescale
from tests.fingerprints import fingerprints
from tests.orders import Shop
from tests.streams import Run


def moved(run: Run, partitions: int) -> list[str]:
    """Continue a query from a new checkpoint."""
    before = fingerprints(run.checkpoint)
    new = run.checkpoint.with_name(f"{run.checkpoint.name}-{partitions}")
    told = rescale(run.checkpoint, new, partitions)
    assert fingerprints(run.checkpoint) == before
    run.checkpoint = new
    return told


def test_an_event_time_join(shop: Shop) -> None:
    run = shop.joined("full")
    shop.order(*((i, f"10:{i:02}") for i in range(40)))
    shop.deliver((1, "10:30"), (90, "10:25"))
    run.step()
    told = moved(run, 7)
    assert "from 2 to 7 partitions" in told[0]
    shop.deliver((2, "10:40"))
    print(run.step())
    moved(run, 1)
    shop.order((80, "14:00"))
    shop.deliver((70, "14:30"))
    print(run.step())
    print(pending(run.checkpoint).count())
    print(run.progress)
