"""The dashboard and the alerts ask for figures that there are, as Prometheus calls them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.orders import Shop

DOCS = Path(__file__).parents[1] / "docs"
NAMES = re.compile(r'__name__=~"([^"]+)"')


def asked_by_the_dashboard() -> list[str]:
    dashboard = json.loads((DOCS / "grafana-dashboard.json").read_text(encoding="utf-8"))
    expressions = [t["expr"] for panel in dashboard["panels"] for t in panel["targets"]]
    assert all("$query" in e or "${query}" in e for e in expressions)
    return [n.replace("${query}", "orders") for e in expressions for n in NAMES.findall(e)]


def asked_by_the_alerts() -> list[str]:
    return NAMES.findall((DOCS / "prometheus-alerts.yml").read_text(encoding="utf-8"))


@pytest.fixture
def exported(shop: Shop) -> list[str]:
    """The names of a query that runs, as Spark's servlet writes them."""
    run = shop.joined("full")
    shop.order((1, "10:00"))
    shop.deliver((1, "10:10"))
    query = (
        run.result.writeStream.format("noop")
        .queryName("orders")
        .start(checkpointLocation=str(run.checkpoint))
    )
    try:
        query.processAllAvailable()
        shop.order((2, "10:20"))
        query.processAllAvailable()
        jvm: Any = shop.session._jvm
        shop.session._jsc.sc().listenerBus().waitUntilEmpty()
        system = jvm.org.apache.spark.SparkEnv.get().metricsSystem()
        (source,) = (
            system.getSourcesByName("streamjoin.orders").apply(n)
            for n in range(system.getSourcesByName("streamjoin.orders").size())
        )
        gauges = source.metricRegistry().getGauges().keySet().toArray()
        name = f"local-1.driver.{source.sourceName()}"
        return [f"metrics_{re.sub('[^a-zA-Z0-9]', '_', f'{name}.{g}')}_Value" for g in gauges]
    finally:
        query.stop()


def test_what_is_asked_for_is_there(exported: list[str]) -> None:
    assert len(exported) > 20
    for pattern in (*asked_by_the_dashboard(), *asked_by_the_alerts()):
        assert any(re.fullmatch(pattern, name) for name in exported), pattern


def test_what_is_exported_is_described(exported: list[str]) -> None:
    page = (DOCS / "monitoring.md").read_text(encoding="utf-8")
    described = {n.partition(".")[0] for n in re.findall(r"`([a-zA-Z.<>]+)`", page)}
    figures = {
        m[1]
        for name in exported
        if (m := re.match(r".*_orders_\d+_([a-zA-Z]+)_", name)) is not None
    }
    assert figures - described == set()
