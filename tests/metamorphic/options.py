"""Options of the metamorphic tests; a plugin that tests/conftest.py names."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("streamjoin").addoption
    add("--meta-plans", type=int, default=16, help="number of random plans")
    add("--meta-changelogs", type=int, default=5, help="number of random changelog plans")
    add("--meta-seed", type=int, default=1, help="seed of the random plans")
    add("--meta-first", type=int, default=0, help="number of the first plan")
    add("--meta-plan", type=int, default=None, help="run only the plan with this number")
    add("--meta-variations", type=int, default=8, help="variations of each plan; 0: all")
    add("--meta-only", default="", metavar="NAME", help="run one variation only")
    add("--meta-shrink", type=int, default=0, metavar="RUNS", help="make a failing plan smaller")
