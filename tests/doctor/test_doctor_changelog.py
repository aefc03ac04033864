"""Doctor on changelog joins without output, or with lost changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamjoin import Diagnosis, doctor, from_changelog, from_upserts, stream_join
from tests.streams import Landing, wait_for_report

ORDERS = "id STRING, v INT, seq STRING, op STRING"


class Feed:
    """Two keyed changelogs."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.folder = folder
        self.orders = Landing(session, folder / "orders", ORDERS)
        self.customers = Landing(session, folder / "customers", ORDERS)

    def joined(self, how: Any = "inner", **declared: Any) -> DataFrame:
        left = from_changelog(self.orders.stream(), op="op", **declared).alias("o")
        right = from_changelog(self.customers.stream(), op="op", key="id").alias("d")
        return stream_join(left, right, "o.id = d.id", how)

    def land(self, landing: Landing, *keys: str, op: str = "insert", seq: str = "1") -> None:
        landing.land(*({"id": key, "v": 1, "seq": seq, "op": op} for key in keys))

    def diagnose(self, joined: DataFrame, *steps: Callable[[], None]) -> Diagnosis:
        """Run a query over the steps, a batch each, and call the doctor while it runs."""
        steps[0]()
        checkpoint = self.folder / "checkpoint"
        query = (
            joined.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
        )
        try:
            query.processAllAvailable()
            for step in steps[1:]:
                step()
                query.processAllAvailable()
            wait_for_report(query, checkpoint)
            return doctor(query)
        finally:
            query.stop()


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Feed:
    return Feed(spark, tmp_path)


def test_source_without_changes_is_reported(feed: Feed) -> None:
    seen = feed.diagnose(feed.joined(), lambda: feed.land(feed.orders, "1", "2"))
    assert seen.headline.code == "NO_INPUT"
    assert "No change of d has arrived, and no row of" in seen.headline.headline
    assert "customers" in seen.headline.headline


def test_filter_that_drops_all_changes_is_reported(feed: Feed) -> None:
    def both() -> None:
        feed.land(feed.orders, "1")
        feed.land(feed.customers, "1")

    left = from_changelog(feed.orders.stream(), op="op").where("upper(id) = 'X'").alias("o")
    right = from_changelog(feed.customers.stream(), op="op").alias("d")
    seen = feed.diagnose(stream_join(left, right, "o.id = d.id", "left"), both)
    assert seen.headline.code == "FILTERED_BELOW"
    assert seen.headline.figures["side"] == "left"


def test_deletes_of_unknown_rows_are_reported(feed: Feed) -> None:
    def both() -> None:
        feed.land(feed.customers, "1")
        feed.land(feed.orders, "1", "2", op="delete")

    seen = feed.diagnose(feed.joined("left"), both)
    assert seen.headline.code == "UNKNOWN_RETRACTIONS"
    assert "2 of 2 changes of o delete rows" in seen.headline.headline


def test_text_sequence_that_sorts_backwards_is_reported(feed: Feed) -> None:
    def first() -> None:
        feed.land(feed.customers, "1")
        feed.land(feed.orders, "1", seq="9")

    steps = [lambda n=n: feed.land(feed.orders, "1", seq=str(n)) for n in (10, 11)]
    seen = feed.diagnose(feed.joined(key="id", sequence_by="seq"), first, *steps)
    assert seen.headline.code == "MOSTLY_STALE"
    assert "'10' sorts before '9'" in seen.headline.cause


def test_rows_that_expire_before_they_match_are_reported(feed: Feed) -> None:
    steps = [lambda n=n: feed.land(feed.orders, f"{n}") for n in (1, 2)]
    joined = stream_join(
        from_changelog(feed.orders.stream(), op="op", key="id").alias("o"),
        from_changelog(feed.customers.stream(), op="op", key="id").alias("d"),
        "o.id = d.id",
        state_ttl={"left": "1 millisecond"},
    )
    seen = feed.diagnose(joined, *steps, lambda: feed.land(feed.customers, "1", "2"))
    assert seen.headline.code == "EXPIRED_UNMET"
    assert "state_ttl has expired 2 rows of o" in seen.headline.headline
    assert 'state_ttl={"left": "..."}' in seen.headline.write


def test_padded_rows_that_expire_before_they_match_are_reported(feed: Feed) -> None:
    """Each order is emitted with NULL, and has expired when its customer arrives."""
    steps = [lambda n=n: feed.land(feed.orders, f"{n}") for n in (1, 2, 3)]
    joined = stream_join(
        from_changelog(feed.orders.stream(), op="op", key="id").alias("o"),
        from_changelog(feed.customers.stream(), op="op", key="id").alias("d"),
        "o.id = d.id",
        "left",
        state_ttl={"left": "1 millisecond"},
    )

    def last() -> None:
        feed.land(feed.customers, "1", "2")
        feed.land(feed.orders, "4")

    seen = feed.diagnose(joined, *steps, last)
    assert [finding.code for finding in seen.findings] == ["EXPIRED_UNMET"]
    assert "No stored row has found its key. state_ttl has expired 3 rows of o" in str(seen)
    assert "spelling" not in str(seen)


def test_keys_that_never_match_are_reported(feed: Feed) -> None:
    def both() -> None:
        feed.land(feed.orders, "a1", "a2")
        feed.land(feed.customers, "A1", "A2")

    seen = feed.diagnose(feed.joined("left", key="id"), both)
    assert seen.headline.code == "NO_KEY_MET"
    assert "lower(o.id) = lower(d.id)" in seen.headline.write


def test_growing_state_is_reported(feed: Feed) -> None:
    def step(n: int) -> Callable[[], None]:
        def both() -> None:
            feed.land(feed.orders, f"{n}", f"{n}x")
            feed.land(feed.customers, "0")

        return both

    seen = feed.diagnose(feed.joined(key="id"), *map(step, range(5)))
    assert seen.headline.code == "STATE_GROWS"
    assert "stores 10 rows of o" in seen.headline.headline
    assert 'state_ttl={"left": "30 days"}' in seen.headline.write


def test_healthy_changelog_join_reports_stored_rows(spark: SparkSession, feed: Feed) -> None:
    def both() -> None:
        feed.land(feed.orders, "1")
        feed.land(feed.customers, "1")

    left = from_upserts(feed.orders.stream(), "id", "seq").alias("o")
    right = from_changelog(feed.customers.stream(), op="op").alias("d")
    seen = feed.diagnose(stream_join(left, right, "o.id = d.id", state_ttl="1 day"), both)
    assert seen.headline.code == "HEALTHY"
    assert "1 row of o is stored" in seen.headline.headline
    state = doctor(str(feed.folder / "checkpoint")).headline
    assert state.code == "HEALTHY"
    assert "1 row of o is stored" in state.headline


def test_input_idle_after_a_restart_is_not_reported_as_empty(feed: Feed) -> None:
    def both() -> None:
        feed.land(feed.orders, "1")
        feed.land(feed.customers, "1")

    # The equality lacks the key of orders, so their latest versions are stored below the join.
    joined = feed.joined("left", key="v")
    seen = feed.diagnose(joined, both)
    held = "1 row of o is stored; 1 row of d is stored; 1 row of o (last images) is stored"
    assert held in seen.headline.headline
    again = feed.diagnose(joined, lambda: feed.land(feed.customers, "1"))
    assert [finding.code for finding in again.findings] == ["HEALTHY"]


def test_stored_rows_are_counted_from_a_checkpoint(feed: Feed) -> None:
    def both() -> None:
        feed.land(feed.orders, "1", "2")
        feed.land(feed.customers, "1")

    left = from_upserts(feed.orders.stream(), "id", "seq").alias("o")
    right = from_changelog(feed.customers.stream(), op="op").alias("d")
    feed.diagnose(stream_join(left, right, "o.id = d.id"), both)
    state = doctor(str(feed.folder / "checkpoint")).headline
    assert "2 rows of o are stored; 1 row of d is stored" in state.headline
    assert dict(state.figures)["waiting rows"] == 3
