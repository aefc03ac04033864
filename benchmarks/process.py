"""An engine in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .case import Case, named
from .engine import BATCH, Engine

Result = dict[str, Any]


class FailedRunError(RuntimeError):
    """A process ended without a result."""


class Runner:
    """A process that runs a case each time it is asked to, and waits in between."""

    def __init__(self, engine: str, case: Case, process: subprocess.Popen[str], log: Path) -> None:
        self.engine = engine
        self.case = case
        self._process = process
        self._log = log

    def run(self, **changes: str | int) -> Result:
        """Run the case once, on other parameters where some are given.

        ``profile=`` is a file for collapsed stacks; the process has to be started for it.

        Raises
        ------
        FailedRunError
            The process failed.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write("\t".join(named(changes)) + "\n")
            self._process.stdin.flush()
            # a JVM's own warnings go there too
            answer = next((line for line in self._process.stdout if line.startswith("{")), "")
        except BrokenPipeError:
            answer = ""
        if not answer:
            tail = self._log.read_text(encoding="utf-8", errors="replace")[-4000:]
            code = self._process.wait()
            raise FailedRunError(f"{self.engine} on {self.case.label} ended with {code}:\n{tail}")
        result: Result = json.loads(answer)
        return result

    def alive(self) -> bool:
        return self._process.poll() is None

    def warm_up(self) -> Iterator[Result]:
        """Give the results of what the case says has to be run before something is measured.

        Raises
        ------
        FailedRunError
            The process failed.
        """
        if self.case.fresh:
            return
        if self.case.warmup > 0:
            batch = max(1, self.case.warmup // self.case.warmup_batches)
            first = self.run(rows=self.case.warmup, batch=batch)
            if "refused" in first:
                yield first
                return
        seconds = 0.0
        while seconds < self.case.settling:
            result = self.run()
            yield result
            seconds += result.get("wall_seconds", self.case.settling)


class _FreshRunner(Runner):
    """A runner with a process for each run."""

    def __init__(self, engine: str, case: Case, *, profiled: bool) -> None:
        self.engine = engine
        self.case = case
        self._profiled = profiled

    def run(self, **changes: str | int) -> Result:
        once = replace(self.case, fresh=False)
        with started(self.engine, once, profiled=self._profiled) as runner:
            return runner.run(**changes)

    def alive(self) -> bool:
        return True


@contextmanager
def started(engine: str, case: Case, *, profiled: bool = False) -> Iterator[Runner]:
    """Start an engine's process for a case, and end it."""
    if case.fresh:
        yield _FreshRunner(engine, case, profiled=profiled)
        return
    with TemporaryDirectory(prefix="streamjoin-benchmark-") as name:
        folder = Path(name)
        log = folder / "log"
        with (
            log.open("wb") as stream,
            subprocess.Popen(
                Engine.of(engine).command([f"engine={_named(engine, case)}", *case.arguments()]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                env=_environment(folder, profiled=profiled),
                cwd=folder,
                text=True,
            ) as process,
        ):
            try:
                yield Runner(engine, case, process, log)
            finally:
                # a process that ends with its input has closed what it opened
                process.communicate()


def run(engine: str, case: Case, **changes: str | int) -> Result:
    """Run a case once on an engine, in a fresh process, and give its line of results.

    Raises
    ------
    FailedRunError
        The process failed.
    """
    with started(engine, case) as runner:
        return runner.run(**changes)


def _named(engine: str, case: Case) -> str:
    """Name the engine as its process knows it; the reference has no query to configure."""
    configured = Engine.of(engine).submitted and engine != BATCH
    return f"{engine}-plain" if case.plain and configured else engine


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
