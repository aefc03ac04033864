"""Starts a query from history."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from pyspark.sql import DataFrame

from streamjoin import _arguments, _connect, _errors
from streamjoin._jvm import python_api

History = tuple[DataFrame, DataFrame] | tuple[DataFrame, DataFrame, tuple[str, str]]


def warm(
    query: DataFrame,
    checkpoint: str | os.PathLike[str],
    history: Sequence[History],
    *,
    output_mode: Literal["append", "update", "complete"] = "append",
    allow_gap: bool = False,
) -> list[str]:
    """Write the checkpoint of a query that has read the history of its streams.

    The query then starts from this checkpoint with its live streams. Its output is that of a query
    that had always run, without the rows that this query had emitted by the end of the history:

    - a live row is joined with rows of the history;
    - a result of the history alone is not emitted;
    - a row of the history that is still without a match is emitted unmatched when its time is over.

    This call runs the first batch of the query, with each stream replaced by its history, and drops
    the output. A streaming query then begins with the second batch.

    Parameters
    ----------
    query : DataFrame
        The result of the query, a stream with at least one join or ordered output.
    checkpoint : str or os.PathLike
        The folder of the new checkpoint, the ``checkpointLocation`` of the query. It does not
        exist, or is empty.
    history : list of tuple
        For each stream a tuple of the stream and a table. The stream is a DataFrame from which
        ``query`` was built, with one source. The table has at least its columns, by name. A third
        value, the names of the columns of the table with the partition and the offset of each row,
        is needed if the stream is a topic and the table is none. A stream without a history begins
        with its live rows.
    output_mode : str, optional
        The output mode with which the query is started. Default: ``"append"``.
    allow_gap : bool, optional
        Whether to accept streams of which it is not known that their live rows begin where the
        history ends. Rows in neither of both are missing, rows in both are joined twice. Default:
        False.

    Returns
    -------
    list of str
        For each stream a line with the rows that were read, and for each join and ordered output a
        line with the rows that it buffers.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN_WARM_START``. The query, the folder or a history is refused before
        anything is written, for example because the live rows do not begin where the history ends.
    pyspark.errors.StreamingQueryException
        The first batch fails.
    SetupError
        The session runs without the jar, with a jar of another version, or is of Spark Connect. Or
        the version of Spark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    After an interrupted call, the checkpoint is refused. Delete the folder and repeat the call.

    Of event-time joins, only rows of the history are read that can still have an effect: those
    within the distances of the joins before the end of the history. The condition on the time
    reaches the scan of the table.

    Source: the snapshot of a change feed in Delta Lake, by which the first batch of a stream reads
    the table, and later ones its changes.

    Examples
    --------
    >>> streamjoin.warm(  # doctest: +SKIP
    ...     result, "/checkpoints/paid", [(orders, past_orders), (payments, past_payments)]
    ... )
    """
    result = _arguments.dataframe("query", query)
    to = _arguments.path("checkpoint", checkpoint)
    pairs = _arguments.histories(history)
    mode = _arguments.string("output_mode", output_mode)
    session = result.sparkSession
    if _connect.is_connect(session):
        raise _errors.needs_classic_session("warm")
    streams, tables, offsets = zip(*pairs, strict=True) if pairs else ((), (), ())
    return list(
        python_api(session).warm(
            result._jdf,
            to,
            [stream._jdf for stream in streams],
            [table._jdf for table in tables],
            [list(columns) for columns in offsets],
            mode,
            bool(allow_gap),
        )
    )
