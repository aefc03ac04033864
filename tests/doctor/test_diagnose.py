"""Findings that the doctor derives from progress reports alone, without a query."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamjoin._diagnosis.called import SIDES, input_name, time_name
from streamjoin._diagnosis.diagnose import diagnose
from streamjoin._diagnosis.keys import agreement
from streamjoin._diagnosis.known import Known, Waiting
from streamjoin._diagnosis.plan import read
from streamjoin._doctor import _silent
from streamjoin._progress import reports, shown_span, shown_time

DESCRIBED = {
    "operator": 0,
    "joinType": "LEFT OUTER",
    "keys": ["id = id: INT"],
    "contradiction": False,
    "bounds": [{"later": "d.dt", "earlier": "o.ot", "slack": 0}],
    "times": {"left": {"o.ot": "timestamp"}, "right": {"d.dt": "timestamp"}},
    "lookup": {"left": "o.ot", "right": "d.dt"},
}


SOME = {"inputRowsLeft": 10, "inputRowsRight": 10}


def report(batch: int, rows: int = 10, source: Any = None, **metrics: Any) -> Any:
    return {
        "batchId": batch,
        "timestamp": f"2024-05-04T10:{batch:02d}:00.000Z",
        "numInputRows": rows,
        "sources": [{"description": "a topic", "numInputRows": rows, **(source or {})}],
        "sink": {"numOutputRows": -1},
        "durationMs": {"triggerExecution": 30_000, "addBatch": 20_000},
        "stateOperators": [
            {
                "operatorName": "streamJoin",
                "customMetrics": {**SOME, "joinedRows": 0, **metrics},
            }
        ],
    }


def codes(*progress: Any, **known: Any) -> list[str]:
    seen = diagnose(Known(progress=reports(progress), described=[DESCRIBED], **known))
    return [finding.code for finding in seen.findings]


def test_query_without_a_batch_reports_its_status_or_failure() -> None:
    seen = diagnose(Known(status="Getting offsets from a topic"))
    assert "No batch has run yet: Getting offsets from a topic" in str(seen)
    assert codes(error="[X] broken\nat y") == ["FAILED"]


PYTHON = """An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
KeyError: 'first'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "job.py", line 12, in write
    raise RuntimeError("sink is down")
RuntimeError: sink is down
since noon

=== Streaming Query ===
Identifier: [id = 1]
+- ~StreamJoin LeftOuter
"""  # noqa: E501


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PYTHON, "RuntimeError: sink is down since noon (An exception was raised by the Python "),
        (
            "(STREAM_FAILED) [PYTHON_EXCEPTION] Thrown: Traceback (most recent call last):\n"
            '  File "x.py", line 1, in f\nZeroDivisionError: division by zero\n SQLSTATE: 38000\n'
            "JVM stacktrace:\norg.apache: Traceback (most recent call last):\nno cause\n",
            "ZeroDivisionError: division by zero ((STREAM_FAILED) [PYTHON_EXCEPTION] Thrown)",
        ),
        ("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n=== Streaming Query ===", "[DIVIDE"),
        ("Traceback (most recent call last):\n  File x\n", "Traceback (most recent call last):"),
    ],
)
def test_headline_shows_the_innermost_cause_of_an_error(error: str, message: str) -> None:
    seen = diagnose(Known(error=error)).headline
    assert seen.headline.startswith(f"The query has ended with an error: {message}")
    assert "Streaming Query" not in seen.headline


def test_stored_rows_are_counted_from_the_last_report() -> None:
    """On Spark Connect, the checkpoint folder of a query that has ended is unknown."""
    text = str(diagnose(Known(progress=reports([report(0, bufferedRowsLeft=2, joinedRows=1)]))))
    assert "Nothing is wrong: 2 rows of all joins are stored by its last report. " in text


def test_silent_sources_yield_no_input() -> None:
    assert codes(report(0, 0), report(1, 0), silent=3) == ["NO_INPUT"]
    assert codes(report(0, 0), silent=1) == ["HEALTHY"]
    # After earlier input, NO_INPUT is not the headline, and appears only with buffered rows.
    late = report(0, lateRowsLeft=12)
    quiet = [late, report(1, 0, bufferedRowsLeft=1)]
    assert codes(*quiet, silent=3) == ["MOSTLY_LATE", "NO_INPUT"]
    assert codes(report(0, inputRowsLeft=10), silent=3) == ["HEALTHY"]


def test_idle_reports_of_a_query_that_had_rows_are_a_note() -> None:
    """After a long idle time, Spark keeps no report of a batch, and each repeats the metrics."""
    idle = {**report(41, 0, joinedRows=500, bufferedRowsLeft=7), "durationMs": {}}
    seen = diagnose(Known(reports([idle] * 100), [DESCRIBED], silent=100))
    assert [f.code for f in seen.findings] == ["NO_INPUT"]
    assert seen.headline.severity == "note"
    assert seen.headline.headline == (
        "No source has delivered a row in the kept reports, since 2024-05-04 10:41:00."
    )
    assert codes(*[{**report(41, 0, joinedRows=500), "durationMs": {}}] * 100, silent=100) == [
        "HEALTHY"
    ]
    # Since a restart, no batch has run, so the reports have no metrics.
    restarted = {**idle, "stateOperators": []}
    assert diagnose(Known(reports([restarted] * 9), silent=9)).headline.severity == "stuck"


def test_report_without_row_sum_uses_rows_of_its_sources() -> None:
    """On Spark Connect, a report lacks the sum."""
    without_sum = {k: v for k, v in report(0).items() if k != "numInputRows"}
    assert _silent([without_sum]) == 0
    assert _silent([without_sum, report(1, 0), json.dumps(report(2, 0))]) == 2


def test_growing_backlog_is_reported_shrinking_one_is_not() -> None:
    def source(behind: int) -> dict[str, Any]:
        return {
            "latestOffset": {"t": {"0": 100 + behind, "1": 5}},
            "endOffset": {"t": {"0": 100, "1": 5}},
        }

    growing = [report(n, source=source(10 * (n + 1))) for n in range(3)]
    assert codes(*growing) == ["BACKLOG"]
    assert "30 messages of a topic are unread, 10 were unread 2 batches ago" in str(
        diagnose(Known(progress=reports(growing)))
    )
    assert codes(*(report(n, source=source(20 - 5 * n)) for n in range(3))) == ["HEALTHY"]


def test_repeated_report_of_a_batch_counts_once() -> None:
    first = report(0, inputRowsLeft=10, lateRowsLeft=6)
    assert len(reports([first, first, report(1)])) == 2


def test_trigger_without_data_does_not_count_as_a_batch() -> None:
    """Its report has the number of the next batch, whose own report comes later."""
    found_nothing = {**report(1, 0, inputRowsLeft=10), "durationMs": {"triggerExecution": 8}}
    known = reports([report(0), found_nothing, report(1, 5), {**found_nothing, "batchId": 2}])
    assert [r["numInputRows"] for r in known] == [10, 5]
    # A batch without input rows, which evicts rows, counts as a batch.
    assert len(reports([report(0), report(1, 0)])) == 2
    # Before the first batch there are only such reports.
    assert codes(*({**found_nothing, "batchId": 0} for _ in range(3)), silent=3) == ["NO_INPUT"]


def test_late_rows_without_lateness_metrics_suggest_a_longer_lag() -> None:
    late = report(0, inputRowsLeft=10, lateRowsLeft=6, **{"watermark.ot": 5})
    seen = diagnose(Known(progress=reports([late]), described=[DESCRIBED]))
    assert "6 of 10 rows of o are late; the watermark of o.ot moved to" in str(seen)
    assert "<a longer lag>" in str(seen)


def test_column_without_a_watermark_yields_watermark_stands() -> None:
    moving = [
        report(n, bufferedRowsLeft=n, inputRowsLeft=1, **{"watermark.ot": n, "lag.dt": 0})
        for n in range(5)
    ]
    assert codes(*moving) == ["WATERMARK_STANDS"]
    assert "which has none yet since batch 0" in str(
        diagnose(Known(progress=reports(moving), described=[DESCRIBED]))
    )


def test_first_limit_is_that_of_the_standing_column_of_the_join() -> None:
    """Columns `ts` of both inputs, and another join that waits for a column of that name."""
    described = {
        **DESCRIBED,
        "operator": 1,
        "times": {"left": {"o.ts": "timestamp"}, "right": {"d.ts": "timestamp"}},
        "said": {"left.ts": "o.ts", "right.ts": "d.ts"},
    }
    waiting = [
        Waiting(0, "left", "right.ts", 1, "07:00", None),
        Waiting(1, "right", "left.ts", 1, "08:00", None),
        Waiting(1, "left", "right.ts", 1, "10:00", None),
        Waiting(1, "held", None, 1, None, None),
    ]
    moving = [
        report(n, bufferedRowsLeft=n, **{"watermark.o.ts": n, "watermark.d.ts": 0})
        for n in range(5)
    ]
    seen = diagnose(Known(reports(moving), [described], waiting=lambda: waiting)).headline
    assert seen.code == "WATERMARK_STANDS"
    assert seen.figures["first goes above"] == "10:00"


def test_emitted_rows_that_miss_the_sink_are_filtered_or_held_above() -> None:
    given_out = {**report(0, joinedRows=7, nullPaddedRows=3), "sink": {"numOutputRows": 0}}
    assert codes(given_out) == ["FILTERED_ABOVE"]
    above = {"operatorName": "stateStoreSave", "customMetrics": {}}
    waits = {**given_out, "stateOperators": [above, *given_out["stateOperators"]]}
    assert codes(waits) == ["OPERATOR_ABOVE_WAITS"]


def test_window_above_names_the_earliest_closing_watermark() -> None:
    """The next window end after Spark's watermark, read from the plan."""
    above = {"operatorName": "stateStoreSave", "customMetrics": {}}
    one = report(0, joinedRows=7, nullPaddedRows=3)
    waits = {
        **one,
        "sink": {"numOutputRows": 0},
        "eventTime": {"watermark": "2024-05-04T09:10:00.000Z"},
        "stateOperators": [above, *one["stateOperators"]],
    }
    hour = 3_600_000_000
    window = f"Project [(({TIME} - 0) % {hour}), (({TIME} - 0) + {hour}), LongType, TimestampType)]"
    out = "the latest ot seen - 1 minute, or if that is less, the latest dt seen - 31 minutes"
    plan = read(
        f"+- {window}\n   +- StreamJoin INNER, hash by [o.id] = [d.id]\n"
        "      :  :- watermark of ot: the latest ot seen - 1 minute\n"
        "      :  :- watermark of dt: the latest dt seen - 1 minute\n"
        f"      :  +- output watermark of ot: {out}\n"
    )
    known = Known(reports([waits]), [DESCRIBED], plan=lambda: plan)
    seen = diagnose(known).headline
    # Rows of the join can be half an hour older than the watermark.
    assert (
        "watermark, 2024-05-04 09:10:00, to pass 2024-05-04 09:30:00 at the earliest."
        in seen.headline
    )
    assert seen.figures["next end"] == "2024-05-04 09:00:00"
    assert "Rows of the join can be 30 minutes older than that." in seen.cause


TIME = "precisetimestampconversion(ot#1-T60000ms, TimestampType, LongType)"


def test_input_without_rows_is_filtered_below_unless_its_source_is_silent() -> None:
    assert codes(report(0, inputRowsRight=0)) == ["FILTERED_BELOW"]
    below = {"operatorName": "stateStoreSave", "customMetrics": {}}
    waits = report(0, inputRowsRight=0)
    assert codes({**waits, "stateOperators": [*waits["stateOperators"], below]}) == ["HEALTHY"]
    quiet = {"description": "another", "numInputRows": 0}
    one = report(0, inputRowsRight=0)
    assert codes({**one, "sources": [*one["sources"], quiet]}) == ["HEALTHY"]


def test_matched_keys_and_times_without_output_blame_the_condition() -> None:
    met = report(
        0, inputRowsLeft=5, inputRowsRight=5, lookedIntoRows=5, keyMetRows=5, closestMiss=0
    )
    assert codes(met) == ["CONDITION_NEVER_TRUE"]


def test_numeric_watermark_is_not_compared_with_the_clock() -> None:
    numbers = {**DESCRIBED, "times": {"left": {"o.ot": "long"}, "right": {"d.dt": "long"}}}
    ahead = reports([report(0, inputRowsLeft=1, **{"watermark.ot": 10**15})])
    assert diagnose(Known(progress=ahead, described=[numbers])).headline.code == "HEALTHY"
    assert diagnose(Known(progress=ahead, described=[DESCRIBED])).headline.code == "WATERMARK_AHEAD"


def test_length_of_a_batch_in_real_time_mode_is_not_judged() -> None:
    """A batch of two hours ends two hours after the clock of its start."""
    hours, minute = 2 * 3_600_000, 60_000
    last = report(0, joinedRows=1, **{"delay.ot": 0, "watermark.ot": 1714816800000 + hours})
    last["durationMs"]["triggerExecution"] = hours + 500
    assert codes(last, length=hours, running=(1, hours + 5_000)) == ["HEALTHY"]
    assert codes(last, length=hours, running=(1, hours + minute)) == ["BATCH_RUNS_LONG"]
    last["durationMs"]["triggerExecution"] = minute
    assert codes(last) == ["WATERMARK_AHEAD"]


def test_key_sample_suggests_the_normalizing_function() -> None:
    def advice(left: list[Any], right: list[Any]) -> str:
        sample = {"left": [{"id": v} for v in left], "right": [{"id": v} for v in right]}
        return agreement({"keys": ["id = id: STRING"]}, sample).text

    assert "after trim(key) 1 of 1 agree" in advice(["a", "b"], [" a"])
    assert "after lower(key) 2 of 2 agree" in advice(["A", "B"], ["a", "b", "c"])
    assert "after ltrim('0', key) 1 of 2 agree" in advice(["007", "008"], [7, 9])
    assert advice(["x"], ["y"]).endswith("left.id 'x', right.id 'y'.")
    assert advice(["x", "y"], ["y"]) == ""


def test_inputs_and_times_use_aliases_of_the_query() -> None:
    assert [input_name(DESCRIBED, side) for side in SIDES] == ["o", "d"]
    chain = {"times": {"left": {"o.ot": "timestamp", "d.dt": "timestamp"}, "right": {}}}
    assert input_name(chain, "left") == "the left input (d, o)"
    assert input_name(chain, "right") == "the right input"
    # "right" is the default name of a side, not an alias.
    assert input_name({"times": {"right": {"right.t": "date"}}}, "right") == "the right input"
    changes = {"times": {"left": {}, "right": {"t": "date"}}, "aliases": {"left": "o"}}
    assert [input_name(changes, side) for side in SIDES] == ["o", "the right input"]
    assert time_name({"said": {"right.dt": "d.dt"}}, "right.dt") == "d.dt"
    assert time_name({}, "right.dt") == "right.dt"


def test_buffered_rows_use_display_names_of_the_query() -> None:
    described = {**DESCRIBED, "said": {"right.dt": "d.dt"}}
    waiting = [
        Waiting(0, "left", "right.dt", 3, "11:00", "10:38"),
        Waiting(1, "held", "t", 2, "12:00", None),
    ]
    text = str(diagnose(Known([report(0)], [described], waiting=lambda: waiting)))
    assert "3 rows of o wait, the first until d.dt passes 11:00 (it is at 10:38)" in text
    assert "2 rows of the order wait, the first until t passes 12:00" in text


def test_formatting_of_times_and_durations() -> None:
    assert shown_time(1714816800000) == "2024-05-04 10:00:00"
    assert shown_time(10**18) == f"{10**18} ms"
    assert [shown_span(ms) for ms in (0, 500, 61_000, -3_600_000, 8 * 86_400_000 + 3_600_001)] == [
        "0 seconds",
        "0.5 seconds",
        "1 minute 1 second",
        "-1 hour",
        "8 days 1 hour",
    ]


def advised(*progress: Any) -> Any:
    described = {
        **DESCRIBED,
        "bounds": [
            {"later": "d.dt", "earlier": "o.ot", "slack": 0},
            {"later": "o.ot", "earlier": "d.dt", "slack": 3_600_000},
        ],
    }
    return diagnose(Known(progress=reports(progress), described=[described]))


def kept_by(most: int, all_rows: int) -> Any:
    sketch = {"disorderRows.dt": 1000, "lagForMost.dt": most, "lagForAll.dt": all_rows}
    return advised(report(1, **sketch, **{"lag.dt": 60_000, "watermark.dt": 1}))


def test_lag_advice_for_99_9_percent_and_for_all_rows() -> None:
    seen = kept_by(40_000, 180_000)
    assert [(a.column, a.most, a.all, a.now, a.rows) for a in seen.lags] == [
        ("d.dt", 40_000, 180_000, 60_000, 1000)
    ]
    sentence = (
        "lag of d.dt: 40 seconds would have accepted 99.9 %, 3 minutes all of 1000 rows; "
        "now 1 minute"
    )
    assert sentence in str(seen)
    assert sentence in seen._repr_html_()


def test_lag_advice_shows_one_lag_if_both_are_equal() -> None:
    sentence = "lag of d.dt: 5 seconds would have accepted all of 1000 rows; now 1 minute"
    assert sentence in str(kept_by(5_000, 5_000))


def test_advised_lag_is_rounded_up() -> None:
    """Rounded up to two units: a shorter lag would not have accepted all rows."""
    sentence = "41 seconds would have accepted 99.9 %, 5 hours 33 minutes all of"
    assert sentence in str(kept_by(40_500, 19_940_000))
    assert "0.5 seconds would have accepted 99.9 %, 1 day 3 hours all of" in str(
        kept_by(500, 86_400_000 + 2 * 3_600_000 + 1)
    )


def test_state_size_estimate_from_bounds_and_input_rates() -> None:
    """100 orders a minute, buffered for an hour, plus a lag of one minute and a delay of ten."""
    hour, minute = 3_600_000, 60_000

    def at(n: int) -> Any:
        marks = {"watermark.ot": hour + n * minute, "watermark.dt": hour + (n - 10) * minute}
        lags = {"lag.ot": minute, "lag.dt": minute}
        rows = {"inputRowsLeft": 100, "inputRowsRight": 50, "bufferedRowsLeft": 7}
        one = report(n, **marks, **lags, **rows)
        one["stateOperators"][0].update(numRowsTotal=10, memoryUsedBytes=1_000)
        return one

    left, right = advised(*(at(n) for n in range(3))).sizes
    assert (left.input, left.kept_for, left.rows, left.held) == ("o", 71 * minute, 7_100, 7)
    assert left.size == 710_000
    assert (right.input, right.kept_for, right.rows) == ("d", 0, 0)
    assert "state of o: a row is buffered for 1 hour 11 minutes of event time" in str(left)


def test_no_advice_without_metrics() -> None:
    seen = advised(report(0))
    assert (seen.lags, seen.sizes) == ((), ())


def test_query_without_a_stream_join_yields_no_join() -> None:
    def of(*operators: str) -> Any:
        plain = report(0)
        plain["stateOperators"] = [{"operatorName": o, "customMetrics": {}} for o in operators]
        return diagnose(Known(progress=reports([plain]))).headline

    assert of("symmetricHashJoin").code == "NO_JOIN"
    assert "Its stateful operators: symmetricHashJoin." in of("symmetricHashJoin").headline
    assert "replaceBuiltin=true" in of("symmetricHashJoin").write
    assert "Its stateful operators: nothing." in of().headline
    assert of("streamOrder").code == "HEALTHY"
    # If no input arrives, NO_INPUT explains the missing output.
    empty = [{**report(n, 0), "stateOperators": []} for n in range(3)]
    seen = diagnose(Known(progress=reports(empty), silent=3))
    assert [finding.code for finding in seen.findings] == ["NO_INPUT", "NO_JOIN"]


def test_sibling_joins_are_matched_to_reports_by_their_columns() -> None:
    def described(operator: int, left: list[str], right: list[str]) -> dict[str, Any]:
        times = {
            "left": dict.fromkeys(left, "timestamp"),
            "right": dict.fromkeys(right, "timestamp"),
        }
        return {**DESCRIBED, "operator": operator, "times": times}

    def operator(*columns: str) -> dict[str, Any]:
        watermarks = {f"watermark.{column}": 0 for column in columns}
        return {"operatorName": "streamJoin", "customMetrics": {"joinedRows": 0, **watermarks}}

    beside = [
        described(0, ["o.ot"], ["d.dt"]),
        described(1, ["a.at"], ["b.bt"]),
        described(2, ["o.ot", "d.dt"], ["a.at", "b.bt"]),
    ]
    # Spark reports the top operator first, then the operators below it from the left.
    whole = {**report(0)}
    whole["stateOperators"] = [
        operator("ot", "dt", "at", "bt"),
        operator("ot", "dt"),
        operator("at", "bt"),
    ]
    known = Known(progress=reports([whole]), described=beside)
    assert [join.described["operator"] for join in known.joins] == [2, 0, 1]
    assert known.joins[1].input("left") == "o"


def test_restart_without_data_is_healthy() -> None:
    idle = {**report(2, 0), "durationMs": {"triggerExecution": 3}, "stateOperators": []}
    assert diagnose(Known(progress=reports([idle]))).headline.code == "HEALTHY"
