"""The test producer loses no messages: it retries requests that a broker refuses."""

from __future__ import annotations

import pytest

from tests.kafka.mock import NOT_LEADER, PRODUCE, library, mock_broker
from tests.kafka.topics import Topics

ANSWERS_AFTER_MS = 300
"""Long enough for a second request to follow the first one."""


def test_refused_message_is_retried_before_the_next_one() -> None:
    path = library()
    if path is None:
        pytest.skip("the Kafka client has no bundled librdkafka")
    with mock_broker(path) as broker:
        broker.create("test-orders", partitions=2)
        topics = Topics(broker, "test-")
        # The producer knows the topic from here on.
        topics.send("orders", 1, {"n": 0})
        topics.flush()
        placed: list[tuple[int, int]] = []
        broker.answer_after(ANSWERS_AFTER_MS)
        broker.refuse_next(PRODUCE, NOT_LEADER)
        topics.send("orders", 0, {"n": 1}, placed=lambda *place: placed.append(place))
        broker.await_came(PRODUCE, 2)
        topics.send("orders", 0, {"n": 2}, placed=lambda *place: placed.append(place))
        topics.flush()
        broker.answer_after(0)
        assert placed == [(0, 0), (0, 1)]
        assert sorted(row["n"] for row in topics.values("orders")) == [0, 1, 2]
