"""What a query of joins emits in each batch, and its state after a change, computed in Python.

A tree of nodes reads the files of the inputs. An item has a row of each input that it is not padded
for. The times of an input are unique.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

Row = dict[str, Any]
Item = dict[str, Any]
Time = datetime | None
LATE = "late"
FILLED = "filled"
"""Of a stored row: the values of the columns of inputs that were added below."""


def minutes(number: int) -> timedelta:
    return timedelta(minutes=number)


def earlier(*times: Time) -> Time:
    known = [time for time in times if time is not None]
    return min(known) if len(known) == len(times) else None


@dataclass
class Source:
    """An input. `files` gets the rows that land; the late ones are marked."""

    name: str
    files: list[Row]
    lag: timedelta
    read: int = 0
    before: Time = None
    """The watermark with which the batch began."""
    mark: Time = None

    def sources(self) -> list[Source]:
        return [self]

    def step(self) -> list[Item]:
        rows, self.read = self.files[self.read :], len(self.files)
        self.before = self.mark
        latest = [row["t"] - self.lag for row in rows] + ([self.mark] if self.mark else [])
        self.mark = max(latest, default=None)
        return [self._item(row) for row in rows]

    def _item(self, row: Row) -> Item:
        is_late = self.before is not None and row["t"] < self.before
        return {self.name: row} | ({LATE: True} if is_late else {})

    def watermark(self, name: str) -> Time:
        return self.mark

    def emits(self, item: Item) -> bool:
        return True

    def continues(self, old: Source) -> None:
        """Goes on where the same input was read before, or with another folder."""
        self.mark = old.mark
        self.read = old.read if self.files is old.files else 0


@dataclass
class Node:
    left: Any
    right: Any
    names: tuple[str, str]
    """The inputs whose times and keys the condition compares."""
    how: str
    key: str | None
    emits_late: bool = False

    def sources(self) -> list[Source]:
        found: list[Source] = self.left.sources() + self.right.sources()
        return found

    def arrivals(self, emitted: list[Item]) -> list[list[Item]]:
        arrived = []
        for below in (self.left, self.right):
            items = below.step()
            if self.emits_late:
                emitted += [item for item in items if LATE in item]
            arrived.append([item for item in items if LATE not in item])
        return arrived

    def own(self, side: int) -> Time:
        found: Time = (self.left, self.right)[side].watermark(self.names[side])
        return found

    def row(self, item: Item, side: int) -> Row | None:
        return item.get(self.names[side])

    def emits(self, item: Item) -> bool:
        """Whether the times of the rows of an item meet the bounds of the joins up to this one."""
        is_below: bool = self.left.emits(item) and self.right.emits(item)
        return is_below

    def equal(self, left: Row, right: Row) -> bool:
        return self.key is None or left[self.key] == right[self.key]


@dataclass
class Join(Node):
    """An event-time join: `right.t BETWEEN left.t - before AND left.t + after`."""

    before: int = 0
    after: int = 0
    meets: Callable[[Row, Row], bool] = lambda left, right: True
    can_match: Callable[[Row], bool] = lambda left: True
    """The part of the condition on the left input alone."""
    state: list[list[tuple[Item, bool]]] = field(default_factory=lambda: [[], []])
    """By side: items, and whether they have matched."""

    def step(self) -> list[Item]:
        emitted: list[Item] = []
        arrived = self.arrivals(emitted)
        new: list[list[list[Any]]] = [[[item, False] for item in items] for items in arrived]
        old: list[list[list[Any]]] = [[list(entry) for entry in side] for side in self.state]
        for lefts, rights in ((old[0], new[1]), (new[0], old[1] + new[1])):
            for left in lefts:
                for right in rights:
                    self._match(left, right, emitted)
        self.state = [[], []]
        for side in (0, 1):
            for item, matched in old[side] + new[side]:
                if self.how in ("semi", "anti") and side == 0 and matched:
                    continue
                if not self._is_over(item, side):
                    self.state[side].append((item, matched))
                elif not matched and self.preserves(side):
                    emitted.append(item)
        return emitted

    def _match(self, left: list[Any], right: list[Any], emitted: list[Item]) -> None:
        a, b = self.row(left[0], 0), self.row(right[0], 1)
        is_emitted = self.left.emits(left[0]) and self.right.emits(right[0])
        if a is None or b is None or not is_emitted or not self._accepts(a, b):
            return
        if self.how == "semi" and not left[1]:
            emitted.append(left[0])
        elif self.how not in ("semi", "anti"):
            emitted.append(left[0] | right[0])
        left[1] = right[1] = True

    def _accepts(self, a: Row, b: Row) -> bool:
        is_equal = self.equal(a, b) and self.meets(a, b) and self.can_match(a)
        return is_equal and self._is_near(a, b)

    def _is_near(self, a: Row, b: Row) -> bool:
        near: bool = a["t"] - minutes(self.before) <= b["t"] <= a["t"] + minutes(self.after)
        return near

    def emits(self, item: Item) -> bool:
        a, b = self.row(item, 0), self.row(item, 1)
        return super().emits(item) and (a is None or b is None or self._is_near(a, b))

    def preserves(self, side: int) -> bool:
        return self.how in (("left", "full", "anti"), ("right", "full"))[side]

    def is_expired(self, item: Item, side: int) -> bool:
        row, passed = self.row(item, side), self.own(1 - side)
        reach = minutes((self.after, self.before)[side])
        return row is not None and passed is not None and passed > row["t"] + reach

    def _is_over(self, item: Item, side: int) -> bool:
        row, below = self.row(item, side), (self.left, self.right)[side]
        if row is None or (side == 0 and not self.can_match(row)) or not below.emits(item):
            return True
        return self.is_expired(item, side)

    def watermark(self, name: str) -> Time:
        """Of an input that the condition compares: a later pair may have a buffered row."""
        side = self.names.index(name)
        other = self.own(1 - side)
        reach = minutes((self.after, self.before)[side])
        return earlier(self.own(side), None if other is None else other - reach)

    def continues(self, old: Join, fill: Callable[[Item], Item]) -> None:
        for side in (0, 1):
            for item, matched in old.state[side]:
                if not (matched and side == 0 and self.how in ("semi", "anti")):
                    self.state[side].append((fill(item), matched))

    def late_above(self) -> bool:
        """Whether the first batch would emit rows that are late in an operator above."""
        return any(
            not matched and self.preserves(side) and self.is_expired(item, side)
            for side in (0, 1)
            for item, matched in self.state[side]
        )


@dataclass
class AsOf(Node):
    """The last row before, or the version that was valid."""

    has_versions: bool = False
    age: int | None = None
    meets: Callable[[Row, Row], bool] = lambda left, right: True
    waiting: list[Item] = field(default_factory=list)
    built: list[Item] = field(default_factory=list)

    def step(self) -> list[Item]:
        emitted: list[Item] = []
        probes, built = self.arrivals(emitted)
        for item in probes:
            if self.row(item, 0) is not None:
                self.waiting.append(item)
            elif self.how == "left_asof":
                emitted.append(item)
        self.built += built
        passed = earlier(self.own(0), self.own(1))
        final = [i for i in self.waiting if passed is not None and i[self.names[0]]["t"] < passed]
        self.waiting = [item for item in self.waiting if item not in final]
        for item in final:
            match = self._last(item[self.names[0]])
            if match is not None:
                emitted.append(item | match)
            elif self.how == "left_asof":
                emitted.append(item)
        return emitted

    def watermark(self, name: str) -> Time:
        return earlier(self.own(0), self.own(1))

    def _last(self, probe: Row) -> Item | None:
        name = self.names[1]
        found = [
            item
            for item in self.built
            if self.equal(probe, item[name]) and item[name]["t"] <= probe["t"]
        ]
        last = max(found, key=lambda item: item[name]["t"], default=None)
        if last is None or (self.has_versions and last[name]["_change_type"] == "delete"):
            return None
        is_old = self.age is not None and last[name]["t"] < probe["t"] - minutes(self.age)
        return None if is_old or not self.meets(probe, last[name]) else last

    def continues(self, old: AsOf, fill: Callable[[Item], Item]) -> None:
        self.waiting, self.built = ([fill(i) for i in items] for items in (old.waiting, old.built))


@dataclass
class Order:
    """An ordered output. Above a join, it is not told when a row comes out: at once."""

    below: Any
    held: list[Item] = field(default_factory=list)

    def sources(self) -> list[Source]:
        found: list[Source] = self.below.sources()
        return found

    def step(self) -> list[Item]:
        self.held += [item for item in self.below.step() if LATE not in item]
        emitted = [item for item in self.held if self._is_reached(item)]
        self.held = [item for item in self.held if not self._is_reached(item)]
        return emitted

    def _is_reached(self, item: Item) -> bool:
        if not isinstance(self.below, Source):
            return True
        mark = self.below.mark
        return mark is not None and item[self.below.name]["t"] <= mark

    def continues(self, old: Order, fill: Callable[[Item], Item]) -> None:
        self.held = [fill(item) for item in old.held]
