"""Findings from the state alone, without reports of the query."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Row
from pyspark.sql import functions as F

from streamjoin._diagnosis.called import SIDES, input_name, time_name
from streamjoin._diagnosis.findings import Diagnosis, Finding
from streamjoin._diagnosis.healthy import rows_there
from streamjoin._diagnosis.known import Sample, Waiting
from streamjoin._diagnosis.matching import contradiction, keys_differ
from streamjoin._diagnosis.watermarks import WAITS_FOR_ROWS, idle_timeout, watermark_ahead
from streamjoin._pending import limits, pending
from streamjoin._progress import shown_time, wait

_BATCHES = 3
# The greatest difference of two time zones: the zone of the event times is unknown.
_MARGIN = 15 * 3_600_000

Waits = dict[tuple[int, str, str], dict[str, Any]]


def diagnose_checkpoint(
    folder: str, joins: list[dict[str, Any]], sample: Sample, zone: tzinfo
) -> Diagnosis:
    # an ordered output without a join has no description, which would have the batch
    batch = joins[0]["batch"] if joins else None
    there = _rows(folder, batch)
    now = _waiting(there)
    before = _waiting(_rows(folder, batch - _BATCHES)) if batch and batch >= _BATCHES else {}
    found = [
        *(f for join in joins for f in _contradiction(join)),
        *(f for join in joins for f in _ahead(join, now, zone)),
        *(f for join in joins for f in _stands(join, now, before)),
        # the match flags of a changelog join have another meaning
        *(f for join in joins if not join["changelog"] for f in _keys(join, now, sample)),
    ]
    return Diagnosis(tuple(found or [_nothing_wrong(batch, joins, there)]))


def _rows(folder: str, batch: int | None) -> list[Row]:
    """Count the rows in the state, by join, side and the column that they wait for."""
    try:
        rows = pending(folder, batch_id=batch)
    except PySparkException:
        # Spark keeps only the last 100 batches
        return []
    return (
        rows.groupBy("operator_id", "side", "waits_for")
        .agg(
            F.count("*").alias("rows"),
            *limits(),
            F.coalesce(F.max("matched"), F.lit(False)).alias("matched"),
        )
        # a number of four digits can be cast to the time of a year
        .withColumn(
            "ms",
            F.expr(
                "CASE WHEN try_cast(watermark AS DECIMAL(38)) IS NULL "
                "THEN unix_millis(try_cast(watermark AS TIMESTAMP)) END"
            ),
        )
        .collect()
    )


def _waiting(rows: list[Row]) -> Waits:
    return {(r.operator_id, r.side, r.waits_for): r.asDict() for r in rows if r.waits_for}


def _contradiction(join: dict[str, Any]) -> Iterator[Finding]:
    if join["contradiction"]:
        yield contradiction(join["operator"])


def _ahead(join: dict[str, Any], now: Waits, zone: tzinfo) -> Iterator[Finding]:
    for (operator, _, column), waits in now.items():
        ms, clock = waits["ms"], join["batchTimeMs"]
        if operator == join["operator"] and ms is not None and clock and ms > clock + _MARGIN:
            yield watermark_ahead(
                time_name(join, column),
                shown_time(ms, zone),
                ms - clock,
                f"in batch {join['batch']}",
            )


def _stands(join: dict[str, Any], now: Waits, before: Waits) -> Iterator[Finding]:
    marks = {key: waits["watermark"] for key, waits in now.items() if key[0] == join["operator"]}
    moved = any(key in before and before[key]["watermark"] != mark for key, mark in marks.items())
    for key, mark in marks.items():
        if moved and key in before and before[key]["watermark"] == mark:
            rows, column = now[key]["rows"], time_name(join, key[2])
            yield Finding(
                "WATERMARK_STANDS",
                f"{wait(rows, input_name(join, key[1]))} for {column}, which "
                f"{'has no watermark' if mark is None else f'stands at {mark}'} for "
                f"{_BATCHES} batches or more while others move.",
                {"waiting rows": rows, "first goes above": now[key]["expires"]},
                WAITS_FOR_ROWS,
                idle_timeout(column),
            )


def _keys(join: dict[str, Any], now: Waits, sample: Sample) -> Iterator[Finding]:
    own = {key[1]: waits for key, waits in now.items() if key[0] == join["operator"]}
    if set(own) == set(SIDES) and not any(waits["matched"] for waits in own.values()):
        finding = keys_differ(
            "No buffered row has found its key in the other input", join, sample, {}
        )
        if "agree" in finding.headline:
            yield finding


def _nothing_wrong(batch: int | None, joins: list[dict[str, Any]], rows: list[Row]) -> Finding:
    described = {join["operator"]: join for join in joins}
    there = [
        Waiting(r.operator_id, r.side, r.waits_for, r.rows, r.expires, r.watermark) for r in rows
    ]
    said = rows_there(there, lambda operator: described.get(operator, {}))
    return Finding(
        "HEALTHY",
        f"The state contains no problem: {said}.",
        {
            **({} if batch is None else {"batch": batch}),
            "waiting rows": sum(each.rows for each in there),
        },
        "The state contains no late rows, and no rows that never arrived. The reports of the "
        "query count them: streamjoin.doctor(query).",
    )
