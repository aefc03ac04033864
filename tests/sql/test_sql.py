"""Stream joins in Spark SQL."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.orders import Shop, met

O = "IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '0' SECOND) AS o"  # noqa: E741
D = "IMPOSE_ORDER(TABLE(deliveries), DESCRIPTOR(delivery_time), INTERVAL '0' SECOND) AS d"
BOUNDS = "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"
ON = f"o.id = d.id AND {BOUNDS}"


@pytest.fixture
def shop(spark: SparkSession, tmp_path: Path) -> Shop:
    shop = Shop(spark, tmp_path)
    shop.orders.stream().createOrReplaceTempView("orders")
    shop.deliveries.stream().createOrReplaceTempView("deliveries")
    return shop


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM {O} LEFT JOIN {D} ON {ON}",
        f"WITH o AS (SELECT * FROM {O}), d AS (SELECT * FROM {D}) "
        f"SELECT * FROM o LEFT JOIN d ON {ON}",
        f"SELECT o.*, d.* FROM (SELECT * FROM {O}) AS o LEFT JOIN {D} ON {ON}",
        "SELECT * FROM IMPOSE_ORDER(lag => INTERVAL '0' SECOND, input => TABLE(SELECT * FROM "
        f"orders), column => DESCRIPTOR(order_time)) AS o LEFT JOIN {D} ON {ON}",
        "SELECT * FROM impose_order(TABLE(orders), 'order_time', '0 seconds') AS o "
        f"LEFT JOIN {D} ON {ON}",
        pytest.param(
            "SELECT * FROM STREAM(orders) WATERMARK order_time DELAY OF INTERVAL 0 SECONDS AS o "
            f"LEFT JOIN {D} ON {ON}",
            marks=pytest.mark.skipif(
                pyspark.__version__.startswith("4.0."), reason="Spark 4.0 has no WATERMARK clause"
            ),
        ),
        f"SELECT * FROM ordered AS o LEFT JOIN {D} ON {ON}",
    ],
)
def test_sql_spellings_of_a_left_join(shop: Shop, spark: SparkSession, query: str) -> None:
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW ordered AS SELECT * FROM {O}")
    run = shop.run(spark.sql(query))
    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"), (9, "11:05:01"))
    assert met(run.step()) == [(1, 1), (2, None)]
    assert run.operator()["operatorName"] == "streamJoin"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM {O}, {D} WHERE {ON}",
        f"WITH d AS (SELECT * FROM {D}) SELECT * FROM {O} JOIN d ON {ON}",
        f"WITH o AS (SELECT * FROM {O}) SELECT * FROM o JOIN {D} ON {ON} WHERE o.id > 0",
        f"SELECT * FROM {O} JOIN {D} ON o.id = d.id WHERE {BOUNDS} AND o.id > 0",
        f"SELECT o.*, d.* FROM {O} JOIN {D} USING (id) WHERE {BOUNDS}",
        f"SELECT * FROM {O} JOIN {D} ON d.delivery_time >= o.order_time "
        "WHERE o.id = d.id AND NOT d.delivery_time > o.order_time + INTERVAL '1' HOUR",
        f"SELECT * FROM (SELECT o.id, order_time, d.id AS of, delivery_time FROM {O} JOIN {D} "
        "ON o.id = d.id) WHERE delivery_time BETWEEN order_time AND order_time + INTERVAL '1' HOUR",
        "SELECT * FROM (SELECT o.id, order_time AS ordered, d.id AS of, delivery_time AS at, "
        f"order_time + INTERVAL '1' HOUR AS due FROM {O} JOIN {D} ON o.id = d.id) "
        "WHERE at BETWEEN ordered AND due AND ordered IS NOT NULL AND rand() >= 0",
        "SELECT * FROM (SELECT o.id AS i, order_time AS ordered, d.id AS of, delivery_time AS at "
        f"FROM {O}, {D}) WHERE i = of AND at BETWEEN ordered AND ordered + INTERVAL '1' HOUR",
    ],
)
def test_sql_spellings_of_an_inner_join(shop: Shop, spark: SparkSession, query: str) -> None:
    run = shop.run(spark.sql(query))
    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"), (9, "11:05:01"))
    assert met(run.step()) == [(1, 1)]
    assert run.operator()["operatorName"] == "streamJoin"


@pytest.mark.parametrize(
    "days",
    ["datediff(current_date(), '2024-01-01')", "(SELECT max(id) FROM range(9))"],
)
def test_unsupported_predicates_stay_above_a_join_bounded_by_where(
    shop: Shop, spark: SparkSession, days: str
) -> None:
    """WHERE compares both inputs with a column that a join condition cannot contain."""
    run = shop.run(
        spark.sql(
            f"""SELECT id, order_time, of, at
                FROM (SELECT o.id, order_time, d.id AS of, delivery_time AS at,
                             CAST({days} AS INT) AS days
                      FROM {O} JOIN {D} ON o.id = d.id)
                WHERE at BETWEEN order_time AND order_time + INTERVAL '1' HOUR
                  AND at - order_time < make_dt_interval(days)"""
        )
    )
    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"), (9, "11:05:01"))
    assert met(run.step()) == [(1, 1)]
    assert run.operator()["operatorName"] == "streamJoin"


@pytest.mark.parametrize("how", ["INNER", "LEFT", "FULL"])
def test_rowtime_refers_to_each_side_of_a_self_join(
    shop: Shop, spark: SparkSession, how: str
) -> None:
    later = O.replace("AS o", "AS p")
    run = shop.run(
        spark.sql(
            f"""SELECT o.id, o.order_time, p.id FROM {O} {how} JOIN {later} ON o.id <> p.id
                AND p.ROWTIME BETWEEN o.ROWTIME AND o.ROWTIME + INTERVAL '5' MINUTE"""
        )
    )
    shop.order((1, "10:00"), (2, "10:05"), (3, "10:11"), (9, "11:00"))
    run.step()
    alone = [] if how == "INNER" else [(2, None), (3, None)]
    assert [pair for pair in met(run.batches) if pair[0] is not None] == [(1, 2), *alone]


def test_chain_with_bounds_in_where(shop: Shop, spark: SparkSession) -> None:
    again = D.replace("AS d", "AS e")
    run = shop.run(
        spark.sql(
            f"""SELECT o.id, o.order_time, d.id, e.delivery_time
                FROM {O} JOIN {D} ON o.id = d.id JOIN {again} ON e.id = d.id
                WHERE {BOUNDS} AND e.delivery_time >= d.delivery_time
                  AND e.delivery_time <= d.delivery_time + INTERVAL '10' MINUTE"""
        )
    )
    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"), (2, "10:50"), (2, "10:55"), (2, "11:30"))
    run.step()
    assert sorted((row[0], row[3].minute) for row in run.rows()) == [
        (1, 40),
        (2, 50),
        (2, 55),
        (2, 55),
    ]
    assert [s["operatorName"] for s in run.progress[0]["stateOperators"]] == ["streamJoin"] * 2


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM {O} LEFT JOIN {D} ON o.id = d.id WHERE {BOUNDS}",
        f"SELECT * FROM {O} JOIN {D} ON o.id = d.id WHERE d.delivery_time >= o.order_time",
        f"SELECT * FROM {O} JOIN {D} ON o.id = d.id WHERE {BOUNDS} OR o.id = 1",
        f"SELECT * FROM {O} JOIN {D} ON o.id = d.id",
        f"SELECT count(*) FROM {O} JOIN {D} ON o.id = d.id GROUP BY o.id",
    ],
    ids=["outer", "one bound", "inside or", "no where", "no where below"],
)
def test_join_not_bounded_by_where_is_refused(shop: Shop, spark: SparkSession, query: str) -> None:
    with pytest.raises(AnalysisException) as refused:
        spark.sql(query)
    assert refused.value.getCondition() in (
        "STREAM_JOIN.UNBOUNDED_STATE",
        "STREAM_JOIN.DISJUNCTIVE_BOUND",
    )


def test_unbounded_dataframe_self_join_is_refused_until_filtered(shop: Shop) -> None:
    """The refusal waits until no operator above the join can supply a bound."""
    orders = shop.ordered()
    joined = orders.alias("a").join(orders.alias("b"), F.expr("a.id = b.id"))
    with pytest.raises(AnalysisException, match=r"STREAM_JOIN\.UNBOUNDED_STATE"):
        joined.explain()
    with pytest.raises(AnalysisException, match=r"STREAM_JOIN\.UNBOUNDED_STATE"):
        joined.writeStream.format("noop").start()
    bounded = joined.where("b.order_time BETWEEN a.order_time AND a.order_time + INTERVAL 1 HOUR")
    run = shop.run(bounded)
    shop.order((1, "10:00"), (1, "10:30"), (2, "12:00"))
    run.step()
    assert sorted((row[1].minute, row[3].minute) for row in run.rows()) == [
        (0, 0),
        (0, 0),
        (0, 30),
        (30, 30),
    ]
    assert run.operator()["operatorName"] == "streamJoin"


def test_join_of_windowed_aggregations_uses_stream_join(shop: Shop, spark: SparkSession) -> None:
    def hours(source: str, time: str) -> str:
        return f"""(SELECT id, window, count(*) AS n FROM {source}
                    GROUP BY id, window({time}, '1 hour'))"""

    run = shop.run(
        spark.sql(
            f"""SELECT * FROM {hours(O, "order_time")} AS o
                FULL JOIN {hours(D, "delivery_time")} AS d ON o.id = d.id AND o.window = d.window"""
        )
    )
    shop.order((1, "10:00"), (1, "10:30"), (None, "10:00"), (9, "13:00"))
    shop.deliver((1, "10:40"), (2, "10:40"), (None, "10:00"), (9, "13:00"))
    run.step()
    counted = [(row[0], row[2], row[3], row[5]) for row in run.rows()]
    assert sorted(counted, key=str) == sorted(
        [(1, 2, 1, 1), (None, 1, None, None), (None, None, None, 1), (None, None, 2, 1)], key=str
    )
    assert run.operator()["operatorName"] == "streamJoin"


def test_full_join_using_the_event_time(shop: Shop, spark: SparkSession) -> None:
    run = shop.run(
        spark.sql(
            """SELECT * FROM (SELECT id, order_time AS t FROM IMPOSE_ORDER(TABLE(orders),
                 DESCRIPTOR(order_time), INTERVAL '0' SECOND))
               FULL JOIN (SELECT id, delivery_time AS t FROM IMPOSE_ORDER(TABLE(deliveries),
                 DESCRIPTOR(delivery_time), INTERVAL '0' SECOND)) USING (id, t)"""
        )
    )
    shop.order((1, "10:00"), (2, "10:00"), (3, "10:00:01"))
    shop.deliver((1, "10:00"), (4, "10:00"), (3, "10:00:01"))
    output = run.step()
    assert sorted(row[0] for rows in output.values() for row in rows) == [1, 2, 3, 4]


def test_impose_order_on_a_table_is_a_no_op(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT * FROM IMPOSE_ORDER(TABLE(SELECT 1 AS k, TIMESTAMP '2024-01-01' AS t), "
        "DESCRIPTOR(t), INTERVAL '1' MINUTE)"
    ).collect()
    assert [row.k for row in rows] == [1]


def test_window_aggregation_above_a_sql_join(shop: Shop, spark: SparkSession) -> None:
    run = shop.run(
        spark.sql(
            f"""SELECT window(order_time, '1 hour').start, count(*) AS n, 0 FROM {O} JOIN {D}
                ON {ON} GROUP BY window(order_time, '1 hour')"""
        )
    )
    for clock in ["10:00", "10:20", "12:00", "14:00", "16:00"]:
        number = int(clock.replace(":", ""))
        shop.order((number, clock))
        shop.deliver((number, clock))
        run.step()
    counted = {row[0].hour: row[1] for row in run.rows()}
    assert counted[10] == 2
    assert counted[12] == 1


@pytest.mark.parametrize(
    ("markers", "args"),
    [
        ((":lag", ":far"), {"lag": timedelta(0), "far": timedelta(hours=1)}),
        (("?", "?"), [timedelta(0), timedelta(hours=1)]),
    ],
    ids=["named", "positional"],
)
def test_query_parameters_in_lag_and_bound(
    shop: Shop, spark: SparkSession, markers: tuple[str, str], args: dict[str, Any] | list[Any]
) -> None:
    lag, far = markers
    run = shop.run(
        spark.sql(
            f"SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), {lag}) AS o "
            f"LEFT JOIN {D} ON o.id = d.id AND d.delivery_time BETWEEN o.order_time "
            f"AND o.order_time + {far}",
            args=args,
        )
    )
    shop.order((1, "10:00"), (2, "10:05"))
    shop.deliver((1, "10:40"), (9, "11:05:01"))
    assert met(run.step()) == [(1, 1), (2, None)]


@pytest.mark.parametrize(
    ("where", "fragment"),
    [
        ("EXISTS (\n SELECT 1 FROM deliveries d WHERE d.id = o.id)", "SELECT 1 FROM deliveries d"),
        ("o.id IN (\n SELECT d.id FROM {d})", "IN ("),
        ("NOT EXISTS (\n SELECT 1 FROM {d} WHERE d.id = o.id)", "SELECT 1 FROM IMPOSE_ORDER"),
        (
            "EXISTS (\n SELECT 1 FROM {d} WHERE d.id = o.id AND d.delivery_time >= o.order_time)",
            "SELECT 1 FROM IMPOSE_ORDER",
        ),
    ],
    ids=["watermark", "in", "no time", "one bound"],
)
def test_error_context_is_the_refused_subquery(
    shop: Shop, spark: SparkSession, where: str, fragment: str
) -> None:
    with pytest.raises(AnalysisException) as refused:
        spark.sql(f"SELECT o.id\nFROM {O}\nWHERE o.id > 0 AND {where.format(d=D)}")
    (context,) = refused.value.getQueryContext()
    assert context.fragment().startswith(fragment)


def test_nested_exists_subqueries(shop: Shop, spark: SparkSession) -> None:
    """Conditions on the outer row stay above the inner join, where Spark expects them."""
    again = D.replace("AS d", "AS e")
    run = shop.run(
        spark.sql(
            f"""SELECT o.id, o.order_time FROM {O} WHERE EXISTS (SELECT 1 FROM {D} WHERE {ON}
                  AND NOT EXISTS (SELECT 1 FROM {again} WHERE e.id = d.id AND e.delivery_time
                    BETWEEN d.delivery_time + INTERVAL '1' SECOND
                    AND d.delivery_time + INTERVAL '1' MINUTE))"""
        )
    )
    shop.order((1, "10:00"), (2, "10:00"), (9, "13:00"))
    # The delivery of order 2 is followed by another, which itself is too late for the order.
    shop.deliver((1, "10:40"), (2, "11:00"), (2, "11:00:30"), (9, "12:00"))
    run.step()
    assert [row[0] for row in run.rows()] == [1]
