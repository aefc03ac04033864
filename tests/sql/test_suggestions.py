"""Advice in error messages is syntactically right: the tests parse it and run it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

# names and type of the event times of both inputs
NAMES = [
    ("placed", "delivered", "TIMESTAMP"),
    ("order time", "a.b", "TIMESTAMP_NTZ"),
    ("select", "case", "TIMESTAMP"),
    ("1st", "a`b", "DATE"),
    ("n", "N", "BIGINT"),
    ("größe", "current_date", "INT"),
]
ALIASES = [("o", "d"), ("my o", "from"), ("über", "d.e")]


def stream(session: SparkSession, folder: Path, name: str, column: str, kind: str) -> DataFrame:
    (folder / name).mkdir(exist_ok=True)
    quoted = column.replace("`", "``")
    schema = f"id INT, `{quoted}` {kind}"
    return session.readStream.schema(schema).json(str(folder / name))


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(AnalysisException) as refused:
        action()
    return str(refused.value)


@pytest.mark.parametrize("aliases", ALIASES, ids="-".join)
@pytest.mark.parametrize(("left", "right", "kind"), NAMES)
def test_suggested_inequalities_make_the_join_valid(
    spark: SparkSession, tmp_path: Path, left: str, right: str, kind: str, aliases: tuple[str, str]
) -> None:
    lag = 5 if kind in ("BIGINT", "INT") else "1 day"
    sides = [
        stream(spark, tmp_path, name, column, kind)
        .imposeOrder("`{}`".format(column.replace("`", "``")), lag)
        .alias(alias)
        for name, column, alias in (("l", left, aliases[0]), ("r", right, aliases[1]))
    ]
    on = f"`{aliases[0]}`.id = `{aliases[1]}`.id"
    text = refusal(partial(sides[0].streamJoin, sides[1], on))
    found = re.search(r"for example (.*?)\. Or limit how long", text)
    assert found is not None, text
    on += f" AND {found[1]}"
    assert sides[0].streamJoin(sides[1], on).isStreaming


def test_suggestion_for_inputs_without_aliases_includes_aliases(
    spark: SparkSession, tmp_path: Path
) -> None:
    sides = [
        stream(spark, tmp_path, name, "t", "TIMESTAMP").imposeOrder("t", "1 minute")
        for name in ("l", "r")
    ]
    text = refusal(lambda: sides[0].streamJoin(sides[1], ["id"]))
    both = "l.t >= r.t - INTERVAL '1' HOUR AND r.t >= l.t - INTERVAL '1' HOUR"
    assert f"for example {both}. Give the left input the alias l" in text
    on = "l.id = r.id AND l.t >= r.t - INTERVAL '1' HOUR"
    text = refusal(lambda: sides[0].alias("l").streamJoin(sides[1].alias("r"), on))
    assert "r.t >= l.t - INTERVAL '1' HOUR. Or" in text


def test_explain_suggests_window_equality_and_aliases(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If the join stays with Spark, `explain` names the missing bound."""
    session = spark.newSession()
    session.conf.set("spark.sql.streamJoin.replaceBuiltin", "true")
    for name in ("l", "r"):
        ordered = stream(session, tmp_path, name, "t", "TIMESTAMP").withWatermark("t", "1 minute")
        ordered.createOrReplaceTempView(name)
    session.sql(
        "SELECT * FROM (SELECT window(t, '1 hour') AS w, id AS i FROM l) "
        "JOIN (SELECT window(t, '1 hour') AS w, id FROM r) ON i = id"
    ).select("*").explain()
    text = capsys.readouterr().out
    assert "StreamJoin not used: " in text
    aliases = "Give the left input the alias l and the right input the alias r"
    assert f"for example l.w = r.w. {aliases}" in text


@pytest.mark.parametrize(("left", "right", "kind"), NAMES)
def test_suggested_impose_order_is_valid(
    spark: SparkSession, tmp_path: Path, left: str, right: str, kind: str
) -> None:
    lag = 5 if kind in ("BIGINT", "INT") else "1 day"
    l_name, r_name = ("`{}`".format(c.replace("`", "``")) for c in (left, right))
    ordered = stream(spark, tmp_path, "l", left, kind).imposeOrder(l_name, lag).alias("o")
    bare = stream(spark, tmp_path, "r", right, kind)
    bare.createOrReplaceTempView("`de liveries`")
    ordered.createOrReplaceTempView("suggested_orders")
    text = refusal(
        lambda: spark.sql(
            "SELECT * FROM suggested_orders o JOIN `de liveries` AS d "
            f"ON o.id = d.id AND d.{r_name} >= o.{l_name}"
        )
    )
    found = re.search(r"Write d\.imposeOrder\((.*)\) or, in SQL, (IMPOSE_ORDER\(.*\))\. SQL", text)
    assert found is not None, text
    assert bare.imposeOrder(*ast.literal_eval(f"({found[1]})")).isStreaming
    assert spark.sql(f"SELECT * FROM {found[2]}").isStreaming
    spark.sql("DROP VIEW `de liveries`")


def test_suggested_impose_order_for_a_subquery_is_valid(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name in ("l", "r"):
        stream(spark, tmp_path, name, "t", "TIMESTAMP").createOrReplaceTempView(f"of_query_{name}")
    text = refusal(
        lambda: spark.sql(
            "SELECT * FROM (\n  SELECT id, t AS `a time` FROM of_query_l WHERE id > 1\n) AS o "
            "JOIN IMPOSE_ORDER(TABLE(of_query_r), DESCRIPTOR(t), INTERVAL '1' MINUTE) AS d "
            "ON o.id = d.id AND d.t >= o.`a time`"
        )
    )
    found = re.search(r"in SQL, (IMPOSE_ORDER\(.*\))\. SQLSTATE", text, re.DOTALL)
    assert found is not None, text
    assert spark.sql(f"SELECT `a time` FROM {found[1]}").isStreaming
