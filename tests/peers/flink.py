"""Helpers of the tests ported from Flink."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

SECOND = 1000
# A last row of each input that matches nothing: it makes all earlier results final.
THE_END = 100 * SECOND


def tables(session: SparkSession, lag: str = "INTERVAL '0.001' SECOND", **streams: str) -> None:
    """Views with an imposed order on the column that Flink's tests call rowtime."""
    for table, stream in streams.items():
        order = f"SELECT * FROM IMPOSE_ORDER(TABLE({stream}), DESCRIPTOR(rowtime), {lag})"
        session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {table} AS {order}")


def refusal(session: SparkSession, query: str) -> str:
    with pytest.raises(AnalysisException) as refused:
        session.sql(query).select(F.lit(1)).explain()
    return str(refused.value.getCondition()).removeprefix("STREAM_JOIN.")
