"""What the doctor reads from the text of a plan, if there is no state to inspect."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest

from streamjoin._diagnosis.diagnose import diagnose
from streamjoin._diagnosis.known import Known
from streamjoin._diagnosis.plan import SOME_TIME, NextEnd, Plan, read
from streamjoin._diagnosis.triggers import said
from streamjoin._progress import reports
from streamjoin._zones import zone
from tests.doctor.test_diagnose import report

HOUR, DAY = 3_600_000, 86_400_000

WINDOW = (
    "precisetimestampconversion(((precisetimestampconversion(ot#1-T60000ms, TimestampType, "
    "LongType) - CASE WHEN (((precisetimestampconversion(ot#1-T60000ms, TimestampType, LongType) "
    "- 0) % 86400000000) < 0) THEN 0 END) - 0) + 86400000000), LongType, TimestampType)"
)

# As Spark 4.2 prints a window above a join with a filter on one input.
PLAN = f"""
== Physical Plan ==
WriteToDataSourceV2 MicroBatchWrite[epoch: 2, writer: NoopStreamingWrite]
+- StateStoreSave [window#14-T60000ms], state info [ checkpoint = file:/x, opId = 0 ], Append
   +- *(3) Project [named_struct(start, {WINDOW}) AS window#14-T60000ms]
      +- *(3) Filter (concat(id#67, id#70) = aa)
         +- StreamJoin LEFT OUTER, hash by [o.id] = [d.id], d.dt from o.ot - 90 minutes to o.ot
            :  :- watermark of ot: the latest ot seen - 1 minute
            :  :- watermark of dt: the latest dt seen; a time more than 10 minutes ahead of its \
batch does not advance it, and its row is dropped
            :  :- condition (o.id = d.id): equality
            :  :- condition (d.dt >= o.ot + INTERVAL '-01:30' HOUR): bound d.dt >= o.ot - 1 hour \
30 minutes
            :  :- condition (d.dt <= o.ot): added by the retention, bound o.ot >= d.dt
            :  :- condition (d.kind = 'x'): filter on rows of d, before they are buffered
            :  :- condition (o.a > d.b): no bound: it compares no event times of both inputs
            :  :- a row of o is buffered until the latest d.dt seen passes o.ot; if it has not \
matched
            :  :- a row of d is buffered until the latest o.ot seen passes d.dt + 1 hour 30 minutes
            :  :- output watermark of o.ot: the latest o.ot seen - 1 minute, or if that is less, \
the latest d.dt seen
            :  :- output watermark of d.dt: the latest d.dt seen, or if that is less, the latest \
o.ot seen - 1 hour 31 minutes
            :  +- lag of dt: 0 seconds would have accepted all of 15 rows; now 1 minute
            :- StreamExchange hashpartitioning(id#67, 1)
            :  +- *(1) StreamJoinInput
            :     +- ImposeOrder latest ot - 1 minute
            :        +- FileScan json [id#67,ot#68] Batched: false
            +- StreamExchange hashpartitioning(id#70, 1)
               +- *(2) StreamJoinInput
                  +- *(2) Filter ((isnotnull(id#70) OR isnull(dt#71-T60000ms)) AND (kind#7 = x))
                     +- LocalTableScan <empty>, [id#70, dt#71]
"""


def test_plan_yields_the_join_description_of_the_state() -> None:
    (join,) = read(PLAN).joins
    assert join.described == {
        "joinType": "LEFT OUTER",
        "keys": ["o.id = d.id"],
        "changelog": False,
        "contradiction": False,
        "bounds": [
            {"later": "d.dt", "earlier": "o.ot", "slack": 90 * 60_000},
            {"later": "o.ot", "earlier": "d.dt", "slack": 0},
        ],
        "times": {"left": {"o.ot": SOME_TIME}, "right": {"d.dt": SOME_TIME}},
        "aliases": {"left": "o", "right": "d"},
        "lookup": {"left": "o.ot", "right": "d.dt"},
    }
    assert join.retention
    assert not join.emits_late
    assert join.filters("right") == ["(d.kind = 'x')"]
    assert join.filters("left") == []
    # Spark omits the plan below an empty input.
    assert join.below["right"] is None
    assert join.below["left"] == [
        "StreamExchange hashpartitioning(id, 1)",
        "StreamJoinInput",
        "ImposeOrder latest ot - 1 minute",
        "FileScan json [id,ot] Batched: false",
    ]


def test_plan_yields_filters_and_window_ends_above_the_join() -> None:
    plan = read(PLAN)
    assert plan.fewer_above == ["Filter (concat(id, id) = aa)"]
    assert [plan.next_end(at) for at in (0, DAY - 1, DAY, 5 * DAY + HOUR)] == [
        NextEnd(DAY, 0),
        NextEnd(DAY, 0),
        NextEnd(2 * DAY, 0),
        NextEnd(6 * DAY, 0),
    ]


def test_window_end_includes_the_delay_of_the_output_watermark() -> None:
    """A window over d.dt, which rows of o delay by the hour and a half of the condition."""
    held = 90 * 60_000
    of_deliveries = read(PLAN.replace(WINDOW, WINDOW.replace("ot#1", "dt#1")))
    assert of_deliveries.next_end(DAY) == NextEnd(DAY, held)
    assert of_deliveries.next_end(DAY + held) == NextEnd(2 * DAY, held)
    (join,) = of_deliveries.joins
    assert [join.held_back(column) for column in ("ot", "dt", None)] == [0, held, held]
    assert join.held_back("id") is None
    # A line that cannot be parsed yields no result.
    other = PLAN.replace("output watermark of o.ot: the latest", "output watermark of o.ot: none")
    assert read(other).next_end(DAY) is None


def test_delays_of_output_watermarks_add_up_in_a_chain() -> None:
    top = """
== Physical Plan ==
+- StateStoreSave [window#14]
   +- Project [named_struct(start, WINDOW) AS window#14]
      +- StreamJoin LEFT OUTER, hash by [d.id] = [r.id], r.rt from d.dt to d.dt + 2 hours
         :  :- watermark of ot: the latest ot seen - 1 minute
         :  :- watermark of dt: the latest dt seen
         :  :- watermark of rt: the latest rt seen - 2 minutes
         :  :- output watermark of o.ot: the watermark of o.ot, or if that is less, the latest \
r.rt seen - 3 hours 2 minutes
         :  +- output watermark of r.rt: the latest r.rt seen - 2 minutes, or if that is less, the \
largest of the watermark of o.ot - 5 minutes, the watermark of d.dt - 1 hour
         :- StreamJoin LEFT OUTER, hash by [o.id] = [d.id], d.dt from o.ot to o.ot + 1 hour
         :  :  :- watermark of ot: the latest ot seen - 1 minute
         :  :  :- watermark of dt: the latest dt seen
         :  :  +- output watermark of o.ot: the latest o.ot seen - 1 minute, or if that is less, \
the latest d.dt seen - 1 hour
         :  :- Exchange hashpartitioning(id#1, 1)
         :  +- Exchange hashpartitioning(id#2, 1)
         +- Exchange hashpartitioning(id#3, 1)
""".replace("WINDOW", WINDOW)
    plan = read(top)
    assert plan.next_end(0) == NextEnd(0, 4 * HOUR)
    assert plan.joins[0].held_back("rt") == 5 * 60_000


def test_plan_shows_whether_max_ahead_keeps_rows() -> None:
    (join,) = read(PLAN).joins
    kept = PLAN.replace(", and its row is dropped", "").replace("10 minutes ahead", "0.5 s ahead")
    (keeps,) = read(kept).joins
    assert not join.keeps_ahead("d.dt")
    assert keeps.keeps_ahead("d.dt")
    assert not keeps.keeps_ahead("o.ot")


def test_plan_of_a_chain_on_numeric_times() -> None:
    """The top join comes first. Times of its left input include those of the join below."""
    chain = """
== Physical Plan ==
+- StreamJoin INNER, hash by [r.id] = [o.id], r.t from d.t to d.t + 100
   :  :- watermark of o.t: the largest o.t seen - 5
   :  :- watermark of d.t: the largest d.t seen
   :  :- watermark of r.t: the largest r.t seen
   :  :- condition (r.t >= d.t): bound r.t >= d.t
   :  :- condition (r.t <= d.t + 100): bound d.t >= r.t - 100
   :  :- known from the joins below: o.t >= d.t - 10
   :  :- a row of the left input is buffered until the largest r.t seen passes d.t + 100
   :  +- a row of r is buffered until the watermark of d.t passes r.t
   :- StreamJoin INNER, hash by [o.id] = [d.id], no two rows can match
   :  :  :- a row of o is not buffered: the time bounds contradict each other
   :  :  +- a row of d is not buffered: the time bounds contradict each other
   :  :- Exchange hashpartitioning(id#1, 1)
   :  +- Exchange hashpartitioning(id#2, 1)
   +- Exchange hashpartitioning(id#3, 1)
"""
    top, below = read(chain).joins
    assert top.described["times"] == {
        "left": {"d.t": "long", "o.t": "long"},
        "right": {"r.t": "long"},
    }
    assert top.described["bounds"][1:] == [
        {"later": "d.t", "earlier": "r.t", "slack": 100},
        {"later": "o.t", "earlier": "d.t", "slack": 10},
    ]
    assert below.described["contradiction"]
    assert top.below == {"left": None, "right": ["Exchange hashpartitioning(id, 1)"]}


def test_text_without_a_join_yields_an_empty_plan() -> None:
    assert read("No physical plan. Waiting for data.") == Plan()
    assert read("").joins == ()


FILTER = "Filter ((isnotnull(id#70) OR isnull(dt#71-T60000ms)) AND (kind#7 = x))"
PART = "condition (d.kind = 'x'): filter on rows of d, before they are buffered"


def cause_of_no_rows(plan: str, how: str = "INNER") -> str:
    """The cause reported if no row of d arrives."""
    text = plan.replace("LEFT OUTER", how).replace("LocalTableScan <empty>,", "FileScan json")
    nothing = report(0, inputRowsRight=0)
    return diagnose(Known(reports([nothing]), plan=lambda: read(text))).headline.cause


def test_cause_names_the_filter_or_the_null_key() -> None:
    assert cause_of_no_rows(PLAN) == (
        "The condition passes only rows with (d.kind = 'x'), or a column of the equality is "
        "NULL in "
        "all rows."
    )
    # A full join receives and emits rows without a key.
    full = cause_of_no_rows(PLAN, "FULL OUTER")
    assert full == "The condition passes only rows with (d.kind = 'x')."
    nothing_else = PLAN.replace(PART, "condition (1 = 1): no bound")
    nulls = nothing_else.replace(FILTER, "Filter (isnotnull(id#70) OR isnull(dt#71-T60000ms))")
    assert "so a column of the equality is NULL in all rows (d.id)" in cause_of_no_rows(nulls)


@pytest.mark.parametrize(
    "part", ["isnotnull(kind#7)", "isnull(dt#71-T60000ms)", "false", "(upper(id#70) = X)"]
)
def test_other_filter_below_the_join_is_named(part: str) -> None:
    """For example, a NULL test of another column, or one that requires a NULL time."""
    other = PLAN.replace(PART, "condition (1 = 1): no bound").replace("(kind#7 = x)", part)
    assert "a filter passes only some rows: Filter " in cause_of_no_rows(other).replace(
        "A f", "a f"
    )
    assert part.partition("#")[0] in cause_of_no_rows(other)


def test_next_trigger_time_in_the_session_zone() -> None:
    now, tokyo = 1_714_818_600_000, zone("Asia/Tokyo")
    assert said(HOUR, now, tokyo) == (
        "The next batch begins with its trigger at 2024-05-04 20:00:00, in 30 minutes."
    )
    assert said(1_000, now, tokyo) == ""
    assert said(None, now, tokyo) == "The next batch begins with the next trigger."


def test_parsing_of_spark_time_zone_names() -> None:
    assert str(zone("Asia/Tokyo")) == "Asia/Tokyo"
    hours = {"+09:00": 9, "UTC-3": -3, "GMT+5:30": 5.5}
    assert [str(zone(name)) for name in hours] == list(hours)
    assert [zone(name).utcoffset(None) for name in hours] == [
        timedelta(hours=each) for each in hours.values()
    ]
    assert zone("no such zone") is timezone.utc
