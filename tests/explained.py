"""The part of explain's output that describes joins."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import DataFrame

SAID = ("watermark of", "condition", "known from", "a row of", "output watermark")


def explained(result: DataFrame, capsys: pytest.CaptureFixture[str]) -> str:
    """The lines on joins, from the top of the plan down."""
    capsys.readouterr()
    result.explain()
    lines = [re.sub(r"^[\s:+|*-]*", "", line) for line in capsys.readouterr().out.splitlines()]
    return "".join(f"{line}\n" for line in lines if line.startswith(SAID))
