"""The as-of join with a changelog: each row with the version that is valid at its time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import streamjoin
from streamjoin import from_changelog, from_debezium, from_upserts, impose_order
from tests.asof.exchange import KEY, Exchange, change
from tests.orders import at
from tests.parameters import STATE_FORMATS, rest_is_thorough
from tests.streams import Landing, Run, clocks


@pytest.fixture
def exchange(spark: SparkSession, tmp_path: Path) -> Exchange:
    return Exchange(spark, tmp_path)


@pytest.fixture(params=rest_is_thorough(STATE_FORMATS, "segments"))
def state_format(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    spark.conf.set("spark.sql.streamJoin.stateFormat", request.param)
    yield request.param
    spark.conf.unset("spark.sql.streamJoin.stateFormat")


@pytest.mark.connect
@pytest.mark.usefixtures("state_format")
def test_version_is_valid_until_the_next_version_or_delete(exchange: Exchange) -> None:
    run = exchange.shown()
    exchange.change("+EUR 10:01 1.10", "+USD 10:00 1.00")
    exchange.order("EUR 10:00", "EUR 10:01", "EUR 10:02")
    # a change of 10:01 may still come
    assert clocks(run.step()) == [("EUR", "10:00", "None")]
    exchange.change("<EUR 10:04 1.10", ">EUR 10:04 1.12", "-USD 10:06 1.00")
    exchange.order("EUR 10:04", "EUR 10:05", "USD 10:05", "USD 10:07")
    assert clocks(run.step()) == [
        ("EUR", "10:01", "1.1"),
        ("EUR", "10:02", "1.1"),
        ("EUR", "10:04", "1.12"),
        ("EUR", "10:05", "1.12"),
        ("USD", "10:05", "1.0"),
    ]
    exchange.change("+USD 10:09 1.02", "-EUR 10:08 1.12")
    exchange.order("USD 10:09", "EUR 10:10")
    assert clocks(run.step()) == [("USD", "10:07", "None")]
    # the delete of EUR has passed, so the key has left the state; the change of 10:09 waits
    assert run.metrics()["bufferedRowsRight"] == 1
    exchange.change("+GBP 10:20 1.30")
    exchange.order("GBP 10:20")
    assert clocks(run.step()) == [("EUR", "10:10", "None"), ("USD", "10:09", "1.02")]
    assert run.metrics()["bufferedRowsRight"] == 2


@pytest.mark.connect
def test_versions_from_upserts_and_output_columns(exchange: Exchange, spark: SparkSession) -> None:
    rates = impose_order(
        from_upserts(
            exchange.rate_landing.stream(), "currency", "n", deletes=F.col("rate").isNull()
        ),
        "time",
        "0 seconds",
    )
    joined = exchange.orders().streamJoin(rates.drop("n").alias("r"), KEY, "asof")
    assert joined.columns == ["time", "currency", "time", "currency", "rate"]
    renamed = rates.withColumnRenamed("time", "at")
    by_name = exchange.orders().streamJoin(renamed, ["currency"], "asof")
    assert by_name.columns == ["currency", "time", "at", "rate", "n"]
    run = exchange.run(joined.select("o.time", "rate"))
    rows = [change(c) for c in (">EUR 10:01 1.1 1", ">EUR 10:01 1.2 2", ">EUR 10:05 0 3")]
    rows[-1]["rate"] = None
    exchange.rate_landing.land(*rows, change("+EUR 10:09 2"))
    exchange.order("EUR 10:02", "EUR 10:06", "EUR 10:09")
    assert clocks(run.step()) == [("10:02", "1.2")]


@pytest.mark.connect
def test_sql_spellings_of_a_versions_join(exchange: Exchange, spark: SparkSession) -> None:
    exchange.orders().createOrReplaceTempView("versioned_orders")
    exchange.rates().createOrReplaceTempView("versioned_rates")
    exchange.rate_landing.stream().createOrReplaceTempView("rate_changes")
    declared = (
        "IMPOSE_ORDER(TABLE(SELECT * FROM FROM_CHANGELOG(TABLE(rate_changes), "
        "key => DESCRIPTOR(currency), sequence_by => DESCRIPTOR(n))), DESCRIPTOR(time), "
        "INTERVAL '0' SECOND)"
    )
    on = "ON o.currency = r.currency"
    texts = [
        "* FROM versioned_orders o LEFT JOIN versioned_rates FOR SYSTEM_TIME AS OF o.time AS r "
        f"{on}",
        f"* FROM versioned_orders o LEFT JOIN {declared} FOR SYSTEM_TIME AS OF o.time r {on}",
        f"* FROM versioned_orders o LEFT JOIN versioned_rates OVER (ROWS 1 PRECEDING) AS r {on}",
        "/*+ STREAM_JOIN(match => 'last') */ * FROM versioned_orders o LEFT JOIN versioned_rates "
        f"AS r {on}",
    ]
    exchange.change("+EUR 10:01 1.1", "-EUR 10:04 1.1", "+EUR 10:09 1.2")
    exchange.order("EUR 10:02", "EUR 10:05", "EUR 10:09")
    for n, text in enumerate(texts):
        joined = spark.sql(f"SELECT {text}")
        assert joined.columns == ["time", "currency", "time", "currency", "rate", "n"], text
        run = exchange.run(joined.select("o.time", "rate"), f"sql-{n}")
        assert clocks(run.step()) == [("10:02", "1.1"), ("10:05", "None")], text
    with pytest.raises(AnalysisException, match="in FOR SYSTEM_TIME AS OF is not an event time"):
        spark.sql(f"SELECT {texts[0]}".replace("o.time", "o.currency"))


@pytest.mark.connect
def test_sequence_breaks_ties_and_null_keys_or_times_never_match(exchange: Exchange) -> None:
    run = exchange.shown()
    exchange.change(
        # of one time the sequence decides, whatever the order of arrival
        "+A 10:01 1.2 2",
        "+A 10:01 1.1 1",
        "-B 10:01 0 2",
        "+B 10:01 1.1 1",
        # of one sequence, a delete comes before the row that replaces it
        "+C 10:01 1.1 1",
        "-C 10:01 0 1",
        # without a time or a key a change is of no version
        "+A - 9 9",
        "+- 10:02 9 9",
        "+Z 10:09 0",
    )
    exchange.order("A 10:02", "B 10:02", "C 10:02", "Z 10:09")
    exchange.order_landing.land({"time": at("10:02")}, {"currency": "A"})
    assert clocks(run.step()) == [
        ("A", "10:02", "1.2"),
        ("A", "None", "None"),
        ("B", "10:02", "None"),
        ("C", "10:02", "1.1"),
        ("None", "10:02", "None"),
    ]
    assert run.metrics()["nullTimeRowsRight"] == 1


def test_update_can_move_the_time_of_a_version(exchange: Exchange) -> None:
    run = exchange.shown()
    # to 10:05: the row of 10:02 is a version until then; and of B to 10:01, before it
    exchange.change("+A 10:02 1 1", "<A 10:02 1 2", ">A 10:05 2 2")
    exchange.change("+B 10:04 1 1", "<B 10:04 1 2", ">B 10:01 2 2", "+Z 10:09 0")
    exchange.order("A 10:03", "A 10:05", "B 10:03", "B 10:04", "Z 10:09")
    assert clocks(run.step()) == [
        ("A", "10:03", "1.0"),
        ("A", "10:05", "2.0"),
        ("B", "10:03", "2.0"),
        ("B", "10:04", "1.0"),
    ]


@pytest.mark.connect
def test_late_changes_and_orders_are_emitted(exchange: Exchange) -> None:
    joined = exchange.orders().streamJoin(exchange.rates(), KEY, "asof", late="emit")
    assert joined.columns[-1] == "late"
    columns = ["o.currency", "o.time", "r.currency", "r.time", "rate"]
    run = exchange.run(joined.select(*columns, "late.input", "late.column", "late.watermark"))
    exchange.change("+EUR 10:01 1.1", "+EUR 10:06 1.2")
    exchange.order("EUR 10:06")
    run.step()
    exchange.change("-EUR 10:03 1.1", "+EUR 10:10 1.3")
    exchange.order("EUR 10:04", "EUR 10:08", "EUR 10:10")
    mark = "2024-05-04 10:06:00"
    assert clocks(run.step()) == [
        ("EUR", "10:04", "None", "None", "None", "left", "o.time", mark),
        ("EUR", "10:06", "EUR", "10:06", "1.2", "None", "None", "None"),
        ("EUR", "10:08", "EUR", "10:06", "1.2", "None", "None", "None"),
        ("None", "None", "EUR", "10:03", "1.1", "right", "r.time", mark),
    ]
    assert (run.metrics()["lateRowsLeft"], run.metrics()["lateRowsRight"]) == (1, 1)


@pytest.mark.connect
def test_latest_version_expires_by_age(exchange: Exchange, capsys: Any) -> None:
    by_ttl = exchange.shown(state_ttl={"right": "5 minutes"})
    condition = f"{KEY} AND r.time >= o.time - INTERVAL '5' MINUTE AND r.rate > 1"
    by_condition = exchange.orders().streamJoin(exchange.rates(), condition, "left_asof")
    by_age = exchange.run(by_condition.select("o.currency", "o.time", "rate"), "age")
    exchange.change("+EUR 10:01 1.1", "+EUR 10:03 1.0", "+USD 10:01 1.2", "+Z 10:08 0")
    exchange.order("EUR 10:02", "EUR 10:07", "USD 10:06", "USD 10:07", "Z 10:08")
    shared = [("EUR", "10:02", "1.1"), ("USD", "10:06", "1.2"), ("USD", "10:07", "None")]
    assert clocks(by_ttl.step()) == sorted([*shared, ("EUR", "10:07", "1.0")])
    # another condition than the key applies to the version, and selects no earlier one
    assert clocks(by_age.step()) == sorted([*shared, ("EUR", "10:07", "None")])
    # USD of 10:01 is older than five minutes for all orders to come
    assert by_ttl.metrics()["bufferedRowsRight"] == 2
    capsys.readouterr()
    by_condition.explain()
    said = capsys.readouterr().out
    assert (
        "each row of o is joined with the last version of r with r.currency = o.currency and "
        "r.time <= o.time, none older than o.time - 5 minutes" in said
    )
    assert (
        "a version is valid from its r.time to that of the next version or the delete of its "
        "key, currency; among equal times n decides" in said
    )
    assert "maximum age of the last version" in said


def test_debezium_versions_by_change_time(exchange: Exchange, spark: SparkSession) -> None:
    row = "STRUCT<currency: STRING, rate: DOUBLE>"
    landing = Landing(
        spark,
        exchange.folder / "envelopes",
        f"value STRUCT<op: STRING, before: {row}, after: {row}, source: STRUCT<ts_ms: BIGINT>>",
    )
    changes = from_debezium(landing.stream(), "currency", sequence_by="source.ts_ms")
    rates = impose_order(
        changes.withColumn("changed", F.expr("timestamp_millis(_commit_version)")),
        "changed",
        "0 seconds",
    ).alias("r")
    joined = exchange.orders().streamJoin(rates, KEY, "left_asof")
    assert joined.columns == ["time", "currency", "currency", "rate", "_commit_version", "changed"]
    run = exchange.run(joined.select("o.currency", "o.time", "rate"))

    def envelope(
        op: str, clock: str, before: tuple[str, float] | None, after: tuple[str, float] | None
    ) -> dict[str, object]:
        moment = datetime.fromisoformat(at(clock)).replace(tzinfo=timezone.utc)
        images = [i and dict(zip(("currency", "rate"), i, strict=True)) for i in (before, after)]
        source = {"ts_ms": int(moment.timestamp()) * 1000}
        return {"value": {"op": op, "before": images[0], "after": images[1], "source": source}}

    landing.land(
        envelope("c", "10:01", None, ("EUR", 1.1)),
        envelope("u", "10:03", ("EUR", 1.1), ("EUR", 1.2)),
        envelope("d", "10:05", ("EUR", 1.2), None),
        # an update of the key
        envelope("c", "10:01", None, ("USX", 1.0)),
        envelope("u", "10:03", ("USX", 1.0), ("USD", 1.0)),
        envelope("c", "10:09", None, ("Z", 0.0)),
    )
    orders = ["EUR 10:02", "EUR 10:04", "EUR 10:06", "USX 10:02", "USX 10:04", "USD 10:04"]
    exchange.order(*orders, "Z 10:09")
    assert clocks(run.step()) == [
        ("EUR", "10:02", "1.1"),
        ("EUR", "10:04", "1.2"),
        ("EUR", "10:06", "None"),
        ("USD", "10:04", "1.0"),
        ("USX", "10:02", "1.0"),
        ("USX", "10:04", "None"),
    ]


def test_changelog_key_as_part_of_the_equality(exchange: Exchange) -> None:
    """A version that moves to another value of a column beside the key ends the one before."""
    condition = f"{KEY} AND o.currency = substr(r._commit_version, 1, 3)"
    changes = exchange.changes().withColumn("_commit_version", F.expr("concat(currency, rate)"))
    rates = impose_order(changes, "time", "0 seconds").alias("r")
    joined = exchange.orders().streamJoin(rates, condition, "asof")
    run = exchange.run(joined.select("o.time", "rate"))
    exchange.change("+EUR 10:01 1.1", "+EUR 10:04 1.2", "+Z 10:09 0")
    exchange.order("EUR 10:02", "EUR 10:05", "Z 10:09")
    assert clocks(run.step()) == [("10:02", "1.1"), ("10:05", "1.2")]


def expected(
    orders: list[dict[str, Any]], changes: list[dict[str, Any]]
) -> list[tuple[int, int | None]]:
    """For each order the id of the version that is valid at its time, of all changes in time."""

    def version(order: dict[str, Any]) -> int | None:
        before = [
            c
            for c in changes
            if c["k"] == order["k"] and c["t"] <= order["t"] and c["op"] != "update_preimage"
        ]
        last = max(before, key=lambda c: (c["t"], c["n"]), default=None)
        return None if last is None or last["op"] == "delete" else int(last["id"])

    return sorted((o["id"], version(o)) for o in orders)


def in_time(batches: list[list[dict[str, Any]]], lag: int) -> list[dict[str, Any]]:
    """Leave out rows below the largest time of the earlier batches, less the lag."""
    kept, largest = [], -(10**9)
    for rows in batches:
        kept += [r for r in rows if r["t"] >= largest - lag]
        largest = max([largest, *(r["t"] for r in rows)])
    return kept


def random_changes(seed: random.Random) -> list[dict[str, Any]]:
    changes: dict[tuple[str, int, int], dict[str, Any]] = {}
    for i in range(250):
        op = seed.choices(
            ["insert", "update_preimage", "update_postimage", "delete"], [3, 1, 3, 2]
        )[0]
        k, t, n = f"k{seed.randint(1, 6)}", i + seed.randint(-15, 15), seed.randint(0, 2)
        changes.setdefault((k, t, n), {"id": i, "t": t, "k": k, "n": n, "op": op})
    return list(changes.values())


@pytest.mark.parametrize("how", ["asof", "left_asof"])
@pytest.mark.usefixtures("state_format")
def test_random_versions_join_equals_a_python_oracle(
    spark: SparkSession, tmp_path: Path, how: str
) -> None:
    """Updates, deletes, ties, late changes, versions out of order within and across batches."""
    seed = random.Random(how)
    lag = 10
    orders = [
        {"id": i, "t": i + seed.randint(-15, 15), "k": f"k{seed.randint(1, 6)}"} for i in range(250)
    ]
    changes = random_changes(seed)
    left = Landing(spark, tmp_path / "left", "id INT, t INT, k STRING")
    right = Landing(spark, tmp_path / "right", "id INT, t INT, k STRING, n INT, op STRING")
    versions = from_changelog(right.stream(), key="k", op="op", sequence_by="n")
    joined = (
        impose_order(left.stream(), "t", lag)
        .alias("o")
        # the sequence decides even if no query selects it
        .streamJoin(impose_order(versions.drop("n"), "t", lag).alias("r"), "o.k = r.k", how)
    )
    run = Run(joined.select("o.id", "r.id"), tmp_path / "checkpoint")
    taken: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = []
    while orders or changes:
        cuts = seed.randint(20, 80), seed.randint(20, 80)
        batch = orders[: cuts[0]], changes[: cuts[1]]
        orders, changes = orders[cuts[0] :], changes[cuts[1] :]
        taken.append(batch)
        for landing, rows in zip((left, right), batch, strict=True):
            if rows:
                seed.shuffle(rows)
                landing.land(*rows)
        # each step is a restart from the checkpoint
        run.step()
    end = {"id": -1, "t": 10_000, "k": "end", "n": 0, "op": "insert"}
    left.land(end)
    right.land(end)
    run.step()
    batches = [list(side) for side in zip(*taken, strict=True)]
    accepted = [in_time(side, lag) for side in batches]
    wanted = [row for row in expected(*accepted) if how == "left_asof" or row[1] is not None]
    assert sorted(run.rows()) == wanted
    late = [sum(map(len, side)) - len(kept) for side, kept in zip(batches, accepted, strict=True)]
    assert late[0] > 0
    assert run.total("lateRowsLeft") == late[0]
    preimages = sum(
        c["op"] == "update_preimage"
        for c in [c for rows in batches[1] for c in rows]
        if c not in accepted[1]
    )
    assert run.total("lateRowsRight") == late[1] - preimages > 0


def test_window_aggregation_above_a_versions_join(exchange: Exchange) -> None:
    joined = exchange.orders().streamJoin(exchange.rates(), KEY, "asof")
    counted = joined.groupBy(F.window("o.time", "10 minutes")).agg(F.sum("rate"))
    run = exchange.run(counted.select("window.start", "sum(rate)"))
    exchange.change("+EUR 10:01 1", "+EUR 10:12 2", "+EUR 10:30 3")
    exchange.order("EUR 10:05", "EUR 10:08", "EUR 10:12", "EUR 10:30")
    run.step()
    assert clocks(run.batches) == [("10:00", "2.0"), ("10:10", "2.0")]


def test_probe_rows_of_one_key_and_time_need_no_sequence(
    spark: SparkSession, tmp_path: Path
) -> None:
    """An order has another column where a change has its sequence: no number of 20 digits."""
    order_landing = Landing(
        spark, tmp_path / "orders", "time TIMESTAMP, currency STRING, id BIGINT, price DOUBLE"
    )
    rate_landing = Landing(
        spark,
        tmp_path / "rates",
        "time TIMESTAMP, currency STRING, rate DOUBLE, scn DECIMAL(20,0), _change_type STRING",
    )
    orders = impose_order(order_landing.stream(), "time", "0 seconds").alias("o")
    changes = from_changelog(rate_landing.stream(), key="currency", sequence_by="scn")
    rates = impose_order(changes, "time", "0 seconds").alias("r")
    joined = orders.streamJoin(rates, KEY, "asof").select("o.id", "o.price", "r.rate", "r.scn")
    run = Run(joined, tmp_path / "checkpoint")
    for scn, rate in ((10, 1.1), (9, 1.2)):
        row = {"time": at("10:01"), "currency": "EUR", "rate": rate, "scn": scn}
        rate_landing.land({**row, "_change_type": "insert"})
    rate_landing.land({"time": at("10:09"), "currency": "USD", "_change_type": "insert", "scn": 1})
    placed = {"time": at("10:02"), "currency": "EUR", "price": 100.5}
    order_landing.land(*({**placed, "id": n} for n in (2, -1, 5_000_000_000)))
    order_landing.land({"time": at("10:09"), "currency": "GBP", "id": 4, "price": 1.0})
    run.step()
    assert sorted(row[:3] for row in run.rows()) == [
        (-1, 100.5, 1.1),
        (2, 100.5, 1.1),
        (5_000_000_000, 100.5, 1.1),
    ]


def test_union_of_versions_joins_below_a_changelog_join(exchange: Exchange) -> None:
    """Their rows are final: no latest version of each key is stored below them."""
    parts = [
        exchange.orders().streamJoin(exchange.rates(), KEY, "left_asof").select("o.*", "rate")
        for _ in range(2)
    ]
    both = parts[0].union(parts[1]).alias("p")
    names = Landing(exchange.spark, exchange.folder / "names", "currency STRING, name STRING")
    joined = both.streamJoin(names.stream().alias("n"), "p.currency = n.currency", mode="changelog")
    run = exchange.run(joined.select("p.time", "p.rate", "n.name", "_change_type"))
    names.land({"currency": "EUR", "name": "Euro"})
    exchange.change("+EUR 10:01 1.1", ">EUR 10:04 1.2", "+USD 10:09 1")
    exchange.order("EUR 10:02", "EUR 10:05", "EUR 10:09")
    run.step()
    found = sorted((row[0].strftime("%H:%M"), *row[1:]) for row in run.rows())
    assert found == sorted(2 * [("10:02", 1.1, "Euro", "insert"), ("10:05", 1.2, "Euro", "insert")])


def test_two_versions_joins_with_one_changelog(exchange: Exchange) -> None:
    """The second one restores a sequence that the first one has emitted."""
    rates = exchange.rates()
    first = exchange.orders().streamJoin(rates, KEY, "asof")
    second = rates.selectExpr("time AS t2", "currency AS c2", "rate AS r2", "_change_type")
    both = first.streamJoin(second, "o.currency = c2 AND o.time >= t2", "asof")
    run = exchange.run(both.select("o.currency", "o.time", "rate", "r2"))
    exchange.change("+EUR 10:01 1.1", "+EUR 10:09 1.2")
    exchange.order("EUR 10:02", "EUR 10:09")
    run.step()
    exchange.change("+USD 10:30 1")
    exchange.order("USD 10:30")
    run.step()
    assert clocks(run.batches)[0] == ("EUR", "10:02", "1.1", "1.1")


def test_changed_sequence_column_is_refused_by_the_checkpoint(exchange: Exchange) -> None:
    exchange.change("+EUR 10:01 1.1")
    exchange.order("EUR 10:01")
    exchange.shown().step()
    other = exchange.orders().streamJoin(exchange.rates(sequence_by="rate"), KEY, "left_asof")
    with pytest.raises(Exception, match="INCOMPATIBLE_CHECKPOINT"):
        exchange.run(other.select("o.currency", "o.time", "r.rate")).step()


def test_pending_lists_buffered_versions(exchange: Exchange) -> None:
    run = exchange.shown()
    exchange.change("+EUR 10:01 1.1", "-EUR 10:04 1.1")
    exchange.order("EUR 10:04")
    run.step()
    waiting = streamjoin.pending(str(run.checkpoint)).orderBy("side", "time")
    assert [(r["side"], r["time"].strftime("%H:%M")) for r in waiting.collect()] == [
        ("left", "10:04"),
        ("right", "10:01"),
        ("right", "10:04"),
    ]


def test_invalid_versions_joins_are_refused(exchange: Exchange) -> None:
    orders, rates = exchange.orders(), exchange.rates()
    orders.createOrReplaceTempView("asked_orders")
    rates.createOrReplaceTempView("asked_rates")
    cases: list[tuple[Any, str, str]] = [
        (
            lambda: orders.streamJoin(rates, "o.time >= r.time", "asof"),
            "UNSUPPORTED_AS_OF",
            "Write r.currency = <column of the left input> in the condition",
        ),
        (
            lambda: orders.streamJoin(rates, "o.currency = upper(r.currency)", "asof"),
            "UNSUPPORTED_AS_OF",
            "no equality of the condition has r.currency of the key",
        ),
        (
            lambda: orders.streamJoin(exchange.rates(key=None, sequence_by=None), KEY, "asof"),
            "UNSUPPORTED_AS_OF",
            "no key",
        ),
        (
            lambda: orders.streamJoin(
                rates.selectExpr("time", "rate", "_change_type"), "o.time > r.time", "asof"
            ),
            "UNSUPPORTED_AS_OF",
            "the key currency of the changelog is not among the columns",
        ),
        (
            lambda: orders.streamJoin(rates.where("rate > 1"), KEY, "asof"),
            "UNSUPPORTED_AS_OF",
            "the filter (r.rate > 1",
        ),
        (
            lambda: orders.streamJoin(rates.distinct().alias("r"), KEY, "asof"),
            "UNSUPPORTED_AS_OF",
            "is between the declaration of the changelog and the join",
        ),
        (
            lambda: exchange.spark.sql(
                "SELECT * FROM asked_orders o JOIN asked_rates OVER (ROWS 3 PRECEDING) AS r ON "
                + KEY
            ),
            "UNSUPPORTED_AS_OF",
            "one version is valid at a time",
        ),
        (
            lambda: orders.streamJoin(exchange.changes().alias("r"), KEY, "asof"),
            "MISSING_WATERMARK",
            "imposeOrder",
        ),
        (
            lambda: rates.streamJoin(orders, KEY, "asof"),
            "UNSUPPORTED_CHANGELOG",
            "the left input is a changelog",
        ),
        (
            lambda: orders.streamJoin(rates, KEY, "asof", state_ttl={"left": "1 hour"}),
            "INVALID_OPTION",
            "of the left input has no effect",
        ),
        (
            lambda: orders.streamJoin(
                orders.withColumnRenamed("time", "at").alias("r"), KEY, "asof", state_ttl="1 hour"
            ),
            "INVALID_OPTION",
            "the age of a match",
        ),
        (
            lambda: orders.streamJoin(rates, KEY, "asof", retention="1 hour"),
            "UNSUPPORTED_AS_OF",
            "the age of a match",
        ),
    ]
    for query, condition, said in cases:
        with pytest.raises(AnalysisException) as caught:
            query()
        assert caught.value.getCondition() == f"STREAM_JOIN.{condition}", caught.value
        assert said in str(caught.value)
    # a change that describes no version of another value
    kept = rates.where("currency <> 'XXX' AND _change_type <> 'delete'")
    orders.streamJoin(kept, KEY, "asof")
