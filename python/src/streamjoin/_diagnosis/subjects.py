"""The subject of a finding: the query, a join, one of its inputs, or one of its times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from streamjoin._diagnosis.called import SIDES
from streamjoin._diagnosis.known import JoinKnown, Known
from streamjoin._progress import Batch, Join


class Scope(Enum):
    """The kind of subject that a cause applies to."""

    QUERY = "the query"
    JOIN = "each event-time join"
    INPUT = "each input of an event-time join"
    TIME = "each event time of an event-time join"
    ORDER = "each ordered output"
    CHANGELOG = "each join of changelogs"
    CHANGES = "each input of a join of changelogs"
    SPARK = "each stateful operator of Spark's"


@dataclass(frozen=True)
class Subject:
    """One subject, with the facts of its query."""

    known: Known
    join: JoinKnown | None = None
    side: str | None = None
    column: str | None = None
    order: Join | None = None
    operator: Join | None = None

    @property
    def of_join(self) -> JoinKnown:
        assert self.join is not None
        return self.join

    @property
    def own(self) -> str:
        """The side of this subject."""
        assert self.side is not None
        return self.side

    @property
    def time(self) -> str:
        """The column of this subject, with its name in the metrics."""
        assert self.column is not None
        return self.column

    @property
    def held(self) -> Join:
        """The ordered output of this subject."""
        assert self.order is not None
        return self.order

    @property
    def of_spark(self) -> Join:
        """The operator of Spark of this subject."""
        assert self.operator is not None
        return self.operator

    @property
    def orders(self) -> list[Join]:
        """The ordered output of this subject, or all ordered outputs of the query."""
        return self.known.orders if self.order is None else [self.order]

    @property
    def name(self) -> str:
        """The display name of the input."""
        return self.of_join.input(self.own)

    @property
    def columns(self) -> list[str]:
        """The reported columns of the input."""
        join = self.of_join
        return [c for c in join.reported.columns() if join.side_of(c) in (self.side, None)]

    @property
    def last(self) -> Batch:
        return self.of_join.reported.last

    def total(self, metric: str, side: str | None = None) -> int:
        """Sum a metric of the join or of a side over all reports."""
        of = self.side if side is None else side
        return self.of_join.reported.total(metric + (of or "").capitalize())

    def concerns(self, other: Subject) -> bool:
        """Check whether both have the same join, input and order, as far as both have one."""
        return (
            (self.join is None or other.join is None or self.join is other.join)
            and (self.side is None or other.side is None or self.side == other.side)
            and (self.order is None or other.order is None or self.order is other.order)
            and self.operator is other.operator
        )


def subjects(known: Known, scope: Scope) -> Iterator[Subject]:
    """Return all subjects of a scope, the lowest join first."""
    if scope is Scope.QUERY:
        yield Subject(known)
    elif scope is Scope.ORDER:
        yield from (Subject(known, order=order) for order in known.orders)
    elif scope is Scope.SPARK:
        yield from (Subject(known, operator=operator) for operator in reversed(known.of_spark))
    else:
        changes = scope in (Scope.CHANGELOG, Scope.CHANGES)
        for join in reversed(known.changelog_joins if changes else known.joins):
            if scope in (Scope.INPUT, Scope.CHANGES):
                yield from (Subject(known, join, side) for side in SIDES)
            elif scope is Scope.TIME:
                for column in join.reported.columns():
                    yield Subject(known, join, join.side_of(column), column)
            else:
                yield Subject(known, join)
