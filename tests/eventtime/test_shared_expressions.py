"""Common table expressions with nondeterministic values that a query reads twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.orders import at
from tests.streams import Landing, Run

SELF_JOIN = """WITH o AS (SELECT *, {value} AS r FROM ordered)
SELECT a.id, a.r = b.r FROM o a JOIN o b ON a.id = b.id AND a.order_time = b.order_time"""


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> SparkSession:
    session = spark.newSession()
    orders = Landing(session, tmp_path / "orders", "id INT, order_time TIMESTAMP")
    orders.land({"id": 1, "order_time": at("10:00")}, {"id": 2, "order_time": at("10:05")})
    orders.stream().imposeOrder("order_time", "1 minute").createOrReplaceTempView("ordered")
    return session


@pytest.mark.parametrize("value", ["rand()", "uuid()"])
def test_nondeterministic_cte_read_twice_by_a_join_is_refused(
    session: SparkSession, value: str
) -> None:
    query = SELF_JOIN.format(value=value)
    with pytest.raises(AnalysisException) as refused:
        session.sql(query)
    assert refused.value.getCondition() == "STREAM_JOIN.SHARED_EXPRESSION"
    (context,) = refused.value.getQueryContext()
    assert context.fragment() == value


def test_deterministic_cte_read_twice_is_accepted(session: SparkSession, tmp_path: Path) -> None:
    run = Run(session.sql(SELF_JOIN.format(value="id + 1")), tmp_path / "run")
    run.step()
    assert sorted(run.rows()) == [(1, True), (2, True)]
    assert run.operator()["operatorName"] == "streamJoin"


def test_nondeterministic_cte_of_a_static_table_is_accepted(
    session: SparkSession, tmp_path: Path
) -> None:
    run = Run(
        session.sql(
            """WITH t AS (SELECT id, rand() AS r FROM VALUES (1), (2) AS t(id)),
                 o AS (SELECT * FROM ordered)
               SELECT a.id, t.r = u.r FROM o a JOIN o b
                 ON a.id = b.id AND a.order_time = b.order_time
               JOIN t ON t.id = a.id JOIN t u ON u.id = a.id"""
        ),
        tmp_path / "run",
    )
    run.step()
    assert sorted(run.rows()) == [(1, True), (2, True)]
    assert run.operator()["operatorName"] == "streamJoin"
