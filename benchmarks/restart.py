"""``python -m benchmarks.restart``: how long a query takes from its start to its first commit.

Each engine builds a state of a number of rows, of two inputs, in a separate process. Then processes
go on with copies of its checkpoint, in turns: one batch of 1,000 rows a side, counted from the call
of ``start()``. None of the rows is evicted; each has one partner, in its own batch.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr
from pyspark.sql.streaming.query import StreamingQuery

import streamjoin

_STORE = "spark.sql.streaming.stateStore"
_ROCKSDB = {
    f"{_STORE}.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    f"{_STORE}.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.join.stateFormatVersion": "4",
    "spark.sql.streaming.join.stateFormatV4.enabled": "true",
}
_OURS = {"spark.sql.streamJoin.replaceBuiltin": "true"}
ENGINES: dict[str, dict[str, str]] = {
    "streamjoin": _OURS,
    "streamjoin-rocksdb": {**_OURS, "spark.sql.streamJoin.stateFormat": "rocksdb"},
    "spark-heap": {},
    "spark-rocksdb": _ROCKSDB,
}
_BUILDING_BATCH = 250_000
_FIRST_BATCH = 1_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.restart", description=__doc__)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--rows", nargs="+", type=int, default=[1_000_000], help="of both inputs")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--memory", default="4g", help="heap of each process")
    parser.add_argument("--child", nargs=3, metavar=("ENGINE", "CHECKPOINT", "ROWS"))
    arguments = parser.parse_args()
    if arguments.child:
        engine, checkpoint, rows = arguments.child
        _run(engine, Path(checkpoint), int(rows), arguments.memory)
        return 0
    for rows in arguments.rows:
        with TemporaryDirectory(prefix="streamjoin-restart-") as folder:
            for engine in arguments.engines:
                build(engine, Path(folder) / engine, rows, arguments.memory)
            for repetition in range(arguments.repetitions):
                for engine in arguments.engines:
                    copy = Path(folder) / "copy"
                    shutil.copytree(Path(folder) / engine, copy)
                    took = build(engine, copy, 0, arguments.memory)
                    shutil.rmtree(copy)
                    print(json.dumps({"rows": rows, "repetition": repetition, **took}), flush=True)
    return 0


def build(engine: str, checkpoint: Path, rows: int, memory: str) -> dict[str, Any]:
    """Build a state in a separate process; with 0 rows, continue with the existing one."""
    return child("benchmarks.restart", engine, str(checkpoint), str(rows), memory=memory)


def child(module: str, *arguments: str, memory: str, **environment: str) -> dict[str, Any]:
    """Run ``python -m module --child`` and give the line that it ends with."""
    with subprocess.Popen(
        [sys.executable, "-m", module, "--child", *arguments, "--memory", memory],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        line = next((line for line in process.stdout if line.startswith("{")), None)
        # a JVM that ends while RocksDB logs from a thread of its own may wait for that for ever
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if line is None:
        raise RuntimeError(f"{module} {' '.join(arguments)} gave no figures")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _run(engine: str, checkpoint: Path, rows: int, memory: str) -> None:
    """Build a state of a number of rows, or continue with the existing one for one batch."""
    spark = session(ENGINES[engine], memory)
    size = _BUILDING_BATCH if rows else _FIRST_BATCH
    result = joined(spark, size)
    before, cpu = time.monotonic(), cpu_seconds(spark)
    query = (
        result.writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(processingTime="0 seconds")
        .start()
    )
    progress = _after(query, max(1, rows // (2 * size)))
    took, cpu = time.monotonic() - before, cpu_seconds(spark) - cpu
    query.stop()
    _forget_planned(checkpoint)
    state = progress["stateOperators"][0]
    answer = {"engine": engine, "seconds": round(took, 2), "cpu": round(cpu, 2)}
    answer["held"] = state["numRowsTotal"]
    answer["add_batch_ms"] = progress["durationMs"]["addBatch"]
    answer["state_bytes"] = state["memoryUsedBytes"]
    spark.stop()
    print(json.dumps(answer))


def _forget_planned(checkpoint: Path) -> None:
    """Let the next process plan the uncommitted batch again, with its own rows."""
    for planned in (checkpoint / "offsets").glob("[0-9]*"):
        if not (checkpoint / "commits" / planned.name).exists():
            planned.unlink()
            (planned.parent / f".{planned.name}.crc").unlink(missing_ok=True)


def session(settings: dict[str, str], memory: str, master: str = "local[2]") -> SparkSession:
    """Give a session with so much heap, two cores and two partitions."""
    builder = streamjoin.configure(SparkSession.builder.master(master))
    common = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
    }
    for name, value in {**common, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def cpu_seconds(spark: SparkSession) -> float:
    """Seconds of all threads of the process, the compiler's and the collector's with them."""
    jvm: Any = spark.sparkContext._gateway
    fields = Path(f"/proc/{jvm.proc.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def joined(spark: SparkSession, batch: int, days: int = 30) -> DataFrame:
    """Give the join whose rows match within so many days."""

    def numbers(name: str) -> DataFrame:
        rows = (
            spark.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", batch)
            .option("numPartitions", 2)
            .load()
            .selectExpr(f"value AS {name}_key", f"timestamp_millis(value) AS {name}_time")
        )
        return rows.withWatermark(f"{name}_time", "1 second")

    within = f"r_time BETWEEN l_time - INTERVAL {days} DAYS AND l_time + INTERVAL {days} DAYS"
    return numbers("l").join(numbers("r"), expr(f"l_key = r_key AND {within}"))


def _after(query: StreamingQuery, batches: int) -> dict[str, Any]:
    """Give the progress of the n-th batch of this run."""
    while True:
        progress = [p for p in query.recentProgress if p["numInputRows"]]
        if len(progress) >= batches:
            return dict(progress[batches - 1])
        error = query.exception()
        if error is not None:
            raise error
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main())
