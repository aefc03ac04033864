"""Changed inputs of joins below others, of as-of joins, and of sources that are read twice."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from streamjoin import doctor, evolve, impose_order
from tests.evolve.test_evolve import WITHIN, Pair, emitted, evolved, pair, says

__all__ = ["pair"]
OF_C = "c.id = a.id AND c.t BETWEEN a.t - INTERVAL '20' MINUTE AND a.t + INTERVAL '20' MINUTE"
IDS = ("a.id", "a.v", "b.id", "b.v", "c.v")


def below(pair: Pair, *more: str) -> DataFrame:
    columns = ("id", "t", "v", *more)
    return pair.joined(a=pair.stream("a", *columns), b=pair.stream("b", *columns))


def test_inputs_of_a_join_below_are_exchanged(pair: Pair) -> None:
    """The join above and the ordered output have the columns of `b` first."""
    exchanged = pair.stream("b").streamJoin(pair.stream("a"), WITHIN.format(30), "right")
    run = pair.run(below(pair).streamJoin(pair.stream("c"), OF_C, order_by="a.t").selectExpr(*IDS))
    pair.land("a", (1, "10:00", 1), (2, "10:10", 2))
    pair.land("b", (1, "10:05", 10), (2, "10:15", 20))
    pair.land("c", (2, "10:00", 200))
    assert emitted(run) == []
    changed = exchanged.streamJoin(pair.stream("c"), OF_C, order_by="a.t").selectExpr(*IDS)
    evolved(run, changed)
    pair.land("c", (1, "10:10", 100), (9, "12:00", 0))
    pair.land("a", (9, "12:00", 0))
    pair.land("b", (8, "12:30", 0))
    assert emitted(run) == [(1, 1, 1, 10, 100), (2, 2, 2, 20, 200)]


def test_a_union_adds_a_source_to_an_input(pair: Pair) -> None:
    """Its rows below the watermark of the input are late."""
    run = pair.run(pair.joined().selectExpr("a.v", "b.v AS other"))
    pair.land("a", (1, "10:00", 1))
    pair.land("b", (2, "10:20", 20))
    assert emitted(run) == []
    rows = pair.landings["a"].stream().union(pair.landings["c"].stream())
    changed = pair.joined(a=impose_order(rows, "t", "0 seconds").alias("a"))
    lines = evolved(run, changed.selectExpr("a.v", "b.v AS other"))
    assert says(lines, f"source json {pair.folder / 'c'}: is read from its start")
    pair.land("c", (2, "09:59", 2), (2, "10:10", 3))
    pair.land("b", (1, "10:25", 10))
    assert emitted(run) == [(1, 10), (3, 20)]


def test_an_added_column_of_a_padded_row_is_null(pair: Pair) -> None:
    run = pair.run(below(pair).streamJoin(pair.stream("c"), OF_C).selectExpr(*IDS))
    pair.land("a", (1, "10:00", 1), (2, "10:00", 2))
    pair.land("b", (1, "10:05", 10), (9, "10:31", 0))
    assert emitted(run) == []
    chain = below(pair, "8 AS x").streamJoin(pair.stream("c"), OF_C)
    evolved(run, chain.selectExpr("a.id", "b.id", "a.x", "b.x"), fill={"x": 7})
    pair.land("c", (1, "10:10", 100), (2, "10:10", 200))
    assert emitted(run) == [(1, 1, 7, 7), (2, None, 7, None)]


def test_a_source_that_is_read_twice_starts_without_a_watermark(pair: Pair) -> None:
    """The rows of the second reader, from the start of the source, are not late."""
    run = pair.run(pair.joined("inner").selectExpr("a.id", "b.id AS other"))
    pair.land("a", (1, "10:00", 1), (2, "11:00", 2))
    pair.land("b", (2, "11:00", 20))
    assert emitted(run) == [(2, 2)]
    again = pair.stream("a").streamJoin(pair.stream("c"), OF_C).selectExpr("a.id", "c.id")
    evolved(run, run.result.union(again))
    pair.land("c", (1, "10:10", 100))
    pair.land("b", (2, "11:10", 21))
    assert emitted(run) == [(1, 1), (2, 2)]
    # the second reader has its own watermark when the query changes again
    evolved(run, pair.joined("inner").selectExpr("a.id", "b.id AS other").union(again))
    pair.land("c", (2, "11:10", 200))
    assert emitted(run) == [(2, 2)]


def test_the_key_of_an_as_of_join_gets_a_wider_type(pair: Pair) -> None:
    def joined(number: str) -> DataFrame:
        a, b = (pair.stream(name, f"{number} AS id", "t", "v") for name in "ab")
        result: DataFrame = a.streamJoin(b, "a.id = b.id AND b.t <= a.t", "asof")
        return result.selectExpr("a.id", "a.v", "b.v")

    run = pair.run(joined("id"))
    pair.land("a", (1, "10:00", 1), (2, "10:10", 2))
    pair.land("b", (1, "09:55", 10), (2, "10:10", 20))
    assert emitted(run) == [(1, 1, 10)]
    lines = evolved(run, joined("CAST(id AS BIGINT)"))
    assert says(lines, "id INT BIGINT the same, cast")
    # as before, no row is missing
    assert not says(lines, "results are complete")
    pair.land("a", (1, "10:15", 3), (9, "10:30", 0))
    pair.land("b", (9, "10:30", 0))
    query = run.start(availableNow=True)
    query.awaitTermination()
    assert sorted(tuple(row) for row in run.batches[1]) == [(1, 3, 10), (2, 2, 20)]
    assert not [f for f in doctor(query).findings if f.code == "INCOMPLETE"]


def test_the_sequence_of_a_temporal_join_gets_another_name(pair: Pair) -> None:
    def joined(n: str) -> DataFrame:
        rates = pair.landings["b"].stream().selectExpr("id", "t", f"v AS {n}", "'insert' AS op")
        rates = rates.fromChangelog(key="id", sequence_by=n, op="op")
        rates = rates.imposeOrder("t", "0 seconds").alias("b")
        result: DataFrame = pair.stream("a", "id", "t").streamJoin(rates, "a.id = b.id", "asof")
        return result.selectExpr("a.id", f"b.{n} AS n")

    run = pair.run(joined("v"))
    pair.land("a", (1, "10:00", 0))
    pair.land("b", (1, "10:00", 2), (1, "10:00", 1))
    assert emitted(run) == []
    evolved(run, joined("n"), rename={"v": "n"})
    pair.land("a", (9, "10:30", 0))
    pair.land("b", (9, "10:30", 0))
    assert emitted(run) == [(1, 2)]


def test_rows_that_can_match_nothing_wait_for_a_watermark_of_the_other_input(pair: Pair) -> None:
    run = pair.run(pair.joined())
    pair.land("a", (1, "10:00", 1), (2, "10:20", 9))
    assert emitted(run) == []
    lines = evolved(run, pair.joined(more=" AND a.v > 5"))
    assert says(lines, "1 left rows can match nothing: the batch in which the watermark of")
    pair.land("a", (3, "10:25", 9))
    assert emitted(run) == []
    pair.land("b", (2, "10:40", 20))
    assert emitted(run) == [(1, "10:00", 1, None, None, None), (2, "10:20", 9, 2, "10:40", 20)]


def test_exchanged_inputs_below_an_order_within_partitions_are_refused(pair: Pair) -> None:
    """Its rows are copied as they are, and the columns of `b` would be those of `a`."""
    order = {"order_by": "a.t", "order_scope": "partition"}
    on = WITHIN.format(30)
    run = pair.run(pair.stream("a").streamJoin(pair.stream("b"), on, "left", **order))
    pair.land("a", (1, "10:00", 1), (2, "10:20", 2))
    pair.land("b", (1, "10:05", 10))
    run.step()
    changed = pair.stream("b").streamJoin(pair.stream("a"), on, "right", **order)
    with pytest.raises(AnalysisException, match="other inputs below an order within partitions"):
        evolve(run.checkpoint, pair.folder / "new", changed)
