"""Options of a join have the same effect in a call, in a DataFrame hint and in SQL."""

from __future__ import annotations

import re
from typing import Any

import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamjoin import stream_join
from tests.orders import WITHIN_THE_HOUR, Shop, met
from tests.streams import Run

LAG = "10 minutes"
AFTER = "o.id = d.id AND d.delivery_time >= o.order_time"


@pytest.fixture
def views(shop: Shop) -> Shop:
    shop.ordered(LAG).createOrReplaceTempView("hinted_orders")
    shop.delivered(LAG).createOrReplaceTempView("hinted_deliveries")
    return shop


def late(run: Run) -> list[tuple[Any, ...]]:
    return sorted((row[:-1:2] for row in run.rows() if row[-1] is not None), key=str)


def fed(shop: Shop, joined: DataFrame, name: str = "run") -> Run:
    run = shop.run(joined, name)
    shop.order((1, "10:00"), (2, "12:00"))
    shop.deliver((1, "10:30"), (2, "12:30"))
    run.step()
    shop.order((3, "11:49"))
    run.step()
    return run


def sql(hint: str, rest: str, select: str = "*") -> str:
    return (
        f"SELECT /*+ {hint} */ {select} FROM hinted_orders AS o JOIN hinted_deliveries AS d {rest}"
    )


@pytest.mark.parametrize("hint", ["STREAM_JOIN(late => 'emit')", "stream_join('late=emit')"])
def test_sql_hint_emits_late_rows(views: Shop, hint: str) -> None:
    joined = views.session.sql(sql(hint, f"ON {WITHIN_THE_HOUR}"))
    assert joined.columns == ["id", "order_time", "id", "delivery_time", "late"]
    assert late(fed(views, joined)) == [(3, None)]


def test_late_column_of_a_hinted_join_is_visible_in_select_and_where(views: Shop) -> None:
    joined = views.session.sql(
        sql(
            "STREAM_JOIN(late => 'emit', retention => '1 hour')",
            "USING (id) WHERE late.input = 'left'",
            "id, late.*",
        )
    )
    assert joined.columns == ["id", "input", "column", "watermark"]
    assert [row[:2] for row in fed(views, joined).rows()] == [(3, "left")]


@pytest.mark.parametrize(
    ("retention", "expected"), [("'1 hour'", [(1, 1)]), ("INTERVAL '2' HOUR", [(1, 1), (2, 2)])]
)
@pytest.mark.parametrize("rest", [f"ON {AFTER}", f"WHERE {AFTER}"])
def test_sql_hint_sets_the_retention(
    views: Shop, retention: str, expected: list[tuple[int, int]], rest: str
) -> None:
    joined = views.session.sql(sql(f"STREAM_JOIN(retention => {retention})", rest))
    run = views.run(joined)
    views.order((1, "10:00"), (2, "10:00"))
    views.deliver((1, "11:00"), (2, "11:00:01"))
    run.step()
    assert met(run.batches) == expected


def hinted(shop: Shop, *options: str) -> DataFrame:
    return shop.ordered(LAG).hint("stream_join", *options)


def resolved(joined: DataFrame) -> DataFrame:
    """Spark 4.0 shows the columns of a join only below another operator."""
    return joined.select("*") if pyspark.__version__.startswith("4.0.") else joined


def test_dataframe_hint_sets_late_and_retention(shop: Shop) -> None:
    left, right = shop.ordered(LAG), shop.delivered(LAG)
    joined = left.hint("stream_join", "late=emit", "retention = 1 hour").join(
        right, (left["id"] == right["id"]) & (right["delivery_time"] >= left["order_time"]), "left"
    )
    joined = resolved(joined)
    assert joined.columns[-1] == "late"
    assert late(fed(shop, joined)) == [(3, None)]
    aliased = resolved(
        hinted(shop, "late=emit")
        .alias("o")
        .join(shop.delivered().alias("d"), F.expr(WITHIN_THE_HOUR))
    )
    assert aliased.columns[-1] == "late"


@pytest.mark.parametrize("how", ["inner", "full"])
def test_dataframe_hint_with_using_columns(shop: Shop, how: str) -> None:
    joined = hinted(shop, "late=emit", "retention=1 hour").join(shop.delivered(LAG), ["id"], how)
    assert joined.columns == ["id", "order_time", "delivery_time", "late"]
    run = fed(shop, joined)
    assert [row[0] for row in run.rows() if row[-1]] == [3]


def test_hinted_self_join_emits_late_rows_of_both_sides(shop: Shop) -> None:
    orders = shop.ordered(LAG)
    with_hint = orders.hint("stream_join", "late=emit", "retention=1 hour")
    joined = with_hint.join(orders, orders["id"] == orders["id"])
    assert joined.columns == ["id", "order_time", "id", "order_time", "late"]
    run = fed(shop, joined)
    assert late(run) == [(3, None), (None, 3)]
    assert with_hint.join(orders, "id").columns == ["id", "order_time", "order_time", "late"]


def test_late_emit_requires_the_bounds_in_on(views: Shop) -> None:
    with pytest.raises(AnalysisException, match="UNBOUNDED_STATE"):
        views.session.sql(sql("STREAM_JOIN(late => 'emit')", f"WHERE {WITHIN_THE_HOUR}"))


def test_hint_takes_over_a_join_with_spark_watermarks(shop: Shop) -> None:
    orders = shop.orders.stream().withWatermark("order_time", LAG).alias("o")
    deliveries = shop.deliveries.stream().withWatermark("delivery_time", LAG).alias("d")
    joined = orders.hint("stream_join").join(deliveries, F.expr(WITHIN_THE_HOUR), "anti")
    run = fed(shop, joined)
    assert run.total("lateRowsLeft") == 1


def test_hint_applies_to_all_joins_of_its_select_only(views: Shop) -> None:
    chain = (
        "SELECT /*+ STREAM_JOIN(late => 'emit') */ * FROM hinted_orders o "
        f"JOIN hinted_deliveries d ON {WITHIN_THE_HOUR} "
        "JOIN hinted_orders r ON r.id = o.id AND r.order_time = o.order_time"
    )
    assert views.session.sql(chain).columns.count("late") == 1
    below = (
        "SELECT o.id FROM (SELECT /*+ STREAM_JOIN(late => 'emit') */ o.id, o.order_time FROM "
        f"hinted_orders o JOIN hinted_deliveries d ON {WITHIN_THE_HOUR} WHERE late IS NULL) o "
        "JOIN hinted_orders r ON r.id = o.id AND r.order_time = o.order_time"
    )
    assert views.session.sql(below).columns == ["id"]
    table = chain.replace("hinted_orders r", "(SELECT 1 id, current_timestamp() order_time) r")
    assert views.session.sql(table).columns.count("late") == 1


def test_hint_on_a_batch_join(views: Shop) -> None:
    batch = views.session.sql(
        "SELECT /*+ STREAM_JOIN(late => 'emit') */ * FROM VALUES (1) a(x) "
        "JOIN VALUES (1) b(x) USING (x)"
    )
    assert [tuple(row) for row in batch.collect()] == [(1, None)]
    plain = views.session.sql(
        "SELECT /*+ STREAM_JOIN */ * FROM VALUES (1) a(x) JOIN VALUES (1) b(y)"
    )
    assert [tuple(row) for row in plain.collect()] == [(1, 1)]


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("STREAM_JOIN(lat => 'emit')", "no option lat, but late, which is 'drop' or 'emit'"),
        ("STREAM_JOIN(late => 'emti')", "late is 'drop' or 'emit', not 'emti'"),
        ("STREAM_JOIN(late => 'emit', late => 'drop')", "late is given twice"),
        ("STREAM_JOIN('emit')", "'emit' is not an option"),
        ("STREAM_JOIN(late = 'emit')", "is not an option"),
        ("STREAM_JOIN(retention => TRUE)", "retention is an interval"),
        ("STREAM_JOIN, STREAM_JOIN", "two STREAM_JOIN hints"),
    ],
)
def test_invalid_hint_option_is_refused(views: Shop, hint: str, message: str) -> None:
    with pytest.raises(AnalysisException, match=message) as refused:
        views.session.sql(sql(hint, f"ON {WITHIN_THE_HOUR}"))
    assert refused.value.getCondition() == "STREAM_JOIN.INVALID_OPTION"
    written = re.search(r"Write SELECT /\*\+ STREAM_JOIN\((\w+) => ", str(refused.value))
    assert written is not None
    # no word of the options that are not wrong
    assert not re.search(r"\b(order_scope|emit \('final'|state_ttl)\b", str(refused.value))


def test_hint_without_a_stream_join_is_refused(views: Shop) -> None:
    with pytest.raises(AnalysisException, match="FROM of this SELECT has no join"):
        views.session.sql("SELECT /*+ STREAM_JOIN */ * FROM hinted_orders")
    with pytest.raises(AnalysisException, match="not on the left input of a join"):
        hinted(views).select("id")
    with pytest.raises(AnalysisException, match="not on the left input of a join"):
        hinted(views).writeStream.format("noop").start()
    with pytest.raises(AnalysisException, match="not on the left input of a join"):
        views.delivered().join(hinted(views), ["id"])
    with pytest.raises(AnalysisException, match="STATIC_INPUT"):
        views.session.sql(
            "SELECT /*+ STREAM_JOIN */ * FROM hinted_orders o JOIN VALUES (1) t(id) ON o.id = t.id"
        )


def test_view_keeps_the_options_of_its_hint(views: Shop) -> None:
    views.session.sql(
        "CREATE OR REPLACE TEMP VIEW hinted AS "
        + sql("STREAM_JOIN(late => 'emit')", f"ON {WITHIN_THE_HOUR}", "o.id, late")
    )
    assert views.session.table("hinted").columns == ["id", "late"]


def test_call_with_late_emit_emits_late_rows(shop: Shop) -> None:
    joined = stream_join(shop.ordered(LAG), shop.delivered(LAG), WITHIN_THE_HOUR, late="emit")
    assert late(fed(shop, joined)) == [(3, None)]


def test_impose_order_hint_sets_lag_and_max_ahead(shop: Shop) -> None:
    orders = shop.orders.stream()
    ordered = orders.hint("impose_order", "order_time", LAG, "max_ahead=1 hour").alias("o")
    run = fed(shop, ordered.join(shop.delivered(LAG), F.expr(WITHIN_THE_HOUR)))
    assert run.total("lateRowsLeft") == 1
    for options, message in (
        ([], "name of the column"),
        (["order_time"], "name of the column"),
        (["order_time", LAG, "idle=1 hour"], "no option idle"),
    ):
        with pytest.raises(AnalysisException, match=message):
            orders.hint("impose_order", *options)
