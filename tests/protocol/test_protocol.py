"""Every history of the protocol up to a given size preserves its properties."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.protocol.explorer import explore
from tests.protocol.model import Query, Size

NONE = Size(batches=2, crashes=0, failures=0, copies=0, maintenance=0)
MAINTAINED = replace(NONE, batches=4, begun=2, maintenance=1, largest=1)
SIZES = (
    replace(NONE, crashes=1),
    replace(NONE, failures=1, copies=1),
    replace(NONE, batches=3, maintenance=1),
    # two executors run maintenance concurrently: by far the most states
    pytest.param(
        replace(MAINTAINED, batches=5, begun=3, maintenance=2), marks=pytest.mark.thorough
    ),
    # A lost file is refused, or no version needs it.
    replace(MAINTAINED, losses=1),
    replace(MAINTAINED, losses=1, ids=True),
)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_history_up_to_a_size_preserves_the_properties(size: Size) -> None:
    explored = explore(Query(size))
    print(f"{size}: {explored.states} states, {explored.steps} steps, depth {explored.depth}")
    assert explored.found is None, str(explored.found)
