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
    """List the rows that the joins and orders of a query buffer after its last committed batch.

    It only reads the checkpoint, so a running query continues. One task reads one
    partition of one join. The DataFrame is of one batch, even if it is computed again; call again
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
        ``side`` requires a number, as each join has other columns.
    batch_id : int or None, optional
        The batch after which to look; Spark keeps the last 100
        (``spark.sql.streaming.minBatchesToRetain``). Default: None, the last committed batch.

    Returns
    -------
    DataFrame
        One row for each buffered row, in no order:

        - ``batch_id`` BIGINT, ``operator_id`` BIGINT
        - ``partition_id`` INT: NULL for rows of which every partition has a copy (the copied
          input of a join without an equality). A row with replicas is listed once. If it has one
          in a second time bucket, the partition that owns the row lists it
        - ``side`` STRING: ``left`` or ``right``; ``held`` for rows that an ordered output
          buffers until the watermark of their own time has passed them (as an argument, ``left``)
        - ``time``: the time by which the row is found
        - ``waits_for`` STRING: the column of the other input whose watermark evicts the row
        - ``expires``: the row stays buffered until that watermark is *above* this; NULL: that
          watermark never evicts it
        - ``watermark``: that watermark after the batch; NULL: unknown yet
        - ``matched`` BOOLEAN: whether the row has been joined; NULL where the join does not
          depend on it (inner joins, the side that is not preserved)
        - ``limits`` ARRAY of STRUCT of ``waits_for``, ``expires``, ``watermark``: all of them,
          if several columns can evict the row; the first to reach its limit does. The columns
          above are those of the closest one.
        - ``row`` STRING (JSON) or, with ``side``, STRUCT: the columns that the join has stored

        Times have the type of their column if all listed rows have the same type, otherwise
        STRING. A window counts as the TIMESTAMP of its end. Limits of whole numbers are BIGINT.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument is of another type than the ones above.
    pyspark.errors.PySparkValueError
        ``side`` is neither ``"left"`` nor ``"right"``.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN_STATE.NOT_FOUND``: there is no committed batch (or not this one),
        or no state of a ``streamJoin``.

        ``STREAM_JOIN.INCOMPATIBLE_CHECKPOINT``: this version of streamjoin does not read the
        format of the state, or the description of the state is damaged.
    py4j.protocol.Py4JJavaError
        When the rows are computed, with the error class ``STREAM_JOIN.INCOMPATIBLE_CHECKPOINT``: a
        file of the state is damaged.
    SetupError
        The session, or the Spark Connect server, was started without the jar or with one of another
        version, or Spark is none of 4.0, 4.1, 4.2 and 4.3.

    Notes
    -----
    The same rows in Scala and SQL: ``spark.read.format("streamjoin-pending")``, with the options
    ``side``, ``operator`` and ``batch``, and ``FROM `streamjoin-pending`.`/checkpoint` ``.

    Spark Connect analyses a DataFrame each time that it is computed. It is then of the batch that
    is the last one at that time, or of ``batch_id``.

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
