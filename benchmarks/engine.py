"""The engines, and the command that starts a process of each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark

import streamjoin

OURS = "streamjoin"
OURS_ROCKSDB = "streamjoin-rocksdb"
LIMIT = "limit"
BATCH = "spark-batch"
SPARK_HEAP = "spark-heap"
SPARK_ROCKSDB = [f"spark-rocksdb-{v}{tuned}" for v in (2, 3, 4) for tuned in ("", "-untracked")]
SPARK_ROCKSDB_TUNED = [name for name in SPARK_ROCKSDB if name.endswith("-untracked")]
FLINK = ["flink-heap", "flink-rocksdb"]
FLINK_MINI_BATCH = [f"{name}-mini-batch" for name in FLINK]
HAZELCAST = "hazelcast"

_HEAP = "3g"
# A heap that grows takes its memory from the system page by page; a query does so once, not for
# each row.
_HEAP_OPTIONS = [f"-Xms{_HEAP}", "-XX:+AlwaysPreTouch"]
_JARS = Path(__file__).resolve().parent / "jars"
_PACKAGE = "io.streamjoin.benchmarks"
# Flink serializes what it has no serializer for by reflection.
_FLINK_OPENS = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.lang", "java.util", "java.time", "java.net", "java.nio")
]
# What Hazelcast asks for when it starts, to be as fast as it can.
_HAZELCAST_OPTIONS = (
    "--add-modules=java.se",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.management/sun.management=ALL-UNNAMED",
    "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
)


class NotStagedError(RuntimeError):
    """The jars of an engine have not been built."""


@dataclass(frozen=True)
class Engine:
    """What runs a workload: the folder of its jars, its main class, and how it is started."""

    folder: str
    main: str
    options: Sequence[str] = ()
    submitted: bool = False

    @staticmethod
    def of(name: str) -> Engine:
        """Give the engine of a name that results carry."""
        return _ALONE.get(name, _SPARK)

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Give the command of a process of its own.

        Raises
        ------
        NotStagedError
            Its jars have not been built.
        """
        main = f"{_PACKAGE}.{self.main}"
        if self.submitted:
            path = os.pathsep.join([*map(str, self.jars()), streamjoin.jar_path()])
            submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
            heap = ["--driver-memory", _HEAP, "--driver-java-options", " ".join(_HEAP_OPTIONS)]
            options = ["--class", main, *heap, "--driver-class-path", path]
            return [submit, *options, "spark-internal", *arguments]
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home) / "bin" / "java") if home else "java"
        path = os.pathsep.join(map(str, self.jars()))
        heap = [f"-Xmx{_HEAP}", *_HEAP_OPTIONS]
        return [java, *heap, *self.options, "-cp", path, main, *arguments]

    def staged(self) -> bool:
        """Check whether the required jars exist."""
        return any((_JARS / self.folder).glob("*.jar"))

    def jars(self) -> list[Path]:
        """Give the class path.

        Raises
        ------
        NotStagedError
            The jars have not been built.
        """
        jars = sorted((_JARS / self.folder).glob("*.jar"))
        if not jars:
            raise NotStagedError(f"no jars in {_JARS / self.folder}; run: make bench-jars")
        return jars


_SPARK = Engine("spark", "spark.SparkEngine", submitted=True)
_FLINK = Engine("flink", "flink.FlinkEngine", _FLINK_OPENS)
FLINK_SQL = Engine("flink", "flink.FlinkSql", _FLINK_OPENS)
_ALONE = {
    LIMIT: Engine("core", "limit.Limit"),
    HAZELCAST: Engine("hazelcast", "hazelcast.HazelcastEngine", _HAZELCAST_OPTIONS),
    **dict.fromkeys([*FLINK, *FLINK_MINI_BATCH], _FLINK),
}
