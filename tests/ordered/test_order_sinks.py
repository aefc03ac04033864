"""A sink reads an ordered stream as one ascending sequence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import urlparse

from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order
from tests.streams import Landing

# distance of each arrival of a batch from the clock
DISORDER = (3, -9, 0, 7, -2, 5, -8, 1)


def ordered(spark: SparkSession, folder: Path) -> tuple[Landing, DataFrame]:
    source = Landing(spark, folder / "events", "n BIGINT, v STRING")
    rows = [{"n": 20 * step + by, "v": f"{step}"} for step in range(6) for by in DISORDER]
    for step in range(0, len(rows), 8):
        source.land(*rows[step : step + 8])
    source.land({"n": 10_000, "v": "end"})
    # The source reads files by modification time.
    for number, path in enumerate(sorted(source.folder.glob("*.json"))):
        os.utime(path, (number, number))
    files = spark.readStream.schema(source.schema).option("maxFilesPerTrigger", 1)
    stream = files.json(str(source.folder))
    return source, impose_order(stream, "n", 12).orderBy("n", "v")


def expected(spark: SparkSession, source: Landing) -> list[int]:
    rows = spark.read.schema(source.schema).json(str(source.folder))
    return sorted(row.n for row in rows.collect() if row.n < 10_000)


def test_files_read_by_batch_and_number_are_sorted(spark: SparkSession, tmp_path: Path) -> None:
    source, events = ordered(spark, tmp_path)
    out = tmp_path / "out"
    writer = events.writeStream.format("json").option("checkpointLocation", str(tmp_path / "c"))
    writer.trigger(availableNow=True).start(str(out)).awaitTermination()
    seen: list[int] = []
    log = out / "_spark_metadata"
    batches = [path for path in log.iterdir() if path.name.isdigit()]
    for batch in sorted(batches, key=lambda path: int(path.name)):
        entries = [json.loads(line) for line in batch.read_text().splitlines()[1:]]
        for path in sorted(Path(urlparse(entry["path"]).path) for entry in entries):
            seen += [json.loads(line)["n"] for line in path.read_text().splitlines()]
    assert len(batches) > 5
    assert seen == expected(spark, source)


def test_foreach_batch_iterates_rows_in_order(spark: SparkSession, tmp_path: Path) -> None:
    source, events = ordered(spark, tmp_path)
    seen: list[int] = []

    def keep(batch: DataFrame, _: int) -> None:
        seen.extend(row.n for row in batch.toLocalIterator())

    writer = events.writeStream.foreachBatch(keep).option("checkpointLocation", str(tmp_path / "c"))
    writer.trigger(availableNow=True).start().awaitTermination()
    assert seen == expected(spark, source)
