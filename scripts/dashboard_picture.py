"""Draws the page's picture of the dashboard from what a Prometheus has read of a running query.

``python scripts/dashboard_picture.py docs/images/dashboard.png [SECONDS]``, with ``prometheus`` on
PATH. It sends the queries of the panels, so an empty panel here is empty in Grafana, too. Ends with
1 if a panel is empty.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.dates import ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamjoin

DASHBOARD = Path(__file__).parents[1] / "docs" / "grafana-dashboard.json"
QUERY = "orders"
SCRAPED_EVERY_S = 2
PER_UNIT = {"ms": (1000, "s"), "bytes": (1 << 20, "MB"), "rowsps": (1, "rows/s")}
_fetch = build_opener(ProxyHandler({})).open


def main(picture: Path, seconds: int) -> int:
    with tempfile.TemporaryDirectory(prefix="streamjoin-dashboard-") as name:
        folder = Path(name)
        spark = session(folder)
        try:
            with prometheus(folder, spark.sparkContext.uiWebUrl) as address:
                began = time.time()
                query = (
                    joined(spark, began, seconds)
                    .writeStream.format("noop")
                    .queryName(QUERY)
                    .trigger(processingTime="2 seconds")
                    .start(checkpointLocation=str(folder / "checkpoint"))
                )
                query.awaitTermination(seconds)
                drawn = draw(address, began, time.time(), picture)
                query.stop()
        finally:
            spark.stop()
    empty = [title for title, series in drawn.items() if not series]
    print(f"{picture}: {len(drawn)} panels" + (f", empty: {', '.join(empty)}" if empty else ""))
    return 1 if empty else 0


def session(folder: Path) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").appName("dashboard")
    sink = "spark.metrics.conf.*.sink.prometheusServlet"
    return (
        streamjoin.configure(builder)
        .config(f"{sink}.class", "org.apache.spark.metrics.sink.PrometheusServlet")
        .config(f"{sink}.path", "/metrics/prometheus")
        .config("spark.metrics.namespace", "shop")
        .config("spark.log.level", "ERROR")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )


def joined(spark: SparkSession, began: float, seconds: int) -> DataFrame:
    """Orders and their deliveries; some of these are late, and none come in the middle fifth."""

    def rows() -> DataFrame:
        return spark.readStream.format("rate").option("rowsPerSecond", 200).load()

    orders = rows().select(F.col("value").alias("id"), F.col("timestamp").alias("ot"))
    away = F.unix_timestamp("timestamp").between(began + 0.4 * seconds, began + 0.6 * seconds)
    late = F.make_interval(secs=F.when(F.col("value") % 40 == 0, 30).otherwise(F.rand(1) * 3))
    deliveries = (
        rows()
        .where(~away)
        .select(F.col("value").alias("order_id"), (F.col("timestamp") - late).alias("dt"))
    )
    o = streamjoin.impose_order(orders, "ot", "2 seconds").alias("o")
    d = streamjoin.impose_order(deliveries, "dt", "5 seconds").alias("d")
    near = "d.dt BETWEEN o.ot - INTERVAL 10 SECONDS AND o.ot + INTERVAL 10 SECONDS"
    return streamjoin.stream_join(o, d, F.expr(f"o.id = d.order_id AND {near}"), "left")


@contextmanager
def prometheus(folder: Path, driver: str | None) -> Iterator[str]:
    """A Prometheus that reads from the driver's servlet; its address."""
    assert driver is not None
    config = {
        "global": {"scrape_interval": f"{SCRAPED_EVERY_S}s"},
        "scrape_configs": [
            {
                "job_name": "spark",
                "metrics_path": "/metrics/prometheus",
                "static_configs": [{"targets": [driver.removeprefix("http://")]}],
            }
        ],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
    address = "127.0.0.1:9490"
    process = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={address}",
            "--log.level=error",
        ]
    )
    try:
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait()


def draw(address: str, began: float, ended: float, picture: Path) -> dict[str, int]:
    """How many series each panel has."""
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    # a table of names has no scale to draw
    panels = [panel for panel in panels if panel["type"] != "table"]
    rows = {panel["gridPos"]["y"]: None for panel in panels}
    figure = Figure(figsize=(11, 2.4 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(len(rows), 24)
    drawn = {}
    for panel in panels:
        at = panel["gridPos"]
        axes = figure.add_subplot(grid[list(rows).index(at["y"]), at["x"] : at["x"] + at["w"]])
        series = [
            one | {"legend": legend(target["legendFormat"], one["metric"])}
            for target in panel["targets"]
            for one in ask(address, target["expr"].replace("${query}", QUERY), began, ended)
        ]
        drawn[panel["title"]] = len(series)
        one_panel(axes, panel, series)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=90)
    return drawn


def ask(address: str, expression: str, began: float, ended: float) -> list[dict[str, Any]]:
    asked = urlencode({"query": expression, "start": began, "end": ended, "step": SCRAPED_EVERY_S})
    with _fetch(f"{address}/api/v1/query_range?{asked}", timeout=30) as answer:
        result: list[dict[str, Any]] = json.load(answer)["data"]["result"]
    return result


def legend(template: str, labels: dict[str, str]) -> str:
    """Fill in ``{{label}}`` as Grafana does."""
    return re.sub(r"{{(\w+)}}", lambda found: labels.get(found[1], ""), template)


def one_panel(axes: Axes, panel: dict[str, Any], series: list[dict[str, Any]]) -> None:
    unit = panel["fieldConfig"]["defaults"].get("unit", "short")
    per, name = PER_UNIT.get(unit, (1, ""))
    for one in series:
        times = [utc(at) for at, _ in one["values"]]
        values = [float(value) / per for _, value in one["values"]]
        if unit == "dateTimeAsIso":
            values = [date2num(utc(value / 1000)) for value in values]
        axes.plot(times, values, linewidth=1.2, label=one["legend"])  # type: ignore[arg-type]
    axes.set_title(panel["title"], fontsize="medium", loc="left")
    axes.set_ylabel(name, fontsize="small")
    axes.xaxis.set_major_formatter(ConciseDateFormatter(axes.xaxis.get_major_locator()))
    if unit == "dateTimeAsIso":
        axes.yaxis_date()
        axes.yaxis.set_major_formatter(ConciseDateFormatter(axes.yaxis.get_major_locator()))
    else:
        axes.ticklabel_format(axis="y", style="plain", useOffset=False)
    axes.tick_params(labelsize="small")
    axes.grid(alpha=0.3)
    if series:
        axes.legend(fontsize="x-small", loc="best")


def utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 240))
