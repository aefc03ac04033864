"""Flink SQL on the topics of a test, in a separate process."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, TopicPartition

from benchmarks.engine import FLINK_SQL
from tests.kafka.broker import Address
from tests.kafka.topics import WITHIN_S


class FlinkQuery:
    """A running query, whose rows are lines with tabs between their columns."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self._process = process
        self._folder = folder

    def rows(self) -> list[tuple[int | None, ...]]:
        """The rows of integers that have been emitted so far."""
        whole = (self._folder / "rows").read_text().rpartition("\n")[0].splitlines()
        return [tuple(None if v == "null" else int(v) for v in row.split("\t")) for row in whole]

    def wait_until(self, reached: Callable[[], bool]) -> None:
        until = time.monotonic() + WITHIN_S
        while not reached():
            assert self._process.poll() is None, f"the query has ended: {self._log()}"
            assert time.monotonic() < until, f"not reached in {WITHIN_S} s: {self._log()}"
            time.sleep(0.2)

    def finish(self) -> None:
        """Wait until the query has read its topics to their bounds."""
        assert self._process.wait(WITHIN_S) == 0, self._log()

    def _log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")[-4000:]


@contextmanager
def started(folder: Path, *statements: str) -> Iterator[FlinkQuery]:
    """Run statements of SQL, the last of which is the query."""
    folder.mkdir()
    with (
        (folder / "rows").open("wb") as rows,
        (folder / "log").open("wb") as log,
        subprocess.Popen(FLINK_SQL.command(statements), stdout=rows, stderr=log) as process,
    ):
        try:
            yield FlinkQuery(process, folder)
        finally:
            process.kill()


def has_read(broker: Address, group: str, topics: list[str], partitions: int) -> bool:
    """Whether a consumer group has committed the ends of all partitions of these topics."""
    consumer = Consumer({**broker.client_settings, "group.id": group})
    try:
        places = [TopicPartition(t, p) for t in topics for p in range(partitions)]
        ends = [consumer.get_watermark_offsets(place, WITHIN_S)[1] for place in places]
        return [place.offset for place in consumer.committed(places, WITHIN_S)] == ends
    except KafkaException:
        # A new group has no coordinator yet.
        return False
    finally:
        consumer.close()
