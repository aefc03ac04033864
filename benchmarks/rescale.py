"""``python -m benchmarks.rescale``: the time to write a state anew.

The state is that of `benchmarks.restart`: two inputs of two columns, in two partitions. A process
of its own gives it another number of partitions. With ``--evolve``, it writes the state for a
query with another interval, also from the checkpoints of Spark's own join. `seconds` and `cpu` are
those of the call, `heap` is the most that a collection of garbage left in a JVM. With a master such
as ``local-cluster[2,1,512]`` the driver and each executor are JVMs of their own.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import streamjoin
from benchmarks.restart import ENGINES, build, child, cpu_seconds, joined, session

_OURS = [name for name in ENGINES if name.startswith("streamjoin")]
_CHANGED_DAYS = 20
_BUILDING_MEMORY = "4g"
_AFTER_COLLECTION = re.compile(r"Pause .*->(\d+)M\(")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rescale", description=__doc__)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=_OURS)
    parser.add_argument("--rows", nargs="+", type=int, default=[1_000_000], help="of both inputs")
    parser.add_argument("--to", nargs="+", type=int, default=[8], help="new partitions")
    parser.add_argument("--evolve", action="store_true", help="another query, not other partitions")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--memory", default="1g", help="heap of each JVM")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--checkpoints", type=Path, help="where to leave them, or to find them")
    parser.add_argument("--child", nargs=4, metavar=("MASTER", "CHECKPOINT", "TO", "PARTITIONS"))
    arguments = parser.parse_args()
    if arguments.child:
        master, checkpoint, to, partitions = arguments.child
        _run(master, Path(checkpoint), Path(to), int(partitions), arguments.memory)
        return 0
    with TemporaryDirectory(prefix="streamjoin-rescale-") as folder:
        for line in _lines(arguments, Path(folder)):
            print(json.dumps(line), flush=True)
    return 0


def _lines(arguments: argparse.Namespace, folder: Path) -> Any:
    for rows in arguments.rows:
        old = {e: (arguments.checkpoints or folder) / f"{e}-{rows}" for e in arguments.engines}
        for engine, checkpoint in old.items():
            if not checkpoint.exists():
                build(engine, checkpoint, rows, _BUILDING_MEMORY)
        for repetition in range(arguments.repetitions):
            for partitions in [0] if arguments.evolve else arguments.to:
                for engine, checkpoint in old.items():
                    with TemporaryDirectory(dir=folder) as new:
                        took = _rescaled(arguments, checkpoint, Path(new), partitions)
                    yield {"engine": engine, "rows": rows, "repetition": repetition, **took}


def _rescaled(
    arguments: argparse.Namespace, checkpoint: Path, folder: Path, partitions: int
) -> dict[str, Any]:
    took = child(
        "benchmarks.rescale",
        arguments.master,
        str(checkpoint),
        str(folder / "new"),
        str(partitions),
        memory=arguments.memory,
        JAVA_TOOL_OPTIONS=f"-Xlog:gc:file={folder}/%p.log",
    )
    return {**took, "heap_mb": collected_mb(folder)}


def collected_mb(folder: Path) -> list[int]:
    """Give the most that a collection of garbage left in each JVM, by the logs in a folder."""
    heaps = [
        max((int(m) for m in _AFTER_COLLECTION.findall(log.read_text())), default=0)
        for log in folder.glob("*.log")
    ]
    return sorted(heaps, reverse=True)


def _run(master: str, checkpoint: Path, to: Path, partitions: int, memory: str) -> None:
    """Write the state anew, with so many partitions, or with 0 for the changed query."""
    settings = {"spark.executor.memory": memory, "spark.sql.streamJoin.replaceBuiltin": "true"}
    spark = session(settings, memory, master)
    before, cpu = time.monotonic(), cpu_seconds(spark)
    if partitions:
        told = streamjoin.rescale(checkpoint, to, partitions, spark=spark)[0]
    else:
        told = streamjoin.evolve(checkpoint, to, joined(spark, 1, _CHANGED_DAYS))[0]
    took, cpu = time.monotonic() - before, cpu_seconds(spark) - cpu
    state = sum(file.stat().st_size for file in (to / "state").rglob("*") if file.is_file())
    answer = {"told": told, "seconds": round(took, 1), "cpu": round(cpu, 1), "state_bytes": state}
    spark.stop()
    print(json.dumps(answer))


if __name__ == "__main__":
    sys.exit(main())
