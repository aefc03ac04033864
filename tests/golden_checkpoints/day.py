"""Runs a day of a case, with a restart in the middle."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tests.golden_checkpoints.cases import CLOSING, Batch, Case
from tests.streams import Landing, Run

PARTITIONS = 2
FORMATS = {"segments": 1, "rocksdb": 1}
"""The state formats, and the version of each that the code writes."""


class Day:
    """A case whose new inputs land in a folder; earlier inputs landed elsewhere."""

    def __init__(
        self, session: SparkSession, case: Case, folder: Path, landed: list[Batch] | None = None
    ) -> None:
        self.session = session
        self.case = case
        self.inputs = {
            name: Landing(session, folder / name, schema, sum(name in b for b in landed or []))
            for name, schema in case.schemas.items()
        }
        files = {"maxFilesPerTrigger": "1"} if case.one_start else {}
        streams = {name: side.stream(**files) for name, side in self.inputs.items()}
        self.run = Run(case.query(streams), folder / "checkpoint")

    def play(self, batches: list[Batch]) -> None:
        """Run each batch in a separate start."""
        for batch in batches:
            self.land(batch)
            self.run.step()

    def play_in_one_start(self, batches: list[Batch]) -> None:
        for batch in batches:
            self.land(batch)
        self.run.step()

    def play_until_merged(self, batches: list[Batch]) -> None:
        """Run all batches in one start, and wait until maintenance has merged their files."""
        query = self.run.start(processingTime="0 seconds")
        try:
            for batch in batches:
                self.land(batch)
                query.processAllAvailable()
            self._wait_for_maintenance(query)
        finally:
            query.stop()

    def land(self, batch: Batch) -> None:
        for name, rows in batch.items():
            self.inputs[name].land(*rows)

    def _wait_for_maintenance(self, query: StreamingQuery) -> None:
        deadline = time.monotonic() + 120
        folders = [self.run.checkpoint / "state" / "0" / str(p) for p in range(PARTITIONS)]
        while not all([*f.glob("*.whole"), *f.glob("*.zip")] for f in folders):
            if time.monotonic() > deadline:
                raise TimeoutError(f"no maintenance of {self.run.checkpoint}")
            time.sleep(0.1)


def decided(case: Case, rows: list[tuple[Any, ...]]) -> list[str]:
    """Rows except those that only advance watermarks; for changes, the remaining rows."""
    if case.changes:
        left: Counter[tuple[Any, ...]] = Counter()
        for *row, op in rows:
            stays = (*row, "insert")
            left[stays] += 1 if op in ("insert", "update_postimage") else -1
        assert min(left.values()) >= 0
        rows = list(left.elements())
    return sorted(json.dumps(row) for row in rows if CLOSING not in row)


def answer(session: SparkSession, case: Case, batches: list[Batch]) -> list[str]:
    """The batch join of all rows of these batches."""

    def table(name: str, schema: str) -> DataFrame:
        rows = [json.dumps(row) for batch in batches for row in batch.get(name, [])]
        text = session.createDataFrame([(row,) for row in rows], "value STRING")
        parsed = text.selectExpr(f"from_json(value, '{schema}') AS row")
        return parsed.select("row.*")

    inputs = {name: table(name, schema) for name, schema in case.schemas.items()}
    given = (case.over_tables or case.query)(inputs).collect()
    return decided(case, [tuple(row) for row in given])


@contextmanager
def settings(session: SparkSession, case: Case, state_format: str) -> Iterator[None]:
    """Configure the session as when the checkpoint of a case was written."""
    wanted = {
        "spark.sql.streamJoin.stateFormat": state_format,
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.sql.session.timeZone": "UTC",
        **case.settings,
    }
    before = {key: session.conf.get(key, None) for key in wanted}
    for key, value in wanted.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, old)
