"""The operations on a Spark Connect session, encoded as hints of its protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame

from streamjoin import _errors
from streamjoin._version import __version__, require_supported, require_supported_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_checked: WeakSet[Any] = WeakSet()


def is_connect(thing: object) -> bool:
    """Check whether an object is of Spark Connect, without importing its libraries."""
    return any(c.__module__.startswith("pyspark.sql.connect.") for c in type(thing).__mro__)


def impose_order(df: DataFrame, column: str, options: dict[str, str | int]) -> DataFrame:
    check(df.sparkSession)
    lag = options["lag"]
    more = {name: value for name, value in options.items() if name != "lag"}
    return df.hint("impose_order", column, lag, *_written(more))


def stream_join(
    left: DataFrame,
    right: DataFrame,
    on: Column | str | list[str],
    how: str,
    options: dict[str, str | int],
) -> DataFrame:
    check(left.sparkSession)
    if isinstance(on, str):
        on = condition(on)
    return left.hint("stream_join", *_written(options)).join(right, on, how)


def changes(df: DataFrame, function: str, options: list[tuple[str, str]], *more: Any) -> DataFrame:
    """Declare or consolidate changes with the hint that has the name of the function."""
    check(df.sparkSession)
    return df.hint(function, *(f"{name}={value}" for name, value in options), *more)


def condition(text: str) -> Column:
    column: Column = sys.modules["pyspark.sql.connect.functions"].expr(text)
    return column


def _written(options: dict[str, str | int]) -> list[str]:
    return [f"{name}={value}" for name, value in options.items()]


def check(session: SparkSession) -> None:
    """Check a session once: a server without the jar would only warn about an unknown hint."""
    if session in _checked:
        return
    require_supported_pyspark()
    require_supported("the Spark of this server", session.version)
    try:
        loaded = session.sql("SELECT streamjoin_version()").collect()[0][0]
    except AnalysisException as error:
        if error.getCondition() == "UNRESOLVED_ROUTINE":
            raise _errors.jar_not_on_server(session.version) from None
        raise
    if loaded != __version__:
        raise _errors.server_of_other_version(loaded, __version__)
    _checked.add(session)
