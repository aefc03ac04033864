"""One plan and its variations: all give the rows of the batch query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from pyspark.sql import SparkSession

from tests.differential.case import NUMBERS, Case, to_json
from tests.differential.compare import unstable
from tests.differential.plans import sql_text
from tests.differential.runner import OutputRow, Run, Running, run
from tests.differential.shrink import shrink
from tests.metamorphic.plans import Plan, expected, in_time, real
from tests.metamorphic.variations import VARIATIONS

SHOWN = 8


@dataclass(frozen=True)
class Failure:
    plan: Plan
    variation: str
    problems: tuple[str, ...]


def check(plan: Plan, names: Sequence[str], spark: SparkSession, folder: Path) -> list[Failure]:
    failures = []
    wanted = real(expected(plan, spark))
    for number, name in enumerate(names):
        found = problems(plan, name, wanted, spark, folder / str(number))
        if found:
            failures.append(Failure(plan, name, found))
    return failures


def varied(plan: Plan, name: str) -> Plan | None:
    return VARIATIONS[name](plan, Random(f"{plan.name}/{name}"))


def problems(
    plan: Plan,
    name: str,
    wanted: Counter[OutputRow],
    spark: SparkSession,
    folder: Path,
    running: Running = run,
) -> tuple[str, ...]:
    other = varied(plan, name)
    if other is None:
        return ()
    if other.case.tree != plan.case.tree:
        wanted = real(expected(other, spark))
    try:
        result = running(other.case, spark, folder, other.stream)
    except Exception as error:
        return (f"{type(error).__name__}: {error}",)
    rows = real(compared(other, result))
    found = [f"missing: {row}" for row in (wanted - rows)]
    found += [f"superfluous: {row}" for row in (rows - wanted)]
    found = [*found[:SHOWN], f"and {len(found) - SHOWN} rows more"][: len(found)]
    found += [f"batch {each} gave other rows when it ran again" for each in unstable(result)]
    found += _out_of_order(other, result)
    return tuple(found)


def compared(plan: Plan, result: Run) -> list[OutputRow]:
    if plan.form != "asof":
        return result.rows
    ids = [result.columns.index(name) for name in ("a_id", "b_id")]
    return [tuple(row[at] for at in ids) for row in result.rows]


def _out_of_order(plan: Plan, result: Run) -> list[str]:
    operators = {o["operatorName"] for p in result.progress.values() for o in p["stateOperators"]}
    if "streamOrder" not in operators:
        return []
    column = plan.order.replace(".", "_")
    if column not in result.columns:
        # USING merges it with the column of the other input, which can differ after an outer join
        return []
    at = result.columns.index(column)
    times = [row[at] for row in result.rows if row[at] is not None]
    number = plan.case.inputs[0].times[0].kind in NUMBERS
    in_order = sorted(times, key=(lambda t: int(t)) if number else str)
    return [] if times == in_order else [f"not in the order of {plan.order}: {times}"]


def smaller(failure: Failure, spark: SparkSession, folder: Path, runs: int) -> Failure:
    """The failure of the smallest plan that still fails in the same variation."""
    last = failure
    tried = iter(range(10 * runs))

    def fails(case: Case) -> bool:
        nonlocal last
        plan = replace(failure.plan, case=in_time(case))
        here = folder / f"shrink-{next(tried)}"
        try:
            wanted = real(expected(plan, spark))
        except Exception:
            return False
        found = problems(plan, failure.variation, wanted, spark, here)
        if found:
            last = Failure(plan, failure.variation, found)
        return bool(found)

    shrink(failure.plan.case, fails, runs)
    return last


def report(failure: Failure, again: str) -> str:
    plan = failure.plan
    return "\n".join(
        [
            f"plan {plan.name}, {plan.form}: {failure.variation}",
            *failure.problems,
            sql_text(plan.case),
            to_json(plan.case),
            f"to run it again: {again}",
        ]
    )
