"""Why nothing comes out: the stuck queries that took people minutes, each told by the headline."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError
from pyspark.sql import DataFrame, SparkSession

import streamjoin
from streamjoin import Diagnosis, doctor, impose_order, stream_join
from tests.orders import Shop
from tests.processes import run
from tests.streams import Landing, wait_for_report

WITHIN = "o.id = d.id AND d.dt BETWEEN o.ot AND o.ot + INTERVAL '1' HOUR"
START = datetime(2024, 5, 4, 10)


class Pair:
    """Two streams with string keys, a minute between rows; a delivery half an hour later."""

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
        """Run a query over the steps, a batch each, and ask while it runs."""
        # both inputs of the first batch are there when it is planned
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


def test_an_input_that_brings_nothing(pair: Pair) -> None:
    def only_orders() -> None:
        pair.order()
        pair.fed += 10

    seen = pair.diagnose(pair.joined(), pair.both(), *[only_orders] * 4)
    assert seen.headline.code == "WATERMARK_STANDS"
    assert "rows of o wait for d.dt, which stands at 2024-05-04 10:38:00 since batch 0" in str(seen)
    assert "d brought no row since" in seen.headline.headline
    assert 'imposeOrder("dt", ..., idle_timeout' in seen.headline.write
    assert seen.headline.figures["first goes above"]


def test_a_lag_far_beyond_the_disorder(pair: Pair) -> None:
    foreign = pair.both(key="B{}".format)
    seen = pair.diagnose(pair.joined(lag="7 days"), foreign, foreign)
    assert seen.headline.code == "LONG_LAG"
    assert "the lag of d.dt is 7 days, the greatest disorder seen 0 seconds" in str(seen)
    # what is wrong besides is told as well
    assert "NO_KEY_MET" in [finding.code for finding in seen.findings]


def test_a_row_from_the_future(pair: Pair) -> None:
    def future() -> None:
        pair.deliveries.land({"id": "A1", "dt": "2198-12-31T00:00:00"})

    seen = pair.diagnose(pair.joined(), future, pair.both(), pair.both())
    assert seen.headline.code == "WATERMARK_AHEAD"
    assert "The watermark of d.dt is 2198-12-30 23:59:00, 17" in seen.headline.headline
    assert 'imposeOrder("dt", ..., max_ahead=' in seen.headline.write
    assert seen.findings[1].code == "MOSTLY_LATE"


def test_keys_that_are_spelt_otherwise(pair: Pair) -> None:
    seen = pair.diagnose(pair.joined(how="inner", lag="2 hours"), pair.both(key="a{} ".format))
    assert seen.headline.code == "NO_KEY_MET"
    assert "o.id 'A0', 'A1', 'A2', d.id 'a0 ', 'a1 ', 'a2 '" in seen.headline.headline
    assert "after lower(trim(key)) 10 of 10 agree" in seen.headline.headline
    assert "lower(trim(o.id)) = lower(trim(d.id))" in seen.headline.write
    # the state alone tells it too
    assert doctor(pair.folder / "checkpoint").headline.code == "NO_KEY_MET"


def test_all_rows_late(pair: Pair) -> None:
    def backlog() -> None:
        pair.order(start=START - timedelta(hours=22))
        pair.deliver(start=START - timedelta(hours=22))
        pair.fed += 10

    first = pair.both()
    seen = pair.diagnose(pair.joined(), first, backlog, backlog)
    assert seen.headline.code == "MOSTLY_LATE"
    assert "20 of 30 rows of o are late, by 21 hours" in seen.headline.headline
    assert "the watermark of o.ot went to 2024-05-04 10:08:00 in batch 0" in seen.headline.headline
    assert 'late="emit"' in seen.headline.write
    assert "of d are late" in str(seen)


def test_times_of_another_zone(pair: Pair) -> None:
    seen = pair.diagnose(pair.joined(how="inner"), pair.both(after=timedelta(hours=2, minutes=1)))
    assert seen.headline.code == "TIMES_NEVER_MEET"
    assert "the closest pair misses its bounds by 1 hour 1 minute" in seen.headline.headline
    assert "d.dt - o.ot is 2 hours 1 minute, allowed 0 seconds to 1 hour" in seen.headline.headline
    assert "2 hours earlier it would fit: a time zone?" in seen.headline.headline


def test_times_that_are_null(pair: Pair) -> None:
    def unread() -> None:
        pair.order()
        pair.deliveries.land(*({"id": f"A{n}", "dt": "half past ten"} for n in range(6)))

    seen = pair.diagnose(pair.joined(), unread)
    assert seen.headline.code == "NULL_TIMES"
    assert "All 6 rows of d had NULL in d.dt" in seen.headline.headline
    assert '.where("dt IS NULL")' in seen.headline.write


def test_bounds_that_contradict_each_other(pair: Pair) -> None:
    on = "o.id = d.id AND d.dt >= o.ot + INTERVAL '1' HOUR AND d.dt <= o.ot"
    seen = pair.diagnose(pair.joined(on, "inner"), pair.both())
    assert seen.headline.code == "CONTRADICTION"
    assert doctor(pair.folder / "checkpoint").headline.code == "CONTRADICTION"


def test_a_query_that_is_well(pair: Pair) -> None:
    seen = pair.diagnose(pair.joined(), pair.both(), pair.both())
    assert [finding.code for finding in seen.findings] == ["HEALTHY"]
    assert "rows of o wait, the first until d.dt passes" in str(seen)
    assert "Last output in batch 1" in str(seen)
    assert "<b>Nothing is wrong" in seen._repr_html_()
    of_state = doctor(str(pair.folder / "checkpoint"))
    assert of_state.headline.code == "HEALTHY"
    assert "rows of o wait, the first until d.dt passes" in str(of_state)


def test_what_stands_above_the_join(pair: Pair) -> None:
    counted = pair.joined(how="inner").groupBy("o.ot").count()
    seen = pair.diagnose(counted, pair.both())
    assert seen.headline.code == "OPERATOR_ABOVE_WAITS"
    assert "The join has emitted 10 rows; stateStoreSave above it waits" in str(seen)


def test_a_filter_above_the_join(pair: Pair) -> None:
    seen = pair.diagnose(pair.joined(how="inner").where("uuid() = 'none'"), pair.both())
    assert seen.headline.code == "FILTERED_ABOVE", str(seen)


def test_a_filter_before_the_join(pair: Pair) -> None:
    seen = pair.diagnose(pair.joined(how="inner").where("o.ot IS NULL"), pair.both())
    assert seen.headline.code == "FILTERED_BELOW", str(seen)
    assert "none has reached o." in str(seen)


def test_a_query_that_has_failed(pair: Pair, spark: SparkSession) -> None:
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


def test_what_is_no_query(tmp_path: Path, spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="no such folder"):
        doctor(tmp_path / "missing")
    with pytest.raises(PySparkTypeError):
        doctor(spark)  # type: ignore[arg-type]


def test_a_folder_from_the_command_line(shop: Shop) -> None:
    shop.order((1, "10:00"), (2, "10:10"))
    shop.joined("left").step()
    command = [sys.executable, "-m", "streamjoin.doctor", str(shop.folder / "checkpoint")]
    assert "2 rows of o wait" in run(command)
    with pytest.raises(ImportError, match="is a function"):
        importlib.import_module("streamjoin.doctor")
    assert callable(streamjoin.doctor)
