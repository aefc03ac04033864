"""Retention: the join adds missing time bounds, up to the given age of a row."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import How, impose_order, stream_join
from tests.orders import Shop, met, ordered_view
from tests.streams import Landing, Run

AFTER = "o.id = d.id AND d.delivery_time >= o.order_time"


@pytest.fixture
def one_hour(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.streamJoin.retention", "1 hour")
    yield
    spark.conf.unset("spark.sql.streamJoin.retention")


def fed(shop: Shop, run: Run) -> list[tuple[int | None, int | None]]:
    shop.order((1, "10:00"), (2, "10:00"), (3, "12:00"))
    shop.deliver((1, "11:00"), (2, "11:00:01"), (3, "11:59"))
    run.step()
    shop.deliver((8, "14:00"))
    shop.order((9, "14:00"))
    run.step()
    return met(run.batches)


def as_tables(shop: Shop, on: str, how: How) -> list[tuple[int | None, int | None]]:
    def table(landing: Landing) -> DataFrame:
        return shop.session.read.schema(landing.schema).json(str(landing.folder))

    orders, deliveries = table(shop.orders).alias("o"), table(shop.deliveries).alias("d")
    return met({0: [tuple(row) for row in orders.join(deliveries, F.expr(on), how).collect()]})


@pytest.mark.connect
@pytest.mark.parametrize("how", ["inner", "left", "full"])
def test_retention_adds_the_missing_inequality(shop: Shop, how: How) -> None:
    joined = stream_join(shop.ordered(), shop.delivered(), AFTER, how, retention="1 hour")
    found = fed(shop, shop.run(joined))
    limited = AFTER + " AND o.order_time >= d.delivery_time - INTERVAL '1' HOUR"
    # rows 8 and 9 are still buffered
    assert found == [pair for pair in as_tables(shop, limited, how) if not {8, 9} & set(pair)]
    assert (1, 1) in found
    assert (2, 2) not in found


@pytest.mark.connect
def test_retention_adds_both_missing_inequalities(shop: Shop) -> None:
    joined = stream_join(shop.ordered(), shop.delivered(), ["id"], retention=timedelta(hours=1))
    run = shop.run(joined)
    shop.order((1, "10:00"), (2, "10:00"), (3, "12:00"))
    shop.deliver((1, "11:00"), (2, "11:00:01"), (3, "11:59"))
    run.step()
    assert sorted(row[0] for row in run.rows()) == [1, 3]


@pytest.mark.connect
def test_retention_argument_overrides_the_sql_setting(shop: Shop, one_hour: None) -> None:
    shop.ordered().createOrReplaceTempView("kept_orders")
    shop.delivered().createOrReplaceTempView("kept_deliveries")
    sql = f"SELECT * FROM kept_orders AS o JOIN kept_deliveries AS d ON {AFTER}"
    assert fed(shop, shop.run(shop.session.sql(sql))) == [(1, 1)]
    longer = stream_join(shop.ordered(), shop.delivered(), AFTER, retention="2 hours")
    assert met(shop.run(longer, "longer").step()) == [(1, 1), (2, 2)]
    assert shop.session.conf.get("spark.sql.streamJoin.retention") == "1 hour"


@pytest.mark.connect
def test_retention_keeps_bounds_of_the_condition(shop: Shop, one_hour: None) -> None:
    on = AFTER + " AND d.delivery_time <= o.order_time + INTERVAL '3' HOUR"
    assert fed(shop, shop.run(stream_join(shop.ordered(), shop.delivered(), on))) == [
        (1, 1),
        (2, 2),
    ]


@pytest.mark.connect
@pytest.mark.parametrize(
    "where",
    [
        "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '3' HOUR",
        "d.ROWTIME BETWEEN o.ROWTIME AND o.ROWTIME + INTERVAL '3' HOUR",
        "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '3' HOUR "
        "AND ROWTIME > TIMESTAMP '2024-01-01'",
        "d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '3' HOUR "
        "AND EXISTS (SELECT 1 FROM range(9) r WHERE r.id = o.id)",
    ],
)
@pytest.mark.parametrize(
    "joined",
    [
        "bound_orders o JOIN bound_deliveries d ON o.id = d.id",
        "bound_orders o JOIN bound_deliveries d ON o.id = CAST(d.id AS BIGINT)",
        "bound_orders o JOIN bound_deliveries d USING (id)",
        "bound_orders o, bound_deliveries d",
    ],
)
def test_retention_keeps_bounds_of_the_where_clause(
    shop: Shop, one_hour: None, joined: str, where: str
) -> None:
    ordered_view(shop.orders.stream(), "order_time", "bound_orders")
    ordered_view(shop.deliveries.stream(), "delivery_time", "bound_deliveries")
    sql = f"SELECT o.id, order_time, d.id FROM {joined} WHERE o.id = d.id AND {where}"
    assert fed(shop, shop.run(shop.session.sql(sql))) == [(1, 1), (2, 2)]


@pytest.mark.connect
@pytest.mark.parametrize(("column", "on"), [("n", "INT"), ("n", "BIGINT"), ("n", "SMALLINT")])
def test_retention_of_numeric_event_times(
    spark: SparkSession, tmp_path: Path, column: str, on: str
) -> None:
    left = Landing(spark, tmp_path / "left", f"id INT, {column} {on}")
    right = Landing(spark, tmp_path / "right", f"id INT, {column} {on}")
    joined = stream_join(
        impose_order(left.stream(), column, 0).alias("l"),
        impose_order(right.stream(), column, 0).alias("r"),
        "l.id = r.id AND r.n >= l.n",
        retention=5,
    )
    left.land({"id": 1, "n": 10}, {"id": 2, "n": 10})
    right.land({"id": 1, "n": 15}, {"id": 2, "n": 16})
    run = Run(joined, tmp_path / "checkpoint")
    run.step()
    assert run.rows() == [(1, 10, 1, 15)]


@pytest.mark.connect
def test_retention_of_date_event_times(spark: SparkSession, tmp_path: Path) -> None:
    left = Landing(spark, tmp_path / "left", "id INT, day DATE")
    right = Landing(spark, tmp_path / "right", "id INT, day DATE")
    joined = stream_join(
        impose_order(left.stream(), "day", "0 days").alias("l"),
        impose_order(right.stream(), "day", "0 days").alias("r"),
        "l.id = r.id AND r.day >= l.day",
        retention="2 days",
    )
    left.land({"id": 1, "day": "2024-05-01"}, {"id": 2, "day": "2024-05-01"})
    right.land({"id": 1, "day": "2024-05-03"}, {"id": 2, "day": "2024-05-04"})
    run = Run(joined, tmp_path / "checkpoint")
    run.step()
    assert [row[0] for row in run.rows()] == [1]


@pytest.mark.parametrize(
    ("retention", "condition"),
    [
        ("-1 hour", "NEGATIVE_LAG"),
        ("1 month", "CALENDAR_INTERVAL"),
        ("long", "INVALID_LAG"),
        (5, "INVALID_LAG"),
    ],
)
def test_invalid_retention_is_refused(shop: Shop, retention: str | int, condition: str) -> None:
    with pytest.raises(AnalysisException) as refused:
        stream_join(shop.ordered(), shop.delivered(), AFTER, retention=retention)
    assert refused.value.getCondition() == f"STREAM_JOIN.{condition}"
    assert "retention" in str(refused.value)


def test_error_for_a_missing_bound_names_the_retention_setting(shop: Shop) -> None:
    with pytest.raises(AnalysisException, match=r"spark\.sql\.streamJoin\.retention"):
        stream_join(shop.ordered(), shop.delivered(), AFTER)
