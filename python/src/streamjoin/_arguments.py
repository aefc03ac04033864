"""Checks and conversions of arguments, with PySpark's own error classes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import reduce
from typing import Any, cast

from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.errors.utils import ErrorClassesReader
from pyspark.sql import Column, DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from streamjoin._version import require_supported_pyspark

_LONG = 2**63
_INT = 2**31

# A column name, with or without an alias, and nothing else.
_NAME = re.compile(r"\s*(\w+|`[^`]+`)(\.(\w+|`[^`]+`))*\s*")
_DIRECTION = re.compile(r"\s*(\S+)\s+(asc|desc)\s*", re.IGNORECASE)
_NO_NAMES = ("true", "false", "null")


def dataframe(name: str, value: object) -> DataFrame:
    require_supported_pyspark()
    if isinstance(value, DataFrame):
        return value
    raise wrong_type(name, "DataFrame", value)


def require_builder(value: object) -> None:
    """Refuse any other object than a session builder, most often a running session."""
    if not hasattr(value, "_options"):
        expected = "SparkSession.builder, as in configure(SparkSession.builder).getOrCreate()"
        raise wrong_type("builder", expected, value)


def string(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise wrong_type(name, "str", value)
    return value


def mapping(name: str, value: object, types: tuple[type, ...]) -> dict[str, Any]:
    """Check the types of the keys, which are strings, and of the values; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise wrong_type(name, "dict or None", value)
    for key, each in value.items():
        if not isinstance(key, str):
            raise wrong_type(name, "a str as key", key, within=[*value])
        if not isinstance(each, types):
            raise wrong_type(
                name, " or ".join(t.__name__ for t in types), each, within=[*value.values()]
            )
    return dict(value)


def lag(value: object) -> str | int:
    return _distance("lag", "str, int or datetime.timedelta", value)


def retention(value: object) -> str | None:
    if value is None:
        return None
    return str(_distance("retention", "str, int, datetime.timedelta or None", value))


def names(name: str, value: object) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence) and all(isinstance(entry, str) for entry in value):
        return list(value)
    raise wrong_type(name, "str or sequence of str", value)


def order_by(value: object) -> list[str | Column]:
    names = [value] if isinstance(value, (str, Column)) else value
    if value is None:
        return []
    expected = "str, Column, list of str or Column, or None"
    if not isinstance(names, (list, tuple)):
        raise wrong_type("order_by", expected, value)
    if not names:
        raise PySparkValueError(
            errorClass="CANNOT_BE_EMPTY", messageParameters={"item": "order_by"}
        )
    for name in names:
        if not isinstance(name, (str, Column)):
            raise wrong_type("order_by", expected, name, within=names)
        direction = _DIRECTION.fullmatch(name) if isinstance(name, str) else None
        if direction:
            raise PySparkValueError(
                f"A str in `order_by` is the name of a column, but {name!r} also has a direction. "
                f"Write F.{direction[2].lower()}({direction[1]!r}). The first column of the order "
                "of a stream is an event time, ascending."
            )
    return list(names)


def _distance(name: str, expected: str, value: object) -> str | int:
    if isinstance(value, timedelta):
        return _interval(value)
    # bool is a subclass of int, but True is not a distance
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise wrong_type(name, expected, value)
    if isinstance(value, int) and not -_LONG <= value < _LONG:
        raise PySparkValueError(
            errorClass="VALUE_NOT_BETWEEN",
            messageParameters={"arg_name": name, "min": str(-_LONG), "max": str(_LONG - 1)},
        )
    return value


def duration(
    name: str, value: object, expected: str = "str, datetime.timedelta or None"
) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        return _interval(value)
    raise wrong_type(name, expected, value)


def needs_limit(ahead: str | None, max_ahead: str | None) -> None:
    if ahead is not None and max_ahead is None:
        raise PySparkValueError(
            errorClass="ARGUMENT_REQUIRED",
            messageParameters={"arg_name": "max_ahead", "condition": "`ahead` is given"},
        )


def needs_order(in_partitions: bool, order: list[str | Column]) -> None:
    if in_partitions and not order:
        raise PySparkValueError(
            errorClass="ARGUMENT_REQUIRED",
            messageParameters={
                "arg_name": "order_by",
                "condition": '`order_scope` is "partition"',
            },
        )


def condition(on: object, left: DataFrame, right: DataFrame) -> Column | str | list[str]:
    if isinstance(on, str) and _NAME.fullmatch(on) and on.strip().lower() not in _NO_NAMES:
        raise PySparkValueError(
            f'A str as `on` is a condition, but "{on}" is only the name of a column. To compare '
            f'the columns of that name for equality, write ["{on}"]. Add the bound between the '
            "event times as a Column in that list, or as retention=. Or write the whole condition, "
            f'"l.{on} = r.{on} AND ...", with aliases l and r.'
        )
    if isinstance(on, (Column, str)):
        return on
    if isinstance(on, (list, tuple)):
        if not on:
            raise PySparkValueError(
                errorClass="CANNOT_BE_EMPTY", messageParameters={"item": "column of `on`"}
            )
        if all(isinstance(entry, str) for entry in on):
            return list(on)
        if all(isinstance(entry, (Column, str)) for entry in on):
            parts = [left[e] == right[e] if isinstance(e, str) else e for e in on]
            joined: Column = reduce(Column.__and__, parts)
            return joined
        wrong = next(entry for entry in on if not isinstance(entry, (Column, str)))
        raise wrong_type("on", "Column, str, list of str or Column", wrong, within=on)
    raise wrong_type("on", "Column, str, list of str or Column", on)


def checkpoint(source: object) -> str | StreamingQuery:
    require_supported_pyspark()
    if isinstance(source, StreamingQuery) or _is_connect_query(source):
        return cast("StreamingQuery", source)
    if isinstance(source, (str, os.PathLike)):
        return str(source)
    raise wrong_type("source", "str, os.PathLike or StreamingQuery", source)


def query(name: str, value: object) -> StreamingQuery:
    require_supported_pyspark()
    if isinstance(value, StreamingQuery) or _is_connect_query(value):
        return cast("StreamingQuery", value)
    raise wrong_type(name, "StreamingQuery", value)


def seconds(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong_type(name, "float or None", value)
    return float(value)


def _is_connect_query(source: object) -> bool:
    """Compare the class name: importing the class needs libraries that a classic session lacks."""
    kind = type(source)
    return (kind.__module__, kind.__name__) == (
        "pyspark.sql.connect.streaming.query",
        "StreamingQuery",
    )


def path(name: str, value: object) -> str:
    if isinstance(value, (str, os.PathLike)):
        return str(value)
    raise wrong_type(name, "str or os.PathLike", value)


def histories(value: object) -> list[tuple[DataFrame, DataFrame, tuple[str, ...]]]:
    """Check tuples of a stream, a table, and perhaps two names of columns."""
    expected = "list of tuples of a stream, a table, and optionally two names of columns"
    if not isinstance(value, (list, tuple)):
        raise wrong_type("history", expected, value)
    checked: list[tuple[DataFrame, DataFrame, tuple[str, ...]]] = []
    for pair in value:
        match pair:
            case (DataFrame() as live, DataFrame() as rows):
                checked.append((live, rows, ()))
            case (DataFrame() as live, DataFrame() as rows, (str() as partition, str() as offset)):
                checked.append((live, rows, (partition, offset)))
            case _:
                raise wrong_type("history", expected, pair)
    return checked


def partitions(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type("partitions", "int", value)
    if not 0 < value < _INT:
        raise PySparkValueError(
            errorClass="VALUE_NOT_BETWEEN",
            messageParameters={"arg_name": "partitions", "min": "1", "max": str(_INT - 1)},
        )
    return value


def whole(name: str, value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise wrong_type(name, "int or None", value)
    return value


def _interval(value: timedelta) -> str:
    return f"{value // timedelta(microseconds=1)} microseconds"


def wrong_type(
    name: str, expected: str, value: Any, within: Sequence[object] | None = None
) -> PySparkTypeError:
    """Build the error of a wrong type; ``within`` is the list that contains the wrong entry."""
    kind = type(value).__name__
    if within is not None:
        entries = " and ".join(dict.fromkeys(type(entry).__name__ for entry in within))
        kind = f"{type(within).__name__} of {entries}"
    if ErrorClassesReader().error_info_map.get("NOT_EXPECTED_TYPE"):
        return PySparkTypeError(
            errorClass="NOT_EXPECTED_TYPE",
            messageParameters={"arg_name": name, "expected_type": expected, "arg_type": kind},
        )
    # new in PySpark 4.2
    return PySparkTypeError(
        f"[NOT_EXPECTED_TYPE] Argument `{name}` should be {expected}, got {kind}."
    )
