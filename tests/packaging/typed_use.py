"""The main calls as a user writes them, for the type checkers; nothing here runs.

`make lint-python` checks it with mypy --strict and pyright: results have types, and a misspelled
argument is an error before the program runs. An unneeded ignore is itself an error.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import streamjoin
from streamjoin import How

WITHIN_AN_HOUR = "o.id = d.id AND d.at BETWEEN o.at AND o.at + INTERVAL '1' HOUR"


def set_up() -> SparkSession:
    return streamjoin.configure(SparkSession.builder.master("local[2]")).getOrCreate()


def joined(orders: DataFrame, deliveries: DataFrame) -> DataFrame:
    placed = streamjoin.impose_order(orders, "at", timedelta(minutes=1)).alias("o")
    delivered = streamjoin.impose_order(
        deliveries, "at", "1 minute", idle_timeout="10 minutes", max_ahead="1 hour", ahead="keep"
    ).alias("d")
    return streamjoin.stream_join(placed, delivered, WITHIN_AN_HOUR, "left_outer", late="emit")


def in_a_chain_of_calls(orders: DataFrame, deliveries: DataFrame, on: Column) -> DataFrame:
    return (
        orders.transform(streamjoin.impose_order, "at", "1 minute")
        .transform(streamjoin.stream_join, deliveries, on, "asof", order_by="rowtime")
        .transform(streamjoin.to_upserts, "id")
    )


def by_names_and_conditions(left: DataFrame, right: DataFrame, how: How) -> DataFrame:
    on: list[str | Column] = ["id", left["at"] <= right["at"]]
    return streamjoin.stream_join(
        left, right, on, how, retention="1 hour", order_by="at", order_scope="partition"
    )


def of_rows_that_change(changes: DataFrame, messages: DataFrame) -> DataFrame:
    orders = streamjoin.from_changelog(changes, key="id", op_mapping={"c": "insert"})
    customers = streamjoin.from_upserts(messages, "id", "seq", deletes="gone")
    on = ["id"]
    return streamjoin.stream_join(orders, customers, on, state_ttl={"right": timedelta(days=30)})


def inspected(query: StreamingQuery, checkpoint: Path) -> list[str]:
    rows: DataFrame = streamjoin.pending(checkpoint, "left", operator=1, batch_id=7)
    rows.show()
    diagnosis = streamjoin.doctor(query)
    streamjoin.watch(query, timeout=60)
    headline: str = diagnosis.headline.headline
    return [
        headline,
        *(f"{f.code}: {f.write}" for f in diagnosis.findings),
        *map(str, diagnosis.lags),
    ]


def misspelled_values(left: DataFrame, right: DataFrame) -> None:
    streamjoin.stream_join(left, right, "true", "lefft")  # type: ignore[arg-type]
    streamjoin.stream_join(left, right, "true", late="emitt")  # type: ignore[arg-type]
    streamjoin.impose_order(left, "at", 1, ahead="kept")  # type: ignore[arg-type]
    streamjoin.pending("/checkpoint", "both")  # type: ignore[arg-type]
