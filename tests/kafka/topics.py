"""Topics of a test: rows are written as JSON to a chosen partition, and read back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.kafka.broker import Address

WITHIN_S = 120
# A broker accepts the second request of a partition whose first one it has refused, for example
# while the topic is new. librdkafka then reports the messages of the first as delivered, too.
ONE_AFTER_THE_OTHER = {"max.in.flight.requests.per.connection": 1}
Placed = Callable[[int, int], None]
"""Receives the partition of a message, and its offset."""


class Topics:
    def __init__(self, broker: Address, prefix: str) -> None:
        self.broker = broker
        self.prefix = prefix
        self._refused: Counter[str] = Counter()
        self._admin = AdminClient(broker.client_settings)
        # Written once, even if the broker is killed between a message and its confirmation.
        settings = {**broker.client_settings, "enable.idempotence": True, **ONE_AFTER_THE_OTHER}
        self._producer = Producer(settings)

    def create(
        self, partitions: int, *names: str, settings: Mapping[str, str] | None = None
    ) -> None:
        config = dict(settings or {})
        made = self._admin.create_topics(
            [NewTopic(self.prefix + name, partitions, 1, config=config) for name in names]
        )
        for topic in made.values():
            topic.result(WITHIN_S)

    def send(
        self,
        name: str,
        partition: int,
        row: Mapping[str, Any] | bytes | None,
        *,
        placed: Placed | None = None,
    ) -> None:
        """Send a row, raw bytes or a tombstone; it is in the topic after ``flush``.

        ``placed`` is called with its position at the latest before ``flush`` returns.
        """
        value = row if row is None or isinstance(row, bytes) else json.dumps(row).encode()
        self._producer.produce(
            self.prefix + name,
            value=value,
            partition=partition,
            on_delivery=self._delivered(placed),
        )

    def send_by_key(self, name: str, key: bytes, value: str) -> None:
        """Send a text to the partition of its key."""
        self._producer.produce(
            self.prefix + name, value=value.encode(), key=key, on_delivery=self._delivered(None)
        )

    def flush(self) -> None:
        left = self._producer.flush(WITHIN_S)
        assert left == 0, f"{left} messages were not taken by {self.broker.bootstrap}"
        assert not self._refused, f"messages were not delivered: {self._refused}"

    def _delivered(self, placed: Placed | None) -> Callable[[KafkaError | None, Message], None]:
        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                place = f"{message.topic()}-{message.partition()}"
                self._refused[f"{place}: {error}"] += 1
            elif placed is not None:
                partition, offset = message.partition(), message.offset()
                assert partition is not None
                assert offset is not None, "the offset of a message is unknown"
                placed(partition, offset)

        return delivered

    def values(self, name: str) -> list[Any]:
        """All values in the topic."""
        return [value for _, value in self.messages(name)]

    def messages(self, name: str) -> list[tuple[str | None, Any]]:
        """All keys and values; messages of one key are in order."""
        settings = {
            **self.broker.client_settings,
            "group.id": "tests",
            "enable.partition.eof": True,
        }
        consumer = Consumer(settings)
        try:
            partitions = (
                consumer.list_topics(self.prefix + name).topics[self.prefix + name].partitions
            )
            consumer.assign([TopicPartition(self.prefix + name, p, 0) for p in partitions])
            return list(_until_the_end(consumer, len(partitions)))
        finally:
            consumer.close()


def _until_the_end(consumer: Consumer, partitions: int) -> Iterable[tuple[str | None, Any]]:
    while partitions:
        message = consumer.poll(WITHIN_S)
        assert message is not None, "the broker does not answer"
        error = message.error()
        if error is None:
            key = message.key()
            yield None if key is None else key.decode(), json.loads(message.value() or b"null")
        elif error.code() == KafkaError._PARTITION_EOF:
            partitions -= 1
        else:
            raise RuntimeError(str(error))
