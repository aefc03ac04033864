"""A master and workers of Spark's own on this machine, out of the pip package, and jobs on them.

    python scripts/standalone_cluster.py job.py ARGUMENTS...

starts a master and two workers on loopback, submits the job with ``spark-submit --jars`` and the
jars of streamjoin and, if ``make kafka-jars`` has put them there, of Spark's Kafka connector, and
ends with what the job ends with.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

import pyspark

import streamjoin

ROOT = Path(__file__).resolve().parents[1]
UP_WITHIN_S = 180
MASTER = "127.0.0.1"
_LEFT_FROM_ANOTHER_START = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "PYSPARK_GATEWAY_PORT")


class StandaloneCluster:
    """Processes that end with ``stop``; logs and work are below ``folder``."""

    def __init__(self, folder: Path, workers: int = 2, cores: int = 1, memory: str = "1g") -> None:
        self.folder = folder
        self.workers = workers
        self._resources = ("--cores", str(cores), "--memory", memory)
        self._home = Path(pyspark.__file__).parent
        self._port, self._ui = _free_port(), _free_port()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def master(self) -> str:
        return f"spark://{MASTER}:{self._port}"

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._launch(
            "master",
            MASTER,
            "org.apache.spark.deploy.master.Master",
            *("--port", str(self._port), "--webui-port", str(self._ui)),
        )
        for number in range(self.workers):
            self.start_worker(number)
        self.wait_for_workers(self.workers)

    def start_worker(self, number: int) -> None:
        self._launch(
            f"worker-{number}",
            _worker_host(number),
            "org.apache.spark.deploy.worker.Worker",
            *("--webui-port", "0", "--work-dir", str(self.folder / f"work-{number}")),
            *self._resources,
            self.master,
        )

    def wait_for_workers(self, count: int) -> None:
        deadline = time.monotonic() + UP_WITHIN_S
        while self._alive_workers() != count:
            for name, process in self._processes.items():
                if process.poll() is not None:
                    raise RuntimeError(f"{name} has ended:\n{self._log(name)}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"not {count} workers at the master:\n{self._log('master')}")
            time.sleep(0.2)

    def submit(
        self, job: Path, *arguments: str, conf: Mapping[str, str] | None = None, log: Path
    ) -> subprocess.Popen[bytes]:
        """Start a job in client mode; it writes to ``log``, and its process group is its own."""
        settings = {
            "spark.sql.extensions": "io.streamjoin.StreamJoinExtensions",
            "spark.driver.host": MASTER,
            "spark.executor.memory": "600m",
            "spark.ui.enabled": "false",
            **(conf or {}),
        }
        command = [
            str(self._home / "bin" / "spark-submit"),
            *("--master", self.master),
            *("--jars", ",".join(_jars())),
            *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
            str(job),
            *arguments,
        ]
        with log.open("wb") as out:
            return subprocess.Popen(
                command,
                env=self._environment(MASTER),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def executors(self, worker: int | None = None) -> list[int]:
        """Process ids of the executors, of all workers or of one."""
        workers = range(self.workers) if worker is None else [worker]
        running = [self._processes.get(f"worker-{number}") for number in workers]
        return [pid for process in running if process for pid in _executors_of(process.pid)]

    def kill_worker(self, number: int) -> None:
        """As when a machine fails: the worker and its executors end, with ``kill -9``."""
        process = self._processes.pop(f"worker-{number}")
        executors = list(_executors_of(process.pid))
        process.kill()
        process.wait()
        for executor in executors:
            with suppress(ProcessLookupError):
                os.kill(executor, signal.SIGKILL)

    def stop(self) -> None:
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.wait(60)
        self._processes.clear()

    def __enter__(self) -> StandaloneCluster:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _launch(self, name: str, host: str, *command: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            # spark-class becomes the JVM: its process id is the daemon's.
            self._processes[name] = subprocess.Popen(
                [str(self._home / "bin" / "spark-class"), command[0], "--host", host, *command[1:]],
                env=self._environment(host),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _environment(self, host: str) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if k not in _LEFT_FROM_ANOTHER_START}
        return {
            **inherited,
            "SPARK_HOME": str(self._home),
            # nothing of the cluster is seen from other machines
            "SPARK_LOCAL_IP": host,
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(
                [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
            ),
        }

    def _alive_workers(self) -> int:
        try:
            with build_opener(ProxyHandler({})).open(f"http://{MASTER}:{self._ui}/json/") as page:
                state: dict[str, Any] = json.load(page)
        except (OSError, ValueError):
            # not up yet, or only so far that it answers with a page
            return 0
        alive: int = state["aliveworkers"]
        return alive

    def _log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")[-4000:]


def _worker_host(number: int) -> str:
    # An address for each, as machines have: a speculative copy of a task runs on another host than
    # the first one. Only Linux has all of 127.0.0.0/8 set up.
    return f"127.0.0.{number + 2}" if sys.platform == "linux" else "127.0.0.1"


def _executors_of(worker: int) -> Iterator[int]:
    listing = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    for line in listing.stdout.splitlines():
        pid, parent, command = line.split(None, 2)
        if int(parent) == worker and "CoarseGrainedExecutorBackend" in command:
            yield int(pid)


def _jars() -> list[str]:
    connector = ROOT / "docker" / "kafka" / "jars" / "connector"
    return [streamjoin.jar_path(), *sorted(str(jar) for jar in connector.glob("*.jar"))]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((MASTER, 0))
        port: int = probe.getsockname()[1]
        return port


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1, help="of each worker")
    parser.add_argument("--memory", default="1g", help="of each worker")
    parser.add_argument("job", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="standalone-cluster-") as name:
        folder = Path(name)
        with StandaloneCluster(folder, given.workers, given.cores, given.memory) as cluster:
            print(f"{cluster.master} with {given.workers} workers", flush=True)
            job = cluster.submit(given.job, *given.arguments, log=Path("/dev/stdout"))
            try:
                return job.wait()
            except KeyboardInterrupt:
                job.terminate()
                return job.wait()


if __name__ == "__main__":
    sys.exit(main())
