"""Reads the joins of a query from the text of ``query.explain()``.

The text is available after the end of a query and without its checkpoint, on classic sessions and
on Spark Connect. The reference page documents its lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from streamjoin._diagnosis.called import SIDES
from streamjoin._diagnosis.output_watermarks import distance, held_back

_LINE = re.compile(r"((?:[:+ ][- ] )*)(?:\*(?:\(\d+\) )?)?(.*)")
_JOIN = re.compile(r"(StreamJoin|AsOfJoin|ChangelogJoin) ([A-Z]+(?: [A-Z]+)?)\b")
_ORDER = re.compile(r"StreamOrder by (.*)")
_KEYS = re.compile(r"hash by \[(.*?)\] = \[(.*?)\]")
_BOUND = re.compile(r"(\S+) >= (\S+)(?: ([+-]) (.*))?")
_INPUT = re.compile(r"a row of (.+?) is (?:not )?(?:buffered|stored)")
_IDENTITY = re.compile(r"#\d+L?(?:-T\d+ms)?")

# Of windows: the offset of the first start, the slide, and the length.
_WINDOW = re.compile(r"LongType\) - (-?\d+)\) % (\d+)\)")
_WIDTH = re.compile(r"\) \+ (\d+)\), LongType, TimestampType")

# The column of a window.
_WINDOWED = re.compile(r"precisetimestampconversion\((\w+), ")

# The idle timeout of an input.
_IDLE = re.compile(r"; after ([^;,]+) without a row, ")

# The type of an event time whose exact type is not in the plan.
SOME_TIME = "time"

# Operators that may emit fewer rows than they read.
_FEWER = ("Filter", "StreamingGlobalLimit", "Generate", "StreamingDeduplicate")


@dataclass(frozen=True)
class Node:
    """A node of a plan, with its detail lines."""

    depth: int
    text: str
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PlannedJoin:
    """One join in the plan.

    `below` has the operators between each input and its source, the topmost first. It is None if
    Spark has removed them, as for an input without rows.
    """

    node: Node
    below: Mapping[str, list[str] | None]

    @cached_property
    def described(self) -> dict[str, Any]:
        """The keys of the description next to the state, as far as the text has their values."""
        bounds = list(self._bounds())
        names = dict.fromkeys(
            name for bound in bounds for name in (bound["later"], bound["earlier"])
        )
        times = {side: {n: self._kind(n) for n in names if self._is_of(n, side)} for side in SIDES}
        keys = _KEYS.search(self.node.text)
        equal = zip(keys[1].split(", "), keys[2].split(", "), strict=False) if keys else ()
        return {
            "joinType": self.join_type,
            "keys": [f"{left} = {right}" for left, right in equal],
            "changelog": self.node.text.startswith("ChangelogJoin"),
            "contradiction": "no two rows can match" in self.node.text,
            "bounds": bounds,
            "times": times,
            "aliases": {s: a for s in SIDES if (a := self._alias(s)) is not None},
            "lookup": {side: next(iter(times[side]), None) for side in SIDES},
        }

    @property
    def join_type(self) -> str:
        found = _JOIN.match(self.node.text)
        return found[2] if found else ""

    @property
    def emits_late(self) -> bool:
        return any(line.startswith("late rows") for line in self.node.lines)

    def keeps_ahead(self, column: str) -> bool:
        """Check whether rows beyond ``max_ahead`` are joined, without moving the watermark."""
        plain = column.rpartition(".")[2]
        of = [x for x in self._watermarks() if x.partition(":")[0].rpartition(".")[2] == plain]
        return any("ahead of its batch" in line and "is dropped" not in line for line in of)

    def idle_after(self, column: str) -> str:
        """Return the ``idle_timeout`` of a column in the format of explain; empty without one."""
        plain = column.rpartition(".")[2]
        for line in self._watermarks():
            found = _IDLE.search(line)
            if found and line.partition(":")[0].rpartition(".")[2] == plain:
                return found[1]
        return ""

    def filters(self, side: str) -> list[str]:
        """Return the parts of the condition that use only one input."""
        mark = f": filter on rows of {self._input(side)}, before they are buffered"
        return [
            line[len("condition ") :].partition(mark)[0]
            for line in self.node.lines
            if line.startswith("condition ") and mark in line
        ]

    @property
    def retention(self) -> bool:
        return any("added by the retention" in line for line in self.node.lines)

    def held_back(self, column: str | None = None) -> int | None:
        """Return how far an output watermark may be behind the slowest watermark of the inputs."""
        return held_back(self.node.lines, column)

    def _watermarks(self) -> list[str]:
        start = "watermark of "
        return [line[len(start) :] for line in self.node.lines if line.startswith(start)]

    def _bounds(self) -> Iterator[dict[str, Any]]:
        for line in self.node.lines:
            start = next(
                (s for s in (" bound ", "known from the joins below: ") if s in line), None
            )
            if start is None or not line.startswith(("condition ", "known ")):
                continue
            text = re.sub(r" \(with room .*\)", "", line.rpartition(start)[2])
            found = _BOUND.fullmatch(text)
            slack = found and distance(found[4])
            if found and slack is not None:
                later, earlier, sign, _ = found.groups()
                yield {
                    "later": later,
                    "earlier": earlier,
                    "slack": slack if sign == "-" else -slack,
                }

    def _inputs(self) -> list[str]:
        return [found[1] for line in self.node.lines if (found := _INPUT.match(line))]

    def _input(self, side: str) -> str:
        inputs = self._inputs()
        return inputs[SIDES.index(side)] if len(inputs) == len(SIDES) else f"the {side} input"

    def _alias(self, side: str) -> str | None:
        name = self._input(side)
        return None if name == f"the {side} input" else name

    def _is_of(self, name: str, side: str) -> bool:
        """Check whether a time belongs to an input, by the alias of this or of the other input."""
        qualifier = name.rpartition(".")[0]
        own, other = (self._alias(s) for s in (side, SIDES[1 - SIDES.index(side)]))
        return qualifier == own if own else other is not None and qualifier != other

    def _kind(self, name: str) -> str:
        """Distinguish numbers from times; the type of a time comes from the reports."""
        plain = name.rpartition(".")[2]
        number = any(f"the largest {plain} seen" in line for line in self.node.lines)
        number |= any(f"the largest {name} seen" in line for line in self.node.lines)
        return "long" if number else SOME_TIME


@dataclass(frozen=True)
class NextEnd:
    """The end of a window above a join.

    `held_back` is how much older than Spark's watermark rows of the join can be. The watermark must
    pass the end by that distance.
    """

    end: int
    held_back: int


@dataclass(frozen=True)
class Plan:
    """The joins, the topmost first, and the operators above, from the root."""

    joins: Sequence[PlannedJoin] = ()
    above: Sequence[str] = ()

    @cached_property
    def fewer_above(self) -> list[str]:
        """Operators above that may emit fewer rows than the topmost join."""
        above = [text for text in self.above if text.startswith(_FEWER)]
        return [text.partition(", state info")[0] for text in above]

    def next_end(self, mark: int) -> NextEnd | None:
        """Return the first window end above the joins that Spark's watermark has not passed."""
        for text in self.above:
            begins, width = _WINDOW.search(text), _WIDTH.search(text)
            held = self._held_back(_WINDOWED.search(text))
            if begins and width and held is not None:
                offset, slide = int(begins[1]), int(begins[2])
                end = (offset + int(width[1])) % slide
                at = ((mark - held) * 1000 - end) // slide + 1
                return NextEnd((at * slide + end) // 1000, held)
        return None

    def _held_back(self, windowed: re.Match[str] | None) -> int | None:
        """Sum the distances of a chain of joins; None for joins in parallel branches."""
        depths = [join.node.depth for join in self.joins]
        if windowed is None or not depths or sorted(set(depths)) != depths:
            return None
        top, *below = self.joins
        held = [top.held_back(windowed[1]), *(join.held_back() for join in below)]
        return None if None in held else sum(each for each in held if each is not None)


def read(text: str) -> Plan:
    """Parse the text of a physical plan; empty without joins of this project."""
    nodes = list(_nodes(text))
    joins = [i for i, node in enumerate(nodes) if _JOIN.match(node.text)]
    tops = joins or [i for i, node in enumerate(nodes) if _ORDER.match(node.text)]
    above = _ancestors(nodes, tops[0]) if tops else []
    return Plan(tuple(_join(nodes, i) for i in joins), tuple(_plain(node.text) for node in above))


def _nodes(text: str) -> Iterator[Node]:
    """Return the nodes in the order of the text.

    The detail lines of a join are two levels deeper, and precede its first input.
    """
    current: Node | None = None
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is None or not found[2] or found[2].startswith("=="):
            continue
        depth = len(found[1]) // 3
        if current is not None and depth == current.depth + 2:
            current.lines.append(found[2])
            continue
        node = Node(depth, found[2])
        if _JOIN.match(node.text) or _ORDER.match(node.text):
            current = node
        elif current is not None and depth <= current.depth + 1:
            current = None
        yield node


def _ancestors(nodes: Sequence[Node], index: int) -> list[Node]:
    found: list[Node] = []
    depth = nodes[index].depth
    for node in reversed(nodes[:index]):
        if node.depth < depth:
            found.insert(0, node)
            depth = node.depth
    return found


def _join(nodes: Sequence[Node], index: int) -> PlannedJoin:
    node = nodes[index]
    inputs: list[list[Node]] = []
    for each in nodes[index + 1 :]:
        if each.depth <= node.depth:
            break
        if each.depth == node.depth + 1:
            inputs.append([])
        if inputs:
            inputs[-1].append(each)
    below = {side: _between(of) for side, of in zip(SIDES, inputs, strict=False)}
    return PlannedJoin(node, {side: below.get(side) for side in SIDES})


def _between(nodes: Sequence[Node]) -> list[str] | None:
    if any(node.text.startswith("LocalTableScan <empty>") for node in nodes):
        return None
    if any(_JOIN.match(node.text) for node in nodes):
        return None
    return [_plain(node.text) for node in nodes]


def _plain(text: str) -> str:
    return _IDENTITY.sub("", text)
