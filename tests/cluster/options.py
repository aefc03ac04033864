"""Options of the tests that need a cluster or Docker; a plugin listed in tests/conftest.py."""

from __future__ import annotations

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("streamjoin").addoption
    add("--compose", action="store_true", help="also the composition of docker/, on Docker")
    add("--faults", action="store_true", help="also the faults that need a cluster: minutes more")
    add("--faults-seed", type=int, default=1, help="seed of what goes wrong when; 0 draws one")
    add("--injected-faults", type=int, default=12, help="how often an operation on a file fails")
    add("--injected-first", type=int, default=0, help="number of the first query whose files fail")
    add("--task-attempts", type=int, default=1, help="how often a task is tried")
    add("--faults-kills", type=int, default=4, help="how often an executor or a worker is killed")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.faults_seed == 0:
        config.option.faults_seed = random.SystemRandom().randrange(1, 2**31)


def pytest_report_header(config: pytest.Config) -> str:
    return f"streamjoin: --faults-seed {config.option.faults_seed}"
