"""The text that explain prints for a join, in full."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from streamjoin import impose_order, stream_join
from tests.explained import explained
from tests.orders import WITHIN_THE_HOUR, Shop
from tests.streams import Landing


def test_explain_of_a_left_join_with_lags_and_idle_timeout(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = shop.ordered("1 minute"), shop.delivered("90 seconds", idle_timeout="10 minutes")
    assert (
        explained(stream_join(left, right, WITHIN_THE_HOUR, "left"), capsys)
        == """\
watermark of order_time: the latest order_time seen - 1 minute
watermark of delivery_time: the latest delivery_time seen - 1 minute 30 seconds; after 10 \
minutes without a row, the watermark of the slowest input that it is joined with
condition (o.id = d.id): equality
condition (d.delivery_time >= o.order_time): bound d.delivery_time >= o.order_time
condition (d.delivery_time <= o.order_time + INTERVAL '01' HOUR): bound o.order_time >= \
d.delivery_time - 1 hour
a row of o is buffered until the latest d.delivery_time seen passes o.order_time + 1 hour 1 minute \
30 seconds (bound 1 hour + lag 1 minute 30 seconds); if it has not matched by then, it is emitted
a row of d is buffered until the latest o.order_time seen passes d.delivery_time + 1 minute (lag 1 \
minute)
output watermark of o.order_time: the latest o.order_time seen - 1 minute, or if that is less, \
the latest d.delivery_time seen - 1 hour 1 minute 30 seconds
output watermark of d.delivery_time: the latest d.delivery_time seen - 1 minute 30 seconds, or \
if that is less, the latest o.order_time seen - 1 minute
"""
    )


def test_explain_of_conditions_without_a_bound(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    on = (
        "o.id = d.id AND d.delivery_time >= o.order_time AND o.id > 3 AND o.id + d.id < 10 "
        "AND (o.order_time > d.delivery_time OR o.id = 5)"
    )
    joined = stream_join(shop.ordered(), shop.delivered(), on, "semi", retention="1 hour")
    assert (
        explained(joined, capsys)
        == """\
watermark of order_time: the latest order_time seen
watermark of delivery_time: the latest delivery_time seen
condition (o.id = d.id): equality
condition (d.delivery_time >= o.order_time): bound d.delivery_time >= o.order_time
condition (o.id > 3): filter on rows of o, before they are buffered
condition ((o.id + d.id) < 10): no bound: it compares no event times of both inputs
condition ((o.order_time > d.delivery_time) OR (o.id = 5)): no bound: it is inside OR, and not \
each branch bounds the state
condition (o.order_time >= d.delivery_time + INTERVAL '-01' HOUR): added by the retention, \
bound o.order_time >= d.delivery_time - 1 hour
a row of o is buffered until the latest d.delivery_time seen passes o.order_time + 1 hour (bound 1 \
hour), or until it matches
a row of d is buffered until the latest o.order_time seen passes d.delivery_time
output watermark of o.order_time: the latest o.order_time seen, or if that is less, the latest \
d.delivery_time seen - 1 hour
"""
    )


def test_explain_of_a_bound_in_a_column(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    auctions = Landing(spark, tmp_path / "a", "id INT, start BIGINT, length INT, end BIGINT")
    bids = Landing(spark, tmp_path / "b", "auction INT, at BIGINT")
    joined = stream_join(
        impose_order(auctions.stream(), "start", 5).alias("a"),
        impose_order(bids.stream(), "at", 3).alias("b"),
        "id = auction AND at BETWEEN start AND end AND at < start + length",
        "full",
    )
    assert (
        explained(joined, capsys)
        == """\
watermark of start: the largest start seen - 5
watermark of at: the largest at seen - 3
condition (a.id = b.auction): equality
condition (b.at >= a.start): bound b.at >= a.start
condition (b.at <= a.end): bound a.end >= b.at
condition (b.at < (a.start + a.length)): bound (a.start + a.length) >= b.at + 1
a row of a is buffered until the largest b.at seen passes the earliest of a.end + 3 (lag 3), \
(a.start + a.length) + 2 (bound -1 + lag 3); if it has not matched by then, it \
is emitted
a row of b is buffered until the largest a.start seen passes b.at + 5 (lag 5); if it has not \
matched by then, it is emitted
output watermark of a.start: none, because no bound limits the age of its values
output watermark of b.at: the largest b.at seen - 3, or if that is less, the largest a.start \
seen - 5
"""
    )


def test_explain_of_a_chain(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    first = stream_join(shop.ordered("1 minute"), shop.delivered(), WITHIN_THE_HOUR)
    returns = Landing(shop.session, shop.folder / "returns", "id INT, return_time TIMESTAMP")
    returned = impose_order(returns.stream(), "return_time", "2 minutes").alias("r")
    on = (
        "r.id = o.id AND r.return_time BETWEEN d.delivery_time "
        "AND d.delivery_time + INTERVAL '2' HOUR"
    )
    text = explained(stream_join(first, returned, on, "left"), capsys)
    assert (
        text[: text.index("watermark of order_time", 20)]
        == """\
watermark of order_time: the latest order_time seen - 1 minute
watermark of delivery_time: the latest delivery_time seen
watermark of return_time: the latest return_time seen - 2 minutes
condition (r.id = o.id): equality
condition (r.return_time >= d.delivery_time): bound r.return_time >= d.delivery_time
condition (r.return_time <= d.delivery_time + INTERVAL '02' HOUR): bound d.delivery_time >= \
r.return_time - 2 hours
known from the joins below: o.order_time >= d.delivery_time - 1 hour
known from the joins below: d.delivery_time >= o.order_time
a row of the left input is buffered until the latest r.return_time seen passes the earliest of \
o.order_time + 3 hours 2 minutes (bound 3 hours + lag 2 minutes), d.delivery_time + 2 hours 2 \
minutes (bound 2 hours + lag 2 minutes); if it has not matched by then, it is emitted
a row of r is buffered until the watermark of o.order_time passes r.return_time, or the watermark \
of d.delivery_time passes r.return_time, whichever comes first
output watermark of o.order_time: the watermark of o.order_time, or if that is less, the latest \
r.return_time seen - 3 hours 2 minutes
output watermark of d.delivery_time: the watermark of d.delivery_time, or if that is less, the \
latest r.return_time seen - 2 hours 2 minutes
output watermark of r.return_time: the latest r.return_time seen - 2 minutes, or if that is \
less, the largest of the watermark of o.order_time, the watermark of d.delivery_time
"""
    )


def test_explain_of_a_day_bound_in_a_zone_with_daylight_saving(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    on = WITHIN_THE_HOUR.replace("'1' HOUR", "'1' DAY")
    shop.session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        text = explained(stream_join(shop.ordered(), shop.delivered(), on), capsys)
    finally:
        shop.session.conf.set("spark.sql.session.timeZone", "UTC")
    assert (
        text
        == """\
watermark of order_time: the latest order_time seen
watermark of delivery_time: the latest delivery_time seen
condition (o.id = d.id): equality
condition (d.delivery_time >= o.order_time): bound d.delivery_time >= o.order_time
condition (d.delivery_time <= o.order_time + INTERVAL '1' DAY): bound o.order_time >= \
d.delivery_time - 1 day 2 hours 6 minutes 32 seconds (with room for rounding and for changes of \
the clocks)
a row of o is buffered until the latest d.delivery_time seen passes o.order_time + 1 day 2 hours 6 \
minutes 32 seconds (bound 1 day 2 hours 6 minutes 32 seconds)
a row of d is buffered until the latest o.order_time seen passes d.delivery_time
output watermark of o.order_time: the latest o.order_time seen, or if that is less, the latest \
d.delivery_time seen - 1 day 2 hours 6 minutes 32 seconds
output watermark of d.delivery_time: the latest d.delivery_time seen, or if that is less, the \
latest o.order_time seen
"""
    )


def test_explain_qualifies_equal_time_names_with_aliases(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each watermark is named with the alias of the input at its first join."""
    streams = {
        name: impose_order(
            Landing(spark, tmp_path / name, "id INT, t TIMESTAMP").stream(), "t", f"{lag} minutes"
        ).alias(name)
        for lag, name in enumerate("abc", start=1)
    }

    def within(x: str, y: str) -> str:
        return f"{x}.id = {y}.id AND {y}.t BETWEEN {x}.t AND {x}.t + INTERVAL '1' HOUR"

    pair = stream_join(streams["a"], streams["b"], within("a", "b"))
    lines = explained(stream_join(pair, streams["c"], within("b", "c")), capsys).splitlines()
    assert [line for line in lines if line.startswith("watermark of")] == [
        "watermark of a.t: the latest a.t seen - 1 minute",
        "watermark of b.t: the latest b.t seen - 2 minutes",
        "watermark of c.t: the latest c.t seen - 3 minutes",
        "watermark of a.t: the latest a.t seen - 1 minute",
        "watermark of b.t: the latest b.t seen - 2 minutes",
    ]


def test_explain_modes_show_lags_as_text(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """No sentinel numbers, no line without a number, and the lag as text."""
    left, right = shop.ordered("1 minute"), shop.delivered("90 seconds")
    joined = stream_join(left, right, WITHIN_THE_HOUR, "left")
    for mode in ("simple", "extended", "formatted"):
        capsys.readouterr()
        joined.explain(mode=mode)
        plan = capsys.readouterr().out
        assert "watermark of order_time: the latest order_time seen - 1 minute" in plan
        assert ("ImposeOrder latest order_time - 1 minute" in plan) == (mode != "formatted")
        assert "(unknown)" not in plan
        assert str(2**63 - 1) not in plan


def test_running_query_keeps_column_names_in_explain_and_ui(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    """In explain, and at the node in Spark's SQL page. A file source has other column ids there."""
    line = (
        "StreamJoin LEFT OUTER, hash by [o.id] = [d.id], "
        "d.delivery_time from o.order_time to o.order_time + 1 hour"
    )
    query = (
        shop.joined("left")
        .result.writeStream.format("noop")
        .start(checkpointLocation=str(shop.folder / "named"))
    )
    shop.order((1, "10:00"))
    query.processAllAvailable()
    capsys.readouterr()
    query.explain()
    plan = capsys.readouterr().out
    query.stop()
    assert line in plan
    assert "condition (o.id = d.id): equality" in plan
    store: Any = shop.session._jsparkSession.sharedState().statusStore()
    executions = store.executionsList()
    nodes = [
        nodes.apply(n).desc()
        for e in range(executions.size())
        for nodes in [store.planGraph(executions.apply(e).executionId()).allNodes()]
        for n in range(nodes.size())
    ]
    assert line in nodes
