"""Splits CPU samples of a run into what a join does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

# The first that is found in a stack, from its innermost frame outwards, counts.
_PARTS: dict[str, tuple[str, ...]] = {
    "compilation": (
        "Compile::",
        "CompileBroker::",
        "C1_CompileFast",
        "C2Compiler",
        "Compilation::",
    ),
    "garbage collection": ("G1", "GCTaskThread", "VMThread::", "WorkerThread::"),
    "commit": (
        "StateStoreProvider$RocksDBStateStore.commit",
        "HDFSBackedStateStore.commit",
        "JoinTask.finish",
        "SymmetricHashJoinStateManager.commit",
        "RocksDB.commit",
        "doMaintenance",
        "uploadSnapshot",
    ),
    "evict": (
        "EventTimeJoin.advance",
        "JoinState.evict",
        "StoredSide.evict",
        "StoredSide.remove",
        "StoredSide.take",
        "StateStoreJoinState.evict",
        "removeOldState",
        "removeByKeyCondition",
        "removeByValueCondition",
        "evictByKeyCondition",
        "evictByValueCondition",
        "removeAndReturn",
        "evictAndReturn",
        "OneSideHashJoiner.removeOld",
        "onEventTime",
        "removeExpiredRows",
    ),
    "append": (
        "StateStoreJoinState.flush",
        "StateStoreJoinState.append",
        "StoredSide.put",
        "HeapJoinState.append",
        "StateManager.append",
        "StateManagerV1.append",
        "KeyWithIndexToValueStore.put",
        "KeyToNumValuesStore.put",
        "KeyWithTsToValuesStore.append",
        "MapState.put",
    ),
    "probe": (
        "EventTimeJoin.process",
        "StateStoreJoinState.probe",
        "StoredSide.scan",
        "StoredSide.read",
        "HeapJoinState.probe",
        "getJoinedRows",
        "getJoinedRowsAndRemoveMatched",
        "storeAndJoinWithOtherSide",
        "TimeIntervalJoin.processElement",
        "StreamingJoinOperator.processElement",
    ),
    "rows": ("RowReader.", "RowsOfStep.", "DataSourceRDD"),
    "shuffle": ("ShuffleMapTask", "shuffle.", "ShuffleWriter"),
    "planning": ("MicroBatchExecution", "StreamExecution"),
}

# Where native code hides its callers, what it does to the state's store.
_NATIVE: dict[str, tuple[str, ...]] = {
    "append": ("rocksdb::MemTable::Add", "rocksdb::DBImpl::Write"),
    "probe": ("rocksdb::DBIter::", "rocksdb::MergingIterator", "rocksdb::BlockIter"),
}

OTHER = "other"


def split(stacks: Iterable[str]) -> Counter[str]:
    """Count samples by part; a stack is `outermost;...;innermost count`."""
    parts: Counter[str] = Counter()
    for line in stacks:
        stack, _, count = line.rstrip("\n").rpartition(" ")
        if stack:
            parts[part(stack)] += int(count)
    return parts


def part(stack: str) -> str:
    """Give the part that the innermost telling frame of a stack belongs to."""
    frames = stack.replace("/", ".").replace("$anonfun$", "").split(";")[::-1]
    return _first(frames, _PARTS) or _first(frames, _NATIVE) or OTHER


def _first(frames: Sequence[str], parts: Mapping[str, Sequence[str]]) -> str | None:
    for frame in frames:
        for name, marks in parts.items():
            if any(mark in frame for mark in marks):
                return name
    return None


def table(file: Path) -> str:
    with file.open(encoding="utf-8") as stacks:
        parts = split(stacks)
    total = sum(parts.values()) or 1
    rows = [f"{name:<20}{count / total:>7.1%}" for name, count in parts.most_common()]
    return "\n".join([file.name, *rows])
