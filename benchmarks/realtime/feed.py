"""Orders and deliveries at a steady rate through a broker, and the results that come back."""

from __future__ import annotations

import json
import threading
import time
from array import array
from datetime import datetime, timezone
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.kafka.broker import Address

TOPICS = ("orders", "deliveries", "results")
DELIVERED_AFTER_S = 0.05
_TICK_S = 0.001
_WITHIN_S = 60


def create_topics(broker: Address) -> None:
    """Create the topics, with a partition each. The broker writes the time of each message."""
    config = {"message.timestamp.type": "LogAppendTime"}
    admin = AdminClient(broker.client_settings)
    for made in admin.create_topics([NewTopic(t, 1, 1, config=config) for t in TOPICS]).values():
        made.result(_WITHIN_S)


class Feed:
    """Sends half of the rows to each topic, until it is stopped.

    Order n is sent at n periods, and its delivery `DELIVERED_AFTER_S` later. With `undelivered`,
    one of so many orders has no delivery.
    """

    def __init__(self, broker: Address, rate: int, undelivered: int = 0) -> None:
        self.sent = array("d")
        """The time at which delivery n was sent, in milliseconds; 0 if there is none."""
        self.latest_ms = 0.0
        """The longest time by which a row was sent too late."""
        self._period = 2 / rate
        self._undelivered = undelivered
        # a row waits a millisecond for others
        settings = {"linger.ms": 1, "queue.buffering.max.messages": 1_000_000}
        self._producer = Producer({**broker.client_settings, **settings})
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()
        self._producer.flush(_WITHIN_S)

    def _send(self) -> None:
        start, orders, deliveries = time.time(), 0, 0
        while not self._stopped.is_set():
            due = time.time() - start
            while orders * self._period <= due:
                self._message("orders", "order", orders)
                orders += 1
            while deliveries * self._period + DELIVERED_AFTER_S <= due:
                late = due - deliveries * self._period - DELIVERED_AFTER_S
                self.latest_ms = max(self.latest_ms, 1000 * late)
                delivered = not self._undelivered or deliveries % self._undelivered
                now = self._message("deliveries", "delivery", deliveries) if delivered else 0
                self.sent.append(1000 * now)
                deliveries += 1
            self._producer.poll(0)
            time.sleep(_TICK_S)

    def _message(self, topic: str, name: str, row: int) -> float:
        now = time.time()
        at = datetime.fromtimestamp(now, timezone.utc).isoformat(timespec="milliseconds")
        key = "order_id" if name == "order" else "delivered_id"
        text = f'{{"{key}":{row},"{name}_time":"{at[:-6]}Z"}}'
        self._producer.produce(topic, value=text.encode(), partition=0)
        return now


def has_results(broker: Address) -> bool:
    """Whether a result is in the topic."""
    consumer = Consumer({**broker.client_settings, "group.id": "first"})
    try:
        return consumer.get_watermark_offsets(TopicPartition("results", 0), _WITHIN_S)[1] > 0
    except KafkaException:
        # a new topic has no leader yet
        return False
    finally:
        consumer.close()


def results(broker: Address) -> list[tuple[int, float]]:
    """Return the order of each match in the topic, and when the broker appended it."""
    settings = {"group.id": "results", "enable.partition.eof": True}
    consumer = Consumer({**broker.client_settings, **settings})
    consumer.assign([TopicPartition("results", 0, 0)])
    rows: list[tuple[int, float]] = []
    try:
        while True:
            for message in consumer.consume(10_000, _WITHIN_S):
                error = message.error()
                if error is not None and error.code() == KafkaError._PARTITION_EOF:
                    return rows
                row: dict[str, Any] = json.loads(message.value() or b"{}")
                if row.get("delivered_id") is not None:
                    rows.append((row["order_id"], float(message.timestamp()[1])))
    finally:
        consumer.close()
