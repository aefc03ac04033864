"""``python -m benchmarks.history``: the time to start a query from a history.

The history is two tables of orders and deliveries, a row of each per millisecond. Of it, `--share`
can still have an effect on the query. A process of its own runs `streamjoin.warm`. `seconds`,
`cpu` and `heap_mb` are as in `benchmarks.rescale`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import streamjoin
from benchmarks.rescale import collected_mb
from benchmarks.restart import child, cpu_seconds, session

_ROWS = "item BIGINT, t TIMESTAMP"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of both tables")
    parser.add_argument("--share", type=float, default=0.2, help="of the rows that have an effect")
    parser.add_argument("--memory", default="2g", help="heap of the process")
    parser.add_argument("--child", nargs=3, metavar=("FOLDER", "ROWS", "SECONDS"))
    arguments = parser.parse_args()
    if arguments.child:
        folder, rows, seconds = arguments.child
        _run(Path(folder), int(rows), int(seconds), arguments.memory)
        return 0
    each = arguments.rows // 2
    # of one join, warm reads twice its interval
    interval = str(max(1, int(each * arguments.share / 2 / 1000)))
    with TemporaryDirectory(prefix="streamjoin-history-") as folder:
        child("benchmarks.history", folder, str(each), "0", memory=arguments.memory)
        took = child(
            "benchmarks.history",
            folder,
            str(each),
            interval,
            memory=arguments.memory,
            JAVA_TOOL_OPTIONS=f"-Xlog:gc:file={folder}/%p.log",
        )
        heap = collected_mb(Path(folder))
    print(json.dumps({"rows": arguments.rows, **took, "heap_mb": heap}))
    return 0


def _run(folder: Path, rows: int, seconds: int, memory: str) -> None:
    """Write the tables, or start the query with an interval of so many seconds from them."""
    spark = session({}, memory)
    names = ("orders", "deliveries")
    answer: dict[str, Any] = {}
    if not seconds:
        for name in names:
            spark.range(rows).selectExpr(
                f"id % {max(1, rows // 10)} AS item", "timestamp_millis(1700000000000 + id) AS t"
            ).write.parquet(str(folder / name))
    else:
        live = []
        for name in names:
            (folder / "live" / name).mkdir(parents=True)
            live.append(spark.readStream.schema(_ROWS).parquet(str(folder / "live" / name)))
        orders, deliveries = (streamjoin.impose_order(stream, "t", "1 second") for stream in live)
        result = streamjoin.stream_join(
            orders.alias("o"),
            deliveries.alias("d"),
            f"o.item = d.item AND d.t BETWEEN o.t AND o.t + INTERVAL '{seconds}' SECOND",
        )
        tables = [spark.read.schema(_ROWS).parquet(str(folder / name)) for name in names]
        before, cpu = time.monotonic(), cpu_seconds(spark)
        told = streamjoin.warm(result, folder / "checkpoint", list(zip(live, tables, strict=True)))
        took, cpu = time.monotonic() - before, cpu_seconds(spark) - cpu
        answer = {"told": told, "seconds": round(took, 1), "cpu": round(cpu, 1)}
    spark.stop()
    print(json.dumps(answer))


if __name__ == "__main__":
    sys.exit(main())
