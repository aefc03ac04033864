"""The code blocks of docs/how-to/backlog.md, run verbatim."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from scripts.code_blocks import python
from tests.orders import at
from tests.streams import Landing

PAGE = "docs/how-to/backlog.md"
SETTINGS = (
    "spark.sql.streaming.queryEvolution.enableSourceEvolution",
    "spark.sql.streaming.offsetLog.formatVersion",
)


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    yield spark
    for setting in SETTINGS:
        spark.conf.unset(setting)


def test_history_and_then_live_sources_equal_one_query(
    session: SparkSession, tmp_path: Path
) -> None:
    if not hasattr(session.readStream, "name"):
        pytest.skip("readStream.name is new in Spark 4.2")
    lake, live = tmp_path / "lake", tmp_path / "live"
    orders, deliveries = {}, {}
    for folder in (lake, live):
        orders[folder] = Landing(session, folder / "orders", "id INT, order_time TIMESTAMP")
        deliveries[folder] = Landing(
            session, folder / "deliveries", "id INT, delivery_time TIMESTAMP"
        )

    def land(folder: Path, hour: int) -> None:
        """Six orders of an hour; the last two are delivered in the next hour, one of them never."""
        rows = [(10 * hour + n, 10 * n) for n in range(6)]
        orders[folder].land(*({"id": k, "order_time": at(f"{hour}:{m:02d}")} for k, m in rows))
        hour_before = [(k - 10, hour, 5) for k, m in rows if m == 40]
        here = [(k, hour, m + 10) for k, m in rows if m < 40]
        deliveries[folder].land(
            *({"id": k, "delivery_time": at(f"{h}:{m:02d}")} for k, h, m in (*hour_before, *here))
        )

    # the newest file first: in several batches, all others would be late
    for hour in (13, 12, 11, 10):
        land(lake, hour)
    for hour in (14, 15):
        land(live, hour)
    # no order before it waits any longer
    orders[live].land({"id": 999, "order_time": at("20:00")})
    deliveries[live].land({"id": 999, "delivery_time": at("20:00")})
    names: dict[str, Any] = {"spark": session, "lake": str(lake), "live": str(live)}
    first, flip = python(PAGE)
    exec(first, names)
    exec(flip, names)
    query = names["query"]
    try:
        query.processAllAvailable()
        late = [
            operator["customMetrics"][f"lateRows{side}"]
            for report in query.recentProgress
            for operator in report["stateOperators"]
            for side in ("Left", "Right")
        ]
        assert set(late) == {0}
    finally:
        query.stop()
    found = {tuple(row) for row in session.read.parquet(f"{lake}/joined").collect()}
    one = session.read.schema("id INT, order_time TIMESTAMP").json(
        [f"{lake}/orders", f"{live}/orders"]
    )
    other = session.read.schema("id INT, delivery_time TIMESTAMP").json(
        [f"{lake}/deliveries", f"{live}/deliveries"]
    )
    expected = {tuple(row) for row in one.join(other, "id", "left").collect()}
    assert found == expected
    assert len(found) == session.read.parquet(f"{lake}/joined").count() == 37
    assert any(130 <= row[0] < 140 and row[2] and row[2].hour > row[1].hour for row in found)
