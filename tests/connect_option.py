"""The option ``--connect``: tests that need nothing of a JVM, on a session of Spark Connect.

A process has sessions of one kind, so with the option only tests that are marked ``connect`` run,
all of them on a Connect session; without it they run on a classic one like all others.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("streamjoin").addoption(
        "--connect",
        action="store_true",
        help="the tests that are marked connect, on a Spark Connect session, and no others",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.connect:
        marked = [item for item in items if item.get_closest_marker("connect") is not None]
        others = [item for item in items if item.get_closest_marker("connect") is None]
        config.hook.pytest_deselected(items=others)
        items[:] = marked
