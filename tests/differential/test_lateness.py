from __future__ import annotations

from dataclasses import replace

from tests.differential.case import Below, Case, Kind, Row, TimeColumn
from tests.differential.instants import instant
from tests.differential.lateness import judge, late_rows, on_time
from tests.differential.samples import row, two_inputs

DAY_US = 86_400_000_000


def late(case: Case, *batches: list[Row]) -> set[str]:
    arrivals = judge(case, [{"a": rows} for rows in batches])
    assert len(late_rows(arrivals, "a")) + len(on_time(arrivals, "a")) == sum(map(len, batches))
    return {each.row["id"] for each in arrivals if each.late}


def test_late_is_strictly_below_the_watermark() -> None:
    case = two_inputs("inner", lags=(3, 0))
    assert late(case, [row("x", 10)], [row("below", 6), row("at", 7), row("above", 8)]) == {"below"}


def test_rows_of_one_batch_do_not_make_each_other_late() -> None:
    case = two_inputs("inner")
    assert late(case, [row("x", 10), row("y", 1)], [row("z", 9)]) == {"z"}


def test_watermark_never_decreases_and_ignores_empty_batches() -> None:
    case = two_inputs("inner", lags=(1, 0))
    assert late(case, [row("x", 10)], [], [row("late", 2)], [row("z", 8), row("y", 9)]) == {
        "late",
        "z",
    }


def test_null_time_is_never_late_and_advances_no_watermark() -> None:
    case = two_inputs("inner")
    assert late(case, [row("x", None)], [row("y", 1)], [row("z", None)]) == set()


def test_row_late_by_one_column_still_advances_the_other_watermark() -> None:
    case = two_inputs("inner", second_lag=0)
    batches = [row("x", 10, u=10)], [row("y", 9, u=30)], [row("z", 10, u=29), row("w", 10, u=30)]
    assert late(case, *batches) == {"y", "z"}


def test_lateness_uses_the_watermark_of_the_own_input() -> None:
    case = two_inputs("inner")
    arrivals = judge(case, [{"a": [row("x", 100)], "b": [row("y", 1)]}, {"b": [row("z", 1)]}])
    assert not any(each.late for each in arrivals)


def test_lag_of_a_date_can_be_a_fraction_of_a_day() -> None:
    case = two_inputs("inner", kind="date", lags=(3 * DAY_US // 2, 0))
    assert late(case, [row("x", 10)], [row("y", 9), row("z", 8)]) == {"z"}


def test_watermark_of_groups_is_the_smallest_and_a_new_group_starts_at_it() -> None:
    case = two_inputs("inner")
    time = replace(case.inputs[0].times[0], per="g")
    case = replace(case, inputs=(replace(case.inputs[0], times=(time,)), case.inputs[1]))
    batches = (
        [row("x", 10, g=0), row("y", 30, g=1)],
        [row("z", 9, g=1), row("w", 10, g=0), row("new", 2, g=2)],
        [row("v", 40, g=0), row("u", 10, g=2), row("t", 9, g=2)],
        [row("s", 10, g=2), row("r", 9, g=0)],
    )
    assert late(case, *batches) == {"z", "new", "t", "r"}


def united(case: Case, lag: int) -> Case:
    part = replace(case.inputs[0], alias="A", part_of="a")
    times = tuple(replace(time, lag=lag) for time in part.times)
    return replace(case, inputs=(*case.inputs, replace(part, times=times)))


def test_union_uses_the_lower_watermark_once_both_exist() -> None:
    case = united(two_inputs("inner"), lag=5)
    arrivals = judge(
        case,
        [
            {"a": [row("x", 100)]},
            {"a": [row("no watermark yet", 1)], "A": [row("y", 20)]},
            {"a": [row("below", 14), row("at", 15)], "A": [row("below too", 14)]},
        ],
    )
    assert {each.row["id"] for each in arrivals if each.late} == {"below", "below too"}
    assert len(late_rows(arrivals, "A")) == 1


def below(step: Below, kind: Kind = "bigint") -> Case:
    case = two_inputs("inner", kind=kind)
    return replace(case, inputs=(replace(case.inputs[0], below=(step,)), case.inputs[1]))


def test_row_filtered_below_the_watermark_does_not_advance_it() -> None:
    hidden = {**row("hidden", 100), "p": 2}
    arrivals = judge(below("unseen_filter"), [{"a": [hidden, row("x", 10)]}, {"a": [row("y", 10)]}])
    assert [(each.row["id"], each.late) for each in arrivals] == [("x", False), ("y", False)]


def at_second(case: Case, seconds: int) -> int:
    """Spark's watermark at a number of ticks, in milliseconds."""
    return instant(case, "timestamp", seconds) // 1000


def test_deduplication_uses_spark_watermark_of_the_previous_batch() -> None:
    case = below("distinct", "timestamp")
    case = replace(case, inputs=(replace(case.inputs[0], times=(lagging(case),)), case.inputs[1]))
    batches = [{"a": [row("x", 10)]}, {"a": [row("early", 3)]}, {"a": [row("at", 3), row("y", 4)]}]
    spark_ms = [0, at_second(case, 3), at_second(case, 3)]
    late = {each.row["id"] for each in judge(case, batches, spark_ms) if each.late}
    assert late == {"at"}


def lagging(case: Case) -> TimeColumn:
    return replace(case.inputs[0].times[0], lag=100_000_000)


def test_window_is_late_if_its_end_is() -> None:
    case = below("windows", "timestamp")
    # Windows of 4 seconds: the first two rows are in one that ends at 12.
    batches = [{"a": [row("x", 100)]}, {"a": [row("y", 8), row("z", 11), row("w", 12)]}]
    for watermark, late in ((11, set()), (12, {"y", "z"})):
        arrivals = judge(case, batches, [at_second(case, watermark), 0])
        assert {each.row["id"] for each in arrivals if each.late} == late
