"""Where the pipeline runs: a cluster of processes, or the Compose services of ``docker/``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Protocol
from urllib.request import ProxyHandler, Request, build_opener

from scripts.standalone_cluster import StandaloneCluster
from tests.kafka.broker import Address, Broker, free_port

ROOT = Path(__file__).resolve().parents[2]
PIPELINE = ROOT / "examples" / "kafka_pipeline.py"
RUN_WITHIN_S = 600
UP_WITHIN_S = 120


class Cluster(Protocol):
    @property
    def broker(self) -> Address:
        """Kafka's address as seen by the tests."""

    def take_in(self, prefix: str) -> None:
        """Submit the pipeline: it reads the topics and writes its result to another topic."""


class OfProcesses:
    def __init__(self, cluster: StandaloneCluster, kafka: Broker) -> None:
        self.broker: Address = kafka
        self._cluster = cluster

    def take_in(self, prefix: str) -> None:
        log = self._cluster.folder / "job.log"
        checkpoint = self._cluster.folder / f"checkpoint-{prefix}"
        where = ("--bootstrap", self.broker.bootstrap, "--checkpoint", str(checkpoint))
        what = ("--prefix", prefix, "--to-topic", "completed", "--once")
        conf = {"spark.sql.shuffle.partitions": "2"}
        job = self._cluster.submit(PIPELINE, *where, *what, conf=conf, log=log)
        status = job.wait(RUN_WITHIN_S)
        assert status == 0, log.read_text(errors="replace")[-4000:]


class Composition:
    """The services of ``docker/compose.yml``.

    STREAMJOIN_SPARK_BASE and STREAMJOIN_KAFKA_IMAGE override the official images.
    """

    def __init__(self) -> None:
        self._kafka_port, self._notebook_port = free_port(), free_port()
        self.broker = Address(self._kafka_port)

    def start(self) -> None:
        self._compose("build")
        self._compose("up", "-d", "kafka", "master", "worker-1", "worker-2")

    def remove(self) -> None:
        self._compose("--profile", "all", "down", "--volumes")

    def take_in(self, prefix: str) -> None:
        checkpoint = f"/checkpoints/{prefix}"
        where = ("--bootstrap", "kafka:19092", "--checkpoint", checkpoint)
        what = ("--prefix", prefix, "--to-topic", "completed", "--once")
        self.run("job", "/examples/kafka_pipeline.py", *where, *what)

    def run(self, service: str, *command: str) -> str:
        return self._compose("run", "--rm", service, *command)

    def notebook(self) -> dict[str, object]:
        """Start the notebook; return the status that its server reports."""
        self._compose("up", "-d", "notebook")
        request = Request(f"http://127.0.0.1:{self._notebook_port}/api/status")
        request.add_header("Authorization", "token streamjoin")
        return _answer(request)

    def _compose(self, *arguments: str) -> str:
        command = [*_compose_command(), "-p", "streamjoin-tests", "-f", "docker/compose.yml"]
        settings = {
            "KAFKA_PORT": str(self._kafka_port),
            "NOTEBOOK_PORT": str(self._notebook_port),
            **_named("KAFKA_IMAGE", "STREAMJOIN_KAFKA_IMAGE"),
            **_named("SPARK_BASE", "STREAMJOIN_SPARK_BASE"),
        }
        done = subprocess.run(
            [*command, *arguments],
            cwd=ROOT,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_WITHIN_S,
            check=False,
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        return done.stdout


def _compose_command() -> list[str]:
    """Docker Compose as a plugin of the client, or as the older separate program."""
    plugin = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False)
    if plugin.returncode == 0:
        return ["docker", "compose"]
    program = shutil.which("docker-compose")
    assert program, "neither 'docker compose' nor 'docker-compose' is installed"
    return [program]


def _named(variable: str, by: str) -> dict[str, str]:
    return {variable: os.environ[by]} if by in os.environ else {}


def _answer(request: Request) -> dict[str, object]:
    """The JSON answer of a server, as soon as it answers."""
    deadline = time.monotonic() + UP_WITHIN_S
    while True:
        try:
            with build_opener(ProxyHandler({})).open(request, timeout=5) as page:
                answer: dict[str, object] = json.load(page)
                return answer
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
