"""The demo can only be checked exactly because it is known beforehand which rows are late."""

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


def test_files_are_cut_by_arrival() -> None:
    files = made(at(1, 2, 3), at(1, 12, 99)).files
    assert [list(file["id"]) for file in files] == [[0], [1], [2]]


def test_late_is_strictly_below_the_watermark_at_the_start_of_the_batch() -> None:
    # Watermark after the first file: 9 - 5 = 4.
    rows = made(at(9, 1, 4, 3, 20), at(9, 9, 15, 15, 15))
    assert list(rows.late["id"]) == [3]
    assert list(rows.punctual["id"]) == [0, 1, 2, 4]


def test_closing_row_is_beyond_all_others() -> None:
    rows = made(at(9, 1), at(9, 9))
    assert rows.closing["t"].iloc[0] == EPOCH + timedelta(minutes=30, days=7)
    assert rows.closing["id"].iloc[0] == -1


@pytest.fixture(scope="module", params=[orders.pipeline, flights.pipeline])
def pipeline(request: pytest.FixtureRequest) -> Pipeline:
    built: Pipeline = request.param()
    return built


def test_only_rows_held_back_are_late(pipeline: Pipeline) -> None:
    held_back = {"orders": 12, "deliveries": 9, "returns": 6, "departures": 25, "weather": 0}
    assert {s.name: len(s.late) for s in pipeline.streams} == {
        s.name: held_back[s.name] for s in pipeline.streams
    }


def test_a_departure_has_at_most_one_hour_of_weather() -> None:
    weather = flights.pipeline().streams[1].punctual
    assert not weather.duplicated(["origin", "weather_time"]).any()
    assert (weather["weather_time"].dt.minute == 0).all()


def test_a_stall_is_where_the_watermark_of_one_input_stands() -> None:
    pipeline = orders.pipeline()
    clock = pipeline.clock

    def batch(number: int) -> Batch:
        now = clock.start + clock.step * number
        returned = now if not 4 <= number < 9 else clock.start + clock.step * 4
        marks = {"order_time": now, "delivery_time": now, "return_time": returned}
        return Batch(number, 0, 0, 0, marks, ())

    assert stalls(pipeline, [batch(number) for number in range(clock.count)]) == [("returns", 5, 9)]
    assert stalls(pipeline, [batch(number) for number in range(4)]) == []
