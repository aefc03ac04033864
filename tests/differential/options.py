"""Options of the differential and the crash tests; a plugin that tests/conftest.py names."""

from __future__ import annotations

import random

import pytest

DEFAULT_CASES = 80
DEFAULT_CHAINS = 4
DEFAULT_CHANGELOGS = 4
DEFAULT_KILLS = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("streamjoin")
    add = group.addoption
    add("--diff-cases", type=int, default=DEFAULT_CASES, help="number of random cases")
    add("--diff-seed", type=int, default=1, help="seed of the random cases; 0 draws one")
    add("--diff-case", type=int, default=None, help="run only the case with this number")
    add("--diff-replay", default=None, metavar="FILE", help="run only the case in this file")
    add("--diff-skip", default="", metavar="FEATURES", help="leave out cases with one of these")
    add("--diff-only", default="", metavar="FEATURES", help="run cases with one of these only")
    add("--diff-jobs", type=int, default=2, help="cases that run at once")
    add("--diff-shared", type=int, default=2, help="number of random queries with shared sources")
    add("--diff-chains", type=int, default=DEFAULT_CHAINS, help="number of random chains of joins")
    add("--diff-chain", type=int, default=None, help="run only the chain with this number")
    add("--diff-changelogs", type=int, default=DEFAULT_CHANGELOGS, help="random changelogs")
    add("--diff-changelog", type=int, default=None, help="run only the changelogs with this number")
    add("--diff-groups", type=int, default=0, help="independent groups of rows in each query")
    add("--diff-shrink", type=int, default=0, metavar="RUNS", help="make a failing case smaller")
    add("--crash-kills", type=int, default=DEFAULT_KILLS, help="how often a process is killed")
    add("--crash-seed", type=int, default=1, help="seed of the moments; 0 draws one")


def pytest_configure(config: pytest.Config) -> None:
    for name in ("diff_seed", "crash_seed"):
        if getattr(config.option, name) == 0:
            setattr(config.option, name, random.SystemRandom().randrange(1, 2**31))


def pytest_report_header(config: pytest.Config) -> str:
    seeds = config.option.diff_seed, config.option.crash_seed
    return f"streamjoin: --diff-seed {seeds[0]} --crash-seed {seeds[1]}"
