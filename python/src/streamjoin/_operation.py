"""The operations on one DataFrame, in a classic session or on Spark Connect."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from pyspark.sql import Column, DataFrame

from streamjoin import _connect
from streamjoin._jvm import python_api

if TYPE_CHECKING:
    from pyspark.sql.classic.column import Column as ClassicColumn
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame


def operation(
    df: DataFrame,
    name: str,
    *arguments: str | int | Column,
    options: Iterable[tuple[str, str]],
) -> DataFrame:
    """Do what the hint of this name does; an option may occur several times."""
    if _connect.is_connect(df):
        return _connect.hint(df, name, *arguments, options=options)
    api = python_api(df.sparkSession)
    values = [java_column(a) if isinstance(a, Column) else a for a in arguments]
    return DataFrame(api.operation(java(df), name, values, list(options)), df.sparkSession)


def java(df: DataFrame) -> object:
    return cast("ClassicDataFrame", df)._jdf


def java_column(column: Column) -> object:
    return cast("ClassicColumn", column)._jc
