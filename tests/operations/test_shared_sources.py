"""One input of a join is a union that reads the DataFrame of the other input, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order, stream_join
from tests.streams import Landing, Run

SCHEMA = "id INT, t TIMESTAMP, v INT"
NEAR = "x.id = y.id AND y.t BETWEEN x.t - INTERVAL '9' MINUTE AND x.t + INTERVAL '9' MINUTE"


def joined(kind: str, union: DataFrame, other: DataFrame) -> DataFrame:
    x, y = union.alias("x"), other.alias("y")
    if kind == "changelog":
        return stream_join(x, y, "x.id = y.id", mode="changelog")
    if kind == "as of":
        return stream_join(x, y, "x.id = y.id", "asof")
    return stream_join(x, y, NEAR)


def timed(kind: str, df: DataFrame) -> DataFrame:
    return df if kind == "changelog" else impose_order(df, "t", "1 hour")


@pytest.mark.parametrize("kind", ["event time", "as of", "changelog"])
def test_a_batch_without_rows_of_the_first_branch(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    """Spark replaces the union by its branch that has rows, and the branch by the other input."""
    streams = {name: Landing(spark, tmp_path / name, SCHEMA) for name in "ab"}
    a, b = (landing.stream() for landing in streams.values())
    union = timed(kind, a.where("v > 0").union(b))
    result = joined(kind, union, timed(kind, b))
    change = "_change_type" if kind == "changelog" else "'insert'"
    run = Run(result.selectExpr("x.v AS x", "y.v AS y", change), tmp_path / "checkpoint")
    for number, name in enumerate("abba", start=1):
        streams[name].land({"id": 1, "t": f"2024-05-04T10:0{number}:00Z", "v": number})
        run.step()
    # the watermark passes the rows above
    streams["b"].land({"id": 9, "t": "2024-05-04T12:00:00Z", "v": 9})
    run.step()
    # a: 1, 4; b: 2, 3
    expected = {
        "event time": [(x, y) for x in (1, 2, 3, 4) for y in (2, 3)],
        "changelog": [(x, y) for x in (1, 2, 3, 4) for y in (2, 3)],
        "as of": [(2, 2), (3, 3), (4, 3)],
    }
    rows = [tuple(row) for row in run.rows() if row[0] < 9]
    assert sorted(rows) == [(x, y, "insert") for x, y in expected[kind]]
