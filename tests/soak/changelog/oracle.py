"""The table that the changes of a run must result in, after each batch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from tests.soak.changelog import rows
from tests.soak.changelog.pipeline import COUNTED, KEYED, Change
from tests.soak.oracle import WrongResultError

REMOVALS = ("update_preimage", "delete")


class Oracle:
    def __init__(self) -> None:
        self._table: Counter[Change] = Counter()

    def take(self, batch: int, changes: Sequence[Change]) -> None:
        """Raise WrongResultError if the applied changes differ from the expected table."""
        _reject_canceling_changes(batch, changes)
        for *row, kind in changes:
            self._table[tuple(row)] += -1 if kind in REMOVALS else 1
        self._table = Counter({row: count for row, count in self._table.items() if count})
        expected = table((batch + 1) * rows.A_BATCH)
        if self._table != expected:
            amiss = list((expected - self._table).items())[:3]
            beyond = [(row, n) for row, n in self._table.items() if n > expected[row]][:3]
            raise WrongResultError(f"batch {batch}: {amiss} lacking, {beyond} too many")


def _reject_canceling_changes(batch: int, changes: Sequence[Change]) -> None:
    inserted = {tuple(row) for *row, kind in changes if kind not in REMOVALS}
    both = [row for *row, kind in changes if kind in REMOVALS and tuple(row) in inserted]
    if both:
        raise WrongResultError(f"batch {batch}: {both[:3]} was taken back and given")


def table(end: int) -> Counter[Change]:
    """The join of the rows that remain after all changes below a number."""
    left, right, third = COUNTED.table(end), rows.images_table(end), KEYED.table(end)
    nobody: Change = (None, None)
    images_of: dict[int, list[Change]] = defaultdict(list)
    for key, j, p in right.values():
        images_of[j].append((key, p))
    found: Counter[Change] = Counter()
    for key, j, p in left.values():
        c = third.get(key)
        of_c: Change = c[1:] if c is not None and p <= c[2] else nobody
        found.update((key, j, p, *b, *of_c) for b in images_of.get(j, [nobody]))
    met = {j for _, j, _ in left.values()}
    alone = (b for j, images in images_of.items() if j not in met for b in images)
    found.update((None, None, None, *b, *nobody) for b in alone)
    return found
