"""The random tests in pieces: each has a seed that no other piece of its kind has."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
GROUPS = 400
"""Independent groups of rows in each query, see ``--diff-groups``."""
APART = 1_000_000
"""From the first history of a piece to that of the next one."""
HISTORIES = 20_000
"""Histories of `SimulationSuite` without a factor."""


@dataclass(frozen=True)
class Kind:
    name: str
    unit: str
    target: int
    """How many are wanted."""
    size: int
    """How many are in a piece."""
    command: Callable[[int, int], tuple[list[str], dict[str, str]]]
    """Arguments and environment of a piece with this seed and size."""
    in_query: int = 1
    """How many are in one query."""


@dataclass(frozen=True)
class Piece:
    kind: str
    seed: int
    count: int
    seconds: int
    failures: tuple[str, ...]
    version: str
    date: str

    @staticmethod
    def of(data: Mapping[str, Any]) -> Piece:
        return Piece(**{**data, "failures": tuple(data["failures"])})

    def data(self) -> dict[str, Any]:
        return asdict(self)


def _pytest(*arguments: str) -> tuple[list[str], dict[str, str]]:
    return [sys.executable, "-m", "pytest", "-q", *arguments], {}


def _differential(seed: int, size: int) -> tuple[list[str], dict[str, str]]:
    options = ["--diff-seed", str(seed), "--diff-cases", str(size)]
    return _pytest("tests/differential/test_differential.py", *options)


def _groups(seed: int, size: int) -> tuple[list[str], dict[str, str]]:
    """A fifth of the queries are chains, each in three ways, and a fifth joins of changelogs."""
    queries = size // GROUPS
    some = max(1, queries // 5)
    return _pytest(
        "tests/differential/test_differential.py::test_stream_gives_what_the_batch_join_gives",
        "tests/differential/test_chains.py::test_rows_and_state_are_the_same",
        "tests/differential/test_changelogs.py::test_what_comes_out_sums_up_to_the_batch_join",
        *("--diff-seed", str(seed), "--diff-groups", str(GROUPS)),
        *("--diff-cases", str(queries - 2 * some)),
        *("--diff-chains", str(some), "--diff-changelogs", str(some)),
    )


def _chains(seed: int, size: int) -> tuple[list[str], dict[str, str]]:
    options = ["--diff-seed", str(seed), "--diff-chains", str(size)]
    return _pytest("tests/differential/test_chains.py", *options)


def _changelogs(seed: int, size: int) -> tuple[list[str], dict[str, str]]:
    options = ["--diff-seed", str(seed), "--diff-changelogs", str(size)]
    files = ("test_changelogs.py", "test_timed_changelogs.py")
    return _pytest(*(f"tests/differential/{file}" for file in files), *options)


def _metamorphic(seed: int, size: int) -> tuple[list[str], dict[str, str]]:
    options = ["--meta-seed", str(seed), "--meta-plans", str(size)]
    return _pytest("tests/metamorphic", *options, "--meta-changelogs", str(size))


def _simulation(seed: int, size: int) -> tuple[list[str], dict[str, str]]:
    return [str(ROOT / "sbt"), "spark/testOnly *SimulationSuite"], {
        "STREAMJOIN_FIRST_SEED": str(1 + (seed - 1) * APART),
        "STREAMJOIN_TIMES": str(size / HISTORIES),
    }


def _faults(seed: int, size: int) -> tuple[list[str], dict[str, str]]:
    """With every second seed, a failed task is tried again."""
    options = ["--faults-seed", str(seed), "--injected-faults", str(size)]
    return _pytest("tests/faults/test_injected.py", *options, "--task-attempts", str(1 + seed % 2))


def _crashes(seed: int, size: int) -> tuple[list[str], dict[str, str]]:
    return _pytest("tests/crash", "--crash-kills", str(size), "--crash-seed", str(seed))


KINDS = (
    Kind("groups", "random cases", 100_000, 20 * GROUPS, _groups, GROUPS),
    Kind("differential", "cases", 80_000, 200, _differential),
    Kind("chains", "chains", 10_000, 100, _chains),
    Kind("changelogs", "changelogs", 10_000, 100, _changelogs),
    Kind("metamorphic", "plans of joins, and as many of changelogs", 5_000, 25, _metamorphic),
    Kind("simulation", "histories", 10_000_000, 20_000, _simulation),
    Kind("faults", "failed operations on files", 1_000, 50, _faults),
    Kind("crashes", "kills at random times", 1_000, 9, _crashes),
)


def version() -> str:
    """The commit; with a mark if files differ from it."""
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude", "*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.strip()


def run(kind: Kind, seed: int, size: int, folder: Path) -> Piece:
    """Run a piece; its log stays if something failed."""
    folder.mkdir(parents=True, exist_ok=True)
    log, results = folder / f"{kind.name}-{seed}.log", folder / f"{kind.name}-{seed}.xml"
    command, settings = kind.command(seed, size)
    tests = "pytest" in command
    if tests:
        command.append(f"--junitxml={results}")
    begun = time.monotonic()
    with log.open("w") as out:
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **settings}, stdout=out, stderr=out, check=False
        )
    seconds = round(time.monotonic() - begun)
    failures = _failures(results) if tests else []
    if done.returncode and not failures:
        failures = [f"ended with {done.returncode}"]
    if not failures:
        log.unlink()
    results.unlink(missing_ok=True)
    today = time.strftime("%Y-%m-%d")
    return Piece(kind.name, seed, size, seconds, tuple(failures), version(), today)


def _failures(results: Path) -> list[str]:
    if not results.exists():
        return []
    return [
        f"{case.get('classname')}::{case.get('name')}"
        for case in ElementTree.parse(results).iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    ]
