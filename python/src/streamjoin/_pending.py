"""A look at the rows that joins hold back."""

from __future__ import annotations

import os

from pyspark.sql import DataFrame, SparkSession
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
    """Show the rows that the joins and orders of a query hold back, as of its last committed batch.

    It reads the checkpoint and leaves it as it is: a running query goes on. One task reads one
    partition of one join. The DataFrame is of one batch, however often it is computed; call again
    for a later one.

    Parameters
    ----------
    source : str, os.PathLike or StreamingQuery
        The checkpoint folder of a query, or a query of this session, running or stopped; on
        Spark Connect one that runs.
    side : str or None, optional
        ``"left"`` or ``"right"``: rows of this input only, and their columns in the column
        ``row``, as they were (``select("row.*")``). Default: None, both, with ``row`` as JSON.
    operator : int or None, optional
        The number of a join, where the query has several: its folder in the checkpoint's
        ``state``, and ``operatorId`` of Spark's ``state-metadata``. Default: None, all joins.
        With ``side`` it must be said which one, for each has other columns.
    batch_id : int or None, optional
        The batch after which to look; Spark keeps the last 100
        (``spark.sql.streaming.minBatchesToRetain``). Default: None, the last committed batch.

    Returns
    -------
    DataFrame
        A row for each row that waits, in no order:

        - ``batch_id`` BIGINT, ``operator_id`` BIGINT
        - ``partition_id`` INT: NULL for rows of which every partition has a copy (the copied
          input of a join without an equality). A row with copies is shown once; where it has one
          in a second bucket of time, by the partition that answers for it
        - ``side`` STRING: ``left`` or ``right``; ``held`` for rows that an ordered output holds
          back until the watermark of their own time has passed them (as an argument, ``left``)
        - ``time``: the time by which the row is found
        - ``waits_for`` STRING: the column of the other input whose watermark frees the row
        - ``expires``: the row is kept until that watermark is *above* this; NULL: that
          watermark never frees it
        - ``watermark``: that watermark after the batch; NULL: not known yet
        - ``matched`` BOOLEAN: whether the row has been joined; NULL where the join does not
          depend on it (inner joins, the side that is not preserved)
        - ``limits`` ARRAY of STRUCT of ``waits_for``, ``expires``, ``watermark``: all of them,
          where several columns can free the row; the first to do so does. The columns above
          are the one that is closest.
        - ``row`` STRING (JSON) or, with ``side``, STRUCT: the columns that the join has stored

        Times have the type of their column (a window counts as the TIMESTAMP of its end; limits
        of whole numbers are BIGINT) where that is the same for all rows shown, else they are
        STRING.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument is of another type than the ones above.
    pyspark.errors.PySparkValueError
        ``side`` is neither ``"left"`` nor ``"right"``.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN_STATE.NOT_FOUND``: no committed batch (or not this one) or no
        state of a ``streamJoin`` is there. ``STREAM_JOIN.INCOMPATIBLE_CHECKPOINT``: the state has
        a format that this version of streamjoin does not read, or what describes it is damaged.
    py4j.protocol.Py4JJavaError
        When the rows are computed, with the error class ``STREAM_JOIN.INCOMPATIBLE_CHECKPOINT``: a
        file that holds them is damaged.
    SetupError
        The session, or the Spark Connect server, was started without the jar or with one of another
        version, or Spark is neither 4.2 nor 4.3.

    Notes
    -----
    The same rows in Scala and SQL: ``spark.read.format("streamjoin-pending")``, with the options
    ``side``, ``operator`` and ``batch``, and ``FROM `streamjoin-pending`.`/checkpoint` ``.

    On Spark Connect a DataFrame is analysed, and refused, when it is computed, each time anew: it
    is of the batch that is the last one then, or of ``batch_id``.

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
    session = SparkSession.active()
    options = {"side": which, "operator": number, "batch": batch, **place(session, where)}
    reader = session.read.format("streamjoin-pending")
    return reader.options(**{k: v for k, v in options.items() if v is not None}).load()


def place(session: SparkSession, where: str | StreamingQuery) -> dict[str, str]:
    """Say where to read, to a session that is known to have the jar."""
    if _connect.is_connect(session):
        _connect.check(session)
        return {"path": where} if isinstance(where, str) else {"query": where.id}
    api = python_api(session)
    return {"path": where if isinstance(where, str) else api.checkpointOf(where._jsq)}
