"""Where the build stages the jars of Kafka (``make kafka-jars``)."""

from __future__ import annotations

from pathlib import Path

_STAGED = Path(__file__).resolve().parents[2] / "docker" / "kafka" / "jars"
BROKER = _STAGED / "broker"
CONNECTOR = _STAGED / "connector"


def connector_jars() -> list[str]:
    """The jars that Spark needs to read topics; empty if they are not staged."""
    return sorted(str(jar) for jar in CONNECTOR.glob("*.jar"))
