"""Declarations of changelogs, and the options of their join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from pyspark.errors import PySparkValueError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from streamjoin import _arguments, _connect, _words
from streamjoin._operation import operation

Ttl = str | timedelta | Mapping[str, str | timedelta] | None


def from_changelog(
    df: DataFrame,
    *,
    key: str | Sequence[str] | None = None,
    op: str = "_change_type",
    op_mapping: Mapping[str, str] | None = None,
    sequence_by: str | None = None,
) -> DataFrame:
    """Declare rows with a row kind; also ``df.fromChangelog(...)``.

    Parameters
    ----------
    df : DataFrame
        A streaming DataFrame, of a classic session or of Spark Connect.
    key : str, sequence of str or None, optional
        The unique key. A change of a stored key replaces its row, and a delete needs only the
        key. Names are literal; if no column has the name, it is resolved as by ``F.col``. Default:
        None, rows are identified by all their columns, and equal rows are counted. Each change
        then needs the whole image of its row.
    op : str, optional
        The column of the row kinds, of type STRING. Default: ``"_change_type"``.
    op_mapping : mapping of str to str or None, optional
        The meaning of the values in ``op``: ``"insert"``, ``"update_preimage"``,
        ``"update_postimage"`` or ``"delete"``. Default: None, these values (Spark, Delta),
        ``+I -U +U -D`` (Flink) and ``INSERT UPDATE_BEFORE UPDATE_AFTER DELETE`` (Iceberg). Case
        is ignored.
    sequence_by : str or None, optional
        The column that determines which of two changes of a key is later. Default: None. With a
        key, this is the column ``_commit_version`` if there is one. Otherwise equal images of one
        batch cancel, and a remaining row replaces the stored one.

    Returns
    -------
    DataFrame
        The columns without ``op``, then ``_change_type``. ``_commit_version`` and
        ``_commit_timestamp`` are not part of a row's image.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN.INVALID_CHANGELOG``. While the query runs:
        ``STREAM_JOIN.UNKNOWN_CHANGE_TYPE``, ``STREAM_JOIN.NULL_KEY``.
    SetupError
        The session, or the Spark Connect server, runs without the jar or with a jar of another
        version. Or the version of Spark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    Source: Flink's ``FROM_CHANGELOG`` (FLIP-564); Spark's ``Changelog`` (SPARK-55668 and others).

    Examples
    --------
    >>> spark.readStream.option("readChangeFeed", True).table("orders").fromChangelog(
    ...     key="order_id"
    ... )  # doctest: +SKIP
    """
    source = _arguments.dataframe("df", df)
    keys = _arguments.names("key", key)
    column = _arguments.string("op", op)
    sequence = None if sequence_by is None else _arguments.string("sequence_by", sequence_by)
    words = {} if op_mapping is None else op_mapping
    if not isinstance(words, Mapping) or not all(
        isinstance(w, str) for pair in words.items() for w in pair
    ):
        raise _arguments.wrong_type("op_mapping", "mapping of str to str or None", op_mapping)
    mapped = [f"{word}={kind}" for word, kind in words.items()]
    options = _options(key=keys, op=[column], sequence_by=[sequence], op_mapping=mapped)
    return operation(source, "from_changelog", options=options)


def from_upserts(
    df: DataFrame,
    key: str | Sequence[str],
    sequence_by: str | None = None,
    *,
    deletes: Column | str | None = None,
) -> DataFrame:
    """Declare rows that are each the latest version of their key; also ``df.fromUpserts(...)``.

    Parameters
    ----------
    df : DataFrame
        A streaming DataFrame, of a classic session or of Spark Connect.
    key : str or sequence of str
        The unique key.
    sequence_by : str or None, optional
        The column that determines which of two changes of a key is later: the larger value, a
        number or a time. Text is compared as text. Default: None, which is refused with
        ``STREAM_JOIN.MISSING_SEQUENCE``.
    deletes : Column, str or None, optional
        A condition; a str is SQL. A row that satisfies it deletes its key. Default: None, no row
        deletes.

    Returns
    -------
    DataFrame
        The columns, then ``_change_type``: ``update_postimage`` or ``delete``.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above.
    pyspark.errors.PySparkValueError
        ``key`` is an empty sequence.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN.MISSING_SEQUENCE`` or ``STREAM_JOIN.INVALID_CHANGELOG``, or the
        condition does not resolve. While the query runs: ``STREAM_JOIN.NULL_KEY``.
    SetupError
        The session, or the Spark Connect server, runs without the jar or with a jar of another
        version. Or the version of Spark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    Source: Flink's upsert streams; ``apply_as_deletes`` of Spark's AUTO CDC.

    Examples
    --------
    >>> customers.fromUpserts("id", "updated_at", deletes="closed")  # doctest: +SKIP
    """
    source = _arguments.dataframe("df", df)
    keys = _arguments.names("key", key)
    if not keys:
        raise PySparkValueError(errorClass="CANNOT_BE_EMPTY", messageParameters={"item": "key"})
    sequence = None if sequence_by is None else _arguments.string("sequence_by", sequence_by)
    expr = _connect.condition if _connect.is_connect(source) else F.expr
    condition = expr(deletes) if isinstance(deletes, str) else deletes
    if condition is not None and not isinstance(condition, Column):
        raise _arguments.wrong_type("deletes", "Column, str or None", deletes)
    conditions = [] if condition is None else [condition]
    options = _options(key=keys, sequence_by=[sequence])
    return operation(source, "from_upserts", *conditions, options=options)


def from_debezium(
    df: DataFrame,
    key: str | Sequence[str],
    *,
    value: str = "value",
    sequence_by: str | None = None,
) -> DataFrame:
    """Declare Debezium's messages as the changes of their rows; also ``df.fromDebezium(...)``.

    Parameters
    ----------
    df : DataFrame
        A streaming DataFrame, of a classic session or of Spark Connect.
    key : str or sequence of str
        The unique key, as columns of the row.
    value : str, optional
        The column of the messages: a STRUCT with ``op`` (``c``, ``r``, ``u`` or ``d``), ``before``
        and ``after``, as ``from_json`` returns it. If messages include their schema, this STRUCT
        is in ``payload``. A NULL is a tombstone and is skipped. ``before`` of a delete needs only
        the key. An update whose ``before`` has another key deletes the row of that key. Without
        ``before``, that row stays. Default: ``"value"``.
    sequence_by : str or None, optional
        The field that determines which of two changes of a key is later: a path in the message
        (``"source.lsn"``), or a column next to the message. Default: None, Kafka's column
        ``offset``.

    Returns
    -------
    DataFrame
        The columns of the row, ``_commit_version`` (the sequence) and ``_change_type``.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above.
    pyspark.errors.PySparkValueError
        ``key`` is an empty sequence.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN.INVALID_CHANGELOG`` or ``STREAM_JOIN.MISSING_SEQUENCE``. While the
        query runs: ``STREAM_JOIN.UNKNOWN_CHANGE_TYPE`` (a truncate, too),
        ``STREAM_JOIN.NULL_KEY``.
    SetupError
        The session, or the Spark Connect server, runs without the jar or with a jar of another
        version. Or the version of Spark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    Source: Debezium's envelope for change events.

    Examples
    --------
    >>> messages.fromDebezium("id", sequence_by="source.lsn")  # doctest: +SKIP
    """
    source = _arguments.dataframe("df", df)
    keys = _arguments.names("key", key)
    if not keys:
        raise PySparkValueError(errorClass="CANNOT_BE_EMPTY", messageParameters={"item": "key"})
    column = _arguments.string("value", value)
    sequence = None if sequence_by is None else _arguments.string("sequence_by", sequence_by)
    options = _options(key=keys, value=[column], sequence_by=[sequence])
    return operation(source, "from_debezium", options=options)


def to_upserts(df: DataFrame, key: str | Sequence[str] | None = None) -> DataFrame:
    """Emit one row for each key and batch; also ``df.toUpserts(...)``.

    Parameters
    ----------
    df : DataFrame
        Changes: a declared input, or the result of a changelog join.
    key : str, sequence of str or None, optional
        The columns that identify a row of the result. Default: None, the key of a declared input.
        The result of a join has the key that follows from the keys of its inputs.

    Returns
    -------
    DataFrame
        The same columns, for MERGE or a compacted topic. ``_change_type`` is ``insert`` or
        ``update_postimage``, with the row after the batch, or ``delete``.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN.INVALID_CHANGELOG``: the input is not a changelog, or it has no
        known key.
    SetupError
        The session, or the Spark Connect server, runs without the jar or with a jar of another
        version. Or the version of Spark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    Above a join it needs no state: if the join key of a row changes, its delete and its insert are
    in one batch. Directly above a declaration with a key, it stores the latest version of each key.

    Source: Flink's ``SinkUpsertMaterializer``, which keeps a history for each key.

    Examples
    --------
    >>> wide.toUpserts(key="order_id")  # doctest: +SKIP
    """
    source = _arguments.dataframe("df", df)
    keys = _arguments.names("key", key)
    return operation(source, "to_upserts", options=_options(key=keys))


def state_ttl(value: object) -> str | None:
    """Encode the option of a join: an interval, or ``left=..., right=...``."""
    if not isinstance(value, Mapping):
        return _arguments.duration(
            "state_ttl", value, "str, datetime.timedelta, mapping by side or None"
        )
    _words.sides("state_ttl", value)
    limits = {side: _arguments.duration("state_ttl", limit) for side, limit in value.items()}
    given = [f"{side}={limit}" for side, limit in limits.items() if limit is not None]
    return ", ".join(given) or None


def _options(**columns: Sequence[str | None]) -> list[tuple[str, str]]:
    return [
        (name, value) for name, values in columns.items() for value in values if value is not None
    ]
