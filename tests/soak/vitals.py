"""Resources that the driver's JVM uses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def vitals(spark: SparkSession, local: Path) -> dict[str, int]:
    """Measure the JVM: its heap after a full collection and, on Linux, the kernel's figures.

    ``local`` is Spark's local folder, whose files are counted.
    """
    jvm: Any = spark._jvm
    runtime = jvm.java.lang.Runtime.getRuntime()
    jvm.java.lang.System.gc()
    measured = {
        "heap": runtime.totalMemory() - runtime.freeMemory(),
        "local_files": sum(len(files) for _, _, files in os.walk(local)),
    }
    gateway: Any = spark.sparkContext._gateway
    process = Path("/proc") / str(gateway.proc.pid)
    if process.exists():
        measured |= {
            "resident": _status(process, "VmRSS") * 1024,
            "threads": _status(process, "Threads"),
            "open_files": len(list((process / "fd").iterdir())),
        }
    return measured


def _status(process: Path, name: str) -> int:
    for line in (process / "status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0])
    raise KeyError(name)


def size(folder: Path) -> tuple[int, int]:
    """The number of files below a folder and their bytes, while files are added and deleted."""
    files = total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(path) / name).stat().st_size
            except FileNotFoundError:
                continue
            files += 1
    return files, total
