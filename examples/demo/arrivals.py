"""Rows with an event time and a time of arrival, cut into the files of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

import pandas as pd


@dataclass(frozen=True)
class Clock:
    """The steps in which files land: ``count`` of them, each ``step`` of arrival time long."""

    start: pd.Timestamp
    step: timedelta
    count: int

    @property
    def end(self) -> pd.Timestamp:
        return self.start + self.step * self.count

    def step_of(self, arrivals: pd.Series) -> pd.Series:
        """Give the number of the step; what comes after the last one comes with the last one."""
        return ((arrivals - self.start) // self.step).clip(0, self.count - 1).astype(int)


@dataclass(frozen=True)
class Stream:
    """One input: its rows in the files in which they land, one file a step and one a batch."""

    name: str
    schema: str
    time: str
    lag: timedelta
    files: Sequence[pd.DataFrame]
    closing: pd.DataFrame

    @cached_property
    def punctual(self) -> pd.DataFrame:
        """The rows that are not late when each file is a batch of its own."""
        return pd.concat([file[~late] for file, late in self._judged()])

    @cached_property
    def late(self) -> pd.DataFrame:
        return pd.concat([file[late] for file, late in self._judged()])

    def _judged(self) -> list[tuple[pd.DataFrame, pd.Series]]:
        judged = []
        seen = pd.Timestamp.min.tz_localize("UTC") + self.lag
        for file in self.files:
            times = file[self.time]
            judged.append((file, times < seen - self.lag))
            seen = max(seen, times.max()) if len(times) else seen
        return judged


def stream(
    name: str,
    schema: str,
    *,
    time: str,
    lag: timedelta,
    rows: pd.DataFrame,
    arrivals: pd.Series,
    clock: Clock,
    closing: dict[str, object],
) -> Stream:
    """Cut rows into files by arrival.

    ``closing`` holds the columns in which the row of the last file differs from the first row. Its
    event time is far beyond all others, so no row stays in a buffer.
    """
    steps = clock.step_of(arrivals)
    far = {time: clock.end + timedelta(days=7)}
    return Stream(
        name=name,
        schema=schema,
        time=time,
        lag=lag,
        files=[rows[steps == step] for step in range(clock.count)],
        closing=rows.iloc[:1].assign(**far, **closing),
    )
