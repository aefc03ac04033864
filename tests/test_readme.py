"""README: its first example runs, and it stays short. Lint checks the example's types."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from scripts.readme_example import first_example

README = (Path(__file__).parents[1] / "README.md").read_text()
TO_THE_CONSOLE = 'query = joined.writeStream.format("console").start()'


def test_it_is_read_in_one_sitting() -> None:
    assert len(README.splitlines()) <= 150


def test_it_names_the_commands_that_run_the_demo_and_the_tests() -> None:
    assert re.search(r"^make demo\b", README, re.MULTILINE)
    assert re.search(r"^make test\b", README, re.MULTILINE)


def test_the_first_example_runs(spark: SparkSession) -> None:
    """With a table in the place of the console, until both kinds of rows are there."""
    built, console, _ = first_example().partition(TO_THE_CONSOLE)
    assert console
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    names: dict[str, Any] = {}
    exec(compile(built, "README.md", "exec"), names)
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    result = names["joined"].toDF("order_id", "order_time", "delivery_id", "delivery_time")
    query = result.writeStream.format("memory").queryName("readme").start()
    try:
        rows = spark.table("readme")
        while query.isActive and rows.selectExpr("delivery_id IS NULL").distinct().count() < 2:
            query.awaitTermination(1)
        assert query.exception() is None
        assert rows.where("(delivery_id IS NULL) <> ((order_id + 10) % 3 = 0)").isEmpty()
    finally:
        query.stop()
