"""The expected output of examples/kafka_pipeline.py, batch by batch, in plain Python.

The offsets of a batch determine its rows. A row is late if its time is below the watermark of the
previous batches: the largest time of its topic minus the lag. An order is final once all three
watermarks are so far beyond its rows that none can match any more. Every row of its join must have
been emitted by then, once. The oracle then forgets the order, so it stores open orders only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

LAG = timedelta(hours=3)
DELIVERED_WITHIN = timedelta(hours=1)
RETURNED_WITHIN = timedelta(hours=2)
TIMES = {"orders": "order_time", "deliveries": "delivery_time", "returns": "return_time"}

Row = Mapping[str, Any]
ResultRow = tuple[int, datetime, datetime | None, str | None, datetime | None]


class WrongResultError(Exception):
    """The output differs from the expected output."""


@dataclass(frozen=True)
class Batch:
    number: int
    rows: Mapping[str, Sequence[Row]]
    """The rows that it read, by topic."""
    given: Sequence[ResultRow]


@dataclass
class Order:
    placed: list[datetime] = field(default_factory=list)
    delivered: list[tuple[datetime, str | None]] = field(default_factory=list)
    returned: list[datetime] = field(default_factory=list)
    last: datetime | None = None
    given: Counter[ResultRow] = field(default_factory=Counter)

    def add(self, topic: str, time: datetime, row: Row) -> None:
        if topic == "orders":
            self.placed.append(time)
        elif topic == "deliveries":
            self.delivered.append((time, row["courier"]))
        else:
            self.returned.append(time)
        self.last = max(self.last or time, time)

    def expected(self, number: int) -> Iterator[ResultRow]:
        for order in self.placed:
            deliveries = list(self._deliveries(order))
            for delivery, courier in deliveries:
                returns = [r for r in self.returned if delivery <= r <= delivery + RETURNED_WITHIN]
                for returned in returns:
                    yield number, order, delivery, courier, returned
                if not returns:
                    yield number, order, delivery, courier, None
            if not deliveries:
                yield number, order, None, None, None

    def most_buffered(self) -> int:
        """Its rows, plus the results of the first join that the second one buffers."""
        waiting = sum(1 for order in self.placed for _ in self._deliveries(order))
        return len(self.placed) + len(self.delivered) + len(self.returned) + waiting

    def _deliveries(self, order: datetime) -> Iterator[tuple[datetime, str | None]]:
        return (each for each in self.delivered if order <= each[0] <= order + DELIVERED_WITHIN)


@dataclass(frozen=True)
class After:
    """What the progress report must state after a batch."""

    watermarks: Mapping[str, datetime]
    late: Mapping[str, int]
    most_buffered: int


class Oracle:
    def __init__(self) -> None:
        self.decided = 0
        self.checked_rows = 0
        self.late: Counter[str] = Counter()
        self._watermarks: dict[str, datetime] = {}
        self._orders: dict[int, Order] = defaultdict(Order)

    def take(self, batch: Batch) -> After:
        """Process the next batch.

        Raises WrongResultError if the output of a newly final order differs from the join over its
        rows, or if a row was emitted for an order that was already final.
        """
        late = Counter({topic: self._take_in(topic, rows) for topic, rows in batch.rows.items()})
        self.late += late
        self._advance(batch.rows)
        for row in batch.given:
            if row[0] not in self._orders:
                raise WrongResultError(f"batch {batch.number} gives {row}, decided before")
            self._orders[row[0]].given[row] += 1
        self._decide(batch.number)
        buffered = sum(order.most_buffered() for order in self._orders.values())
        return After(dict(self._watermarks), dict(late), buffered)

    def undecided(self) -> list[int]:
        return sorted(self._orders)

    def _take_in(self, topic: str, rows: Iterable[Row]) -> int:
        late = 0
        watermark = self._watermarks.get(topic)
        for row in rows:
            time = time_in(topic, row)
            if watermark is not None and time < watermark:
                late += 1
            else:
                self._orders[row["order_id"]].add(topic, time, row)
        return late

    def _advance(self, rows: Mapping[str, Sequence[Row]]) -> None:
        for topic, each in rows.items():
            for row in each:
                reached = time_in(topic, row) - LAG
                self._watermarks[topic] = max(self._watermarks.get(topic, reached), reached)

    def _decide(self, batch: int) -> None:
        if len(self._watermarks) < len(TIMES):
            return
        decided = min(self._watermarks.values()) - DELIVERED_WITHIN - RETURNED_WITHIN
        for number, order in list(self._orders.items()):
            if order.last is not None and order.last < decided:
                self._compare(batch, number, order)
                del self._orders[number]

    def _compare(self, batch: int, number: int, order: Order) -> None:
        expected = Counter(order.expected(number))
        if expected != order.given:
            raise WrongResultError(
                f"order {number}, decided by batch {batch}: missing {expected - order.given}, "
                f"too many {order.given - expected}; on time were {order}"
            )
        self.decided += 1
        self.checked_rows += expected.total()


def time_in(topic: str, row: Row) -> datetime:
    return datetime.fromisoformat(row[TIMES[topic]])
