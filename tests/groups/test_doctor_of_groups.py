"""What the doctor says of groups, from progress reports alone."""

from __future__ import annotations

from typing import Any

from streamjoin._diagnosis.diagnose import diagnose
from streamjoin._diagnosis.findings import Diagnosis
from streamjoin._diagnosis.known import Known
from streamjoin._progress import reports
from streamjoin._watch import render

HOUR = 3_600_000
NOON = 1_714_824_000_000

DESCRIBED = {
    "operator": 0,
    "joinType": "LEFT OUTER",
    "keys": ["id = id: INT"],
    "contradiction": False,
    "bounds": [{"later": "d.dt", "earlier": "o.ot", "slack": 0}],
    "times": {"left": {"o.ot": "timestamp"}, "right": {"d.dt": "timestamp"}},
    "lookup": {"left": "o.ot", "right": "d.dt"},
}


def progress(metrics: dict[str, int], source: dict[str, Any] | None = None) -> list[Any]:
    """Five equal batches after noon."""
    always = {"inputRowsLeft": 100, "inputRowsRight": 100, "joinedRows": 50}
    return [
        {
            "batchId": batch,
            "timestamp": f"2024-05-04T12:{batch:02d}:00.000Z",
            "numInputRows": 100,
            "sources": [{"description": "a topic", "numInputRows": 100, **(source or {})}],
            "sink": {"numOutputRows": -1},
            "durationMs": {"triggerExecution": 30_000, "addBatch": 20_000},
            "stateOperators": [
                {
                    "operatorName": "streamJoin",
                    "customMetrics": {**always, "watermark.dt": NOON + batch, **metrics},
                }
            ],
        }
        for batch in range(5)
    ]


def diagnosed(metrics: dict[str, int], source: dict[str, Any] | None = None) -> Diagnosis:
    return diagnose(Known(progress=reports(progress(metrics, source)), described=[DESCRIBED]))


def groups(slow: int | None, silent: int, spread: int) -> dict[str, int]:
    metrics = {
        "watermark.ot": NOON - spread,
        "groups.ot": 12,
        "groupSpread.ot": spread,
        "groupSilent.ot.orders, 7": silent,
        "groupSilent.ot.orders, 3": 0,
        "groupWatermark.ot.orders, 3": NOON,
        "bufferedRowsLeft": 1_200_000,
    }
    return metrics if slow is None else {**metrics, "groupWatermark.ot.orders, 7": slow}


def test_partition_that_is_hours_behind_is_named_with_the_buffered_rows() -> None:
    seen = diagnosed(groups(NOON - 3 * HOUR, silent=60_000, spread=3 * HOUR))
    assert [finding.code for finding in seen.findings] == ["SLOW_GROUP"]
    assert seen.headline.headline == (
        "Of 12 groups of o.ot, (orders, 7) is 3 hours behind the fastest; its last row was 1 "
        "minute ago. It holds back the watermark, and 1200000 rows are buffered."
    )
    assert 'imposeOrder("ot", ..., idle_timeout="1 hour")' in seen.headline.write


def test_listed_partition_without_a_row_is_named() -> None:
    seen = diagnosed(groups(None, silent=2 * HOUR, spread=0))
    assert seen.headline.code == "SLOW_GROUP"
    assert "(orders, 7) has had no row for 2 hours" in seen.headline.headline


def test_groups_that_are_close_together_are_no_finding() -> None:
    seen = diagnosed(groups(NOON - 60_000, silent=0, spread=60_000))
    assert "SLOW_GROUP" not in [finding.code for finding in seen.findings]


def test_late_rows_of_a_topic_recommend_per() -> None:
    topic = {
        "endOffset": {"orders": {"0": 900, "1": 100}},
        "latestOffset": {"orders": {"0": 900, "1": 900}},
    }
    late = {"lateRowsLeft": 10, "latestBy.ot": HOUR, "lag.ot": 60_000, "watermark.ot": NOON}
    seen = diagnosed(late, topic)
    assert seen.headline.code == "LATE_ROWS"
    assert seen.headline.write.startswith(
        "The query reads 2 partitions of topics; partition 1 of topic orders has 800 unread rows. "
        'imposeOrder("ot", ..., per=["topic", "partition"]) gives each its own watermark'
    )
    assert "per=" not in diagnosed(late).headline.write
    assert "per=" not in diagnosed({**late, "groups.ot": 2}, topic).headline.write


def test_partition_that_returned_with_late_rows_is_named() -> None:
    """Partition 1 has no row in the batches 1 and 2, then 700 rows in batch 3, of which 10 late."""
    ends = [(100, 100), (500, 100), (900, 100), (1300, 800), (1700, 900)]
    batches = progress({"latestBy.ot": HOUR, "lag.ot": 60_000, "watermark.ot": NOON})
    before = (0, 0)
    for batch, end in zip(batches, ends, strict=True):
        batch["sources"] = [
            {
                "description": "a topic",
                "numInputRows": 100,
                "startOffset": {"orders": {"0": before[0], "1": before[1]}},
                "endOffset": {"orders": {"0": end[0], "1": end[1]}},
                "latestOffset": {"orders": {"0": 2000, "1": 1900}},
            }
        ]
        before = end
    batches[3]["stateOperators"][0]["customMetrics"]["lateRowsLeft"] = 10
    seen = diagnose(Known(progress=reports(batches), described=[DESCRIBED]))
    assert seen.headline.code == "LATE_ROWS"
    assert seen.headline.write.startswith(
        "The query reads 2 partitions of topics; late rows arrived with 700 rows of partition 1 of "
        'topic orders, which had none before. imposeOrder("ot", ..., per=["topic", "partition"])'
    )


def test_late_rows_of_an_ordered_output_recommend_per() -> None:
    topic = {"endOffset": {"orders": {"0": 900, "1": 100}}}
    late = {"inputRows": 100, "lateRows": 10, "heldRows": 1}
    batches = progress(late, topic)
    for batch in batches:
        batch["stateOperators"][0]["operatorName"] = "streamOrder"
    (finding,) = diagnose(Known(progress=reports(batches))).findings
    assert finding.code == "LATE_ROWS"
    assert 'imposeOrder("dt", ..., per=["topic", "partition"])' in finding.write


def test_lag_for_late_rows_with_groups_is_longer_than_the_present_one() -> None:
    late = {"lateRowsLeft": 10, "latestBy.ot": HOUR, "lag.ot": HOUR}
    seen = diagnosed({**groups(NOON, silent=0, spread=0), **late})
    assert seen.headline.code == "LATE_ROWS"
    assert seen.headline.write.startswith('imposeOrder("ot", "2 hours") would have accepted them')
    assert "belongs to a group that is new or was idle" in seen.headline.cause


def test_watch_names_the_slowest_group() -> None:
    shown = "\n".join(render(progress(groups(NOON - 3 * HOUR, silent=0, spread=3 * HOUR))))
    assert "; slowest of 12 groups: (orders, 7), 3 hours behind the fastest" in shown
    waiting = groups(None, silent=2 * HOUR, spread=0)
    del waiting["watermark.ot"]
    shown = "\n".join(render(progress(waiting)))
    assert "no watermark yet; slowest of 12 groups: (orders, 7), without a row" in shown
