"""Writes missing golden checkpoints: `python -m tests.golden_checkpoints`.

Existing checkpoints stay unchanged, because released code promises to read them. To rewrite one,
delete it first; this is allowed only while its format is unreleased.

With the Python of an earlier Spark version, it writes the checkpoints of that version.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

import streamjoin
from tests.golden_checkpoints.archive import OF_OTHER_SPARKS, SPARK, Morning, archive, minor, pack
from tests.golden_checkpoints.cases import CASES, Case
from tests.golden_checkpoints.day import FORMATS, Day, settings


def keep(session: SparkSession, case: Case, kept: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        day = Day(session, case, Path(temporary))
        if case.merged:
            day.play_until_merged(case.morning)
        elif case.one_start:
            day.play_in_one_start(case.morning)
        else:
            day.play(case.morning)
        output = [list(row) for row in day.run.rows()]
        pack(day.run.checkpoint, Morning(case.morning, output), kept)


def main() -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = streamjoin.configure(builder).getOrCreate()
    spark = minor(pyspark.__version__)
    for case in CASES:
        if spark != SPARK and case.name not in OF_OTHER_SPARKS:
            continue
        for state_format, version in FORMATS.items():
            kept = archive(state_format, version, case.name, spark)
            if not kept.exists():
                with settings(session, case, state_format):
                    keep(session, case, kept)
                print(f"{kept}: {kept.stat().st_size} bytes")
    session.stop()


if __name__ == "__main__":
    main()
