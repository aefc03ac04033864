"""The dashboard and the alerts query metrics that exist, under their names in Prometheus."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.orders import WITHIN_THE_HOUR, Shop

DOCS = Path(__file__).parents[2] / "docs"
NAMES = re.compile(r'__name__=~"([^"]+)"')
LABELS = re.compile(r'"\w+",\s+"\$1",\s+"__name__",\s+"([^"]+)"')
PROMTOOL = shutil.which("promtool")


def dashboard() -> Any:
    return json.loads((DOCS / "grafana-dashboard.json").read_text(encoding="utf-8"))


def of_the_dashboard() -> list[str]:
    expressions = [t["expr"] for panel in dashboard()["panels"] for t in panel["targets"]]
    assert all("$query" in e or "${query}" in e for e in expressions)
    return [e.replace("${query}", "orders") for e in expressions]


def of_the_alerts() -> str:
    return (DOCS / "prometheus-alerts.yml").read_text(encoding="utf-8")


def selectors() -> list[tuple[str, str]]:
    """Each name pattern of the dashboard and the alerts, and the text up to the next pattern."""
    _, *alerts = of_the_alerts().split("- alert: ")
    found = []
    for expression in (*of_the_dashboard(), *alerts):
        _, *parts = NAMES.split(expression)
        assert parts, f"no metric is selected in {expression}"
        found += list(zip(parts[::2], parts[1::2], strict=True))
    return found


@pytest.fixture
def exported(shop: Shop) -> list[str]:
    """The metric names of a running query, as Spark's Prometheus servlet writes them."""
    grouped = shop.ordered(per="id")
    run = shop.run(grouped.streamJoin(shop.delivered(), WITHIN_THE_HOUR, "full"))
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


def test_every_metric_of_dashboard_and_alerts_is_exported(exported: list[str]) -> None:
    assert len(exported) > 20
    for pattern, _ in selectors():
        assert any(re.fullmatch(pattern, name) for name in exported), pattern


def test_series_are_distinguished_by_labels(exported: list[str]) -> None:
    """Computed series have no name: two series that differ only by name are an error."""
    most = 0
    for pattern, labels in selectors():
        series = [name for name in exported if re.fullmatch(pattern, name)]
        label_sets = {
            tuple(m and m[1] for m in (re.fullmatch(p, name) for p in LABELS.findall(labels)))
            for name in series
        }
        assert len(label_sets) == len(series), pattern
        most = max(most, len(series))
    # A pattern with one series needs no label.
    assert most > 1


def test_dashboard_variable_lists_the_queries(exported: list[str]) -> None:
    (query,) = (v for v in dashboard()["templating"]["list"] if v["name"] == "query")
    # Grafana interprets the argument of metrics(...) as a name pattern, not as a selector.
    selector = re.fullmatch(r"metrics\((.+)\)", query["query"]["query"])
    assert selector is not None
    names = [name for name in exported if re.search(selector[1], name)]
    assert [re.findall(query["regex"].strip("/"), name) for name in names] == [["orders"]]


def test_each_alert_has_a_severity_and_a_runbook_section() -> None:
    names = re.findall(r"- alert: (\w+)", of_the_alerts())
    assert len(re.findall(r"labels: \{severity: (?:warning|critical)\}", of_the_alerts())) == len(
        names
    )
    assert len(re.findall(r"^ +for: ", of_the_alerts(), re.MULTILINE)) == len(names)
    links = re.findall(r'runbook_url: "docs/how-to/monitoring.md#(\w+)"', of_the_alerts())
    assert links == [name.lower() for name in names]
    page = (DOCS / "how-to" / "monitoring.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == names


@pytest.mark.skipif(PROMTOOL is None, reason="no promtool, which comes with Prometheus")
def test_alerts_fire_in_promtool_rule_tests(tmp_path: Path) -> None:
    """With the rule tests of Prometheus."""
    assert PROMTOOL is not None
    for file in (
        DOCS / "prometheus-alerts.yml",
        Path(__file__).parents[1] / "prometheus" / "alerts.yml",
    ):
        shutil.copy(file, tmp_path)
    tested = subprocess.run(
        [PROMTOOL, "test", "rules", str(tmp_path / "alerts.yml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_every_exported_metric_is_documented(exported: list[str]) -> None:
    page = (DOCS / "how-to" / "monitoring.md").read_text(encoding="utf-8")
    described = {n.partition(".")[0] for n in re.findall(r"`([a-zA-Z.<>]+)`", page)}
    figures = {
        m[1]
        for name in exported
        if (m := re.match(r".*_orders_\d+_([a-zA-Z]+)_", name)) is not None
    }
    assert figures - described == set()
