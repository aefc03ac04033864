"""Runs statements, many in one streaming query, and records each result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tests.golden.files import Outcome, Statement
from tests.streams import Run

# Joins in one streaming query: planning more of them costs more than starting a query.
TOGETHER = 8

VOLATILE = [
    (r"#\d+L?", "#"),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<id>"),
    (r"(CTERelation(Def|Ref)) \d+", r"\1 <id>"),
    (r"FileSource\[[^\]]*\]", "FileSource[<folder>]"),
    (r"FileStreamSource\[[^\]]*\]", "FileStreamSource[<folder>]"),
]


def stable(text: str) -> str:
    for pattern, instead in VOLATILE:
        text = re.sub(pattern, instead, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def error(e: PySparkException) -> str:
    """The class and SQLSTATE, and the message without the plan after it."""
    message = re.split(r";?\n['~+]", str(e), maxsplit=1)[0]
    message = message.split("\n\nJVM stacktrace")[0]
    return stable(f"{e.getCondition()} {e.getSqlState()}\n{message.strip()}")


def outcomes(session: SparkSession, statements: Sequence[Statement], folder: Path) -> list[Outcome]:
    found: list[Outcome | None] = []
    streams: dict[int, DataFrame] = {}
    plans: dict[int, str] = {}
    for i, statement in enumerate(statements):
        try:
            result = session.sql(statement.sql)
            plans[i] = stable(plan(result))
            if result.isStreaming:
                startable(session, result)
                streams[i] = result
                found.append(None)
            else:
                rows = tuple(sorted(" | ".join(map(str, row)) for row in result.collect()))
                found.append(Outcome(plan=plans[i], rows=tuple(map(stable, rows))))
        except PySparkException as e:
            found.append(Outcome(error=error(e)))
    for number, some in enumerate(groups(streams, plans)):
        for i, rows in gathered(some, folder / str(number)).items():
            found[i] = Outcome(plan=plans[i], rows=rows)
    assert all(o is not None for o in found)
    return [o for o in found if o is not None]


def groups(streams: dict[int, DataFrame], plans: dict[int, str]) -> list[dict[int, DataFrame]]:
    """Groups for one query each. An ordered stream runs alone, because a union has no order."""
    alone = [i for i in streams if "StreamOrder" in plans[i]]
    numbers = [i for i in streams if i not in alone]
    together = [numbers[first : first + TOGETHER] for first in range(0, len(numbers), TOGETHER)]
    return [{i: streams[i] for i in some} for some in [*together, *([i] for i in alone)]]


def plan(result: DataFrame) -> str:
    text: str = result._jdf.queryExecution().analyzed().toString()
    return text


def startable(session: SparkSession, result: DataFrame) -> None:
    """Raise the error that Spark raises at the start of a query, without starting it."""
    jvm: Any = session._jvm
    jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker.checkForStreaming(
        result._jdf.queryExecution().analyzed(),
        jvm.org.apache.spark.sql.streaming.OutputMode.Append(),
    )


def gathered(streams: dict[int, DataFrame], folder: Path) -> dict[int, tuple[str, ...]]:
    """The rows of several streams, from one streaming query over all landed rows."""
    parts = []
    for i, stream in streams.items():
        names = [f"c{n}" for n in range(len(stream.columns))]
        texts = [f.coalesce(f.col(n).cast("string"), f.lit("NULL")) for n in names]
        parts.append(stream.toDF(*names).select(f.lit(i).alias("i"), f.array(*texts).alias("row")))
    union = parts[0]
    for part in parts[1:]:
        union = union.union(part)
    run = Run(union, folder)
    run.step()
    rows: dict[int, list[str]] = {i: [] for i in streams}
    for i, row in run.rows():
        rows[i].append(" | ".join(row))
    return {i: tuple(sorted(found)) for i, found in rows.items()}
