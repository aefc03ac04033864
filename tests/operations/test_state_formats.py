"""State formats of buffered rows: segments and RocksDB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException, StreamingQueryException
from pyspark.sql import SparkSession

from streamjoin import pending
from tests.orders import Shop, met
from tests.parameters import STATE_FORMATS
from tests.streams import Run

FORMAT = "spark.sql.streamJoin.stateFormat"


@pytest.fixture(params=STATE_FORMATS)
def state_format(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    spark.conf.set(FORMAT, request.param)
    yield request.param
    spark.conf.unset(FORMAT)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "left_semi", "left_anti"])
def test_each_state_format_stores_rows_and_match_flags(
    shop: Shop, state_format: str, how: str
) -> None:
    run = shop.joined(how)
    shop.order((1, "10:00"), (2, "10:10"), (3, "10:20"), (3, "10:21"))
    shop.deliver((1, "10:30"), (9, "10:25"))
    run.step()
    shop.deliver((2, "10:40"), (3, "10:45"))
    run.step()
    shop.order((4, "10:50"))
    run.step()
    shop.deliver((1, "10:55"), (4, "11:00"))
    run.step()
    shop.order((8, "14:00"))
    shop.deliver((7, "14:30"))
    run.step()
    pairs = [(1, 1), (1, 1), (2, 2), (3, 3), (3, 3), (4, 4)]
    by_type: dict[str, list[Any]] = {
        "inner": pairs,
        "left": pairs,
        "right": [*pairs, (None, 9)],
        "full": [*pairs, (None, 9)],
        "left_semi": [(1,), (2,), (3,), (3,), (4,)],
        "left_anti": [],
    }
    expected = by_type[how]
    if how.startswith("left_"):
        assert sorted(row[:1] for row in run.rows()) == expected
    else:
        assert met(run.batches) == sorted(expected, key=str)
    # rows 7 and 8 remain buffered
    assert run.operator()["numRowsTotal"] == 2
    kinds = {file.suffix for file in (run.checkpoint / "state").rglob("*") if file.is_file()}
    assert (".change" in kinds) == (state_format == "segments")


def held(run: Run) -> list[tuple[Any, ...]]:
    waiting = pending(str(run.checkpoint))
    columns = waiting.selectExpr("side", "time", "expires", "watermark", "matched", "row")
    return sorted((tuple(row) for row in columns.collect()), key=str)


def test_segments_checkpoint_continues_in_rocksdb_but_not_back(
    shop: Shop, spark: SparkSession
) -> None:
    run = shop.joined("full")
    shop.order((1, "10:00"), (2, "10:10"), (3, "10:20"), (4, "10:25"), (9, "08:00"))
    shop.deliver((1, "10:30"))
    run.step()
    shop.order((5, "10:40"))
    shop.deliver((2, "10:35"), (8, "10:36"))
    run.step()
    before = held(run)
    assert len(before) > 4
    spark.conf.set(FORMAT, "rocksdb")
    try:
        # No row arrives: the stored rows are unchanged.
        run.step()
        assert held(run) == before
        shop.deliver((1, "10:45"), (3, "10:50"))
        run.step()
        shop.order((8, "10:50"))
        run.step()
        shop.order((7, "14:00"))
        shop.deliver((7, "14:00"))
        run.step()
        assert run.operator()["numRowsTotal"] == 2
        # All rows but those of the first batch, which had no watermark yet.
        assert run.metrics()["disorderRows.order_time"] == 3
        assert run.metrics()["disorderRows.delivery_time"] == 5
    finally:
        spark.conf.unset(FORMAT)
    expected = [(1, 1), (1, 1), (2, 2), (3, 3), (4, None), (5, None), (7, 7), (8, None), (9, None)]
    assert met(run.batches) == sorted([*expected, (None, 8)], key=str)
    shop.order((1, "14:10"))
    with pytest.raises(AnalysisException) as failed:
        run.step()
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in str(failed.value)
    assert "Found: rocksdb. Expected: segments." in str(failed.value)


def test_ordered_stream_continues_in_rocksdb(shop: Shop, spark: SparkSession) -> None:
    run = shop.run(shop.ordered("30 minutes").orderBy("order_time"))
    shop.order((2, "10:10"), (1, "10:00"), (3, "10:20"))
    run.step()
    spark.conf.set(FORMAT, "rocksdb")
    try:
        shop.order((4, "12:00"), (5, "11:00"))
        run.step()
    finally:
        spark.conf.unset(FORMAT)
    assert [row[0] for row in run.rows()] == [1, 2, 3, 5]


def test_unknown_state_format_is_refused(spark: SparkSession) -> None:
    with pytest.raises(IllegalArgumentException, match="segments, rocksdb"):
        spark.conf.set(FORMAT, "heap")


def test_damaged_state_file_is_refused_by_name(shop: Shop) -> None:
    run = shop.joined("left")
    shop.order((1, "10:00"), (2, "10:01"))
    run.step()
    shop.order((1, "10:10"))
    run.step()
    damaged = sorted((run.checkpoint / "state").rglob("1_*.change"))[0]
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 2])
    checksum = damaged.with_name(f".{damaged.name}.crc")
    checksum.rename(checksum.with_suffix(".aside"))
    shop.deliver((1, "10:30"), (2, "10:31"))
    with pytest.raises(StreamingQueryException) as failed:
        run.step()
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in str(failed.value)
    assert damaged.name in str(failed.value)
    # Nothing was overwritten: with the original file, the query continues.
    damaged.write_bytes(whole)
    assert met(run.step()) == [(1, 1), (1, 1), (2, 2)]
