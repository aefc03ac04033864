"""Every history of the protocol up to a size keeps its properties."""

from __future__ import annotations

import pytest

from tests.protocol.explorer import explore
from tests.protocol.model import Query, Size

SIZES = (
    Size(batches=2, crashes=1, failures=0, copies=0, maintenance=0),
    Size(batches=2, crashes=0, failures=1, copies=1, maintenance=0),
    Size(batches=3, crashes=0, failures=0, copies=0, maintenance=1),
)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_properties_hold(size: Size) -> None:
    explored = explore(Query(size))
    print(f"{size}: {explored.states} states, {explored.steps} steps, depth {explored.depth}")
    assert explored.found is None, str(explored.found)
