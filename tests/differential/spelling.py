"""A bound between two times, in the many ways in which a person writes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.differential.case import NUMBERS, Case, Kind
from tests.differential.instants import amount, literal

Reference = tuple[str, str]
"""Alias and name of a column."""

MICROSECONDS: tuple[Kind, ...] = ("timestamp", "timestamp_ntz")
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
FLIPPED = str.maketrans("<>", "><")


@dataclass(frozen=True)
class Bound:
    """The comparison ``y operator x + ticks``."""

    x: Reference
    y: Reference
    ticks: int
    operator: str


@dataclass(frozen=True)
class Form:
    feature: str
    kinds: tuple[Kind, ...]
    write: Callable[[Spelling, Bound], str]


class Spelling:
    def __init__(self, rng: Random, case: Case, features: set[str]) -> None:
        self.rng = rng
        self.case = case
        self.features = features
        """What was used is added here."""

    def kind(self, at: Reference) -> Kind:
        return self.case.input(at[0]).time(at[1]).kind

    def compare(self, x: Reference, y: Reference, ticks: int, operator: str) -> str:
        """Write ``y operator x + ticks``."""
        bound = Bound(x, y, ticks, operator)
        if self.rng.random() < 0.45:
            kinds = {self.kind(x), self.kind(y)}
            possible = [
                form
                for form in FORMS
                if kinds <= set(form.kinds)
                and (form.feature != "negated" or operator in NEGATED)
                and (form.feature != "truncated" or operator != "=")
            ]
            form = self.rng.choice(possible)
            self.features.add(form.feature)
            return form.write(self, bound)
        return self.plain(bound)

    def plain(self, bound: Bound) -> str:
        x, y, ticks = bound.x, bound.y, bound.ticks
        flipped = bound.operator.translate(FLIPPED)
        texts = [
            f"{self.plus(y, 0)} {bound.operator} {self.plus(x, ticks)}",
            f"{self.plus(x, ticks)} {flipped} {self.plus(y, 0)}",
            f"{self.plus(y, -ticks)} {bound.operator} {self.plus(x, 0)}",
            f"{self.plus(x, 0)} {flipped} {self.plus(y, -ticks)}",
        ]
        return self.rng.choice(texts)

    def between(self, x: Reference, y: Reference, low: int, high: int) -> str:
        """Write that y minus x is between two numbers of ticks."""
        if self.rng.random() < 0.3:
            x, y, low, high = y, x, -high, -low
        if low == -high and self.rng.random() < 0.6:
            self.features.add("absolute")
            return f"abs({_name(y)} - {_name(x)}) <= {self.size(x, high)}"
        if self.rng.random() < 0.3:
            self.features.add("difference")
            return f"{_name(y)} - {_name(x)} BETWEEN {self.size(x, low)} AND {self.size(x, high)}"
        if self.rng.random() < 0.2:
            self.features.add("negative_size")
            first, last = self.less(x, -low), self.less(x, -high)
        else:
            first, last = self.plus(x, low), self.plus(x, high)
        return f"{_name(y)} BETWEEN {first} AND {last}"

    def either(self, x: Reference, y: Reference, low: int, high: int) -> str:
        """Write that y minus x is in one of two ranges that these numbers of ticks enclose."""
        self.features.add("either_range")
        middle = (low + high) // 2
        first = self.between(x, y, low, middle - 1)
        last = [self.compare(x, y, middle + 1, ">="), self.compare(x, y, high, "<=")]
        return f"({first}) OR ({' AND '.join(last)})"

    def plus(self, at: Reference, ticks: int) -> str:
        if ticks == 0:
            return _name(at)
        return f"{_name(at)} {'+' if ticks > 0 else '-'} {self.size(at, abs(ticks))}"

    def less(self, at: Reference, ticks: int) -> str:
        return f"{_name(at)} - {self.size(at, ticks)}"

    def size(self, at: Reference, ticks: int) -> str:
        """Write a distance, which may be negative, as a constant."""
        kind = self.kind(at)
        text = literal(kind, amount(self.case, kind, abs(ticks)), self.rng.randrange(6))
        if ticks >= 0:
            return text
        if kind in NUMBERS or self.rng.random() < 0.3:
            return f"(-{text})"
        return re.sub(r"INTERVAL ('?)", r"INTERVAL \1-", text)

    def number(self, at: Reference, ticks: int) -> int:
        """A distance as a whole number of microseconds, of days or of the number itself."""
        return amount(self.case, self.kind(at), ticks)


def _name(at: Reference) -> str:
    return f"{at[0]}.{at[1]}"


def _negated(how: Spelling, b: Bound) -> str:
    return f"NOT ({how.plain(Bound(b.x, b.y, b.ticks, NEGATED[b.operator]))})"


def _difference(how: Spelling, b: Bound) -> str:
    x, y, flipped = _name(b.x), _name(b.y), b.operator.translate(FLIPPED)
    return how.rng.choice(
        [
            f"{y} - {x} {b.operator} {how.size(b.x, b.ticks)}",
            f"{how.size(b.x, b.ticks)} {flipped} {y} - {x}",
            f"{x} - {y} {flipped} {how.size(b.x, -b.ticks)}",
        ]
    )


def _both_sides(how: Spelling, b: Bound) -> str:
    more = how.rng.choice([-3, -1, 2, 5])
    return f"{how.plus(b.y, more)} {b.operator} {how.plus(b.x, b.ticks + more)}"


def _negative_size(how: Spelling, b: Bound) -> str:
    return f"{_name(b.y)} {b.operator} {how.less(b.x, -b.ticks)}"


def _constant_first(how: Spelling, b: Bound) -> str:
    return f"{_name(b.y)} {b.operator} {how.size(b.x, b.ticks)} + {_name(b.x)}"


def _cast(how: Spelling, b: Bound) -> str:
    return f"CAST({_name(b.y)} AS BIGINT) {b.operator} {how.plus(b.x, b.ticks)}"


def _date_add(how: Spelling, b: Bound) -> str:
    return how.rng.choice(
        [
            f"{_name(b.y)} {b.operator} date_add({_name(b.x)}, {b.ticks})",
            f"date_sub({_name(b.y)}, {b.ticks}) {b.operator} {_name(b.x)}",
        ]
    )


def _double_negation(how: Spelling, b: Bound) -> str:
    return f"NOT (NOT ({how.plain(b)}))"


def _datediff(how: Spelling, b: Bound) -> str:
    return f"datediff({_name(b.y)}, {_name(b.x)}) {b.operator} {b.ticks}"


def _timestampdiff(how: Spelling, b: Bound) -> str:
    size = how.number(b.x, b.ticks)
    units = [("MICROSECOND", 1), ("MILLISECOND", 1_000), ("SECOND", 1_000_000)]
    unit, length = how.rng.choice([each for each in units if how.case.tick_us % each[1] == 0])
    return f"timestampdiff({unit}, {_name(b.x)}, {_name(b.y)}) {b.operator} {size // length}"


def _timestampadd(how: Spelling, b: Bound) -> str:
    size = how.number(b.x, b.ticks)
    return f"{_name(b.y)} {b.operator} timestampadd(MICROSECOND, {size}, {_name(b.x)})"


def _unix(how: Spelling, b: Bound) -> str:
    units = [("unix_micros", 1), ("unix_millis", 1_000), ("unix_seconds", 1_000_000)]
    units = [each for each in units if how.case.tick_us % each[1] == 0]
    function, length = how.rng.choice(units) if how.kind(b.x) != "date" else ("unix_date", 1)
    y, x = f"{function}({_name(b.y)})", f"{function}({_name(b.x)})"
    size = how.number(b.x, b.ticks) // length
    return how.rng.choice([f"{y} - {x} {b.operator} {size}", f"{y} {b.operator} {x} + {size}"])


def _truncated(how: Spelling, b: Bound) -> str:
    """No less than the second, the unit of the clock of most cases."""
    unit = how.rng.choice(["SECOND", "MINUTE"])
    return f"date_trunc('{unit}', {_name(b.y)}) {b.operator} {how.plus(b.x, b.ticks)}"


DIFFERENCE: tuple[Kind, ...] = (*MICROSECONDS, *NUMBERS)
EVERY: tuple[Kind, ...] = (*DIFFERENCE, "date")
FORMS = (
    Form("negated", EVERY, _negated),
    Form("double_negation", EVERY, _double_negation),
    Form("difference", EVERY, _difference),
    Form("both_sides", EVERY, _both_sides),
    Form("negative_size", EVERY, _negative_size),
    Form("constant_first", DIFFERENCE, _constant_first),
    Form("wider_cast", NUMBERS, _cast),
    Form("date_add", ("date",), _date_add),
    Form("datediff", ("date",), _datediff),
    Form("timestampadd", ("timestamp",), _timestampadd),
    Form("timestampdiff", ("timestamp",), _timestampdiff),
    Form("unix", ("timestamp", "date"), _unix),
    Form("truncated", ("timestamp",), _truncated),
)
"""Each can be left out by ``--diff-skip`` with its feature."""
