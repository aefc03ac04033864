"""Options of the tests of real-time mode; a plugin that tests/conftest.py names."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("streamjoin").addoption
    add("--realtime-cases", type=int, default=4, help="number of random cases in real-time mode")
    add("--realtime-seed", type=int, default=1, help="seed of the random cases in real-time mode")
    add("--realtime-batch", default="500 milliseconds", help="longer ones for a busy machine")
    add("--realtime-jobs", type=int, default=4, help="cases in real-time mode that run at once")
