"""The operations on a Spark Connect session, encoded as hints of its protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterable
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


def hint(
    df: DataFrame,
    name: str,
    *arguments: Any,
    options: Iterable[tuple[str, str]],
) -> DataFrame:
    """Add a hint; a server without the jar would ignore it, so the server is checked first."""
    check(df.sparkSession)
    return df.hint(name, *arguments, *(f"{option}={value}" for option, value in options))


def stream_join(
    left: DataFrame,
    right: DataFrame,
    on: Column | str | list[str],
    how: str,
    options: dict[str, str],
) -> DataFrame:
    asked = hint(left, "stream_join", options=options.items())
    return asked.join(right, condition(on) if isinstance(on, str) else on, how)


def condition(text: str) -> Column:
    column: Column = sys.modules["pyspark.sql.connect.functions"].expr(text)
    return column


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
