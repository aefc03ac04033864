"""What must not change the result of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random

from tests.differential.case import NUMBERS, Input, Join, Restart, Step, TimeColumn
from tests.differential.instants import DAY_US
from tests.metamorphic.plans import Plan, in_time, merged

Variation = Callable[[Plan, Random], Plan | None]
"""None: the plan has no such variation."""

OURS = "org.apache.spark.sql.streamjoin.logical.optimize."
SPARKS = "org.apache.spark.sql.catalyst.optimizer."
EXCLUDED = "spark.sql.optimizer.excludedRules"
OPTIMIZER_RULES = {
    **{name: OURS + name for name in ("PushFilters", "PruneNestedColumns", "OrderInOnePartition")},
    **{
        name: SPARKS + name
        for name in (
            "PushDownPredicates",
            "PushPredicateThroughNonJoin",
            "CollapseProject",
            "ColumnPruning",
            "ConstantFolding",
            "NullPropagation",
            "BooleanSimplification",
            "SimplifyCasts",
            "SimplifyBinaryComparison",
            "UnwrapCastInBinaryComparison",
            "InferFiltersFromConstraints",
            "EliminateOuterJoin",
            "PushProjectionThroughUnion",
            "RemoveRedundantAliases",
            "RemoveNoopOperators",
            "PropagateEmptyRelation",
            "CombineFilters",
            "ReorderAssociativeOperator",
        )
    },
}


def _setting(**settings: str) -> Variation:
    return lambda plan, rng: with_settings(plan, settings)


def with_settings(plan: Plan, settings: Mapping[str, str]) -> Plan:
    return plan.with_case(settings={**plan.case.settings, **settings})


def _excluded(rules: str) -> Variation:
    return lambda plan, rng: with_settings(plan, {EXCLUDED: rules})


def _larger_lag(plan: Plan, rng: Random) -> Plan:
    case = plan.case

    def larger(time: TimeColumn) -> TimeColumn:
        if time.lag is None:
            return time
        unit = 1 if time.kind in NUMBERS else DAY_US if time.kind == "date" else 1_000_000
        return replace(time, lag=time.lag * 2 + rng.randint(1, 30) * unit)

    inputs = tuple(replace(i, times=tuple(larger(t) for t in i.times)) for i in case.inputs)
    return plan.with_case(inputs=inputs)


def _partitions(count: int) -> Variation:
    return lambda plan, rng: plan.with_case(partitions=count)


def _one_batch(plan: Plan, rng: Random) -> Plan:
    return plan.with_case(steps=merged(plan.case.steps, 1))


def _more_batches(plan: Plan, rng: Random) -> Plan:
    """Each step is cut, at another place in each input; its inputs come one after the other."""
    steps: list[Step] = []
    for step in plan.case.steps:
        first: Step = {}
        second: Step = {}
        for alias, rows in step.items():
            at = rng.randint(0, len(rows))
            first[alias], second[alias] = rows[:at], rows[at:]
        steps += [first, second]
    if rng.random() < 0.5:
        steps = [{alias: rows} for step in steps for alias, rows in step.items()]
    return plan.with_case(steps=tuple(step for step in steps if any(step.values())))


def _files(plan: Plan, rng: Random) -> Plan:
    return plan.with_case(feed="files", files_per_trigger=rng.choice([1, 2, 3]))


def _restarts(plan: Plan, rng: Random) -> Plan:
    count = len(plan.case.steps)
    chosen = sorted(rng.sample(range(count), min(count, 2)))
    restarts = [
        Restart(step, rng.choice(["before", "during"]), rng.randint(0, 200), rng.random() < 0.3)
        for step in chosen
    ]
    return plan.with_case(restarts=tuple(restarts))


def _hot_keys(plan: Plan, rng: Random) -> Plan:
    spread = {
        "spark.sql.streamJoin.hotKeyRows": "1",
        "spark.sql.streamJoin.hotKeyBuckets": "0",
    }
    return with_settings(plan, spread)


def _retention(plan: Plan, rng: Random) -> Plan | None:
    """A condition that bounds one input only, and a retention that is longer than all times.

    Its result is another one, that of the batch query with this condition.
    """
    case = plan.case
    kinds = {time.kind for each in case.inputs for time in each.times if time.name == "t"}
    if plan.form != "joins" or len(kinds) > 1:
        return None
    if any(each.part_of or each.same_as for each in case.inputs):
        return None
    kind = kinds.pop()
    first, second, *_ = (each for each in case.inputs)
    if first.times[0].lag is None or second.times[0].lag is None:
        return None
    retention = {"date": "9000 days"}.get(kind, "10000 hours")
    if kind in NUMBERS:
        retention = "1000" if kind == "smallint" else "100000"

    def bare(each: Input) -> Input:
        return replace(each, below=())

    tree = Join("a", "b", rng.choice(["inner", "left", "full", "semi", "anti"]), _ONE_SIDED)
    aliases = ("a", "b")
    changed = replace(
        case,
        tree=tree,
        inputs=(bare(first), bare(second)),
        steps=tuple({a: rows for a, rows in s.items() if a in aliases} for s in case.steps),
        through="dataframe",
        above=None,
        at=None,
    )
    varied = replace(plan, case=in_time(changed))
    return with_settings(varied, {"spark.sql.streamJoin.retention": retention})


_ONE_SIDED = ("a.k = b.k", "b.t >= a.t")

VARIATIONS: dict[str, Variation] = {
    "the plan itself": lambda plan, rng: plan,
    "larger lag": _larger_lag,
    "one partition": _partitions(1),
    "five partitions": _partitions(5),
    "one batch": _one_batch,
    "more batches": _more_batches,
    "files": _files,
    "restarts": _restarts,
    "hot keys": _hot_keys,
    "retention": _retention,
    "rocksdb": _setting(**{"spark.sql.streamJoin.stateFormat": "rocksdb"}),
    "state on the disk": _setting(**{"spark.sql.streamJoin.segmentMemory": "1"}),
    "without whole-stage code": _setting(**{"spark.sql.codegen.wholeStage": "false"}),
    "without generated code": _setting(
        **{"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    ),
    "without adaptive execution": _setting(**{"spark.sql.adaptive.enabled": "false"}),
    "without our rules": _excluded(
        ",".join(rule for rule in OPTIMIZER_RULES.values() if rule.startswith(OURS))
    ),
    "without Spark's rules": _excluded(
        ",".join(rule for rule in OPTIMIZER_RULES.values() if rule.startswith(SPARKS))
    ),
    **{f"without {name}": _excluded(rule) for name, rule in OPTIMIZER_RULES.items()},
}


def chosen(plan: Plan, count: int, rng: Random) -> list[str]:
    """A number of variations of a plan; 0: all. The plan itself is always one."""
    first, *others = VARIATIONS
    return [first, *(rng.sample(others, count - 1) if count else others)]
