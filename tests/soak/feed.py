"""Unbounded messages for examples/kafka_pipeline.py, an hour of event time in each wave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from tests.kafka.orders import START, Message, messages_of_order, time_of

HOUR = timedelta(hours=1)
DISORDER = 3
"""The most waves by which a message is delayed: as many hours as the pipeline's lag."""
STRAGGLERS = 0.005
"""The share of messages with a longer delay. The batches determine whether they are late."""
MOST_STRAGGLING = 12


class Feed:
    """The same seed yields the same waves."""

    def __init__(
        self,
        seed: int,
        orders_a_wave: int,
        disorder: int = DISORDER,
        stragglers: float = STRAGGLERS,
    ) -> None:
        self.waves = 0
        self._orders_a_wave = orders_a_wave
        self._disorder = disorder
        self._stragglers = stragglers
        self._orders = 0
        self._rng = Random(f"soak/{seed}")
        self._due: dict[int, list[Message]] = defaultdict(list)

    def wave(self) -> list[Message]:
        for _ in range(self._orders_a_wave):
            placed = START + self.waves * HOUR + timedelta(seconds=self._rng.randrange(3600))
            for message in messages_of_order(self._rng, self._orders, placed):
                self._put(message)
            self._orders += 1
        messages = self._due.pop(self.waves)
        self._rng.shuffle(messages)
        self.waves += 1
        return messages

    def rest(self) -> Iterator[list[Message]]:
        """The remaining messages, then rows that match nothing and make all results final.

        Wave by wave, because messages sent together enter the partitions in any order.
        """
        after = (START + self.waves * HOUR + timedelta(days=2)).isoformat()
        for wave in sorted(self._due):
            yield self._due.pop(wave)
        yield [
            ("orders", {"order_id": -1, "order_time": after}),
            ("deliveries", {"order_id": -2, "delivery_time": after, "courier": None}),
            ("returns", {"order_id": -3, "return_time": after}),
        ]

    def _put(self, message: Message) -> None:
        if self._rng.random() < self._stragglers:
            delay = self._rng.randint(self._disorder + 1, MOST_STRAGGLING)
        else:
            delay = self._rng.choice([0, 0, self._rng.randint(0, self._disorder)])
        hour = (datetime.fromisoformat(time_of(message)) - START) // HOUR
        self._due[hour + delay].append(message)
