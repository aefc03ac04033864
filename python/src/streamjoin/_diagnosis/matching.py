"""Findings about pairs: bounds, keys and times that cannot match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from streamjoin._diagnosis.called import SIDES
from streamjoin._diagnosis.figures import HOUR, YEAR, of
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.keys import Agreement, agreement
from streamjoin._diagnosis.known import JoinKnown, Sample
from streamjoin._diagnosis.subjects import Subject
from streamjoin._progress import shown_span

# Differences of time zones, in the order in which they are tried. Those of half hours and quarters
# are long: the zones next to UTC have whole hours.
_ZONES = (
    *range(HOUR, 15 * HOUR, HOUR),
    *range(5 * HOUR // 2, 14 * HOUR, HOUR),
    *range(11 * HOUR // 4, 14 * HOUR, HOUR // 2),
)

# The factor between two times if one was read in another unit. A number below the least time is a
# counter rather than a time.
_FACTORS = (1_000, 1_000_000, 1_000_000_000)
_LEAST_TIME = 100_000_000


def contradictory(s: Subject) -> Finding:
    # without a description next to the state, count from 0 at the lowest join
    joins = s.known.joins
    lowest = len(joins) - 1 - next((i for i, join in enumerate(joins) if join is s.join), 0)
    return contradiction(s.of_join.described.get("operator", lowest))


def contradiction(operator: int) -> Finding:
    return Finding(
        "CONTRADICTION",
        "The bounds of the join contradict each other: no two rows can match.",
        {"operator": operator},
        "Two parts of the condition exclude each other, for example d.t >= o.t + 1 hour and d.t "
        "<= o.t.",
        "df.explain() lists each bound with its part of the condition.",
    )


# ---- keys ----


def sampled(s: Subject) -> Agreement:
    """Compare the keys of the buffered rows, if the state is available."""
    stored = s.of_join.stored
    if stored is None or not stored.get("keys"):
        return Agreement()
    return agreement(stored, s.known.samples(stored["operator"]))


def no_key_met(s: Subject) -> Finding:
    join = s.of_join
    looked = s.total("lookedIntoRows", "")
    return _keys_differ(
        f"No row has found its key in the other input, of {looked} rows that were checked",
        join.described,
        sampled(s),
        {f"rows, {side}": s.total("inputRows", side) for side in SIDES},
        _gone(s),
    )


def _gone(s: Subject) -> str:
    """Mention rows that can no longer match: a partner may be among them."""
    said = [
        f"{count} {what}"
        for metric, what in _GONE.items()
        if (count := sum(s.total(metric, side) for side in SIDES))
    ]
    return f" Or their partners are among the removed rows: {', '.join(said)}." if said else ""


_GONE = {
    "evictedRows": "evicted by the bounds",
    "lateRows": "late",
    "nullTimeRows": "without a time",
    "aheadRows": "further ahead than max_ahead",
}


def none_probed(s: Subject) -> bool:
    """Check whether no row of an input has probed for a partner, as rows with NULL keys do not.

    The join emits such rows at once, and neither buffers nor evicts them. All probes then come from
    the other input. Without any probe, contradictory bounds are another possible reason. So the
    description of the join is required in this case, to exclude it.
    """
    other = SIDES[1 - SIDES.index(s.own)]
    kept = any(
        batch.metrics.get(of(metric, s.own), 0)
        for batch in s.of_join.batches
        for metric in ("bufferedRows", "evictedRows")
    )
    counted = any("lookedIntoRows" in batch.metrics for batch in s.of_join.batches)
    looked = s.total("lookedIntoRows", "")
    told = looked > 0 or (counted and bool(s.of_join.described))
    return told and looked <= _in_time(s, other) and _in_time(s, s.own) > 0 and not kept


def _in_time(s: Subject, side: str) -> int:
    lost = s.total("lateRows", side) + s.total("nullTimeRows", side)
    return s.total("inputRows", side) - lost


def keys_are_null(s: Subject) -> Finding:
    rows, planned = _in_time(s, s.own), s.of_join.planned
    filters = [] if planned is None else planned.filters(s.own)
    never = f", or {' and '.join(filters)} is true for none" if filters else ""
    if planned is None:
        never = ", or a filter of the condition on this input is true for none"
    return Finding(
        "NO_KEY_MET",
        f"The join has looked up none of {rows} rows of {s.name}: a column of the equality is "
        f"NULL in all of them{never}.",
        {f"rows, {s.own}": rows},
        "NULL equals no value, so the join emits such a row at once. The parser of the rows and "
        "their schema disagree about a field name or a type.",
        f"Check {' and '.join(s.of_join.described.get('keys', [])) or 'the equality'} of that "
        "input below the join.",
    )


def keys_differ(
    what: str, described: Mapping[str, Any], sample: Sample, figures: Mapping[str, object]
) -> Finding:
    keys = described.get("keys", [])
    return _keys_differ(
        what,
        described,
        agreement(described, sample(described["operator"]) if keys else {}),
        figures,
    )


def _keys_differ(
    what: str,
    described: Mapping[str, Any],
    seen: Agreement,
    figures: Mapping[str, object],
    gone: str = "",
) -> Finding:
    keys = described.get("keys", [])
    cause = (
        "The columns of the equality have different values in the two inputs: another spelling, "
        "spaces, upper and lower case, leading zeros, or another column."
    )
    if not seen.explains:
        cause += gone
    return Finding(
        "NO_KEY_MET",
        f"{what}{'. ' + seen.text if seen.text else '.'}",
        figures,
        cause,
        seen.write
        or f"Compare the values of both sides of {' and '.join(keys) or 'the equality'}.",
    )


# ---- times ----


@dataclass(frozen=True)
class Unit:
    """Two times that differ by a factor: one of them was read in another unit."""

    larger: str
    smaller: str
    factor: int
    is_number: bool
    # the point in time that is further from the clock
    wrong: str = ""


def other_unit(join: JoinKnown) -> Unit | None:
    """Compare the largest times of both inputs.

    Only if the condition compares them directly: `o.ts * 1000` in it already converts the unit.
    """
    lookup = join.described.get("lookup", {})
    names = [lookup.get(side) for side in SIDES]
    bounds = join.described.get("bounds", [])
    if not any({bound["later"], bound["earlier"]} == set(names) for bound in bounds):
        return None
    fronts = [name and join.front(name) for name in names]
    if not all(names) or not all(front and front > 0 for front in fronts):
        return None
    (small, smaller), (large, larger) = sorted(
        (front, name) for front, name in zip(fronts, names, strict=True) if front and name
    )
    number = join.is_number(smaller)
    if number != join.is_number(larger):
        return None
    least = _LEAST_TIME if number else _LEAST_TIME / 1_000
    factor = next((f for f in _FACTORS if f / 1.2 <= large / small <= 1.2 * f), None)
    if factor is None or small < least:
        return None
    if number:
        return Unit(larger, smaller, factor, True)
    now = join.reported.last.at.timestamp() * 1000
    wrong = smaller if abs(large - now) < abs(small - now) else larger
    return Unit(larger, smaller, factor, False, wrong)


# The unit of a number, and the unit as which it was read if the time is too small. If the time is
# too large, the reverse.
_READ_AS = {
    1_000: ("seconds", "milliseconds"),
    1_000_000: ("seconds", "microseconds"),
    1_000_000_000: ("seconds", "nanoseconds"),
}


def unit_differs(s: Subject) -> Finding:
    join = s.of_join
    unit = other_unit(join)
    assert unit is not None
    seconds, finer = _READ_AS[unit.factor]
    if unit.is_number:
        cause = f"One of them probably has {seconds}, and the other {finer}."
        write = (
            f"Convert both to one unit below imposeOrder: {unit.smaller} * {unit.factor}, or "
            f"{unit.larger} / {unit.factor} in whole numbers."
        )
    else:
        read = (seconds, finer) if unit.wrong == unit.smaller else (finer, seconds)
        cause = f"{unit.wrong} was probably computed from {read[0]} that were read as {read[1]}."
        write = (
            "timestamp_seconds(n), timestamp_millis(n) or timestamp_micros(n) converts a "
            f"number n to a time. For {unit.wrong}, use the function of its unit."
        )
    marks = {n: join.time(n, join.front(n) or 0) for n in (unit.larger, unit.smaller)}
    at = ", ".join(f"{name} is at {mark}" for name, mark in marks.items())
    return Finding(
        "OTHER_UNIT",
        f"The times of the inputs differ by a factor of {unit.factor:,}: {at}.",
        {"factor": unit.factor, **marks},
        cause,
        write,
    )


def closest_miss(s: Subject) -> int | None:
    misses = [b.metrics["closestMiss"] for b in s.of_join.batches if "closestMiss" in b.metrics]
    return min(misses, key=abs, default=None)


def condition_never_true(s: Subject) -> Finding:
    met = s.total("keyMetRows", "")
    return Finding(
        "CONDITION_NEVER_TRUE",
        f"Keys and times match ({met} rows), but the rest of the condition is never true.",
        {"rows that met their key": met},
        "The other comparisons are false or NULL for each pair.",
        "df.explain() lists the parts of the condition.",
    )


def apart(join: JoinKnown) -> int:
    """Return by how much the largest times of the inputs miss the bounds; 0 within a lag of them.

    A row of the other input is then evicted before a later partner arrives.
    """
    left, right = (join.described.get("lookup", {}).get(side) for side in SIDES)
    from_left, to_right = (join.front(name) if name else None for name in (left, right))
    if from_left is None or to_right is None:
        return 0
    low, high = join.slack(right, left), join.slack(left, right)
    distance = to_right - from_left
    if high is not None and distance - high > (join.latest("lag", right) or 0):
        return distance - high
    if low is not None and -distance - low > (join.latest("lag", left) or 0):
        return distance + low
    return 0


def times_never_meet(s: Subject) -> Finding:
    join, met = s.of_join, s.total("keyMetRows", "")
    miss = (closest_miss(s) or 0) if met else apart(join)
    left, right = _compared(join)
    low, high = join.slack(right, left), join.slack(left, right)
    number, zone, distance = join.is_number(left), "", None
    if not number and other_unit(join) is None:
        # with only one bound, some number of hours always fits
        room = inf if low is None or high is None else low + high
        shift = next((each for each in _ZONES if 0 <= each - abs(miss) <= room), None)
        if shift:
            which = "earlier" if miss > 0 else "later"
            zone = f" {shown_span(shift)} {which} it would match: a time zone?"
    if low is not None and high is not None:
        distance = (high if miss > 0 else -low) + miss
    by = join.span(left, abs(miss))
    what = (
        f"Keys match ({met} rows), but times never do: the closest pair misses its bounds by {by}."
        if met
        else "No row has found its key: the largest times of the inputs miss the bounds by "
        f"{by}, so rows are evicted before their partners arrive."
    )
    return Finding(
        "TIMES_NEVER_MEET",
        f"{what}{_is_now(join, distance)}{zone}",
        {"rows that met their key": met, "closest miss": join.distance(left, miss)},
        f"{right} is too {'late' if miss > 0 else 'early'} for what the condition allows after "
        f"{left}."
        + (" Such a shift is mostly a text that was read in another time zone." if zone else ""),
        "to_utc_timestamp(t, zone), or a text with its zone, on one input. Or a wider bound."
        if zone
        else _wider(join, left, right, None if number else distance),
    )


def far_apart(join: JoinKnown) -> str:
    """Mention inputs whose times are further apart than the bounds; empty if they are not."""
    miss = apart(join)
    if not miss:
        return ""
    left, right = _compared(join)
    ahead, behind = (right, left) if miss > 0 else (left, right)
    fronts = [join.front(name) or 0 for name in (ahead, behind)]
    by = join.span(ahead, fronts[0] - fronts[1])
    return f"{behind} is {by} behind {ahead}, so rows wait for its input."


def _compared(join: JoinKnown) -> tuple[str, str]:
    """Return the names of the times by which the join finds partners."""
    lookup = join.described.get("lookup", {})
    left, right = (lookup.get(side) or f"the {side} time" for side in SIDES)
    return left, right


def _is_now(join: JoinKnown, distance: int | None) -> str:
    if distance is None:
        return ""
    left, right = _compared(join)

    def span(value: int) -> str:
        return _signed(lambda d: join.span(left, d), value)

    low, high = join.slack(right, left) or 0, join.slack(left, right) or 0
    return f" {right} - {left} is {span(distance)}, allowed {span(-low)} to {span(high)}."


def _wider(join: JoinKnown, left: str, right: str, distance: int | None) -> str:
    """Describe what the condition would have to allow."""
    if other_unit(join) is not None:
        return "Convert the times of both inputs to one unit."
    if distance is None or abs(distance) > YEAR:
        return "A wider bound in the condition. Or correct the times of one input."
    if join.planned is not None and join.planned.retention and distance > 0:
        return (
            f'A retention of at least "{join.span(left, distance)}", or a bound in the condition.'
        )
    return (
        f"A condition that allows {_signed(lambda d: join.span(left, d), distance)} for "
        f"{right} - {left}. Or correct the times of one input."
    )


def _signed(span: Callable[[int], str], value: int) -> str:
    return f"-{span(-value)}" if value < 0 else span(value)
