"""The code blocks of docs/how-to/rescale.md, run verbatim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

import streamjoin
from scripts.code_blocks import python
from tests.orders import Shop, ids

PAGE = "docs/how-to/rescale.md"


def test_rescale_page_continues_the_query_with_64_partitions(shop: Shop, tmp_path: Path) -> None:
    emitted: dict[int, list[tuple[Any, ...]]] = {}

    def write(batch: DataFrame, number: int) -> None:
        emitted[number] = [tuple(row) for row in batch.collect()]

    run = shop.run(shop.joined().result, "orders")
    shop.order((1, "10:00"), (2, "10:10"))
    shop.deliver((1, "10:30"))
    run.step()
    names: dict[str, Any] = {
        "query": run.start(processingTime="0 seconds"),
        "result": run.result,
        "checkpoints": tmp_path,
        "streamjoin": streamjoin,
        "write": write,
    }
    shop.deliver((2, "10:40"))
    names["query"].processAllAvailable()
    (block,) = python(PAGE)
    exec(block, names)
    try:
        shop.deliver((1, "10:50"))
        names["query"].processAllAvailable()
        assert names["query"].lastProgress["stateOperators"][0]["numShufflePartitions"] == 64
    finally:
        names["query"].stop()
    assert {batch: ids(rows) for batch, rows in emitted.items()} == {2: [(1, 1)]}
