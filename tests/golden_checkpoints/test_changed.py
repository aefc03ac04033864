"""Golden checkpoints continue with a changed query, one for each change of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamjoin import evolve, from_changelog, stream_join
from tests.golden_checkpoints.archive import ELSEWHERE, archive, unpack
from tests.golden_checkpoints.cases import CASES, WITHIN_THE_HOUR, Case, at, both, ordered
from tests.golden_checkpoints.day import FORMATS, Day, answer, decided, settings

Row = tuple[int | None, ...]
FULL = "l.k = r.k AND "
WITHIN = "r.t BETWEEN l.t AND l.t + INTERVAL '{}' MINUTES"
# What the evening brings without a change: each left row has a partner.
SAME: list[Row] = [(1, 15), (2, 14), (4, 16), (5, 13), (6, 15)]


@dataclass(frozen=True)
class Change:
    """A query that continues from the checkpoint of a case, and the rows that it emits."""

    name: str
    query: Callable[[dict[str, DataFrame]], DataFrame]
    expected: list[Row] = field(default_factory=lambda: SAME)
    case: str = "full"
    inputs: str = "lr"
    more: dict[str, Any] = field(default_factory=dict)


def changed(**columns: str) -> Callable[[dict[str, DataFrame]], DataFrame]:
    """The join of the case, with other columns: their values by their names."""

    def query(inputs: dict[str, DataFrame]) -> DataFrame:
        of = {name: df.selectExpr(*(f"{v} AS {c}" for c, v in columns.items()), "t")
              for name, df in inputs.items()}  # fmt: skip
        key = "key" if "key" in columns else "k"
        on = f"l.{key} = r.{key} AND {WITHIN_THE_HOUR}"
        joined = stream_join(ordered(of, "l"), ordered(of, "r"), on, "full")
        return joined.selectExpr("l.n AS l", "r.n AS r", *(["l.w"] if "w" in columns else []))

    return query


def exchanged(inputs: dict[str, DataFrame]) -> DataFrame:
    joined = stream_join(ordered(inputs, "r"), ordered(inputs, "l"), FULL + WITHIN_THE_HOUR, "full")
    return joined.selectExpr("l.n AS l", "r.n AS r")


def with_another_above(inputs: dict[str, DataFrame]) -> DataFrame:
    joined = stream_join(ordered(inputs, "l"), ordered(inputs, "r"), FULL + WITHIN_THE_HOUR, "left")
    returned = "b.k = l.k AND b.t BETWEEN l.t AND l.t + INTERVAL '2' HOURS"
    above = stream_join(joined, ordered(inputs, "b"), returned, "left")
    return above.selectExpr("l.n AS l", "r.n AS r", "b.n AS b")


def changed_tables(inputs: dict[str, DataFrame]) -> DataFrame:
    of = {n: df.selectExpr("CAST(k AS BIGINT) AS key", "n", "op") for n, df in inputs.items()}
    left, right, b = (from_changelog(of[name], key="n", op="op").alias(name) for name in "lrb")
    joined = stream_join(stream_join(left, right, "l.n = r.n", "left"), b, "l.n = b.n", "left")
    return joined.selectExpr("l.n AS n", "l.key AS l", "r.key AS r", "b.key AS b", "_change_type")


CHANGES = [
    Change(
        "a column added",
        changed(n="n", k="k", w="0"),
        [(1, 15, 5), (2, 14, 5), (4, 16, 5), (5, 13, 0), (6, 15, 0)],
        more={"fill": {"w": 5}},
    ),
    Change("columns renamed and moved", changed(key="k", n="n"), more={"rename": {"k": "key"}}),
    Change("wider types", changed(n="CAST(n AS BIGINT)", k="CAST(k AS BIGINT)")),
    Change(
        "a narrower interval",
        both(FULL + WITHIN.format(45), "full"),
        [(2, 14), (4, None), (5, 13), (6, 15), (None, 16)],
    ),
    Change("a wider interval", both(FULL + WITHIN.format(120), "full")),
    Change(
        "another condition",
        both(f"{FULL}{WITHIN_THE_HOUR} AND l.n < r.n - 9", "full"),
        [(1, 15), (2, 14), (4, 16), (5, None), (6, None)],
    ),
    # Orders 2 and 12 were both stored, so they do not meet under the new key.
    Change(
        "another key",
        both(f"l.n = r.n - 10 AND {WITHIN_THE_HOUR}", "full"),
        [(2, None), (4, 14), (5, 15), (6, 16)],
    ),
    Change("another type", both(FULL + WITHIN_THE_HOUR, "left")),
    Change("inputs exchanged", exchanged),
    Change(
        "a join added",
        with_another_above,
        [(*row, 31 if row[0] in (1, 6) else None) for row in SAME],
        inputs="lrb",
    ),
    Change("a join removed", both(FULL + WITHIN_THE_HOUR, "left"), case="chain"),
    Change(
        "columns of changelog joins",
        changed_tables,
        case="changes_in_a_chain",
        inputs="lrb",
        more={"rename": {"k": "key"}},
    ),
]


@pytest.mark.thorough
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"spark: {change.name}")
def test_a_kept_checkpoint_goes_on_changed(
    spark: SparkSession, tmp_path: Path, change: Change
) -> None:
    state_format = list(FORMATS)[CHANGES.index(change) % 2]
    morning = unpack(archive(state_format, FORMATS[state_format], change.case, "4.0"), tmp_path)
    before = next(case for case in CASES if case.name == change.case)
    schemas = {name: before.schemas.get(name, before.schemas["l"]) for name in change.inputs}
    case = Case(before.name, schemas, change.query, before.morning, before.evening)
    with settings(spark, case, state_format):
        day = Day(spark, case, tmp_path, morning.batches)
        sources: dict[str, str | None] = {
            str(tmp_path / name): f"{ELSEWHERE}/{name}" if name in before.schemas else None
            for name in change.inputs
        }
        to = tmp_path / "changed"
        evolve(day.run.checkpoint, to, day.run.result, sources=sources, **change.more)
        day.run.checkpoint = to
        has_more = set(change.inputs) - set(before.schemas)
        for n, batch in enumerate(before.evening):
            more = (
                [{"n": 31, "k": 1, "t": at("12:00")}]
                if n == 0
                else [{"n": -1, "t": at("20:00", 6)}]
            )
            landed = {**batch, **dict.fromkeys(has_more, more)}
            day.play([{name: of for name, of in landed.items() if name in change.inputs}])
        rows, wanted = day.run.rows(), decided(case, change.expected)
        if before.changes:
            rows = [*map(tuple, morning.output), *rows]
            wanted = answer(spark, before, [*morning.batches, *before.evening])
    assert decided(before, rows) == wanted
