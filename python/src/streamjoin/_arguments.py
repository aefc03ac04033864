"""Checks and conversions of arguments, with PySpark's own error classes."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import Column, DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from streamjoin import _errors
from streamjoin._version import require_supported_pyspark

if TYPE_CHECKING:
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

_LONG = 2**63
LATE = ("drop", "emit")


def dataframe(name: str, value: object, method: str) -> ClassicDataFrame:
    require_supported_pyspark()
    # Older versions of pyspark have no such module, and must get as far as the line above.
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    if isinstance(value, ClassicDataFrame):
        return value
    if isinstance(value, DataFrame):
        raise _errors.connect_unsupported(method)
    raise _wrong_type(name, "DataFrame", value)


def string(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong_type(name, "str", value)
    return value


def lag(value: object) -> str | int:
    return _distance("lag", "str, int or datetime.timedelta", value)


def retention(value: object) -> str | None:
    if value is None:
        return None
    return str(_distance("retention", "str, int, datetime.timedelta or None", value))


def late(value: object) -> str:
    word = string("late", value)
    if word not in LATE:
        raise PySparkValueError(
            errorClass="VALUE_NOT_ALLOWED",
            messageParameters={"arg_name": "late", "allowed_values": str(list(LATE))},
        )
    return word


def _distance(name: str, expected: str, value: object) -> str | int:
    if isinstance(value, timedelta):
        return _interval(value)
    # bool is a subclass of int, but True is no distance.
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise _wrong_type(name, expected, value)
    if isinstance(value, int) and not -_LONG <= value < _LONG:
        raise PySparkValueError(
            errorClass="VALUE_NOT_BETWEEN",
            messageParameters={"arg_name": name, "min": str(-_LONG), "max": str(_LONG - 1)},
        )
    return value


def duration(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        return _interval(value)
    raise _wrong_type(name, "str, datetime.timedelta or None", value)


def ahead(value: object, max_ahead: str | None) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise _wrong_type("ahead", "str or None", value)
    if value not in ("reject", "keep"):
        raise PySparkValueError(
            errorClass="VALUE_NOT_ALLOWED",
            messageParameters={"arg_name": "ahead", "allowed_values": "'reject', 'keep'"},
        )
    if max_ahead is None:
        raise PySparkValueError(
            errorClass="ARGUMENT_REQUIRED",
            messageParameters={"arg_name": "max_ahead", "condition": "`ahead` is given"},
        )
    return value


def condition(on: object) -> Column | str | list[str]:
    if isinstance(on, (Column, str)):
        return on
    if isinstance(on, (list, tuple)):
        if not on:
            raise PySparkValueError(
                errorClass="CANNOT_BE_EMPTY", messageParameters={"item": "column of `on`"}
            )
        if all(isinstance(entry, str) for entry in on):
            return list(on)
        if all(isinstance(entry, Column) for entry in on):
            joined: Column = reduce(Column.__and__, on)
            return joined
    raise _wrong_type("on", "Column, str, list of str or list of Column", on)


def checkpoint(source: object) -> str | StreamingQuery:
    require_supported_pyspark()
    if isinstance(source, StreamingQuery):
        return source
    if isinstance(source, (str, os.PathLike)):
        return str(source)
    raise _wrong_type("source", "str, os.PathLike or StreamingQuery", source)


def side(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _wrong_type("side", "str or None", value)
    if value not in (None, "left", "right"):
        raise PySparkValueError(
            errorClass="VALUE_NOT_ALLOWED",
            messageParameters={"arg_name": "side", "allowed_values": "None, 'left', 'right'"},
        )
    return value


def whole(name: str, value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise _wrong_type(name, "int or None", value)
    return value


def _interval(value: timedelta) -> str:
    return f"{value // timedelta(microseconds=1)} microseconds"


def _wrong_type(name: str, expected: str, value: Any) -> PySparkTypeError:
    return PySparkTypeError(
        errorClass="NOT_EXPECTED_TYPE",
        messageParameters={
            "arg_name": name,
            "expected_type": expected,
            "arg_type": type(value).__name__,
        },
    )
