"""Trades and quotes for the tests of as-of joins."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order
from tests.orders import at
from tests.streams import Landing, Run


class Market:
    """Trades and quotes, each with a sequence of its own in `n`."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        schema = "time TIMESTAMP, sym STRING, n INT"
        self.spark = spark
        self.folder = folder
        self.trade_landing = Landing(spark, folder / "trades", schema)
        self.quote_landing = Landing(spark, folder / "quotes", schema)
        self.numbers = iter(range(1, 10_000))

    def trades(self, lag: str = "0 seconds") -> DataFrame:
        return impose_order(self.trade_landing.stream(), "time", lag).alias("t")

    def quotes(self, lag: str = "0 seconds") -> DataFrame:
        return impose_order(self.quote_landing.stream(), "time", lag).alias("q")

    def views(self) -> None:
        self.trades().createOrReplaceTempView("trades")
        self.quotes().createOrReplaceTempView("quotes")

    def trade(self, *arrivals: str) -> None:
        self._land(self.trade_landing, arrivals)

    def quote(self, *arrivals: str) -> None:
        self._land(self.quote_landing, arrivals)

    def _land(self, landing: Landing, arrivals: tuple[str, ...]) -> None:
        landing.land(
            *(
                {"time": at(clock), "sym": sym, "n": next(self.numbers)}
                for sym, clock in (a.split() for a in arrivals)
            )
        )

    def run(self, result: DataFrame, name: str = "checkpoint") -> Run:
        return Run(result, self.folder / name)
