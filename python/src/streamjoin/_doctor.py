"""Why a join emits nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from streamjoin import _arguments, _zones
from streamjoin._diagnosis.checkpoint import diagnose_checkpoint
from streamjoin._diagnosis.diagnose import diagnose
from streamjoin._diagnosis.figures import source_rows
from streamjoin._diagnosis.findings import Diagnosis
from streamjoin._diagnosis.known import Known, TopKey, Waiting
from streamjoin._diagnosis.triggers import (
    batch_length,
    interval,
    next_batch,
    running,
    unreported,
)
from streamjoin._explained import plan_of
from streamjoin._pending import limits, pending, place, session_of
from streamjoin._progress import plain, reports
from streamjoin._quiet import quiet

# Sampled rows of each side, to compare their keys.
_SAMPLE = 1000

# About this number of rows of a side is sampled to find its most frequent key.
_KEYS = 10_000


def doctor(source: str | os.PathLike[str] | StreamingQuery) -> Diagnosis:
    """Explain why a query emits nothing, or which rows it loses.

    It reads the reports of the query, the joins in its checkpoint and, if a cause needs them, the
    buffered rows. It changes nothing, and a running query continues.

    Parameters
    ----------
    source : str, os.PathLike or StreamingQuery
        A query, running or ended, of a classic session or of Spark Connect; or the folder of a
        checkpoint. A folder has no reports, so the findings follow from the state alone.

    Returns
    -------
    Diagnosis
        ``findings``, the one that explains most first. Each has ``code``, ``headline``,
        ``figures``, ``cause`` and ``write``, the line to write. It prints as text, and in a
        notebook as a table. If nothing is wrong, the only finding is ``HEALTHY``, with the time at
        which the next row is due.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        ``source`` has another type than the ones above.
    pyspark.errors.AnalysisException
        For a folder. ``STREAM_JOIN_STATE.NOT_FOUND``: it has no committed batch or no
        ``streamJoin``. ``STREAM_JOIN.INCOMPATIBLE_CHECKPOINT``: the description of its state is
        damaged.
    SetupError
        The session, or the Spark Connect server, runs without the jar or with a jar of another
        version. Or the version of Spark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    Source: the metrics of the join in ``query.recentProgress``, of which Spark keeps the last 100
    (``spark.sql.streaming.numRecentProgressUpdates``), and ``streamjoin.pending``.

    Examples
    --------
    >>> print(streamjoin.doctor(query))  # doctest: +SKIP
    >>> streamjoin.doctor("/checkpoints/orders").headline.code  # doctest: +SKIP
    """
    where = _arguments.checkpoint(source)
    session = session_of(where)
    location = place(session, where)
    if isinstance(where, str):
        sample = _State(session, where).sample
        return diagnose_checkpoint(
            where, _joins(session, where), sample, _zones.of_session(session)
        )
    # the state may be deleted, or not written yet: the reports of the query suffice then
    with quiet():
        return diagnose(_known(session, where, next(iter(location.values()))))


def _known(session: SparkSession, query: StreamingQuery, location: str) -> Known:
    state = _State(session, query)
    progress = list(query.recentProgress)
    error = query.exception()
    zone, runs, length = _zones.of_session(session), running(query), batch_length(query)
    return Known(
        progress=reports(progress),
        described=_described(session, location),
        silent=_silent(progress),
        status=str(query.status.get("message", "")),
        error=str(error) if error is not None else "",
        waiting=state.waiting,
        sample=state.sample,
        plan=lambda: plan_of(query),
        zone=zone,
        next_batch=next_batch(query, progress, zone) or unreported(runs, length),
        interval=interval(query),
        length=length,
        running=runs,
        top_key=state.top_key,
    )


class _State:
    """The buffered rows; none if the query has no state yet."""

    def __init__(self, session: SparkSession, where: str | StreamingQuery) -> None:
        self._session = session
        self._where = where

    def waiting(self) -> list[Waiting]:
        try:
            rows = (
                pending(self._where)
                .groupBy("operator_id", "side", "waits_for")
                .agg(
                    F.count("*").alias("n"),
                    *limits(),
                    F.count_if(~F.col("matched")).alias("unmatched"),
                )
                .collect()
            )
        except PySparkException:
            return []
        return [
            Waiting(r.operator_id, r.side, r.waits_for, r.n, r.expires, r.watermark, r.unmatched)
            for r in rows
        ]

    def sample(self, operator: int) -> Mapping[str, list[dict[str, Any]]]:
        return {side: self._side(operator, side) for side in ("left", "right")}

    def _side(self, operator: int, side: str) -> list[dict[str, Any]]:
        try:
            rows: DataFrame = pending(self._where, operator=operator).where(F.col("side") == side)
            return [json.loads(r.row) for r in rows.select("row").limit(_SAMPLE).collect()]
        except PySparkException:
            return []

    def top_key(self, operator: int, side: Any, rows: int, names: list[str]) -> TopKey | None:
        """Find the most frequent key in a sample of the rows of a side."""
        try:
            buffered = pending(self._where, side, operator=operator).select("row.*")
            of_keys = buffered.sample(min(1.0, _KEYS / rows)).groupBy(*names).count()
            top = of_keys.agg(
                F.max_by(F.concat_ws(", ", *names), "count"), F.max("count"), F.sum("count")
            ).first()
        except PySparkException:
            return None
        return None if top is None or top[1] is None else TopKey(top[0], top[1], top[2])


def _joins(session: SparkSession, where: str) -> list[dict[str, Any]]:
    text = where.replace("\\", "\\\\").replace("'", "\\'")
    row = session.sql(f"SELECT streamjoin_joins('{text}')").collect()[0]
    joins: list[dict[str, Any]] = json.loads(row[0])
    return joins


def _described(session: SparkSession, where: str) -> list[dict[str, Any]]:
    try:
        return _joins(session, where)
    except PySparkException:
        # no batch yet, or a query on Spark Connect that has ended: its reports remain
        return []


def _silent(progress: list[Any]) -> int:
    """Count the last reports in which no source had a row."""
    count = 0
    for report in reversed(progress):
        if source_rows(plain(report)):
            break
        count += 1
    return count
