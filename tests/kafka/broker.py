"""A real Kafka broker on loopback: one node that is controller and broker."""

from __future__ import annotations

import socket
import time
from abc import ABC, abstractmethod

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

READY_WITHIN_S = 120
CLUSTER_ID = "c3RyZWFtam9pbi10ZXN0cw"

SINGLE_NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    # A topic that a test did not create is an error, not an empty topic.
    "auto.create.topics.enable": "false",
    # A killed broker restarts only after its old registration has timed out.
    "broker.session.timeout.ms": "1000",
    "broker.heartbeat.interval.ms": "200",
}


class Address:
    """A loopback port at which a broker answers, now or soon."""

    def __init__(self, port: int) -> None:
        self.port = port

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def client_settings(self) -> dict[str, str | int | float | bool]:
        """Settings of a librdkafka client; it logs nothing while a test has killed the broker."""
        return {"bootstrap.servers": self.bootstrap, "log_level": 0}


class Broker(Address, ABC):
    """A broker that keeps its address and data across ``kill`` and ``start``."""

    def __init__(self) -> None:
        super().__init__(free_port())

    @property
    @abstractmethod
    def kind(self) -> str:
        """The display name of the way in which this broker runs."""

    def start(self) -> None:
        """Start the broker, or restart a killed one; return when it answers."""
        self._launch()
        client = AdminClient(self.client_settings)
        deadline = time.monotonic() + READY_WITHIN_S
        while True:
            try:
                client.list_topics(timeout=1)
                return
            except KafkaException as error:
                if self._ended() or time.monotonic() > deadline:
                    raise RuntimeError(
                        f"no answer ({error}) from {self.kind}:\n{self.log()}"
                    ) from None

    @abstractmethod
    def kill(self) -> None:
        """Kill the broker as ``kill -9`` does."""

    @abstractmethod
    def remove(self) -> None:
        """Stop the broker and delete its data."""

    @abstractmethod
    def log(self) -> str:
        """The end of its log."""

    @abstractmethod
    def _launch(self) -> None: ...

    @abstractmethod
    def _ended(self) -> bool: ...


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
