"""Stuck and healthy queries, generated at random.

A fault changes the rows, the condition or the reports; it also has the findings that the doctor may
report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.stuck.model import CLOCK, DAY, HOUR, MINUTE, SECOND, SIDES, Input, Setup, ms


@dataclass(frozen=True)
class Fault:
    """A fault of a query, and the findings that may report it."""

    name: str
    codes: frozenset[str]
    apply: Callable[[Setup, Random], None]
    # the part of the query that it changes: two faults of one part would undo each other
    changes: frozenset[str] = frozenset()
    # what the finding has to say beyond its code
    says: str = ""


def _every(n: int, change: Callable[[int], int | None]) -> Callable[[int, int], int | None]:
    """Change the last of ten rows, because late rows come first."""
    return lambda k, time: change(time) if k % 10 >= 10 - n else time


def _sided(side: str) -> Iterator[Fault]:
    def fault(
        name: str,
        codes: str,
        apply: Callable[[Input, Random], None],
        changes: str = "",
        says: str = "",
    ) -> Fault:
        of = frozenset(f"{each} {side}" if each != "units" else each for each in changes.split())
        found = frozenset(codes.split())
        return Fault(f"{name} {side}", found, lambda s, r: apply(s.inputs[side], r), of, says)

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
            # No row is late before there is a watermark.
            given.times.append(lambda k, time: time - by if k >= 12 and k % 10 < n else time)

        return apply

    def null_keys(given: Input, random: Random) -> None:
        given.keys = lambda k: None

    def dropped(given: Input, random: Random) -> None:
        given.dropped = True

    def future(given: Input, random: Random) -> None:
        at = ms(CLOCK) + random.randint(300, 60_000) * DAY
        given.more = lambda batch: [] if batch else [("Z", at)]

    def near_future(given: Input, random: Random) -> None:
        by = random.randint(15, 55) * MINUTE
        given.more = lambda batch: [("Z", ms(CLOCK) + MINUTE + by)] if batch == 1 else []

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
    yield fault(
        "near future",
        "WATERMARK_AHEAD MOSTLY_LATE LATE_ROWS",
        near_future,
        "times late units rows keys",
        'max_ahead="10 minutes"',
    )
    yield fault("mostly late", "MOSTLY_LATE LATE_ROWS", late(8), "late")
    yield fault("idle", "WATERMARK_STANDS", idle, "rows")
    yield fault("some ahead", "AHEAD_ROWS", ahead(1), "times units")
    yield fault("some null times", "NULL_TIME_ROWS", set_times(_every(1, lambda t: None)), "times")
    yield fault("some late", "LATE_ROWS", late(3), "late")


def _of_query() -> Iterator[Fault]:
    def fault(
        name: str,
        codes: str,
        apply: Callable[[Setup, Random], None],
        of: str = "",
        says: str = "",
    ) -> Fault:
        return Fault(name, frozenset(codes.split()), apply, frozenset(of.split(", ")) - {""}, says)

    def contradiction(setup: Setup, random: Random) -> None:
        setup.low, setup.high = random.randint(1, 5) * HOUR, 0

    def keys(change: Callable[[int], str]) -> Callable[[Setup, Random], None]:
        return lambda setup, random: setattr(setup.inputs["right"], "keys", change)

    def shifted(setup: Setup, random: Random) -> None:
        by = random.randint(3, 12) * HOUR
        setup.inputs[random.choice(SIDES)].times.append(lambda k, time: time - by)

    def half_hours(setup: Setup, random: Random) -> None:
        setup.low, setup.high = 0, 10 * MINUTE
        by = 5 * HOUR + 30 * MINUTE
        setup.inputs[random.choice(SIDES)].times.append(lambda k, time: time - by)

    def number_keys(setup: Setup, random: Random) -> None:
        setup.inputs["left"].keys = "{}".format
        setup.inputs["right"].keys = "{}.0".format

    def evicted_partners(setup: Setup, random: Random) -> None:
        """The partners of a batch come with the next one, and their times are hours later."""
        by = random.randint(3, 12) * HOUR
        setup.inputs["right"].keys = lambda k: f"A{k - setup.rows}"
        setup.inputs["left"].times.append(lambda k, time: time - by)

    def set_to(**values: Any) -> Callable[[Setup, Random], None]:
        return lambda setup, random: setup.__dict__.update(values)

    def above(text: str) -> Callable[[Setup, Random], None]:
        def apply(setup: Setup, random: Random) -> None:
            setup.above.insert(random.randint(0, len(setup.above)), text)
            setup.passes = 0

        return apply

    def long_lag(setup: Setup, random: Random) -> None:
        setup.inputs["right"].lag = random.randint(2, 20) * DAY
        # An unmatched row is buffered for the lag.
        keyed = setup.inputs["right"].keys
        setup.inputs["right"].keys = lambda k: "none" if k % 4 == 0 else keyed(k)

    yield fault("failed", "FAILED", set_to(error="[X] it broke\nat y"))
    yield fault("contradiction", "CONTRADICTION", contradiction, "bounds")
    yield fault("other keys", "NO_KEY_MET", keys("B{}".format), "keys right")
    yield fault("spelt keys", "NO_KEY_MET", keys(" a{}".format), "keys right")
    yield fault("shifted", "TIMES_NEVER_MEET", shifted, "times left, times right")
    yield fault(
        "half-hour zone",
        "TIMES_NEVER_MEET",
        half_hours,
        "times left, times right, bounds",
        "5 hours 30 minutes",
    )
    yield fault(
        "number keys", "NO_KEY_MET", number_keys, "keys left, keys right", "CAST(o.id AS DOUBLE)"
    )
    yield fault(
        "evicted partners",
        "TIMES_NEVER_MEET",
        evicted_partners,
        "times left, times right, keys left, keys right",
        "a time zone?",
    )
    yield fault("hangs", "BATCH_RUNS_LONG", set_to(runs_for=20 * MINUTE))
    yield fault("slow", "SLOW_BATCHES", set_to(interval=SECOND))
    yield fault("condition", "CONDITION_NEVER_TRUE", set_to(holds=False))
    yield fault("aggregation", "OPERATOR_ABOVE_WAITS", above("StateStoreSave [ot#1]"), "above")
    yield fault("filter", "FILTERED_ABOVE", above("Filter (x#1 = y)"), "above")
    yield fault("order", "ORDER_HOLDS", set_to(order_lag=2 * DAY), "above")
    yield fault("late above", "LATE_ROWS MOSTLY_LATE", set_to(drops=True), "above")
    yield fault("backlog", "BACKLOG", set_to(behind=lambda batch: 10 * (batch + 1)))
    yield fault("silent", "NO_INPUT", set_to(silent_end=3))
    yield fault("nothing", "NO_INPUT", set_to(rows=0), "rows")
    yield fault("long lag", "LONG_LAG", long_lag, "late right")


FAULTS = {f.name: f for f in [*_of_query(), *_sided("left"), *_sided("right")]}


def draw(names: tuple[str, ...], seed: int, **given: Any) -> Setup:
    """A query with these faults, whose extent depends on the seed."""
    random = Random(f"{names} {seed}")
    setup = Setup(random, **given)
    if "how" not in given:
        setup.how = random.choice(("LEFT OUTER", "FULL OUTER"))
    for name in names:
        FAULTS[name].apply(setup, random)
    return setup


def healthy() -> dict[str, Setup]:
    """Healthy queries, some of which look suspicious."""
    found = {}
    for how in ("INNER", "LEFT OUTER", "RIGHT OUTER", "FULL OUTER", "LEFT SEMI", "LEFT ANTI"):
        for state in (True, False):
            where = "state" if state else "plan"
            found[f"{how}, {where}"] = Setup(Random(how), how=how, state=state)
            unmatched = Setup(Random(how), how=how, state=state, high=2 * MINUTE, low=0)
            # A third of the deliveries have no order, and all come a minute after it.
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
