"""Options of the tests of rescaling; a plugin that tests/conftest.py names."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("streamjoin").addoption
    add("--rescale-all", action="store_true", help="all kinds in both formats, to 64 partitions")
    add("--rescale-cases", type=int, default=8, help="number of random joins that move")
