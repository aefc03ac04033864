"""A test case as plain data that can be printed, replayed and made smaller."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Kind = Literal["timestamp", "timestamp_ntz", "date", "bigint", "int", "smallint"]
Key = Literal[
    "int", "bigint", "string", "double", "float", "decimal", "binary", "collated", "struct"
]
How = Literal["inner", "left", "right", "full", "semi", "anti"]
Below = Literal[
    "unseen_filter",
    "filter",
    "rename",
    "project",
    "table",
    "distinct",
    "distinct_within",
    "windows",
]
Above = Literal["table", "distinct", "windows"]
Row = dict[str, Any]
"""One arriving row. Times are whole numbers of ticks, see ``Case.tick_us``; ``None`` is NULL."""
Step = dict[str, list[Row]]
"""What arrives together, by input. An input that is missing brings nothing, not even no rows."""

HOWS: tuple[How, ...] = ("inner", "left", "right", "full", "semi", "anti")
NUMBERS: tuple[Kind, ...] = ("bigint", "int", "smallint")
SENTINEL = "!"
"""Part of the id of rows that only push watermarks; results that hold one are not compared."""


@dataclass(frozen=True)
class TimeColumn:
    name: str
    kind: Kind
    lag: int | None
    """In microseconds, or in the column's own unit for numbers; None: no watermark."""
    by: Literal["imposeOrder", "withWatermark"] = "imposeOrder"
    per: str | None = None
    """The column whose values divide the rows into groups, each with a watermark."""


@dataclass(frozen=True)
class Input:
    alias: str
    key: Key
    times: tuple[TimeColumn, ...]
    same_as: str | None = None
    """This input is the other one once more: a self-join."""
    part_of: str | None = None
    """The rows of this input are united with those of the other one, each with its watermarks."""
    below: tuple[Below, ...] = ()
    """What stands between the watermarks and the join, see ``shapes``."""

    def time(self, name: str) -> TimeColumn:
        return next(column for column in self.times if column.name == name)

    @property
    def watermarked(self) -> tuple[TimeColumn, ...]:
        return tuple(column for column in self.times if column.lag is not None)


@dataclass(frozen=True)
class Join:
    left: Node
    right: Node
    how: How
    conjuncts: tuple[str, ...]
    using: tuple[str, ...] = ()
    """Names for ``on``; then there are no conjuncts."""
    where: str | None = None
    """A filter above the join."""
    as_column: bool = False
    """``on`` is given as a Column, not as a str."""

    @property
    def condition(self) -> str:
        return " AND ".join(f"({c})" if " OR " in c else c for c in self.conjuncts)


Node = str | Join


def inputs_of(node: Node) -> tuple[str, ...]:
    """Aliases of the leaves, left to right."""
    if isinstance(node, str):
        return (node,)
    return inputs_of(node.left) + inputs_of(node.right)


def visible(node: Node) -> tuple[str, ...]:
    """Aliases whose columns are in the output."""
    if isinstance(node, str):
        return (node,)
    if node.how in ("semi", "anti"):
        return visible(node.left)
    return visible(node.left) + visible(node.right)


def joins_of(node: Node) -> Iterator[Join]:
    if isinstance(node, Join):
        yield from joins_of(node.left)
        yield from joins_of(node.right)
        yield node


@dataclass(frozen=True)
class Restart:
    step: int
    moment: Literal["before", "during"]
    """Between two batches, or inside the batch that takes the rows of this step."""
    delay_ms: int = 0
    """How long after the batch began."""
    available_now: bool = False
    """Work off what is there by ``trigger(availableNow=True)`` first."""


@dataclass(frozen=True)
class Case:
    seed: int
    index: int
    tick_us: int
    """Length of one tick of a timestamp, in microseconds."""
    number_base: int
    """What is added to the ticks of a number column."""
    qualified: bool
    """Columns are ``a.t`` in each input (True) or have names of their own, ``a_t``."""
    through: Literal["dataframe", "sql"]
    feed: Literal["memory", "files"]
    files_per_trigger: int | None
    partitions: int
    settings: dict[str, str]
    inputs: tuple[Input, ...]
    tree: Join
    steps: tuple[Step, ...]
    restarts: tuple[Restart, ...] = ()
    features: tuple[str, ...] = field(default=())
    above: Above | None = None
    """What stands above the last join, see ``shapes``."""
    at: tuple[str, str] | None = None
    """Alias and name of the event time that it goes by."""
    mode: Literal["append", "update"] = "append"
    actions: int = 1
    """How often the sink reads each batch."""
    late: bool = False
    """Late rows come out too."""
    groups: int = 0
    """How many groups the rows belong to, see ``rows``; 0: rows have none."""

    @property
    def name(self) -> str:
        return f"{self.seed}-{self.index}"

    def input(self, alias: str) -> Input:
        return next(each for each in self.inputs if each.alias == alias)

    @property
    def fed(self) -> tuple[str, ...]:
        """Inputs with a source of their own."""
        return tuple(each.alias for each in self.inputs if each.same_as is None)

    def parts(self, alias: str) -> tuple[Input, ...]:
        """The inputs that are united into a leaf of the tree: most often one."""
        return tuple(each for each in self.inputs if alias in (each.alias, each.part_of))

    @property
    def sources(self) -> tuple[str, ...]:
        """Inputs in the order of the plan, which is that of the offset log."""
        return tuple(each.alias for leaf in inputs_of(self.tree) for each in self.parts(leaf))

    def with_steps(self, steps: tuple[Step, ...]) -> Case:
        return replace(self, steps=steps)


def to_json(case: Case) -> str:
    """Write a case with one line for each of its parts and of its rows."""
    data = asdict(case)
    steps = ",\n".join(_step_json(step) for step in data.pop("steps"))
    parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in data.items()]
    return "{\n" + ",\n".join([*parts, f'"steps": [\n{steps}\n]']) + "\n}"


def _step_json(step: Step) -> str:
    def rows_json(rows: list[Row]) -> str:
        return "[" + ",\n    ".join(json.dumps(row) for row in rows) + "]"

    inputs = (f"{json.dumps(alias)}: {rows_json(rows)}" for alias, rows in step.items())
    return "  {" + ",\n   ".join(inputs) + "}"


def from_json(text: str) -> Case:
    data = json.loads(text)
    data["inputs"] = tuple(
        Input(
            **{
                **each,
                "times": tuple(TimeColumn(**t) for t in each["times"]),
                "below": tuple(each["below"]),
            }
        )
        for each in data["inputs"]
    )
    data["tree"] = _node(data["tree"])
    data["steps"] = tuple(data["steps"])
    data["restarts"] = tuple(Restart(**each) for each in data["restarts"])
    data["features"] = tuple(data["features"])
    data["at"] = data["at"] and tuple(data["at"])
    return Case(**data)


def _node(data: Any) -> Node:
    if isinstance(data, str):
        return data
    return Join(
        **{
            **data,
            "left": _node(data["left"]),
            "right": _node(data["right"]),
            "conjuncts": tuple(data["conjuncts"]),
            "using": tuple(data["using"]),
        }
    )
