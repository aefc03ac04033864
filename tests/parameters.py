"""Parameters of tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

JOIN_TYPES = ["inner", "left", "right", "full", "semi", "anti"]
STATE_FORMATS = ["segments", "rocksdb"]


def rest_is_thorough(values: Iterable[Any], *first: Any) -> list[Any]:
    """Mark all values but the first ones: `make test` runs the test with the first ones only.

    For tests of several seconds in variants that share most of their code. `make test-all` runs
    all values.
    """
    values = list(values)
    assert set(first) <= set(values)
    return [
        value
        if value in first
        else pytest.param(
            *(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.thorough
        )
        for value in values
    ]
