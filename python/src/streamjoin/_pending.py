"""Lists the buffered rows of joins and ordered outputs."""

from __future__ import annotations

import os
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from streamjoin import _arguments, _connect, _words
from streamjoin._jvm import python_api


def pending(
    source: str | os.PathLike[str] | StreamingQuery,
    side: _words.Side | None = None,
    *,
    operator: int | None = None,
    batch_id: int | None = None,
) -> DataFrame:
    """List the rows that the joins and orders of a query buffer after its last committed batch.

    It only reads the checkpoint, so a running query continues. One task reads one partition of one
    join. The DataFrame shows one batch, even if it is computed again. Call again for a later batch.

    Parameters
    ----------
    source : str, os.PathLike or StreamingQuery
        The checkpoint folder of a query, or a query of this session, running or stopped. On Spark
        Connect, the query must run.
    side : str or None, optional
        ``"left"`` or ``"right"``: only rows of this input. The STRUCT ``row`` then has their
        columns (``select("row.*")``). Default: None, both inputs, with ``row`` as JSON.
    operator : int or None, optional
        The number of a join, if the query has several: its folder in the checkpoint's ``state``,
        and ``operatorId`` of Spark's ``state-metadata``. Default: None, all joins. With ``side``
        and several joins a number is required, as each join has other columns.
    batch_id : int or None, optional
        The batch whose state is read. Spark keeps the last 100 batches
        (``spark.sql.streaming.minBatchesToRetain``). Default: None, the last committed batch.

    Returns
    -------
    DataFrame
        One row for each buffered row, in no order:

        - ``batch_id`` BIGINT, ``operator_id`` BIGINT
        - ``partition_id`` INT: NULL for rows of which every partition has a copy (the replicated
          input of a join without an equality). A row with replicas is listed once. If it has a
          replica in a second time bucket, the partition that owns the row lists it
        - ``side`` STRING: ``left`` or ``right``; ``held`` for rows that an ordered output
          buffers until the watermark of their own time has passed them (as an argument, ``left``)
        - ``time``: the event time by which the join finds the row
        - ``waits_for`` STRING: the column of the other input whose watermark evicts the row
        - ``expires``: the row stays buffered until that watermark is *above* this; NULL: that
          watermark never evicts it
        - ``watermark``: that watermark after the batch; NULL: unknown yet
        - ``waits_for_group`` STRING: the slowest group of ``waits_for``, which holds its watermark
          back; NULL if the column has no groups (``per`` of ``imposeOrder``)
        - ``matched`` BOOLEAN: whether the row has been joined; NULL if the join does not depend
          on it (inner joins, the side that is not preserved)
        - ``limits`` ARRAY of STRUCT of ``waits_for``, ``expires``, ``watermark``: all limits, if
          several columns can evict the row. The first watermark above its limit evicts the row.
          The columns above show the closest limit
        - ``row`` STRING (JSON) or, with ``side``, STRUCT: the columns that the join has stored

        Times have the type of their column if all listed rows have the same type, otherwise
        STRING. A window counts as the TIMESTAMP of its end. Limits of whole numbers are BIGINT.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above.
    pyspark.errors.PySparkValueError
        ``side`` is neither ``"left"`` nor ``"right"``.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN_STATE.NOT_FOUND``. No batch is committed, or not this one. Or the
        checkpoint has no state of a ``streamJoin``.

        ``STREAM_JOIN.INCOMPATIBLE_CHECKPOINT``. This version of streamjoin does not read the
        format of the state, or the description of the state is damaged.
    py4j.protocol.Py4JJavaError
        When the rows are computed, with the error class ``STREAM_JOIN.INCOMPATIBLE_CHECKPOINT``. A
        file of the state is damaged.
    SetupError
        The session, or the Spark Connect server, runs without the jar or with a jar of another
        version. Or the version of Spark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    The same rows in Scala and SQL: ``spark.read.format("streamjoin-pending")``, with the options
    ``side``, ``operator`` and ``batch``, and ``FROM `streamjoin-pending`.`/checkpoint` ``.

    Spark Connect analyses a DataFrame each time that it is computed. So it shows the last batch at
    that time, or ``batch_id``.

    Source: the ``statestore`` reader of Spark, which shows the state of Spark's own operators.

    Examples
    --------
    >>> streamjoin.pending(query).groupBy("side", "waits_for").count()  # doctest: +SKIP
    >>> streamjoin.pending("/checkpoints/orders", "left").select("row.*")  # doctest: +SKIP
    """
    where = _arguments.checkpoint(source)
    which = _words.side(side)
    number = _arguments.whole("operator", operator)
    batch = _arguments.whole("batch_id", batch_id)
    session = session_of(where)
    options = {"side": which, "operator": number, "batch": batch, **place(session, where)}
    reader = session.read.format("streamjoin-pending")
    return reader.options(**{k: v for k, v in options.items() if v is not None}).load()


def limits() -> list[Column]:
    """Aggregate the least limit and the largest watermark of rows, as text.

    `pending` lists limits of several types as text, in which 10 is before 9.
    """
    return [
        F.expr(
            f"({end}(struct(try_cast(string({name}) AS DECIMAL(38)), string({name}) AS text)) "
            f"FILTER (WHERE {name} IS NOT NULL)).text"
        ).alias(name)
        for end, name in (("min", "expires"), ("max", "watermark"))
    ]


def session_of(where: str | StreamingQuery) -> SparkSession:
    """Return the session of a query, or the active session for a folder.

    Times are displayed in the time zone of a session, and the active session can be another one
    than that of the query.
    """
    if isinstance(where, str):
        return SparkSession.active()
    if _connect.is_connect(where):
        session: SparkSession = where._session  # type: ignore[attr-defined]
        return session
    # no import of a classic session's parts at the top: a Spark Connect client lacks them
    from pyspark import SparkContext

    of_jvm: Any = where._jsq
    return SparkSession(SparkContext.getOrCreate(), of_jvm.sparkSession())


def place(session: SparkSession, where: str | StreamingQuery) -> dict[str, str]:
    """Return the reader option with the place of the state; checks that the session has the jar."""
    if _connect.is_connect(session):
        _connect.check(session)
        return {"path": where} if isinstance(where, str) else {"query": where.id}
    api = python_api(session)
    return {"path": where if isinstance(where, str) else api.checkpointOf(where._jsq)}
