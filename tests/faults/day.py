"""A day in a shop, hour by hour, and the expected result of its full join."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from pyspark.sql import functions as F

from tests.orders import WITHIN_THE_HOUR, Shop

Row = tuple[Any, ...]
LAG = "3 hours"
MOST_HOURS = 16
"""Rows that land later could be late, or not be final after ``close``."""
_ORDERS_AN_HOUR = 40
_CLOSING = 10**6


class Day:
    """Orders and deliveries, out of order by less than ``LAG``, so that none is late."""

    def __init__(self, shop: Shop, seed: int | str) -> None:
        self.shop = shop
        self.hours = 0
        self._rng = Random(f"day/{seed}")

    def land(self) -> None:
        """Land the files of the next hour."""
        assert self.hours < MOST_HOURS
        rng = self._rng
        orders: list[tuple[int | None, str | None]] = []
        deliveries: list[tuple[int | None, str | None]] = []
        for i in range(_ORDERS_AN_HOUR):
            number = self.hours * _ORDERS_AN_HOUR + i
            placed = self.hours * 60 + rng.randrange(120)
            orders.append((number, _clock(placed)))
            # some beyond the bound, and some exactly at it
            for _ in range(rng.choice([0, 1, 1, 2])):
                deliveries.append((number, _clock(placed + rng.choice([60, rng.randrange(80)]))))
        rng.shuffle(orders)
        rng.shuffle(deliveries)
        self.shop.order(*orders)
        self.shop.deliver(*deliveries)
        self.hours += 1

    def close(self) -> None:
        """Land files that make all earlier results final; their rows match nothing."""
        self.shop.order((_CLOSING, "23:59"))
        self.shop.deliver((_CLOSING + 1, "23:59"))

    def answer(self) -> list[Row]:
        """The batch join of all landed rows, filtered by ``decided``."""
        left, right = (
            self.shop.session.read.schema(side.schema).json(str(side.folder))
            for side in (self.shop.orders, self.shop.deliveries)
        )
        joined = left.alias("o").join(right.alias("d"), F.expr(WITHIN_THE_HOUR), "full")
        return decided(tuple(row) for row in joined.collect())


def decided(rows: Iterable[Row]) -> list[Row]:
    """The rows without those of ``close``, sorted."""
    return sorted((row for row in rows if (row[0] or row[2] or 0) < _CLOSING), key=str)


def plain(row: Row) -> Row:
    """The row with values that JSON can represent."""
    return tuple(value if isinstance(value, int | None) else str(value) for value in row)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
