"""What the demo knows of a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from .arrivals import Clock, Stream


@dataclass(frozen=True)
class JoinInputs:
    """Names of the two sides of a join, for readers."""

    left: str
    right: str


@dataclass(frozen=True)
class Pipeline:
    """Streams and the joins over them, once as a streaming query and once as a batch."""

    name: str
    about: str
    clock: Clock
    streams: tuple[Stream, ...]
    joins: tuple[JoinInputs, ...]
    streamed: Callable[..., DataFrame]
    """Takes one streaming DataFrame for each of ``streams``."""
    batch: Callable[..., DataFrame]
    """Takes one static DataFrame for each of ``streams``."""
    not_closing: str
    """SQL condition that is true for all rows of the result but those of the closing files."""
    padded: tuple[str, ...]
    """For each join, a column of its right side that is NULL in null-padded rows only."""
