"""Runs a suite: every result is compared, every run is a line of JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path

from . import process
from .case import Case, Rival
from .check import cross_check, outcome
from .engine import LIMIT, OURS, Engine, NotStagedError
from .process import FailedRunError, Result, Runner


def run(cases: Sequence[Case], results: Path, profiles: Path | None = None) -> list[str]:
    """Run the cases, append a line a run to ``results``, and give what went wrong.

    Raises
    ------
    NotStagedError
        The jars of an engine that takes part have not been built.
    """
    engines = {engine for case in cases for engine in (OURS, *case.engines)}
    missing = {engine for engine in engines if not Engine.of(engine).staged()}
    if missing:
        raise NotStagedError(f"{', '.join(sorted(missing))}: no jars; run: make bench-jars")
    results.parent.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    for case in cases:
        try:
            cross_check(case)
            for line in _lines(case, profiles):
                with results.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(line) + "\n")
                _tell(line)
                problems += _problems(case, line)
        except FailedRunError as failure:
            problems.append(str(failure))
    return problems


def _lines(case: Case, profiles: Path | None) -> Iterator[Result]:
    """Give the lines of a case: this project's join in turns with each of its rivals."""
    profiled = profiles is not None
    us = Rival(OURS, OURS, case)
    with process.started(OURS, case, profiled=profiled) as runner:
        reference = process.run(LIMIT, case)
        ours = _Contestant(us, runner, reference, profiles)
        yield from ours.warm_up()
        for rival in case.rivals():
            try:
                same = rival.case is case
                their_reference = reference if same else process.run(LIMIT, rival.case)
                with process.started(rival.engine, rival.case, profiled=profiled) as their_runner:
                    theirs = _Contestant(rival, their_runner, their_reference, profiles)
                    yield from theirs.warm_up()
                    yield from _turns(ours, theirs, case.repetitions)
            except FailedRunError as failure:
                if not runner.alive():
                    raise
                yield _circumstances(rival) | {"outcome": "failed", "failure": str(failure)}


class _Contestant:
    """A running engine, whose results are compared with those of the bare loop."""

    def __init__(
        self, rival: Rival, runner: Runner, reference: Result, profiles: Path | None
    ) -> None:
        self.name = rival.name
        self.refused = False
        self._rival = rival
        self._runner = runner
        self._reference = reference
        self._profile = None if profiles is None else _profile(profiles, rival)

    def warm_up(self) -> Iterator[Result]:
        """Give the lines of results that are not right; all others count for nothing."""
        for result in self._runner.warm_up():
            line = self._line(result)
            if line["outcome"] != "correct":
                yield line
            self.refused = self.refused or line["outcome"] == "refused"

    def turn(self, against: str, repetition: int, *, last: bool) -> Result:
        """Return the line of one run; the last run is profiled on request."""
        profiling = {"profile": str(self._profile)} if last and self._profile is not None else {}
        taken = {"against": against, "repetition": repetition}
        return self._line(self._runner.run(**profiling)) | taken

    def _line(self, result: Result) -> Result:
        compared = {"outcome": outcome(result, self._reference)}
        return result | _circumstances(self._rival) | compared


def _turns(ours: _Contestant, theirs: _Contestant, repetitions: int) -> Iterator[Result]:
    """Give the lines of runs in pairs: the machine's speed differs less within one of them.

    Who is first in a pair is second in the next.
    """
    if ours.refused or theirs.refused:
        return
    pair = [(ours, theirs), (theirs, ours)]
    for repetition in range(repetitions):
        for contestant, other in pair if repetition % 2 == 0 else reversed(pair):
            yield contestant.turn(other.name, repetition, last=repetition == repetitions - 1)


def _problems(case: Case, line: Result) -> list[str]:
    engine = line["engine"]
    expected = case.expected.get(engine, "correct")
    if line["outcome"] == expected:
        return []
    found = (
        line.get("failure")
        or line.get("refused")
        or f"{line['result_rows']} rows, {line['checksum']}"
    )
    return [f"{engine} on {case.label}: {line['outcome']}, not {expected}: {found}"]


def _profile(folder: Path, rival: Rival) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    words = (rival.case.label, rival.name)
    label, name = ("".join(c if c.isalnum() else "-" for c in w) for w in words)
    # a comma ends the file's name for the profiler
    return folder.resolve() / f"{label}.{name}.collapsed"


def _circumstances(rival: Rival) -> Result:
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "load": os.getloadavg()[0],
        "case": rival.case.label,
        "engine": rival.name,
        "warmup": rival.case.warmup,
        "warmup_batches": rival.case.warmup_batches,
        "settling": rival.case.settling,
    }


def _tell(line: Result) -> None:
    if "cpu_seconds" in line:
        what = (
            f"{line['rows_per_cpu_second']:>12,.0f} rows/CPU-s {line['cpu_seconds']:>8.1f} CPU-s "
            f"{line['wall_seconds']:>7.1f} s"
        )
    else:
        what = ""
    print(f"{line['case']:<34} {line['engine']:<26} {line['outcome']:<8}{what}", flush=True)
