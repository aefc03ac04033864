"""The table sink of the example writes every row once, with any checkpoint."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from examples.kafka_pipeline import to_table
from tests.streams import Landing


def source(spark: SparkSession, folder: Path, *ids: int) -> Landing:
    landing = Landing(spark, folder, "id INT")
    landing.land(*({"id": number} for number in ids))
    return landing


def write_table(landing: Landing, folder: Path, checkpoint: str) -> None:
    writer = to_table(landing.stream(), str(folder / "table"), str(folder / checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()


def in_table(spark: SparkSession, folder: Path) -> list[int]:
    return sorted(row.id for row in spark.read.parquet(str(folder / "table")).collect())


def test_new_checkpoint_keeps_existing_rows(spark: SparkSession, tmp_path: Path) -> None:
    write_table(source(spark, tmp_path / "earlier", 1, 2), tmp_path, "first")
    write_table(source(spark, tmp_path / "later", 3), tmp_path, "second")
    assert in_table(spark, tmp_path) == [1, 2, 3]


def test_rerun_batch_writes_its_rows_once(spark: SparkSession, tmp_path: Path) -> None:
    landing = source(spark, tmp_path / "rows", 1)
    write_table(landing, tmp_path, "checkpoint")
    landing.land({"id": 2})
    write_table(landing, tmp_path, "checkpoint")
    for name in ("1", ".1.crc"):  # as after a kill between the write and the commit
        (tmp_path / "checkpoint" / "commits" / name).unlink(missing_ok=True)
    landing.land({"id": 3})
    write_table(landing, tmp_path, "checkpoint")
    assert in_table(spark, tmp_path) == [1, 2, 3]
