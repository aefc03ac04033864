"""Feeds the pipeline, injects faults, checks all output, and watches for growth."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from examples.kafka_pipeline import SCHEMAS
from tests.kafka.broker import Broker
from tests.kafka.orders import Message
from tests.soak.checks import check, joins, progress_text
from tests.soak.feed import Feed
from tests.soak.oracle import After, Batch, Oracle, WrongResultError
from tests.soak.outcome import OrdersOutcome
from tests.soak.pipeline import Pipeline
from tests.soak.vitals import size
from tests.soak.weather import OF_THE_DRIVER, Happening, happenings

WAVE_EVERY_S = 1.0
ORDERS_A_WAVE = 300
MOST_WAITING = 60 * 3 * ORDERS_A_WAVE
"""Messages: the feed waits for a slow machine instead of flooding it."""
SAMPLE_EVERY_S = 4.0
SILENT_FOR_S = 300
REPORTED_WITHIN_S = 30
QUIET_SHARE = 1 / 3
"""The share of the time, at the end, without driver faults: growth in a driver is visible only
within one process."""
MOST_PAUSE_S = 8.0
MOST_STALLED_WAVES = 12
MOST_BURST = 8


class Soak:
    def __init__(self, broker: Broker, folder: Path, seed: int, minutes: float) -> None:
        self.outcome = OrdersOutcome(seed, minutes)
        self._pipeline = Pipeline(broker, folder, seed, trigger="500 milliseconds")
        self._feed = Feed(seed, ORDERS_A_WAVE)
        self._weather = happenings(seed)
        self._oracle = Oracle()
        self._after: dict[int, After] = {}
        self._reports: dict[int, dict[str, Any]] = {}
        self._held_back: dict[str, tuple[int, list[Message]]] = {}
        self._started = time.time()
        self._begun = self._last_news = self._next_sample = time.monotonic()
        self._state: dict[str, float] = {}

    def run(self) -> OrdersOutcome:
        """Run for the requested minutes; the outcome contains any failure."""
        try:
            self._pipeline.driver.start()
            self._wave()
            self._until_a_batch_is_finished()
            self._begun = time.monotonic()
            self._under_way()
            self._to_the_end()
        except Exception as error:
            self.outcome.failure = f"{type(error).__name__}: {error}"
        finally:
            self._pipeline.driver.kill()
            self._sum_up()
        return self.outcome

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._begun

    def _under_way(self) -> None:
        whole = self.outcome.minutes * 60
        due = 0.0
        next_happening = next(self._weather)
        waves_left = next_happening.after_waves
        while self._seconds < whole:
            self._look()
            if self._seconds < due or self._pipeline.waiting > MOST_WAITING:
                time.sleep(0.05)
                continue
            self._wave()
            due = max(due + WAVE_EVERY_S, self._seconds)
            waves_left -= 1
            if waves_left <= 0:
                quiet = self._seconds > whole * (1 - QUIET_SHARE)
                if not (quiet and next_happening.event in OF_THE_DRIVER):
                    due += self._happen(next_happening)
                next_happening = next(self._weather)
                waves_left = next_happening.after_waves

    def _happen(self, happening: Happening) -> float:
        """Inject the event, and return the seconds without waves after it."""
        event, strength = happening.event, happening.strength
        self.outcome.happened.append({"at": time.time() - self._started, "event": event})
        pipeline = self._pipeline
        if event == "pause":
            return MOST_PAUSE_S * strength
        if event == "burst":
            for _ in range(1 + round(MOST_BURST * strength)):
                self._wave()
        elif event == "topic stalls":
            topic = sorted(SCHEMAS)[self._feed.waves % len(SCHEMAS)]
            until = self._feed.waves + 1 + round(MOST_STALLED_WAVES * strength)
            self._held_back.setdefault(topic, (until, []))
        elif event == "broker killed":
            pipeline.broker.kill()
            pipeline.broker.start()
        elif event == "driver restarted":
            pipeline.driver.stop()
            pipeline.driver.start()
            self._until_a_batch_is_finished()
        else:
            time.sleep(strength)
            pipeline.driver.kill()
            pipeline.driver.start()
            self._until_a_batch_is_finished()
        return 0.0

    def _wave(self) -> None:
        messages = self._feed.wave()
        for topic, (until, held) in list(self._held_back.items()):
            held += [message for message in messages if message[0] == topic]
            messages = [message for message in messages if message[0] != topic]
            if self._feed.waves >= until:
                messages = held + messages
                del self._held_back[topic]
        self._pipeline.send(self._pipeline.encoded(messages))

    def _until_a_batch_is_finished(self) -> None:
        """Waves continue while the driver starts, so that it begins with a backlog."""
        finished = self._pipeline.finished()
        due = self._seconds + WAVE_EVERY_S
        while self._pipeline.finished() == finished:
            self._look()
            time.sleep(0.05)
            if self._seconds >= due and self._pipeline.waiting < MOST_WAITING:
                self._wave()
                due += WAVE_EVERY_S

    def _to_the_end(self) -> None:
        held = [message for _, messages in self._held_back.values() for message in messages]
        for messages in (held, *self._feed.rest()):
            self._pipeline.send(self._pipeline.encoded(messages))
        while self._pipeline.waiting or self._after:
            self._look()
            time.sleep(0.05)
        undecided = [number for number in self._oracle.undecided() if number >= 0]
        if undecided:
            raise WrongResultError(f"orders {undecided[:10]} were never decided")

    def _look(self) -> None:
        """Process new batches, reports and vitals."""
        self._pipeline.driver.check()
        now = time.monotonic()
        for batch in self._pipeline.batches():
            try:
                self._after[batch.number] = self._oracle.take(batch)
            except WrongResultError as error:
                raise WrongResultError(f"{error}; {self._told(batch)}") from error
            self.outcome.batches += 1
            self._last_news = now
        self._read_reports()
        for number in sorted(self._reports.keys() & self._after.keys()):
            self._check(self._reports.pop(number), self._after.pop(number))
        for vitals in self._pipeline.vitals.new():
            self.outcome.vitals.append(vitals | {"at": vitals["at"] - self._started})
        if (self._pipeline.waiting or self._after) and now - self._last_news > SILENT_FOR_S:
            raise RuntimeError(f"no news for {SILENT_FOR_S} s, with messages waiting")
        if now >= self._next_sample:
            self._next_sample = now + SAMPLE_EVERY_S
            self._sample()

    def _read_reports(self) -> None:
        for report in self._pipeline.progress.new():
            self._reports[report["batchId"]] = report

    def _told(self, batch: Batch) -> str:
        """Additional information on a batch with a wrong result."""
        took = {topic: len(rows) for topic, rows in batch.rows.items()}
        deadline = time.monotonic() + REPORTED_WITHIN_S
        while batch.number not in self._reports and time.monotonic() < deadline:
            time.sleep(0.05)
            self._read_reports()
        report = self._reports.get(batch.number)
        progress = progress_text(report) if report else "nothing"
        return f"it took {took} and gave {len(batch.given)} rows; the query says: {progress}"

    def _check(self, report: Mapping[str, Any], after: After) -> None:
        check(report, after)
        self.outcome.checked_batches += 1
        # The reports of earlier batches without one are lost with their process.
        for number in [n for n in self._after if n < report["batchId"]]:
            del self._after[number]
        self._state = {
            "buffered_rows": sum(join["numRowsTotal"] for join in joins(report)),
            "state_bytes": sum(join["memoryUsedBytes"] for join in joins(report)),
            "undecided_rows": after.most_buffered,
        }

    def _sample(self) -> None:
        files, total = size(self._pipeline.checkpoint)
        on_disk = {"checkpoint_files": files, "checkpoint_bytes": total}
        where = {"at": time.time() - self._started, "batches": self.outcome.batches}
        if self._state:
            self.outcome.samples.append(where | self._state | on_disk)

    def _sum_up(self) -> None:
        outcome, oracle = self.outcome, self._oracle
        outcome.seconds = self._seconds
        outcome.waves = self._feed.waves
        outcome.messages = self._pipeline.sent
        outcome.decided_orders = oracle.decided
        outcome.checked_rows = oracle.checked_rows
        outcome.late_rows = dict(oracle.late)
        outcome.driver_starts = self._pipeline.driver.starts
        outcome.watch_growth()
