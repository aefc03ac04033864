"""No wrong headline: generated stuck queries with one or two faults, and healthy ones.

`stuck` defines the faults and the causes that may report each of them. A reported cause without a
fault is a false positive. An unreported fault must be one that the other fault hides.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from streamjoin._diagnosis.causes import CAUSES
from streamjoin._diagnosis.diagnose import diagnose
from streamjoin._diagnosis.figures import share
from streamjoin._diagnosis.findings import Diagnosis
from streamjoin._diagnosis.known import TopKey
from streamjoin._diagnosis.plan import Plan
from streamjoin._diagnosis.signals import Signal
from streamjoin._progress import Distance
from tests.stuck import changelogs
from tests.stuck.faults import FAULTS, compatible, draw, healthy
from tests.stuck.model import CLOCK, Setup, ms
from tests.stuck.told import known

PAIRS = [(one, other) for one, other in combinations(FAULTS.values(), 2) if compatible(one, other)]

# Faults by what they prevent: reports cannot show events that never happen.
NO_ROWS = {"ahead", "filtered", "null keys", "null times", "nothing"}
NO_PAIRS = {
    *("contradiction", "other keys", "spelt keys", "shifted", "condition"),
    *("too small", "too large", "null keys", "half-hour zone", "number keys", "evicted partners"),
}
NO_STATE = {"mostly late", "future", "near future"}
HIDDEN_BY = {
    # nothing is emitted
    **dict.fromkeys(("aggregation", "filter", "order", "late above"), NO_ROWS | NO_PAIRS),
    # rows of the two sides are never compared, or an earlier check fails
    **dict.fromkeys(
        (
            *("other keys", "spelt keys", "number keys", "null keys", "condition"),
            *("shifted", "half-hour zone", "too small", "too large"),
        ),
        NO_ROWS | NO_PAIRS | NO_STATE,
    ),
    # an idle input explains the distance of the times
    "evicted partners": NO_ROWS | NO_PAIRS | NO_STATE | {"idle"},
    # buffered rows have another unit, are evicted at once, or do not arrive
    "idle": NO_ROWS
    | NO_STATE
    | {"contradiction", "shifted", "half-hour zone", "evicted partners"}
    | {"too small", "too large", "idle"},
    "silent": {"contradiction", "nothing"},
    # rows that do not arrive are not late
    **dict.fromkeys(("mostly late", "some late"), NO_ROWS | {"future", "idle", "too small"}),
    **dict.fromkeys(("some ahead", "some null times", "null times"), NO_ROWS | {"future"}),
    **dict.fromkeys(("filtered", "ahead"), NO_ROWS),
    "near future": NO_ROWS | {"some ahead"},
    "future": {"nothing", "ahead", "some ahead", "too small", "too large"},
}

# Faults of queries that look healthy in their reports. Only the state shows that unmatched rows
# wait for a long lag. Only the plan shows that the join is not an anti join and emits its
# matched rows, none of which reaches the sink.
HEALTHY_BY_REPORTS = {"long lag"}


def stem(name: str) -> str:
    return name.removesuffix(" left").removesuffix(" right")


def hides(hidden: str, by: str) -> bool:
    if hidden == "long lag":
        # Only the state distinguishes unmatched rows that wait for the lag.
        return True
    return stem(by) in HIDDEN_BY.get(stem(hidden), ())


def codes(seen: Diagnosis) -> list[str]:
    return [finding.code for finding in seen.findings]


@pytest.mark.parametrize("name", FAULTS)
def test_single_fault_is_reported_by_its_causes(name: str) -> None:
    for seed in range(3):
        for state in (True, False):
            setup = draw((name,), seed, state=state)
            seen = diagnose(known(setup))
            if name == "long lag" and not state:
                # While other rows match, only the state shows unmatched buffered rows.
                assert codes(seen) == ["HEALTHY"]
                continue
            assert set(codes(seen)) <= FAULTS[name].codes, seen
            assert seen.headline.severity in ("stuck", "loses", "note")
            # the state has the keys of the rows
            if state or FAULTS[name].codes != {"NO_KEY_MET"}:
                assert FAULTS[name].says in str(seen)


def test_count_of_right_weak_and_false_causes(capsys: pytest.CaptureFixture[str]) -> None:
    """Weak: a cause that is right, without what the finding has to say."""
    count = dict.fromkeys(("right", "weak", "false"), 0)
    for fault in FAULTS.values():
        for state in (True, False):
            seen = diagnose(known(draw((fault.name,), 0, state=state)))
            said = str(seen)
            right = seen.headline.code in fault.codes
            count["right" if right and fault.says in said else "weak" if right else "false"] += 1
    with capsys.disabled():
        print(f"\n{len(FAULTS)} faults, with the state and without: {count}")
    # without the state, one is invisible, and one lacks the samples of keys
    assert count["false"] <= 1
    assert count["weak"] <= 1


def test_pair_of_faults_yields_no_false_cause(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither fault causes a false finding, or hides a visible one."""
    random, hidden = Random(1), 0
    for pair in PAIRS:
        one, other = random.sample(pair, 2)
        setup = draw((one.name, other.name), random.randint(0, 99), state=random.random() < 0.5)
        seen = diagnose(known(setup))
        expected = one.codes | other.codes
        if {stem(one.name), stem(other.name)} == {"idle"}:
            expected |= {"NO_INPUT"}
        assert set(codes(seen)) <= expected, f"{one.name}, {other.name}: {seen}"
        for fault, by in ((one, other), (other, one)):
            if not fault.codes & set(codes(seen)):
                hidden += 1
                assert hides(fault.name, by.name), f"{by.name} hides {fault.name}: {seen}"
    assert len(FAULTS) + len(PAIRS) >= 500
    with capsys.disabled():
        print(f"\n{len(FAULTS)} faults, {len(PAIRS)} pairs of them, {hidden} hidden by the other")


@pytest.mark.parametrize("name", healthy())
def test_healthy_query_is_reported_healthy(name: str) -> None:
    seen = diagnose(known(healthy()[name]))
    assert codes(seen) == ["HEALTHY"], f"{name}: {seen}"
    assert seen.headline.headline.startswith("Nothing is wrong: ")
    assert len(healthy()) >= 36


def test_few_lost_rows_are_mentioned() -> None:
    """Losses below the alert threshold are mentioned, and "Nothing is wrong" is not."""
    setup = Setup(Random(0), rows=100)
    setup.inputs["right"].times.append(lambda k, t: t - 3_600_000 if k in (200, 300) else t)
    seen = diagnose(known(setup))
    assert codes(seen) == ["HEALTHY"]
    assert seen.headline.headline.startswith(
        "Few rows are lost (0.3 % of d, late). The doctor found no other problem: "
    )


@pytest.mark.parametrize(
    ("late", "expected"), [(2, "0.3 %"), (5, "0.8 %"), (57, "10 %"), (54, "9 %"), (300, "50 %")]
)
def test_formatting_of_shares(late: int, expected: str) -> None:
    assert share(late, 600) == expected
    assert share(0, 600) == "0 %"
    assert share(1, 10**9) == "less than 0.001 %"


def test_null_keys_on_both_sides_yield_two_findings() -> None:
    both = draw(BOTH_NULL, 0, how="FULL OUTER")
    assert codes(diagnose(known(both))) == ["NO_KEY_MET", "NO_KEY_MET"]
    assert codes(reports_alone(both)) == ["NOT_SEEN"]


BOTH_NULL = ("null keys left", "null keys right")


def test_emitted_late_rows_do_not_count_as_lost() -> None:
    setup = Setup(Random(0), rows=100)
    setup.inputs["right"].times.append(lambda k, t: t - 3_600_000 if k % 10 == 0 else t)
    assert codes(diagnose(known(setup))) == ["LATE_ROWS"]
    (join,) = known(setup).planned.joins
    emits = replace(
        join, node=replace(join.node, lines=[*join.node.lines, "late rows are emitted"])
    )
    seen = diagnose(replace(known(setup), plan=lambda: Plan((emits,))))
    assert codes(seen) == ["HEALTHY"]
    assert seen.headline.headline.startswith("Nothing is wrong: ")
    assert "Emitted as late: 8 % of d." in seen.headline.headline


def test_partial_filter_above_the_join_is_mentioned() -> None:
    for above in ("Filter (x#1 = y)", "StreamingGlobalLimit 2, state info [ checkpoint = x]"):
        seen = diagnose(known(Setup(Random(0), above=[above], passes=2)))
        assert codes(seen) == ["HEALTHY"]
        text = above.replace("#1", "").partition(",")[0]
        assert (
            f"12 of 72 rows of the join have reached the sink, through {text}."
            in seen.headline.headline
        )


def test_some_null_keys_are_mentioned_for_an_inner_join_only() -> None:
    setup = Setup(Random(0), how="INNER")
    setup.inputs["right"].keys = lambda k: None if k % 4 == 0 else f"A{k}"
    seen = diagnose(known(setup))
    assert codes(seen) == ["HEALTHY"]
    sentence = "NULL in a column of the equality (o.id, d.id) excludes 18 of 144 rows."
    assert sentence in seen.headline.headline
    # A full join emits rows with a NULL key, so none is excluded.
    setup.how = "FULL OUTER"
    assert "excludes" not in str(diagnose(known(setup)))
    setup.how, setup.inputs["right"].dropped = "INNER", False
    (join,) = known(setup).planned.joins
    other = replace(join, below={**join.below, "right": ["Filter (isnotnull(id) AND (a = 1))"]})
    assert "excludes" not in str(diagnose(replace(known(setup), plan=lambda: Plan((other,)))))


def test_pairs_of_repeated_rows_are_mentioned() -> None:
    setup = Setup(Random(0), how="INNER")
    for given in setup.inputs.values():
        given.keys = lambda k: f"A{k // 4}"
    seen = diagnose(known(setup))
    assert codes(seen) == ["HEALTHY"]
    assert " A row has 4 partners: 288 pairs of 72 and 72 rows." in seen.headline.headline


def test_key_of_most_rows_is_mentioned() -> None:
    setup = Setup(Random(0), rows=60)
    facts = known(setup)
    asked = []

    def top_key(operator: int, side: str, rows: int, names: list[str]) -> TopKey:
        asked.append((operator, side, names))
        return TopKey("A1", 95 if side == "left" else 40, 100)

    seen = diagnose(replace(facts, top_key=top_key)).headline.headline
    assert " 95 % of the rows of o have the key 'A1'." in seen
    assert "rows of d have the key" not in seen
    assert asked == [(0, "left", ["id"]), (0, "right", ["id"])]
    assert "have the key" not in str(diagnose(replace(known(Setup(Random(0))), top_key=top_key)))


def test_input_far_behind_the_other_is_mentioned() -> None:
    setup = Setup(Random(0))
    setup.inputs["left"].times.append(lambda k, time: time - 3 * 3_600_000)
    partner = ms(CLOCK) - 3 * 3_600_000
    setup.inputs["right"].more = lambda batch: [("A1", partner)] if batch == 0 else []
    seen = diagnose(known(setup))
    assert " o.ot is 3 hours 5 minutes behind d.dt, so rows wait for its input." in str(seen)
    assert "behind" not in str(diagnose(known(Setup(Random(0)))))


def test_rows_that_wait_for_days_are_mentioned() -> None:
    setup = Setup(Random(0), high=30 * 86_400_000)
    seen = diagnose(known(setup)).headline
    assert seen.code == "HEALTHY"
    assert (
        " The bounds buffer a row of o for 29 days 23 hours, and none was evicted" in seen.headline
    )


def test_late_rows_before_the_first_report_are_mentioned() -> None:
    setup = Setup(Random(0), batches=6)
    setup.inputs["right"].times.append(lambda k, t: t - 3_600_000 if k == 14 else t)
    facts = known(setup)
    assert "LATE_ROWS" in codes(diagnose(facts))
    seen = diagnose(replace(facts, progress=facts.progress[3:]))
    assert codes(seen) == ["HEALTHY"]
    assert re.search(
        r"Before these reports a row arrived \d+ minutes .* behind in d\.dt, more than the "
        r"current lag",
        seen.headline.headline,
    )
    assert "Before these reports" not in str(diagnose(known(Setup(Random(0)))))


def test_late_rows_after_an_idle_timeout_advise_a_longer_timeout() -> None:
    """The watermark advanced without them; a longer lag does not help."""
    given = Setup(Random(0), batches=5)
    given.inputs["right"].silent = lambda batch: batch in (2, 3)
    given.inputs["right"].times.append(lambda k, time: time - 3_600_000 if k >= 48 else time)
    facts = known(given)
    moved = [
        {
            **report,
            "stateOperators": [
                {
                    **operator,
                    "customMetrics": {
                        **operator["customMetrics"],
                        "watermark.dt": 10**12 + 10**6 * (report["batchId"] >= 2),
                    },
                }
                for operator in report["stateOperators"]
            ],
        }
        for report in facts.progress
    ]
    (join,) = facts.planned.joins
    line = "watermark of dt: the latest dt seen - 1 minute; after 5 minutes without a row, that of"
    idle = replace(join, node=replace(join.node, lines=[*join.node.lines, line]))
    seen = diagnose(replace(facts, progress=moved, plan=lambda: Plan((idle,)))).headline
    assert seen.code in ("LATE_ROWS", "MOSTLY_LATE")
    assert seen.cause.startswith("d had no row for 5 minutes, its idle_timeout. ")
    assert seen.write.startswith('imposeOrder("dt", ..., idle_timeout=...) with a timeout longer')
    without = diagnose(replace(facts, progress=moved)).headline
    assert "idle_timeout" not in without.cause


def test_rows_dropped_by_a_spark_operator_are_reported() -> None:
    facts = known(Setup(Random(0), rows=100))
    below = {"operatorName": "dedupe", "customMetrics": {}, "numRowsDroppedByWatermark": 0}
    lossy = [{**r, "stateOperators": [*r["stateOperators"], {**below}]} for r in facts.progress]
    assert str(diagnose(replace(facts, progress=lossy))).startswith("Nothing is wrong: ")
    lossy[2]["stateOperators"][-1]["numRowsDroppedByWatermark"] = 6
    seen = diagnose(replace(facts, progress=lossy))
    assert codes(seen) == ["HEALTHY"]
    assert seen.headline.headline.startswith(
        "Few rows are lost (0.5 % of the rows for dedupe, late). The doctor found no other "
        "problem: "
    )
    lossy[3]["stateOperators"][-1]["numRowsDroppedByWatermark"] = 60
    (found,) = diagnose(replace(facts, progress=lossy)).findings
    assert found.headline == "66 of 1200 rows are late for dedupe below the join, and dropped: 6 %."


# Figures that are counts or names. All others are distances or texts.
COUNTED = re.compile(r"rows|Rows|Retractions|batch|changes|messages|reports|operator|factor")


@pytest.mark.parametrize("number", [False, True])
def test_every_figure_is_a_count_a_text_or_has_a_unit(number: bool) -> None:
    for name in FAULTS:
        for finding in diagnose(known(draw((name,), 0, number=number))).findings:
            for figure, value in finding.figures.items():
                counts = COUNTED.search(figure) is not None
                assert counts or isinstance(value, (str, Distance)), f"{name}: {figure} {value}"
    late = diagnose(known(draw(("mostly late right",), 0, number=number))).headline
    by, lag = late.figures["greatest lateness"], late.figures["lag"]
    assert isinstance(by, Distance)
    assert by > lag == 60_000
    written = "60000 in the unit of d.dt" if number else "1 minute"
    assert f", lag {written}" in str(Diagnosis((late,)))
    assert f", lag {written}" in Diagnosis((late,))._repr_html_()


def test_few_lost_changes_are_mentioned() -> None:
    feeds = changelogs.Feeds()
    feeds.counts["left"] |= {"insertedRows": 1000, "unknownRetractions": 3}
    seen = diagnose(feeds.known())
    assert codes(seen) == ["HEALTHY"]
    assert seen.headline.headline.startswith(
        "Few rows are lost (0.3 % of o, deletes of rows that are not"
    )


def test_deletes_of_expired_rows_count_as_input() -> None:
    """They are applied and count as input, so late rows are fewer than half."""
    feeds = changelogs.Feeds()
    feeds.counts["left"] = {"insertedRows": 40, "retractedExpiredRows": 40, "lateRows": 50}
    (found,) = diagnose(feeds.known()).findings
    assert found.code == "LATE_ROWS"
    assert found.figures["changes"] == 130 * changelogs.BATCHES


def test_unknown_retractions_without_ttl_do_not_mention_state_ttl() -> None:
    feeds = changelogs.Feeds()
    feeds.counts["left"] = {"insertedRows": 40, "unknownRetractions": 50}
    assert "state_ttl" not in str(diagnose(feeds.known()))


def reports_alone(setup: Setup) -> Diagnosis:
    """Neither the state nor the plan is available."""
    return diagnose(replace(known(setup), plan=Plan, described=()))


@pytest.mark.parametrize("name", FAULTS)
def test_fault_seen_in_reports_alone_is_never_called_healthy(name: str) -> None:
    """The doctor reports what they show. A cause it cannot see does not make a query healthy."""
    seen = reports_alone(draw((name,), 0, state=False))
    expected = FAULTS[name].codes | {"NOT_SEEN", "HEALTHY"}
    if "Or their partners are among the removed rows" in str(seen):
        # without the bounds, other keys and rows that were evicted too early look alike
        expected |= {"NO_KEY_MET"}
    assert set(codes(seen)) <= expected, seen
    assert ("Nothing is wrong" in str(seen)) == (name in HEALTHY_BY_REPORTS), seen
    reported = ("late", "idle", "null times", "ahead", "failed", "backlog", "nothing", "order")
    if any(word in name for word in reported):
        assert set(codes(seen)) <= FAULTS[name].codes, seen
    if name == "contradiction":
        assert codes(seen) == ["NOT_SEEN"]
        assert "neither the plan nor the state" in seen.headline.cause
    if name in ("filter", "aggregation"):
        assert codes(seen) == ["NOT_SEEN"]
        assert " pairs, but no row has reached the sink, and its" in seen.headline.headline
        assert "An anti join emits no pairs." in seen.headline.cause


@pytest.mark.parametrize("name", ["too small left", "too large left", "too small right"])
def test_numeric_times_in_another_unit_are_reported(name: str) -> None:
    seen = diagnose(known(draw((name,), 0, number=True)))
    assert codes(seen) == ["OTHER_UNIT", "TIMES_NEVER_MEET"]
    assert "factor of 1,000" in seen.headline.headline
    assert "seconds" in seen.headline.cause
    assert "milliseconds" in seen.headline.cause
    assert "zone" not in str(seen)


def test_condition_that_converts_units_suppresses_other_unit() -> None:
    """A condition with `o.ot * 1000` expects times that differ by that factor."""
    facts = known(draw(("too small left", "spelt keys"), 0, number=True))
    multiple = [{"later": "d.dt", "earlier": "(o.ot * 1000)", "slack": 0}]
    knows = [{**described, "bounds": multiple} for described in facts.described]
    assert codes(diagnose(facts))[0] == "OTHER_UNIT"
    assert "OTHER_UNIT" not in codes(diagnose(replace(facts, described=knows)))


def test_wrong_times_enter_no_advice_or_estimate() -> None:
    """The advice proposes no lag of centuries and estimates no state of gigabytes."""
    near = diagnose(known(draw(("near future left",), 0)))
    assert [each.column for each in near.lags] == ["d.dt"]
    for name in ("future left", "too small left", "too large right"):
        seen = diagnose(known(draw((name,), 0)))
        assert seen.sizes == ()
        written = " ".join([*map(str, seen.lags), *(f.write for f in seen.findings)])
        assert not re.search(r"\d years?", written), written


# ---- changelog joins ----


@pytest.mark.parametrize("name", changelogs.FAULTS)
def test_single_changelog_fault_is_reported(name: str) -> None:
    feeds = changelogs.Feeds()
    fault = changelogs.FAULTS[name]
    fault.apply(feeds)
    assert codes(diagnose(feeds.known())) == [fault.code]


def test_pair_of_changelog_faults_yields_no_false_cause(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = list(combinations(changelogs.FAULTS.values(), 2))
    for pair in pairs:
        # Rows that do not arrive cannot be late.
        one, other = sorted(pair, key=lambda fault: fault.takes_all)
        feeds = changelogs.Feeds()
        one.apply(feeds)
        other.apply(feeds)
        seen = diagnose(feeds.known())
        assert set(codes(seen)) <= {one.code, other.code}, seen
        for fault, by in ((one, other), (other, one)):
            if fault.code not in codes(seen):
                assert changelogs.hides(by, fault), f"{by} hides {fault}: {seen}"
    with capsys.disabled():
        print(f"\n{len(changelogs.FAULTS)} faults of changelogs, {len(pairs)} pairs of them")


def test_healthy_changelog_is_reported_healthy() -> None:
    assert codes(diagnose(changelogs.Feeds().known())) == ["HEALTHY"]


# ---- the table of causes ----


def test_causes_yield_only_to_earlier_causes_of_the_table() -> None:
    before: set[str] = set()
    for cause in CAUSES:
        assert set(cause.yields) <= before, cause.code
        assert not set(cause.seen) & set(cause.unseen)
        before.add(cause.code)


def test_every_signal_is_used_by_a_cause() -> None:
    used = {signal for cause in CAUSES for signal in (*cause.seen, *cause.unseen)}
    assert used == set(Signal)


def test_doctor_page_lists_every_cause() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "doctor.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    words = {word.strip(" `") for row in rows for word in row.split(",")}
    listed = {word for word in words if word.isupper()}
    assert listed == {cause.code for cause in CAUSES} | {"HEALTHY", "NOT_SEEN"}


def test_findings_follow_the_order_of_the_table() -> None:
    rank: dict[Any, int] = {}
    for number, cause in enumerate(CAUSES):
        rank.setdefault(cause.code, number)
    several = 0
    for pair in PAIRS[::7]:
        seen = codes(diagnose(known(draw((pair[0].name, pair[1].name), 0))))
        known_once = [code for code in seen if sum(c.code == code for c in CAUSES) == 1]
        assert known_once == sorted(known_once, key=lambda code: rank[code])
        several += len(known_once) > 1
    assert several >= 30
