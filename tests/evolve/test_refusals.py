"""A change that no stored row survives is refused by name, before anything is written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError
from pyspark.sql import DataFrame, SparkSession

from streamjoin import evolve, from_changelog, from_upserts, impose_order
from tests.evolve.test_evolve import ROW, WITHIN, Pair, emitted
from tests.fingerprints import fingerprints
from tests.streams import Landing, Run


@pytest.fixture
def pair(spark: SparkSession, tmp_path: Path) -> Pair:
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "2")
    return Pair(session, tmp_path)


# only rows that may be deleted are found by all columns
KIND = "IF(v < 0, 'delete', 'insert') AS op"


def started(pair: Pair, result: DataFrame) -> Run:
    run = pair.run(result)
    pair.land("a", (1, "10:00", 1), (2, "10:10", 2))
    pair.land("b", (1, "10:05", 10), (3, "10:20", 30))
    emitted(run)
    return run


def refusal(run: Run, changed: DataFrame, **changes: Any) -> str:
    before, to = fingerprints(run.checkpoint), run.checkpoint.with_name("to")
    with pytest.raises(AnalysisException) as refused:
        evolve(run.checkpoint, to, changed, **changes)
    assert fingerprints(run.checkpoint) == before
    assert not to.exists()
    return str(refused.value)


def test_columns_that_do_not_fit_are_refused(pair: Pair) -> None:
    run = started(pair, pair.joined())
    narrow = pair.joined(a=pair.stream("a", "id", "t", "CAST(v AS SMALLINT) AS v"))
    assert "STREAM_JOIN_REWRITE.OTHER_TYPE" in refusal(run, narrow)
    keyed = pair.stream("a", "id AS key", "t", "v").streamJoin(
        pair.stream("b"), WITHIN.format(30).replace("a.id", "a.key"), "left"
    )
    assert "STREAM_JOIN_REWRITE.MISSING_COLUMN" in refusal(run, keyed)
    for change in ({"rename": {"no": "v"}}, {"fill": {"no": 1}}, {"sources": {"no": "a"}}):
        said = refusal(run, pair.joined(minutes=40), **change)
        assert "STREAM_JOIN_REWRITE.INVALID_ARGUMENT" in said
    added = pair.joined(a=pair.stream("a", "id", "t", "v", "1 AS n"))
    for value in ("many", 1.5, [1], {"a": 1}):
        assert "INVALID_ARGUMENT" in refusal(run, added, fill={"n": value})


@pytest.mark.parametrize(
    ("before", "after"),
    [("inner", "left"), ("left", "full"), ("left_semi", "inner"), ("left_anti", "left")],
)
def test_a_type_that_flags_do_not_decide_is_refused(pair: Pair, before: str, after: str) -> None:
    run = started(pair, pair.joined(before))
    said = refusal(run, pair.joined(after))
    assert "STREAM_JOIN_REWRITE.OTHER_JOIN_TYPE" in said


def test_other_times_are_refused(pair: Pair) -> None:
    run = started(pair, pair.joined())
    rows = pair.landings["a"].stream().selectExpr("id", "t", "t AS u", "v")
    other = (
        impose_order(rows, "u", "0 seconds")
        .alias("a")
        .streamJoin(pair.stream("b"), WITHIN.format(30).replace("a.t", "a.u"), "left")
    )
    said = refusal(run, other, fill={"u": "2024-05-04 10:00:00"})
    assert "STREAM_JOIN_REWRITE.OTHER_EVENT_TIME" in said
    never = pair.joined(more=" AND b.t < a.t")
    assert "STREAM_JOIN_REWRITE.NEVER_TRUE" in refusal(run, never)


def test_another_time_of_an_order_is_refused(pair: Pair) -> None:
    of_b = pair.stream("b").withColumnRenamed("t", "u").alias("b")
    on = WITHIN.format(30).replace("b.t", "b.u")

    def ordered(by: str) -> DataFrame:
        joined: DataFrame = pair.stream("a").streamJoin(of_b, on, order_by=by)
        return joined

    run = started(pair, ordered("a.t"))
    assert "STREAM_JOIN_REWRITE.OTHER_EVENT_TIME" in refusal(run, ordered("b.u"))


def test_other_columns_of_an_order_within_partitions_are_refused(pair: Pair) -> None:
    def ordered(*columns: str) -> DataFrame:
        joined: DataFrame = pair.stream("a", *columns).streamJoin(
            pair.stream("b"), WITHIN.format(30), order_by="a.t", order_scope="partition"
        )
        return joined

    run = started(pair, ordered("id", "t", "v"))
    for columns in (("v", "t", "id"), ("id", "t", "v", "1 AS n"), ("id", "t")):
        said = refusal(run, ordered(*columns))
        assert "other columns of an order within partitions" in said


def test_an_unknown_source_is_refused(pair: Pair) -> None:
    run = started(pair, pair.joined())
    pair.landings["c"] = Landing(pair.session, pair.folder / "c", ROW)
    said = refusal(run, pair.joined(a=pair.stream("a", source="c")))
    assert "STREAM_JOIN_REWRITE.UNKNOWN_SOURCE" in said
    assert str(pair.folder / "c") in said


def test_rows_that_would_be_late_above_are_refused(pair: Pair) -> None:
    on = "c.id = a.id AND c.t BETWEEN a.t AND a.t + INTERVAL '20' MINUTE"

    def chain(minutes: int) -> DataFrame:
        joined: DataFrame = pair.joined(minutes=minutes).streamJoin(pair.stream("c"), on, "left")
        return joined

    run = started(pair, chain(30))
    assert "STREAM_JOIN_REWRITE.LATE_ABOVE" in refusal(run, chain(5))


def test_a_changelog_join_takes_other_columns_and_nothing_else(pair: Pair) -> None:
    def joined(
        on: str = "a.id = b.id",
        how: str = "inner",
        columns: tuple[str, ...] = ("id", "v"),
        counted: bool = False,
    ) -> DataFrame:
        def changes(name: str) -> DataFrame:
            rows = pair.landings[name].stream().selectExpr(*columns)
            if counted:
                return from_changelog(rows.selectExpr("*", KIND), op="op").alias(name)
            return from_upserts(rows, key="id", sequence_by="v").alias(name)

        result: DataFrame = changes("a").streamJoin(changes("b"), on, how)
        return result.select("a.*", "b.*", "_change_type")

    run = started(pair, joined())
    for changed, what in {
        joined("a.id = b.id AND a.v < 5"): "the condition was (left.id = right.id), and is",
        joined(how="left"): "the type of the changelog join was INNER, and is LEFT OUTER",
        joined(counted=True): "the identity of rows was left: key id",
        joined(columns=("id", "v % 2 AS v")): "an expression of an input was or is left.v = ",
    }.items():
        said = refusal(run, changed)
        assert "STREAM_JOIN_REWRITE.UNSUPPORTED_CHANGE" in said
        assert what in said
    to = run.checkpoint.with_name("kept")
    evolve(run.checkpoint, to, joined())
    run.checkpoint = to
    pair.land("b", (2, "10:30", 20))
    assert [row[:4] for row in emitted(run)] == [(2, 2, 2, 20)]
    run.checkpoint = run.checkpoint.with_name("counted")
    run.result = joined(counted=True)
    run.step()
    more = joined(columns=("id", "v", "t"), counted=True)
    assert "the column t is added to an input without a key" in refusal(run, more)


def test_the_refusal_at_start_has_the_call(pair: Pair) -> None:
    run = started(pair, pair.joined())
    with pytest.raises(AnalysisException, match="INCOMPATIBLE_CHECKPOINT") as refused:
        Run(pair.joined(minutes=60), run.checkpoint).step()
    call = f'streamjoin.evolve("file:{run.checkpoint}", "file:{run.checkpoint}-changed", changed)'
    assert call in str(refused.value)


def test_arguments_of_other_types_are_refused(pair: Pair) -> None:
    changed = pair.joined()
    for arguments in (
        {"changed": "SELECT 1"},
        {"rename": ["a"]},
        {"rename": {"a": 1}},
        {"sources": {1: "a"}},
    ):
        with pytest.raises(PySparkTypeError):
            evolve("from", "to", **({"changed": changed} | arguments))


QUERY = """
from streamjoin import impose_order

def result(spark):
    def stream(name):
        rows = spark.readStream.schema("id INT, t TIMESTAMP, v INT").json("{folder}/" + name)
        rows = rows.selectExpr("id", "t", "v", "'x' AS x")
        return impose_order(rows, "t", "0 seconds").alias(name)

    on = "a.id = b.id AND b.t BETWEEN a.t AND a.t + INTERVAL '45' MINUTE"
    return stream("a").streamJoin(stream("b"), on, "left")
"""


def test_the_command_evolves_for_the_query_of_a_module(pair: Pair) -> None:
    run = started(pair, pair.joined())
    (pair.folder / "job.py").write_text(QUERY.replace("{folder}", str(pair.folder)))
    to = pair.folder / "to"
    command = [sys.executable, "-m", "streamjoin", "evolve", str(run.checkpoint), str(to)]
    command += ["--query", "job:result", "--fill", "x=old"]
    said = subprocess.run([*command, "--dry-run"], capture_output=True, text=True, cwd=pair.folder)
    assert said.returncode == 0, said.stderr
    assert "continues join 0" in said.stdout
    assert not to.exists()
    done = subprocess.run(command, capture_output=True, text=True, cwd=pair.folder)
    assert done.stdout == said.stdout
    assert (to / "offsets/0").exists()
