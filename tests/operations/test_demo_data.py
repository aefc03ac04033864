"""The generated demo data: which rows are late is known beforehand, so results are exact."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import pytest

from examples.demo import flights, orders
from examples.demo.arrivals import Clock, Stream, stream
from examples.demo.pipeline import Pipeline
from examples.demo.plot import stalls
from examples.demo.progress import Batch

EPOCH = pd.Timestamp("2026-01-01", tz="UTC")


def at(*minutes: int) -> pd.Series:
    return pd.Series([EPOCH + timedelta(minutes=minute) for minute in minutes])


def made(times: pd.Series, arrivals: pd.Series) -> Stream:
    return stream(
        "rows",
        "id BIGINT, t TIMESTAMP",
        time="t",
        lag=timedelta(minutes=5),
        rows=pd.DataFrame({"id": range(len(times)), "t": times}),
        arrivals=arrivals,
        clock=Clock(EPOCH, timedelta(minutes=10), 3),
        closing={"id": -1},
    )


def test_demo_files_are_split_by_arrival_time() -> None:
    files = made(at(1, 2, 3), at(1, 12, 99)).files
    assert [list(file["id"]) for file in files] == [[0], [1], [2]]


def test_demo_row_strictly_below_the_watermark_is_late() -> None:
    # Watermark after the first file: 9 - 5 = 4.
    rows = made(at(9, 1, 4, 3, 20), at(9, 9, 15, 15, 15))
    assert list(rows.late["id"]) == [3]
    assert list(rows.punctual["id"]) == [0, 1, 2, 4]


def test_closing_row_is_later_than_all_others() -> None:
    rows = made(at(9, 1), at(9, 9))
    assert rows.closing["t"].iloc[0] == EPOCH + timedelta(minutes=30, days=7)
    assert rows.closing["id"].iloc[0] == -1


@pytest.fixture(scope="module", params=[orders.pipeline, flights.pipeline])
def pipeline(request: pytest.FixtureRequest) -> Pipeline:
    built: Pipeline = request.param()
    return built


def test_only_delayed_rows_of_the_demo_are_late(pipeline: Pipeline) -> None:
    held_back = {"orders": 12, "deliveries": 9, "returns": 6, "departures": 25, "weather": 0}
    assert {s.name: len(s.late) for s in pipeline.streams} == {
        s.name: held_back[s.name] for s in pipeline.streams
    }


def test_each_departure_matches_at_most_one_weather_row() -> None:
    weather = flights.pipeline().streams[1].punctual
    assert not weather.duplicated(["origin", "weather_time"]).any()
    assert (weather["weather_time"].dt.minute == 0).all()


def test_stall_spans_the_batches_of_a_standing_watermark() -> None:
    pipeline = orders.pipeline()
    clock = pipeline.clock

    def batch(number: int) -> Batch:
        now = clock.start + clock.step * number
        returned = now if not 4 <= number < 9 else clock.start + clock.step * 4
        marks = {"order_time": now, "delivery_time": now, "return_time": returned}
        return Batch(number, 0, 0, 0, marks, ())

    assert stalls(pipeline, [batch(number) for number in range(clock.count)]) == [("returns", 5, 9)]
    assert stalls(pipeline, [batch(number) for number in range(4)]) == []
