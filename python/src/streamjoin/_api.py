"""The operations, as functions and as methods of DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import update_wrapper
from types import FunctionType
from typing import Any

from pyspark.sql import Column, DataFrame

from streamjoin import _arguments, _changelog, _connect, _words
from streamjoin._jvm import python_api
from streamjoin._operation import java, java_column, operation


def impose_order(
    df: DataFrame,
    column: str,
    lag: str | int | timedelta,
    *,
    idle_timeout: str | timedelta | None = None,
    max_ahead: str | timedelta | None = None,
    ahead: _words.Ahead | None = None,
    per: str | Sequence[str] | None = None,
) -> DataFrame:
    """Give an event-time column its watermark; also ``df.imposeOrder(...)``.

    The watermark of the column is the largest value seen in it minus ``lag``. A row strictly
    below the watermark with which its batch began is late: a join drops and counts it. Rows are
    not sorted.

    Parameters
    ----------
    df : DataFrame
        A streaming DataFrame, of a classic session or of Spark Connect.
    column : str
        Name of a top-level column of type TIMESTAMP, TIMESTAMP_NTZ, DATE, BIGINT, INT, SMALLINT
        or TINYINT.
    lag : str, int or datetime.timedelta
        How far a row may be behind the largest value seen without being late; not negative. For
        times: an interval string (``"1 minute"``) or a timedelta. Months and years are refused, as
        their length varies. For columns of numbers: an int, in the unit of the column.
    idle_timeout : str, datetime.timedelta or None, optional
        After this time without a row, the input no longer delays others: an interval string or a
        timedelta, of wall-clock time. Default: None, it delays them without end.
    max_ahead : str, datetime.timedelta or None, optional
        How far a time may be ahead of its batch (an interval string or a timedelta, not negative),
        for columns of times. The clock is the recorded time of the batch, which is also its
        ``current_timestamp()``. A time further ahead moves no watermark and does not end
        ``idle_timeout``. The join counts it in the metrics ``aheadRowsLeft`` and
        ``aheadRowsRight``. Default: None, every time is accepted.
    ahead : str or None, optional
        What to do with a row further ahead than ``max_ahead``: ``"reject"`` drops it, ``"keep"``
        joins it like any other. A kept row stays buffered until the watermarks reach it.
        Default: None, which is ``"reject"`` if there is a ``max_ahead``.
    per : str, list of str or None, optional
        Names of top-level columns that identify a source of rows, such as
        ``["topic", "partition"]`` of Kafka: strings, numbers, booleans or times. Each combination
        of their values, NULL among them, is a group with its own watermark, and the watermark of
        the column is the least of them. So a slow partition delays the others, and its rows are
        not late. A new group starts at the watermark of the column. With ``idle_timeout``, a group
        without a row for that long does not count. At most
        ``spark.sql.streamJoin.maxWatermarkGroups`` groups. Default: None, all rows are one group.

    Returns
    -------
    DataFrame
        The same rows and columns; the column has a watermark.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above. A bool is not accepted as an int.
    pyspark.errors.PySparkValueError
        ``lag`` is an int that does not fit into a BIGINT. ``ahead`` is none of the values above,
        or is given without ``max_ahead``.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN.NEGATIVE_LAG``, ``STREAM_JOIN.CALENDAR_INTERVAL`` or
        ``STREAM_JOIN.UNSUPPORTED_TIME_TYPE``.

        ``STREAM_JOIN.INVALID_LAG``: an interval does not parse, or a column of numbers has a
        ``max_ahead``.

        The column does not exist, or one of ``per`` does not, or has another type:
        ``STREAM_JOIN.INVALID_COLUMN``. When the query starts:
        ``STREAM_JOIN.UNUSED_WATERMARK_GROUPS``, if neither a join nor an order uses ``per``.
    SetupError
        The session, or the Spark Connect server, runs without the jar or with a jar of another
        version. Or the version of Spark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    ``DataFrame.withWatermark`` and SQL's ``WATERMARK c DELAY OF ...`` are equivalent.

    Source: ``IMPOSE_ORDER`` and the keyed watermarks of Hazelcast's design document
    "Stream to stream JOIN".

    Examples
    --------
    >>> orders.imposeOrder("order_time", "1 minute")  # doctest: +SKIP
    >>> trades.imposeOrder("sequence_number", 100)  # doctest: +SKIP
    >>> orders.imposeOrder("order_time", "1 minute", per=["topic", "partition"])  # doctest: +SKIP
    """
    source = _arguments.dataframe("df", df)
    name = _arguments.string("column", column)
    behind = _arguments.lag(lag)
    idle = _arguments.duration("idle_timeout", idle_timeout)
    limit = _arguments.duration("max_ahead", max_ahead)
    fate = _words.ahead(ahead)
    _arguments.needs_limit(fate, limit)
    options = _given(idle_timeout=idle, max_ahead=limit, ahead=fate).items()
    groups = [("per", column) for column in _arguments.names("per", per)]
    return operation(source, "impose_order", name, behind, options=[*options, *groups])


def stream_join(
    left: DataFrame,
    right: DataFrame,
    on: Column | str | Sequence[str | Column],
    how: _words.How = "inner",
    *,
    retention: str | int | timedelta | None = None,
    late: _words.Late = "drop",
    order_by: str | Column | Sequence[str | Column] | None = None,
    order_scope: _words.OrderScope = "query",
    mode: _words.Mode | None = None,
    emit: _words.Emit | None = None,
    state_ttl: _changelog.Ttl = None,
    on_expiry: _words.OnExpiry = "keep",
) -> DataFrame:
    """Join two streams, with a watermark for each event-time column; also ``left.streamJoin(...)``.

    The join buffers a row for as long as a row that can still arrive could match it. Therefore
    the condition must bound the event times of both inputs against each other.

    The parameters of each kind of join, besides ``on`` and ``how``:

    - event-time joins: ``retention``, ``late``, ``order_by``, ``order_scope``, ``emit``
    - as-of joins (``how="asof"``): ``late``, ``order_by``, ``order_scope``, and ``state_ttl`` if
      the right input is a changelog
    - changelog joins (``mode="changelog"``): ``state_ttl``, ``on_expiry``

    Parameters
    ----------
    left, right : DataFrame
        Streaming DataFrames of one session, classic or Spark Connect. Each has at least one
        event-time column with a watermark (``imposeOrder``, ``withWatermark`` or SQL).
    on : Column, str, list of str or Column
        A condition. A str is a condition in SQL, in which aliases may be used
        (``left.alias("o")``: ``"o.id = d.id AND d.t BETWEEN o.t AND o.t + INTERVAL '1' HOUR"``).
        A list of names is the equality of these columns; the result has one copy of each. A list
        of conditions is their conjunction. With a list of both, the result has both copies of
        each name.
        Note that ``DataFrame.join`` takes a str as the name of a column: write ``["id"]`` here.
    how : str, optional
        ``"inner"`` (default), ``"left"``, ``"right"``, ``"full"``, ``"semi"`` or ``"anti"``, in
        every spelling that ``DataFrame.join`` takes (``"left_outer"``, ``"leftanti"``, ...).

        ``"asof"`` joins each left row with the last right row of its key at or before its time.
        ``"left_asof"`` also emits left rows without a match. The condition may limit the age of a
        match: ``q.t >= t.t - INTERVAL '10' MINUTE``. Without a limit, the last row of each key is
        stored forever. The condition may also set the latest time of a match (``q.t < t.t``;
        default: ``q.t <= t.t``). Its other parts apply to the last row; they do not select an
        earlier one. A row is emitted when both watermarks have passed it.

        If the right input is a changelog with a key, each left row is joined with the version that
        is valid at its time: from the time of a row to that of the next row or the delete of its
        key. The equality must contain the key. The output is append-only, without the row kind.
    retention : str, int, datetime.timedelta or None, optional
        How long to buffer rows that the condition does not bound. For times it is an interval
        string (``"1 hour"``) or a timedelta, for numbers an int in their unit; not negative. The
        join adds the missing inequality to the condition, and ``explain`` shows it. Default: None,
        the setting ``spark.sql.streamJoin.retention``. Without either, such a join is refused.
    late : str, optional
        What to do with late rows, those strictly below the watermark with which their batch began.
        ``"drop"`` (default): they are only counted. ``"emit"``: each is also emitted once, in the
        batch in which it arrives. It has the columns of its own input, and NULL in the others.

        The last column of the output is then ``late``, NULL in all other rows:
        ``STRUCT<input: STRING, column: STRING, watermark: STRING>``. ``input`` is ``left`` or
        ``right``. ``column`` is the first late time column, named as in the metric
        ``watermark.<column>``. ``watermark`` is its watermark, written as a value of that column
        in the session's time zone.

        A semi or anti join emits only late left rows. A join above must have ``late="emit"`` too,
        which emits such rows again. Or filter them out before it: ``where("late IS NULL")``. No
        filter above is moved below the join.
    order_by : str, Column, list of str or Column, or None, optional
        The order of the output, over the whole query, in append mode. ``"rowtime"`` is the later
        of the two times. For an unmatched row it is the time after which no partner can arrive.
        With a window on one input, it is the time of the other input's row. Otherwise give
        columns, first an event time that still has a watermark:
        ``["d.delivery_time", "o.order_time"]``. This equals ``orderBy`` of the result, or
        ``ORDER BY`` in SQL: the operator buffers a row until no earlier row can arrive. It
        excludes ``late="emit"``, whose rows arrive after their time. Default: None, no particular
        order.
    order_scope : str, optional
        The scope of ``order_by``. ``"query"`` (default): all partitions of each batch, and all
        batches. ``"partition"``: each partition ascends over all batches, and so do the rows of
        each key of an equality. There is no order between partitions. This equals
        ``sortWithinPartitions`` of the result, or ``SORT BY`` in SQL. It saves a shuffle, and the
        watermarks alone decide when a row is emitted.
    mode : str or None, optional
        ``"event_time"``: the join that is described above. ``"changelog"``: inputs have inserts,
        updates and deletes, and the join emits corrections. It needs no watermark and no bound. An
        input that is not declared as a changelog only inserts. The last columns of the output are
        ``_change_type``, ``_commit_version`` (number of the batch) and ``_commit_timestamp`` (its
        time). Default: None, ``"changelog"`` if an input is declared as one.
    emit : str or None, optional
        ``"final"``: a result is emitted once. ``"early"``: an unmatched row is emitted in the batch
        in which it arrives, and corrected when its match arrives. Watermarks and bounds evict rows
        as in the join with final results, and are required. The output has the columns of
        ``mode="changelog"``. Default: None, ``"early"`` if an input is such a result or another
        changelog, else ``"final"``.
    state_ttl : str, datetime.timedelta, mapping or None, optional
        How long a changelog join stores a row, for both inputs, or as
        ``{"left": ..., "right": ...}``. The age counts from the event time if the input has an
        imposed order. Otherwise it counts from the last write, by the recorded time of the
        batches. Default: None, a row is stored until it is deleted, or until a bound and both
        watermarks evict it. In an as-of join with a changelog it is the age, by event time, at
        which the last version of a key ends.
    on_expiry : str, optional
        What the expiry of a row by ``state_ttl`` does. ``"keep"`` (default): its results stay, and
        later changes are joined as if the row had never been there. ``"retract"``: it is a delete,
        which retracts the results. ``INVALID_OPTION`` without ``state_ttl``.

    Returns
    -------
    DataFrame
        Columns and their order as of ``DataFrame.join``, and ``late`` with ``late="emit"``. The
        time columns of the output still have watermarks: the result can be joined again or
        aggregated by window.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument has another type than the ones above.
    pyspark.errors.PySparkValueError
        ``on`` is an empty list or a str that is only a name. ``retention`` is an int that does
        not fit into a BIGINT. ``how``, ``late``, ``order_scope``, ``mode``, ``emit``,
        ``on_expiry`` or a side of ``state_ttl`` has an unknown value; the message lists the valid
        ones. ``on`` and ``how`` are exchanged. ``order_by`` has a direction in a str.
        ``order_scope`` is ``"partition"`` without ``order_by``.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN.*``, with the names of the columns and the inequality to add.

        For the inputs and the condition: ``MISSING_WATERMARK``, ``UNBOUNDED_STATE``,
        ``DISJUNCTIVE_BOUND``, ``NON_CONSTANT_BOUND``, ``CALENDAR_INTERVAL``,
        ``UNSUPPORTED_CONDITION``, ``STATIC_INPUT``.

        For an argument: ``INVALID_LAG``, ``NEGATIVE_LAG`` (``retention``), ``UNSUPPORTED_ORDER``,
        ``INVALID_ROWTIME`` (``order_by``), ``UNSUPPORTED_AS_OF`` (``how``), ``INVALID_STATE_TTL``.
        ``INVALID_OPTION``: the option belongs to the other mode. ``LATE_COLUMN_EXISTS``,
        ``LATE_ROWS_BELOW``: this join or one below emits late rows.

        The condition does not parse or resolve.
    SetupError
        The session, or the Spark Connect server, runs without the jar or with a jar of another
        version. Or the version of Spark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    Spark Connect analyses the join, and refuses it, when its columns are requested or the query
    starts.

    Source: Hazelcast's design document "Stream to stream JOIN" (watermarks per column, bounds
    from the condition, output watermarks); types of join and output columns: Spark SQL.

    Examples
    --------
    >>> orders.alias("o").streamJoin(
    ...     deliveries.alias("d"),
    ...     "o.order_id = d.order_id AND d.delivery_time "
    ...     "BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR",
    ...     "left",
    ... )  # doctest: +SKIP
    """
    source = _arguments.dataframe("left", left)
    other = _arguments.dataframe("right", right)
    _words.require_condition(on, how)
    condition = _arguments.condition(on, source, other)
    kind, match = _words.how(how)
    options = _given(
        retention=_arguments.retention(retention),
        late=_words.late(late),
        mode=_words.mode(mode),
        emit=_words.emit(emit),
        state_ttl=_changelog.state_ttl(state_ttl),
        on_expiry=_words.on_expiry(on_expiry),
        match=match,
    )
    order = _arguments.order_by(order_by)
    in_partitions = _words.in_partitions(order_scope)
    _arguments.needs_order(in_partitions, order)
    if _connect.is_connect(source):
        result = _connect.stream_join(source, other, condition, kind, options)
    else:
        api = python_api(source.sparkSession)
        asked = java_column(condition) if isinstance(condition, Column) else condition
        joined = api.streamJoin(java(source), java(other), asked, kind, options)
        result = DataFrame(joined, source.sparkSession)
    if not order:
        return result
    return result.sortWithinPartitions(*order) if in_partitions else result.orderBy(*order)


def _given(**options: str | None) -> dict[str, str]:
    return {name: value for name, value in options.items() if value is not None}


def attach() -> None:
    """Add the methods of this package to DataFrame."""
    methods = {
        "imposeOrder": impose_order,
        "streamJoin": stream_join,
        "fromChangelog": _changelog.from_changelog,
        "fromUpserts": _changelog.from_upserts,
        "fromDebezium": _changelog.from_debezium,
        "toUpserts": _changelog.to_upserts,
    }
    for name, function in methods.items():
        setattr(DataFrame, name, _named(function, name))


def _named(function: Any, name: str) -> Any:
    """Return a copy of the function with the name of the method, for ``help`` and for errors."""
    method: Any = FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    update_wrapper(method, function)
    method.__kwdefaults__ = function.__kwdefaults__
    method.__name__, method.__qualname__ = name, f"DataFrame.{name}"
    del method.__wrapped__
    return method
