"""A query in real-time mode while it runs: doctor, explain, progress, and its state files."""

from __future__ import annotations

import itertools
import json
from datetime import datetime, timezone
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import streamjoin
from streamjoin._explained import plan_of
from streamjoin._watch import render
from tests.realtime.running import Sink, await_rows, needs_4_3, start
from tests.realtime.test_real_time import Streams, row
from tests.streams import wait_until


@needs_4_3
def test_first_batch_is_reported_as_running(realtime: SparkSession, tmp_path: Path) -> None:
    streams, sink = Streams(realtime), Sink(realtime, "first")
    query = start(streams.joined(), sink, str(tmp_path), "10 minutes")
    try:
        streams.orders.add(row("o", 1, 0))
        streams.deliveries.add(row("d", 1, 10))
        wait_until(query, lambda: bool(sink.rows()))
        seen = streamjoin.doctor(query).headline
        assert (seen.code, seen.severity) == ("NO_BATCH", "note")
        assert seen.headline.startswith("No batch has ended yet. Batch 0 has been running for ")
        assert seen.headline.endswith(" of 10 minutes; its rows are counted at its end.")
        assert render([]) == ["no batch has ended yet"]
        (planned,) = plan_of(query).joins
        assert planned.node.text.endswith(", real-time mode")
    finally:
        query.stop()


@needs_4_3
def test_reports_of_ended_batches(realtime: SparkSession, tmp_path: Path) -> None:
    streams, sink = Streams(realtime), Sink(realtime, "ended")
    query = start(streams.joined("left"), sink, str(tmp_path), "3 seconds")
    try:
        now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
        streams.orders.add(json.dumps({"oid": 1, "ot": now}))
        streams.deliveries.add(json.dumps({"did": 1, "dt": now}))
        await_rows(query, tmp_path, 2)
        wait_until(query, lambda: any(r["numInputRows"] for r in query.recentProgress))
        report = next(r for r in query.recentProgress if r["numInputRows"])
        assert report["durationMs"]["triggerExecution"] >= 3000
        (operator,) = report["stateOperators"]
        metrics = operator["customMetrics"]
        assert (metrics["inputRowsLeft"], metrics["joinedRows"]) == (1, 1)
        log = (tmp_path / "offsets" / str(report["batchId"])).read_text().splitlines()
        end = json.loads(log[1])["batchTimestampMs"] + 3000
        assert metrics["delay.ot"] == end - metrics["watermark.ot"]
        seen = streamjoin.doctor(query)
        assert [each.code for each in seen.findings] == ["HEALTHY"]
        assert " of 3 seconds; its rows are counted at its end." in seen.headline.headline
    finally:
        query.stop()


@needs_4_3
@pytest.mark.parametrize("every", [None, "500 milliseconds"])
def test_maintenance_deletes_state_files(
    every: str | None, realtime: SparkSession, tmp_path: Path
) -> None:
    """Spark 4.3 calls other methods of a state store provider than earlier versions."""
    session = realtime.newSession()
    session.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    streams, sink = Streams(session), Sink(session, f"maintained {every}")
    query = start(streams.joined(), sink, str(tmp_path), every)
    state = tmp_path / "state" / "0" / "0"
    numbers = itertools.count()

    def has_no_file_of_the_first_version() -> bool:
        number = next(numbers)
        streams.orders.add(row("o", number, number))
        names = {each.name.partition("_")[0] for each in state.glob("*.change")}
        return "1" not in names and len(names) > 0

    try:
        streams.orders.add(row("o", 0, 0))
        wait_until(query, lambda: any(state.glob("1_*.change")))
        wait_until(query, has_no_file_of_the_first_version)
    finally:
        query.stop()
