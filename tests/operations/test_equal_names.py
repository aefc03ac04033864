"""Columns of one name above a join: a query that reads another one does not continue its state."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from streamjoin import evolve, impose_order, stream_join
from tests.streams import Landing, Run

SCHEMA = "id INT, t TIMESTAMP, v INT"
WITHIN = "{0}.t BETWEEN {1}.t - INTERVAL '9' MINUTE AND {1}.t + INTERVAL '9' MINUTE"


class Queries:
    """Queries over a, b and c, each kind with a checkpoint of its own."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.folder = folder
        self.streams = {name: Landing(spark, folder / name, SCHEMA) for name in "abc"}

    def land(self, name: str, number: int) -> None:
        self.streams[name].land({"id": number, "t": "2024-05-04T10:00:00Z", "v": number})

    def run(self, kind: str, one: str = "a", columns: str = "a.v AS x, b.v AS y") -> Run:
        """A query that reads the id or the time of a or b, whichever `one` is."""

        def stream(name: str) -> DataFrame:
            read = self.streams[name].stream()
            timed = read if kind == "changelog" else impose_order(read, "t", "1 minute")
            return timed.alias(name)

        a, b, c = (stream(name) for name in "abc")
        on = f"c.id = {one}.id"
        if kind == "changelog":
            both = stream_join(a, b, "a.id < b.id", mode="changelog")
            result = stream_join(both, c, on, "left", mode="changelog")
            columns += ", _change_type"
        else:
            both = stream_join(a, b, WITHIN.format("b", "a"))
            if kind == "as of":
                result = stream_join(both, c, f"{on} AND c.t <= a.t", "left_asof")
            elif kind == "event time":
                result = stream_join(both, c, f"{on} AND {WITHIN.format('c', 'a')}", "left")
            else:
                result = both.orderBy(f"{one}.t")
                return Run(result.selectExpr(*columns.split(", ")), self.folder / kind)
        return Run(result.selectExpr("c.v AS z", *columns.split(", ")), self.folder / kind)


@pytest.fixture
def queries(spark: SparkSession, tmp_path: Path) -> Queries:
    queries = Queries(spark, tmp_path)
    for name, number in (("a", 1), ("b", 2), ("c", 2)):
        queries.land(name, number)
    return queries


@pytest.mark.parametrize("kind", ["event time", "as of", "changelog", "order"])
def test_another_column_of_the_same_name_is_refused(queries: Queries, kind: str) -> None:
    queries.run(kind).step()
    with pytest.raises(AnalysisException) as refused:
        queries.run(kind, "b").step()
    message = str(refused.value)
    assert "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT" in message
    assert "a column of another source" in message
    assert "from source 1" in message
    assert "from source 2" in message
    queries.run(kind).step()


@pytest.mark.parametrize("kind", ["event time", "as of", "changelog"])
def test_columns_of_one_name_in_another_order_of_the_select_continue(
    queries: Queries, kind: str
) -> None:
    queries.run(kind).step()
    queries.run(kind, columns="b.v AS y, a.v AS x").step()


BOTH = "a.id AS x, b.id AS y, a.t AS s, b.t AS t"


@pytest.mark.parametrize("kind", ["as of", "changelog", "order"])
def test_evolve_refuses_another_column_of_the_same_name(
    queries: Queries, tmp_path: Path, kind: str
) -> None:
    columns = BOTH.split(", a.t")[0] if kind == "changelog" else BOTH
    queries.run(kind, "a", columns).step()
    with pytest.raises(AnalysisException, match="a column of another source") as refused:
        evolve(tmp_path / kind, tmp_path / "to", queries.run(kind, "b", columns).result)
    assert "STREAM_JOIN_REWRITE.UNSUPPORTED_CHANGE" in str(refused.value)


def test_evolve_refuses_a_column_of_the_same_name_that_is_not_stored(
    queries: Queries, tmp_path: Path
) -> None:
    queries.run("event time").step()
    with pytest.raises(AnalysisException, match=r"MISSING_COLUMN.* the column id "):
        evolve(tmp_path / "event time", tmp_path / "to", queries.run("event time", "b").result)


def test_evolve_places_rows_by_another_key_of_the_same_name(
    queries: Queries, tmp_path: Path
) -> None:
    queries.run("event time", "a", BOTH).step()
    changed = queries.run("event time", "b", BOTH).result
    evolve(tmp_path / "event time", tmp_path / "to", changed)
    # The row of a and b has waited for 1, the id of a, and meets 2, that of b.
    queries.land("c", 2)
    rows = Run(changed, tmp_path / "to").step().values()
    assert [row[:3] for batch in rows for row in batch] == [(2, 1, 2)]


def test_a_select_between_joins_with_the_column_of_another_source_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    streams = {name: Landing(spark, tmp_path / name, SCHEMA) for name in "abc"}
    for name in "abc":
        streams[name].land({"id": 1, "t": "2024-05-04T10:00:00Z", "v": 1})

    def run(one: str, timed: str = "a") -> Run:
        a, b, c = (impose_order(streams[n].stream(), "t", "1 minute").alias(n) for n in "abc")
        both = stream_join(a, b, WITHIN.format("b", "a"))
        between = both.selectExpr(f"{one}.id", f"{timed}.t", "a.v").alias("ab")
        result = stream_join(between, c, "ab.id = c.id AND " + WITHIN.format("c", "ab"))
        return Run(result.select("ab.v"), tmp_path / "checkpoint")

    run("a").step()
    for other in (run("b"), run("a", "b")):
        with pytest.raises(AnalysisException, match="a column of another source"):
            other.step()
    with pytest.raises(AnalysisException, match=r"MISSING_COLUMN.* the column id "):
        evolve(tmp_path / "checkpoint", tmp_path / "to", run("b").result)
    run("a").step()


def test_rows_between_joins_in_another_order(spark: SparkSession, tmp_path: Path) -> None:
    streams = {name: Landing(spark, tmp_path / name, SCHEMA) for name in "abc"}

    def land(name: str, number: int) -> None:
        streams[name].land({"id": 1, "t": "2024-05-04T10:00:00Z", "v": number})

    def run(first: str, second: str, checkpoint: str = "checkpoint") -> Run:
        a, b, c = (impose_order(streams[n].stream(), "t", "1 minute").alias(n) for n in "abc")
        both = stream_join(a, b, "a.id = b.id AND " + WITHIN.format("b", "a"))
        between = both.selectExpr("a.id", "a.t", f"{first}.v", f"{second}.v").alias("ab")
        all_ = stream_join(between, c, "ab.id = c.id AND " + WITHIN.format("c", "ab"))
        # both columns v of the rows between the joins, in their order
        return Run(all_.select("ab.*", "c.v").drop("id", "t"), tmp_path / checkpoint)

    land("a", 1)
    land("b", 2)
    run("a", "b").step()
    with pytest.raises(AnalysisException) as refused:
        run("b", "a").step()
    assert "its column v is from another source" in str(refused.value)
    assert "Found: source 1. Expected: source 2." in str(refused.value)

    evolve(tmp_path / "checkpoint", tmp_path / "to", run("b", "a").result)
    land("c", 3)
    assert list(run("a", "b").step().values()) == [[(1, 2, 3)]]
    assert list(run("b", "a", "to").step().values()) == [[(2, 1, 3)]]


def test_a_part_of_an_input_with_the_column_of_another_source_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A delete of a row that did not pass the filter, or with another value, finds no row."""
    streams = {name: Landing(spark, tmp_path / name, SCHEMA) for name in "abc"}
    for name in "abc":
        streams[name].land({"id": 1, "t": "2024-05-04T10:00:00Z", "v": 1})

    def run(checkpoint: str, where: str = "a.v > 0", computed: str = "a.v") -> Run:
        a, b, c = (streams[name].stream().alias(name) for name in "abc")
        both = stream_join(a, b, "a.id = b.id", "left", mode="changelog").where(where)
        between = both.selectExpr("a.id", f"{computed} AS d", "_change_type").alias("ab")
        result = stream_join(between, c, "ab.id = c.id", mode="changelog")
        return Run(result.selectExpr("d", "c.v", "_change_type"), tmp_path / checkpoint)

    for part, other in (
        ({"where": "a.v > 0"}, {"where": "b.v > 0"}),
        ({"computed": "a.v - b.v"}, {"computed": "b.v - a.v"}),
    ):
        checkpoint = next(iter(part))
        run(checkpoint, **part).step()
        with pytest.raises(AnalysisException, match="a column of another source"):
            run(checkpoint, **other).step()
        with pytest.raises(AnalysisException, match="a column of another source"):
            evolve(tmp_path / checkpoint, tmp_path / "to", run(checkpoint, **other).result)
        run(checkpoint, **part).step()
