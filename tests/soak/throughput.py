"""Rows a second from topics to a table, without and with faults.

Both runs send the same messages, as fast as the broker accepts them but not far ahead of the
pipeline. The clock runs from the first message to the end of the batch that reads the last one. The
driver has warmed up on a tenth of the messages. The oracle checks the output afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.kafka.broker import Broker
from tests.soak.feed import Feed
from tests.soak.oracle import Oracle, WrongResultError
from tests.soak.pipeline import Encoded, Pipeline

ORDERS_A_WAVE = 1000
WAVES_AHEAD = 10
WARM_UP = 10
"""One wave in that many."""
SILENT_FOR_S = 300


@dataclass
class Measured:
    messages: int
    seconds: float
    batches: int
    faults: int
    checked_rows: int

    @property
    def rows_per_second(self) -> float:
        return self.messages / self.seconds


def measure(broker: Broker, folder: Path, seed: int, waves: int, faults: int) -> Measured:
    """Run once; ``faults`` is the number of kills of the driver, and of the broker in between.

    Raises WrongResultError if the result differs from the oracle's.
    """
    pipeline = Pipeline(broker, folder, seed)
    # The disorder is so small that no row is late with any batch boundaries: results are equal.
    feed = Feed(seed, ORDERS_A_WAVE, disorder=1, stragglers=0)
    encoded = [pipeline.encoded(feed.wave()) for _ in range(waves)]
    warm_up, timed = encoded[: waves // WARM_UP], encoded[waves // WARM_UP :]
    try:
        pipeline.driver.start()
        _send(pipeline, warm_up, ahead=len(warm_up))
        _wait_for(pipeline, pipeline.sent)
        before, batches_before = pipeline.sent, pipeline.finished()
        begun = time.monotonic()
        for number, part in enumerate(_parts(timed, 2 * faults + 1)):
            if number % 2 == 1:
                pipeline.driver.kill()
                pipeline.driver.start()
            elif number:
                broker.kill()
                broker.start()
            _send(pipeline, part, ahead=WAVES_AHEAD)
        _wait_for(pipeline, pipeline.sent)
        seconds = time.monotonic() - begun
        messages, batches = pipeline.sent - before, pipeline.finished() - batches_before
        for remaining in feed.rest():
            pipeline.send(pipeline.encoded(remaining))
        _wait_for(pipeline, pipeline.sent)
    finally:
        pipeline.driver.kill()
    oracle = Oracle()
    for batch in pipeline.batches():
        oracle.take(batch)
    if oracle.late.total():
        raise WrongResultError(f"none should be late, and are {oracle.late}")
    return Measured(messages, seconds, batches, faults, oracle.checked_rows)


def page(calm: Measured, disturbed: Measured) -> str:
    heads = ("", "messages", "seconds", "messages a second", "batches", "rows of the result")
    lines = [heads, ("---",) * len(heads)]
    for name, run in (("without faults", calm), (_faults(disturbed), disturbed)):
        figures = (run.messages, run.seconds, run.rows_per_second, run.batches, run.checked_rows)
        lines.append((name, *(f"{figure:,.0f}" for figure in figures)))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _faults(run: Measured) -> str:
    return f"driver killed {run.faults} times, broker {run.faults} times"


def _parts(waves: Sequence[Encoded], count: int) -> list[Sequence[Encoded]]:
    cuts = [len(waves) * n // count for n in range(count + 1)]
    return [waves[begin:end] for begin, end in pairwise(cuts)]


def _send(pipeline: Pipeline, waves: Sequence[Encoded], ahead: int) -> None:
    for wave in waves:
        _wait_for(pipeline, pipeline.sent - ahead * len(wave))
        pipeline.send(wave)


def _wait_for(pipeline: Pipeline, messages: int) -> None:
    """Wait until finished batches have read that many messages."""
    taken, deadline = -1, 0.0
    while (now := pipeline.messages_finished()) < messages:
        pipeline.driver.check()
        if now != taken:
            taken, deadline = now, time.monotonic() + SILENT_FOR_S
        elif time.monotonic() > deadline:
            raise TimeoutError(f"{taken} of {messages} messages are taken, and no more")
        time.sleep(0.02)
