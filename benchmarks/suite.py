"""The short and the full suite."""

from __future__ import annotations

from dataclasses import replace

from .case import Case
from .engine import (
    FLINK,
    FLINK_MINI_BATCH,
    HAZELCAST,
    LIMIT,
    OURS_ROCKSDB,
    SPARK_HEAP,
    SPARK_ROCKSDB,
    SPARK_ROCKSDB_TUNED,
)

_BEST_ROCKSDB = "spark-rocksdb-4-untracked"

_HOT: dict[str, dict[str, str | int]] = {
    "": {},
    # as many matches a row as in W1
    ", W = 60 ms": {"window": 60},
    ", one key in half the rows": {"skew": "half"},
    # as many matches a row as in W1-hot
    ", one key in half the rows, W = 40 ms": {"skew": "half", "window": 40},
}


def short() -> list[Case]:
    """Ten minutes at most on two cores: sizes that show only which engine is ahead."""
    rows: dict[str, str | int] = {"rows": 100_000, "batch": 12_500}

    def case(name: str, engines: list[str], **changes: str | int) -> Case:
        return Case(
            name,
            name,
            engines,
            warmup=50_000,
            warmup_batches=20,
            settling=0,
            parameters=rows | changes,
            repetitions=1,
        )

    several = [LIMIT, SPARK_HEAP]
    return [
        replace(case("W1", [*several, _BEST_ROCKSDB]), label="W1 inner", repetitions=3),
        case("W1-hot", several),
        case("W1-catchup", several),
        case("W2", several, behind=30_000),
        case("W3", [LIMIT]),
        case("N9", [LIMIT], rows=200_000, batch=25_000),
        case("LAT", several, rows=30_000, batch=1_000),
        _plain(case("LAT", [SPARK_HEAP], rows=30_000, batch=1_000)),
        case("U1", ["flink-heap"], rows=50_000, batch=6_250),
    ]


def full() -> list[Case]:
    """Everything; hours, most of them for the peers with RocksDB."""
    warm = 400_000
    large = {"rows": 1_000_000, "batch": 125_000}
    events = {"rows": 2_000_000, "batch": 250_000}
    # what a key holds is what Spark's own join looks at for each row, but for its format 4
    hot = {"rows": 400_000, "batch": 25_000}
    spark = [SPARK_HEAP, *SPARK_ROCKSDB_TUNED]
    everyone = [LIMIT, SPARK_HEAP, *SPARK_ROCKSDB, *FLINK]
    return [
        Case("W1 inner", "W1", everyone, warm, large),
        Case("W1 left", "W1", [LIMIT, *spark, *FLINK], warm, large | {"how": "left"}),
        _with_hazelcast("W1 inner", "W1"),
        _with_hazelcast("W1 left", "W1", how="left"),
        _with_hazelcast("W1-hot", "W1-hot"),
        Case("V1 inner", "V1", [*FLINK], warm, large),
        Case("V1 left", "V1", [*FLINK], warm, large | {"how": "left"}),
        *(_wider(seconds, warm, keys=100_000) for seconds in (60, 180, 600)),
        *(_wider(seconds, warm, keys=seconds * 5000 // 3) for seconds in (180, 600)),
        Case("W1-hot, 400,000 rows a side", "W1-hot", [LIMIT, *spark], warm, hot),
        *(
            Case(f"W1-hot{about}", "W1-hot", [LIMIT, _BEST_ROCKSDB], warm, large | changes)
            for about, changes in _HOT.items()
        ),
        _no_key(),
        Case("W1-catchup", "W1-catchup", [LIMIT, *spark], warm, large),
        Case(
            "W2, deliveries 120 s behind",
            "W2",
            [LIMIT, *spark],
            warm,
            large | {"behind": 120_000},
        ),
        Case(
            "W2, deliveries idle",
            "W2",
            [LIMIT, *spark],
            warm,
            large | {"behind": 0, "idle": "yes"},
        ),
        Case(
            "W3",
            "W3",
            [LIMIT, SPARK_HEAP, *FLINK],
            warm,
            large,
            expected={SPARK_HEAP: "refused"},
        ),
        *(Case(name, name, [LIMIT, *spark, *FLINK], warm, events) for name in ("N4", "N9", "N20")),
        *(
            Case(name, name, [LIMIT, *spark, *FLINK, HAZELCAST], warm, events)
            for name in ("N7", "N8")
        ),
        *(
            Case(
                f"W1 {how}, in order",
                "W1",
                FLINK if how == "inner" else [],
                warm,
                large | {"how": how, "order": "yes"},
                itself=[{"order": "no"}],
            )
            for how in ("inner", "left")
        ),
        Case(
            "LAT, in order",
            "LAT",
            [],
            200_000,
            {"rows": 200_000, "order": "yes"},
            settling=0,
            itself=[{"order": "no"}],
        ),
        Case("LAT", "LAT", [LIMIT, *spark], 200_000, {"rows": 200_000}, settling=0),
        Case(
            "LAT, sizes of a batch",
            "LAT",
            [],
            200_000,
            {"rows": 200_000},
            settling=0,
            itself=[
                {"batch": 10_000, "rows": 1_000_000},
                {"batch": 100_000, "rows": 2_000_000},
            ],
        ),
        _small_batches(),
        _plain(_small_batches()),
        *plain(),
        *_changelogs(),
    ]


def plain() -> list[Case]:
    """The same in sessions as a user finds them, cold starts, and a grid."""
    warm = 400_000
    large = {"rows": 1_000_000, "batch": 125_000}
    spark = [SPARK_HEAP, _BEST_ROCKSDB]
    inner = Case("W1 inner", "W1", [*spark, *FLINK], warm, large)
    left = Case("W1 left", "W1", [*spark, "flink-heap"], warm, large | {"how": "left"})
    lat = Case("LAT", "LAT", spark, 200_000, {"rows": 200_000}, settling=0)
    # with fewer rows, R3 measures compilation
    longer = {"R3": {"rows": 64_000_000, "batch": 8_000_000}}
    changelogs = [
        replace(
            case,
            engines=["flink-heap"],
            parameters={**case.parameters, **longer.get(case.label, {})},
        )
        for case in _changelogs()
        if case.label in ("R20", "R3", "U1", "U2")
    ]
    started = [
        Case(f"{workload}, start", workload, engines, 0, sizes, fresh=True)
        for workload, engines, sizes in (
            ("W1", [SPARK_HEAP, "flink-heap"], {"rows": 1_000_000, "batch": 20_000}),
            ("LAT", [SPARK_HEAP], {"rows": 50_000}),
            ("U1", ["flink-heap"], {"rows": 500_000, "batch": 10_000}),
        )
    ]
    return [
        _plain(case) for case in (inner, left, lat, *changelogs, *started, *_grouped(), *_grid())
    ]


def nexmark() -> list[Case]:
    """Whole queries of Nexmark."""
    events = {
        # so many that each engine takes about five CPU seconds or more
        "q3": 12_000_000,
        "q4": 800_000,
        "q7": 1_200_000,
        "q8": 10_000_000,
        "q9": 600_000,
        "q20": 1_200_000,
        "q23": 400_000,
    }
    return [
        Case(
            query,
            query.upper(),
            [SPARK_HEAP, "flink-heap"],
            50_000,
            {"rows": rows, "batch": rows // 8},
            warmup_batches=10,
            settling=10,
        )
        for query, rows in events.items()
    ]


def _grid() -> list[Case]:
    """W1 by width, keys, partners of a row, and size of a batch."""
    cells = [
        # seconds, keys, rows per input, rows of a batch
        (60, 100_000, 400_000, 50_000),
        (600, 1_000_000, 1_200_000, 50_000),
        (600, 100_000, 800_000, 50_000),
        (0.01, 100_000, 400_000, 50_000),
        (1, 100, 200_000, 50_000),
        (5, 100, 60_000, 20_000),
        (0.01, 1, 100_000, 20_000),
        (60, 100_000, 400_000, 20_000),
        (60, 100_000, 100_000, 2_000),
    ]
    return [
        Case(
            f"W1 {how}, W = {seconds} s, {keys:,} keys, batches of {batch:,}",
            "W1",
            # Spark's join looks at all rows of a key for each row
            ["flink-heap"] if keys == 1 else [SPARK_HEAP, "flink-heap"],
            100_000,
            {
                "how": how,
                "window": int(seconds * 1000),
                "keys": keys,
                "rows": rows,
                "batch": batch,
            },
            settling=5,
        )
        for how in ("inner", "left")
        for seconds, keys, rows, batch in cells
    ]


def _grouped() -> list[Case]:
    """The watermark of each group of rows, beside one watermark for all."""
    sizes: list[tuple[str, dict[str, str | int]]] = [
        ("W1", {"rows": 4_000_000, "batch": 250_000}),
        # without unmatched rows: the last row of a run advances one group only
        ("LAT", {"rows": 200_000, "how": "inner"}),
    ]
    return [
        Case(
            f"{workload}, {groups:,} groups",
            workload,
            [],
            200_000,
            {**size, "groups": groups, "per": "yes"},
            itself=[{"per": "no"}],
        )
        for workload, size in sizes
        for groups in (1, 12, 1000)
    ]


def _changelogs() -> list[Case]:
    """Joins of rows that change, for which the bare loop is no peer: it joins once, at the end."""
    everyone = [OURS_ROCKSDB, *FLINK, *FLINK_MINI_BATCH]

    def case(label: str, workload: str, rows: int, **changes: str | int) -> Case:
        sizes: dict[str, str | int] = {"rows": rows, "batch": rows // 8}
        return Case(label, workload, everyone, 100_000, sizes | changes, warmup_batches=100)

    return [
        # two seconds of run measure compilation
        case("R20", "R20", 4_000_000),
        case("R3", "R3", 16_000_000),
        # long enough for Flink to write several checkpoints
        case("U1", "U1", 2_000_000),
        case("U1, zipf", "U1", 8_000_000, skew="zipf"),
        case("U2", "U2", 4_000_000),
        case("U2, into a table", "U2", 4_000_000, sink="table"),
        case("U2, orders without a key", "U2", 500_000, keyed="no"),
        case("U3", "U3", 2_000_000),
        case("CH, changes on the left", "CH", 1_200_000),
        case("CH, changes on the right", "CH", 600_000, first="right"),
        _flat(50_000, [500_000, 5_000_000]),
    ]


def _flat(keys: int, larger: list[int]) -> Case:
    """Batches of 1,000 updates over two sizes of the inputs."""

    def size(keys: int) -> dict[str, str | int]:
        return {"keys": keys, "standing": keys, "rows": keys + 200_000}

    return Case(
        "FLAT",
        "FLAT",
        [],
        0,
        {"batch": 500, **size(keys)},
        itself=[size(more) for more in larger],
    )


def _small_batches() -> Case:
    """Account of the time of a small batch, beside the query without its join."""
    return Case(
        "LAT, account",
        "LAT",
        [SPARK_HEAP],
        200_000,
        {"rows": 100_000, "account": "yes"},
        settling=0,
        itself=[{"part": part} for part in ("shuffled", "union", "one")],
    )


def _plain(case: Case) -> Case:
    return replace(case, label=f"{case.label}, plain sessions", plain=True)


def _wider(seconds: int, warmup: int, keys: int) -> Case:
    """W1 with a wide window beside ten seconds: as many keys and more partners, or more of both."""
    rows = {"rows": 1_200_000, "batch": 125_000, "window": seconds * 1000, "keys": keys}
    narrow = {"window": 10_000, "keys": 100_000 if keys == 100_000 else 10 * 5000 // 3}
    label = f"W1 inner, W = {seconds} s, {keys:,} keys"
    return Case(label, "W1", [LIMIT], warmup, rows, itself=[narrow])


def _no_key() -> Case:
    """W1 by times alone in eight partitions, as copied to all of them, and as with a key."""
    return Case(
        "W1 inner, no key, W = 2 ms",
        "W1",
        [LIMIT, "flink-heap"],
        warmup=50_000,
        parameters={
            "rows": 100_000,
            "batch": 12_500,
            "keyed": "no",
            "window": 2,
            "partitions": 8,
        },
        itself=[{"buckets": "no"}, {"keyed": "yes"}],
    )


def _with_hazelcast(label: str, workload: str, **changes: str | int) -> Case:
    """A number of rows that takes minutes if each row is compared with all buffered rows."""
    return Case(
        f"{label}, 100,000 rows a side",
        workload,
        [LIMIT, SPARK_HEAP, *FLINK, HAZELCAST],
        warmup=50_000,
        parameters={"rows": 100_000, "batch": 12_500, **changes},
    )
