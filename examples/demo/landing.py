"""Parquet files that land in the folder of a stream while a query reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

from .arrivals import Stream


def read_stream(spark: SparkSession, stream: Stream, folder: Path) -> DataFrame:
    """Read a folder as a stream, one file of it a batch: lateness is judged batch by batch."""
    inbox = folder / stream.name
    inbox.mkdir(parents=True)
    reader = spark.readStream.schema(stream.schema).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(inbox))


def read_punctual(spark: SparkSession, stream: Stream, folder: Path) -> DataFrame:
    """Read the rows that are not late, all at once."""
    file = folder / f"{stream.name}-punctual.parquet"
    _write(stream.punctual, file)
    return spark.read.schema(stream.schema).parquet(str(file))


def feed(streams: Sequence[Stream], folder: Path, keep_pace: Callable[[], object]) -> None:
    """Let the files of all streams land step by step; ``keep_pace`` waits for the reader."""
    for step, files in enumerate(zip(*(stream.files for stream in streams), strict=True)):
        _land(streams, files, folder, step)
        keep_pace()
    _land(streams, [stream.closing for stream in streams], folder, len(streams[0].files))
    keep_pace()


def _land(
    streams: Sequence[Stream], files: Sequence[pd.DataFrame], folder: Path, step: int
) -> None:
    written = []
    for stream, rows in zip(streams, files, strict=True):
        if len(rows):
            inbox = folder / stream.name
            hidden = inbox / f".{step:03}.parquet"
            _write(rows, hidden)
            written.append((hidden, inbox / f"{step:03}.parquet"))
    # A reader must never see half a file, and should see the files of one step together.
    for hidden, landed in written:
        hidden.rename(landed)


def _write(rows: pd.DataFrame, file: Path) -> None:
    rows.to_parquet(file, index=False, coerce_timestamps="us", allow_truncated_timestamps=True)
