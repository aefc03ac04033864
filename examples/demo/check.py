"""Compares what the stream gave with a batch join of the rows that were not late."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, count_if

from .landing import read_punctual
from .pipeline import Pipeline
from .progress import Batch


@dataclass(frozen=True)
class Check:
    what: str
    expected: int
    found: int

    @property
    def passed(self) -> bool:
        return self.expected == self.found


def check(
    spark: SparkSession, pipeline: Pipeline, folder: Path, result: DataFrame, batches: list[Batch]
) -> list[Check]:
    inputs = [read_punctual(spark, stream, folder) for stream in pipeline.streams]
    expected = pipeline.batch(*inputs).cache()
    padded = expected.select([count_if(col(name).isNull()) for name in pipeline.padded]).first()
    return [
        Check("result rows", expected.count(), result.count()),
        Check("rows of the batch join that are missing", 0, expected.exceptAll(result).count()),
        Check("rows that the batch join does not have", 0, result.exceptAll(expected).count()),
        Check(
            "late rows dropped",
            sum(len(stream.late) for stream in pipeline.streams),
            sum(batch.late for batch in batches),
        ),
        Check("null-padded rows", sum(padded or ()), sum(batch.padded for batch in batches)),
    ]
