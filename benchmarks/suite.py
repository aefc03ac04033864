"""The short and the full suite."""

from __future__ import annotations

from .case import Case
from .engine import FLINK, LIMIT, OURS, SPARK_HEAP, SPARK_ROCKSDB, SPARK_ROCKSDB_TUNED

_BEST_ROCKSDB = "spark-rocksdb-4-untracked"


def short() -> list[Case]:
    """Ten minutes at most on two cores: sizes that show only which engine is ahead."""
    rows = {"rows": 100_000, "batch": 12_500}
    return [
        Case(
            "W1 inner",
            "W1",
            [LIMIT, OURS, SPARK_HEAP, _BEST_ROCKSDB],
            warmup=50_000,
            parameters=rows,
        ),
        *(
            Case(name, name, [LIMIT, OURS, SPARK_HEAP], 50_000, rows, repetitions=1)
            for name in ("W1-hot", "W1-catchup")
        ),
        Case(
            "W2", "W2", [LIMIT, OURS, SPARK_HEAP], 50_000, rows | {"behind": 30_000}, repetitions=1
        ),
        Case("W3", "W3", [LIMIT, OURS], 50_000, rows, repetitions=1),
        Case("N9", "N9", [LIMIT, OURS], 50_000, {"rows": 200_000, "batch": 25_000}, repetitions=1),
        Case("LAT", "LAT", [LIMIT, OURS, SPARK_HEAP], 20_000, {"rows": 30_000}, repetitions=1),
    ]


def full() -> list[Case]:
    """Everything; hours, most of them for the peers with RocksDB."""
    # Compilation goes on for a million rows and more, which not every peer does in minutes.
    large, warm = {"rows": 1_000_000, "batch": 125_000}, 1_000_000
    sweep = {"rows": 600_000, "batch": 25_000}
    half = {"rows": 500_000, "batch": 50_000}
    events = {"rows": 1_000_000, "batch": 50_000}
    spark = [SPARK_HEAP, *SPARK_ROCKSDB_TUNED]
    everyone = [LIMIT, OURS, SPARK_HEAP, *SPARK_ROCKSDB, *FLINK]
    return [
        Case("W1 inner", "W1", everyone, warm, large),
        Case("W1 left", "W1", [LIMIT, OURS, *spark, *FLINK], warm, large | {"how": "left"}),
        *(
            Case(f"W1 inner, W = {s} s", "W1", [LIMIT, OURS], 300_000, sweep | {"window": s * 1000})
            for s in (10, 60, 180, 600)
        ),
        Case("W1-hot", "W1-hot", [LIMIT, OURS, *spark], 200_000, half),
        Case(
            "W1-hot, one key in half the rows",
            "W1-hot",
            [LIMIT, OURS, *spark],
            200_000,
            half | {"skew": "half"},
        ),
        Case("W1-catchup", "W1-catchup", [LIMIT, OURS, *spark], warm, large),
        Case("W2, deliveries 120 s behind", "W2", [LIMIT, OURS, *spark], 200_000, half),
        Case(
            "W2, deliveries idle",
            "W2",
            [LIMIT, OURS, *spark],
            200_000,
            half | {"behind": 0, "idle": "yes"},
        ),
        Case(
            "W3",
            "W3",
            [LIMIT, OURS, SPARK_HEAP, *FLINK],
            200_000,
            half,
            expected={SPARK_HEAP: "refused"},
        ),
        *(
            Case(name, name, [LIMIT, OURS, *spark, *FLINK], 300_000, events)
            for name in ("N4", "N7", "N8", "N9", "N20")
        ),
        Case("LAT", "LAT", [LIMIT, OURS, *spark], 60_000, {"rows": 200_000}),
    ]
