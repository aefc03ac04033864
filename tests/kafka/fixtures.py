"""The broker fixture, and the option that selects how it runs; a plugin of tests/conftest.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kafka import container
from tests.kafka.broker import Broker
from tests.kafka.container import BrokerContainer
from tests.kafka.jars import connector_jars
from tests.kafka.process import BrokerProcess

_USED = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("streamjoin")
    group.addoption(
        "--compaction",
        action="store_true",
        help="also wait until the broker has compacted a topic",
    )
    group.addoption(
        "--kafka",
        choices=["auto", "container", "process"],
        default="auto",
        help="how the Kafka broker runs; auto: in a container where a Docker engine answers",
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if _USED in config.stash:
        terminalreporter.write_line(f"Kafka broker: {config.stash[_USED]}")


@pytest.fixture(scope="session")
def kafka(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    if not connector_jars():
        pytest.fail("the jars of Kafka are missing: make kafka-jars")
    broker, why = _broker(pytestconfig.option.kafka, tmp_path_factory.mktemp("kafka"))
    pytestconfig.stash[_USED] = f"{broker.kind} ({why})"
    try:
        broker.start()
        yield broker
    finally:
        broker.remove()


def _broker(choice: str, folder: Path) -> tuple[Broker, str]:
    missing = None if choice == "process" else container.why_not()
    if choice == "container" and missing:
        pytest.fail(f"--kafka container: {missing}")
    if choice == "process" or missing:
        return BrokerProcess(folder), missing or "--kafka process"
    return BrokerContainer(), "a Docker engine answers"
