"""The engines, and the command that starts a process of each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark

import streamjoin

OURS = "streamjoin"
LIMIT = "limit"
BATCH = "spark-batch"
SPARK_HEAP = "spark-heap"
SPARK_ROCKSDB = [f"spark-rocksdb-{v}{tuned}" for v in (2, 3, 4) for tuned in ("", "-untracked")]
SPARK_ROCKSDB_TUNED = [name for name in SPARK_ROCKSDB if name.endswith("-untracked")]
FLINK = ["flink-heap", "flink-rocksdb"]
HAZELCAST = "hazelcast"

_HEAP = "3g"
_JARS = Path(__file__).resolve().parent / "jars"
_PACKAGE = "io.streamjoin.benchmarks"
# Flink serializes what it has no serializer for by reflection.
_FLINK_OPENS = ("java.lang", "java.util", "java.time", "java.net", "java.nio")
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
    """What runs a workload, by the name that results carry."""

    name: str

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Give the command of a process of its own."""
        if self.name == LIMIT:
            return self._java("core", f"{_PACKAGE}.limit.Limit", (), arguments)
        if self.name in FLINK:
            opens = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in _FLINK_OPENS]
            return self._java("flink", f"{_PACKAGE}.flink.FlinkEngine", opens, arguments)
        if self.name == HAZELCAST:
            main = f"{_PACKAGE}.hazelcast.HazelcastEngine"
            return self._java("hazelcast", main, _HAZELCAST_OPTIONS, arguments)
        return [
            str(Path(pyspark.__file__).parent / "bin" / "spark-submit"),
            *("--class", f"{_PACKAGE}.spark.SparkEngine"),
            *("--driver-memory", _HEAP),
            *(
                "--driver-class-path",
                os.pathsep.join([*map(str, _jars("spark")), streamjoin.jar_path()]),
            ),
            "spark-internal",
            *arguments,
        ]

    def _java(
        self, folder: str, main: str, options: Sequence[str], arguments: Sequence[str]
    ) -> list[str]:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home) / "bin" / "java") if home else "java"
        path = os.pathsep.join(map(str, _jars(folder)))
        return [java, f"-Xmx{_HEAP}", *options, "-cp", path, main, *arguments]


def staged(name: str) -> bool:
    """Tell whether the jars that an engine needs are there."""
    return any((_JARS / _folder(name)).glob("*.jar"))


def _folder(name: str) -> str:
    if name == LIMIT:
        return "core"
    if name == HAZELCAST:
        return "hazelcast"
    return "flink" if name in FLINK else "spark"


def _jars(folder: str) -> list[Path]:
    jars = sorted((_JARS / folder).glob("*.jar"))
    if not jars:
        raise NotStagedError(f"no jars in {_JARS / folder}; run: make bench-jars")
    return jars
