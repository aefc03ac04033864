"""One run in one process."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .case import Case
from .engine import Engine

Result = dict[str, Any]


class FailedRunError(RuntimeError):
    """A process ended without a result."""


def run(
    engine: str,
    case: Case,
    profile: Path | None = None,
    timeout: float | None = None,
    **changes: str | int,
) -> Result:
    """Run a case on an engine, in a fresh process, and give its line of results.

    Raises
    ------
    FailedRunError
        The process failed or took longer than ``timeout`` seconds.
    """
    with TemporaryDirectory(prefix="streamjoin-benchmark-") as name:
        folder = Path(name)
        out = folder / "result.json"
        arguments = [f"engine={engine}", f"out={out}", *case.arguments(**changes)]
        if profile is not None:
            arguments.append(f"profile={profile.resolve()}")
        log = folder / "log"
        with log.open("wb") as stream:
            try:
                code = subprocess.run(
                    Engine(engine).command(arguments),
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    env=_environment(folder, profiled=profile is not None),
                    cwd=folder,
                    timeout=timeout,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired as late:
                raise FailedRunError(f"{engine} on {case.label}: no end in {timeout} s") from late
        if code != 0 or not out.exists():
            tail = log.read_text(encoding="utf-8", errors="replace")[-4000:]
            raise FailedRunError(f"{engine} on {case.label} ended with {code}:\n{tail}")
        result: Result = json.loads(out.read_text(encoding="utf-8"))
        return result


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
