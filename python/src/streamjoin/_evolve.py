"""Writes a checkpoint from which a changed query continues."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import TimestampNTZType, TimestampType

from streamjoin import _arguments, _connect, _errors
from streamjoin._jvm import python_api


def evolve(
    checkpoint: str | os.PathLike[str],
    to: str | os.PathLike[str],
    changed: DataFrame,
    *,
    rename: Mapping[str, str] | None = None,
    fill: Mapping[str, Any] | None = None,
    sources: Mapping[str, str | None] | None = None,
    dry_run: bool = False,
) -> list[str]:
    """Write a new checkpoint of a stopped query, from which a changed query continues.

    The changed query keeps the buffered rows, their matched flags, the watermarks, the offsets of
    the sources and the batch numbers. Its plan describes how it stores a row: the columns, the key,
    the times and the limits of each row are computed anew. The old checkpoint is not changed.

    The checkpoint may also be that of the same query with joins of Spark. Set
    ``spark.sql.streamJoin.replaceBuiltin`` to true, so that the query has joins of this project.

    Parameters
    ----------
    checkpoint : str or os.PathLike
        The checkpoint folder of a query that does not run. The last committed batch counts. If
        another batch was started, the changed query runs it with the same offsets.
    to : str or os.PathLike
        The folder of the new checkpoint. It does not exist, or is empty.
    changed : pyspark.sql.DataFrame
        The streaming DataFrame of the changed query, as it will be written.
    rename : Mapping of str to str, optional
        The new name of each renamed column, by its old one. Default: None, no column.
    fill : Mapping, optional
        The values that stored rows get in added columns, and instead of NULL in columns that are
        never NULL in the changed query, by the names of the columns. A value is converted to the
        type of its column, a datetime as ``createDataFrame`` converts it. Default: None; an added
        column is NULL.
    sources : Mapping, optional
        For a source with another name, path or topic, the source of the checkpoint from which it
        continues, or None if it is new. A source is called by its name, path, topic or table.
        Default: None; each source continues from the one of its name or location.
    dry_run : bool, optional
        Whether nothing is written. All rows are read. Default: False.

    Returns
    -------
    list of str
        Lines about each operator: from which it continues, its columns with what stored rows get,
        its bounds, type and sources, the number of rows, and what is promised of its results. Then
        a line about each source and operator that is new or removed.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN_REWRITE``. The checkpoint, the folder for the new one, or the
        change is refused before anything is written: the query runs; ``to`` is not empty; a
        stateful operator of Spark other than a join has state; a column has a narrower type; the
        stored flags do not decide another join type; an argument names nothing.

        ``STREAM_JOIN_STATE.NOT_FOUND``. No batch is committed, or the checkpoint has no state of a
        ``streamJoin``.

        ``STREAM_JOIN.INCOMPATIBLE_CHECKPOINT``. This version of streamjoin does not read the
        format of the state, or the description of the state is damaged.
    SetupError
        The session runs without the jar, with a jar of another version, or is of Spark Connect. Or
        the version of Spark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    Until the last file is written, Spark does not start a query on the new folder. After an
    interrupted call, delete the folder and repeat the call.

    Source: the evolution of state by column names in Flink (FLIP-527). Keys and limits of rows are
    computed anew besides.

    Examples
    --------
    >>> lines = streamjoin.evolve("/checkpoints/orders", "/checkpoints/orders-2", changed,
    ...     rename={"amount": "price"}, fill={"currency": "EUR"})  # doctest: +SKIP
    """
    old = _arguments.path("checkpoint", checkpoint)
    new = _arguments.path("to", to)
    _arguments.dataframe("changed", changed)
    names = _arguments.mapping("rename", rename, (str,))
    values = _arguments.mapping("fill", fill, (object,))
    of_sources = _arguments.mapping("sources", sources, (str, type(None)))
    session = changed.sparkSession
    if _connect.is_connect(session):
        raise _errors.needs_classic_session("evolve", "evolve --help")
    api = python_api(session)
    filled = {name: _in_java(value, session._jvm) for name, value in values.items()}
    return list(api.evolve(old, new, changed._jdf, names, filled, of_sources, dry_run))


def _in_java(value: object, jvm: Any) -> object:
    """py4j would drop the clock of a datetime, which TIMESTAMP_NTZ has, and refuse early dates."""
    if isinstance(value, datetime):
        clock, instant = TimestampNTZType().toInternal(value), TimestampType().toInternal(value)
        offset = timezone(timedelta(microseconds=clock - instant))
        return jvm.java.time.OffsetDateTime.parse(value.replace(tzinfo=offset).isoformat())
    if isinstance(value, date):
        return jvm.java.time.LocalDate.parse(value.isoformat())
    return value
