"""Orders and deliveries, the two streams of most tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order
from tests.streams import Landing, Run

WITHIN_THE_HOUR = (
    "o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"
)


def at(clock: str) -> str:
    """A time on the day of the tests; `10:00` or `10:00:30.5`."""
    return f"2024-05-04T{clock}{':00' if clock.count(':') == 1 else ''}"


@dataclass
class Shop:
    """The two streams, with rows that land on demand."""

    session: SparkSession
    folder: Path

    def __post_init__(self) -> None:
        self.orders = Landing(self.session, self.folder / "orders", "id INT, order_time TIMESTAMP")
        self.deliveries = Landing(
            self.session, self.folder / "deliveries", "id INT, delivery_time TIMESTAMP"
        )

    def order(self, *arrivals: tuple[int | None, str | None]) -> None:
        self.orders.land(*({"id": i, "order_time": c and at(c)} for i, c in arrivals))

    def deliver(self, *arrivals: tuple[int | None, str | None]) -> None:
        self.deliveries.land(*({"id": i, "delivery_time": c and at(c)} for i, c in arrivals))

    def ordered(self, lag: str = "0 seconds", **options: Any) -> DataFrame:
        return impose_order(self.orders.stream(), "order_time", lag, **options).alias("o")

    def delivered(self, lag: str = "0 seconds", **options: Any) -> DataFrame:
        stream = self.deliveries.stream()
        return impose_order(stream, "delivery_time", lag, **options).alias("d")

    def joined(self, how: str = "inner", on: str = WITHIN_THE_HOUR, lag: str = "0 seconds") -> Run:
        return self.run(self.ordered(lag).streamJoin(self.delivered(lag), on, how))

    def run(self, result: DataFrame, name: str = "checkpoint") -> Run:
        return Run(result, self.folder / name)


def ordered_view(stream: DataFrame, time: str, name: str, minutes: int = 0) -> None:
    """A view whose SQL text imposes the order."""
    stream.createOrReplaceTempView(f"{name}_without")
    stream.sparkSession.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM IMPOSE_ORDER("
        f"TABLE({name}_without), DESCRIPTOR({time}), INTERVAL '{minutes}' MINUTE)"
    )


Ids = list[tuple[int | None, int | None]]


def ids(rows: list[tuple[Any, ...]]) -> Ids:
    """The pairs of order id and delivery id, sorted."""
    return sorted(((row[0], row[2]) for row in rows), key=str)


def met(batches: dict[int, list[tuple[Any, ...]]]) -> Ids:
    """The sorted id pairs of all these batches."""
    return ids([row for rows in batches.values() for row in rows])
