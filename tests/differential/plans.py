"""The join of a case: as a batch query, as a stream, through DataFrames and through SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import from_changelog
from tests.differential.case import NUMBERS, Case, Input, Join, Node, TimeColumn, inputs_of, visible
from tests.differential.instants import delay
from tests.differential.shapes import PLAIN, above_join, before_watermark, below_join, column

RAW = "id STRING, k STRING, g INT, p INT, q INT, c INT, t BIGINT, u BIGINT, e BIGINT"
"""What arrives. Times are integers here, so that every kind and every microsecond fits."""
JoinNode = Callable[[DataFrame, DataFrame, Join], DataFrame]
ImposeOrder = Callable[[DataFrame, str, TimeColumn], DataFrame]

FROM_LONG: dict[str, Callable[[Column], Column]] = {
    "timestamp": F.timestamp_micros,
    # In a session in UTC the cast changes nothing but the type.
    "timestamp_ntz": lambda value: F.timestamp_micros(value).cast("timestamp_ntz"),
    "date": lambda value: F.date_from_unix_date(value.cast("int")),
    "bigint": lambda value: value,
    "int": lambda value: value.cast("int"),
    "smallint": lambda value: value.cast("smallint"),
}
KEY_TYPES = {"decimal": "decimal(10,2)", "collated": "string collate utf8_lcase"}
"""Types of keys that are no words of SQL."""


def sql_of(case: Case, text: str) -> str:
    """A condition, written with ``a.t``, in the names that this case uses."""
    return text if case.qualified else re.sub(r"\b([a-d])\.([a-z]+)\b", r"\1_\2", text)


def typed(case: Case, source: Input, raw: DataFrame) -> DataFrame:
    """Rows as they arrive, with the types of this input."""
    columns = [F.col(name) for name in PLAIN]
    columns[1] = _key(source)
    columns += [FROM_LONG[each.kind](F.col(each.name)) for each in source.times]
    names = [*PLAIN, *(each.name for each in source.times)]
    return raw.select(
        *(
            value.alias(column(case, source.alias, name))
            for value, name in zip(columns, names, strict=True)
        )
    )


def _key(source: Input) -> Column:
    key = F.col("k")
    if source.key == "struct":
        # Parts that are NULL or NaN, and zeros of both signs.
        parts = F.struct(
            F.nullif(key, F.lit("2")).cast("int").alias("n"),
            F.when(key == "1", F.lit("-0.0"))
            .when(key == "3", "NaN")
            .otherwise("0.0")
            .cast("double")
            .alias("x"),
        )
        return F.when(key.isNotNull(), parts)
    return key.cast(KEY_TYPES.get(source.key, source.key))


def imposed(df: DataFrame, name: str, time: TimeColumn) -> DataFrame:
    """A watermark as a user of the DataFrame API asks for one."""
    assert time.lag is not None
    if time.by == "withWatermark":
        return df.withWatermark(name, delay(time.lag))
    lag: str | int = time.lag if time.kind in NUMBERS else delay(time.lag)
    per = time.per and name.removesuffix(time.name) + time.per
    result: DataFrame = df.imposeOrder(name, lag, per=per)
    return result


def stream_join(case: Case) -> JoinNode:
    """Join two streams by the product."""

    def join(left: DataFrame, right: DataFrame, node: Join) -> DataFrame:
        on: str | Column | list[str] = list(node.using)
        if not node.using:
            condition = sql_of(case, node.condition)
            on = F.expr(condition) if node.as_column else condition
        late = "emit" if case.late else "drop"
        result: DataFrame = left.streamJoin(right, on, node.how, late=late)
        return result

    return join


def plain_join(case: Case) -> JoinNode:
    """Join by Spark itself, in a batch or a stream."""

    def join(left: DataFrame, right: DataFrame, node: Join) -> DataFrame:
        if node.using:
            return left.join(right, list(node.using), node.how)
        return left.join(right, F.expr(sql_of(case, node.condition)), node.how)

    return join


def with_watermarks(
    case: Case, inputs: Mapping[str, DataFrame], impose: ImposeOrder
) -> dict[str, DataFrame]:
    result = {}
    for alias, df in inputs.items():
        for time in case.input(alias).watermarked:
            df = impose(df, column(case, alias, time.name), time)
        result[alias] = df
    return result


def join_inputs(
    case: Case, inputs: Mapping[str, DataFrame], watermarks: ImposeOrder | None
) -> dict[str, DataFrame]:
    """What the joins get, by leaf of their tree; a batch query needs no watermarks."""
    seen = {each.alias: before_watermark(case, each, inputs[each.alias]) for each in case.inputs}
    if watermarks is not None:
        seen = with_watermarks(case, seen, watermarks)
    return {
        leaf: below_join(
            case,
            case.input(leaf),
            reduce(DataFrame.union, (seen[part.alias] for part in case.parts(leaf))),
        )
        for leaf in inputs_of(case.tree)
    }


def join_tree(case: Case, node: Node, inputs: Mapping[str, DataFrame], join: JoinNode) -> DataFrame:
    if isinstance(node, str):
        return inputs[node].alias(node) if case.qualified else inputs[node]
    left = join_tree(case, node.left, inputs, join)
    joined = join(left, join_tree(case, node.right, inputs, join), node)
    return joined.where(sql_of(case, node.where)) if node.where else joined


def output_columns(case: Case) -> list[tuple[str, str]]:
    """The compared columns: pairs of an expression and its name."""
    tree = case.tree
    pairs = [(name, name) for name in tree.using]
    for alias in visible(tree):
        names = [*PLAIN, *(time.name for time in case.input(alias).times)]
        pairs += [
            (sql_of(case, f"{alias}.{name}"), f"{alias}_{name}")
            for name in names
            if name not in tree.using
        ]
    return pairs


def output(case: Case, joined: DataFrame) -> DataFrame:
    """All columns of all visible inputs as text, which compares -0.0, NaN and NULL as they are."""
    columns = [F.expr(text).cast("string").alias(name) for text, name in output_columns(case)]
    if case.at is not None:
        columns.append(F.expr(sql_of(case, ".".join(case.at))).alias("at"))
    if case.late and joined.isStreaming:
        columns.append(F.col("late.input").alias("late"))
    return joined.select(*columns)


def whole(case: Case, joined: DataFrame) -> DataFrame:
    """The output of the query, as text."""
    result = above_join(case, joined.sparkSession, output(case, joined))
    return result.drop("at")


SQL_HOW = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "semi": "LEFT SEMI JOIN",
    "anti": "LEFT ANTI JOIN",
}


def sql_text(case: Case) -> str:
    """The streaming query in SQL, over views named ``source_a`` and so on."""
    columns = ", ".join(f"CAST({text} AS STRING) AS {name}" for text, name in output_columns(case))
    return f"SELECT {columns}\nFROM {_relation(case, case.tree)}"


def _relation(case: Case, node: Node) -> str:
    if isinstance(node, str):
        return f"{_imposed_sql(case, case.input(node))} AS {node}"
    right = _relation(case, node.right)
    if isinstance(node.right, Join):
        right = f"({right})"
    left = _relation(case, node.left)
    if node.using:
        condition = f"USING ({', '.join(node.using)})"
    else:
        condition = f"ON {sql_of(case, node.condition)}"
    return f"{left}\n  {SQL_HOW[node.how]} {right}\n  {condition}"


def _imposed_sql(case: Case, source: Input) -> str:
    relation = f"source_{source.alias}"
    for number, time in enumerate(source.watermarked):
        assert time.lag is not None
        argument = relation if number == 0 else f"SELECT * FROM {relation}"
        lag = str(time.lag) if time.kind in NUMBERS else f"INTERVAL {time.lag} MICROSECONDS"
        name = column(case, source.alias, time.name)
        relation = f"IMPOSE_ORDER(TABLE({argument}), DESCRIPTOR({name}), {lag})"
    return relation


def in_order(case: Case, inputs: Mapping[str, DataFrame], time: str) -> DataFrame:
    """The streaming query of the case, its rows in the order of a time of one of its inputs."""
    joined = join_tree(case, case.tree, join_inputs(case, inputs, imposed), stream_join(case))
    return whole(case, joined.orderBy(F.expr(sql_of(case, time))))


def last_before(case: Case, inputs: Mapping[str, DataFrame]) -> DataFrame:
    """Each row of the first input with the last one of its key of the second."""
    joined = join_inputs(case, inputs, imposed)
    left, right = (joined[leaf].alias(leaf) for leaf in inputs_of(case.tree))
    return whole(case, left.streamJoin(right, sql_of(case, case.tree.condition), "left_asof"))


CHANGE = "IF(crc32(id) % 4 = 0, 'delete', 'update_postimage') AS op", "crc32(id) AS seq"


def valid_version(case: Case, inputs: Mapping[str, DataFrame]) -> DataFrame:
    """The same where the rows of the second input are versions, and deletes, of their key."""
    left, right = inputs_of(case.tree)
    changes = from_changelog(
        inputs[right].selectExpr("*", *CHANGE), key="k", op="op", sequence_by="seq"
    )
    probe, build = (
        imposed(df, "t", case.input(alias).time("t")).alias(alias)
        for alias, df in ((left, inputs[left]), (right, changes))
    )
    return whole(case, probe.streamJoin(build, sql_of(case, case.tree.condition), "left_asof"))


def stream(case: Case, session: SparkSession, inputs: Mapping[str, DataFrame]) -> DataFrame:
    """The streaming query of the case by the product, ready to be started."""
    if case.through == "sql":
        for alias, df in inputs.items():
            df.createOrReplaceTempView(f"source_{alias}")
        return session.sql(sql_text(case))
    return whole(
        case, join_tree(case, case.tree, join_inputs(case, inputs, imposed), stream_join(case))
    )
