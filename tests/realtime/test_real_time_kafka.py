"""The example of docs/how-to/real-time.md with a broker, in a process that is killed."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order, stream_join
from tests.kafka.broker import Broker
from tests.kafka.topics import Topics
from tests.processes import spawn
from tests.realtime.page_job import TOPICS
from tests.realtime.running import Sink, await_rows, needs_4_3, read_offsets, start
from tests.streams import wait_for_report

PARTITIONS = 2
WITHIN_S = 240
Event = tuple[int, datetime]
"""The ID of an order, and a time."""
Row = tuple[Event, datetime | None]
"""An order, and its delivery."""
HOUR = timedelta(hours=1)
NOON = datetime(2026, 1, 1, 12)


class Example:
    """The query of the page, and what its topics contain."""

    def __init__(self, kafka: Broker, folder: Path) -> None:
        self.topics = Topics(kafka, f"{uuid4()}-")
        self.topics.create(PARTITIONS, *TOPICS)
        self.checkpoint = folder / "checkpoint"
        self._folder = folder
        self._log = folder / "job.log"
        self._sent = 0

    @contextmanager
    def running(self, batch: str) -> Iterator[None]:
        """Run the query until the end of the block, where its process is killed."""
        topics = (self.topics.broker.bootstrap, self.topics.prefix)
        arguments = (str(self._folder), *topics, batch)
        self._process = spawn("tests.realtime.page_job", *arguments, log=self._log)
        try:
            # rows before the first start are not read
            first = [self.checkpoint / "sources" / source / "0" for source in "01"]
            self.wait(lambda: all(each.exists() for each in first))
            yield
        finally:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def order(self, *orders: Event) -> None:
        self._send("orders", "order", orders)

    def deliver(self, *deliveries: Event) -> None:
        self._send("deliveries", "delivery", deliveries)

    def _send(self, topic: str, name: str, rows: tuple[Event, ...]) -> None:
        number = f"{name}_id" if name == "order" else "delivered_id"
        for row, at in rows:
            self._sent += 1
            values = {number: row, f"{name}_time": at.isoformat()}
            self.topics.send(topic, self._sent % PARTITIONS, values)
        self.topics.flush()

    def rows(self) -> list[Row]:
        def at(text: str) -> datetime:
            return datetime.fromisoformat(text.removesuffix("Z"))

        def delivered(row: dict[str, str]) -> datetime | None:
            return at(row["delivery_time"]) if "delivery_time" in row else None

        rows = self.topics.values("delivered")
        return [((row["order_id"], at(row["order_time"])), delivered(row)) for row in rows]

    def committed(self) -> list[int]:
        return sorted(int(each.name) for each in (self.checkpoint / "commits").glob("[0-9]*"))

    def wait(self, reached: Callable[[], bool]) -> None:
        until = time.monotonic() + WITHIN_S
        while not reached():
            ended = self._process.poll() is not None
            if ended or time.monotonic() > until:
                raise AssertionError(self._log.read_text(errors="replace")[-4000:])
            time.sleep(0.05)

    def wait_for_the_end_of_a_batch(self) -> None:
        """Wait until a batch has ended in which, or before which, all sent rows are read."""
        self.wait(lambda: self._sent in map(sum, [[0], *read_offsets(self.checkpoint)]))


@pytest.fixture
def example(kafka: Broker, tmp_path: Path) -> Example:
    return Example(kafka, tmp_path)


@needs_4_3
def test_example_emits_matches_while_the_batch_runs(example: Example) -> None:
    def at(hours: int, minutes: int) -> datetime:
        return NOON + timedelta(hours=hours, minutes=minutes)

    matched, unmatched = ((1, at(0, 0)), at(0, 10)), ((2, at(0, 1)), None)
    later = ((3, at(3, 0)), at(3, 5))
    with example.running("10 minutes"):
        example.order(matched[0], unmatched[0])
        example.deliver((1, matched[1]))
        example.wait(lambda: example.rows() == [matched])
        # the watermark passes the bound of the order without a delivery, which waits for the end
        example.order(later[0])
        example.deliver((3, later[1]))
        example.wait(lambda: example.rows() == [matched, later])
        assert example.committed() == []
    with example.running("5 seconds"):
        example.wait_for_the_end_of_a_batch()
    # the batch that was killed ran again
    assert sorted(example.rows()[:2]) == [matched, later]
    assert sorted(example.rows()[2:], key=str) == [matched, unmatched, later]


@needs_4_3
def test_no_match_is_lost_after_kills(example: Example, pytestconfig: pytest.Config) -> None:
    """Rows that are read more than once are removed, as by a reader of the topic.

    Rows of one round fit in the lag, and are read before those of the next one. So none is late.
    """
    rng = Random(pytestconfig.option.crash_seed)
    orders: list[Event] = []
    deliveries: list[Event] = []

    def draw(number: int) -> tuple[list[Event], list[Event]]:
        ids, millis = range(100 * number, 100 * number + 40), iter(rng.sample(range(50_000), 80))
        times = (NOON + 3 * number * HOUR + timedelta(milliseconds=each) for each in millis)
        new = [(each, next(times)) for each in ids], [(rng.choice(ids), t) for t in times]
        orders.extend(new[0])
        deliveries.extend(new[1])
        return new

    def of_round(number: int, delivered: bool) -> Callable[[], bool]:
        ids = range(100 * number, 100 * number + 40)
        return lambda: any(o[0] in ids and bool(d) == delivered for o, d in example.rows())

    def committed_more(than: list[int]) -> Callable[[], bool]:
        return lambda: example.committed() != than

    kills: int = pytestconfig.option.crash_kills
    for number in range(kills):
        with example.running("5 seconds"):
            example.wait_for_the_end_of_a_batch()
            moment = [
                of_round(number, delivered=True),
                # between the output at the end of a batch and its commit
                of_round(number - 1, delivered=False),
                committed_more(than=example.committed()),
            ][number % 3]
            new_orders, new_deliveries = draw(number)
            example.order(*new_orders[:20])
            example.deliver(*new_deliveries[:20])
            example.wait(moment)
        example.order(*new_orders[20:])
        example.deliver(*new_deliveries[20:])
    with example.running("5 seconds"):
        example.wait_for_the_end_of_a_batch()
        end = NOON + 3 * kills * HOUR
        example.order((-1, end))
        example.deliver((-2, end))
        example.wait_for_the_end_of_a_batch()
    expected: set[Row] = set()
    for key, placed in orders:
        matches = {
            ((key, placed), t) for k, t in deliveries if k == key and placed <= t <= placed + HOUR
        }
        expected |= matches or {((key, placed), None)}
    assert set(example.rows()) == expected
    assert sum(delivery is not None for _, delivery in expected) > 5 * kills


@needs_4_3
def test_partition_without_a_row_holds_the_watermark_back(
    realtime: SparkSession, kafka: Broker, tmp_path: Path
) -> None:
    topics = Topics(kafka, f"{uuid4()}-")
    topics.create(PARTITIONS, "o", "d")
    sent = itertools.count(1)

    def stream(name: str) -> DataFrame:
        messages = realtime.readStream.format("kafka").option("subscribe", topics.prefix + name)
        messages = messages.option("kafka.bootstrap.servers", kafka.bootstrap)
        schema = f"{name}id INT, {name}t TIMESTAMP"
        row = F.from_json(F.col("value").cast("string"), schema).alias("row")
        rows = messages.option("startingOffsets", "earliest").load().select("*", row)
        rows = rows.select(
            F.col("topic").alias(f"{name}topic"), F.col("partition").alias(f"{name}p"), "row.*"
        )
        return impose_order(rows, f"{name}t", "0 seconds", per=[f"{name}topic", f"{name}p"])

    def send(name: str, partition: int, row: int, at: str) -> int:
        topics.send(name, partition, {f"{name}id": row, f"{name}t": f"2026-01-01 {at}:00"})
        topics.flush()
        return next(sent)

    def emitted() -> list[tuple[int, str | None]]:
        return sorted(
            (row["oid"], row["dt"][11:16] if row["dt"] else None) for _, row in sink.rows()
        )

    condition = "oid = did AND dt BETWEEN ot AND ot + INTERVAL 1 HOUR"
    joined = stream_join(stream("o"), stream("d"), condition, "left")
    sink = Sink(realtime, "partitions")
    query = start(joined, sink, str(tmp_path), "2 seconds")
    try:
        for at in ("12:00", "18:00"):
            send("o", 0, 1, at)
            await_rows(query, tmp_path, send("d", 0, 9, at))
        assert emitted() == []
        send("o", 1, 3, "12:05")
        send("d", 1, 3, "12:10")
        await_rows(query, tmp_path, send("d", 1, 1, "12:30"))
        assert emitted() == [(1, "12:30"), (3, "12:10")]
        wait_for_report(query, tmp_path)
        assert query.lastProgress is not None
        metrics = query.lastProgress["stateOperators"][0]["customMetrics"]
        assert metrics["groups.ot"] == metrics["groups.dt"] == PARTITIONS
        slowest = datetime(2026, 1, 1, 12, 5, tzinfo=timezone.utc)
        assert metrics["watermark.ot"] == slowest.timestamp() * 1000
    finally:
        query.stop()
