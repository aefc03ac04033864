"""Options of the tests of changed queries; a plugin that tests/conftest.py names."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("streamjoin").addoption
    add("--evolve-cases", type=int, default=4, help="number of random changes of random joins")
    add("--evolve-seed", type=int, default=5, help="seed of the random changes")
