"""The same query as an interval join of Flink SQL, in a process of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.engine import FLINK_SQL
from tests.kafka.broker import Address

_INPUTS = {
    "orders": ("order_id", "order_time"),
    "deliveries": ("delivered_id", "delivery_time"),
}
_QUERY = """
    INSERT INTO results SELECT order_id, delivered_id FROM orders LEFT JOIN deliveries
      ON order_id = delivered_id
     AND delivery_time BETWEEN order_time AND order_time + INTERVAL '10' SECOND
"""


def command(broker: Address, checkpoints: Path, batch_ms: int, buffer_ms: int | None) -> list[str]:
    """Give the command of the process: its checkpoints are as frequent as Spark's batches."""
    settings = {
        "table.dml-sync": "true",
        "parallelism.default": "2",
        "execution.checkpointing.interval": f"{batch_ms} ms",
        # with checkpoints in memory, whose size Flink limits, the job began anew several times
        "execution.checkpointing.storage": "filesystem",
        "execution.checkpointing.dir": checkpoints.as_uri(),
    }
    if buffer_ms is not None:
        settings["execution.buffer-timeout.interval"] = f"{buffer_ms} ms"
    options = [*FLINK_SQL.options, *(f"-Dflink.{k}={v}" for k, v in settings.items())]
    tables = [_table(broker, name, _input(*columns)) for name, columns in _INPUTS.items()]
    result = _table(broker, "results", "order_id BIGINT, delivered_id BIGINT")
    return replace(FLINK_SQL, options=options).command([*tables, result, _QUERY])


def _input(key: str, time: str) -> str:
    watermark = f"WATERMARK FOR {time} AS {time} - INTERVAL '1' SECOND"
    return f"{key} BIGINT, {time} TIMESTAMP_LTZ(3), {watermark}"


def _table(broker: Address, name: str, columns: str) -> str:
    options = {
        "connector": "kafka",
        "topic": name,
        "properties.bootstrap.servers": broker.bootstrap,
        "format": "json",
        "json.timestamp-format.standard": "ISO-8601",
    }
    if name in _INPUTS:
        options["scan.startup.mode"] = "earliest-offset"
        # a second reader would have no partition and hold the watermark back: no row would leave
        options["scan.parallelism"] = "1"
    settings = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({settings})"
