"""Three unbounded changelogs; the number of a change determines it completely.

An input has one change for each number. A tracked input visits its keys in turn. A row is inserted,
updated three times, each time with another join key, deleted, and later inserted again. The
upsert input visits its keys in another order; every 13th change deletes its row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

KEYS = 8_000
JOIN_KEYS = 6_000
A_BATCH = 800
"""Changes of each input in a batch."""
VERSIONS = 5
"""The versions of a row; in the last one it is deleted."""
STRIDE = 7919
"""Coprime to the number of keys."""
GONE_EVERY = 13

Row = tuple[int, int, int]
"""Key, join key, payload."""


@dataclass(frozen=True)
class Tracked:
    """An input whose updates have both images."""

    salt: int

    def changes(self, numbers: DataFrame) -> DataFrame:
        """``id``, ``j``, ``p``, the row kind, and the number of the change as ``seq``."""
        value = F.col("value")
        key, version = value % KEYS, F.floor(value / KEYS)
        phase = self._phase(key, version)
        insert = _change("insert", self._image(key, version))
        delete = _change("delete", self._image(key, version - 1))
        changed = F.array(
            _change("update_preimage", self._image(key, version - 1)),
            _change("update_postimage", self._image(key, version)),
        )
        first = version == 0
        nothing = F.filter(F.array(insert), lambda _: F.lit(False))
        changes = (
            F.when(first & (phase == VERSIONS - 1), nothing)
            .when(first | (phase == 0), F.array(insert))
            .when(phase == VERSIONS - 1, F.array(delete))
            .otherwise(changed)
        )
        each = numbers.select(F.explode(changes).alias("change"), value.alias("seq"))
        return each.select("change.row.*", "change._change_type", "seq")

    def table(self, end: int) -> dict[int, Row]:
        """The rows that remain after the changes below a number, by key."""
        rows = {}
        for key in range(min(KEYS, end)):
            version = (end - 1 - key) // KEYS
            if self._phase(key, version) != VERSIONS - 1:
                rows[key] = self._values(key, version)
        return rows

    def _phase(self, key: Any, version: Any) -> Any:
        return (key + version + self.salt) % VERSIONS

    def _values(self, key: Any, version: Any) -> tuple[Any, Any, Any]:
        return key, (key * 31 + version * 17 + self.salt) % JOIN_KEYS, key + version

    def _image(self, key: Column, version: Column) -> Column:
        values = zip(self._values(key, version), ("id", "j", "p"), strict=True)
        return F.struct(*(value.cast("bigint").alias(name) for value, name in values))


def images(numbers: DataFrame) -> DataFrame:
    """``id``, ``j``, ``p``, whether the row is deleted (``gone``), and the number as ``seq``."""
    value = F.col("value")
    key = value * STRIDE % KEYS
    return numbers.select(
        key.alias("id"),
        ((value * 13 + key) % JOIN_KEYS).alias("j"),
        (value % 97).alias("p"),
        (value % GONE_EVERY == 0).alias("gone"),
        value.alias("seq"),
    )


def images_table(end: int) -> dict[int, Row]:
    """The rows that remain after the images below a number, by key."""
    # KEYS consecutive numbers cover all keys.
    last = {value * STRIDE % KEYS: value for value in range(max(0, end - KEYS), end)}
    return {
        key: (key, (value * 13 + key) % JOIN_KEYS, value % 97)
        for key, value in last.items()
        if value % GONE_EVERY != 0
    }


def _change(kind: str, image: Column) -> Column:
    return F.struct(F.lit(kind).alias("_change_type"), image.alias("row"))
