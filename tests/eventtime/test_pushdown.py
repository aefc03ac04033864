"""Filters and column pruning pass below the join as in Spark's join, with the same results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import How, impose_order, stream_join
from tests.orders import WITHIN_THE_HOUR, Shop, at, met
from tests.streams import Landing


def filters(df: DataFrame, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    """The filters below the shuffles, on the left input and on the right input."""
    df.explain()
    plan = capsys.readouterr().out
    # Each input begins with its shuffle.
    _, left, right = plan.split("Exchange ")

    def below(text: str) -> list[str]:
        return [line.split("Filter ")[1] for line in text.splitlines() if "Filter " in line]

    return below(left), below(right)


@pytest.mark.parametrize(
    ("how", "where", "on_left", "on_right"),
    [
        ("inner", "o.id = 5", "= 5", "= 5"),
        ("inner", "d.id > 5", "> 5", "> 5"),
        ("left", "o.id = 5", "= 5", "= 5"),
        ("right", "d.id = 5", "= 5", "= 5"),
        ("full", "o.id = 5", "= 5", "= 5"),
        ("semi", "o.id = 5", "= 5", "= 5"),
        ("anti", "o.id = 5", "= 5", "= 5"),
        ("inner", "(o.id = 5 AND d.id < 9) OR (o.id = 6 AND d.id < 8)", "= 5", "< 9"),
        ("left", "o.id IS NULL", "isnull", "isnotnull"),
    ],
)
def test_key_filter_is_applied_to_both_inputs(
    shop: Shop,
    capsys: pytest.CaptureFixture[str],
    how: How,
    where: str,
    on_left: str,
    on_right: str,
) -> None:
    joined = stream_join(shop.ordered(), shop.delivered(), WITHIN_THE_HOUR, how)
    (left,), (right,) = filters(joined.where(where), capsys)
    assert on_left in left
    assert on_right in right


@pytest.mark.parametrize(
    ("how", "on_left", "on_right"),
    [
        ("inner", True, True),
        ("left", False, True),
        ("right", True, False),
        ("full", False, False),
        ("semi", True, True),
        ("anti", False, True),
    ],
)
def test_one_sided_conjuncts_filter_inputs_that_are_not_preserved(
    shop: Shop, capsys: pytest.CaptureFixture[str], how: How, on_left: bool, on_right: bool
) -> None:
    on = f"{WITHIN_THE_HOUR} AND o.id <> 3 AND d.id <> 4"
    joined = stream_join(shop.ordered(), shop.delivered(), on, how)
    left, right = filters(joined, capsys)
    demanded = ("isnotnull(id", "= 3", "= 4")
    assert [all(each in str(left) for each in demanded), left == []] == [on_left, not on_left]
    assert [all(each in str(right) for each in demanded), right == []] == [on_right, not on_right]


def test_event_time_conjuncts_are_not_pushed_down(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    on = f"{WITHIN_THE_HOUR} AND d.delivery_time > TIMESTAMP'2024-05-04 09:00:00'"
    left, right = filters(stream_join(shop.ordered(), shop.delivered(), on), capsys)
    # Event times are not filtered here; a row without a time passes even without a key.
    passing = [["isnotnull(id", "isnull(order_time"], ["isnotnull(id", "isnull(delivery_time"]]
    for (demand,), parts in zip((left, right), passing, strict=True):
        assert [part.split("#")[0].strip("(") for part in demand.split(" OR ")] == parts
    run = shop.joined("inner", on)
    shop.order((1, None), (2, "10:00"))
    shop.deliver((1, "08:00"), (2, "10:10"), (None, None))
    assert met(run.step()) == [(2, 2)]
    assert (run.total("nullTimeRowsLeft"), run.total("nullTimeRowsRight")) == (1, 1)


def test_key_filter_below_one_input_is_inferred_for_the_other(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    few = shop.ordered().where("o.id IN (5, 6)")
    (left,), (right,) = filters(stream_join(few, shop.delivered(), WITHIN_THE_HOUR), capsys)
    assert "IN (5,6)" in left
    assert "IN (5,6)" in right


def test_idle_union_branch_infers_no_filter(shop: Shop, spark: SparkSession) -> None:
    # While the second branch of the union is idle, Spark's optimizer sees the first one only.
    more = Shop(spark, shop.folder / "more")
    either = shop.ordered().where("o.id = 1").union(more.ordered()).alias("o")
    run = shop.run(stream_join(either, shop.delivered(), WITHIN_THE_HOUR))
    more.order((9, "10:00"))
    shop.order((9, "10:00"))
    run.step()
    shop.order((1, "10:10"))
    shop.deliver((1, "10:20"), (2, "10:20"))
    assert met(run.step()) == [(1, 1)]
    more.order((2, "10:10"))
    assert met(run.step()) == [(2, 2)]


def test_current_timestamp_filter_is_not_inferred_for_the_other_input(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    # A time too early in one batch, by the clock, may be late enough in a later batch.
    orders, deliveries = (
        df.withColumn("until", F.col(time) + F.expr("INTERVAL 1 DAY"))
        for df, time in ((shop.ordered(), "order_time"), (shop.delivered(), "delivery_time"))
    )
    on = f"{WITHIN_THE_HOUR} AND o.until = d.until"
    early = orders.where("until < current_timestamp()").alias("o")
    left, right = filters(stream_join(early, deliveries.alias("d"), on), capsys)
    assert " < " in str(left)
    assert " < " not in str(right)


def test_binary_filter_is_not_inferred_for_a_collation_equal_key(
    spark: SparkSession, tmp_path: Path
) -> None:
    def input_of(name: str) -> tuple[Landing, DataFrame]:
        folder = Landing(spark, tmp_path / name, "k STRING, t TIMESTAMP")
        stream = folder.stream().withColumn("k", F.expr("k COLLATE UTF8_LCASE"))
        return folder, impose_order(stream, "t", "0 seconds").alias(name)

    (a, left), (b, right) = input_of("a"), input_of("b")
    capitals = left.where("k COLLATE UTF8_BINARY = 'A'")
    run = Shop(spark, tmp_path).run(stream_join(capitals, right, "a.k = b.k AND a.t = b.t"))
    a.land({"k": "A", "t": at("10:00")}, {"k": "a", "t": at("10:01")})
    b.land({"k": "a", "t": at("10:00")}, {"k": "a", "t": at("10:01")})
    run.step()
    assert [(row[0], row[2]) for row in run.rows()] == [("A", "a")]


def test_only_required_struct_fields_enter_the_join(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = "t TIMESTAMP, s STRUCT<id: INT, price: INT, note: STRING, big: STRUCT<x: INT, y: INT>>"
    a, b = (Landing(spark, tmp_path / name, schema) for name in "ab")
    left, right = (impose_order(each.stream(), "t", "0 seconds") for each in (a, b))
    on = "a.s.id = b.s.id AND a.t = b.t AND a.s.price < b.s.big.x"
    joined = stream_join(left.alias("a"), right.alias("b"), on, "left")
    result = joined.where("b.s.price IS NULL").select("a.s.note", "b.s.id", "b.s.big.y")
    result.explain()
    plan = capsys.readouterr().out
    into_the_join = plan[plan.index("Exchange") : plan.index("ImposeOrder")]
    assert "_extract_note" in into_the_join
    assert not re.search(r"\bs#\d+[],]", into_the_join)
    run = Shop(spark, tmp_path).run(result)
    for step in (1, 2):
        big = {"x": 10, "y": 20 + step}
        row = {"id": step, "price": step, "note": f"n{step}", "big": big}
        a.land({"t": at(f"10:0{step}"), "s": row})
        b.land({"t": at(f"10:0{step}"), "s": {**row, "price": None}})
        run.step()
    assert run.rows() == [("n1", 1, 21), ("n2", 2, 22)]
