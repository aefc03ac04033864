from __future__ import annotations

from dataclasses import replace

from tests.differential.case import Case, Restart
from tests.differential.generator import generate
from tests.differential.samples import row, two_inputs
from tests.differential.shrink import shrink


def ids(case: Case) -> set[str]:
    return {row["id"] for step in case.steps for rows in step.values() for row in rows}


def big_case() -> Case:
    steps = tuple(
        {alias: [row(f"{alias}{step}.{n}", step) for n in range(6)] for alias in "ab"}
        for step in range(5)
    )
    return replace(two_inputs("inner"), steps=steps, restarts=(Restart(2, "before"),))


def test_shrink_keeps_only_rows_needed_for_the_failure() -> None:
    needed = {"a1.2", "b3.0"}
    small = shrink(big_case(), lambda case: needed <= ids(case), runs=500)
    assert ids(small) == needed
    assert len(small.steps) == 2
    assert small.restarts == ()


def test_shrink_removes_operators_around_the_joins() -> None:
    case = big_case()
    inputs = tuple(replace(each, below=("filter", "rename")) for each in case.inputs)
    case = replace(case, inputs=inputs, above="distinct", at=("a", "t"))
    small = shrink(case, lambda each: bool(each.input("b").below), runs=500)
    assert small.input("b").below == ("filter", "rename")
    assert (small.input("a").below, small.above, small.at) == ((), None, None)


def test_shrink_moves_a_needed_restart_with_its_step() -> None:
    small = shrink(big_case(), lambda case: bool(case.restarts) and "a2.1" in ids(case), runs=500)
    assert small.restarts == (Restart(0, "before"),)
    assert ids(small) == {"a2.1"}


def test_shrink_respects_the_number_of_runs() -> None:
    tried: list[Case] = []

    def fails(case: Case) -> bool:
        tried.append(case)
        return True

    shrink(big_case(), fails, runs=3)
    assert len(tried) == 3


def test_a_group_that_fails_alone_is_left() -> None:
    case = generate(1, 0, 9)
    needed = next(row["id"] for rows in case.steps[0].values() for row in rows if row["c"] == 6)
    small = shrink(case, lambda each: needed in ids(each), runs=500)
    assert ids(small) == {needed}
    assert small.groups == 1
