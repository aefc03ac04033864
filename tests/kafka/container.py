"""A broker in a container, by testcontainers, if a Docker engine answers."""

from __future__ import annotations

import os
import shutil
import subprocess

from tests.kafka.broker import CLUSTER_ID, SINGLE_NODE, Broker

IMAGE = os.environ.get("STREAMJOIN_KAFKA_IMAGE", "apache/kafka:4.3.1")
_INSIDE = 9092
_CONTROLLER = 9093

# testcontainers reads these settings once, at its import. The port is published on the loopback of
# this machine, also if the tests run in a container. No second container has to remove containers
# that outlive the tests.
os.environ.setdefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")


def why_not() -> str | None:
    """The reason why no container can run; None if one can."""
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
        # The engine's client accepts this form, which the annotation omits.
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
