"""The two operations, as functions and as methods of DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import update_wrapper
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import Column, DataFrame

from streamjoin import _arguments, _changelog, _connect, _words
from streamjoin._jvm import python_api

if TYPE_CHECKING:
    from pyspark.sql.classic.column import Column as ClassicColumn
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame


def impose_order(
    df: DataFrame,
    column: str,
    lag: str | int | timedelta,
    *,
    idle_timeout: str | timedelta | None = None,
    max_ahead: str | timedelta | None = None,
    ahead: _words.Ahead | None = None,
) -> DataFrame:
    """Give an event-time column a watermark of its own; also ``df.imposeOrder(...)``.

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
        times an interval string (``"1 minute"``; no months or years, their length varies) or a
        timedelta; for columns of numbers an int, in the unit of the column.
    idle_timeout : str, datetime.timedelta or None, optional
        After this long without a row (an interval string or a timedelta of wall-clock time), the
        input stops holding others back. Default: None, an input is waited for without end.
    max_ahead : str, datetime.timedelta or None, optional
        How far a time may be ahead of the batch that brings it (an interval string or a timedelta,
        not negative), for columns of times. The clock is the recorded time of the batch, the one
        that ``current_timestamp()`` gives in it. A time further ahead moves no watermark, is
        counted in the join's metrics ``aheadRowsLeft`` and ``aheadRowsRight``, and does not end
        ``idle_timeout``. Default: None, every time is believed.
    ahead : str or None, optional
        What becomes of a row further ahead than ``max_ahead``: ``"reject"`` drops it, ``"keep"``
        joins it like any other; it then waits until the watermarks reach it. Default: None, which
        is ``"reject"`` where there is a ``max_ahead``.

    Returns
    -------
    DataFrame
        The same rows and columns; the column carries its watermark.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument is of another type than the ones above; bool is no int.
    pyspark.errors.PySparkValueError
        ``lag`` is an int that does not fit into a BIGINT, ``ahead`` none of the words above, or
        given without ``max_ahead``.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN.NEGATIVE_LAG``, ``STREAM_JOIN.CALENDAR_INTERVAL``,
        ``STREAM_JOIN.INVALID_LAG`` (a distance that is none, or a ``max_ahead`` for a column of
        numbers) or ``STREAM_JOIN.UNSUPPORTED_TIME_TYPE``; or there is no such column.
    SetupError
        The session, or the Spark Connect server, was started without the jar or with one of another
        version, or Spark is neither 4.2 nor 4.3.

    Notes
    -----
    ``DataFrame.withWatermark`` and SQL's ``WATERMARK c DELAY OF ...`` count as the same thing.

    Source: ``IMPOSE_ORDER`` and the keyed watermarks of Hazelcast's design document
    "Stream to stream JOIN".

    Examples
    --------
    >>> orders.imposeOrder("order_time", "1 minute")  # doctest: +SKIP
    >>> trades.imposeOrder("sequence_number", 100)  # doctest: +SKIP
    """
    source = _arguments.dataframe("df", df)
    name = _arguments.string("column", column)
    behind = _arguments.lag(lag)
    idle = _arguments.duration("idle_timeout", idle_timeout)
    limit = _arguments.duration("max_ahead", max_ahead)
    fate = _words.ahead(ahead)
    _arguments.needs_limit(fate, limit)
    options = _given(lag=behind, idle_timeout=idle, max_ahead=limit, ahead=fate)
    if _connect.is_connect(source):
        return _connect.impose_order(source, name, options)
    api = python_api(source.sparkSession)
    return DataFrame(api.imposeOrder(_jdf(source), name, options), source.sparkSession)


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
    state_ttl: _changelog.Ttl = None,
) -> DataFrame:
    """Join two streams, each with watermarks of its own; also ``left.streamJoin(...)``.

    A row is kept exactly as long as the condition lets it match a row still to come: the
    condition must bound the event times of both inputs against each other.

    Parameters
    ----------
    left, right : DataFrame
        Streaming DataFrames of one session, classic or Spark Connect. Each has at least one
        event-time column with a watermark (``imposeOrder``, ``withWatermark`` or SQL).
    on : Column, str, list of str or Column
        A condition; as a str, one in SQL, in which aliases may be used
        (``left.alias("o")``: ``"o.id = d.id AND d.t BETWEEN o.t AND o.t + INTERVAL '1' HOUR"``).
        A list of names asks for equality of these columns, with one copy of each in the result;
        a list of conditions for all of them; a list of both for all of it, where the columns come
        out as of a condition, both copies. Note that ``DataFrame.join`` takes a str for the name
        of a column: here that is ``["id"]``.
    how : str, optional
        ``"inner"`` (default), ``"left"``, ``"right"``, ``"full"``, ``"semi"`` or ``"anti"``, in
        every spelling that ``DataFrame.join`` takes (``"left_outer"``, ``"leftanti"``, ...). Or
        ``"asof"``: each row of the left with the last row of the right at or before its time, of
        those with its key; ``"left_asof"`` emits left rows without one, too. The condition may
        say how old a match may be (``q.t >= t.t - INTERVAL '10' MINUTE``; without that the last
        row of each key is kept for good), and up to when it counts (``q.t < t.t``; default:
        ``q.t <= t.t``). What else it says is asked of the last row, and chooses no earlier one. A
        row comes out when both watermarks have passed it.
    retention : str, int, datetime.timedelta or None, optional
        For how long rows are kept that the condition does not bound: an interval string
        (``"1 hour"``) or a timedelta where the event times are times, an int in their unit where
        they are numbers; not negative. The inequality that is missing is added to the condition,
        so the result is that of the join with it, and ``explain`` shows it. Default: None, the
        setting ``spark.sql.streamJoin.retention``; without that too, such a join is refused.
    late : str, optional
        What becomes of late rows, those strictly below the watermark with which their batch began.
        ``"drop"`` (default): they are counted only. ``"emit"``: they are counted and come out, each
        once, in the batch in which it arrives, with the columns of its own input and NULL in those
        of the other. A column ``late`` is added as the last one, NULL in all other rows:
        ``STRUCT<input: STRING, column: STRING, watermark: STRING>``. It names the input (``left``
        or ``right``), its first time column that is late, as in the metric ``watermark.<column>``,
        and the watermark that it is below, written as a value of that column in the session's time
        zone. Of a semi or anti join only late left rows come out. A join above must have
        ``late="emit"`` too, which emits such rows again, or they are filtered out before it:
        ``where("late IS NULL")``. No filter above is moved below the join.
    order_by : str, Column, list of str or Column, or None, optional
        The order in which the rows come out, over the whole query, in append mode: ``"rowtime"``,
        the later of the two times (of an unmatched row, the time by which no partner can come any
        more; with a window on one input, the time of the other's row); or columns, the
        first of them an event time that is still watermarked (``["d.delivery_time",
        "o.order_time"]``). The same as ``orderBy`` of the result, or ``ORDER BY`` in SQL: rows wait
        until nothing before them can come. Not together with ``late="emit"``, whose rows come
        after their time. Default: None, in no particular order.
    order_scope : str, optional
        How far the order of the result reaches, that of ``order_by`` or of an ``orderBy`` of it.
        ``"query"`` (default): over all partitions of each batch, and all batches. ``"partition"``:
        each partition ascends, over all batches, and so do the rows of each key of an equality;
        there is none between partitions. That saves the shuffle that brings the rows into one
        order, and rows go by the watermarks alone. An ``INVALID_OPTION`` where the result of the
        query has no order, and of a changelog join.
    mode : str or None, optional
        ``"event_time"``: the join that is described above. ``"changelog"``: rows come and go, and
        results are corrected when they do; no watermark and no bound is needed. An input that is no
        changelog only has rows that come. The columns ``_change_type``, ``_commit_version`` and
        ``_commit_timestamp`` come out behind those of the join, the two latter with the number and
        the time of the batch. Default: None, ``"changelog"`` where an input is declared as one.
    state_ttl : str, datetime.timedelta, mapping or None, optional
        Of a changelog join: for how long a row is kept, by the event time of an input that has an
        order, else from when it was last written, by the recorded time of the batches; for both
        inputs, or as ``{"left": ..., "right": ...}``. What came out stays when a row goes by its
        age. Default: None, a row is kept until it goes, or until a bound and the watermarks of both
        inputs say that nothing of it can change any more.

    Returns
    -------
    DataFrame
        Columns and their order as of ``DataFrame.join``, and ``late`` if asked for. The time
        columns that come out are still watermarked: the result can be joined again or aggregated
        by window.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        An argument is of another type than the ones above.
    pyspark.errors.PySparkValueError
        ``on`` is an empty list or a str that is only a name, ``retention`` an int that does not
        fit into a BIGINT, or ``how``, ``late``, ``order_scope``, ``mode`` or a side of
        ``state_ttl`` another word; the message has those that there are.
    pyspark.errors.AnalysisException
        Error class ``STREAM_JOIN.*``, with the names of the columns and the inequality to add:
        ``MISSING_WATERMARK``, ``UNBOUNDED_STATE``, ``DISJUNCTIVE_BOUND``, ``NON_CONSTANT_BOUND``,
        ``CALENDAR_INTERVAL``, ``UNSUPPORTED_CONDITION``, ``STATIC_INPUT``; ``INVALID_LAG`` or
        ``NEGATIVE_LAG`` of a ``retention``; ``UNSUPPORTED_ORDER`` or ``INVALID_ROWTIME`` of
        ``order_by``; ``UNSUPPORTED_AS_OF`` of an as-of join; ``INVALID_OPTION`` of an option that
        is one of the other mode, ``INVALID_STATE_TTL``; ``LATE_COLUMN_EXISTS`` or
        ``LATE_ROWS_BELOW`` where late rows come out of this join or of one below; or the condition
        does not parse or resolve.
    SetupError
        The session, or the Spark Connect server, was started without the jar or with one of another
        version, or Spark is neither 4.2 nor 4.3.

    Notes
    -----
    On Spark Connect the join is analysed, and refused, where its columns are asked for or the query
    is started.

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
    condition = _arguments.condition(on, source, other)
    kind, match = _words.how(how)
    options = _given(
        retention=_arguments.retention(retention),
        late=_words.late(late),
        mode=_words.mode(mode),
        state_ttl=_changelog.state_ttl(state_ttl),
        match=match,
        order_scope=_words.order_scope(order_scope),
    )
    order = _arguments.order_by(order_by)
    if _connect.is_connect(source):
        result = _connect.stream_join(source, other, condition, kind, options)
    else:
        api = python_api(source.sparkSession)
        asked = cast("ClassicColumn", condition)._jc if isinstance(condition, Column) else condition
        joined = api.streamJoin(_jdf(source), _jdf(other), asked, kind, options)
        result = DataFrame(joined, source.sparkSession)
    return result.orderBy(*order) if order else result


def _jdf(df: DataFrame) -> object:
    return cast("ClassicDataFrame", df)._jdf


def _given(**options: str | int | None) -> dict[str, str | int]:
    return {name: value for name, value in options.items() if value is not None}


def attach() -> None:
    """Give DataFrame the methods of this package."""
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
    """Give the function under the name of the method: help and Python's own errors say it."""
    method: Any = FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    update_wrapper(method, function)
    method.__kwdefaults__ = function.__kwdefaults__
    method.__name__, method.__qualname__ = name, f"DataFrame.{name}"
    del method.__wrapped__
    return method
