"""A query in real-time mode at a steady rate: what of the process and of the checkpoint grows.

An outer join from Kafka to Kafka: one order of three has no delivery. The state is bounded by the
interval, so after the first minutes each figure stays in a range.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.realtime.feed import Feed, results
from benchmarks.realtime.latency import broker, job, running
from tests.soak.growth import trend

Sample = dict[str, Any]
_UNDELIVERED = 3
_MB = 1024 * 1024
_COLUMNS: dict[str, Callable[[Sample], str]] = {
    "minute": lambda v: f"{v['seconds'] / 60:.0f}",
    "batch": lambda v: f"{v['batch']}",
    "rows of the batch": lambda v: f"{v['rows']:,}",
    "buffered rows": lambda v: f"{v['buffered']:,}",
    "heap after GC, MB": lambda v: f"{v['heap'] / _MB:.1f}",
    "resident, MB": lambda v: f"{v['resident'] / _MB:.0f}",
    "threads": lambda v: f"{v['threads']}",
    "open files": lambda v: f"{v['open_files']}",
    "files of the checkpoint": lambda v: f"{v['checkpoint_files']}",
    "MB of the checkpoint": lambda v: f"{v['checkpoint_bytes'] / _MB:.1f}",
}
_BOUNDED = ("heap", "resident", "threads", "open_files", "checkpoint_files", "checkpoint_bytes")
_DRAINED_S = 10


def run(file: Path, rate: int, minutes: float, every: float, batch: int) -> str:
    """Run the query, keep the samples in the file, and give them as a table."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="streamjoin-steady-") as name:
        folder = Path(name)
        with broker(folder) as kafka:
            feed = Feed(kafka, rate, _UNDELIVERED)
            where = ("--kafka", kafka.bootstrap, "--vitals", str(every))
            with running(folder, job(folder, "real-time", batch, None, *where)) as query:
                feed.start()
                until = time.monotonic() + 60 * minutes
                while (left := until - time.monotonic()) > 0:
                    query.run(min(left, every))
                    # a run that is interrupted leaves its samples
                    if (folder / "vitals.jsonl").exists():
                        shutil.copy(folder / "vitals.jsonl", file)
                feed.stop()
                query.run(_DRAINED_S)
                query.finish()
            matched = [row for row, _ in results(kafka)]
        shutil.copy(folder / "vitals.jsonl", file)
    samples = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    pairs = sum(at > 0 for at in feed.sent)
    counted = f"{len(set(matched))} of {pairs} pairs emitted, {len(matched)} rows in the topic"
    return "\n".join([table(samples), "", *growing(samples), counted])


def table(samples: Sequence[Sample]) -> str:
    shown = [sample for sample in samples if sample["batch"] is not None]
    lines = [list(_COLUMNS), ["---"] * len(_COLUMNS)]
    lines += [[show(sample) for show in _COLUMNS.values()] for sample in shown]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def growing(samples: Sequence[Sample]) -> list[str]:
    """Say of each figure whether it grows; a short run does not tell."""
    said = []
    for name in _BOUNDED:
        found = trend([sample[name] for sample in samples])
        verdict = "too few samples" if found is None else "grows" if found.grows(0) else "flat"
        said.append(f"{name}: {verdict}")
    return said
