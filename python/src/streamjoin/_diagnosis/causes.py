"""The table of causes: their signals, the causes that take precedence, and their rank.

A subject has a cause if all signals in `seen` are present, and none in `unseen`. A cause in
`yields` that was found for the same join and input takes precedence, as it explains this one. The
findings have the order of the table, so the first finding is the headline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from streamjoin._diagnosis import (
    above,
    changelog,
    groups,
    inputs,
    matching,
    spark_drops,
    watermarks,
    whole_query,
)
from streamjoin._diagnosis.findings import Finding, Severity
from streamjoin._diagnosis.signals import Signal
from streamjoin._diagnosis.subjects import Scope, Subject


@dataclass(frozen=True)
class Cause:
    """One row of the table.

    `seen` is evaluated from left to right, so a signal that needs a Spark job is last.
    """

    code: str
    severity: Severity
    scope: Scope
    say: Callable[[Subject], Finding]
    seen: tuple[Signal, ...]
    unseen: tuple[Signal, ...] = ()
    yields: tuple[str, ...] = ()


# Rows of an input do not arrive or cannot match. This explains other causes that need its rows.
_NO_ROWS = ("REJECTED_AHEAD", "FILTERED_BELOW", "NULL_TIMES")

# Times or watermarks are wrong, or stand: the distance of the inputs follows from that.
_WRONG_MARKS = ("OTHER_UNIT", "WATERMARK_AHEAD", "WATERMARK_STANDS", "MOSTLY_LATE")

_STUCK, _LOSES, _NOTE = Severity.STUCK, Severity.LOSES, Severity.NOTE
S = Signal
_QUERY, _JOIN, _INPUT, _TIME = Scope.QUERY, Scope.JOIN, Scope.INPUT, Scope.TIME
_ORDER, _CHANGELOG, _CHANGES = Scope.ORDER, Scope.CHANGELOG, Scope.CHANGES
_SPARK = Scope.SPARK

# fmt: off
CAUSES: tuple[Cause, ...] = (
    # ---- the query itself ----
    Cause("FAILED", _STUCK, _QUERY, whole_query.failed,
          seen=(S.ERROR,)),
    Cause("NO_BATCH", _STUCK, _QUERY, whole_query.no_batch,
          seen=(S.NO_REPORT,), unseen=(S.ERROR, S.REAL_TIME)),
    Cause("NO_BATCH", _NOTE, _QUERY, whole_query.first_batch_runs,
          seen=(S.NO_REPORT, S.REAL_TIME), unseen=(S.ERROR,)),
    Cause("BATCH_RUNS_LONG", _STUCK, _QUERY, whole_query.batch_runs_long,
          seen=(S.RUNS_LONG,)),
    Cause("CONTRADICTION", _STUCK, _JOIN, matching.contradictory,
          seen=(S.CONTRADICTORY,)),
    Cause("NO_INPUT", _STUCK, _QUERY, whole_query.never_any_input,
          seen=(S.SOURCES_EMPTY,)),
    # ---- rows that do not arrive, or whose times are wrong ----
    Cause("REJECTED_AHEAD", _STUCK, _INPUT, inputs.rejects_all,
          seen=(S.HALF_AHEAD,)),
    Cause("FILTERED_BELOW", _STUCK, _INPUT, inputs.filtered_below,
          seen=(S.NOTHING_ARRIVES,), yields=("REJECTED_AHEAD",)),
    Cause("NULL_TIMES", _STUCK, _INPUT, inputs.null_times,
          seen=(S.HALF_NULL,)),
    Cause("OTHER_UNIT", _STUCK, _JOIN, matching.unit_differs,
          seen=(S.OTHER_UNIT,), unseen=(S.JOINED,)),
    Cause("WATERMARK_AHEAD", _STUCK, _TIME, watermarks.ahead,
          seen=(S.AHEAD_OF_CLOCK,), yields=("OTHER_UNIT",)),
    Cause("MOSTLY_LATE", _LOSES, _INPUT, watermarks.mostly_late,
          seen=(S.HALF_LATE,)),
    # ---- rows that wait for a watermark ----
    Cause("SLOW_GROUP", _NOTE, _TIME, groups.slow,
          seen=(S.GROUP_SLOW,), yields=("OTHER_UNIT", "WATERMARK_AHEAD")),
    Cause("WATERMARK_STANDS", _STUCK, _TIME, watermarks.stands,
          seen=(S.STANDS, S.OTHERS_MOVE, S.AWAITED), unseen=(S.GROUP_SLOW,),
          yields=(*_NO_ROWS, "OTHER_UNIT", "WATERMARK_AHEAD")),
    Cause("LONG_LAG", _STUCK, _TIME, watermarks.long_lag,
          seen=(S.LAG_LONG, S.UNMATCHED_WAIT), unseen=(S.PADDED,),
          yields=("OTHER_UNIT", "WATERMARK_AHEAD")),
    # ---- rows that do not match ----
    Cause("NO_KEY_MET", _STUCK, _INPUT, matching.keys_are_null,
          seen=(S.NONE_PROBED,), unseen=(S.JOINED, S.KEY_MET, S.CONTRADICTORY)),
    Cause("NO_KEY_MET", _STUCK, _JOIN, matching.no_key_met,
          seen=(S.LOOKED_INTO, S.BOTH_PROBED, S.SAMPLES_AGREE), unseen=(S.JOINED, S.KEY_MET),
          yields=("NO_KEY_MET",)),
    Cause("TIMES_NEVER_MEET", _STUCK, _JOIN, matching.times_never_meet,
          seen=(S.LOOKED_INTO, S.BOTH_PROBED, S.APART), unseen=(S.JOINED, S.KEY_MET),
          yields=(*_NO_ROWS, *_WRONG_MARKS, "NO_KEY_MET")),
    Cause("NO_KEY_MET", _STUCK, _JOIN, matching.no_key_met,
          seen=(S.LOOKED_INTO, S.BOTH_PROBED),
          unseen=(S.JOINED, S.KEY_MET, S.APART, S.ROWS_LOST),
          yields=(*_NO_ROWS, "NO_KEY_MET", "OTHER_UNIT")),
    Cause("TIMES_NEVER_MEET", _STUCK, _JOIN, matching.times_never_meet,
          seen=(S.KEY_MET, S.TIMES_MISS), unseen=(S.JOINED,)),
    Cause("CONDITION_NEVER_TRUE", _STUCK, _JOIN, matching.condition_never_true,
          seen=(S.KEY_MET, S.TIMES_FIT), unseen=(S.JOINED,)),
    # ---- changelog joins ----
    Cause("MOSTLY_LATE", _LOSES, _CHANGES, changelog.mostly_late,
          seen=(S.CHANGES_HALF_LATE,)),
    Cause("MOSTLY_STALE", _LOSES, _CHANGES, changelog.mostly_stale,
          seen=(S.HALF_STALE,)),
    Cause("UNKNOWN_RETRACTIONS", _LOSES, _CHANGES, changelog.unknown_retractions,
          seen=(S.HALF_UNKNOWN,)),
    Cause("NO_INPUT", _STUCK, _CHANGES, changelog.empty_source,
          seen=(S.SIDE_NEEDED, S.NOTHING_HELD, S.A_SOURCE_EMPTY), unseen=(S.CHANGES_OUT,)),
    Cause("FILTERED_BELOW", _STUCK, _CHANGES, changelog.filtered_below,
          seen=(S.SIDE_NEEDED, S.NOTHING_HELD), unseen=(S.CHANGES_OUT, S.A_SOURCE_EMPTY)),
    Cause("NO_KEY_MET", _STUCK, _CHANGELOG, changelog.no_key_met,
          seen=(S.HELD_KEYS_DIFFER, S.SAMPLES_AGREE)),
    Cause("EXPIRED_UNMET", _STUCK, _CHANGES, changelog.expired_unmet,
          seen=(S.EXPIRED, S.UNMET)),
    Cause("NO_KEY_MET", _STUCK, _CHANGELOG, changelog.no_key_met,
          seen=(S.HELD_KEYS_DIFFER,), yields=("NO_KEY_MET", "EXPIRED_UNMET")),
    Cause("STATE_GROWS", _LOSES, _CHANGES, changelog.state_grows,
          seen=(S.GROWS,)),
    # ---- operators above the topmost join ----
    Cause("MOSTLY_LATE", _LOSES, _ORDER, watermarks.late_in_order,
          seen=(S.HALF_LATE,)),
    Cause("MOSTLY_LATE", _LOSES, _SPARK, spark_drops.mostly_late,
          seen=(S.HALF_DROPPED,)),
    Cause("ORDER_HOLDS", _STUCK, _ORDER, above.order_holds,
          seen=(S.ORDER_HOLDS, S.SINK_EMPTY)),
    Cause("OPERATOR_ABOVE_WAITS", _STUCK, _QUERY, above.aggregation_waits,
          seen=(S.EMITTED, S.SINK_EMPTY, S.OPERATOR_ABOVE), yields=("ORDER_HOLDS",)),
    Cause("FILTERED_ABOVE", _STUCK, _QUERY, above.filtered_above,
          seen=(S.EMITTED, S.SINK_EMPTY), unseen=(S.OPERATOR_ABOVE, S.ORDER_HOLDS, S.ORDER_DROPS)),
    Cause("BACKLOG", _LOSES, _QUERY, whole_query.backlog,
          seen=(S.BEHIND,)),
    Cause("SLOW_BATCHES", _NOTE, _QUERY, whole_query.slow_batches,
          seen=(S.SLOW,)),
    # ---- rows that are lost while others are emitted ----
    Cause("AHEAD_ROWS", _LOSES, _INPUT, inputs.rejects_some,
          seen=(S.SOME_AHEAD,), unseen=(S.HALF_AHEAD,)),
    Cause("NULL_TIME_ROWS", _LOSES, _INPUT, inputs.some_null_times,
          seen=(S.SOME_NULL,), unseen=(S.HALF_NULL,)),
    Cause("LATE_ROWS", _LOSES, _INPUT, watermarks.some_late,
          seen=(S.SOME_LATE,), unseen=(S.HALF_LATE,)),
    Cause("LATE_ROWS", _LOSES, _CHANGES, changelog.some_late,
          seen=(S.SOME_LATE,), unseen=(S.CHANGES_HALF_LATE,)),
    Cause("LATE_ROWS", _LOSES, _ORDER, watermarks.late_in_order,
          seen=(S.SOME_LATE,), unseen=(S.HALF_LATE,)),
    Cause("LATE_ROWS", _LOSES, _SPARK, spark_drops.some_late,
          seen=(S.SOME_DROPPED,), unseen=(S.HALF_DROPPED,)),
    Cause("INCOMPLETE", _LOSES, _TIME, watermarks.incomplete,
          seen=(S.INCOMPLETE,)),
    # partners of lost rows find no key, so lost rows take precedence
    Cause("NO_KEY_MET", _STUCK, _JOIN, matching.no_key_met,
          seen=(S.LOOKED_INTO, S.BOTH_PROBED), unseen=(S.JOINED, S.KEY_MET, S.APART),
          yields=(*_NO_ROWS, "NO_KEY_MET", "OTHER_UNIT", "MOSTLY_LATE")),
    Cause("NO_INPUT", _NOTE, _QUERY, whole_query.no_input_lately,
          seen=(S.SOURCES_SILENT, S.ROWS_HELD)),
    Cause("NO_JOIN", _NOTE, _QUERY, whole_query.no_join,
          seen=(S.NO_OPERATOR_OF_OURS,)),
)
# fmt: on
