"""Display names of the inputs and times of a join, by the files next to its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SIDES = ("left", "right")


def alias(described: Mapping[str, Any], side: str) -> str | None:
    """Give the alias of an input, where it has one."""
    of_times = _aliases(described, side)
    if len(of_times) == 1:
        return of_times[0]
    # what no event time tells
    known: Mapping[str, str] = described.get("aliases", {})
    return None if of_times else known.get(side)


def input_name(described: Mapping[str, Any], side: str) -> str:
    """Name an input: ``o``, or ``the left input``; of several aliases ``the left input (o, d)``."""
    name = alias(described, side)
    if name is not None:
        return name
    several = ", ".join(_aliases(described, side))
    return f"the {side} input{f' ({several})' if several else ''}"


def time_name(described: Mapping[str, Any], stored: str) -> str:
    """Name a time that `pending` calls as the state does: ``d.dt`` of ``right.dt``."""
    said: Mapping[str, str] = described.get("said", {})
    return said.get(stored, stored)


def _aliases(described: Mapping[str, Any], side: str) -> list[str]:
    found = {name.rpartition(".")[0] for name in described.get("times", {}).get(side, {})}
    return sorted(found - {"", side})
