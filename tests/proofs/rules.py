"""The rules of docs/internals/rules.md, executable: event-time joins, orders and as-of joins.

Each rule runs on integers and on solver terms (see ``terms``); numbers are those of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypeVar

import z3

from tests.proofs.terms import (
    ABSENT,
    Maybe,
    Term,
    Truth,
    all_of,
    any_of,
    choose,
    greatest,
    implies,
    is_below,
    known,
    least,
    least_if_all,
    lowest,
    moved,
    negate,
    select,
)

LEFT, RIGHT = 0, 1
SIDES = (LEFT, RIGHT)

Slack: TypeAlias = Term | None
"""The slack of a bound; None means unbounded."""

Row: TypeAlias = Mapping[int, Maybe]
"""Times by column, of one row or of a pair of rows."""

Watermarks: TypeAlias = Sequence[Maybe]
"""By column; absent if no watermark has been received."""

Rivals = TypeVar("Rivals")
"""The columns or watermarks that an idle input follows."""


class Column(NamedTuple):
    side: int
    watermarked: bool = True
    nullable: bool = False


class Bound(NamedTuple):
    """``later >= earlier - slack``."""

    later: int
    earlier: int
    slack: Term


@dataclass(frozen=True)
class JoinType:
    name: str
    preserved: tuple[int, ...] = ()
    left_only: bool = False


INNER = JoinType("INNER")
LEFT_OUTER = JoinType("LEFT OUTER", (LEFT,))
RIGHT_OUTER = JoinType("RIGHT OUTER", (RIGHT,))
FULL_OUTER = JoinType("FULL OUTER", (LEFT, RIGHT))
LEFT_SEMI = JoinType("LEFT SEMI", left_only=True)
LEFT_ANTI = JoinType("LEFT ANTI", (LEFT,), left_only=True)
JOIN_TYPES = (INNER, LEFT_OUTER, RIGHT_OUTER, FULL_OUTER, LEFT_SEMI, LEFT_ANTI)


def received(before: Maybe, largest: Maybe, lag: Term) -> Maybe:
    """R1: the watermark of a source column at the end of a batch."""
    return greatest([before, moved(largest, -lag)])


class Group(NamedTuple):
    """A group of rows of a source column in a batch."""

    before: Maybe
    """Its watermark before the batch; absent for a group without one."""
    largest: Maybe
    idle: Truth = False


def of_group(column: Maybe, group: Group, lag: Term) -> Maybe:
    """R1: the watermark of a group at the end of a batch; it starts at that of the column."""
    begun = greatest([column, group.before])
    return select(group.largest.there, received(begun, group.largest, lag), group.before)


def of_groups(column: Maybe, groups: Sequence[Group], lag: Term) -> Maybe:
    """R1: the watermark of a source column with groups, at the end of a batch."""
    active = [Maybe(negate(g.idle), of_group(column, g, lag)) for g in groups]
    # a group without a row so far holds the watermark back
    holds = all_of(*[implies(there, mark.there) for there, mark in active])
    slowest = least(Maybe(there, mark.value) for there, mark in active)
    return greatest([column, Maybe(all_of(holds, slowest.there), slowest.value)])


def settled(arrived: Maybe, rivals: Sequence[Maybe]) -> Maybe:
    """R16: the watermark of an idle input; with several columns, the slowest one applies."""
    following = least_if_all(rivals) if rivals else ABSENT
    return greatest([arrived, following])


def rivals(below: Rivals, above: Rivals) -> Rivals:
    """R16: of the joins above an input, the lowest determines which input it follows."""
    return below


def shorter(direct: Slack, first: Slack, second: Slack) -> Slack:
    """R3: one step of the closure, from a bound and a path of two bounds."""
    if first is None or second is None:
        return direct
    return first + second if direct is None else lowest(direct, first + second)


def has_passed(limit: Maybe, mark: Maybe) -> Truth:
    """R8: whether a watermark evicts a row by one of its limits."""
    return is_below(limit, mark)


def slower_of_received_and_bound(own: Maybe, bound: Maybe) -> Maybe:
    """R10: the output watermark of a column, from its own and that of its buffered rows."""
    return least_if_all([own, bound])


@dataclass(frozen=True)
class Join:
    """The time bounds in the condition of an event-time join."""

    columns: Sequence[Column]
    conjuncts: Sequence[Bound]
    facts: Sequence[Bound] = ()
    never_true: bool = False

    def of(self, side: int) -> list[int]:
        return [i for i, column in enumerate(self.columns) if column.side == side]

    def constrained(self, column: int) -> bool:
        return any(column in (b.later, b.earlier) for b in self.conjuncts)

    def certain(self, column: int) -> bool:
        """R4: whether each joined pair has a time in this column."""
        return self.constrained(column) or not self.columns[column].nullable

    @cached_property
    def slack(self) -> list[list[Slack]]:
        """R3: the closure."""
        n = range(len(self.columns))
        d: list[list[Slack]] = [[0 if i == j else None for j in n] for i in n]
        for bound in [*self.conjuncts, *self.facts]:
            now = d[bound.later][bound.earlier]
            d[bound.later][bound.earlier] = bound.slack if now is None else lowest(now, bound.slack)
        for k in filter(self.certain, n):
            for i in n:
                for j in n:
                    d[i][j] = shorter(d[i][j], d[i][k], d[k][j])
        return d

    @cached_property
    def contradictory(self) -> Truth:
        """R5: whether no pair can match."""
        cycles = [self.slack[i][i] < 0 for i in range(len(self.columns)) if self.certain(i)]
        return True if self.never_true else any_of(*cycles)

    def governing(self, column: int) -> list[int]:
        """R7: the columns of the other input whose watermarks bound this one."""
        return [
            b
            for b in self.of(1 - self.columns[column].side)
            if self.columns[b].watermarked and self.certain(b) and self.slack[column][b] is not None
        ]

    def limiting(self, side: int) -> list[int]:
        """R7: the columns of the other input that limit how long a row of the side is buffered."""
        return sorted({b for a in self.of(side) for b in self.governing(a)})

    def late(self, side: int, row: Row, watermarks: Watermarks) -> Truth:
        """R2."""
        own = [i for i in self.of(side) if self.columns[i].watermarked]
        return any_of(*[is_below(row[i], watermarks[i]) for i in own])

    def consistent(self, side: int, row: Row) -> Truth:
        """R6: whether a row satisfies the closure between its own times."""
        own = self.of(side)
        return all_of(
            *[
                implies(
                    all_of(row[i].there, row[j].there),
                    row[i].value >= row[j].value - self.slack[i][j],
                )
                for i in own
                for j in own
                if i != j and self.slack[i][j] is not None
            ]
        )

    def limit(self, side: int, row: Row, column: int) -> Maybe:
        """R7: the greatest time of a limiting column that a partner of the row can have."""
        return least(
            moved(row[a], self.slack[a][column])
            for a in self.of(side)
            if self.slack[a][column] is not None
        )

    def survives(self, side: int, row: Row, watermarks: Watermarks) -> Truth:
        """R8: whether a buffered row is not evicted."""
        return all_of(
            *[
                negate(has_passed(self.limit(side, row, b), watermarks[b]))
                for b in self.limiting(side)
            ]
        )

    def may_match(self, side: int, row: Row) -> Truth:
        """R9: whether the row can match any row; otherwise it is unmatched on arrival."""
        times = [row[i].there for i in self.of(side) if self.constrained(i)]
        return all_of(*times, negate(self.contradictory), self.consistent(side, row))

    def bound(self, column: int, watermarks: Watermarks) -> Maybe:
        """R10: the lower bound of a buffered row's value in a column."""
        return greatest(
            moved(watermarks[b], -self.slack[column][b]) for b in self.governing(column)
        )

    def output_watermark(self, column: int, watermarks: Watermarks) -> Maybe:
        """R10."""
        own = watermarks[column]
        buffered = self.bound(column, watermarks)
        return select(self.contradictory, own, slower_of_received_and_bound(own, buffered))

    def output_facts(self, kind: JoinType) -> list[Bound]:
        """R11: bounds between columns of the output, if both are present."""
        kept = self.of(LEFT) if kind.left_only else range(len(self.columns))
        found: list[Bound] = []
        for i in kept:
            for j in kept:
                same_side = self.columns[i].side == self.columns[j].side
                if i == j:
                    continue
                if same_side and self.columns[i].side in kind.preserved:
                    found += [f for f in self.facts if (f.later, f.earlier) == (i, j)]
                elif self.slack[i][j] is not None:
                    found.append(Bound(i, j, self.slack[i][j]))
        return found

    def nullable_in_output(self, column: int, kind: JoinType) -> bool:
        """R12."""
        side, _, nullable = self.columns[column]
        own = nullable and (not self.constrained(column) or side in kind.preserved)
        return own or (1 - side) in kind.preserved

    def pairs(self, pair: Row) -> Truth:
        """Whether the conjuncts hold for a pair; a comparison with NULL does not."""
        return all_of(
            *[
                all_of(
                    pair[b.later].there,
                    pair[b.earlier].there,
                    pair[b.later].value >= pair[b.earlier].value - b.slack,
                )
                for b in self.conjuncts
            ],
            not self.never_true,
        )

    def arrives(self, side: int, row: Row) -> Truth:
        """Whether the input can contain the row: facts hold, and only nullable columns are NULL."""
        own = self.of(side)
        return all_of(
            *[row[i].there for i in own if not self.columns[i].nullable],
            *[
                implies(
                    all_of(row[f.later].there, row[f.earlier].there),
                    row[f.later].value >= row[f.earlier].value - f.slack,
                )
                for f in self.facts
                if f.later in own
            ],
        )


class MicroBatch(NamedTuple):
    """R13: the watermarks of a batch: those before it and those at its end."""

    before: Watermarks
    now: Watermarks

    @property
    def late(self) -> Watermarks:
        return self.before

    @property
    def buffered_first(self) -> Watermarks:
        """The watermarks that a row of the input read first must survive."""
        return self.before

    @property
    def buffered_second(self) -> Watermarks:
        return self.now

    @property
    def evicted(self) -> Watermarks:
        return self.now


class Plans:
    """R18: the watermark of a computed time."""

    @staticmethod
    def union(inputs: Sequence[Maybe]) -> Maybe:
        return least_if_all(inputs)

    @staticmethod
    def greatest(inputs: Sequence[Maybe]) -> Maybe:
        """Of several times that a row has."""
        return greatest(inputs)

    @staticmethod
    def shifted(watermark: Maybe, distance: Term) -> Maybe:
        """Of a time at a constant distance from another."""
        return moved(watermark, distance)

    @staticmethod
    def window(watermark: Maybe) -> Maybe:
        """Of the end of the window of a time, which is later than the time."""
        return moved(watermark, 1)


class Partners(NamedTuple):
    """A governing column: its slack, its watermark, and the least buffered time."""

    slack: Term
    to_come: Maybe
    buffered: Maybe


def remaining(
    promised: Maybe,
    to_come: Maybe,
    buffered: Maybe,
    unmatched: Maybe,
    preserved: bool,
    governing: Sequence[Partners],
) -> Maybe:
    """R19: a lower bound of the times that a join can still emit, from its buffered rows.

    In ``buffered`` and ``unmatched``, absent means that there are no such rows.
    """
    beside_new = greatest(moved(p.to_come, -p.slack) for p in governing)
    beside_any = greatest(
        moved(
            Maybe(
                p.to_come.there,
                choose(
                    p.buffered.there, lowest(p.to_come.value, p.buffered.value), p.to_come.value
                ),
            ),
            -p.slack,
        )
        for p in governing
    )
    once_more = Maybe(buffered.there, greatest([buffered, beside_new]).value)
    of_buffered = least([unmatched, once_more])
    of_new = to_come if preserved else greatest([to_come, beside_any])
    both = Maybe(of_new.there, least([of_buffered, of_new]).value)
    return greatest([promised, both])


def comes_out(time: Term, before: Maybe, now: Maybe, tied: bool) -> Truth:
    """R20: whether an ordered output emits a row, arriving or buffered."""
    reached = Maybe(now.there, now.value + (0 if tied else 1))
    return all_of(negate(is_below(known(time), before)), is_below(known(time), reached))


@dataclass(frozen=True)
class AsOf:
    """The times of an as-of join: candidates are from `probe - tolerance` to `probe + reach`."""

    reach: Term
    tolerance: Term | None

    def due(self, probes: bool, time: Term) -> Term:
        return time + self.reach if probes else time

    def limit(self, probe: Maybe, build: Maybe) -> Maybe:
        """R21: all rows of both sides that are due below it have arrived."""
        return least_if_all([moved(probe, self.reach), build])

    def is_due(self, probes: bool, time: Term, limit: Maybe) -> Truth:
        """R21: whether a row is joined."""
        return is_below(known(self.due(probes, time)), limit)

    def precedes(self, probe: Term, build: Term) -> Truth:
        """R22: whether a build row is a candidate for the latest row."""
        return build <= probe + self.reach

    def recent(self, probe: Term, build: Term) -> Truth:
        return True if self.tolerance is None else build >= probe - self.tolerance

    def expired(self, build: Term, limit: Maybe) -> Truth:
        """R23: whether the latest build row of a key is too old for every later probe row."""
        if self.tolerance is None:
            return False
        return is_below(known(build + self.tolerance + self.reach), limit)

    def probe_watermark(self, probe: Maybe, build: Maybe) -> Maybe:
        """R24."""
        return moved(self.limit(probe, build), -self.reach)

    def build_watermark(self, probe: Maybe, build: Maybe) -> Maybe:
        """R24: for the build row's time in the output."""
        if self.tolerance is None:
            return ABSENT
        return moved(self.limit(probe, build), -self.reach - self.tolerance)


def shift_and_reach(before: Term, after: Term) -> tuple[Term, Term]:
    """R31: the greatest distance between partners after the shift of right times."""
    shift = (after - before) / 2 if z3.is_expr(after) else (after - before) // 2
    return shift, after - shift


def neighbour(within: Term, reach: Term, width: Term) -> Term:
    """R31: the bucket next to a row's own, to which it is replicated; `within` is its offset."""
    return choose(within < reach, -1, choose(within >= width - reach, 1, 0))
