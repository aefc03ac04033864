"""Where the build puts the jars of Kafka; ``make kafka-jars`` makes it do so."""

from __future__ import annotations

from pathlib import Path

_STAGED = Path(__file__).resolve().parents[2] / "docker" / "kafka" / "jars"
BROKER = _STAGED / "broker"
CONNECTOR = _STAGED / "connector"


def connector_jars() -> list[str]:
    """What Spark needs to read topics; none if the build has not put them there."""
    return sorted(str(jar) for jar in CONNECTOR.glob("*.jar"))
