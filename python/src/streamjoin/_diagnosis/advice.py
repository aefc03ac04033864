"""Lag advice and state estimates from the reports of a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamjoin._diagnosis.called import SIDES
from streamjoin._diagnosis.known import JoinKnown, Known
from streamjoin._diagnosis.subjects import Subject
from streamjoin._progress import shown_lag, shown_span


@dataclass(frozen=True)
class LagAdvice:
    """The lag of a column that would have accepted the rows since the first start of the query.

    It comes from a sketch that is stored with the state, so a restart continues it.

    Attributes
    ----------
    column : str
        The column, with its name in the query.
    now : int
        Its lag. All distances here are in milliseconds, or in the unit of a column of numbers.
    most : int
        A lag with which at least 99.9 % of the rows would have been in time. It is less than 1.5
        times the shortest such lag.
    all : int
        The lag with which all rows would have been in time.
    rows : int
        The number of measured rows: rows that arrived when the column had a watermark.
    is_number : bool
        Whether the column has numbers.
    """

    column: str
    now: int
    most: int
    all: int
    rows: int
    is_number: bool = False

    def __str__(self) -> str:
        def said(lag: int) -> str:
            return str(lag) if self.is_number else shown_lag(lag)

        if self.most == self.all:
            kept = f"{said(self.all)} would have accepted all of"
        else:
            kept = f"{said(self.most)} would have accepted 99.9 %, {said(self.all)} all of"
        return f"lag of {self.column}: {kept} {self.rows} rows; now {said(self.now)}"


@dataclass(frozen=True)
class StateEstimate:
    """An estimate of the state of an input: the rows that the bounds buffer at the reported rate.

    Attributes
    ----------
    input : str
        The input, with its name in the query.
    rows : int
        Rows that the bounds buffer in the steady state of the query. If a match removes a row (semi
        and anti joins), there are fewer.
    size : int or None
        Their bytes, from the average size of the rows that are buffered now; None without rows.
    held : int
        Rows that are buffered now.
    kept_for : int
        How long a row is buffered, in milliseconds of event time, or in the unit of the numbers.
    is_number : bool
        Whether the input's event time is a number.
    """

    input: str
    rows: int
    size: int | None
    held: int
    kept_for: int
    is_number: bool = False

    def __str__(self) -> str:
        units = "1 unit" if self.kept_for == 1 else f"{self.kept_for} units"
        kept = units if self.is_number else shown_span(self.kept_for)
        size = "" if self.size is None else f", some {_bytes(self.size)}"
        return (
            f"state of {self.input}: a row is buffered for {kept} of event time, at the current "
            f"rate {self.rows} rows{size}; {self.held} are buffered"
        )


def lags(known: Known, wrong: Sequence[Subject] = ()) -> Iterator[LagAdvice]:
    """Return the lag advice for each column, except for columns whose times are `wrong`."""
    for join in known.joins:
        last = join.reported.last
        for column, rows in last.of("disorderRows").items():
            if any(s.join is join and s.column in (None, column) for s in wrong):
                continue
            yield LagAdvice(
                join.said(column),
                last.of("lag")[column],
                last.of("lagForMost")[column],
                last.of("lagForAll")[column],
                rows,
                join.is_number(column),
            )


def sizes(known: Known, wrong: Sequence[Subject] = ()) -> Iterator[StateEstimate]:
    """Estimate the state of each input, if the times of both inputs are comparable."""
    for join in known.joins:
        if any(s.join is join for s in wrong):
            continue
        for side in SIDES:
            yield from estimate(join, side)


def estimate(join: JoinKnown, side: str) -> Iterator[StateEstimate]:
    kept = [span for own, span in _kept(join, side)]
    rates = [rate for own, _ in _kept(join, side) if (rate := _rate(join, side, own)) is not None]
    if not kept or not rates:
        return
    held = join.reported.last.metrics.get(f"bufferedRows{side.capitalize()}", 0)
    rows = round(max(0, min(kept)) * max(rates))
    stored = join.reported.last.report.get("numRowsTotal", 0)
    memory = join.reported.last.report.get("memoryUsedBytes", 0)
    yield StateEstimate(
        join.input(side),
        rows,
        round(rows * memory / stored) if stored and memory else None,
        held,
        max(0, min(kept)),
        any(join.is_number(column) for column in join.times(side)),
    )


def _kept(join: JoinKnown, side: str) -> Iterator[tuple[str, int]]:
    """Yield the own column and the buffering time of each bound that evicts rows of a side."""
    for bound in join.described.get("bounds", []):
        own, other = bound["later"], bound["earlier"]
        if own in join.times(side) and other not in join.times(side):
            fronts = join.front(own), join.front(other)
            lag = join.latest("lag", other)
            if fronts[0] is not None and fronts[1] is not None and lag is not None:
                # a row arrives at the front of its own input, and the front of the other evicts it
                yield own, bound["slack"] + lag + fronts[0] - fronts[1]


def _rate(join: JoinKnown, side: str, said: str) -> float | None:
    """Return the rows of a side per unit of its own event time."""
    columns = [c for c in join.reported.columns() if join.said(c) == said]
    marked = [
        (mark, batch)
        for batch in join.reported.batches
        for column in columns
        if (mark := batch.of("watermark").get(column)) is not None
    ]
    if len(marked) < 2 or marked[-1][0] <= marked[0][0]:
        return None
    rows = sum(b.metrics.get(f"inputRows{side.capitalize()}", 0) for _, b in marked[1:])
    return rows / (marked[-1][0] - marked[0][0])


def _bytes(size: int) -> str:
    amount = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError(size)
