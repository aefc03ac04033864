"""An engine in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .case import Case
from .engine import Engine

Result = dict[str, Any]


class FailedRunError(RuntimeError):
    """A process ended without a result."""


def run(engine: str, case: Case, **changes: str | int) -> Result:
    """Run a case once on an engine, in a fresh process, and give its line of results.

    Raises
    ------
    FailedRunError
        The process failed.
    """
    return _lines(engine, case, case.arguments(**changes))[0]


def measure(engine: str, case: Case, profile: Path | None = None) -> list[Result]:
    """Give a line for each run of a case in one process, after a warm-up; settling runs come first.

    Raises
    ------
    FailedRunError
        The process failed.
    """
    arguments = case.arguments(
        **{
            "runs": case.settling + case.repetitions,
            "warmup": case.warmup,
            "warmup-batches": case.warmup_batches,
        }
    )
    if profile is not None:
        arguments.append(f"profile={profile.resolve()}")
    return _lines(engine, case, arguments)


def _lines(engine: str, case: Case, arguments: Sequence[str]) -> list[Result]:
    with TemporaryDirectory(prefix="streamjoin-benchmark-") as name:
        folder = Path(name)
        out, log = folder / "result.json", folder / "log"
        profiled = any(argument.startswith("profile=") for argument in arguments)
        with log.open("wb") as stream:
            code = subprocess.run(
                Engine.of(engine).command([f"engine={engine}", f"out={out}", *arguments]),
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=_environment(folder, profiled=profiled),
                cwd=folder,
                check=False,
            ).returncode
        if code != 0 or not out.exists():
            tail = log.read_text(encoding="utf-8", errors="replace")[-4000:]
            raise FailedRunError(f"{engine} on {case.label} ended with {code}:\n{tail}")
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def _environment(folder: Path, profiled: bool) -> Mapping[str, str]:
    """Keep a run's checkpoints in its folder; a machine's own name may lead nowhere."""
    options = [f"-Djava.io.tmpdir={folder}"]
    if profiled:
        # else samples fall on the nearest safepoint
        options += ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]
    return {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder),
        "JAVA_TOOL_OPTIONS": " ".join(options),
    }
