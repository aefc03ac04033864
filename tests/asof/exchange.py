"""Orders, and rates of currencies as changes, for the tests of temporal joins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamjoin import from_changelog, impose_order
from tests.orders import at
from tests.streams import Landing, Run

KEY = "o.currency = r.currency"
KINDS = {"+": "insert", "-": "delete", "<": "update_preimage", ">": "update_postimage"}


class Exchange:
    """Orders, and rates of currencies as changes."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.order_landing = Landing(spark, folder / "orders", "time TIMESTAMP, currency STRING")
        self.rate_landing = Landing(
            spark,
            folder / "rates",
            "time TIMESTAMP, currency STRING, rate DOUBLE, n INT, _change_type STRING",
        )

    def orders(self) -> DataFrame:
        return impose_order(self.order_landing.stream(), "time", "0 seconds").alias("o")

    def changes(self, **declared: Any) -> DataFrame:
        return from_changelog(
            self.rate_landing.stream(), **{"key": "currency", "sequence_by": "n", **declared}
        )

    def rates(self, **declared: Any) -> DataFrame:
        return impose_order(self.changes(**declared), "time", "0 seconds").alias("r")

    def order(self, *arrivals: str) -> None:
        self.order_landing.land(
            *(
                {"time": at(clock), "currency": currency}
                for currency, clock in (a.split() for a in arrivals)
            )
        )

    def change(self, *arrivals: str) -> None:
        """Land changes such as `+EUR 10:01 1.10`, and `-EUR 10:05 1.10 7` with a sequence."""
        self.rate_landing.land(*map(change, arrivals))

    def run(self, result: DataFrame, name: str = "checkpoint") -> Run:
        return Run(result, self.folder / name)

    def shown(self, **options: Any) -> Run:
        joined = self.orders().streamJoin(self.rates(), KEY, "left_asof", **options)
        return self.run(joined.select("o.currency", "o.time", "r.rate"))


def change(arrival: str) -> dict[str, object]:
    word, clock, rate, *sequence = arrival.split()
    return {
        "time": None if clock == "-" else at(clock),
        "currency": None if word[1:] == "-" else word[1:],
        "rate": float(rate),
        "n": int(sequence[0]) if sequence else 0,
        "_change_type": KINDS[word[0]],
    }
