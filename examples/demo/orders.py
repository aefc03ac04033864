"""Orders, their deliveries and their returns: two left joins in a row, one input slow."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from .arrivals import Clock, Stream, stream
from .pipeline import JoinInputs, Pipeline

DELIVERED = (
    "o.order_id = d.order_id "
    "AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"
)
RETURNED = (
    "o.order_id = r.order_id "
    "AND r.return_time BETWEEN d.delivery_time AND d.delivery_time + INTERVAL '2' HOUR"
)
RESULT = [
    "o.order_id",
    "o.order_time",
    "o.amount_cents",
    "d.delivery_time",
    "d.courier",
    "r.return_time",
    "r.reason",
]

CLOCK = Clock(pd.Timestamp("2026-05-04 08:00", tz="UTC"), timedelta(minutes=30), 19)
LAG = timedelta(minutes=10)
ORDERS = 5000
OPEN_HOURS = 6
HELD_BACK = timedelta(hours=4)
STALL = (CLOCK.start + timedelta(hours=2), CLOCK.start + timedelta(hours=4, minutes=30))


def streamed(orders: DataFrame, deliveries: DataFrame, returns: DataFrame) -> DataFrame:
    joined: DataFrame = (
        orders.imposeOrder("order_time", LAG)
        .alias("o")
        .streamJoin(deliveries.imposeOrder("delivery_time", LAG).alias("d"), DELIVERED, "left")
        .streamJoin(returns.imposeOrder("return_time", LAG).alias("r"), RETURNED, "left")
    )
    return joined.select(*RESULT)


def batch(orders: DataFrame, deliveries: DataFrame, returns: DataFrame) -> DataFrame:
    return (
        orders.alias("o")
        .join(deliveries.alias("d"), expr(DELIVERED), "left")
        .join(returns.alias("r"), expr(RETURNED), "left")
        .select(*RESULT)
    )


def pipeline() -> Pipeline:
    random = np.random.default_rng(20260504)
    orders = _orders(random)
    deliveries = _deliveries(random, orders)
    returns = _returns(random, deliveries)
    return Pipeline(
        name="orders",
        about="orders LEFT JOIN deliveries within an hour LEFT JOIN returns within two hours of "
        "delivery; returns stall for two and a half hours",
        clock=CLOCK,
        streams=(
            _stream(
                random,
                "orders",
                "order_id BIGINT, order_time TIMESTAMP, amount_cents BIGINT",
                time="order_time",
                rows=orders,
                late=12,
                closing_id=-1,
            ),
            _stream(
                random,
                "deliveries",
                "order_id BIGINT, delivery_time TIMESTAMP, courier STRING",
                time="delivery_time",
                rows=deliveries,
                late=9,
                closing_id=-2,
            ),
            _stream(
                random,
                "returns",
                "order_id BIGINT, return_time TIMESTAMP, reason STRING",
                time="return_time",
                rows=returns,
                late=6,
                closing_id=-3,
                stall=STALL,
            ),
        ),
        joins=(
            JoinInputs("orders", "deliveries"),
            JoinInputs("orders with deliveries", "returns"),
        ),
        streamed=streamed,
        batch=batch,
        not_closing="order_id > 0",
        padded=("delivery_time", "return_time"),
    )


def _orders(random: np.random.Generator) -> pd.DataFrame:
    seconds = np.sort(random.integers(0, int(OPEN_HOURS * 3600), ORDERS))
    return pd.DataFrame(
        {
            "order_id": np.arange(1, ORDERS + 1),
            "order_time": CLOCK.start + pd.to_timedelta(seconds, unit="s"),
            "amount_cents": random.integers(500, 20000, ORDERS),
        }
    )


def _deliveries(random: np.random.Generator, orders: pd.DataFrame) -> pd.DataFrame:
    """Most orders are delivered, some of them after the hour in which it counts."""
    delivered = orders[random.random(len(orders)) < 0.85]
    return pd.DataFrame(
        {
            "order_id": delivered["order_id"],
            "delivery_time": delivered["order_time"] + _minutes(random, 5, 70, len(delivered)),
            "courier": random.choice(["Ada", "Ben", "Cem", "Dora"], len(delivered)),
        }
    )


def _returns(random: np.random.Generator, deliveries: pd.DataFrame) -> pd.DataFrame:
    """One delivery in four comes back, some of them after the two hours in which it counts."""
    returned = deliveries[random.random(len(deliveries)) < 0.25]
    return pd.DataFrame(
        {
            "order_id": returned["order_id"],
            "return_time": returned["delivery_time"] + _minutes(random, 10, 150, len(returned)),
            "reason": random.choice(["broken", "cold", "wrong"], len(returned)),
        }
    )


def _stream(
    random: np.random.Generator,
    name: str,
    schema: str,
    *,
    time: str,
    rows: pd.DataFrame,
    late: int,
    closing_id: int,
    stall: tuple[pd.Timestamp, pd.Timestamp] | None = None,
) -> Stream:
    """Let rows arrive in disorder of at most the lag, and ``late`` of them hours too late."""
    arrivals = rows[time] + _minutes(random, 0, LAG.total_seconds() / 60, len(rows))
    # From the first third, so that the watermark is hours past them when they arrive.
    held_back = rows.index[random.choice(len(rows) // 3, late, replace=False)]
    arrivals.loc[held_back] += HELD_BACK
    if stall is not None:
        arrivals = arrivals.mask(arrivals.between(*stall), stall[1])
    return stream(
        name,
        schema,
        time=time,
        lag=LAG,
        rows=rows,
        arrivals=arrivals,
        clock=CLOCK,
        closing={"order_id": closing_id},
    )


def _minutes(random: np.random.Generator, low: float, high: float, size: int) -> pd.TimedeltaIndex:
    return pd.to_timedelta(random.integers(int(low * 60), int(high * 60), size), unit="s")
