"""Draw a case from a seed and a number: the same pair always gives the same case."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.differential.case import (
    HOWS,
    NUMBERS,
    Below,
    Case,
    Input,
    Join,
    Key,
    Kind,
    Restart,
    TimeColumn,
    inputs_of,
    joins_of,
)
from tests.differential.conditions import Conditions, Shape
from tests.differential.rows import arrivals
from tests.differential.spelling import Reference

HOT_KEY_ROWS = "spark.sql.streamJoin.hotKeyRows"
DAY_US = 86_400_000_000
KEYS: dict[Key, int] = {
    "int": 46, "string": 10, "bigint": 8, "double": 8, "float": 4, "decimal": 6, "binary": 6,
    "collated": 5, "struct": 7,
}  # fmt: skip
"""Types of keys by how often they are drawn."""
MIXED_KEYS: list[Key] = ["bigint", "decimal", "double"]
SHAPES: dict[int, list[Shape]] = {
    2: [("a", "b")],
    3: [(("a", "b"), "c"), (("a", "b"), "c"), ("a", ("b", "c"))],
    4: [
        ((("a", "b"), "c"), "d"),
        (("a", "b"), ("c", "d")),
        (("a", ("b", "c")), "d"),
    ],
}


def generate(seed: int, index: int, groups: int = 0) -> Case:
    """Give the case with this number.

    With groups, each join has one equality more, and the rows of each group are drawn apart. So the
    groups are independent cases of one query, which share its watermarks.

    Every run of six cases has each join type once as the type of its first join, so that a small
    number of cases covers them all.
    """
    rng = Random(f"{seed}/{index}")
    count = rng.choices([2, 3, 4], [62, 27, 11])[0]
    case = replace(_inputs(rng, _skeleton(rng, seed, index), count), groups=groups)
    if case.through == "dataframe":
        case = _below(rng, case)
    conditions = Conditions(rng, case, HOWS[index % len(HOWS)])
    built = conditions.build(rng.choice(SHAPES[count]))
    assert isinstance(built.node, Join)
    case = replace(case, tree=built.node)
    if case.through == "dataframe":
        case = _above(rng, case, built.bounded)
    case = replace(case, steps=arrivals(rng, case, rng.randint(4, 7)))
    case = replace(case, restarts=_restarts(rng, len(case.steps)))
    case = replace(case, late=_emits_late(case))
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
    if index % 5 == 3:
        switches["spark.sql.streamJoin.stateFormat"] = "rocksdb"
    if index % 5 == 1:
        # All rows that wait are on the local disk, or the rows that stay longest.
        switches["spark.sql.streamJoin.segmentMemory"] = "1" if index % 2 else "48k"
    if index % 7 in (1, 4):
        # Every key that is seen first in a task is spread.
        switches[HOT_KEY_ROWS] = "1"
        switches["spark.sql.streamJoin.hotKeyBuckets"] = "0"
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
    kinds: list[Kind] = ["timestamp", "timestamp_ntz", "date", "bigint", "int", "smallint"]
    kind = rng.choices(kinds, [52, 10, 12, 12, 8, 6])[0]
    keys = list(KEYS)
    key = rng.choices(keys, [KEYS[each] for each in keys])[0]
    second: Kind | None = None
    if rng.random() < 0.35:
        second = kind if rng.random() < 0.6 else rng.choice(kinds)
    second_marked = rng.random() < 0.7
    # The input whose rows say themselves until when they match.
    expiring = rng.randrange(count) if rng.random() < 0.3 else None
    inputs: list[Input] = []
    for number, alias in enumerate("abcd"[:count]):
        times = [_time(rng, case, "t", kind)]
        if second is not None:
            times.append(_time(rng, case, "u", second, marked=second_marked))
        if number == expiring:
            times.append(TimeColumn("e", kind, None))
        inputs.append(Input(alias, key, tuple(times)))
    if count == 2:
        chance = rng.random()
        if chance < 0.05 and expiring is None:
            inputs[1] = _once_more(rng, case, inputs[0])
            case = replace(case, qualified=True)
        elif chance < 0.12 and key == "int":
            inputs[1] = replace(inputs[1], key=rng.choice(MIXED_KEYS))
        elif chance < 0.5 and kind in NUMBERS and second is None and expiring is None:
            inputs[1] = replace(inputs[1], times=(_time(rng, case, "t", rng.choice(NUMBERS)),))
    if any(time.kind == "smallint" for each in inputs for time in each.times):
        case = replace(case, number_base=rng.choice([0, -50, 2_000]))
    return replace(case, inputs=tuple(_builtin_watermark(rng, case, each) for each in inputs))


def _below(rng: Random, case: Case) -> Case:
    """Put something between a source and its join."""
    simple: list[Below] = ["unseen_filter", "filter", "rename", "project", "table"]
    inputs = [
        replace(each, below=tuple(rng.sample(simple, rng.choice([1, 1, 2]))))
        if rng.random() < 0.15
        else each
        for each in case.inputs
    ]
    case = replace(case, inputs=tuple(inputs))
    chosen = rng.choice([each for each in inputs if each.same_as is None])
    selfjoin = any(each.same_as for each in inputs)
    chance = rng.random()
    if chance < 0.09 and not selfjoin:
        lags = tuple(
            replace(_time(rng, case, t.name, t.kind), by=t.by) if t.lag is not None else t
            for t in chosen.times
        )
        part = replace(chosen, alias=chosen.alias.upper(), times=lags, part_of=chosen.alias)
        return replace(case, inputs=(*case.inputs, part))
    # Spark's own operators, unlike a join of ours, see no event time in a column that is cast.
    cast = "project" in chosen.below
    spark_marks_t = chosen.time("t").kind == "timestamp" and not selfjoin and not cast
    # Spark keeps no state by a key that is equal to others without having their bytes.
    if chance < 0.20 and spark_marks_t and chosen.key != "collated":
        stateful: list[Below] = ["distinct", "distinct_within"]
        if len(chosen.times) == 1 and rng.random() < 0.7:
            stateful = ["windows"]
        last = replace(chosen, below=(*chosen.below, rng.choice(stateful)))
        inputs = [last if each is chosen else each for each in inputs]
    return replace(case, inputs=tuple(inputs))


def _above(rng: Random, case: Case, bounded: tuple[Reference, ...]) -> Case:
    """Put something above the last join."""
    chance = rng.random()
    # A window closes only where Spark knows all watermarks that hold its rows back, and Spark has
    # one for each input, on its first TIMESTAMP column.
    known = all(len(each.watermarked) == 1 for each in case.inputs)
    marked = [at for at in bounded if known and case.input(at[0]).time("t").kind == "timestamp"]
    if chance < 0.06:
        case = replace(case, above="table")
    elif chance < 0.14 and bounded:
        case = replace(case, above="distinct", at=rng.choice(bounded))
    elif chance < 0.34 and marked:
        case = replace(case, above="windows", at=rng.choice(marked))
    stateful = {"distinct", "distinct_within", "windows"}
    stateful_below = any(stateful & set(each.below) for each in case.inputs)
    if rng.random() < 0.12 and not stateful_below:
        case = replace(case, mode="update")
    return replace(case, actions=2 if rng.random() < 0.06 else 1)


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
    if kind in NUMBERS:
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


def _emits_late(case: Case) -> bool:
    """Draw, apart from all else, whether late rows are emitted, if no filter drops them."""
    stateful = {"distinct", "distinct_within", "windows"}
    joins = list(joins_of(case.tree))
    return (
        Random(f"late/{case.seed}/{case.index}").random() < 0.6
        and case.through == "dataframe"
        and case.above is None
        and not any(stateful & set(each.below) for each in case.inputs)
        and all(each.where is None for each in joins)
        and not any(each.how in ("semi", "anti") and isinstance(each.right, Join) for each in joins)
    )


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
    """Name the features of the case, for ``--diff-skip`` and for the report."""
    found = [
        case.feed,
        case.through,
        f"inputs_{len(inputs_of(case.tree))}",
        case.inputs[0].key + "_key",
    ]
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
    if HOT_KEY_ROWS in case.settings:
        found.append("hot_keys")
    if case.restarts:
        found.append("restart")
    found += [f"{step}_below" for source in case.inputs for step in source.below]
    if any(source.part_of for source in case.inputs):
        found.append("union")
    if case.above:
        found.append(f"{case.above}_above")
    if case.mode == "update":
        found.append("update")
    if case.actions > 1:
        found.append("two_actions")
    if case.late:
        found.append("late")
    if case.groups:
        found.append("groups")
    return found
