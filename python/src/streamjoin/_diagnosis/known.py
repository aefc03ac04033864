"""The facts of a query, from which the findings follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timezone, tzinfo
from functools import cached_property
from itertools import takewhile
from typing import Any

from streamjoin._diagnosis.called import SIDES, input_name
from streamjoin._diagnosis.plan import SOME_TIME, Plan, PlannedJoin
from streamjoin._progress import (
    JOIN,
    ORDER,
    Batch,
    Distance,
    Join,
    changelog_joins,
    instant,
    joins,
    of_spark,
    orders,
    shown_span,
    shown_time,
)

# Maps the number of a join to buffered rows by side.
Sample = Callable[[int], Mapping[str, list[dict[str, Any]]]]

_NUMBERS = ("long", "integer", "short", "byte")


@dataclass(frozen=True)
class Waiting:
    """Rows of one side that wait for one column.

    `expires` and `watermark` are as in `pending`. `unmatched` counts the rows that will be emitted
    without a match if no partner arrives.
    """

    operator: int
    side: str
    waits_for: str | None
    rows: int
    expires: Any
    watermark: Any
    unmatched: int | None = None


@dataclass(frozen=True)
class TopKey:
    """The most frequent key of a side: its number of rows in a sample of `of` rows."""

    key: str
    rows: int
    of: int


# Finds it, by the number of a join, the side, its buffered rows, and the columns of its key.
TopKeyOf = Callable[[int, str, int, list[str]], TopKey | None]


@dataclass(frozen=True)
class Known:
    """All inputs of a diagnosis; a fact that needs a Spark job is computed on demand.

    `described` has the descriptions next to the state; empty if the checkpoint was deleted.
    `next_batch` describes when the next batch begins, if a trigger decides that, or the batch that
    runs in real-time mode. `interval` is that of the trigger in milliseconds, and `length` that of
    a batch in real-time mode; `running` is the batch that runs now, with its milliseconds.
    """

    progress: Sequence[dict[str, Any]] = ()
    described: Sequence[Mapping[str, Any]] = ()
    silent: int = 0
    status: str = ""
    error: str = ""
    waiting: Callable[[], list[Waiting]] = list
    sample: Sample = lambda operator: {}
    plan: Callable[[], Plan] = Plan
    zone: tzinfo = timezone.utc
    next_batch: str = ""
    interval: int | None = None
    length: int | None = None
    running: tuple[int, int] | None = None
    top_key: TopKeyOf = lambda operator, side, rows, names: None

    @cached_property
    def planned(self) -> Plan:
        return self.plan()

    @cached_property
    def _sampled(self) -> dict[int, Mapping[str, list[dict[str, Any]]]]:
        return {}

    def samples(self, operator: int) -> Mapping[str, list[dict[str, Any]]]:
        """Return sampled rows of a join, by side; cached."""
        if operator not in self._sampled:
            self._sampled[operator] = self.sample(operator)
        return self._sampled[operator]

    @cached_property
    def joins(self) -> list[JoinKnown]:
        """The event-time joins, the topmost first."""
        reported = joins(list(self.progress))
        return self._known(reported, [d for d in self.described if not d.get("changelog")], False)

    @cached_property
    def changelog_joins(self) -> list[JoinKnown]:
        """The changelog joins, the topmost first."""
        reported = changelog_joins(list(self.progress))
        return self._known(reported, [d for d in self.described if d.get("changelog")], True)

    @cached_property
    def orders(self) -> list[Join]:
        """The ordered outputs."""
        return orders(list(self.progress))

    @cached_property
    def of_spark(self) -> list[Join]:
        """Spark's own stateful operators, the topmost first."""
        return of_spark(list(self.progress))

    def _known(
        self, reported: list[Join], described: list[Mapping[str, Any]], changelog: bool
    ) -> list[JoinKnown]:
        # reports have the topmost join first; operator numbers count from the lowest join
        left = sorted(described, key=lambda d: d["operator"], reverse=True)
        fits = len(left) == len(reported)
        known = []
        for number, join in enumerate(reported):
            planned = _Planned(self, number, len(reported), changelog)
            if not fits:
                known.append(JoinKnown(join, None, planned, self.zone))
                continue
            # joins of parallel branches have no order: match them by their columns
            found = max(
                (JoinKnown(join, d, planned, self.zone) for d in left), key=JoinKnown.columns_found
            )
            left.remove(found.described)
            known.append(found)
        return known

    def described_as(self, operator: int) -> Mapping[str, Any]:
        """Return the description next to the state of a join by its number; empty for an order."""
        return next((d for d in self.described if d["operator"] == operator), {})

    def sink_rows(self) -> int | None:
        """Return the number of rows that have reached the sink, if it counts them."""
        counts = [report["sink"].get("numOutputRows", -1) for report in self.progress]
        return None if not counts or min(counts) < 0 else sum(counts)

    def operators_above(self) -> list[str]:
        """Return Spark's stateful operators above the joins, the topmost first."""
        above = takewhile(lambda name: name != JOIN, self.operators())
        return [name for name in above if name != ORDER]

    def operators_below(self) -> list[str]:
        """Return Spark's stateful operators below the joins, the lowest first."""
        return list(takewhile(lambda name: name != JOIN, reversed(self.operators())))

    def operators(self) -> list[str]:
        """Return all stateful operators, the topmost first."""
        operators = self.progress[-1]["stateOperators"] if self.progress else []
        return [operator["operatorName"] for operator in operators]

    def time(self, ms: int) -> str:
        """Format a point in time as `pending` does, in the zone of the session."""
        return shown_time(ms, self.zone)

    def clock(self, report: Mapping[str, Any]) -> str:
        """Return when the batch of a report began, formatted."""
        return shown_time(round(instant(report["timestamp"]).timestamp()) * 1000, self.zone)


@dataclass(frozen=True)
class _Planned:
    """Returns the join in the plan, which is read on demand."""

    known: Known
    number: int
    of: int
    changelog: bool

    def __call__(self) -> PlannedJoin | None:
        planned = [
            join
            for join in self.known.planned.joins
            if join.node.text.startswith("ChangelogJoin") == self.changelog
        ]
        return planned[self.number] if len(planned) == self.of else None


@dataclass(frozen=True)
class JoinKnown:
    """One join: its reports, the files next to its state, and its plan."""

    reported: Join
    stored: Mapping[str, Any] | None
    plan: Callable[[], PlannedJoin | None] = lambda: None
    zone: tzinfo = timezone.utc

    @cached_property
    def planned(self) -> PlannedJoin | None:
        return self.plan()

    @cached_property
    def described(self) -> Mapping[str, Any]:
        """The description next to the state, else from the plan, else empty."""
        if self.stored is not None:
            return self.stored
        return {} if self.planned is None else self.planned.described

    @property
    def join_type(self) -> str:
        """The type of the join, spelled as in explain; empty if it is unknown."""
        return str(self.described.get("joinType", ""))

    def preserves(self, side: str) -> bool:
        """Check whether unmatched rows of a side are emitted; False if the join type is unknown."""
        return self.join_type in ("FULL OUTER", f"{side.upper()} OUTER") or (
            self.join_type == "LEFT ANTI" and side == "left"
        )

    def input(self, side: str) -> str:
        """Return the display name of an input."""
        return input_name(self.described, side)

    def times(self, side: str) -> dict[str, str]:
        times: dict[str, str] = self.described.get("times", {}).get(side, {})
        return times

    def side_of(self, column: str) -> str | None:
        found = [s for s in SIDES if any(_same(column, t, s) for t in self.times(s))]
        return found[0] if len(found) == 1 else None

    def said(self, column: str) -> str:
        """Return the display name of a column of a metric."""
        return self._find(column)[0]

    def columns_found(self) -> int:
        """Count the reported columns that are times of this join."""
        return sum(self._find(column)[1] is not None for column in self.reported.columns())

    def is_number(self, column: str) -> bool:
        kind = self._find(column)[1]
        return kind in _NUMBERS if kind else not self._has_delay(column)

    def has_zone(self, column: str) -> bool:
        """Check whether a column is a point in time, displayed in the zone of the session."""
        kind = self._find(column)[1]
        if kind in (None, SOME_TIME):
            return self._has_delay(column)
        return kind not in ("timestamp_ntz", "date")

    def _has_delay(self, column: str) -> bool:
        """Check whether a column is compared with the clock: only points in time are."""
        said = self.said(column)
        return any(self.said(c) == said for batch in self.batches for c in batch.of("delay"))

    @property
    def batches(self) -> Sequence[Batch]:
        return self.reported.batches

    def _find(self, column: str) -> tuple[str, str | None]:
        for side in SIDES:
            for name, kind in self.times(side).items():
                if _same(column, name, side):
                    return name, kind
        return column, None

    def span(self, column: str, distance: int) -> str:
        """Format a distance of a column: as a span of time, or as a number."""
        return str(distance) if self.is_number(column) else shown_span(distance)

    def distance(self, column: str, distance: int) -> Distance:
        """Return a distance of a column as a figure with its unit."""
        unit = f"in the unit of {self.said(column)}" if self.is_number(column) else ""
        return Distance(distance, unit)

    def time(self, column: str, value: int) -> str:
        """Format a value of a column: a time in the zone of the session, or a number."""
        if self.is_number(column):
            return str(value)
        return shown_time(value, self.zone if self.has_zone(column) else timezone.utc)

    def reach(self) -> int:
        """Return the largest distance of the times of a pair that the bounds allow."""
        return max((abs(b["slack"]) for b in self.described.get("bounds", [])), default=0)

    def slack(self, later: str, earlier: str) -> int | None:
        for bound in self.described.get("bounds", []):
            if (bound["later"], bound["earlier"]) == (later, earlier):
                return int(bound["slack"])
        return None

    def latest(self, metric: str, said: str) -> int | None:
        """Return the latest value of a metric of a column."""
        for batch in reversed(self.batches):
            for column, value in batch.of(metric).items():
                if self.said(column) == said:
                    return value
        return None

    def last_of(self, metric: str) -> int | None:
        """Return a metric from the last batch that has it."""
        with_it = [b.metrics[metric] for b in self.batches if metric in b.metrics]
        return with_it[-1] if with_it else None

    def front(self, said: str) -> int | None:
        """Return the largest time of a column: its watermark plus its lag.

        With groups, this is the watermark of the fastest one.
        """
        mark, lag = self.latest("watermark", said), self.latest("lag", said)
        spread = self.latest("groupSpread", said) or 0
        return None if mark is None or lag is None else mark + lag + spread


def _same(column: str, said: str, side: str) -> bool:
    return column in (said, f"{side}.{said}") or said.rpartition(".")[2] == column
