"""Display names of the inputs and times of a join, by the files next to its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SIDES = ("left", "right")


def alias(described: Mapping[str, Any], side: str) -> str | None:
    """Return the alias of an input, if it has one."""
    of_times = _aliases(described, side)
    if len(of_times) == 1:
        return of_times[0]
    # an input whose event times have no alias
    known: Mapping[str, str] = described.get("aliases", {})
    return None if of_times else known.get(side)


def input_name(described: Mapping[str, Any], side: str) -> str:
    """Name an input: ``o`` or ``the left input``; for several aliases ``the left input (o, d)``."""
    name = alias(described, side)
    if name is not None:
        return name
    several = ", ".join(_aliases(described, side))
    return f"the {side} input{f' ({several})' if several else ''}"


def time_name(described: Mapping[str, Any], stored: str) -> str:
    """Return the display name of a time with a name as in `pending`: ``d.dt`` for ``right.dt``."""
    said: Mapping[str, str] = described.get("said", {})
    return said.get(stored, stored)


def _aliases(described: Mapping[str, Any], side: str) -> list[str]:
    found = {name.rpartition(".")[0] for name in described.get("times", {}).get(side, {})}
    return sorted(found - {"", side})
