"""The driver process of a pipeline: start, graceful stop, kill."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from tests.processes import spawn

ENDS_WITHIN_S = 180


class Driver:
    def __init__(self, job: str, folder: Path, *arguments: str) -> None:
        """``job`` is a module; it gets the folder, the number of the start and ``arguments``."""
        self.starts = 0
        self._job = job
        self._folder = folder
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self._folder / f"driver-{self.starts}.log"

    def start(self) -> None:
        self.starts += 1
        what = (str(self._folder), str(self.starts), *self._arguments)
        self._process = spawn(self._job, *what, log=self.log)

    def check(self) -> None:
        """Raise RuntimeError if the process has ended unexpectedly."""
        assert self._process is not None
        if self._process.poll() is not None:
            tail = self.log.read_text(errors="replace")[-4000:]
            raise RuntimeError(f"the driver ended with {self._process.returncode}:\n{tail}")

    def stop(self) -> None:
        """Ask it to stop its query, possibly during a batch, and to end."""
        assert self._process is not None
        (self._folder / "stop").touch()
        status = self._process.wait(ENDS_WITHIN_S)
        (self._folder / "stop").unlink()
        if status != 0:
            self.check()
        self._process = None
        self._tidy()

    def kill(self) -> None:
        if self._process is not None:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
            self._tidy()

    def _tidy(self) -> None:
        """Delete the local files that a killed process leaves behind."""
        shutil.rmtree(self._folder / f"local-{self.starts}", ignore_errors=True)
