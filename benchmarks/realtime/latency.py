"""One run of one engine: how long each match took."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.realtime import flink
from benchmarks.realtime.feed import Feed, create_topics, has_results, results
from tests.kafka.process import BrokerProcess

ENGINES: dict[str, tuple[str, int | None]] = {
    "real-time, buffer 5 ms": ("real-time", 5),
    "real-time": ("real-time", None),
    "micro-batch": ("micro-batch", None),
    "spark": ("spark", None),
    "flink, buffer 5 ms": ("flink", 5),
    "flink": ("flink", None),
}
"""The program of each engine, and the longest time in milliseconds that a row is buffered."""
QUANTILES = (0.0, 0.5, 0.9, 0.99, 1.0)
_Measured = tuple[list[tuple[int, float]], int, float]
"""Matches with their latencies, the first measured one, and how late the feed was at most."""
_DRAINED_S = 10
_STARTS_WITHIN_S = 300
_ENDS_WITHIN_S = 60
_ROOT = Path(__file__).resolve().parents[2]


def measure(
    path: str, engine: str, rate: int, seconds: int, warmup: int, batch: int
) -> dict[str, Any]:
    """Run an engine, and give the latencies of the pairs that are sent in the measured time."""
    program, buffer = ENGINES[engine]
    with TemporaryDirectory(prefix="streamjoin-latency-") as name:
        folder = Path(name)
        run = _through_kafka if path == "kafka" else _in_memory
        took, first, latest_ms = run(folder, program, rate, (warmup, seconds), batch, buffer)
        gaps = _gaps(folder / "progress.jsonl", batch if program == "real-time" else 0)
    end = first + seconds * rate // 2
    measured = [each for row, each in took if first <= row < end]
    rows = {row for row, _ in took if first <= row < end}
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "load": round(os.getloadavg()[0], 1),
        "path": path,
        "engine": engine,
        "rate": rate,
        "seconds": seconds,
        "batch": batch,
        "pairs": end - first,
        "missing": end - first - len(rows),
        "repeated": len(measured) - len(rows),
        "sent_late_ms": round(latest_ms, 1),
        "latency_ms": quantiles(measured),
        **gaps,
    }


def quantiles(values: Sequence[float]) -> list[float]:
    """Give the values at `QUANTILES`, by the nearest rank."""
    ordered = sorted(values)
    if not ordered:
        return []
    return [round(ordered[max(0, math.ceil(q * len(ordered)) - 1)], 2) for q in QUANTILES]


def _through_kafka(
    folder: Path,
    program: str,
    rate: int,
    seconds: tuple[int, int],
    batch: int,
    buffer: int | None,
) -> _Measured:
    with broker(folder) as kafka:
        if program == "flink":
            command = flink.command(kafka, folder / "checkpoint", 1000 * batch, buffer)
        else:
            command = job(folder, program, batch, buffer, "--kafka", kafka.bootstrap)
        feed = Feed(kafka, rate)
        with running(folder, command) as engine:
            feed.start()
            engine.run_until(lambda: has_results(kafka))
            engine.run(seconds[0])
            first = len(feed.sent)
            engine.run(seconds[1] + 1)
            feed.stop()
            engine.run(_DRAINED_S)
            if program != "flink":
                engine.finish()
        appended = results(kafka)
    return [(row, at - feed.sent[row]) for row, at in appended], first, feed.latest_ms


def _in_memory(
    folder: Path,
    program: str,
    rate: int,
    seconds: tuple[int, int],
    batch: int,
    buffer: int | None,
) -> _Measured:
    with running(folder, job(folder, program, batch, buffer, "--rate", str(rate))) as engine:
        begun = folder / "begun"
        engine.run_until(begun.exists)
        engine.run(seconds[0])
        first = round((time.time() - int(begun.read_text()) / 1000) * rate / 2)
        engine.run(seconds[1] + _DRAINED_S)
        engine.finish()
    lines = (folder / "latencies").read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines)
    return [(int(row), int(micros) / 1000) for row, micros in rows], first, 0


def job(folder: Path, program: str, batch: int, buffer: int | None, *more: str) -> list[str]:
    """Give the command of a query of Spark."""
    command = [sys.executable, "-m", "benchmarks.realtime.job", str(folder), program]
    command += ["--batch", f"{batch} seconds", *more]
    return command if buffer is None else [*command, "--buffer", str(buffer)]


@contextmanager
def broker(folder: Path) -> Iterator[BrokerProcess]:
    kafka = BrokerProcess(folder / "kafka")
    try:
        kafka.start()
        create_topics(kafka)
        yield kafka
    finally:
        kafka.remove()


class Program:
    """A process of an engine."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self._folder = folder
        self._process = process

    def run(self, seconds: float) -> None:
        """Let it run for some time.

        Raises RuntimeError, with the end of its log, if it ends before.
        """
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
            log = (self._folder / "log").read_text(errors="replace")[-4000:]
            raise RuntimeError(f"a process has ended:\n{log}")

    def run_until(self, reached: Callable[[], bool]) -> None:
        """Let it run until a condition holds; raises TimeoutError if it does not in time."""
        until = time.monotonic() + _STARTS_WITHIN_S
        while not reached():
            if time.monotonic() > until:
                raise TimeoutError(f"not within {_STARTS_WITHIN_S} s")
            self.run(0.5)

    def finish(self) -> None:
        """Let a job of Spark write what it has measured."""
        (self._folder / "stop").touch()
        self._process.wait(_ENDS_WITHIN_S)


@contextmanager
def running(folder: Path, command: Sequence[str]) -> Iterator[Program]:
    """Run a process until the end of the block."""
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, cwd=_ROOT, stdout=log, stderr=subprocess.STDOUT) as process,
    ):
        try:
            yield Program(folder, process)
        finally:
            process.kill()


def _gaps(progress: Path, length: int) -> dict[str, Any]:
    """Give the milliseconds from the start of a batch to that of the next, less its length.

    In micro-batches, these are the milliseconds of the batches. The last reports are known.
    """
    if not progress.exists():
        return {}
    reports = [json.loads(line) for line in progress.read_text(encoding="utf-8").splitlines()]
    starts = [datetime.fromisoformat(r["timestamp"].replace("Z", "+00:00")) for r in reports[1:]]
    gaps = [1000 * ((b - a).total_seconds() - length) for a, b in pairwise(starts)]
    if not gaps:
        return {}
    return {"gap_ms": [round(statistics.median(gaps)), round(max(gaps))], "gaps": len(gaps)}
