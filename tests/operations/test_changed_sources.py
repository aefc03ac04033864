"""Sources that change between two runs: state stays with its source, or the start is refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path

import pyspark
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order, stream_join
from tests.fingerprints import fingerprints
from tests.streams import Landing, Run

EVOLUTION = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
# In format 1 of the offset log, the default of Spark 4.2, Spark finds offsets by order.
OFFSETS = "spark.sql.streaming.offsetLog.formatVersion"
ORDER = "its sources have another order, and Spark finds their offsets by this order"
WITHIN_A_MINUTE = (
    "l.id = r.id AND r.t BETWEEN l.t - INTERVAL '1' MINUTE AND l.t + INTERVAL '1' MINUTE"
)
# Folder and name of each source of an input. The rows of all have the same columns.
Source = tuple[str, str]
Query = Callable[..., Run]
A, B, C = ("a", "first"), ("b", "second"), ("c", "third")


@pytest.fixture
def land(spark: SparkSession, tmp_path: Path) -> Callable[[str, int, str], None]:
    folders = {name: Landing(spark, tmp_path / f"{name}1", "id INT, t TIMESTAMP") for name in "abc"}

    def row(folder: str, number: int, clock: str) -> None:
        folders[folder].land({"id": number, "t": f"2024-05-04T{clock}:00Z"})

    for name in "abc":
        row(name, 99, "09:00")
    # Rows 1 and 2 are buffered until they match.
    row("a", 1, "10:01")
    row("b", 2, "10:00")
    return row


def querying(spark: SparkSession, tmp_path: Path, kind: str) -> Query:
    named = kind != "unnamed"
    if named and not hasattr(spark.readStream, "name"):
        pytest.skip("readStream.name is new in Spark 4.2")
    if kind == "named" and not pyspark.__version__.startswith("4.2."):
        pytest.skip("from Spark 4.3 on, names imply format 2 of the offset log")

    def read(source: Source) -> DataFrame:
        folder, name = source
        reader = spark.readStream.schema("id INT, t TIMESTAMP")
        # A glob pattern, because Spark refuses another folder.
        return (reader.name(name) if named else reader).json(str(tmp_path / f"{folder}1*"))

    def ordered(rows: DataFrame) -> DataFrame:
        return impose_order(rows, "t", "1 minute")

    def joined(left: list[Source], right: list[Source], each: bool = False) -> Run:
        """With `each`, the order is below the union."""
        spark.conf.set(EVOLUTION, str(named).lower())
        spark.conf.set(OFFSETS, "2" if kind == "by name" else "1")
        first, second = (
            (
                reduce(DataFrame.union, map(ordered, map(read, of)))
                if each
                else ordered(reduce(DataFrame.union, map(read, of)))
            ).alias(alias)
            for of, alias in ((left, "l"), (right, "r"))
        )
        both = stream_join(first, second, WITHIN_A_MINUTE)
        columns = both.selectExpr("l.id", "minute(l.t) AS lt", "minute(r.t) AS rt")
        return Run(columns, tmp_path / "checkpoint")

    return joined


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[None]:
    yield
    spark.conf.unset(EVOLUTION)
    spark.conf.unset(OFFSETS)


@pytest.fixture(params=["by name", "named", "unnamed"])
def query(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path, settings: None
) -> Query:
    return querying(spark, tmp_path, request.param)


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
def test_source_previously_read_by_the_other_input_is_refused(
    query: Query, land: Callable[[str, int, str], None], left: list[Source]
) -> None:
    first = query([A], [B])
    first.step()
    land("b", 1, "10:00")
    message = refused(first, query(left, [A] if left == [B] else [C]), AnalysisException)
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in message
    assert "its inputs were exchanged" in message


def test_source_moved_to_the_other_input_is_refused(
    query: Query, land: Callable[[str, int, str], None]
) -> None:
    first = query([A, C], [B])
    first.step()
    message = refused(first, query([A], [B, C]), AnalysisException)
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in message
    assert "is now read by the right input" in message


def with_unequal_offsets(first: Run, land: Callable[[str, int, str], None]) -> None:
    """Read one batch of each source, then two more of the source a alone."""
    first.step()
    for number in (3, 4):
        land("a", number, "10:01")
        first.step()


@pytest.mark.parametrize("query", ["named", "unnamed"], indirect=True)
def test_reordered_unnamed_sources_of_a_union_are_refused(
    query: Query, land: Callable[[str, int, str], None]
) -> None:
    first = query([A, C], [B])
    with_unequal_offsets(first, land)
    land("c", 2, "10:01")
    message = refused(first, query([C, A], [B]), AnalysisException)
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in message
    assert ORDER in message
    assert "was number 1 and is now number 2" in message
    # Nothing is lost: the original query continues.
    again = query([A, C], [B])
    again.step()
    assert rows(again) == [(2, 1, 0)]


@pytest.mark.parametrize("query", ["by name"], indirect=True)
def test_named_sources_may_be_reordered(
    query: Query, land: Callable[[str, int, str], None]
) -> None:
    first = query([A, C], [B])
    with_unequal_offsets(first, land)
    land("b", 1, "10:00")
    land("b", 3, "10:00")
    land("c", 2, "10:01")
    again = query([C, A], [B])
    again.step()
    # Each row is emitted once, from the state of a and from the new file of c.
    assert rows(again) == [(1, 1, 0), (2, 1, 0), (3, 1, 0)]


@pytest.mark.parametrize("query", ["by name"], indirect=True)
def test_reordered_branches_with_orders_of_their_own_are_refused(
    query: Query, land: Callable[[str, int, str], None]
) -> None:
    """The state has the watermarks of a union by the number of the branch."""
    first = query([A, C], [B], True)
    first.step()
    message = refused(first, query([C, A], [B], True), AnalysisException)
    assert "its watermarks would be those of other sources" in message
    assert "streamjoin.evolve(" in message
    land("b", 1, "10:00")
    again = query([A, C], [B], True)
    again.step()
    assert rows(again) == [(1, 1, 0)]


@pytest.mark.parametrize("query", ["by name"], indirect=True)
def test_named_source_may_be_added_and_removed(
    query: Query, land: Callable[[str, int, str], None]
) -> None:
    first = query([A], [B])
    with_unequal_offsets(first, land)
    land("c", 2, "10:01")
    added = query([C, A], [B])
    added.step()
    # the added source is read from its beginning
    assert Counter(rows(added)) == {(2, 1, 0): 1}
    land("b", 3, "10:00")
    removed = query([C], [B])
    removed.step()
    # Rows of the removed source remain in the state.
    assert rows(removed) == [(3, 1, 0)]


@pytest.mark.parametrize("query", ["named", "unnamed"], indirect=True)
@pytest.mark.parametrize(
    ("before", "after"), [([A], [C, A]), ([A], [A, C]), ([A, C], [A])], ids=str
)
def test_source_that_shifts_other_sources_is_refused(
    query: Query,
    land: Callable[[str, int, str], None],
    before: list[Source],
    after: list[Source],
) -> None:
    first = query(before, [B])
    first.step()
    assert ORDER in refused(first, query(after, [B]), AnalysisException)


@pytest.mark.parametrize("query", ["named", "unnamed"], indirect=True)
@pytest.mark.parametrize(("before", "after"), [([B], [B, C]), ([B, C], [B])], ids=str)
def test_spark_refuses_another_number_of_sources(
    query: Query,
    land: Callable[[str, int, str], None],
    before: list[Source],
    after: list[Source],
) -> None:
    first = query([A], before)
    first.step()
    emitted = rows(first)
    again = query([A], after)
    message = refused(first, again, StreamingQueryException)
    assert "sources in the checkpoint offsets" in message
    assert rows(first) == emitted
    assert rows(again) == []


@pytest.mark.parametrize("kind", ["by name", "named"])
def test_naming_sources_of_an_existing_checkpoint_is_refused(
    spark: SparkSession,
    tmp_path: Path,
    land: Callable[[str, int, str], None],
    settings: None,
    kind: str,
) -> None:
    """Spark 4.2 finds offsets by order, but the files of a source by its name; 4.3 refuses."""
    named = querying(spark, tmp_path, kind)
    first = querying(spark, tmp_path, "unnamed")([A, C], [B])
    with_unequal_offsets(first, land)
    assert ORDER in refused(first, named([C, A], [B]), AnalysisException)
    exchanged = refused(first, named([B, C], [A]), AnalysisException)
    assert "its inputs were exchanged" in exchanged
    land("c", 2, "10:01")
    same = named([A, C], [B])
    message = refused(first, same, StreamingQueryException)
    assert re.search("batch 2 doesn't exist|CANNOT_ENABLE_ON_EXISTING_CHECKPOINT", message)
    assert rows(same) == []


def test_dropping_source_names_is_refused(
    spark: SparkSession,
    tmp_path: Path,
    land: Callable[[str, int, str], None],
    settings: None,
) -> None:
    first = querying(spark, tmp_path, "by name")([A, C], [B])
    first.step()
    again = querying(spark, tmp_path, "unnamed")([A, C], [B])
    assert "All sources should be named" in refused(first, again, StreamingQueryException)


def test_exchanged_inputs_with_other_columns_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    a = Landing(spark, tmp_path / "a", "id INT, t TIMESTAMP, x INT")
    b = Landing(spark, tmp_path / "b", "id INT, t TIMESTAMP, y STRING")
    a.land({"id": 1, "t": "2024-05-04T10:00:00Z", "x": 1})
    b.land({"id": 1, "t": "2024-05-04T10:00:00Z", "y": "z"})

    def joined(left: Landing, right: Landing) -> Run:
        first, second = (
            impose_order(of.stream(), "t", "1 minute").alias(alias)
            for of, alias in ((left, "l"), (right, "r"))
        )
        both = stream_join(first, second, WITHIN_A_MINUTE).select("x", "y")
        return Run(both, tmp_path / "checkpoint")

    first = joined(a, b)
    first.step()
    message = refused(first, joined(b, a), AnalysisException)
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in message


@pytest.mark.parametrize("query", ["named"], indirect=True)
def test_spark_refuses_a_renamed_source(
    query: Query, land: Callable[[str, int, str], None]
) -> None:
    first = query([A], [B])
    first.step()
    emitted = rows(first)
    again = query([("a", "renamed")], [B])
    refused(first, again, StreamingQueryException)
    assert rows(first) == emitted
    assert rows(again) == []


@pytest.mark.parametrize("query", ["by name"], indirect=True)
def test_renamed_source_is_read_again(query: Query, land: Callable[[str, int, str], None]) -> None:
    first = query([A], [B])
    first.step()
    land("b", 1, "10:00")
    again = query([("a", "renamed")], [B])
    again.step()
    # the row in the state, and the same row read again
    assert rows(again) == [(1, 1, 0), (1, 1, 0)]
