"""Signals of a query, each with a name and a predicate.

A cause requires some signals and excludes others: see `causes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto

from streamjoin._diagnosis import (
    changelog,
    figures,
    groups,
    inputs,
    matching,
    spark_drops,
    watermarks,
    whole_query,
)
from streamjoin._diagnosis.called import SIDES
from streamjoin._diagnosis.figures import LASTS, brought, emitted
from streamjoin._diagnosis.known import Known
from streamjoin._diagnosis.subjects import Subject
from streamjoin._progress import JOIN, ORDER, ran


class Signal(Enum):
    """A condition that holds for a subject or not."""

    # of the query
    ERROR = auto()
    NO_REPORT = auto()
    REAL_TIME = auto()
    SOURCES_EMPTY = auto()
    SOURCES_SILENT = auto()
    ROWS_HELD = auto()
    RUNS_LONG = auto()
    BEHIND = auto()
    SLOW = auto()
    NO_OPERATOR_OF_OURS = auto()
    EMITTED = auto()
    SINK_EMPTY = auto()
    HALF_DROPPED = auto()
    SOME_DROPPED = auto()
    OPERATOR_ABOVE = auto()
    ORDER_HOLDS = auto()
    ORDER_DROPS = auto()
    # of a join
    CONTRADICTORY = auto()
    JOINED = auto()
    PADDED = auto()
    LOOKED_INTO = auto()
    BOTH_PROBED = auto()
    ROWS_LOST = auto()
    KEY_MET = auto()
    SAMPLES_AGREE = auto()
    TIMES_MISS = auto()
    TIMES_FIT = auto()
    APART = auto()
    OTHER_UNIT = auto()
    # of an input
    NOTHING_ARRIVES = auto()
    NONE_PROBED = auto()
    HALF_AHEAD = auto()
    SOME_AHEAD = auto()
    HALF_NULL = auto()
    SOME_NULL = auto()
    HALF_LATE = auto()
    SOME_LATE = auto()
    # of an event time
    AHEAD_OF_CLOCK = auto()
    STANDS = auto()
    OTHERS_MOVE = auto()
    AWAITED = auto()
    GROUP_SLOW = auto()
    LAG_LONG = auto()
    INCOMPLETE = auto()
    UNMATCHED_WAIT = auto()
    # of a changelog join, and of its inputs
    CHANGES_OUT = auto()
    SIDE_NEEDED = auto()
    NOTHING_HELD = auto()
    A_SOURCE_EMPTY = auto()
    CHANGES_HALF_LATE = auto()
    HALF_STALE = auto()
    HALF_UNKNOWN = auto()
    EXPIRED = auto()
    HELD_KEYS_DIFFER = auto()
    UNMET = auto()
    GROWS = auto()


# The share of lost rows from which they are a separate finding, as in the alerts.
_SOME = 0.01


def _lost(metric: str, *, least: float) -> Callable[[Subject], bool]:
    """Check whether a metric counts at least a share of the rows of an input."""

    def seen(s: Subject) -> bool:
        lost = s.total(metric)
        return bool(lost) and lost >= least * inputs.came(s)

    return seen


def _ahead(least: float) -> Callable[[Subject], bool]:
    """Check whether `max_ahead` rejects at least a share of an input, before the join."""

    def seen(s: Subject) -> bool:
        rejected = inputs.rejected(s)
        return bool(rejected) and rejected >= least * inputs.came(s)

    return seen


def _dropped(least: float) -> Callable[[Subject], bool]:
    """Check whether an operator of Spark drops at least a share of its rows as late."""

    def seen(s: Subject) -> bool:
        dropped, rows = spark_drops.dropped(s)
        return bool(dropped) and dropped >= least * rows

    return seen


def _late(least: float) -> Callable[[Subject], bool]:
    """Check whether at least a share of the rows of a join input or ordered output is late."""

    def seen(s: Subject) -> bool:
        late, rows = watermarks.late_of(s)
        return bool(late) and late >= least * rows

    return seen


def _sources_empty(known: Known) -> bool:
    return known.silent >= LASTS and not _had_rows(known)


def _sources_silent(known: Known) -> bool:
    return known.silent >= LASTS and _had_rows(known)


def _had_rows(known: Known) -> bool:
    """Check whether a source has delivered rows, also in a batch without a kept report.

    Spark keeps the last reports. The first one is not the first of the query if it follows a batch,
    whose metrics it has.
    """
    first = known.progress[0]
    is_later = first["batchId"] > 0 and bool(first["stateOperators"])
    return is_later or any(map(figures.source_rows, known.progress))


def _rows_wait(known: Known) -> bool:
    """Check whether rows wait for a watermark; rows of changelog joins do not."""
    in_orders = any(order.last.metrics.get("heldRows", 0) for order in known.orders)
    return in_orders or any(figures.buffered(join.reported.last) for join in known.joins)


def _nothing_of_ours(known: Known) -> bool:
    # a query without a batch since its start reports no operator
    has_run = any(map(ran, known.progress))
    return has_run and not known.described and not {JOIN, ORDER}.intersection(known.operators())


def _nothing_arrives(s: Subject) -> bool:
    """Check whether an input of the lowest join receives nothing, but all sources have rows.

    Rows without a time arrive with any key. So a few of them do not exclude a filter on the others.
    """
    sources = inputs.of_sources(s)
    with_time = s.total("inputRows") - s.total("nullTimeRows")
    few = 2 * s.total("nullTimeRows") < min(sources, default=0)
    return bool(sources) and all(sources) and not with_time and few


def _rows_lost(s: Subject) -> bool:
    """Check whether an input loses a share of its rows that may include the partners."""
    sides = [replace(s, side=side) for side in SIDES]
    lost = (_lost("nullTimeRows", least=_SOME), _ahead(_SOME), _late(_SOME))
    below = [
        operator
        for each in s.known.of_spark
        if not spark_drops.is_above(operator := replace(s, operator=each))
    ]
    return any(is_lost(side) for side in sides for is_lost in lost) or any(
        map(_dropped(_SOME), below)
    )


def _both_probed(s: Subject) -> bool:
    """Check whether both sides have rows that probe: neither late nor without a time."""
    return all(
        s.total("inputRows", side) > s.total("lateRows", side) + s.total("nullTimeRows", side)
        for side in SIDES
    )


_SEEN: dict[Signal, Callable[[Subject], bool]] = {
    Signal.ERROR: lambda s: bool(s.known.error),
    Signal.NO_REPORT: lambda s: not s.known.progress,
    Signal.REAL_TIME: lambda s: s.known.length is not None,
    Signal.SOURCES_EMPTY: lambda s: _sources_empty(s.known),
    Signal.SOURCES_SILENT: lambda s: _sources_silent(s.known),
    Signal.ROWS_HELD: lambda s: _rows_wait(s.known),
    Signal.RUNS_LONG: lambda s: whole_query.runs_long(s.known),
    Signal.SLOW: lambda s: whole_query.is_slow(s.known),
    Signal.BEHIND: lambda s: bool(figures.falls_behind(s.known)),
    Signal.NO_OPERATOR_OF_OURS: lambda s: _nothing_of_ours(s.known),
    Signal.EMITTED: lambda s: emitted(s.known) > 0,
    Signal.SINK_EMPTY: lambda s: s.known.sink_rows() == 0,
    Signal.HALF_DROPPED: _dropped(0.5),
    Signal.SOME_DROPPED: _dropped(_SOME),
    Signal.OPERATOR_ABOVE: lambda s: bool(s.known.operators_above()),
    Signal.ORDER_HOLDS: lambda s: any(o.last.metrics.get("heldRows", 0) for o in s.orders),
    Signal.ORDER_DROPS: lambda s: any(o.total("lateRows") for o in s.orders),
    Signal.CONTRADICTORY: lambda s: bool(s.of_join.described.get("contradiction")),
    Signal.JOINED: lambda s: s.total("joinedRows", "") > 0,
    Signal.PADDED: lambda s: s.total("nullPaddedRows", "") > 0,
    Signal.LOOKED_INTO: lambda s: s.total("lookedIntoRows", "") > 0,
    Signal.BOTH_PROBED: _both_probed,
    Signal.ROWS_LOST: _rows_lost,
    Signal.KEY_MET: lambda s: s.total("keyMetRows", "") > 0,
    Signal.SAMPLES_AGREE: lambda s: matching.sampled(s).explains,
    Signal.TIMES_MISS: lambda s: bool(matching.closest_miss(s)),
    Signal.TIMES_FIT: lambda s: matching.closest_miss(s) == 0,
    Signal.APART: lambda s: bool(matching.apart(s.of_join)),
    Signal.OTHER_UNIT: lambda s: matching.other_unit(s.of_join) is not None,
    Signal.NOTHING_ARRIVES: _nothing_arrives,
    Signal.NONE_PROBED: matching.none_probed,
    Signal.HALF_AHEAD: _ahead(0.5),
    Signal.SOME_AHEAD: _ahead(_SOME),
    Signal.HALF_NULL: _lost("nullTimeRows", least=0.5),
    Signal.SOME_NULL: _lost("nullTimeRows", least=_SOME),
    Signal.HALF_LATE: _late(0.5),
    Signal.SOME_LATE: lambda s: _late(_SOME)(s) and not watermarks.emits_late(s),
    Signal.AHEAD_OF_CLOCK: lambda s: bool(watermarks.beyond_the_clock(s)),
    Signal.STANDS: lambda s: len(watermarks.standing(s)) > LASTS,
    Signal.OTHERS_MOVE: watermarks.others_move,
    Signal.AWAITED: lambda s: figures.waiting_for(s.of_join, watermarks.idle_side(s)) > 0,
    Signal.GROUP_SLOW: lambda s: groups.slowest(s) is not None,
    Signal.LAG_LONG: watermarks.lag_is_long,
    Signal.INCOMPLETE: lambda s: s.time in s.last.of("completeFrom"),
    Signal.UNMATCHED_WAIT: watermarks.unmatched_wait,
    Signal.CHANGES_OUT: lambda s: s.total("changesOut", "") > 0,
    Signal.SIDE_NEEDED: changelog.is_needed,
    Signal.NOTHING_HELD: lambda s: not s.total("inputRows") and not changelog.held(s)[-1],
    Signal.A_SOURCE_EMPTY: lambda s: not all(brought(s.known)),
    Signal.CHANGES_HALF_LATE: lambda s: changelog.is_half(s, "lateRows"),
    Signal.HALF_STALE: lambda s: changelog.is_half(s, "staleRows"),
    Signal.HALF_UNKNOWN: lambda s: changelog.is_half(s, "unknownRetractions"),
    Signal.EXPIRED: lambda s: s.total("expiredRows") > 0,
    Signal.HELD_KEYS_DIFFER: changelog.held_keys_differ,
    Signal.UNMET: changelog.unmet,
    Signal.GROWS: changelog.grows,
}


def seen(signal: Signal, subject: Subject) -> bool:
    return _SEEN[signal](subject)
