"""The figures of measured latencies, without a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from benchmarks.realtime.latency import quantiles
from benchmarks.realtime.plot import draw
from benchmarks.realtime.report import page
from benchmarks.realtime.steady import table


def line(engine: str, latency: list[float], **more: Any) -> dict[str, Any]:
    of_run = {"path": "kafka", "rate": 1000, "engine": engine, "pairs": 10_000, "load": 0.4}
    return {**of_run, "missing": 0, "repeated": 0, "latency_ms": latency, **more}


LINES = [
    line("spark", [9, 9, 9, 9, 9]),
    line("spark", [50, 400.4, 500, 999, 2345], missing=2),
    line("real-time, buffer 5 ms", [1, 5, 9, 50, 100], gap_ms=[400, 1250]),
]


def test_quantiles_are_of_the_nearest_rank() -> None:
    assert quantiles([]) == []
    assert quantiles([7.0]) == [7.0] * 5
    assert quantiles([float(n) for n in range(1000, 0, -1)]) == [1, 500, 900, 990, 1000]


def test_last_run_of_an_engine_is_compared_with_real_time_mode() -> None:
    rows = [row.strip("| ").split(" | ") for row in page(LINES).splitlines()]
    assert rows[2] == [
        *["kafka", "1,000", "spark", "10,000, 2 missing"],
        *["50 ms", "400 ms", "500 ms", "999 ms", "2.35 s", "80.1", "", "0.4"],
    ]
    assert rows[3][2:4] == ["real-time, buffer 5 ms", "10,000"]
    assert rows[3][-3:] == ["1.0", "400 ms and 1.25 s", "0.4"]


def test_plot_has_a_line_for_each_engine(tmp_path: Path) -> None:
    draw(LINES, tmp_path / "latency.svg")
    texts = {text.text for text in ElementTree.parse(tmp_path / "latency.svg").iter()}
    assert {"kafka, 1,000 rows/s", "Spark's join", "real-time, buffer 5 ms"} <= texts


def test_samples_of_a_steady_query_before_its_first_report_are_left_out() -> None:
    megabyte = 1024 * 1024
    names = ("heap", "resident", "checkpoint_bytes")
    sample = {**dict.fromkeys(names, megabyte), "threads": 3, "open_files": 4}
    first = {**sample, "seconds": 60, "batch": None, "rows": None, "buffered": None}
    second = {**sample, "seconds": 120, "batch": 1, "rows": 2000, "buffered": 30}
    rows = table([{**each, "checkpoint_files": 5} for each in (first, second)]).splitlines()
    assert rows[2:] == ["| 2 | 1 | 2,000 | 30 | 1.0 | 1 | 3 | 4 | 5 | 1.0 |"]
