"""The age of rows, `state_ttl`, by the recorded time of batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.streams import Landing, Run, planned_at


def change(kind: str, **row: Any) -> dict[str, Any]:
    return {**row, "_change_type": kind}


def test_a_write_that_changes_nothing_begins_the_age_of_a_row_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Also of a row whose last image is kept below the join."""
    orders = Landing(spark, tmp_path / "orders", "id INT, customer INT, _change_type STRING")
    customers = Landing(spark, tmp_path / "customers", "id INT")
    latest, named = orders.stream().fromChangelog(key="id"), customers.stream()
    joined = latest.alias("o").streamJoin(
        named.alias("c"), "o.customer = c.id", state_ttl={"left": "1 hour"}
    )
    run = Run(joined.select("o.id", "_change_type"), tmp_path / "checkpoint")
    orders.land(change("insert", id=2, customer=1))
    for minutes in (0, 40, 80):
        orders.land(change("update_postimage", id=1, customer=1))
        assert planned_at(run, minutes) == []
    customers.land({"id": 1})
    assert planned_at(run, 100) == [(1, "insert")]


def test_a_row_that_has_gone_by_its_age_stays_away_where_the_clock_goes_back(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders = Landing(spark, tmp_path / "orders", "id INT")
    customers = Landing(spark, tmp_path / "customers", "id INT")
    left, right = orders.stream().alias("o"), customers.stream().alias("c")
    joined = left.streamJoin(right, "o.id < c.id", mode="changelog", state_ttl="1 hour")
    run = Run(joined.select("o.id", "_change_type"), tmp_path / "checkpoint")
    for n, minutes in enumerate((0, 120, 30)):
        orders.land({"id": n})
        assert planned_at(run, minutes) == []
    customers.land({"id": 9})
    assert sorted(planned_at(run, 40)) == [(1, "insert"), (2, "insert")]


def test_a_row_is_there_at_the_end_of_its_age_and_gone_after_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders = Landing(spark, tmp_path / "orders", "id INT, customer INT, _change_type STRING")
    customers = Landing(spark, tmp_path / "customers", "id INT, _change_type STRING")

    def run(left: str) -> Run:
        joined = (
            orders.stream()
            .fromChangelog(key="id")
            .alias("o")
            .streamJoin(
                customers.stream().fromChangelog(key="id").alias("c"),
                "o.customer = c.id",
                "left",
                state_ttl={"left": left, "right": "2 hours"},
            )
        )
        return Run(joined.select("o.id", "c.id", "_change_type"), tmp_path / "checkpoint")

    hour = run("1 hour")
    orders.land(change("insert", id=1, customer=7))
    assert planned_at(hour, 0) == [(1, None, "insert")]
    customers.land(change("insert", id=7))
    assert planned_at(hour, 60) == [(1, None, "update_preimage"), (1, 7, "update_postimage")]
    # what is held keeps the age that it came with
    again = run("10 minutes")
    orders.land(change("insert", id=2, customer=7), change("insert", id=3, customer=7))
    assert sorted(planned_at(again, 61)) == [(2, 7, "insert"), (3, 7, "insert")]
    # the first order has gone, and what it gave stays
    customers.land(change("delete", id=7))
    assert sorted(planned_at(again, 71), key=str) == [
        (2, 7, "update_preimage"),
        (2, None, "update_postimage"),
        (3, 7, "update_preimage"),
        (3, None, "update_postimage"),
    ]
    # by now the others have gone, too
    customers.land(change("insert", id=7))
    assert planned_at(again, 72) == []
