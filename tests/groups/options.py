"""Options of the random tests of watermark groups; a plugin that tests/conftest.py names."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("streamjoin").addoption
    add("--group-cases", type=int, default=8, help="number of random cases of watermark groups")
    add("--group-seed", type=int, default=1, help="seed of the first of these cases")
