"""Runs a suite: every result is compared, every run is a line of JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path

from . import process
from .case import Case
from .check import cross_check, outcome
from .engine import LIMIT, Engine, NotStagedError
from .process import FailedRunError, Result


def run(cases: Sequence[Case], results: Path, profiles: Path | None = None) -> list[str]:
    """Run the cases, append a line a run to ``results``, and give what went wrong.

    Raises
    ------
    NotStagedError
        The jars of an engine that takes part have not been built.
    """
    missing = {
        engine for case in cases for engine in case.engines if not Engine.of(engine).staged()
    }
    if missing:
        raise NotStagedError(f"{', '.join(sorted(missing))}: no jars; run: make bench-jars")
    results.parent.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    for case in cases:
        try:
            cross_check(case)
            reference = process.run(LIMIT, case)
        except FailedRunError as failure:
            problems.append(str(failure))
            continue
        for line in _runs(case, reference, profiles):
            with results.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(line) + "\n")
            _tell(line)
            problems += _problems(case, line, reference)
    return problems


def _runs(case: Case, reference: Result, profiles: Path | None) -> Iterator[Result]:
    """Give the lines of each engine, of which one that failed or refused has only one."""
    for engine in case.engines:
        circumstances = _circumstances(case, engine)
        try:
            lines = process.measure(engine, case, _profile(profiles, case, engine))
        except FailedRunError as failure:
            yield circumstances | {"repetition": 0, "outcome": "failed", "failure": str(failure)}
            continue
        for run_number, line in enumerate(lines):
            repetition, result = run_number - case.settling, outcome(line, reference)
            # a settling run counts for nothing but a result that is not right
            if repetition >= 0 or result != "correct":
                compared = {"repetition": max(0, repetition), "outcome": result}
                yield circumstances | compared | line


def _problems(case: Case, line: Result, reference: Result) -> list[str]:
    engine = line["engine"]
    expected = case.expected.get(engine, "correct")
    if line["outcome"] == expected:
        return []
    found = (
        line.get("failure")
        or line.get("refused")
        or (
            f"{line['result_rows']} rows, {line['checksum']}; "
            f"the bare loop {reference['result_rows']}, {reference['checksum']}"
        )
    )
    return [f"{engine} on {case.label}: {line['outcome']}, not {expected}: {found}"]


def _profile(folder: Path | None, case: Case, engine: str) -> Path | None:
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    label = "".join(c if c.isalnum() else "-" for c in case.label)
    return folder / f"{label}.{engine}.collapsed"


def _circumstances(case: Case, engine: str) -> Result:
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "load": os.getloadavg()[0],
        "case": case.label,
        "engine": engine,
        "warmup": case.warmup,
        "warmup_batches": case.warmup_batches,
        "settling": case.settling,
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
