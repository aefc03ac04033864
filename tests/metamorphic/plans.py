"""Random plans over rows of which none is late.

A plan is a case of the differential tests, whose lags are at least the disorder of its rows. So its
result depends on neither lags nor batches, and is the batch query over all rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from tests.differential import generator, plans
from tests.differential.case import (
    NUMBERS,
    SENTINEL,
    Case,
    Input,
    Join,
    Row,
    Step,
    TimeColumn,
    visible,
)
from tests.differential.instants import DAY_US, instant
from tests.differential.lateness import judge
from tests.differential.oracle import answer
from tests.differential.runner import OutputRow

MOST_STEPS = 4
LAST = Join("a", "b", "left", ("a.k = b.k", "b.t <= a.t"))
Form = Literal["joins", "ordered", "asof"]


@dataclass(frozen=True)
class Plan:
    case: Case
    form: Form

    @property
    def name(self) -> str:
        return self.case.name

    def with_case(self, **changes: object) -> Plan:
        return replace(self, case=replace(self.case, **changes))  # type: ignore[arg-type]

    @property
    def order(self) -> str:
        """The time by which the output is ordered."""
        return f"{visible(self.case.tree)[0]}.t"

    def stream(
        self, case: Case, session: SparkSession, inputs: Mapping[str, DataFrame]
    ) -> DataFrame:
        if self.form == "asof":
            return plans.last_before(case, inputs)
        if self.form == "ordered":
            try:
                return plans.in_order(case, inputs, self.order)
            except AnalysisException as error:
                # no watermark of this column remains above the joins
                if error.getCondition() != "STREAM_JOIN.UNSUPPORTED_ORDER":
                    raise
        return plans.stream(case, session, inputs)


def draw(seed: int, index: int) -> Plan:
    rng = Random(f"metamorphic/{seed}/{index}")
    case = generator.generate(seed, 1_000_000 + index)
    form: Form = rng.choices(["joins", "ordered", "asof"], [70, 18, 12])[0]  # type: ignore[assignment]
    case = replace(
        case,
        settings={},
        feed="memory",
        restarts=(),
        mode="append",
        actions=1,
        late=False,
        partitions=2,
    )
    case = replace(case, steps=merged(case.steps, MOST_STEPS))
    if form == "asof":
        case = _last_rows(case)
    elif form == "ordered":
        case = replace(case, through="dataframe", above=None, at=None)
    return Plan(in_time(case), form)


def merged(steps: Sequence[Step], count: int) -> tuple[Step, ...]:
    """The same rows in a limited number of steps."""
    size = -(-len(steps) // count)
    return tuple(_together(steps[at : at + size]) for at in range(0, len(steps), size))


def _together(steps: Sequence[Step]) -> Step:
    result: Step = {}
    for step in steps:
        for alias, rows in step.items():
            result.setdefault(alias, []).extend(rows)
    return result


def _last_rows(case: Case) -> Case:
    """The as-of join of two inputs. No two rows of a key have one time: each has one last row."""
    names = tuple("ab")
    inputs = tuple(Input(alias, "int", (TimeColumn("t", "timestamp", 0),)) for alias in names)
    seen: set[tuple[object, object]] = set()

    def kept(alias: str, row: Row) -> Row | None:
        key = row["k"] if str(row["k"]).lstrip("-").isdigit() else None
        if alias == "b" and (key, row["t"]) in seen:
            return None
        seen.add((key, row["t"]) if alias == "b" else (None, None))
        return {**{n: row[n] for n in ("id", "g", "p", "q", "t")}, "k": key}

    steps = tuple(
        {
            alias: [new for row in rows if (new := kept(alias, row)) is not None]
            for alias, rows in step.items()
            if alias in names
        }
        for step in case.steps
    )
    return replace(
        case,
        inputs=inputs,
        tree=LAST,
        steps=steps,
        through="dataframe",
        above=None,
        at=None,
        qualified=True,
        features=("asof",),
        tick_us=1_000_000,
    )


def in_time(case: Case) -> Case:
    """The case with lags by which no row is late, however its rows are cut into batches."""
    inputs = []
    for each in case.inputs:
        fed = each.same_as or each.alias
        rows = [row for step in case.steps for row in step.get(fed, [])]
        times = tuple(
            replace(time, lag=_lag(case, time, rows)) if time.lag is not None else time
            for time in each.times
        )
        inputs.append(replace(each, times=times))
    return replace(case, inputs=tuple(inputs))


def _lag(case: Case, time: TimeColumn, rows: Sequence[Row]) -> int:
    values = [
        instant(case, time.kind, row[time.name]) for row in rows if row[time.name] is not None
    ]
    largest, disorder = values[0] if values else 0, 0
    for value in values:
        largest = max(largest, value)
        disorder = max(disorder, largest - value)
    if time.kind in NUMBERS:
        return disorder + 1
    unit = DAY_US if time.kind == "date" else 1000
    # Spark's own operators drop a row at the watermark
    return (disorder // unit + 2) * unit


def expected(plan: Plan, spark: SparkSession) -> list[OutputRow]:
    """The batch query over all rows; of an as-of join, pairs of ids."""
    case = plan.case
    if plan.form == "asof":
        return _expected_last(case)
    # both sides of a self-join read the same rows
    steps = [
        {i.alias: step[fed] for i in case.inputs if (fed := i.same_as or i.alias) in step}
        for step in case.steps
    ]
    arrivals = judge(case, steps)
    late = [each for each in arrivals if each.late]
    assert not late, late
    return answer(case, spark, arrivals)


def _expected_last(case: Case) -> list[OutputRow]:
    rows = {alias: [row for step in case.steps for row in step.get(alias, [])] for alias in "ab"}

    def last(probe: Row) -> str | None:
        if probe["k"] is None or probe["t"] is None:
            return None
        before = [
            row
            for row in rows["b"]
            if row["k"] == probe["k"] and row["t"] is not None and row["t"] <= probe["t"]
        ]
        return max(before, key=lambda row: row["t"])["id"] if before else None

    return [(row["id"], last(row)) for row in rows["a"]]


def real(rows: Sequence[OutputRow]) -> Counter[OutputRow]:
    """Rows that hold no row which only pushes watermarks."""
    return Counter(row for row in rows if not any(SENTINEL in str(value) for value in row))
