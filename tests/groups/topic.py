"""Orders from partitions of topics, and their deliveries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order
from tests.orders import WITHIN_THE_HOUR, at
from tests.streams import Landing, Run


class Topic:
    """Orders from partitions of topics, and deliveries from one source."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.folder = folder
        schema = "topic STRING, p INT, id INT, order_time TIMESTAMP"
        self.orders = Landing(session, folder / "orders", schema)
        schema = "id INT, delivery_time TIMESTAMP, p INT"
        self.deliveries = Landing(session, folder / "deliveries", schema)

    def order(self, *rows: tuple[str | None, int | None, int, str]) -> None:
        self.orders.land(
            *({"topic": t, "p": p, "id": i, "order_time": at(c)} for t, p, i, c in rows)
        )

    def deliver(self, *rows: tuple[int, str], p: int = 0) -> None:
        self.deliveries.land(*({"id": i, "delivery_time": at(c), "p": p} for i, c in rows))

    def ordered(self, per: Any = "p", **options: Any) -> DataFrame:
        stream = self.orders.stream()
        return impose_order(stream, "order_time", "0 seconds", per=per, **options).alias("o")

    def delivered(self, **options: Any) -> DataFrame:
        stream = self.deliveries.stream()
        return impose_order(stream, "delivery_time", "0 seconds", **options).alias("d")

    def run(self, left: DataFrame, how: str = "left", name: str = "checkpoint") -> Run:
        return Run(left.streamJoin(self.delivered(), WITHIN_THE_HOUR, how), self.folder / name)


def pairs(rows: list[tuple[Any, ...]]) -> list[tuple[Any, Any]]:
    return sorted(((row[2], row[4]) for row in rows), key=str)


def mark(run: Run, column: str = "order_time") -> int | None:
    value = run.metrics().get(f"watermark.{column}")
    return None if value is None else value // 60_000 % (24 * 60)
