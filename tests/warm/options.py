"""Options of the tests of warm starts; a plugin that tests/conftest.py names."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("streamjoin").addoption
    add("--warm-cases", type=int, default=1, help="number of random streams for each kind of query")
