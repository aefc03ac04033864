"""Findings about pairs: bounds, keys and times that cannot meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamjoin._diagnosis.figures import HOUR, of
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.keys import agreement
from streamjoin._diagnosis.known import SIDES, JoinKnown, Known, Sample
from streamjoin._progress import shown_span


def contradictory(known: Known, join: JoinKnown) -> Iterator[Finding]:
    if join.described.get("contradiction"):
        yield contradiction(join.described["operator"])


def contradiction(operator: int) -> Finding:
    return Finding(
        "CONTRADICTION",
        "The bounds of the join contradict each other: no two rows can match.",
        {"operator": operator},
        "Two parts of the condition ask for times that exclude each other, as d.t >= o.t + 1 hour "
        "and d.t <= o.t do.",
        "df.explain() lists the bounds, each with the part of the condition it comes from.",
    )


def no_key_met(known: Known, join: JoinKnown) -> Iterator[Finding]:
    r = join.reported
    rows = {side: r.total(of("inputRows", side)) for side in SIDES}
    looked = r.total("lookedIntoRows")
    if not all(rows.values()) or r.total("joinedRows") or r.total("keyMetRows") or not looked:
        return
    figures = {f"rows, {side}": count for side, count in rows.items()}
    what = f"No row has met its key, of {looked} looked into"
    yield keys_differ(what, join.described, known.sample, figures)


def keys_differ(
    what: str, described: Mapping[str, Any], sample: Sample, figures: Mapping[str, object]
) -> Finding:
    keys = described.get("keys", [])
    seen = agreement(described, sample(described["operator"]) if keys else {})
    return Finding(
        "NO_KEY_MET",
        f"{what}{'. ' + seen.text if seen.text else '.'}",
        figures,
        "The columns of the equality hold other values in the two inputs: another spelling, "
        "spaces, upper and lower case, leading zeros, or another column.",
        seen.write
        or f"Compare the values of both sides of {' and '.join(keys) or 'the equality'}.",
    )


def times_never_meet(known: Known, join: JoinKnown) -> Iterator[Finding]:
    r = join.reported
    met = r.total("keyMetRows")
    if r.total("joinedRows") or not met:
        return
    misses = [b.metrics["closestMiss"] for b in r.batches if "closestMiss" in b.metrics]
    if not misses:
        return
    miss = min(misses, key=abs)
    lookup = join.described.get("lookup", {})
    left, right = lookup.get("left", "the left time"), lookup.get("right", "the right time")
    if miss == 0:
        yield Finding(
            "CONDITION_NEVER_TRUE",
            f"Keys and times meet ({met} rows), but the rest of the condition never holds.",
            {"rows that met their key": met},
            "What is compared besides keys and times is false, or NULL, for each pair.",
            "df.explain() lists the parts of the condition.",
        )
        return
    number = join.is_number(left)
    span = str if number else shown_span
    low, high = join.slack(right, left), join.slack(left, right)
    is_now = ""
    if low is not None and high is not None:
        distance = (high if miss > 0 else -low) + miss
        allowed = f"{_signed(span, -low)} to {_signed(span, high)}"
        is_now = f" {right} - {left} is {_signed(span, distance)}, allowed {allowed}."
    hours = -(-abs(miss) // HOUR)
    zone = ""
    if not number and hours <= 14:
        earlier = "earlier" if miss > 0 else "later"
        zone = f" {hours} hour{'' if hours == 1 else 's'} {earlier} it would fit: a time zone?"
    yield Finding(
        "TIMES_NEVER_MEET",
        f"Keys meet ({met} rows), times never: the closest pair misses its bounds by "
        f"{span(abs(miss))}.{is_now}{zone}",
        {"rows that met their key": met, "closest miss": miss},
        f"{right} is too {'late' if miss > 0 else 'early'} for what the condition allows after "
        f"{left}. Whole hours are mostly a text that was read in another time zone.",
        "to_utc_timestamp(t, zone) or a text with its zone on one input; or a wider bound.",
    )


def _signed(span: Any, value: int) -> str:
    return f"-{span(-value)}" if value < 0 else str(span(value))
