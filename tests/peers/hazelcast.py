"""Helpers of the tests ported from Hazelcast."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def ordered(column: str, lag: str, stream: str) -> str:
    return f"SELECT * FROM TABLE(IMPOSE_ORDER(TABLE({stream}), DESCRIPTOR({column}), {lag}))"


def millis(count: int) -> str:
    return f"INTERVAL '{count / 1000:.3f}' SECOND"


def views(session: SparkSession, **queries: str) -> None:
    for name, query in queries.items():
        session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {query}")


def refusal(session: SparkSession, query: str) -> str:
    with pytest.raises(AnalysisException) as refused:
        # Spark analyzes a view only when an operator is above it.
        session.sql(query).select(F.lit(1)).explain()
    return str(refused.value.getCondition())
