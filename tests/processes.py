"""Runs Python in a separate process, because a JVM loads its jars only once, at its start."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_STARTS_SPARK_ANEW = ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "PYSPARK_GATEWAY_PORT")


def run_python(code: str, **environment: str) -> str:
    """Run code and return what it prints."""
    return run([sys.executable, "-c", textwrap.dedent(code)], environment)


def run(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        env={**_environment(), **(environment or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def spawn(
    module: str, *arguments: str, log: Path, python: str = sys.executable
) -> subprocess.Popen[bytes]:
    """Start ``python -m module`` in a new process group, which includes its JVM."""
    with log.open("wb") as out:
        return subprocess.Popen(
            [python, "-m", module, *arguments],
            cwd=ROOT,
            env={**_environment(), "PYSPARK_PYTHON": python},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _environment() -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if k not in _STARTS_SPARK_ANEW}
    return {**inherited, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
