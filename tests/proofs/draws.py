"""Random cases of ``cases``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, chain, count
from random import Random

from tests.proofs.cases import (
    NONE,
    Fields,
    join_text,
    joins_of,
    listed,
    optional,
    type_text,
)
from tests.proofs.changelog_runs import BAG, KEY, ONE
from tests.proofs.longs import LONGEST, clamp
from tests.proofs.rules import (
    INNER,
    JOIN_TYPES,
    LEFT,
    LEFT_ANTI,
    LEFT_OUTER,
    LEFT_SEMI,
    RIGHT_OUTER,
    SIDES,
    Bound,
    Column,
    Join,
    Row,
    shift_and_reach,
)
from tests.proofs.terms import ABSENT, Maybe, greatest, known


def random_join(random: Random) -> Fields:
    counts = [random.randint(1, 3) for _ in SIDES]
    columns = [
        Column(side, random.random() < 0.85, random.random() < 0.25)
        for side in SIDES
        for _ in range(counts[side])
    ]
    n = range(len(columns))
    own = [(i, j) for i in n for j in n if i != j and columns[i].side == columns[j].side]
    across = [(i, j) for i in n for j in n if columns[i].side != columns[j].side]
    conjuncts = [
        Bound(*random.choice(across), random.randint(-2, 9)) for _ in range(random.randint(1, 4))
    ]
    conjuncts += [Bound(*pair, random.randint(-1, 6)) for pair in own if random.random() < 0.08]
    if random.random() < 0.08:
        (i, j), slack = random.choice(across), random.randint(-2, 9)
        # at the edge of a contradiction
        conjuncts = [Bound(i, j, slack), Bound(j, i, random.choice([-1, 0]) - slack)]
    facts = [Bound(*pair, random.randint(0, 6)) for pair in own if random.random() < 0.3]
    row = {
        i: ABSENT
        if columns[i].nullable and random.random() < 0.4
        else known(random.randint(90, 110))
        for i in n
    }
    marks = [
        known(random.randint(90, 110))
        if columns[i].watermarked and random.random() < 0.85
        else ABSENT
        for i in n
    ]
    return join_text(Join(columns, conjuncts, facts), row, marks, random.choice(JOIN_TYPES))


def random_plan(random: Random, joins: Sequence[Join], bases: int, depth: int) -> list[str]:
    kind = random.choice("BLGSWJJ") if depth else "B"
    if kind == "B":
        return [f"B:{random.randrange(bases)}"]
    if kind == "J":
        number = random.randrange(len(joins))
        join = joins[number]
        inputs = [
            random_plan(random, joins, bases, depth - 1) if column.watermarked else ["N"]
            for column in join.columns
        ]
        return [f"J:{number}:{random.randrange(len(join.columns))}", *chain.from_iterable(inputs)]
    if kind in "SW":
        of = random_plan(random, joins, bases, depth - 1)
        return [f"S:{random.randint(-9, 9)}" if kind == "S" else "W", *of]
    inputs = [random_plan(random, joins, bases, depth - 1) for _ in range(random.randint(1, 3))]
    return [f"{kind}:{len(inputs)}", *chain.from_iterable(inputs)]


def random_watermark(random: Random, joins: Sequence[Join]) -> Fields:
    plan = random_plan(random, joins, 4, 3)
    while len(plan) > 40:
        plan = random_plan(random, joins, 4, 3)
    return {"plan": listed(plan), "base": listed([random_mark(random) for _ in range(4)])}


def random_mark(random: Random) -> str:
    return str(random.randint(90, 110)) if random.random() < 0.85 else NONE


def random_remaining(random: Random, joins: Sequence[Join]) -> Fields:
    while True:
        number = random.randrange(len(joins))
        join, kind = joins[number], random.choice(JOIN_TYPES)
        emitted = [i for i, c in enumerate(join.columns) if c.watermarked and join.governing(i)]
        emitted = [i for i in emitted if not kind.left_only or join.columns[i].side == LEFT]
        if emitted and not join.contradictory:
            break
    earliest: list[str] = []
    unmatched: list[str] = []
    for side in SIDES:
        empty, all_met = random.random() < 0.2, random.random() < 0.3
        for _ in join.of(side):
            time = random.randint(85, 110)
            earliest.append(NONE if empty else str(time))
            alone = not empty and not all_met and side in kind.preserved
            unmatched.append(str(time + random.randint(0, 5)) if alone else NONE)
    # below another join, fewer rows may come than its watermark promises
    base = [random_mark(random) if c.watermarked else NONE for c in join.columns]
    ahead = random.choice([0, 15])
    coming = [b if b == NONE else int(b) + random.randint(0, ahead) for b in base]
    return {
        "remaining": f"{number}:{random.choice(emitted)}",
        "type": type_text(kind),
        "base": listed(base),
        "coming": listed(coming),
        "earliest": listed(earliest),
        "unmatched": listed(unmatched),
    }


def random_rivals(random: Random, joins: Sequence[Join]) -> Fields:
    bases = count()

    def drawn(depth: int) -> list[str]:
        kind = random.choice("BSAJJ") if depth else "B"
        if kind == "B":
            return [f"B:{next(bases)}"]
        if kind == "S":
            return [f"S:{random.randint(-9, 9)}", *drawn(depth - 1)]
        if kind == "A":
            return ["A", *drawn(depth - 1), *drawn(depth - 1)]
        number = random.randrange(len(joins))
        inputs = [drawn(depth - 1) if c.watermarked else ["N"] for c in joins[number].columns]
        return [f"J:{number}:0", *chain.from_iterable(inputs)]

    return {"rivals": listed(drawn(3))}


def random_asof(random: Random) -> Fields:
    """A row near the limit, or near the end of its tolerance."""
    reach, tolerance = random.randint(-5, 3), random.choice([None, *range(9)])
    marks = [random_mark(random), random_mark(random)]
    numbers = [int(mark) for mark in marks if mark != NONE]
    limit = min([numbers[0] + reach, *numbers[1:]]) if numbers else 100
    beside = random.choice([0, -reach, -reach - (tolerance or 0)])
    return {
        "asof": random.choice("LR"),
        "reach": str(reach),
        "tolerance": NONE if tolerance is None else str(tolerance),
        "marks": listed(marks),
        "time": str(limit + beside + random.randint(-1, 1)),
    }


def random_bucket(random: Random) -> Fields:
    before = random.randint(-9, 9)
    after = random.randint(-before, 12)
    shift, reach = shift_and_reach(before, after)
    side, width = random.choice("LR"), max(1, 2 * reach) + random.choice([0, 0, 1, 5])
    edge = random.randint(-3, 3) * width + random.choice([0, reach, -reach])
    time = edge + random.randint(-1, 1) + (0 if side == "L" else shift)
    fields = {"bucket": side, "before": before, "after": after, "width": width, "time": time}
    return {name: str(value) for name, value in fields.items()}


def random_long(random: Random) -> Fields:
    ends = [-LONGEST - 1, -LONGEST // 2, -(1 << 31), 0, 1 << 31, LONGEST // 2, LONGEST]
    a, b = (random.choice(ends) + random.randint(-3, 3) for _ in range(2))
    form = random.choice(["add", "subtract", "multiply", "divide"])
    if form == "divide":
        b = random.choice([2, 3, 1000, 1_000_000, LONGEST])
        a = random.choice([a, random.randint(-9, 9), b * random.randint(-3, 3)])
    if form == "multiply":
        b = random.choice([b, -1, 2, 1000])
    return {"long": form, **{n: str(clamp(v)) for n, v in {"a": a, "b": b}.items()}}


def random_order(random: Random) -> Fields:
    before = random.randint(90, 100)
    now = before + random.randint(0, 8)
    known_from = random.randint(0, 4)
    return {
        "order": random.choice(["tied", "untied"]),
        "limits": listed([NONE if known_from < 2 else before, NONE if known_from < 1 else now]),
        "times": listed([random.choice([before, now]) + random.randint(-1, 1) for _ in range(8)]),
    }


def random_groups(random: Random) -> Fields:
    """Groups that are new, stall, are idle, or are listed by the source and have no row."""
    column = random_mark(random)

    def group() -> str:
        idle = random.random() < 0.3
        largest = NONE if idle or random.random() < 0.3 else random.randint(85, 115)
        return f"{random_mark(random)}:{largest}:{'i' if idle else 'a'}"

    groups = listed([group() for _ in range(random.randint(0, 4))])
    return {"groups": groups, "before": column, "lag": str(random.randint(0, 5))}


# ---- runs of operators ----


def rising(random: Random, now: int, lag: int) -> Maybe:
    """A watermark that mostly follows the time of a batch."""
    return known(now - random.randint(0, lag)) if random.random() < 0.8 else ABSENT


def watermarks_of_batches(random: Random, columns: Sequence[bool], batches: int) -> list[str]:
    """For each batch the watermarks of the columns that have some; none is below an earlier one."""
    drawn = [
        [rising(random, 100 + 4 * i, 6) if marked else ABSENT for marked in columns]
        for i in range(batches)
    ]
    rise = accumulate(drawn, lambda a, b: [greatest(pair) for pair in zip(a, b, strict=True)])
    return [listed([optional(mark) for mark in marks]) for marks in rise]


def random_key(random: Random) -> str:
    return random.choice([NONE, "0", "0", "0", "0", "1", "1", "1"])


def random_row(random: Random, join: Join, side: int, now: int) -> Row:
    """A row that the input can contain; near a time at which its partners are."""
    while True:
        row = {
            i: ABSENT
            if join.columns[i].nullable and random.random() < 0.2
            else known(now + random.randint(-5, 5))
            for i in join.of(side)
        }
        if join.arrives(side, row):
            return row


def random_event_time_run(random: Random, joins: Sequence[Join]) -> Fields:
    bounded = [i for i, join in enumerate(joins) if all(map(join.limiting, SIDES))]
    number = random.choice(bounded)
    join = joins[number]
    batches = []
    marks = watermarks_of_batches(random, [c.watermarked for c in join.columns], 5)
    for i, received in enumerate(marks):
        rows = []
        for _ in range(random.randint(1, 6)):
            side = random.choice(SIDES)
            times = random_row(random, join, side, 100 + 4 * i).values()
            rows.append(f"{'LR'[side]}{random_key(random)}:{listed([optional(t) for t in times])}")
        batches.append(f"{random.choice('LR')}|{received}|{'/'.join(rows)}")
    kind = random.choice(JOIN_TYPES)
    return {"run": str(number), "type": type_text(kind), "batches": ";".join(batches)}


def random_asof_run(random: Random) -> Fields:
    probe = random.choice("LLLR")
    kinds = [INNER, RIGHT_OUTER] if probe == "R" else [INNER, LEFT_OUTER, LEFT_SEMI, LEFT_ANTI]
    batches = []
    for i, received in enumerate(watermarks_of_batches(random, [True, True], 5)):
        rows = []
        for _ in range(random.randint(1, 6)):
            side, time = random.choice("LR"), 100 + 4 * i + random.randint(-6, 4)
            ends = "x" if side != probe and random.random() < 0.15 else ""
            rows.append(f"{side}{random_key(random)}:{time}{ends}")
        batches.append(f"{received}|{'/'.join(rows)}")
    return {
        "last": str(random.randint(1, 3)),
        "probe": probe,
        "reach": str(random.choice([0, 0, -2, 2])),
        "tolerance": random.choice([NONE, "0", "3", "8"]),
        "type": type_text(random.choice(kinds)),
        "batches": ";".join(batches),
    }


def random_changelog_run(random: Random) -> Fields:
    """Changes of few keys: upserts, and deletes of which some are stale, late or unknown."""
    inputs = [random.choice([ONE, KEY, BAG]) for _ in SIDES]
    within = random.choice([None, None, 4])
    ttl = random.choice([None, 8]) if within is None else None
    sequences = count(1)
    batches = []
    for i, marks in enumerate(watermarks_of_batches(random, [within is not None] * 2, 6)):
        now, old = 100 + 4 * i, [NONE, *[str(next(sequences)) for _ in range(3)]]
        changes = []
        for _ in range(random.randint(1, 7)):
            side = random.choice(SIDES)
            layout, join = inputs[side], random.randint(0, 1)
            # rows follow the clock, and each has the times of what identifies it
            recent = i // 2 + random.randint(0, 1) if ttl or within else random.randint(0, 2)
            unique = recent if layout == KEY else 0
            value = recent if layout == BAG else random.randint(0, 5)
            time = 96 + 4 * join + 6 * (recent if layout != ONE else 0) + 2 * side
            written = 100 + 8 * value if layout == BAG else now + random.randint(0, 1)
            sequence = NONE if layout == BAG else str(next(sequences))
            if layout != BAG and old and random.random() < 0.2:
                sequence = old.pop(random.randrange(len(old)))
            row = [join, unique, value, time, written, sequence]
            sign = "+" if random.random() < 0.65 else "-"
            changes.append(f"{sign}{'LR'[side]}{'.'.join(map(str, row))}")
        random.shuffle(changes)
        batches.append(f"{now}|{marks}|{'/'.join(changes)}")
    return {
        "changelog": "-",
        "type": type_text(random.choice(JOIN_TYPES)),
        "inputs": listed(inputs),
        "within": NONE if within is None else str(within),
        "parity": random.choice("01"),
        "ttl": NONE if ttl is None else str(ttl),
        "expiry": "keep" if within is not None else random.choice(["keep", "retract"]),
        "batches": ";".join(batches),
    }


def drawn(random: Random, joins: Sequence[Fields], scale: int = 1) -> list[Fields]:
    """Cases of each kind, and those with joins that are given."""
    cases = unique([*joins, *[random_join(random) for _ in range(150 * scale)]])
    found = joins_of(cases)
    kinds: list[tuple[int, Callable[[Random], Fields]]] = [
        (100, lambda r: random_watermark(r, found)),
        (100, lambda r: random_remaining(r, found)),
        (30, lambda r: random_rivals(r, found)),
        (60, random_asof),
        (20, random_order),
        (30, random_bucket),
        (60, random_long),
        (60, lambda r: random_event_time_run(r, found)),
        (60, random_asof_run),
        (120, random_changelog_run),
        (60, random_groups),
    ]
    return [*cases, *[draw(random) for many, draw in kinds for _ in range(many * scale)]]


def unique(cases: Sequence[Fields]) -> list[Fields]:
    return [dict(case) for case in dict.fromkeys(tuple(case.items()) for case in cases)]
