"""Runs the streaming query of a pipeline while its files land."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from .landing import feed, read_stream
from .pipeline import Pipeline
from .progress import Batch, ProgressReader

_POLL_SECONDS = 0.2


def run(
    spark: SparkSession, pipeline: Pipeline, folder: Path, on_batch: Callable[[Batch], None]
) -> tuple[DataFrame, list[Batch]]:
    """Return the output rows, and the report of each batch."""
    inputs = [read_stream(spark, stream, folder) for stream in pipeline.streams]
    query = (
        pipeline.streamed(*inputs)
        .writeStream.format("memory")
        .queryName(pipeline.name)
        .option("checkpointLocation", str(folder / "checkpoint"))
        # The files of one step land within a moment: give them a chance to be one batch.
        .trigger(processingTime="200 milliseconds")
        .start()
    )
    progress = ProgressReader(query, on_batch)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="feeder") as feeder:
        # Stopped inside: the feeder waits for the query, and leaving the block for the feeder.
        try:
            feeding = feeder.submit(feed, pipeline.streams, folder, query.processAllAvailable)
            while not feeding.done():
                progress.poll()
                time.sleep(_POLL_SECONDS)
            feeding.result()
            progress.poll()
        finally:
            query.stop()
    return spark.table(pipeline.name).where(pipeline.not_closing), progress.batches
