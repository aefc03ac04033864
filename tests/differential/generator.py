"""Draw a case from a seed and a number: the same pair always gives the same case."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.differential.case import HOWS, Case, Input, Join, Key, Kind, Restart, TimeColumn
from tests.differential.conditions import Conditions, Shape
from tests.differential.rows import arrivals

DAY_US = 86_400_000_000
SHAPES: dict[int, list[Shape]] = {
    2: [("a", "b")],
    3: [(("a", "b"), "c"), (("a", "b"), "c"), ("a", ("b", "c"))],
    4: [
        ((("a", "b"), "c"), "d"),
        (("a", "b"), ("c", "d")),
        (("a", ("b", "c")), "d"),
    ],
}


def generate(seed: int, index: int) -> Case:
    """Give the case with this number.

    Every run of six cases has each join type once as the type of its first join, so that a small
    number of cases covers them all.
    """
    rng = Random(f"{seed}/{index}")
    count = rng.choices([2, 3, 4], [62, 27, 11])[0]
    case = _inputs(rng, _skeleton(rng, seed, index), count)
    conditions = Conditions(rng, case, HOWS[index % len(HOWS)])
    tree = conditions.build(rng.choice(SHAPES[count])).node
    assert isinstance(tree, Join)
    case = replace(case, tree=tree, steps=arrivals(rng, case, rng.randint(4, 7)))
    case = replace(case, restarts=_restarts(rng, len(case.steps)))
    return replace(case, features=tuple(sorted(conditions.features | set(_features(case)))))


def _skeleton(rng: Random, seed: int, index: int) -> Case:
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    switches = {
        # The operator must neither need nor mind the batches that Spark adds without data.
        "spark.sql.streaming.noDataMicroBatches.enabled": rng.choice(["true", "false"]),
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": rng.choice(
            ["true", "false"]
        ),
        "spark.sql.codegen.wholeStage": rng.choice(["true", "false"]),
    }
    if rng.random() < 0.3:
        switches["spark.sql.streaming.stateStore.providerClass"] = provider
        switches["spark.sql.streaming.stateStore.checkpointFormatVersion"] = rng.choice(["1", "2"])
    through = rng.choices(["dataframe", "sql"], [85, 15])[0]
    return Case(
        seed=seed,
        index=index,
        tick_us=rng.choices([1_000_000, 1_000, 1_003], [70, 22, 8])[0],
        number_base=rng.choice([0, -50, 1_000_000]),
        qualified=rng.random() < 0.6,
        through="sql" if through == "sql" else "dataframe",
        feed="files" if rng.random() < 0.12 else "memory",
        files_per_trigger=rng.choice([None, 1, 2]),
        partitions=rng.choices([1, 2, 3], [15, 70, 15])[0],
        settings=switches,
        inputs=(),
        tree=Join("a", "b", "inner", ()),
        steps=(),
    )


def _inputs(rng: Random, case: Case, count: int) -> Case:
    kinds: list[Kind] = ["timestamp", "timestamp_ntz", "date", "bigint", "int"]
    kind = rng.choices(kinds, [52, 10, 12, 16, 10])[0]
    keys: list[Key] = ["int", "string", "bigint", "double"]
    key = rng.choices(keys, [60, 16, 12, 12])[0]
    second: Kind | None = None
    if rng.random() < 0.35:
        second = kind if rng.random() < 0.6 else rng.choice(kinds)
    second_marked = rng.random() < 0.7
    expiry = count == 2 and rng.random() < 0.1
    inputs: list[Input] = []
    for number, alias in enumerate("abcd"[:count]):
        times = [_time(rng, case, "t", kind)]
        if second is not None:
            times.append(_time(rng, case, "u", second, marked=second_marked))
        elif expiry and number == 0:
            times.append(TimeColumn("e", kind, None))
        inputs.append(Input(alias, key, tuple(times)))
    if count == 2:
        chance = rng.random()
        if chance < 0.05 and not expiry:
            inputs[1] = _once_more(rng, case, inputs[0])
            case = replace(case, qualified=True)
        elif chance < 0.10 and key == "int":
            inputs[1] = replace(inputs[1], key="bigint")
        elif chance < 0.15 and kind == "bigint":
            inputs[1] = replace(inputs[1], times=(_time(rng, case, "t", "int"),))
    return replace(case, inputs=tuple(_builtin_watermark(rng, case, each) for each in inputs))


def _once_more(rng: Random, case: Case, first: Input) -> Input:
    """Give the second side of a self-join: the same columns, other lags."""
    times = tuple(
        _time(rng, case, time.name, time.kind, marked=time.lag is not None) for time in first.times
    )
    return Input("b", first.key, times, same_as="a")


def _time(rng: Random, case: Case, name: str, kind: Kind, marked: bool = True) -> TimeColumn:
    if not marked:
        return TimeColumn(name, kind, None)
    ticks = rng.choice([0, rng.randint(1, 4), rng.randint(3, 12)])
    if kind in ("bigint", "int"):
        return TimeColumn(name, kind, ticks)
    if kind == "date":
        # Half a day more: the watermark is then no date.
        return TimeColumn(name, kind, ticks * DAY_US + rng.choice([0, 0, DAY_US // 2]))
    # Whole milliseconds: the unit of Spark's own watermarks.
    return TimeColumn(name, kind, ticks * case.tick_us // 1000 * 1000)


def _builtin_watermark(rng: Random, case: Case, source: Input) -> Input:
    """Now and then use withWatermark, which knows one TIMESTAMP column an input."""
    marked = source.watermarked
    possible = len(marked) == 1 and marked[0].kind == "timestamp" and case.through == "dataframe"
    # Spark's own statistics are in milliseconds.
    possible = possible and case.tick_us % 1000 == 0
    if source.alias == "a" or not possible or rng.random() > 0.2:
        return source
    times = tuple(
        replace(time, by="withWatermark") if time.lag is not None else time for time in source.times
    )
    return replace(source, times=times)


def _restarts(rng: Random, steps: int) -> tuple[Restart, ...]:
    if rng.random() < 0.55:
        return ()
    chosen = sorted(rng.sample(range(1, steps), rng.choice([1, 1, 2])))
    return tuple(
        Restart(
            step,
            "during" if rng.random() < 0.6 else "before",
            rng.choice([0, rng.randint(1, 400)]),
            rng.random() < 0.25,
        )
        for step in chosen
    )


def _features(case: Case) -> list[str]:
    """Name what is special in the case, for ``--diff-skip`` and for the report."""
    found = [case.feed, case.through, f"inputs_{len(case.inputs)}", case.inputs[0].key + "_key"]
    found += [time.kind for source in case.inputs for time in source.watermarked]
    if any(source.same_as for source in case.inputs):
        found.append("self_join")
    if len({source.key for source in case.inputs}) > 1:
        found.append("mixed_keys")
    if len({time.kind for source in case.inputs for time in source.times if time.name == "t"}) > 1:
        found.append("mixed_times")
    if any(time.by == "withWatermark" for source in case.inputs for time in source.times):
        found.append("with_watermark")
    if any(len(source.watermarked) > 1 for source in case.inputs):
        found.append("two_watermarks")
    if case.tick_us % 1000:
        found.append("odd_microseconds")
    if case.partitions == 1:
        found.append("one_partition")
    if case.restarts:
        found.append("restart")
    return found
