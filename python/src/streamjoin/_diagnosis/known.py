"""What is known of a query when it is asked why nothing comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

from streamjoin._diagnosis.called import input_name
from streamjoin._progress import JOIN, Join, joins

SIDES = ("left", "right")

# Rows that wait, by side, of the join with a number.
Sample = Callable[[int], Mapping[str, list[dict[str, Any]]]]


@dataclass(frozen=True)
class Waiting:
    """Rows of one side that wait for one column.

    `expires` and `watermark` are as `pending` shows them.
    """

    operator: int
    side: str
    waits_for: str | None
    rows: int
    expires: Any
    watermark: Any


@dataclass(frozen=True)
class Known:
    """All that a diagnosis looks at; what costs a job of Spark is asked for when it is needed."""

    progress: Sequence[dict[str, Any]] = ()
    described: Sequence[Mapping[str, Any]] = ()
    silent: int = 0
    status: str = ""
    error: str = ""
    waiting: Callable[[], list[Waiting]] = list
    sample: Sample = lambda operator: {}

    @cached_property
    def joins(self) -> list[JoinKnown]:
        reported = joins(list(self.progress))
        # reports have the join on top first; numbers count from the one below
        described = sorted(
            (d for d in self.described if not d.get("changelog")),
            key=lambda d: d["operator"],
            reverse=True,
        )
        if len(described) != len(reported):
            return [JoinKnown(join, {}) for join in reported]
        known = []
        for join in reported:
            # of joins side by side either may come first: the columns tell
            found = max((JoinKnown(join, d) for d in described), key=JoinKnown.columns_found)
            described.remove(found.described)
            known.append(found)
        return known

    def described_as(self, operator: int) -> Mapping[str, Any]:
        """Give what lies beside the state of the join with a number; nothing of an order."""
        return next((d for d in self.described if d["operator"] == operator), {})

    def sink_rows(self) -> int | None:
        """Give the rows that have reached the sink, where it counts them."""
        counts = [report["sink"].get("numOutputRows", -1) for report in self.progress]
        return None if not counts or min(counts) < 0 else sum(counts)

    def operators_above(self) -> list[str]:
        """Give Spark's stateful operators above the joins, the one on top first."""
        return list(takewhile(lambda name: name != JOIN, self.operators()))

    def operators_below(self) -> list[str]:
        """Give those below the joins."""
        return list(takewhile(lambda name: name != JOIN, reversed(self.operators())))

    def operators(self) -> list[str]:
        """Give all stateful operators, the one on top first."""
        operators = self.progress[-1]["stateOperators"] if self.progress else []
        return [operator["operatorName"] for operator in operators]


@dataclass(frozen=True)
class JoinKnown:
    """One join: what it has reported, and what lies beside its state."""

    reported: Join
    described: Mapping[str, Any]

    def input(self, side: str) -> str:
        """Name an input as the person does."""
        return input_name(self.described, side)

    def times(self, side: str) -> dict[str, str]:
        times: dict[str, str] = self.described.get("times", {}).get(side, {})
        return times

    def side_of(self, column: str) -> str | None:
        found = [s for s in SIDES if any(_same(column, t, s) for t in self.times(s))]
        return found[0] if len(found) == 1 else None

    def said(self, column: str) -> str:
        """Name a column of a metric as the person does."""
        return self._find(column)[0]

    def columns_found(self) -> int:
        """Count the reported columns that are times of this join."""
        return sum(self._find(column)[1] != "" for column in self.reported.columns())

    def is_number(self, column: str) -> bool:
        return self._find(column)[1] in ("long", "integer", "short", "byte")

    def has_zone(self, column: str) -> bool:
        return self._find(column)[1] != "timestamp_ntz"

    def _find(self, column: str) -> tuple[str, str]:
        for side in SIDES:
            for name, kind in self.times(side).items():
                if _same(column, name, side):
                    return name, kind
        return column, ""

    def reach(self) -> int:
        """Give how far apart the times of a pair can be, as far as the bounds say."""
        return max((abs(b["slack"]) for b in self.described.get("bounds", [])), default=0)

    def slack(self, later: str, earlier: str) -> int | None:
        for bound in self.described.get("bounds", []):
            if (bound["later"], bound["earlier"]) == (later, earlier):
                return int(bound["slack"])
        return None


def _same(column: str, said: str, side: str) -> bool:
    return column in (said, f"{side}.{said}") or said.rpartition(".")[2] == column
