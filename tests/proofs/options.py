"""Options of the cases of rules; a plugin that tests/conftest.py names."""

from __future__ import annotations

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("streamjoin").addoption
    add("--rules-seed", type=int, default=0, help="seed of the cases of rules; 0 draws one")
    add("--rules-scale", type=int, default=1, help="how many times as many cases of rules")


def pytest_configure(config: pytest.Config) -> None:
    config.option.rules_seed = config.option.rules_seed or random.SystemRandom().randrange(1, 2**31)
