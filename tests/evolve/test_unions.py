"""Changed unions: the watermarks of an input stay with their sources, and never decrease."""

from __future__ import annotations

from functools import reduce

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from streamjoin import evolve, impose_order
from tests.evolve.test_evolve import ROW, WITHIN, Pair, emitted, evolved, pair, says
from tests.streams import Landing, Run

__all__ = ["pair"]


def union(pair: Pair, names: str, per: str | None = None) -> DataFrame:
    """Sources with one order above their union, `ac`, or one in each branch, `a|c`."""

    def ordered(of: str) -> DataFrame:
        rows = reduce(DataFrame.union, (pair.landings[n].stream() for n in of))
        return impose_order(rows, "t", "0 seconds", per=per)

    return reduce(DataFrame.union, map(ordered, names.split("|"))).alias("a")


def joined(pair: Pair, names: str, per: str | None = None) -> DataFrame:
    return pair.joined(a=union(pair, names, per)).selectExpr("a.id", "a.v", "b.v AS other")


def at_noon(pair: Pair, names: str) -> Run:
    """All watermarks are 12:00, and the deliveries before are evicted."""
    run = pair.run(joined(pair, names))
    for name in names.replace("|", ""):
        pair.land(name, (9, "12:00", 0))
    pair.land("b", (5, "10:10", 50), (9, "12:00", 0))
    assert {row[0] for row in emitted(run)} == {9}
    return run


UNIONS = [
    ("a", "ac"),
    ("a", "ca"),
    ("a", "a|c"),
    ("a", "c|a"),
    ("ac", "a"),
    ("ac", "c"),
    ("ac", "ca"),
    ("ac", "a|c"),
    ("ac", "c|a"),
    ("a|c", "a"),
    ("a|c", "c"),
    ("a|c", "ac"),
    ("a|c", "c|a"),
]


@pytest.mark.parametrize("pair", ["segments"], indirect=True)
@pytest.mark.parametrize(("before", "after"), UNIONS)
def test_rows_below_the_watermark_are_late_after_a_changed_union(
    pair: Pair, before: str, after: str
) -> None:
    """Their deliveries are evicted, so they would be emitted as unmatched."""
    run = at_noon(pair, before)
    evolved(run, joined(pair, after))
    for name in after.replace("|", ""):
        pair.land(name, (5, "10:00", 1), (6, "12:10", 6))
    pair.land("b", (6, "12:15", 60), (8, "13:00", 0))
    assert set(emitted(run)) == {(6, 6, 60)}


def test_an_order_above_another_one_is_refused(pair: Pair) -> None:
    """The order above the union and that of one branch have one name and one source."""
    run = at_noon(pair, "ac")
    above = impose_order(union(pair, "a|c"), "t", "0 seconds").alias("a")
    with pytest.raises(AnalysisException, match="OTHER_EVENT_TIME"):
        evolve(run.checkpoint, pair.folder / "new", pair.joined(a=above))


def test_groups_start_anew_if_a_source_is_removed(pair: Pair) -> None:
    """A group of the removed source would hold the watermark back."""
    run = pair.run(joined(pair, "ac", per="v"))
    pair.land("a", (1, "12:00", 1))
    pair.land("c", (2, "11:00", 2))
    emitted(run)
    lines = evolved(run, joined(pair, "a", per="v"))
    assert says(lines, "per = [v] of t has other sources. Its watermark continues, and each group")
    pair.land("a", (3, "12:10", 1), (4, "10:59", 1))
    pair.land("b", (9, "13:00", 0))
    # row 4 is below the watermark of the union
    assert emitted(run) == [(1, 1, None), (2, 2, None), (3, 1, None)]


def test_a_join_added_above_has_the_groups_of_the_union_below(pair: Pair) -> None:
    pair.landings["d"] = Landing(pair.session, pair.folder / "d", ROW)
    below = pair.joined("inner", a=union(pair, "ac", per="v"))
    run = pair.run(below.selectExpr("a.id"))
    pair.land("a", (1, "12:00", 1), (2, "10:00", 2))
    pair.land("b", (3, "10:12", 0), (9, "12:40", 0))
    emitted(run)
    of_d = "d.id = a.id AND d.t BETWEEN a.t AND a.t + INTERVAL '20' MINUTE"
    evolved(run, below.streamJoin(pair.stream("d"), of_d).selectExpr("a.id", "d.v"))
    pair.land("a", (1, "12:10", 1))
    pair.land("b", (9, "12:40", 0))
    emitted(run)
    # the rows of the slow group are not late in either join
    pair.land("a", (3, "10:10", 2))
    pair.land("d", (3, "10:15", 30))
    assert emitted(run) == [(3, 30)]


@pytest.mark.parametrize("pair", ["segments"], indirect=True)
def test_watermarks_follow_their_sources_to_another_branch(pair: Pair) -> None:
    """With the watermark of `a`, rows of the slow source `c` would be late."""
    run = pair.run(joined(pair, "a|c"))
    pair.land("a", (1, "12:00", 1))
    pair.land("c", (2, "10:00", 2))
    emitted(run)
    evolved(run, joined(pair, "c|a"))
    pair.land("c", (3, "10:10", 3))
    pair.land("a", (4, "12:10", 4))
    emitted(run)
    pair.land("c", (5, "10:15", 5))
    pair.land("b", (5, "10:20", 50))
    assert emitted(run) == [(5, 5, 50)]


@pytest.mark.parametrize("pair", ["segments"], indirect=True)
@pytest.mark.parametrize("how", ["inner", "asof"])
def test_stored_rows_keep_their_columns_if_inputs_with_unions_change(pair: Pair, how: str) -> None:
    """Above the join, `a.v` and `b.v` are columns of one name."""

    def query(names: str) -> DataFrame:
        a, b = union(pair, names), pair.stream("b")
        condition = WITHIN.format(30) if how == "inner" else "a.id = b.id AND b.t <= a.t"
        result: DataFrame = a.streamJoin(b, condition, how)
        return result.orderBy("a.t").selectExpr("a.v", "b.v AS other", "a.id")

    run = pair.run(query("ac"))
    pair.land("a", (1, "10:00", 1))
    pair.land("c", (2, "10:00", 2))
    assert emitted(run) == []
    evolved(run, query("ca"))
    pair.land("a", (9, "12:00", 0))
    pair.land("b", (1, "10:00", 10), (2, "10:00", 20), (9, "12:00", 90))
    assert {(1, 10, 1), (2, 20, 2)} <= set(emitted(run))
