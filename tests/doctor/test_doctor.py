"""Doctor on running queries without output: each stuck query gets the right headline."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from streamjoin import Diagnosis, _doctor, doctor, impose_order, stream_join
from streamjoin._diagnosis import checkpoint
from streamjoin._diagnosis.triggers import interval, running
from tests.streams import Landing, wait_for_report

WITHIN = "o.id = d.id AND d.dt BETWEEN o.ot AND o.ot + INTERVAL '1' HOUR"
START = datetime(2024, 5, 4, 10)


class Kept(logging.Handler):
    """A log handler that keeps the messages."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


class Pair:
    """Two streams with string keys, one row a minute; deliveries come half an hour after orders."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.folder = folder
        self.orders = Landing(session, folder / "orders", "id STRING, ot TIMESTAMP")
        self.deliveries = Landing(session, folder / "deliveries", "id STRING, dt TIMESTAMP")
        self.fed = 0

    def joined(
        self, on: str = WITHIN, how: Any = "left", lag: str = "1 minute", **options: Any
    ) -> DataFrame:
        o = impose_order(self.orders.stream(), "ot", "1 minute", **options).alias("o")
        d = impose_order(self.deliveries.stream(), "dt", lag, **options).alias("d")
        return stream_join(o, d, on, how)

    def order(self, rows: int = 10, start: datetime = START) -> None:
        self.orders.land(
            *(
                {"id": f"A{n}", "ot": (start + timedelta(minutes=n)).isoformat()}
                for n in range(self.fed, self.fed + rows)
            )
        )

    def deliver(
        self,
        rows: int = 10,
        start: datetime = START,
        key: Callable[[int], str] = "A{}".format,
        after: timedelta = timedelta(minutes=30),
    ) -> None:
        self.deliveries.land(
            *(
                {"id": key(n), "dt": (start + timedelta(minutes=n) + after).isoformat()}
                for n in range(self.fed, self.fed + rows)
            )
        )

    def diagnose(self, joined: DataFrame, *steps: Callable[[], None]) -> Diagnosis:
        """Run a query over the steps, a batch each, and call the doctor while it runs."""
        # Both inputs of the first batch exist when it is planned.
        for step in steps[:1]:
            step()
        query = (
            joined.writeStream.format("noop")
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .start()
        )
        try:
            query.processAllAvailable()
            for step in steps[1:]:
                step()
                query.processAllAvailable()
            wait_for_report(query, self.folder / "checkpoint")
            return doctor(query)
        finally:
            query.stop()

    def both(self, **options: Any) -> Callable[[], None]:
        def feed() -> None:
            self.order()
            self.deliver(**options)
            self.fed += 10

        return feed


@pytest.fixture
def pair(spark: SparkSession, tmp_path: Path) -> Pair:
    return Pair(spark, tmp_path)


def test_idle_input_is_named_as_the_standing_watermark(pair: Pair) -> None:
    def only_orders() -> None:
        pair.order()
        pair.fed += 10

    seen = pair.diagnose(pair.joined(), pair.both(), *[only_orders] * 4)
    assert seen.headline.code == "WATERMARK_STANDS"
    assert "rows of o wait for d.dt, which stands at 2024-05-04 10:38:00 since batch 0" in str(seen)
    assert "d had no row since" in seen.headline.headline
    assert 'imposeOrder("dt", ..., idle_timeout' in seen.headline.write
    assert seen.headline.figures["first goes above"]


def test_lag_far_above_the_disorder_is_reported(pair: Pair) -> None:
    foreign = pair.both(key="B{}".format)
    seen = pair.diagnose(pair.joined(lag="7 days"), foreign, foreign)
    assert seen.headline.code == "LONG_LAG"
    assert "the lag of d.dt is 7 days, the greatest disorder seen 0 seconds" in str(seen)
    # Other problems are reported too.
    assert "NO_KEY_MET" in [finding.code for finding in seen.findings]


def test_future_row_is_reported_as_watermark_ahead(pair: Pair) -> None:
    def future() -> None:
        pair.deliveries.land({"id": "A1", "dt": "2198-12-31T00:00:00"})

    seen = pair.diagnose(pair.joined(), future, pair.both(), pair.both())
    assert seen.headline.code == "WATERMARK_AHEAD"
    assert "The watermark of d.dt is 2198-12-30 23:59:00, 17" in seen.headline.headline
    assert 'imposeOrder("dt", ..., max_ahead=' in seen.headline.write
    assert seen.findings[1].code == "MOSTLY_LATE"
    # The advice proposes no lag of 172 years and estimates no state from it.
    written = " ".join([*(f.write for f in seen.findings), *map(str, (*seen.lags, *seen.sizes))])
    assert "year" not in written.replace("years apart", "")


def test_keys_that_differ_by_case_and_spaces_are_reported(pair: Pair) -> None:
    seen = pair.diagnose(pair.joined(how="inner", lag="2 hours"), pair.both(key="a{} ".format))
    assert seen.headline.code == "NO_KEY_MET"
    assert "o.id 'A0', 'A1', 'A2', d.id 'a0 ', 'a1 ', 'a2 '" in seen.headline.headline
    assert "after lower(trim(key)) 10 of 10 agree" in seen.headline.headline
    assert "lower(trim(o.id)) = lower(trim(d.id))" in seen.headline.write
    # The state alone suffices for this finding.
    assert doctor(pair.folder / "checkpoint").headline.code == "NO_KEY_MET"


def test_mostly_late_input_is_reported(pair: Pair) -> None:
    def backlog() -> None:
        pair.order(start=START - timedelta(hours=22))
        pair.deliver(start=START - timedelta(hours=22))
        pair.fed += 10

    first = pair.both()
    seen = pair.diagnose(pair.joined(), first, backlog, backlog)
    assert seen.headline.code == "MOSTLY_LATE"
    assert "20 of 30 rows of o are late, by 21 hours" in seen.headline.headline
    assert "the watermark of o.ot moved to 2024-05-04 10:08:00 in batch 0" in seen.headline.headline
    assert 'late="emit"' in seen.headline.write
    assert "of d are late" in str(seen)


def test_times_shifted_by_a_zone_are_reported(pair: Pair) -> None:
    seen = pair.diagnose(pair.joined(how="inner"), pair.both(after=timedelta(hours=2, minutes=1)))
    assert seen.headline.code == "TIMES_NEVER_MEET"
    assert "the closest pair misses its bounds by 1 hour 1 minute" in seen.headline.headline
    assert "d.dt - o.ot is 2 hours 1 minute, allowed 0 seconds to 1 hour" in seen.headline.headline
    assert "2 hours earlier it would match: a time zone?" in seen.headline.headline


def test_null_times_are_reported(pair: Pair) -> None:
    def unread() -> None:
        pair.order()
        pair.deliveries.land(*({"id": f"A{n}", "dt": "half past ten"} for n in range(6)))

    seen = pair.diagnose(pair.joined(), unread)
    assert seen.headline.code == "NULL_TIMES"
    assert "All 6 rows of d had NULL in d.dt" in seen.headline.headline
    assert '.where("dt IS NULL")' in seen.headline.write


def test_contradictory_bounds_are_reported_from_query_and_state(pair: Pair) -> None:
    on = "o.id = d.id AND d.dt >= o.ot + INTERVAL '1' HOUR AND d.dt <= o.ot"
    seen = pair.diagnose(pair.joined(on, "inner"), pair.both())
    assert seen.headline.code == "CONTRADICTION"
    assert doctor(pair.folder / "checkpoint").headline.code == "CONTRADICTION"


def test_healthy_query_is_reported_from_query_and_state(pair: Pair) -> None:
    seen = pair.diagnose(pair.joined(), pair.both(), pair.both())
    assert [finding.code for finding in seen.findings] == ["HEALTHY"]
    assert "rows of o wait, the first until d.dt passes" in str(seen)
    assert "Last output in batch 1" in str(seen)
    assert "<b>Nothing is wrong" in seen._repr_html_()
    of_state = doctor(str(pair.folder / "checkpoint"))
    assert of_state.headline.code == "HEALTHY"
    assert "rows of o wait, the first until d.dt passes" in str(of_state)


def test_aggregation_that_holds_rows_above_the_join_is_reported(pair: Pair) -> None:
    counted = pair.joined(how="inner").groupBy("o.ot").count()
    seen = pair.diagnose(counted, pair.both())
    assert seen.headline.code == "OPERATOR_ABOVE_WAITS"
    assert "The join has emitted 10 rows; stateStoreSave above it waits" in str(seen)


def test_filter_above_the_join_is_reported(pair: Pair) -> None:
    seen = pair.diagnose(pair.joined(how="inner").where("uuid() = 'none'"), pair.both())
    assert seen.headline.code == "FILTERED_ABOVE", str(seen)


def test_filter_below_the_join_is_reported(pair: Pair) -> None:
    seen = pair.diagnose(pair.joined(how="inner").where("o.ot IS NULL"), pair.both())
    assert seen.headline.code == "FILTERED_BELOW", str(seen)
    assert "none has reached o." in str(seen)


def test_failed_query_is_reported(pair: Pair, spark: SparkSession) -> None:
    broken = pair.joined().selectExpr("raise_error('broken by hand') AS x")
    query = (
        broken.writeStream.format("noop")
        .option("checkpointLocation", str(pair.folder / "checkpoint"))
        .start()
    )
    pair.both()()
    with pytest.raises(Exception, match="broken by hand"):
        query.processAllAvailable()
    assert doctor(query).headline.code == "FAILED"
    assert "broken by hand" in str(doctor(query))


def ended(joined: DataFrame, *steps: Callable[[], None]) -> StreamingQuery:
    """Run a query as a notebook does: without checkpointLocation, a batch for each step."""
    for step in steps[:1]:
        step()
    query = joined.writeStream.format("noop").start()
    query.processAllAvailable()
    for step in steps[1:]:
        step()
        query.processAllAvailable()
    query.stop()
    return query


def test_ended_query_without_a_checkpoint_is_diagnosed(pair: Pair) -> None:
    """Reports and plan suffice, in classic sessions and on Spark Connect."""

    def only_orders() -> None:
        pair.order()
        pair.fed += 10

    seen = doctor(ended(pair.joined(), pair.both(), *[only_orders] * 4))
    assert [finding.code for finding in seen.findings] == ["WATERMARK_STANDS"]
    assert "rows of o wait for d.dt, which stands at 2024-05-04 10:38:00 since" in str(seen)
    never = "o.id = d.id AND d.dt >= o.ot + INTERVAL '1' HOUR AND d.dt <= o.ot"
    assert doctor(ended(pair.joined(never, "inner"))).headline.code == "CONTRADICTION"


def test_doctor_on_an_ended_query_logs_nothing(pair: Pair) -> None:
    """PySpark would log the missing state with stack traces, in a notebook above the answer."""
    query = ended(pair.joined(), pair.both())
    kept = Kept()
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    logger.addHandler(kept)
    try:
        assert doctor(query).headline.code == "HEALTHY"
        assert kept.messages == []
        # Errors of the user's own queries are still logged.
        with pytest.raises(AnalysisException):
            SparkSession.active().sql("SELECT nothing_of_the_kind").collect()
        assert "nothing_of_the_kind" in kept.messages[0]
    finally:
        logger.removeHandler(kept)


def test_anti_join_with_all_rows_matched_is_healthy(pair: Pair) -> None:
    """The join emits unmatched rows only: empty output is correct."""
    seen = pair.diagnose(pair.joined(how="anti"), pair.both(), pair.both())
    assert [finding.code for finding in seen.findings] == ["HEALTHY"], str(seen)
    assert seen.headline.headline.startswith("Nothing is wrong: ")


def test_max_ahead_rejecting_every_row_is_reported(pair: Pair) -> None:
    pair.order()
    pair.deliver(after=timedelta(days=40_000))
    seen = doctor(ended(pair.joined(max_ahead="10 minutes")))
    assert [finding.code for finding in seen.findings] == ["REJECTED_AHEAD"], str(seen)
    assert "All 10 rows of d are further ahead of the clock than max_ahead" in str(seen)
    keeps = doctor(ended(pair.joined(max_ahead="1 hour", ahead="keep")))
    assert "REJECTED_AHEAD" not in [finding.code for finding in keeps.findings], str(keeps)


def test_some_late_rows_in_every_batch_are_reported(pair: Pair) -> None:
    def both() -> None:
        pair.order(10)
        pair.deliver(8)
        # two of ten rows are a day older
        pair.deliver(2, start=START - timedelta(days=1))
        pair.fed += 10

    seen = pair.diagnose(pair.joined(), *[both] * 4)
    late = [finding for finding in seen.findings if finding.code == "LATE_ROWS"]
    assert "6 of 40 rows of d are late, by 23 hours 5" in late[0].headline
    assert "15 % of its rows" in late[0].headline
    assert late[0] is seen.headline
    assert 'imposeOrder("dt", "23 hours 57 minutes") would have accepted them' in late[0].write, (
        late[0].write
    )
    assert "Nothing is wrong" not in str(seen)


def test_null_keys_are_reported(pair: Pair) -> None:
    """The field name is wrong. The join emits unmatched rows of o, but not those of d."""

    def without_orders() -> None:
        pair.orders.land(*({"ot": (START + timedelta(minutes=n)).isoformat()} for n in range(10)))
        pair.deliver()

    of_orders = doctor(ended(pair.joined(), without_orders))
    assert [finding.code for finding in of_orders.findings] == ["NO_KEY_MET"], str(of_orders)
    assert (
        "The join has looked up none of 10 rows of o: a column of the equality is NULL in all of "
        "them." in of_orders.headline.headline
    )
    of_deliveries = doctor(ended(pair.joined(how="right"), without_orders))
    assert [f.code for f in of_deliveries.findings] == ["FILTERED_BELOW"], str(of_deliveries)
    assert "so a column of the equality is NULL in all rows (o.id)" in of_deliveries.headline.cause


def test_ordered_output_that_buffers_rows_is_reported(pair: Pair) -> None:
    o = impose_order(pair.orders.stream(), "ot", "2 hours")
    seen = pair.diagnose(o.orderBy("ot"), pair.order)
    assert seen.headline.code == "ORDER_HOLDS"
    assert "buffers 10 rows until the watermark of ot: the first until" in seen.headline.headline
    of_state = doctor(pair.folder / "checkpoint")
    assert "10 rows of the order wait" in of_state.headline.headline


def test_failing_foreach_batch_function_is_reported(pair: Pair) -> None:
    def write(batch: DataFrame, number: int) -> None:
        raise RuntimeError("the sink is down")

    pair.order()
    query = pair.joined().writeStream.foreachBatch(write).trigger(availableNow=True).start()
    with pytest.raises(Exception, match="the sink is down"):
        query.awaitTermination()
    seen = doctor(query).headline
    assert seen.code == "FAILED"
    assert "with an error: RuntimeError: the sink is down" in seen.headline


def test_next_trigger_time_is_reported(pair: Pair) -> None:
    pair.both()()
    query = pair.joined().writeStream.format("noop").trigger(processingTime="1 hour").start()
    try:
        until = time.monotonic() + 60
        while query.status["message"] != "Waiting for next trigger":
            assert time.monotonic() < until
            time.sleep(0.05)
        seen = doctor(query).headline
        assert seen.code == "HEALTHY"
        assert re.search(r"The next batch begins with its trigger at .*:00:00, in ", seen.headline)
    finally:
        query.stop()


def test_running_batch_and_interval_are_read_from_the_query(pair: Pair) -> None:
    reached, ends = threading.Event(), threading.Event()

    def write(batch: DataFrame, number: int) -> None:
        batch.count()
        reached.set()
        assert ends.wait(60)

    pair.both()()
    trigger = pair.joined().writeStream.foreachBatch(write).trigger(processingTime="1 second")
    query = trigger.start()
    try:
        assert reached.wait(60)
        runs = running(query)
        assert runs is not None
        assert runs[0] == 0
        assert runs[1] >= 0
        assert interval(query) == 1000
    finally:
        ends.set()
        query.processAllAvailable()
        query.stop()
    assert running(query) is None


def test_most_frequent_key_is_found_in_the_state(pair: Pair) -> None:
    def one_key() -> None:
        pair.order(5)
        pair.deliver(120, key=lambda n: "A1" if n else "A2")
        pair.fed += 120

    seen = pair.diagnose(pair.joined(lag="1 day"), one_key).headline
    assert seen.code == "HEALTHY"
    assert " 99 % of the rows of d have the key 'A1'." in seen.headline


def test_times_are_shown_in_the_session_time_zone(pair: Pair, spark: SparkSession) -> None:
    """As in `pending` and `explain`, whichever session is the active one."""

    def only_orders() -> None:
        pair.order()
        pair.fed += 10

    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        query = ended(pair.joined(), pair.both(), *[only_orders] * 4)
        other = spark.newSession()
        other.conf.set("spark.sql.session.timeZone", "UTC")
        # makes the session the active one, as it does in users' programs
        other.createDataFrame([(1,)], "a INT")
        assert SparkSession.active() is other
        seen = doctor(query).headline
    finally:
        spark.createDataFrame([(1,)], "a INT")
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    # parsed as times in Tokyo, and formatted in that zone
    assert "which stands at 2024-05-04 10:38:00 since" in seen.headline


def test_doctor_refuses_a_missing_folder_and_a_session(tmp_path: Path, spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="no such folder"):
        doctor(tmp_path / "missing")
    with pytest.raises(PySparkTypeError):
        doctor(spark)  # type: ignore[arg-type]


def test_numbers_of_a_state_with_several_types_are_compared_as_numbers(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Limits of several types are STRING in `pending`."""
    rows = spark.createDataFrame(
        [
            (0, "left", "right.n", "10", "5000", False),
            (0, "left", "right.n", "9", "5000", False),
            (0, "left", "right.n", None, "5000", False),
            (1, "left", "right.dt", "2024-05-04 10:00:00.5", "9999-05-04 09:00:00", False),
            (1, "left", "right.dt", "2024-05-04 10:00:00", "9999-05-04 09:00:00", False),
        ],
        "operator_id LONG, side STRING, waits_for STRING, expires STRING, watermark STRING, "
        "matched BOOLEAN",
    )
    for module in (_doctor, checkpoint):
        monkeypatch.setattr(module, "pending", lambda *_, **__: rows)
    waits = {each.waits_for: each for each in _doctor._State(spark, "").waiting()}
    assert waits["right.n"].expires == "9"
    assert waits["right.n"].unmatched == 3
    assert waits["right.dt"].expires == "2024-05-04 10:00:00"
    described = {"batch": 7, "batchTimeMs": 1714816800000, "contradiction": False}
    joins = [{**described, "operator": n, "changelog": True} for n in (0, 1)]
    seen = checkpoint.diagnose_checkpoint("", joins, lambda _: {}, timezone.utc)
    assert [(f.code, f.headline.split(" is ")[0]) for f in seen.findings] == [
        ("WATERMARK_AHEAD", "The watermark of right.dt")
    ]
