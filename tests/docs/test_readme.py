"""README: its examples run, and it stays short. Lint checks the types of the first example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from scripts.code_blocks import python
from tests.streams import wait_until

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
TO_THE_CONSOLE = 'query = joined.writeStream.format("console").start()'
COLUMNS = ("order_id", "order_time", "delivery_id", "delivery_time", "return_id", "return_time")


def test_readme_has_at_most_130_lines() -> None:
    assert len(README.splitlines()) <= 130


def test_readme_names_the_demo_and_test_commands() -> None:
    assert re.search(r"^make demo\b", README, re.MULTILINE)
    assert re.search(r"^make test\b", README, re.MULTILINE)


@pytest.fixture
def names(spark: SparkSession) -> Iterator[dict[str, Any]]:
    """The names that the first example defines before its query."""
    built, console, _ = python("README.md")[0].partition(TO_THE_CONSOLE)
    assert console
    partitions = str(spark.conf.get("spark.sql.shuffle.partitions"))
    defined: dict[str, Any] = {}
    exec(compile(built, "README.md", "exec"), defined)
    yield defined
    spark.conf.set("spark.sql.shuffle.partitions", partitions)


def started(result: DataFrame, table: str) -> StreamingQuery:
    named = result.toDF(*COLUMNS[: len(result.columns)])
    return named.writeStream.format("memory").queryName(table).start()


def both_kinds(query: StreamingQuery, rows: DataFrame, of: str) -> None:
    """Wait until rows with and without a match have been emitted."""
    wait_until(query, lambda: rows.selectExpr(f"{of} IS NULL").distinct().count() == 2)
    assert query.exception() is None


def test_first_readme_example_emits_matched_and_unmatched_rows(
    spark: SparkSession, names: dict[str, Any]
) -> None:
    query = started(names["joined"], "readme")
    try:
        rows = spark.table("readme")
        both_kinds(query, rows, "delivery_id")
        assert rows.where("(delivery_id IS NULL) <> ((order_id + 10) % 3 = 0)").isEmpty()
    finally:
        query.stop()


def test_readme_chain_fails_in_spark_and_runs_with_streamjoin(
    spark: SparkSession, names: dict[str, Any]
) -> None:
    exec(compile(python("README.md")[1], "README.md", "exec"), names)
    before = started(names["before"], "readme_before")
    with pytest.raises(StreamingQueryException, match="More than one event time columns"):
        before.awaitTermination(60)
    after = started(names["after"], "readme_after")
    try:
        rows = spark.table("readme_after")
        both_kinds(after, rows, "return_id")
        assert rows.where("delivery_id IS NULL AND return_id IS NOT NULL").isEmpty()
    finally:
        after.stop()
