"""Stuck queries and healthy ones, drawn at random: a model of a join writes their reports.

The model counts what the operator counts (docs/reference.md), a row at a time and slowly. A fault
changes the rows, the condition or the reports; what the doctor may say of it stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any

from streamjoin._diagnosis.known import Known, Waiting
from streamjoin._diagnosis.plan import Plan, read
from streamjoin._progress import reports, shown_time

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
SIDES = ("left", "right")
ALIASES = {"left": "o.ot", "right": "d.dt"}
COLUMNS = {"left": "ot", "right": "dt"}
CLOCK = datetime(2024, 5, 4, 10, tzinfo=timezone.utc)


def ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)


@dataclass
class Input:
    """How the rows of one input come: key and time of a number, and what happens on the way."""

    lag: int = MINUTE
    max_ahead: int | None = None
    keys: Callable[[int], str | None] = "A{}".format
    times: list[Callable[[int, int], int | None]] = field(default_factory=list)
    # of a batch whose rows never come
    silent: Callable[[int], bool] = lambda batch: False
    # of a row that a filter below the join drops
    dropped: bool = False
    # rows of a batch beside the others
    more: Callable[[int], list[tuple[str, int]]] = lambda batch: []


@dataclass
class Setup:
    """A query: its condition, its inputs, and what stands around the join."""

    random: Random
    how: str = "LEFT OUTER"
    low: int = 0
    high: int = HOUR
    holds: bool = True
    batches: int = 6
    rows: int = 12
    inputs: dict[str, Input] = field(default_factory=lambda: {s: Input() for s in SIDES})
    above: list[str] = field(default_factory=list)
    passes: int | None = None
    order_lag: int | None = None
    behind: Callable[[int], int] | None = None
    silent_end: int = 0
    error: str = ""
    number: bool = False
    # whether the state is still there to be looked at, or reports and plan alone
    state: bool = True

    def emits(self, side: str) -> bool:
        return self.how in ("FULL OUTER", f"{side.upper()} OUTER") or (
            self.how == "LEFT ANTI" and side == "left"
        )


@dataclass
class Buffered:
    key: str | None
    time: int
    matched: bool = False


class Model:
    """A join of one partition, batch by batch."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.state: dict[str, list[Buffered]] = {s: [] for s in SIDES}
        self.front: dict[str, int | None] = dict.fromkeys(SIDES)
        self.marks: dict[str, int | None] = dict.fromkeys(SIDES)
        self.behind: dict[str, list[int]] = {s: [] for s in SIDES}
        self.out = 0
        self.held: list[int] = []

    # ---- the rows ----

    def arrivals(self, side: str, batch: int) -> Iterator[tuple[str | None, int | None]]:
        given, base = self.setup.inputs[side], ms(CLOCK)
        if not given.silent(batch):
            for k in range(batch * self.setup.rows, (batch + 1) * self.setup.rows):
                # all rows of a batch lie before its clock, a delivery five minutes after its order
                at = base - 15 * MINUTE + (k * MINUTE) // self.setup.rows
                time: int | None = at + (5 * MINUTE if side == "right" else 0)
                for change in given.times:
                    time = None if time is None else change(k, time)
                yield given.keys(k), time
        yield from given.more(batch)

    # ---- a batch ----

    def step(self, batch: int, now: int) -> dict[str, Any]:
        self.metrics: dict[str, int] = dict.fromkeys(
            (
                *(f"{m}{s.capitalize()}" for s in SIDES for m in _BY_SIDE),
                *("joinedRows", "nullPaddedRows", "lookedIntoRows", "keyMetRows"),
            ),
            0,
        )
        self.misses: dict[str, list[tuple[str | None, int]]] = {s: [] for s in SIDES}
        before, came = dict(self.front), dict.fromkeys(SIDES, 0)
        for side in SIDES:
            for key, time in self.arrivals(side, batch):
                came[side] += 1
                self.arrive(side, key, time, now, before[side])
        self.look_into()
        self.advance()
        for side in SIDES:
            self.metrics[f"bufferedRows{side.capitalize()}"] = len(self.state[side])
            self.by_column(side, now)
        return {"came": came, "metrics": self.metrics}

    def count(self, metric: str, side: str = "", by: int = 1) -> None:
        self.metrics[f"{metric}{side.capitalize()}"] += by

    def arrive(
        self, side: str, key: str | None, time: int | None, now: int, front: int | None
    ) -> None:
        given = self.setup.inputs[side]
        if given.max_ahead is not None and time is not None and time > now + given.max_ahead:
            return self.count("aheadRows", side)
        if time is not None:
            self.front[side] = max(time, self.front[side] or time)
        nothing = key is None and time is not None and not self.setup.emits(side)
        if given.dropped or nothing:
            return None
        self.count("inputRows", side)
        if time is not None and front is not None:
            self.behind[side].append(max(front - time, 0))
            disorder = f"disorder.{COLUMNS[side]}"
            self.metrics[disorder] = max(self.metrics.get(disorder, 0), front - time, 0)
            late, mark = f"latestBy.{COLUMNS[side]}", self.marks[side]
            self.metrics[late] = max(self.metrics.get(late, 0), (mark or time) - time, 0)
        if time is None:
            self.count("nullTimeRows", side)
            return self.unmatched(side)
        if (mark := self.marks[side]) is not None and time < mark:
            return self.count("lateRows", side)
        if self.setup.low > self.setup.high or key is None:
            return self.unmatched(side)
        return self.probe(side, Buffered(key, time))

    def probe(self, side: str, row: Buffered) -> None:
        other = SIDES[1 - SIDES.index(side)]
        looks = self.setup.holds
        for partner in self.state[other] if looks else []:
            if partner.key == row.key and self.miss(side, row.time, partner.time) == 0:
                left = row if side == "left" else partner
                if not (self.setup.how in ("LEFT ANTI", "LEFT SEMI") and left.matched):
                    self.count("joinedRows")
                row.matched = partner.matched = True
        if not row.matched and not self.metrics["joinedRows"]:
            self.misses[side].append((row.key, row.time))
        if self.survives(side, row.time):
            self.state[side].append(row)
        elif not row.matched:
            self.unmatched(side)

    def miss(self, side: str, own: int, other: int) -> int:
        left, right = (own, other) if side == "left" else (other, own)
        distance = right - left
        above, below = distance - self.setup.high, distance - self.setup.low
        return above if above > 0 else below if below < 0 else 0

    def survives(self, side: str, time: int) -> bool:
        mark = self.marks[SIDES[1 - SIDES.index(side)]]
        return mark is None or mark <= time + (
            self.setup.high if side == "left" else -self.setup.low
        )

    def unmatched(self, side: str) -> None:
        if self.setup.emits(side):
            self.count("nullPaddedRows")

    def look_into(self) -> None:
        """Look for the keys of rows that found no partner, where nothing was joined."""
        if self.metrics["joinedRows"]:
            return
        for side in SIDES:
            other = SIDES[1 - SIDES.index(side)]
            for key, time in self.misses[side]:
                there = [t for k, t in self.misses[other] if k == key]
                there += [p.time for p in self.state[other] if p.key == key]
                self.count("lookedIntoRows")
                if there:
                    self.count("keyMetRows")
                    least = min((self.miss(side, time, t) for t in there), key=abs)
                    closest = self.metrics.get("closestMiss")
                    if closest is None or abs(least) < abs(closest):
                        self.metrics["closestMiss"] = least

    def advance(self) -> None:
        for side, front in self.front.items():
            if front is not None:
                mark = front - self.setup.inputs[side].lag
                self.marks[side] = max(mark, self.marks[side] or mark)
        for side in SIDES:
            kept = [row for row in self.state[side] if self.survives(side, row.time)]
            self.count("evictedRows", side, len(self.state[side]) - len(kept))
            for row in self.state[side]:
                if not self.survives(side, row.time) and not row.matched:
                    self.unmatched(side)
            self.state[side] = kept

    def by_column(self, side: str, now: int) -> None:
        column, seen = COLUMNS[side], sorted(self.behind[side])
        self.metrics[f"lag.{column}"] = self.setup.inputs[side].lag
        if (mark := self.marks[side]) is not None:
            self.metrics[f"watermark.{column}"] = mark
            if not self.setup.number:
                self.metrics[f"delay.{column}"] = now - mark
        if seen:
            self.metrics[f"disorderRows.{column}"] = len(seen)
            self.metrics[f"lagForAll.{column}"] = seen[-1]
            self.metrics[f"lagForMost.{column}"] = seen[int(0.998 * (len(seen) - 1))]


_BY_SIDE = (
    "inputRows", "lateRows", "aheadRows", "nullTimeRows", "evictedRows", "bufferedRows",
)  # fmt: skip


# ---- what a query tells of itself ----


def known(setup: Setup) -> Known:
    """Run the model, and give what a doctor is told of the query."""
    model, progress = Model(setup), []
    was: dict[str, Any] = {}
    for batch in range(setup.batches + setup.silent_end):
        now = CLOCK + timedelta(minutes=batch)
        was = {**was, "came": {}} if batch >= setup.batches else model.step(batch, ms(now))
        progress.append(_report(setup, batch, now, was, model))
    rows = [report["numInputRows"] for report in progress]
    silent = len(rows) - max((n + 1 for n, count in enumerate(rows) if count), default=0)
    return Known(
        progress=reports(progress),
        described=[_described(setup)] if setup.state else [],
        silent=silent,
        error=setup.error,
        waiting=(lambda: _waiting(model)) if setup.state else list,
        sample=lambda operator: {
            s: [{"id": row.key} for row in model.state[s]] for s in SIDES if setup.state
        },
        plan=lambda: plan(setup),
    )


def _report(
    setup: Setup, batch: int, now: datetime, was: dict[str, Any], model: Model
) -> dict[str, Any]:
    metrics = dict(was["metrics"])
    if not was["came"]:
        counts = [m for m in metrics if m.startswith(("input", "late", "ahead", "null", "evict"))]
        metrics |= dict.fromkeys([*counts, "joinedRows", "lookedIntoRows", "keyMetRows"], 0)
        metrics.pop("closestMiss", None)
    out = metrics["nullPaddedRows"] + (0 if setup.how == "LEFT ANTI" else metrics["joinedRows"])
    operators = [{"operatorName": "streamJoin", "customMetrics": metrics}]
    sink = out if setup.passes is None else min(out, setup.passes)
    if setup.order_lag is not None:
        at = 0 if not model.held else model.held[-1]
        model.held.append(at + out if setup.order_lag > DAY else 0)
        sink = 0 if setup.order_lag > DAY else out
        order = {"heldRows": model.held[-1], "lateRows": 0, "nullTimeRows": 0, "watermark.ot": 5}
        operators.insert(0, {"operatorName": "streamOrder", "customMetrics": order})
    elif any(text.startswith("StateStore") for text in setup.above):
        operators.insert(0, {"operatorName": "stateStoreSave", "customMetrics": {}})
    source = {}
    if setup.behind is not None:
        source = {"latestOffset": {"t": 1000 + setup.behind(batch)}, "endOffset": {"t": 1000}}
    came = [was["came"].get(s, 0) for s in SIDES]
    return {
        "batchId": batch,
        "timestamp": now.isoformat().replace("+00:00", "Z"),
        "numInputRows": sum(came),
        "sources": [
            {"description": s, "numInputRows": n, **source}
            for s, n in zip(SIDES, came, strict=True)
        ],
        "sink": {"numOutputRows": sink},
        "durationMs": {"triggerExecution": 30_000, "addBatch": 20_000},
        "eventTime": {"watermark": "2024-05-04T09:00:00.000Z"},
        "stateOperators": operators,
    }


def _described(setup: Setup) -> dict[str, Any]:
    contradiction = setup.low > setup.high
    kind = "long" if setup.number else "timestamp"
    return {
        "operator": 0,
        "joinType": setup.how,
        "keys": ["id = id: STRING"],
        "contradiction": contradiction,
        "bounds": []
        if contradiction
        else [
            {"later": "d.dt", "earlier": "o.ot", "slack": -setup.low},
            {"later": "o.ot", "earlier": "d.dt", "slack": setup.high},
        ],
        "times": {s: {ALIASES[s]: kind} for s in SIDES},
        "said": {f"{s}.{COLUMNS[s]}": ALIASES[s] for s in SIDES},
        "lookup": ALIASES,
    }


def _waiting(model: Model) -> list[Waiting]:
    rows = []
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        state, mark = model.state[side], model.marks[other]
        if state:
            first = min(row.time for row in state) + (model.setup.high if side == "left" else 0)
            at = None if mark is None else shown_time(mark)
            unmatched = sum(not row.matched for row in state) if model.setup.emits(side) else 0
            column = f"{other}.{COLUMNS[other]}"
            rows.append(Waiting(0, side, column, len(state), shown_time(first), at, unmatched))
    return rows


def plan(setup: Setup) -> Plan:
    """Write the plan as explain does, and read it as the doctor does."""
    seen = "largest" if setup.number else "latest"
    bounds = [
        f"d.dt >= o.ot{_moved(setup.low, setup.number)}",
        f"o.ot >= d.dt{_moved(-setup.high, setup.number)}",
    ]
    summary = "no two rows can match" if setup.low > setup.high else "d.dt within reach of o.ot"
    join = [
        f"StreamJoin {setup.how}, hash by [o.id] = [d.id], {summary}",
        f":  :- watermark of ot: the {seen} ot seen - 1 minute",
        f":  :- watermark of dt: the {seen} dt seen - 1 minute",
        ":  :- condition (o.id = d.id): equality",
        *(f":  :- condition ({bound}): bound {bound}" for bound in bounds),
        f":  :- a row of o is kept until the {seen} d.dt seen passes o.ot",
        f":  +- a row of d is kept until the {seen} o.ot seen passes d.dt",
        ":- JoinExchange hashpartitioning(id#1, 1)",
        *_below(setup, "left", ":  "),
        "+- JoinExchange hashpartitioning(id#2, 1)",
        *_below(setup, "right", "   "),
    ]
    lines = ["WriteToDataSourceV2"]
    for text in [*setup.above, join]:
        depth = len(lines) if isinstance(text, str) else len(setup.above) + 1
        prefix = "   " * (depth - 1)
        if isinstance(text, str):
            lines.append(f"{prefix}+- {text}")
        else:
            lines.append(f"{prefix}+- {text[0]}")
            lines += [f"{prefix}   {line}" for line in text[1:]]
    return read("\n".join(["== Physical Plan ==", *lines, ""]))


def _below(setup: Setup, side: str, prefix: str) -> list[str]:
    number, column = SIDES.index(side) + 1, COLUMNS[side]
    nulls = f"(isnotnull(id#{number}) OR isnull({column}#{number + 2}-T60000ms))"
    filters = [] if setup.emits(side) else [f"Filter {nulls}"]
    if setup.inputs[side].dropped:
        filters = [f"Filter ({nulls} AND (kind#{number} = x))"]
    nodes = [
        "StreamJoinInput",
        *filters,
        f"ImposeOrder latest {column} - 1 minute",
        "FileScan json",
    ]
    return [f"{prefix}{'   ' * n}+- {text}" for n, text in enumerate(nodes)]


def _moved(by: int, number: bool) -> str:
    if not by:
        return ""
    distance = f"{abs(by)}" if number else f"{abs(by) // SECOND} seconds"
    return f" {'+' if by > 0 else '-'} {distance}"


# ---- faults ----


@dataclass(frozen=True)
class Fault:
    """Something that is wrong with a query, and the findings that it may be told by."""

    name: str
    codes: frozenset[str]
    apply: Callable[[Setup, Random], None]
    # what of the query it changes: two that change the same would undo each other
    changes: frozenset[str] = frozenset()


def _every(n: int, change: Callable[[int], int | None]) -> Callable[[int, int], int | None]:
    """Change the last of ten rows: those that come late are the first."""
    return lambda k, time: change(time) if k % 10 >= 10 - n else time


def _sided(side: str) -> Iterator[Fault]:
    def fault(
        name: str, codes: str, apply: Callable[[Input, Random], None], changes: str = ""
    ) -> Fault:
        of = frozenset(f"{each} {side}" if each != "units" else each for each in changes.split())
        found = frozenset(codes.split())
        return Fault(f"{name} {side}", found, lambda s, r: apply(s.inputs[side], r), of)

    def set_times(change: Callable[[int, int], int | None]) -> Callable[[Input, Random], None]:
        return lambda given, random: given.times.append(change)

    def ahead(n: int) -> Callable[[Input, Random], None]:
        def apply(given: Input, random: Random) -> None:
            by = random.randint(7, 13) * HOUR
            given.max_ahead = random.randint(10, 300) * MINUTE
            given.times.append(_every(n, lambda time: time + by))

        return apply

    def late(n: int) -> Callable[[Input, Random], None]:
        def apply(given: Input, random: Random) -> None:
            by = random.randint(2, 40) * HOUR
            # no row is late before there is a watermark
            given.times.append(lambda k, time: time - by if k >= 12 and k % 10 < n else time)

        return apply

    def null_keys(given: Input, random: Random) -> None:
        given.keys = lambda k: None

    def dropped(given: Input, random: Random) -> None:
        given.dropped = True

    def future(given: Input, random: Random) -> None:
        at = ms(CLOCK) + random.randint(300, 60_000) * DAY
        given.more = lambda batch: [] if batch else [("Z", at)]

    def idle(given: Input, random: Random) -> None:
        since = random.randint(0, 1)
        given.silent = lambda batch: batch > since

    yield fault("ahead", "REJECTED_AHEAD", ahead(10), "times late units")
    yield fault("filtered", "FILTERED_BELOW", dropped)
    yield fault("null keys", "FILTERED_BELOW NO_KEY_MET", null_keys, "keys")
    yield fault("null times", "NULL_TIMES", set_times(lambda k, time: None), "times")
    small, large = "OTHER_UNIT TIMES_NEVER_MEET", "OTHER_UNIT TIMES_NEVER_MEET WATERMARK_AHEAD"
    yield fault("too small", small, set_times(lambda k, time: time // 1000), "units")
    yield fault("too large", large, set_times(lambda k, time: time * 1000), "units")
    yield fault("future", "WATERMARK_AHEAD MOSTLY_LATE LATE_ROWS", future)
    yield fault("mostly late", "MOSTLY_LATE LATE_ROWS", late(8), "late")
    yield fault("idle", "WATERMARK_STANDS", idle)
    yield fault("some ahead", "AHEAD_ROWS", ahead(1), "times units")
    yield fault("some null times", "NULL_TIME_ROWS", set_times(_every(1, lambda t: None)), "times")
    yield fault("some late", "LATE_ROWS", late(3), "late")


def _of_query() -> Iterator[Fault]:
    def fault(name: str, codes: str, apply: Callable[[Setup, Random], None], of: str = "") -> Fault:
        return Fault(name, frozenset(codes.split()), apply, frozenset(of.split(", ")) - {""})

    def contradiction(setup: Setup, random: Random) -> None:
        setup.low, setup.high = random.randint(1, 5) * HOUR, 0

    def keys(change: Callable[[int], str]) -> Callable[[Setup, Random], None]:
        return lambda setup, random: setattr(setup.inputs["right"], "keys", change)

    def shifted(setup: Setup, random: Random) -> None:
        by = random.randint(3, 12) * HOUR
        setup.inputs[random.choice(SIDES)].times.append(lambda k, time: time - by)

    def set_to(**values: Any) -> Callable[[Setup, Random], None]:
        return lambda setup, random: setup.__dict__.update(values)

    def above(text: str) -> Callable[[Setup, Random], None]:
        def apply(setup: Setup, random: Random) -> None:
            setup.above.insert(random.randint(0, len(setup.above)), text)
            setup.passes = 0

        return apply

    def long_lag(setup: Setup, random: Random) -> None:
        setup.inputs["right"].lag = random.randint(2, 20) * DAY
        # a row without a partner waits for it
        keyed = setup.inputs["right"].keys
        setup.inputs["right"].keys = lambda k: "none" if k % 4 == 0 else keyed(k)

    yield fault("failed", "FAILED", set_to(error="[X] it broke\nat y"))
    yield fault("contradiction", "CONTRADICTION", contradiction)
    yield fault("other keys", "NO_KEY_MET", keys("B{}".format), "keys right")
    yield fault("spelt keys", "NO_KEY_MET", keys(" a{}".format), "keys right")
    yield fault("shifted", "TIMES_NEVER_MEET", shifted, "times left, times right")
    yield fault("condition", "CONDITION_NEVER_TRUE", set_to(holds=False))
    yield fault("aggregation", "OPERATOR_ABOVE_WAITS", above("StateStoreSave [ot#1]"), "above")
    yield fault("filter", "FILTERED_ABOVE", above("Filter (x#1 = y)"), "above")
    yield fault("order", "ORDER_HOLDS", set_to(order_lag=2 * DAY), "above")
    yield fault("backlog", "BACKLOG", set_to(behind=lambda batch: 10 * (batch + 1)))
    yield fault("silent", "NO_INPUT", set_to(silent_end=3))
    yield fault("nothing", "NO_INPUT", set_to(rows=0), "rows")
    yield fault("long lag", "LONG_LAG", long_lag, "late right")


FAULTS = {f.name: f for f in [*_of_query(), *_sided("left"), *_sided("right")]}


def draw(names: tuple[str, ...], seed: int, **given: Any) -> Setup:
    """Give a query with faults, each in another size with each seed."""
    random = Random(f"{names} {seed}")
    setup = Setup(random, **given)
    if "how" not in given:
        setup.how = random.choice(("LEFT OUTER", "FULL OUTER"))
    for name in names:
        FAULTS[name].apply(setup, random)
    return setup


def healthy() -> dict[str, Setup]:
    """Give queries with which nothing is wrong, though some look as if."""
    found = {}
    for how in ("INNER", "LEFT OUTER", "RIGHT OUTER", "FULL OUTER", "LEFT SEMI", "LEFT ANTI"):
        for state in (True, False):
            where = "state" if state else "plan"
            found[f"{how}, {where}"] = Setup(Random(how), how=how, state=state)
            unmatched = Setup(Random(how), how=how, state=state, high=2 * MINUTE, low=0)
            # a third of the deliveries are of no order, and all come a minute after it
            unmatched.inputs["right"].keys = lambda k: f"A{k}" if k % 3 else "none"
            unmatched.inputs["right"].times.append(lambda k, time: time - 4 * MINUTE)
            found[f"{how}, unmatched, {where}"] = unmatched

    def add(name: str, **values: Any) -> Setup:
        found[name] = Setup(Random(name), **values)
        return found[name]

    add("numbers", number=True)
    add("an order that emits", order_lag=MINUTE)
    add("an aggregation that emits", above=["StateStoreSave [ot#1]"], passes=3)
    add("a filter that passes some", above=["Filter (x#1 = y)"], passes=2)
    add("a backlog that shrinks", behind=lambda batch: 100 - batch)
    add("two batches without rows at the end", silent_end=2)
    add("a lag of days, all matched").inputs["right"].lag = 2 * DAY
    add("max_ahead that rejects nothing").inputs["right"].max_ahead = 10 * MINUTE
    disorder = add("disorder within the lag")
    disorder.inputs["left"].lag = 10 * MINUTE
    disorder.inputs["left"].times.append(lambda k, time: time - (k % 5) * MINUTE)
    add("an input that pauses").inputs["left"].silent = lambda batch: batch in (2, 3)
    add("one batch", batches=1)
    add("years ago").inputs = {
        side: Input(times=[lambda k, time: time - 3_000 * DAY]) for side in SIDES
    }
    return found


def compatible(one: Fault, other: Fault) -> bool:
    return one is not other and not one.changes & other.changes
