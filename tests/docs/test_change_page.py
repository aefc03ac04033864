"""The code blocks of docs/how-to/change-a-query.md, run verbatim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamjoin
from scripts.code_blocks import python
from streamjoin import impose_order
from tests.orders import WITHIN_THE_HOUR, Shop

PAGE = Path("docs/how-to/change-a-query.md")


def test_change_page_continues_with_a_longer_interval_and_a_price(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.session.conf.set("spark.sql.session.timeZone", "UTC")
    emitted: dict[int, list[tuple[Any, ...]]] = {}

    def write(batch: DataFrame, number: int) -> None:
        emitted[number] = [tuple(row) for row in batch.collect()]

    run = shop.run(shop.joined("left").result, "checkpoints/orders")
    shop.order((1, "10:00"), (2, "11:10"))
    shop.deliver((1, "10:30"))
    run.step()
    shop.deliver((3, "11:30"))
    run.step()
    orders = impose_order(shop.orders.stream(), "order_time", "0 seconds")
    names: dict[str, Any] = {
        "query": run.start(processingTime="0 seconds"),
        "orders_with_price": orders.withColumn("price", F.col("id") * 10),
        "deliveries": impose_order(shop.deliveries.stream(), "delivery_time", "0 seconds"),
        "checkpoints": tmp_path / "checkpoints",
        "streamjoin": streamjoin,
        "write": write,
    }
    block, _ = python(str(PAGE))
    exec(block, names)
    try:
        shop.deliver((2, "13:00"))
        names["query"].processAllAvailable()
    finally:
        names["query"].stop()
    (rows,) = [rows for rows in emitted.values() if rows]
    assert [(row[0], row[2], row[3]) for row in rows] == [(2, 0, 2)]
    said = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    shown = PAGE.read_text().split("```text\n")[1].split("```")[0].splitlines()
    for line in shown:
        start = " ".join(line.split()).removesuffix("...")
        assert any(told.startswith(start) for told in said), line


def test_change_page_takes_over_a_join_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(spark.newSession(), tmp_path)  # the block sets a setting
    emitted: list[tuple[Any, ...]] = []

    def write(batch: DataFrame, number: int) -> None:
        emitted.extend(tuple(row) for row in batch.collect())

    orders = shop.orders.stream().withWatermark("order_time", "0 seconds").alias("o")
    deliveries = shop.deliveries.stream().withWatermark("delivery_time", "0 seconds").alias("d")
    result = orders.join(deliveries, F.expr(WITHIN_THE_HOUR), "left")
    shop.order((1, "10:00"), (2, "10:10"))
    shop.deliver((1, "10:30"))
    run = shop.run(result, "checkpoints/orders")
    run.step()
    names: dict[str, Any] = {
        "query": run.start(processingTime="0 seconds"),
        "spark": shop.session,
        "checkpoints": tmp_path / "checkpoints",
        "result": result,
        "streamjoin": streamjoin,
        "write": write,
    }
    _, block = python(str(PAGE))
    exec(block, names)
    try:
        shop.order((3, "12:00"))
        shop.deliver((2, "10:40"), (3, "12:30"))
        names["query"].processAllAvailable()
    finally:
        names["query"].stop()
    assert sorted(row[0] for row in emitted) == [2, 3]
