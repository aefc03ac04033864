"""Make a failing case smaller: leave out restarts, what stands around the joins, steps and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.differential.case import Case, Step

Position = tuple[int, str, int]


def shrink(case: Case, fails: Callable[[Case], bool], runs: int) -> Case:
    """Give the smallest case that still fails, found in at most this many runs."""
    left = runs
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(case):
            if left == 0:
                return case
            left -= 1
            if fails(candidate):
                case, smaller = candidate, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    if case.restarts:
        yield replace(case, restarts=())
    if case.above is not None:
        yield replace(case, above=None, at=None)
    if case.late:
        yield replace(case, late=False)
    for each in case.inputs:
        if each.below:
            bare = replace(each, below=())
            yield replace(case, inputs=tuple(bare if i is each else i for i in case.inputs))
    for number in range(len(case.steps)):
        yield _without_step(case, number)
    for start in (0, case.groups // 2) if case.groups > 1 else ():
        yield _with_groups(case, range(start, start + -(-case.groups // 2)))
    positions = _positions(case)
    size = len(positions) // 2
    while size:
        for start in range(0, len(positions), size):
            yield _without_rows(case, set(positions[start : start + size]))
        size //= 2


def _with_groups(case: Case, kept: range) -> Case:
    """Some of the groups, with the first of them as number 0."""
    steps = tuple(
        {
            alias: [{**row, "c": row["c"] - kept.start} for row in rows if row["c"] in kept]
            for alias, rows in step.items()
        }
        for step in case.steps
    )
    return replace(case, steps=steps, groups=len(kept))


def _positions(case: Case) -> list[Position]:
    return [
        (number, alias, n)
        for number, step in enumerate(case.steps)
        for alias, rows in step.items()
        for n in range(len(rows))
    ]


def _without_step(case: Case, number: int) -> Case:
    restarts = tuple(
        replace(each, step=each.step - (each.step > number))
        for each in case.restarts
        if each.step != number
    )
    steps = case.steps[:number] + case.steps[number + 1 :]
    return replace(case, steps=steps, restarts=restarts)


def _without_rows(case: Case, dropped: set[Position]) -> Case:
    def kept(number: int, step: Step) -> Step:
        return {
            alias: [row for n, row in enumerate(rows) if (number, alias, n) not in dropped]
            for alias, rows in step.items()
        }

    return case.with_steps(tuple(kept(number, step) for number, step in enumerate(case.steps)))
