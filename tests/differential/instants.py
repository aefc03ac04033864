"""Ticks of a case as values of columns, as literals of SQL and on one line of integers."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

from tests.differential.case import NUMBERS, Case, Kind

EPOCH_US = int(datetime(2024, 1, 1, tzinfo=timezone.utc).timestamp()) * 1_000_000
DAY_US = 86_400_000_000
FAR_US = 75 * 365 * DAY_US
FAR_NUMBER = 100_000_000
FAR_SMALLINT = 9_000


def stored(case: Case, kind: Kind, ticks: int) -> int:
    """The value as it is fed: microseconds, days or the number."""
    if kind == "date":
        return EPOCH_US // DAY_US + ticks
    if kind in NUMBERS:
        return case.number_base + ticks
    return EPOCH_US + ticks * case.tick_us


def instant(case: Case, kind: Kind, ticks: int) -> int:
    """The value in the unit of lags: microseconds, or the number."""
    value = stored(case, kind, ticks)
    return value * DAY_US if kind == "date" else value


def far(case: Case, kind: Kind, round_: int) -> int:
    """Ticks so far ahead that every row of the case expires; further with each round."""
    if kind == "date":
        return round_ * FAR_US // DAY_US
    if kind in NUMBERS:
        kinds = {time.kind for source in case.inputs for time in source.times}
        # times that are compared have to go on together
        return round_ * (FAR_SMALLINT if "smallint" in kinds else FAR_NUMBER)
    return round_ * FAR_US // case.tick_us


def amount(case: Case, kind: Kind, ticks: int) -> int:
    """A distance in ticks as microseconds, days or a number."""
    return ticks if kind == "date" or kind in NUMBERS else ticks * case.tick_us


def literal(kind: Kind, size: int, form: int) -> str:
    """A distance (not negative) as a literal of SQL; ``form`` picks one of several spellings."""
    if kind in NUMBERS:
        return str(size)
    if kind == "date":
        return f"INTERVAL '{size}' DAY" if form % 2 else f"INTERVAL {size} DAYS"
    seconds, rest = divmod(size, 1_000_000)
    if rest:
        if rest % 1000 == 0 and form % 2:
            return f"INTERVAL {size // 1000} MILLISECONDS"
        return f"INTERVAL '{seconds}.{rest:06d}' SECOND"
    minutes, left = divmod(seconds, 60)
    spellings = [
        f"INTERVAL '{seconds}' SECOND",
        f"INTERVAL {seconds} SECONDS",
        f"INTERVAL '{minutes}:{left:02d}' MINUTE TO SECOND",
    ]
    return spellings[form % 3]


def moment(case: Case, kind: Kind, ticks: int) -> str:
    """A value of a time column as a literal of SQL."""
    value = stored(case, kind, ticks)
    if kind in NUMBERS:
        return f"{value}" if value >= 0 else f"({value})"
    if kind == "date":
        return f"DATE '{date(1970, 1, 1) + timedelta(days=value)}'"
    at = datetime.fromtimestamp(value // 1_000_000, tz=timezone.utc)
    return f"{kind.upper()} '{at:%Y-%m-%d %H:%M:%S}.{value % 1_000_000:06d}'"


def delay(lag_us: int) -> str:
    """A lag as the interval string that imposeOrder takes."""
    for unit, length in (("hours", 3_600_000_000), ("seconds", 1_000_000), ("milliseconds", 1000)):
        if lag_us % length == 0:
            return f"{lag_us // length} {unit}"
    return f"{lag_us} microseconds"
