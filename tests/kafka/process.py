"""A broker as a process, from the jars that the build staged in ``docker/kafka/jars/broker``."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from tests.kafka.broker import CLUSTER_ID, SINGLE_NODE, Broker, free_port
from tests.kafka.jars import BROKER

JVM = ["-Xms64m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
LOGGING = """\
status=error
appender.out.type=Console
appender.out.name=OUT
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %c{1} %m%n
rootLogger.level=info
rootLogger.appenderRef.out.ref=OUT
"""


class BrokerProcess(Broker):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._settings = folder / "server.properties"
        self._logging = folder / "log4j2.properties"
        self._log = folder / "broker.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._format()

    @property
    def kind(self) -> str:
        return "a separate process"

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def remove(self) -> None:
        self._end(signal.SIGTERM)
        shutil.rmtree(self._folder, ignore_errors=True)

    def log(self) -> str:
        return self._log.read_text(errors="replace")[-4000:] if self._log.exists() else ""

    def _format(self) -> None:
        controller = free_port()
        settings = {
            **SINGLE_NODE,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "log.dirs": str(self._folder / "data"),
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        self._settings.write_text("".join(f"{k}={v}\n" for k, v in settings.items()))
        self._logging.write_text(LOGGING)
        tool = ("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(self._settings))
        done = subprocess.run(self._java(*tool), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"Kafka's storage was not formatted:\n{done.stdout}{done.stderr}")

    def _launch(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._java("kafka.Kafka", str(self._settings)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C in the terminal reaches the tests only, which then stop the broker.
                start_new_session=True,
            )

    def _ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    def _java(self, *arguments: str) -> list[str]:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home) / "bin" / "java") if home else "java"
        logging = f"-Dlog4j2.configurationFile={self._logging}"
        return [java, *JVM, logging, "-cp", f"{BROKER}/*", *arguments]
