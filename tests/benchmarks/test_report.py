"""Tables and plots from result lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import account, nexmark, plots, profile
from benchmarks.process import Result
from benchmarks.report import page
from benchmarks.summary import summaries


def line(engine: str, cpu_seconds: float, repetition: int = 0, **more: object) -> Result:
    return {
        "date": "2026-01-02T03:04:05+00:00",
        "machine": "a machine",
        "load": 0.5,
        "case": "W1",
        "workload": "W1",
        "parameters": {"window": "60000"},
        "engine": engine,
        "against": "spark-heap" if engine == "streamjoin" else "streamjoin",
        "repetition": repetition,
        "outcome": "correct",
        "rows": 1_000_000,
        "cpu_seconds": cpu_seconds,
        "wall_seconds": cpu_seconds / 2,
        "rows_per_cpu_second": 1_000_000 / cpu_seconds,
        "batches": 3,
        "no_data_batches": 1,
        "peak_buffered_rows": 1234,
        "median_batch_ms": 10.0,
        "max_batch_ms": 20.0,
        "batch_log": [[500_000, 10.0, 100, 1], [500_000, 20.0, 1234, 1], [0, 5.0, 0, 1]],
        **more,
    }


@pytest.fixture
def lines() -> list[Result]:
    return [
        line("streamjoin", 10, 0),
        line("spark-heap", 40, 0, bytes_checkpointed=2_500_000),
        line("spark-heap", 50, 1),
        line("streamjoin", 8, 1),
        line("streamjoin", 20, 2),
        line("spark-heap", 20, 2),
        line("streamjoin", 1, 0, against="limit"),
    ]


def test_ratios_pair_runs_of_the_same_repetition(lines: list[Result]) -> None:
    engines = summaries(lines)["W1"]
    ratios = engines["streamjoin"].ratios(engines["spark-heap"], "rows_per_cpu_second")
    assert ratios == pytest.approx([4, 6.25, 1])


def test_page_has_a_row_per_engine(lines: list[Result]) -> None:
    text = page(lines, ["p.png"])
    ours, spark = (row for row in text.splitlines() if row.startswith("| s"))
    assert ours.startswith("| streamjoin | 112,500 (50,000 to 1,000,000) |  | 9.0 (1.0 to 20.0) |")
    assert spark.startswith(
        "| spark-heap | 25,000 (20,000 to 50,000) | 4.00 (1.00 to 6.25) | 40.0 (20.0 to 50.0)"
    )
    assert "| 1,234 | 2.5 MB |  | 10 / 20 | 3 (1) | correct |" in spark
    assert "![](p.png)" in text


def test_page_shows_the_time_span_and_load_of_all_runs(lines: list[Result]) -> None:
    """A section measured again stands between sections of another day."""
    later = line("limit", 1, date="2026-01-03T04:05:06+00:00", load=2.25)
    text = page([lines[0], later, *lines[1:]])
    assert (
        "2026-01-02T03:04:05+00:00 to 2026-01-03T04:05:06+00:00; a machine; load 0.5 to 2.2" in text
    )


def test_changes_column_appears_for_changelog_joins_only(lines: list[Result]) -> None:
    assert "changes emitted" not in page(lines)
    assert "| changes emitted |" in page([*lines, line("flink-heap", 5, changes_out=12345)])


def test_refused_engine_has_no_figures(lines: list[Result]) -> None:
    refused = {
        **{name: lines[0][name] for name in ("case", "workload", "date", "machine", "load")},
        "engine": "spark-rocksdb-2",
        "outcome": "refused",
    }
    (row,) = (r for r in page([*lines, refused]).splitlines() if "rocksdb" in r)
    assert row.endswith("| refused |")


def test_wrong_warm_up_does_not_enter_ratios(lines: list[Result]) -> None:
    wrong = line("spark-heap", 30, outcome="wrong")
    del wrong["against"], wrong["repetition"]
    (row,) = (r for r in page([*lines, wrong]).splitlines() if r.startswith("| spark-heap"))
    assert "| 4.00 (1.00 to 6.25) |" in row
    assert row.endswith("| wrong |")


def test_page_shows_the_delay_of_unmatched_rows(lines: list[Result]) -> None:
    waited = {"unmatched_rows": 9, "median_delay_batches": 1, "max_delay_batches": 2}
    waited |= {"median_delay_ms": 30, "max_delay_ms": 40}
    text = page([*lines, line("spark-heap", 30, 3, **waited)])
    assert "spark-heap: unmatched rows are emitted 1 batches and 30 ms (most: 2, 40 ms)" in text


def test_three_plots_are_drawn(lines: list[Result], tmp_path: Path) -> None:
    w2 = [{**each, "case": "W2"} for each in lines]
    drawn = plots.draw([*lines, *w2], tmp_path / "results")
    assert [file.name for file in drawn] == [
        "results-throughput.png",
        "results-batches.png",
        "results-state.png",
    ]
    assert all(file.stat().st_size > 0 for file in drawn)


def test_nexmark_page_has_a_row_per_query_and_one_plot(lines: list[Result], tmp_path: Path) -> None:
    refused = {
        **{name: lines[0][name] for name in ("workload", "date", "machine", "load")},
        "case": "q4",
        "engine": "spark-heap",
        "outcome": "refused",
        "refused": "no second\naggregation",
    }
    found = [{**each, "case": "q3", "result_rows": 5000} for each in lines]
    wrong = line("flink-heap", 20, case="q4", outcome="wrong", against="streamjoin")
    mine = line("streamjoin", 10, case="q4", against="flink-heap")
    file = tmp_path / "results.jsonl"
    text = "".join(json.dumps(each) + "\n" for each in [*found, mine, refused, wrong])
    file.write_text(text, encoding="utf-8")
    rows = [r for r in nexmark.write(file).splitlines() if r.startswith("| q")]
    first = "| q3 | 1,000,000 | 5,000 | 112,500 | 4.0 (1.0 to 6.2) |  | 9, 40 | 0 to 0 |"
    assert rows[1] == first
    assert "| 100,000 | refused: no second aggregation | 2.0 (2.0 to 2.0), wrong |" in rows[2]
    assert file.with_suffix(".png").stat().st_size > 0


def test_profile_samples_are_assigned_by_innermost_known_frame() -> None:
    join = "[task];ShuffleMapTask.runTask;io/streamjoin/core/EventTimeJoin.process"
    parts = profile.split(
        [
            f"{join} 5\n",
            f"{join};org/HeapJoinState.append;java/util/ArrayList.add 3\n",
            "[C2];CompileBroker::loop;x 2\n",
            f"{join};JoinState.evict;rocksdb::DBImpl::Write 4\n",
            "[task];java/lang/Thread.run;rocksdb::MemTable::Add;memcmp 6\n",
            "[other];java/lang/Thread.run 1\n",
        ]
    )
    assert parts == {"probe": 5, "evict": 4, "append": 9, "compilation": 2, "other": 1}


def test_cost_account_shows_medians_in_a_column_per_engine() -> None:
    def accounted(engine: str, ms: float) -> Result:
        parts = {"addBatch": ms, "walCommit": 1.25}
        empty: dict[str, float] = {}
        tables = dict.fromkeys(("phases", "spans", "counts", "cpu"), empty)
        rules = {"all": ms, "o.a.Fast": 0.1, "o.a.Slow": ms}
        return line(engine, 1, account={"parts": parts, **tables, "rules": rules})

    warm_up = accounted("streamjoin", 99)
    del warm_up["against"]
    runs = [accounted("streamjoin", ms) for ms in (3, 30, 4)]
    text = account.tables([warm_up, *runs, accounted("spark-heap", 2000)], rules=2)
    assert "| addBatch | 4.0 | 2,000 |" in text
    assert "| walCommit | 1.2 | 1.2 |" in text
    assert "| Slow | 4.0 | 2,000 |" in text
