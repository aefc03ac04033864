"""The option ``--connect``: runs the tests that need no JVM access on Spark Connect.

A process has sessions of one kind. With the option, only tests marked ``connect`` run, all on a
Connect session. Without it, they run on a classic session like all other tests.
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
