"""`state_ttl`: expiry of stored rows by the recorded time of batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.parameters import STATE_FORMATS
from tests.streams import Landing, Run, planned_at


def change(kind: str, **row: Any) -> dict[str, Any]:
    return {**row, "_change_type": kind}


def test_write_without_a_change_restarts_the_ttl(spark: SparkSession, tmp_path: Path) -> None:
    """The latest version stored below the join is renewed too."""
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


def test_expired_row_does_not_return_if_the_clock_goes_back(
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


def test_row_matches_at_its_expiry_time_but_not_after(spark: SparkSession, tmp_path: Path) -> None:
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
    # Stored rows keep the expiry time of their arrival.
    again = run("10 minutes")
    orders.land(change("insert", id=2, customer=7), change("insert", id=3, customer=7))
    assert sorted(planned_at(again, 61)) == [(2, 7, "insert"), (3, 7, "insert")]
    # The first order has expired; its emitted result stays.
    customers.land(change("delete", id=7))
    assert sorted(planned_at(again, 71), key=str) == [
        (2, 7, "update_preimage"),
        (2, None, "update_postimage"),
        (3, 7, "update_preimage"),
        (3, None, "update_postimage"),
    ]
    # The other orders have expired too.
    customers.land(change("insert", id=7))
    assert planned_at(again, 72) == []


def merged(table: dict[Any, tuple[Any, ...]], upserts: list[tuple[Any, ...]]) -> None:
    """Apply upserts as a MERGE on the first column does."""
    assert len({row[0] for row in upserts}) == len(upserts)
    for *row, kind in upserts:
        if kind == "delete":
            table.pop(row[0], None)
        else:
            table[row[0]] = tuple(row)


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_delete_of_an_expired_row_retracts_its_result(
    spark: SparkSession, tmp_path: Path, state_format: str
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.streamJoin.stateFormat", state_format)
    orders = Landing(
        session, tmp_path / "orders", "id INT, customer INT, amount INT, _change_type STRING"
    )
    customers = Landing(session, tmp_path / "customers", "id INT, name STRING, _change_type STRING")
    joined = (
        orders.stream()
        .fromChangelog(key="id")
        .alias("o")
        .streamJoin(
            customers.stream().fromChangelog(key="id").alias("c"),
            "o.customer = c.id",
            "left",
            state_ttl="1 hour",
        )
    )
    result = joined.select("o.id", "o.amount", "c.name", "_change_type").toUpserts(key="id")
    run = Run(result, tmp_path / "checkpoint")
    table: dict[Any, tuple[Any, ...]] = {}
    orders.land(*(change("insert", id=n, customer=7, amount=n) for n in (1, 2, 3, 4)))
    customers.land(change("insert", id=7, name="a"))
    merged(table, planned_at(run, 0))
    assert table == {n: (n, n, "a") for n in (1, 2, 3, 4)}

    # The orders expire; the customer is written again.
    customers.land(change("update_postimage", id=7, name="a"))
    assert planned_at(run, 50) == []
    orders.land(
        # the whole old image, and the key only
        change("delete", id=1, customer=7, amount=1),
        change("delete", id=2),
        # an update of an expired row, with both images
        change("update_preimage", id=3, customer=7, amount=3),
        change("update_postimage", id=3, customer=8, amount=30),
        # a row that never existed
        change("delete", id=9, customer=7, amount=9),
    )
    out = planned_at(run, 70)
    assert sorted(out) == [
        (1, 1, "a", "delete"),
        (2, None, None, "delete"),
        (3, 30, None, "update_postimage"),
        (9, 9, "a", "delete"),
    ]
    merged(table, out)
    assert table == {3: (3, 30, None), 4: (4, 4, "a")}
    # counted in the join and in the ChangelogNormalize below it
    assert run.metrics()["retractedExpiredRowsLeft"] == 4
    assert run.metrics()["unknownRetractionsLeft"] == 0

    # The customer expires and is deleted: a stored order is padded, an expired order is not.
    orders.land(change("insert", id=5, customer=7, amount=5))
    merged(table, planned_at(run, 100))
    assert table[5] == (5, 5, "a")
    customers.land(change("delete", id=7, name="a"))
    merged(table, planned_at(run, 120))
    assert run.operator()["customMetrics"]["retractedExpiredRowsRight"] == 1
    assert table == {3: (3, 30, None), 4: (4, 4, "a"), 5: (5, 5, None)}

    # A live order whose customer has expired.
    customers.land(change("insert", id=7, name="b"))
    merged(table, planned_at(run, 130))
    assert table[5] == (5, 5, "b")
    orders.land(change("update_postimage", id=5, customer=7, amount=5))
    assert planned_at(run, 150) == []
    orders.land(change("delete", id=5, customer=7, amount=5))
    merged(table, planned_at(run, 200))
    assert table == {3: (3, 30, None), 4: (4, 4, "a")}


@pytest.mark.parametrize("upserts", [False, True])
@pytest.mark.parametrize("how", ["left", "left_anti"])
def test_row_whose_partner_has_expired_moves_to_another_key(
    spark: SparkSession, tmp_path: Path, how: Any, upserts: bool
) -> None:
    """Its result changes, although the padded row under the old key equals that under the new."""
    orders = Landing(spark, tmp_path / "orders", "id INT, customer INT, _change_type STRING")
    customers = Landing(spark, tmp_path / "customers", "id INT, name STRING, _change_type STRING")
    joined = (
        orders.stream()
        .fromChangelog(key="id")
        .alias("o")
        .streamJoin(
            customers.stream().fromChangelog(key="id").alias("c"),
            "o.customer = c.id",
            how,
            state_ttl={"right": "1 hour"},
        )
    )
    names = [] if how == "left_anti" else ["c.name"]
    result = joined.select("o.id", *names, "_change_type")
    run = Run(result.toUpserts(key="id") if upserts else result, tmp_path / "checkpoint")
    table: dict[Any, tuple[Any, ...]] = {}

    def merge(minute: int) -> None:
        out = planned_at(run, minute)
        merged(table, [row for row in out if row[-1] != "update_preimage"])

    orders.land(change("insert", id=7, customer=1))
    customers.land(change("insert", id=1, name="Ann"))
    merge(0)
    assert table == ({} if how == "left_anti" else {7: (7, "Ann")})
    orders.land(
        change("update_preimage", id=7, customer=1), change("update_postimage", id=7, customer=2)
    )
    merge(70)
    assert table == ({7: (7,)} if how == "left_anti" else {7: (7, None)})


def test_delete_ignores_a_filter_on_the_padded_row(spark: SparkSession, tmp_path: Path) -> None:
    orders = Landing(
        spark, tmp_path / "orders", "id INT, customer INT, amount INT, _change_type STRING"
    )
    customers = Landing(spark, tmp_path / "customers", "id INT, name STRING, _change_type STRING")
    joined = (
        orders.stream()
        .fromChangelog(key="id")
        .alias("o")
        .streamJoin(
            customers.stream().fromChangelog(key="id").alias("c"),
            "o.customer = c.id",
            "left",
            state_ttl={"right": "1 hour"},
        )
        .where("c.name IS NOT NULL OR o.amount > 100")
    )
    run = Run(joined.select("o.id", "c.name", "_change_type"), tmp_path / "checkpoint")
    orders.land(*(change("insert", id=n, customer=1, amount=20) for n in (7, 8)))
    customers.land(change("insert", id=1, name="Ann"))
    assert sorted(planned_at(run, 0)) == [(7, "Ann", "insert"), (8, "Ann", "insert")]
    # The customer has expired, and the filter rejects both orders without a customer.
    orders.land(
        change("delete", id=7, customer=1, amount=20),
        change("update_preimage", id=8, customer=1, amount=20),
        change("update_postimage", id=8, customer=1, amount=30),
    )
    assert sorted(planned_at(run, 70)) == [(7, None, "delete"), (8, None, "delete")]


@pytest.mark.parametrize("on_expiry", ["keep", "retract"])
def test_inner_join_retracts_only_what_it_has_emitted(
    spark: SparkSession, tmp_path: Path, on_expiry: Any
) -> None:
    orders = Landing(spark, tmp_path / "orders", "id INT, customer INT, _change_type STRING")
    customers = Landing(spark, tmp_path / "customers", "id INT, name STRING, _change_type STRING")
    joined = (
        orders.stream()
        .fromChangelog(key="id")
        .alias("o")
        .streamJoin(
            customers.stream().fromChangelog(key="id").alias("c"),
            "o.customer = c.id",
            state_ttl={"right": "1 hour"},
            on_expiry=on_expiry,
        )
    )
    run = Run(joined.select("o.id", "c.name", "_change_type"), tmp_path / "checkpoint")
    orders.land(change("insert", id=7, customer=1))
    customers.land(change("insert", id=1, name="Ann"))
    assert planned_at(run, 0) == [(7, "Ann", "insert")]
    deleted = [(7, "Ann", "delete")]
    # The customer expires. Order 8 never has a result.
    orders.land(change("insert", id=8, customer=1))
    assert planned_at(run, 70) == (deleted if on_expiry == "retract" else [])
    customers.land(change("delete", id=1, name="Ann"))
    assert planned_at(run, 80) == (deleted if on_expiry == "keep" else [])
    orders.land(change("delete", id=7, customer=1), change("delete", id=8, customer=1))
    assert planned_at(run, 90) == []


def test_delete_of_a_row_too_young_to_expire_is_unknown(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders = Landing(spark, tmp_path / "orders", "id INT, t TIMESTAMP, _change_type STRING")
    customers = Landing(spark, tmp_path / "customers", "id INT, _change_type STRING")
    left = orders.stream().fromChangelog().imposeOrder("t", "0 seconds").alias("o")
    right = customers.stream().fromChangelog(key="id").alias("c")
    joined = left.streamJoin(right, "o.id = c.id", state_ttl={"left": "1 hour"})
    run = Run(joined.select("o.id", "o.t", "_change_type"), tmp_path / "checkpoint")

    def out() -> list[tuple[Any, ...]]:
        return [(row[0], row[2]) for rows in run.step().values() for row in rows]

    orders.land(change("insert", id=1, t="2025-01-01 00:00:00"))
    customers.land(change("insert", id=1), change("insert", id=2))
    assert out() == [(1, "insert")]
    orders.land(change("insert", id=2, t="2025-01-01 02:00:00"))
    assert out() == [(2, "insert")]
    orders.land(
        change("delete", id=1, t="2025-01-01 00:00:00"),
        # It was never inserted: by its time, it would not have expired yet.
        change("delete", id=2, t="2025-01-01 01:30:00"),
    )
    assert out() == [(1, "delete")]
    assert run.metrics()["retractedExpiredRowsLeft"] == 1
    assert run.metrics()["unknownRetractionsLeft"] == 1


def test_delete_of_an_unknown_row_without_ttl_emits_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders = Landing(spark, tmp_path / "orders", "id INT, _change_type STRING")
    customers = Landing(spark, tmp_path / "customers", "id INT, _change_type STRING")
    joined = (
        orders.stream()
        .fromChangelog(key="id")
        .alias("o")
        .streamJoin(
            customers.stream().fromChangelog(key="id").alias("c"),
            "o.id = c.id",
            "left",
            state_ttl={"right": "1 hour"},
        )
    )
    run = Run(joined.select("o.id", "_change_type"), tmp_path / "checkpoint")
    orders.land(change("delete", id=1))
    customers.land(change("insert", id=1))
    assert planned_at(run, 0) == []
    assert run.metrics()["unknownRetractionsLeft"] == 1
    assert run.metrics()["retractedExpiredRowsLeft"] == 0
