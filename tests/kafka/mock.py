"""librdkafka's mock broker, which refuses requests on demand."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confluent_kafka

from tests.kafka.broker import Address

PRODUCE = 0
NOT_LEADER = 6
WITHIN_S = 60


def library() -> Path | None:
    """The client's bundled library; None if the client uses the system's library."""
    beside = Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs"
    return next(beside.glob("librdkafka*"), None)


class MockBroker(Address):
    """One broker with a configurable response time."""

    def __init__(self, call: Callable[..., Any], cluster: ctypes.c_void_p) -> None:
        self._call = call
        self._cluster = cluster
        bootstrap: bytes = call("mock_cluster_bootstraps", ctypes.c_char_p, cluster)
        super().__init__(int(bootstrap.decode().rpartition(":")[2]))
        call("mock_start_request_tracking", None, cluster)

    def create(self, topic: str, partitions: int) -> None:
        self._call("mock_topic_create", ctypes.c_int, self._cluster, topic.encode(), partitions, 1)

    def answer_after(self, millis: int) -> None:
        self._call("mock_broker_set_rtt", ctypes.c_int, self._cluster, -1, millis)

    def refuse_next(self, request: int, error: int) -> None:
        errors = (ctypes.c_int * 1)(error)
        size = ctypes.c_size_t(1)
        self._call("mock_push_request_errors_array", None, self._cluster, request, size, errors)

    def received(self, request: int) -> int:
        """The number of such requests, answered or not."""
        count = ctypes.c_size_t()
        each: Any = self._call(
            "mock_get_requests",
            ctypes.POINTER(ctypes.c_void_p),
            self._cluster,
            ctypes.byref(count),
        )
        keys = [
            self._call("mock_request_api_key", ctypes.c_int16, ctypes.c_void_p(each[i]))
            for i in range(count.value)
        ]
        self._call("mock_request_destroy_array", None, each, count)
        return keys.count(request)

    def await_came(self, request: int, count: int) -> None:
        deadline = time.monotonic() + WITHIN_S
        while self.received(request) < count:
            assert time.monotonic() < deadline, "no such request arrived"
            time.sleep(0.01)


@contextmanager
def mock_broker(path: Path) -> Iterator[MockBroker]:
    """``path`` is the path of the library."""
    functions = ctypes.CDLL(str(path))

    def call(name: str, result: Any, *arguments: Any) -> Any:
        function = functions[f"rd_kafka_{name}"]
        function.restype = result
        return function(*arguments)

    settings = ctypes.c_void_p(call("conf_new", ctypes.c_void_p))
    call("conf_set", ctypes.c_int, settings, b"log_level", b"0", None, ctypes.c_size_t(0))
    client = ctypes.c_void_p(call("new", ctypes.c_void_p, 0, settings, None, ctypes.c_size_t(0)))
    cluster = ctypes.c_void_p(call("mock_cluster_new", ctypes.c_void_p, client, 1))
    try:
        yield MockBroker(call, cluster)
    finally:
        call("mock_cluster_destroy", None, cluster)
        call("destroy", None, client)
