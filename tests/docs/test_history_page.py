"""The code block of docs/how-to/start-from-history.md, run verbatim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from scripts.code_blocks import python
from tests.orders import Shop

PAGE = "docs/how-to/start-from-history.md"


def test_history_page_emits_what_live_rows_change(spark: SparkSession, tmp_path: Path) -> None:
    lake, live = Shop(spark, tmp_path / "lake"), Shop(spark, tmp_path / "live")
    lake.order((1, "13:40"), (2, "13:50"), (3, "13:10"), (4, "14:00"))
    lake.deliver((3, "13:30"), (4, "14:00"))
    live.deliver((1, "14:10"), (9, "15:00"))
    live.order((9, "15:00"))
    (block,) = python(PAGE)
    names: dict[str, Any] = {"spark": spark, "lake": str(lake.folder), "live": str(live.folder)}
    exec(block, names)
    query = names["query"]
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    emitted = spark.read.parquet(f"{lake.folder}/joined").collect()
    found = sorted((r.id, r.delivery_time and f"{r.delivery_time:%H:%M}") for r in emitted)
    assert found == [(1, "14:10"), (2, None), (9, "15:00")]
