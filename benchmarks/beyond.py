"""``python -m benchmarks.beyond``: a state that grows beyond the memory that it may take.

Each row of the right input has a random key of all rows of the left input so far, and all of them
are within its join interval. So each batch reads all of the state. A row of the left input matches
nothing. One query runs from the first row to the last. Each line has the buffered rows at that
time, and the cost of the batches since the line before.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.restart import ENGINES, cpu_seconds, session

_LINES = [0.1 * 2**n for n in range(8)] + [20.0, 40.0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beyond", description=__doc__)
    parser.add_argument("--engine", choices=ENGINES, default="streamjoin")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of both inputs")
    parser.add_argument("--batch", type=int, default=125_000, help="rows of each input")
    parser.add_argument("--memory", default="1g", help="heap of the process")
    parser.add_argument("--segment-memory", default="", help="of it for rows, in bytes or as 64m")
    parser.add_argument("--row-bytes", type=int, default=100, help="that a row takes in memory")
    parser.add_argument("--checkpoint", help="where to leave it, or to go on from")
    arguments = parser.parse_args()
    settings = dict(ENGINES[arguments.engine])
    if arguments.segment_memory:
        settings["spark.sql.streamJoin.segmentMemory"] = arguments.segment_memory
    settings["spark.sql.streaming.numRecentProgressUpdates"] = "100000"
    spark = session(settings, arguments.memory)
    limit = _bytes(arguments.segment_memory or "300m")
    with TemporaryDirectory(prefix="streamjoin-beyond-") as folder:
        checkpoint = Path(arguments.checkpoint or folder)
        query = _started(spark, checkpoint, arguments.batch)
        for line in _walk(spark, query, arguments.rows, limit / arguments.row_bytes):
            print(json.dumps({"engine": arguments.engine, **line}), flush=True)
        query.stop()
        spark.stop()
    return 0


def _bytes(text: str) -> int:
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


def _walk(
    spark: SparkSession, query: StreamingQuery, rows: int, fits: float
) -> Iterator[dict[str, Any]]:
    """Give a line for each multiple of the memory that the state comes to."""
    ends = [line for line in _LINES if line * fits < rows] + [rows / fits]
    seen, held, cpu = 0, 0, cpu_seconds(spark)
    for end in ends:
        while held < end * fits:
            time.sleep(0.02)
            error = query.exception()
            if error is not None:
                raise error
            batches = [p for p in query.recentProgress if p["numInputRows"]]
            held = batches[-1]["stateOperators"][0]["numRowsTotal"] if batches else 0
        done = [p for p in query.recentProgress if p["numInputRows"]]
        if len(done) == seen:
            continue
        some, seen = done[seen:], len(done)
        operators = [p["stateOperators"][0] for p in some]
        arrived = sum(p["numInputRows"] for p in some)
        cpu, before = cpu_seconds(spark), cpu
        yield {
            "state_by_memory": round(held / fits, 2),
            "rows": held,
            "batches": len(some),
            "us_per_row": round(sum(p["durationMs"]["addBatch"] for p in some) * 1e3 / arrived, 2),
            "cpu_us_per_row": round((cpu - before) * 1e6 / arrived, 2),
            "longest_batch_ms": max(p["durationMs"]["addBatch"] for p in some),
            "memory_bytes": operators[-1]["memoryUsedBytes"],
            "spilled_bytes": operators[-1]["customMetrics"].get("spilledBytes"),
            "joined": sum(p["sink"]["numOutputRows"] for p in some),
            "arrived": arrived,
        }


def _started(spark: SparkSession, checkpoint: Path, batch: int) -> StreamingQuery:
    left = _numbers(spark, batch, "l_key", "value", "l_time")
    drawn = "pmod(xxhash64(value), value + 1)"
    right = _numbers(spark, batch, "r_key", drawn, "r_time")
    within = "r_time BETWEEN l_time - INTERVAL 30 DAYS AND l_time + INTERVAL 30 DAYS"
    return (
        left.join(right, expr(f"l_key = r_key AND {within}"))
        .writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(processingTime="0 seconds")
        .start()
    )


def _numbers(spark: SparkSession, batch: int, key: str, of: str, at: str) -> DataFrame:
    return (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", batch)
        .option("numPartitions", 2)
        .load()
        .selectExpr(f"{of} AS {key}", f"timestamp_millis(value) AS {at}")
        .withWatermark(at, "1 second")
    )


if __name__ == "__main__":
    sys.exit(main())
