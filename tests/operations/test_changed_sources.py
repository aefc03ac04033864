"""Sources that change between two runs: each state stays at its source, or the start is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order, stream_join
from tests.fingerprints import fingerprints
from tests.streams import Landing, Run

EVOLUTION = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
WITHIN_A_MINUTE = (
    "l.id = r.id AND r.t BETWEEN l.t - INTERVAL '1' MINUTE AND l.t + INTERVAL '1' MINUTE"
)
# Folder and name of each source of an input. The rows of all have the same columns.
Source = tuple[str, str]
Query = Callable[[list[Source], list[Source]], Run]
A, B, C = ("a", "first"), ("b", "second"), ("c", "third")


@pytest.fixture
def land(spark: SparkSession, tmp_path: Path) -> Callable[[str, int, str], None]:
    folders = {name: Landing(spark, tmp_path / f"{name}1", "id INT, t TIMESTAMP") for name in "abc"}

    def row(folder: str, number: int, clock: str) -> None:
        folders[folder].land({"id": number, "t": f"2024-05-04T{clock}:00Z"})

    for name in "abc":
        row(name, 99, "09:00")
    # each waits for its match
    row("a", 1, "10:01")
    row("b", 2, "10:00")
    return row


@pytest.fixture(params=["named", "unnamed"])
def query(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Iterator[Query]:
    named = request.param == "named"
    if named and not hasattr(spark.readStream, "name"):
        pytest.skip("readStream.name is new in Spark 4.2")

    def read(source: Source) -> DataFrame:
        folder, name = source
        reader = spark.readStream.schema("id INT, t TIMESTAMP")
        # a pattern, for Spark refuses another folder
        return (reader.name(name) if named else reader).json(str(tmp_path / f"{folder}*"))

    def joined(left: list[Source], right: list[Source]) -> Run:
        first, second = (
            impose_order(reduce(DataFrame.union, map(read, of)), "t", "1 minute").alias(alias)
            for of, alias in ((left, "l"), (right, "r"))
        )
        both = stream_join(first, second, WITHIN_A_MINUTE)
        columns = both.selectExpr("l.id", "minute(l.t) AS lt", "minute(r.t) AS rt")
        return Run(columns, tmp_path / "checkpoint")

    spark.conf.set(EVOLUTION, str(named).lower())
    yield joined
    spark.conf.unset(EVOLUTION)


def rows(run: Run) -> list[tuple[object, ...]]:
    return sorted(row[:3] for row in run.rows())


def refused(first: Run, again: Run, error: type[Exception]) -> str:
    before = fingerprints(first.checkpoint)
    with pytest.raises(error) as refusal:
        again.step()
    if error is AnalysisException:
        assert fingerprints(first.checkpoint) == before
    return str(refusal.value)


@pytest.mark.parametrize("left", [[B], [A, B]], ids=["exchanged", "added"])
def test_a_source_that_another_input_read_is_refused(
    query: Query, land: Callable[[str, int, str], None], left: list[Source]
) -> None:
    first = query([A], [B])
    first.step()
    land("b", 1, "10:00")
    message = refused(first, query(left, [A] if left == [B] else [C]), AnalysisException)
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in message
    assert "its inputs were exchanged" in message


def test_a_source_that_moves_to_the_other_input_is_refused(
    query: Query, land: Callable[[str, int, str], None]
) -> None:
    first = query([A, C], [B])
    first.step()
    message = refused(first, query([A], [B, C]), AnalysisException)
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in message
    assert "is now read by the right input" in message


@pytest.mark.parametrize("query", ["named"], indirect=True)
def test_named_sources_of_a_union_are_reordered(
    query: Query, land: Callable[[str, int, str], None]
) -> None:
    first = query([A, C], [B])
    first.step()
    before = rows(first)
    land("b", 1, "10:00")
    land("c", 2, "10:01")
    again = query([C, A], [B])
    again.step()
    # batch: 99 of a and of c with 99 of b, then one match of each waiting row
    assert sorted({*before, *rows(again)}) == [(1, 1, 0), (2, 1, 0), (99, 0, 0)]
    assert len([row for row in rows(again) if row[0] != 99]) == 2


@pytest.mark.parametrize(
    ("before", "after"), [([A], [C, A]), ([A], [A, C]), ([A, C], [A])], ids=str
)
def test_spark_refuses_another_number_of_sources(
    query: Query,
    land: Callable[[str, int, str], None],
    before: list[Source],
    after: list[Source],
) -> None:
    first = query(before, [B])
    first.step()
    emitted = rows(first)
    again = query(after, [B])
    message = refused(first, again, StreamingQueryException)
    assert "sources in the checkpoint offsets" in message
    assert rows(first) == emitted
    assert rows(again) == []


@pytest.mark.parametrize("query", ["named"], indirect=True)
def test_spark_refuses_a_source_under_another_name(
    query: Query, land: Callable[[str, int, str], None]
) -> None:
    first = query([A], [B])
    first.step()
    emitted = rows(first)
    again = query([("a", "renamed")], [B])
    refused(first, again, StreamingQueryException)
    assert rows(first) == emitted
    assert rows(again) == []
