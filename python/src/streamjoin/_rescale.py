"""Gives the checkpoint of a stopped query another number of partitions."""

from __future__ import annotations

import os

from pyspark.sql import SparkSession

from streamjoin import _arguments, _connect, _errors
from streamjoin._jvm import python_api


def rescale(
    checkpoint: str | os.PathLike[str],
    to: str | os.PathLike[str],
    partitions: int,
    *,
    spark: SparkSession | None = None,
) -> list[str]:
    """Write a new checkpoint of a stopped query, with another number of partitions.

    The query continues from the new checkpoint as if it had started with this number: with the same
    rows, watermarks, late rows and batch numbers. The old checkpoint is not changed. Spark jobs
    read and write the state, one task for each partition.

    Parameters
    ----------
    checkpoint : str or os.PathLike
        The checkpoint folder of a query that does not run. The last committed batch counts. If
        another batch was started, the query runs it again with the same offsets.
    to : str or os.PathLike
        The folder of the new checkpoint. It does not exist, or is empty.
    partitions : int
        The new number of partitions, which replaces ``spark.sql.shuffle.partitions`` of the query.
    spark : SparkSession or None, optional
        The session that runs the jobs. Default: None, the active one.

    Returns
    -------
    list of str
        For each join and ordered output a line with its rows and partitions.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above.
    pyspark.errors.PySparkValueError
        ``partitions`` is not a positive 32-bit number.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN_REWRITE``. The checkpoint, or the folder for the new one, is
        refused before anything is written: the query runs; ``to`` is not empty; a stateful operator
        of Spark itself has state; the number is the same; or a key cannot be read from the rows.

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

    Source: the offline repartitioning of Spark 4.2, which does the same for Spark's own operators.

    Examples
    --------
    >>> streamjoin.rescale("/checkpoints/orders", "/checkpoints/orders-64", 64)  # doctest: +SKIP
    """
    old = _arguments.path("checkpoint", checkpoint)
    new = _arguments.path("to", to)
    number = _arguments.partitions(partitions)
    session = SparkSession.active() if spark is None else spark
    if _connect.is_connect(session):
        raise _errors.needs_classic_session("rescale", "rescale --help")
    return list(python_api(session).rescale(session._jsparkSession, old, new, number))
