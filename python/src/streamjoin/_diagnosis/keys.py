"""Finds a function that makes the keys of two samples equal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamjoin._diagnosis.called import SIDES, alias

# An equality in the description next to the state: two names and a type.
_NAMES = re.compile(r"`?([\w ]+)`? <?=>? `?([\w ]+)`?: .*")

# From the smallest change; the first one with equal keys is reported.
_CHANGES = (
    ("trim({})", str.strip),
    ("lower({})", str.lower),
    ("lower(trim({}))", lambda text: text.strip().lower()),
    ("ltrim('0', {})", lambda text: text.strip().lstrip("0")),
    ("ltrim('0', lower(trim({})))", lambda text: text.strip().lower().lstrip("0")),
    ("CAST({} AS DOUBLE)", lambda text: _number(text)),
)


def _number(text: str) -> str:
    try:
        return str(float(text))
    except ValueError:
        return text


@dataclass(frozen=True)
class Agreement:
    """The comparison of samples of both sides as a sentence, and the line to write.

    `explains`: the samples reveal why keys do not match, not only that they differ.
    """

    text: str = ""
    write: str = ""

    @property
    def explains(self) -> bool:
        return bool(self.write)


def agreement(
    described: Mapping[str, Any], sample: Mapping[str, list[dict[str, Any]]]
) -> Agreement:
    """Compare samples of the buffered rows of both sides, key by key."""
    for key in described.get("keys", []):
        names = _NAMES.fullmatch(key)
        if names is None:
            continue
        left, right = names.groups()
        ls, rs = _values(sample, "left", left), _values(sample, "right", right)
        if not ls or not rs or set(ls) & set(rs):
            continue
        on_left, on_right = _column(described, "left", left), _column(described, "right", right)
        seen = f"Buffered values: {on_left} {_some(ls)}, {on_right} {_some(rs)}"
        for text, change in _CHANGES:
            least = min((ls, rs), key=len)
            theirs = {change(value) for value in (rs if least is ls else ls)}
            agree = sum(change(value) in theirs for value in least)
            if agree:
                return Agreement(
                    f"{seen}; after {text.format('key')} {agree} of {len(least)} agree.",
                    f"{text.format(on_left)} = {text.format(on_right)} in the condition, "
                    "or the same conversion on both inputs below the join.",
                )
        return Agreement(f"{seen}.")
    return Agreement()


def names(described: Mapping[str, Any], side: str) -> list[str]:
    """Return the columns of the equality of a side, as far as they are columns."""
    found = [_NAMES.fullmatch(key) for key in described.get("keys", [])]
    return [each[1 + SIDES.index(side)] for each in found if each]


def _column(described: Mapping[str, Any], side: str, name: str) -> str:
    return f"{alias(described, side) or side}.{name}"


def _values(sample: Mapping[str, list[dict[str, Any]]], side: str, name: str) -> list[str]:
    values = {str(row[name]) for row in sample.get(side, []) if row.get(name) is not None}
    return sorted(values)


def _some(values: list[str]) -> str:
    return ", ".join(repr(value) for value in values[:3])
