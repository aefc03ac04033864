"""A sink fails: the batch runs again with the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tests.faults.day import LAG, Day, decided
from tests.orders import Shop

PHASES = ("before the rows", "in a task", "before the write", "after the write")


class FailingSink:
    """Keeps the rows of each attempt of a batch, and fails once in a phase."""

    def __init__(self) -> None:
        self.attempts: dict[int, list[list[tuple[Any, ...]]]] = {}
        self.phase: str | None = None

    def __call__(self, batch: DataFrame, number: int) -> None:
        self._may_fail("before the rows")
        if self.phase == "in a task":
            self.phase = None
            batch.select(F.raise_error(F.lit("the sink fails: in a task"))).collect()
        rows = sorted((tuple(row) for row in batch.collect()), key=str)
        self._may_fail("before the write")
        self.attempts.setdefault(number, []).append(rows)
        self._may_fail("after the write")

    def _may_fail(self, phase: str) -> None:
        if self.phase == phase:
            self.phase = None
            raise RuntimeError(f"the sink fails: {phase}")


def test_batch_repeats_its_rows_after_each_failure_of_the_sink(shop: Shop, tmp_path: Path) -> None:
    day, sink = Day(shop, "sink"), FailingSink()
    joined = shop.joined("full", lag=LAG).result

    def step() -> None:
        writer = joined.writeStream.foreachBatch(sink).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        query.awaitTermination()

    for phase in (None, *PHASES):
        day.land()
        sink.phase = phase
        if phase is not None:
            with pytest.raises(StreamingQueryException, match=f"the sink fails: {phase}"):
                step()
        step()
    day.close()
    step()
    assert sorted(map(len, sink.attempts.values()))[-1] == 2
    assert all(rows == each[0] for each in sink.attempts.values() for rows in each)
    assert decided(row for rows, *_ in sink.attempts.values() for row in rows) == day.answer()
