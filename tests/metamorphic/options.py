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


def parametrize(metafunc: pytest.Metafunc, count: int) -> None:
    """Give a test that takes an ``index`` the numbers of the chosen plans."""
    if "index" in metafunc.fixturenames:
        option = metafunc.config.option
        numbers = range(option.meta_first, option.meta_first + count)
        metafunc.parametrize("index", numbers if option.meta_plan is None else [option.meta_plan])
