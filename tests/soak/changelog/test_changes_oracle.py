"""The oracle of the changelog pipeline accepts correct runs and rejects wrong ones."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.soak.changelog import rows
from tests.soak.changelog.oracle import Oracle, table
from tests.soak.changelog.pipeline import Change
from tests.soak.oracle import WrongResultError

BATCHES = range(3)


def changes(batch: int) -> list[Change]:
    """The expected output of a batch."""
    before, after = (table(n * rows.A_BATCH) for n in (batch, batch + 1))
    return [(*row, "delete") for row in (before - after).elements()] + [
        (*row, "insert") for row in (after - before).elements()
    ]


def wrong(changes_of_two: list[list[Change]]) -> str:
    oracle = Oracle()
    oracle.take(0, changes_of_two[0])
    with pytest.raises(WrongResultError) as error:
        oracle.take(1, changes_of_two[1])
    return str(error.value)


def test_oracle_accepts_a_correct_run() -> None:
    oracle = Oracle()
    for batch in BATCHES:
        oracle.take(batch, changes(batch))


def test_oracle_rejects_missing_and_surplus_changes() -> None:
    first, second = changes(0), changes(1)
    assert "batch 1: [] lacking, " in wrong([first, second[1:]])
    assert ", [] too many" in wrong([first, second[:-1]])
    assert ", [] too many" in wrong([first, [second[0], *second]])
    assert "batch 1: [] lacking, " in wrong([first, [*second, second[-1]]])


def test_oracle_rejects_changes_that_cancel_out() -> None:
    row = next(iter(table(rows.A_BATCH) & table(2 * rows.A_BATCH)))
    in_vain = [(*row, "delete"), (*row, "insert")]
    assert "was taken back and given" in wrong([changes(0), changes(1) + in_vain])


def test_generated_tables_have_rows_of_each_kind() -> None:
    far, next_one = (table(n * rows.A_BATCH) for n in (60, 61))
    alone, padded = (
        [row for row in far if row[0] is None],
        [row for row in far if row[0] is not None and row[3] is None],
    )
    assert len(alone) > 500
    assert len(padded) > 500
    assert max(Counter(row[:3] for row in far if row[0] is not None).values()) > 2
    assert any(row[5] is not None for row in far)
    assert any(row[0] is not None and row[5] is None for row in far)
    assert len(far - next_one) > 500
