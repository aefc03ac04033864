"""Runs a part of the chosen tests: ``--part 1/3``. All parts together are all tests."""

from __future__ import annotations

from zlib import crc32

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part", default="0/1", metavar="K/N", help="part K of N, counted from 0, by test names"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part, parts = map(int, config.getoption("--part").split("/"))
    others = [item for item in items if crc32(item.nodeid.encode()) % parts != part]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if crc32(item.nodeid.encode()) % parts == part]
