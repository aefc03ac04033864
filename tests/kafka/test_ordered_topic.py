"""A reader of an ordered topic removes duplicates of an at-least-once sink by one position."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.kafka.broker import Broker
from tests.kafka.topics import Topics
from tests.processes import spawn

FILES = 12
LONGEST_S = 240


def without_repetitions(messages: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    last = None
    for message in messages:
        place = (message["n"], message["id"])
        if last is None or place > last:
            last = place
            yield message


def batches(folder: Path, log: str) -> set[int]:
    return {int(p.name) for p in (folder / "checkpoint" / log).glob("[0-9]*")}


def test_reader_removes_duplicates_of_a_killed_query(
    kafka: Broker, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    topics = Topics(kafka, f"{request.node.name}-")
    topics.create(1, "out")
    (tmp_path / "events").mkdir()
    rng = Random(5)
    rows = [{"n": 10 * i // 4 + rng.randint(-10, 10), "id": i} for i in range(FILES * 20)]
    for i in range(FILES):
        lines = "".join(json.dumps(row) + "\n" for row in rows[20 * i : 20 * (i + 1)])
        (tmp_path / "events" / f"{i:03d}.json").write_text(lines)
    # Its row advances the watermark past all others and is ignored.
    last = tmp_path / "events" / f"{FILES:03d}.json"
    last.write_text(json.dumps({"n": 10_000, "id": -1}) + "\n")
    # The source reads files by modification time.
    for number, path in enumerate(sorted((tmp_path / "events").iterdir())):
        os.utime(path, (number, number))

    def start(number: int) -> Any:
        arguments = (str(tmp_path), kafka.bootstrap, topics.prefix + "out")
        return spawn("tests.kafka.ordered_job", *arguments, log=tmp_path / f"{number}.log")

    def killed(number: int, planned: int) -> None:
        """Kill the query while it sends this batch, or shortly before or after."""
        process = start(number)
        deadline = time.monotonic() + LONGEST_S
        while planned not in batches(tmp_path, "offsets"):
            assert process.poll() is None, log_text(number)
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def log_text(number: int) -> str:
        return (tmp_path / f"{number}.log").read_text(errors="replace")[-3000:]

    killed(0, 3)
    assert start(1).wait(LONGEST_S) == 0, log_text(1)
    # as if it had been killed after sending the last batch and before committing it
    done = max(batches(tmp_path, "commits"))
    for name in (f"{done}", f".{done}.crc"):
        (tmp_path / "checkpoint" / "commits" / name).unlink(missing_ok=True)
    assert start(2).wait(LONGEST_S) == 0, log_text(2)
    sent = [message for message in topics.values("out") if message["id"] >= 0]
    read = list(without_repetitions(sent))
    assert len(sent) > len(read)
    assert read == sorted(rows, key=lambda row: (row["n"], row["id"]))
