from __future__ import annotations

from tests.differential.case import Case, Row
from tests.differential.lateness import count_late, judge, on_time
from tests.differential.samples import row, two_inputs

DAY_US = 86_400_000_000


def late(case: Case, *batches: list[Row]) -> set[str]:
    arrivals = judge(case, [{"a": rows} for rows in batches])
    assert count_late(arrivals, "a") + len(on_time(arrivals, "a")) == sum(map(len, batches))
    return {each.row["id"] for each in arrivals if each.late}


def test_late_is_strictly_below_the_watermark() -> None:
    case = two_inputs("inner", lags=(3, 0))
    assert late(case, [row("x", 10)], [row("below", 6), row("at", 7), row("above", 8)]) == {"below"}


def test_rows_of_one_batch_do_not_make_each_other_late() -> None:
    case = two_inputs("inner")
    assert late(case, [row("x", 10), row("y", 1)], [row("z", 9)]) == {"z"}


def test_watermark_never_goes_back_and_skips_batches_without_rows() -> None:
    case = two_inputs("inner", lags=(1, 0))
    assert late(case, [row("x", 10)], [], [row("late", 2)], [row("z", 8), row("y", 9)]) == {
        "late",
        "z",
    }


def test_null_time_is_never_late_and_moves_no_watermark() -> None:
    case = two_inputs("inner")
    assert late(case, [row("x", None)], [row("y", 1)], [row("z", None)]) == set()


def test_any_of_two_columns_makes_late_and_a_late_row_moves_the_other_one() -> None:
    case = two_inputs("inner", second_lag=0)
    batches = [row("x", 10, u=10)], [row("y", 9, u=30)], [row("z", 10, u=29), row("w", 10, u=30)]
    assert late(case, *batches) == {"y", "z"}


def test_inputs_are_judged_by_their_own_watermarks() -> None:
    case = two_inputs("inner")
    arrivals = judge(case, [{"a": [row("x", 100)], "b": [row("y", 1)]}, {"b": [row("z", 1)]}])
    assert not any(each.late for each in arrivals)


def test_lag_of_a_date_may_be_part_of_a_day() -> None:
    case = two_inputs("inner", kind="date", lags=(3 * DAY_US // 2, 0))
    assert late(case, [row("x", 10)], [row("y", 9), row("z", 8)]) == {"z"}
