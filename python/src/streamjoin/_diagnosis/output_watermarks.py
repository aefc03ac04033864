"""Reads the output watermarks of a join from the text of explain.

Example: ``output watermark of o.ot: the latest o.ot seen - 1 minute, or if that is less, the latest
d.dt seen - 1 hour 1 minute``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_EMITTED = re.compile(r"output watermark of (\S+): (.*)")
_INPUT = re.compile(r"watermark of (\S+): ([^;,(]*)")
_LATEST = re.compile(r"the (?:latest|largest) (\S+) seen(?: - (.*))?")
_PASSED = re.compile(r"the watermark of (\S+)(?: - (.*))?")
_SPAN = re.compile(r"(\d+(?:\.\d+)?) (day|hour|minute|second)s?")
_UNITS = {"day": 86_400_000, "hour": 3_600_000, "minute": 60_000, "second": 1_000}


def held_back(lines: Sequence[str], column: str | None) -> int | None:
    """Return how far an output watermark may be behind the slowest watermark of the inputs.

    None: unknown. Without a column, the result is for the slowest output watermark.
    """
    lags = {found[1]: found[2].strip() for line in lines if (found := _INPUT.match(line))}
    held = [
        _behind(found[2], lags)
        for line in lines
        if (found := _EMITTED.match(line)) and column in (None, _plain(found[1]))
    ]
    known = [each for each in held if each is not None]
    return max([0, *known]) if held and len(known) == len(held) else None


def _behind(text: str, lags: dict[str, str]) -> int | None:
    """Parse ``x, or if that is less, y``; y may be ``the largest of`` several."""
    own, _, other = text.partition(", or if that is less, ")
    first = _term(own, lags)
    others = [_term(each, lags) for each in other.removeprefix("the largest of ").split(", ")]
    known = [each for each in others if each is not None]
    if first is None or not other:
        return first
    return max(first, min(known)) if len(known) == len(others) else None


def _term(text: str, lags: dict[str, str]) -> int | None:
    passed = _PASSED.fullmatch(text)
    if passed:
        return distance(passed[2])
    latest = _LATEST.fullmatch(text)
    if latest is None:
        return None
    base = _LATEST.fullmatch(lags.get(latest[1]) or lags.get(_plain(latest[1])) or "")
    lag, behind = base and distance(base[2]), distance(latest[2])
    return None if lag is None or behind is None else behind - lag


def _plain(name: str) -> str:
    return name.rpartition(".")[2]


def distance(text: str | None) -> int | None:
    """Parse a distance in the format of explain; a number stays a number."""
    if text is None:
        return 0
    if re.fullmatch(r"\d+", text):
        return int(text)
    parts = _SPAN.findall(text)
    if " ".join(f"{n} {u}{'' if n == '1' else 's'}" for n, u in parts) != text:
        return None
    return round(sum(float(number) * _UNITS[unit] for number, unit in parts))
