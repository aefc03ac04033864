"""Reads the plan of a query from the text of explain."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from streamjoin import _connect
from streamjoin._diagnosis.plan import Plan, read


def plan_of(query: StreamingQuery) -> Plan:
    """Read the plan of the last batch, which is available after the end of the query, too."""
    try:
        if not _connect.is_connect(query):
            of_jvm: Any = query._jsq
            return read(of_jvm.explainInternal(False))
        with contextlib.redirect_stdout(io.StringIO()) as text:
            query.explain()
        return read(text.getvalue())
    except PySparkException:
        # Spark Connect keeps a query for an hour after its end
        return Plan()
