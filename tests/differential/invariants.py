"""What the progress of a query must show, whatever the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.differential.case import Case, inputs_of, joins_of
from tests.differential.lateness import Arrival
from tests.differential.rows import CLOSING_STEPS, sentinels
from tests.differential.runner import Run
from tests.differential.shapes import TWICE

OPERATOR = "streamJoin"
LATE = ("lateRowsLeft", "lateRowsRight")
BUFFERED = ("bufferedRowsLeft", "bufferedRowsRight")


def violations(case: Case, run: Run, arrivals: Sequence[Arrival]) -> list[str]:
    return [
        *_operators(case, run),
        *_watermarks_back(run),
        *_left_over(case, run),
        *_late_counts(case, run, arrivals),
    ]


def operators(progress: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in progress["stateOperators"] if each["operatorName"] == OPERATOR]


def _operators(case: Case, run: Run) -> Iterator[str]:
    """Every join is one of ours: a case that Spark's own join answered has tested nothing."""
    expected = len(list(joins_of(case.tree)))
    for batch, progress in run.progress.items():
        if len(operators(progress)) != expected:
            names = [each["operatorName"] for each in progress["stateOperators"]]
            yield f"batch {batch} has the operators {names}, not {expected} of {OPERATOR}"
            return


def _watermarks_back(run: Run) -> Iterator[str]:
    seen: dict[tuple[int, str], int] = {}
    for batch in sorted(run.progress):
        for number, operator in enumerate(operators(run.progress[batch])):
            for name, value in operator["customMetrics"].items():
                if name.startswith("watermark."):
                    before = seen.get((number, name), value)
                    if value < before:
                        yield f"batch {batch}: {name} went back from {before} to {value}"
                    seen[number, name] = value


def _left_over(case: Case, run: Run) -> Iterator[str]:
    """After the closing steps only rows of the last one may be in a buffer.

    A join without an equality keeps one of its sides once for each partition.
    """
    if not run.progress or max(run.progress) < len(run.batches) - 1:
        return
    # Each action on a batch counts once more.
    last = sum(
        2 if "table" in each.below and row["g"] == TWICE else 1
        for each in case.inputs
        for row in sentinels(case, each, CLOSING_STEPS)
    )
    allowed = last * max(1, case.partitions) * case.actions
    for operator in operators(run.progress[max(run.progress)]):
        kept = sum(operator["customMetrics"][name] for name in BUFFERED)
        if kept > allowed:
            yield f"{kept} rows are still buffered at the end, at most {allowed} may be"


def _late_counts(case: Case, run: Run, arrivals: Sequence[Arrival]) -> Iterator[str]:
    """For one join right above its sources, in the batches whose progress is known.

    A filter above the join moves below it if possible, as does what the condition demands of a side
    that is not preserved, and what a join with a table demands: at least a key that is not NULL.
    The join does not see rows that are dropped there.
    """
    leaves = inputs_of(case.tree)
    if len(leaves) != 2:
        return
    if any(each.below for each in case.inputs) or case.actions > 1:
        return
    filtered = case.tree.where is not None or "one_sided" in case.features
    for alias, name in zip(leaves, LATE, strict=True):
        counted = sum(
            operator["customMetrics"][name]
            for progress in run.progress.values()
            for operator in operators(progress)
        )
        parts = [part.alias for part in case.parts(alias)]
        late = [
            each.row
            for each in arrivals
            if each.late and each.alias in parts and each.batch in run.progress
        ]
        whole = sum(None not in each.values() for each in late)
        demanded = case.above == "table" or alias in dropped_below(case)
        # If late rows are emitted, nothing is dropped below the join.
        certain = case.late or not (filtered or demanded)
        least = len(late) if certain else 0 if filtered else whole
        if not least <= counted <= len(late):
            yield f"{name} adds up to {counted}, late are {len(late)} rows of {alias}"


def dropped_below(case: Case) -> tuple[str, ...]:
    """The inputs of a single join of which rows that can match nothing need not be emitted.

    A row without a time is in no window. So below windows of one input's time those rows of the
    other that are padded need not be emitted either.
    """
    left, right = inputs_of(case.tree)
    preserved = {
        "inner": (),
        "semi": (),
        "left": (left,),
        "anti": (left,),
        "right": (right,),
        "full": (left, right),
    }[case.tree.how]
    if case.above == "windows" and case.at is not None:
        preserved = tuple(alias for alias in preserved if alias == case.at[0])
    return tuple(alias for alias in (left, right) if alias not in preserved)
