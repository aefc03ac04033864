"""A broker in a container, by testcontainers, where a Docker engine answers."""

from __future__ import annotations

import os
import shutil
import subprocess

from tests.kafka.broker import CLUSTER_ID, SINGLE_NODE, Broker

IMAGE = os.environ.get("STREAMJOIN_KAFKA_IMAGE", "apache/kafka:4.3.1")
_INSIDE = 9092
_CONTROLLER = 9093

# Before testcontainers is imported, which reads them once: the port is published on this machine's
# loopback, also where the tests run in a container of their own; and nothing outlives the tests
# that a second container would have to remove.
os.environ.setdefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")


def why_not() -> str | None:
    """Say what is missing for a container; None if nothing is."""
    if not shutil.which("docker") or not _docker("info"):
        return "no Docker engine answers"
    if not _docker("image", "inspect", IMAGE) and not _docker("pull", "--quiet", IMAGE):
        return f"the Docker engine has no image {IMAGE} and cannot pull it"
    return None


def _docker(*arguments: str) -> bool:
    done = subprocess.run(["docker", *arguments], capture_output=True, check=False)
    return done.returncode == 0


class BrokerContainer(Broker):
    def __init__(self) -> None:
        super().__init__()
        from testcontainers.core.container import DockerContainer

        settings = {
            **SINGLE_NODE,
            "controller.quorum.voters": f"1@localhost:{_CONTROLLER}",
            "listeners": f"PLAINTEXT://:{_INSIDE},CONTROLLER://:{_CONTROLLER}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
        }
        variables = {f"KAFKA_{k.upper().replace('.', '_')}": v for k, v in settings.items()}
        self._container = DockerContainer(IMAGE).with_envs(CLUSTER_ID=CLUSTER_ID, **variables)
        # as the engine's own client takes it, which the annotation leaves out
        self._container.ports[f"{_INSIDE}/tcp"] = ("127.0.0.1", self.port)  # type: ignore[assignment]
        self._made = False

    @property
    def kind(self) -> str:
        return f"a container of {IMAGE}"

    def kill(self) -> None:
        self._container.get_wrapped_container().kill("SIGKILL")

    def remove(self) -> None:
        self._container.stop()

    def log(self) -> str:
        return b"".join(self._container.get_logs()).decode(errors="replace")[-4000:]

    def _launch(self) -> None:
        if self._made:
            self._container.get_wrapped_container().start()
        else:
            self._container.start()
            self._made = True

    def _ended(self) -> bool:
        made = self._container.get_wrapped_container()
        made.reload()
        return made.status in ("exited", "dead")
