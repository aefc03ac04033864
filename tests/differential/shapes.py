"""What a plan has between a source and its join, and above the last join.

Each step is written once and stands in the stream and in the batch query alike. The batch query has
only the rows that were not late; which are late for Spark's own operators, ``lateness`` says.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.differential.case import Above, Below, Case, Input

WINDOW_TICKS = 4
PLAIN = ("id", "k", "g", "p", "q", "c")
Step = Callable[[Case, Input, DataFrame], DataFrame]

TWICE = 1
"""The group whose rows meet two of the table below."""


def column(case: Case, alias: str, name: str) -> str:
    """Name of a column in its input."""
    return name if case.qualified else f"{alias}_{name}"


def names(case: Case, source: Input) -> dict[str, str]:
    """The names of all columns of an input, by what a condition calls them."""
    columns = [*PLAIN, *(time.name for time in source.times)]
    return {name: column(case, source.alias, name) for name in columns}


def before_watermark(case: Case, source: Input, df: DataFrame) -> DataFrame:
    """Hide some rows from the watermark; ``lateness`` knows which."""
    if "unseen_filter" not in source.below:
        return df
    return df.where(f"NOT ({column(case, source.alias, 'p')} <=> 2)")


def below_join(case: Case, source: Input, df: DataFrame) -> DataFrame:
    for each in source.below:
        df = STEPS[each](case, source, df)
    return df


def above_join(case: Case, session: SparkSession, df: DataFrame) -> DataFrame:
    """Put what stands above the joins over their output, which has its columns as text.

    Where it needs an event time, that is the column ``at``.
    """
    if case.above is None:
        return df
    return ABOVE[case.above](case, session, df)


def _filter(case: Case, source: Input, df: DataFrame) -> DataFrame:
    p = column(case, source.alias, "p")
    return df.where(f"{p} IS NULL OR {p} <> 3")


def _rename(case: Case, source: Input, df: DataFrame) -> DataFrame:
    of = names(case, source)
    renamed = df.toDF(*(f"{name}_0" for name in df.columns))
    return renamed.select(*(F.col(f"{name}_0").alias(name) for name in of.values()))


def _project(case: Case, source: Input, df: DataFrame) -> DataFrame:
    """Computed columns, casts of times to their own type, another order of columns."""
    of = names(case, source)
    types = dict(df.dtypes)
    times = [F.expr(f"CAST({of[t.name]} AS {types[of[t.name]]})") for t in source.times]
    return df.select(
        *(value.alias(of[t.name]) for value, t in zip(times, source.times, strict=True)),
        *(F.col(of[name]) for name in ("id", "k", "g", "c")),
        F.expr(f"{of['p']} + 1").alias(of["p"]),
        F.expr(f"coalesce({of['q']}, {of['g']})").alias(of["q"]),
    )


def _table(case: Case, source: Input, df: DataFrame) -> DataFrame:
    """Joined with a table, in which one row meets two and NULL meets none."""
    of = names(case, source)
    values = f"(0, 0), ({TWICE}, 1), ({TWICE}, 2)"
    table = df.sparkSession.sql(f"SELECT * FROM VALUES {values} AS s(the_g, the_q)")
    how = "inner" if case.index % 2 else "left"
    joined = df.join(table, F.col(of["g"]) == F.col("the_g"), how)
    return joined.select(
        *(F.col("the_q" if name == "q" else each).alias(each) for name, each in of.items())
    )


def _distinct(case: Case, source: Input, df: DataFrame) -> DataFrame:
    if df.isStreaming:
        return df.dropDuplicates()
    # Rows of one id are alike; and where a batch groups by a key, it writes -0.0 as 0.0.
    key = names(case, source)["k"]
    return df.dropDuplicates([name for name in df.columns if name != key])


def _distinct_within(case: Case, source: Input, df: DataFrame) -> DataFrame:
    if not df.isStreaming:
        return _distinct(case, source, df.where(F.col(column(case, source.alias, "t")).isNotNull()))
    t = F.col(column(case, source.alias, "t"))
    return df.where(t.isNotNull()).dropDuplicatesWithinWatermark()


def window_us(case: Case) -> int:
    return WINDOW_TICKS * case.tick_us


def _windows(case: Case, source: Input, df: DataFrame) -> DataFrame:
    """One row for each window and key; its time is the window's."""
    of = names(case, source)
    ids = F.array_join(F.sort_array(F.collect_list(of["id"])), "+")
    window = F.window(of["t"], f"{window_us(case)} microseconds").alias("the_window")
    rows = df.groupBy(window, F.col(of["k"]), F.col(of["c"])).agg(
        ids.alias("the_ids"),
        F.max(of["g"]).alias("the_g"),
        F.max(of["p"]).alias("the_p"),
        F.min(of["q"]).alias("the_q"),
    )
    return rows.select(
        F.col("the_ids").alias(of["id"]),
        F.col(of["k"]),
        *(F.col(f"the_{name}").alias(of[name]) for name in ("g", "p", "q")),
        F.col(of["c"]),
        F.window_time("the_window").alias(of["t"]),
    )


STEPS: dict[Below, Step] = {
    "unseen_filter": lambda case, source, df: df,
    "filter": _filter,
    "rename": _rename,
    "project": _project,
    "table": _table,
    "distinct": _distinct,
    "distinct_within": _distinct_within,
    "windows": _windows,
}


def _table_above(case: Case, session: SparkSession, df: DataFrame) -> DataFrame:
    table = session.sql("SELECT * FROM VALUES ('0', 'x'), ('1', 'y'), ('1', 'z') AS s(g, label)")
    g = F.col(next(name for name in df.columns if name.endswith("_g")))
    return df.join(table, g == table.g, "left" if case.index % 2 else "inner").drop(table.g)


def _distinct_above(case: Case, session: SparkSession, df: DataFrame) -> DataFrame:
    return df.dropDuplicates()


def _windows_above(case: Case, session: SparkSession, df: DataFrame) -> DataFrame:
    """All rows of a window and of a group, as one text."""
    group = F.coalesce(*(name for name in df.columns if name.endswith("_c"))).alias("c")
    row = F.concat_ws(",", *(F.coalesce(name, F.lit("-")) for name in df.drop("at").columns))
    rows = df.groupBy(F.window("at", f"{window_us(case)} microseconds"), group).agg(
        F.array_join(F.sort_array(F.collect_list(row)), ";").alias("rows_id")
    )
    return rows.select(F.col("window.start").cast("string").alias("start"), "c", "rows_id")


ABOVE: dict[Above, Callable[[Case, SparkSession, DataFrame], DataFrame]] = {
    "table": _table_above,
    "distinct": _distinct_above,
    "windows": _windows_above,
}
