"""Findings about changelog joins that emit nothing or lose changes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from streamjoin._diagnosis import matching
from streamjoin._diagnosis.called import SIDES
from streamjoin._diagnosis.figures import LASTS, brought, of, share
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.subjects import Subject

# The number of sampled rows of a side.
_SAMPLE = 1000

_LOST = ("unknownRetractions", "staleRows", "lateRows")
_NEEDED = {
    "INNER": SIDES,
    "LEFT SEMI": SIDES,
    "LEFT OUTER": ("left",),
    "LEFT ANTI": ("left",),
    "RIGHT OUTER": ("right",),
}


# ---- facts ----


def held(s: Subject, side: str | None = None) -> list[int]:
    """Return the number of stored rows of a side, by batch."""
    metric = of("bufferedRows", side or s.own)
    return [batch.metrics.get(metric, 0) for batch in s.of_join.batches]


def is_half(s: Subject, metric: str) -> bool:
    """Check whether `metric` counts at least as many changes as arrive without any loss."""
    lost = s.total(metric)
    return bool(lost) and lost >= s.total("inputRows") - sum(s.total(each) for each in _LOST)


def is_needed(s: Subject) -> bool:
    """Check whether the join needs a row of this side to emit anything."""
    return s.own in _NEEDED.get(s.of_join.join_type, ())


def grows(s: Subject) -> bool:
    """Check whether the state of a side has no limit and grows with each batch."""
    last = held(s)[-(LASTS + 1) :]
    growing = len(last) > LASTS and all(a < b for a, b in pairwise(last))
    limits = s.of_join.described.get("limits", {}).get(s.own)
    return growing and limits == [] and not s.total("deletedRows")


def held_keys_differ(s: Subject) -> bool:
    rows = [held(s, side)[-1] for side in SIDES]
    nothing = not s.total("changesOut", "")
    # samples of more rows may miss the common keys of both sides
    looks = all(rows) and (nothing or max(rows) <= _SAMPLE)
    return looks and bool(matching.sampled(s).text)


def unmet(s: Subject) -> bool:
    """Check whether no row has found a partner; samples of the keys do not show why."""
    nothing = not s.total("changesOut", "")
    return nothing or (held_keys_differ(s) and not matching.sampled(s).explains)


# ---- findings ----


def _loses(
    code: str, metric: str, what: str, cause: str, write: str
) -> Callable[[Subject], Finding]:
    def said(s: Subject) -> Finding:
        lost, changes = s.total(metric), s.total("inputRows")
        return Finding(
            code,
            f"{lost} of {changes} changes of {s.name} {what}: the join ignores them.",
            {metric: lost, "changes": changes, "side": s.own},
            cause,
            write,
        )

    return said


_LATE = (
    "A change of any kind is late by the times of its row. The lag limits how long a row may "
    "change.",
    "imposeOrder(..., lag) with a lag as long as rows can change. Or a condition without "
    "bounds, with state_ttl.",
)

mostly_late = _loses("MOSTLY_LATE", "lateRows", "are late", *_LATE)


def some_late(s: Subject) -> Finding:
    late, changes = s.total("lateRows"), s.total("inputRows")
    part = f"are late, {share(late, changes)}"
    return _loses("LATE_ROWS", "lateRows", part, *_LATE)(s)


mostly_stale = _loses(
    "MOSTLY_STALE",
    "staleRows",
    "have a smaller sequence than the stored row",
    "The sequence does not increase with the changes of a key. Causes: numbers as text, where "
    "'10' sorts before '9', a clock that jumps, or a topic that is read again from the start.",
    'sequence_by="..." with a number that increases with each change of a key.',
)

unknown_retractions = _loses(
    "UNKNOWN_RETRACTIONS",
    "unknownRetractions",
    "delete rows that are not stored",
    "The feed started after the inserts of these rows. Or a delete differs from its insert in a "
    "column, for example 0.0 and -0.0.",
    'Read the feed from its first version, or declare a key: fromChangelog(key="...").',
)


def empty_source(s: Subject) -> Finding:
    sources = s.known.progress[-1]["sources"]
    empty = [n for n, rows in enumerate(brought(s.known)) if not rows]
    names = ", ".join(str(sources[n]["description"]) for n in empty)
    return Finding(
        "NO_INPUT",
        f"No change of {s.name} has arrived, and no row of {names}.",
        {"side": s.own},
        "A join with an empty input has no pairs.",
        "Check the source: path, topic, starting offsets or version.",
    )


def filtered_below(s: Subject) -> Finding:
    return Finding(
        "FILTERED_BELOW",
        f"Each source has delivered rows, but none has reached {s.name}.",
        {"rows of the sources": sum(brought(s.known)), "side": s.own},
        "A filter below the join drops all rows, or a column of the equality is NULL in all "
        "rows. Spark pushes a filter above an inner join below it.",
        "df.explain() shows the operators below the join.",
    )


def expired_unmet(s: Subject) -> Finding:
    gone = s.total("expiredRows")
    nothing = not s.total("changesOut", "")
    what = "The join has emitted nothing" if nothing else "No stored row has found its key"
    return Finding(
        "EXPIRED_UNMET",
        f"{what}. state_ttl has expired {gone} rows of {s.name}.",
        {"expiredRows": gone, "side": s.own},
        "Later rows cannot match them: they expire before their partners arrive.",
        f'A longer state_ttl: state_ttl={{"{s.own}": "..."}}.',
    )


def no_key_met(s: Subject) -> Finding:
    return matching.keys_differ(
        "No stored row has found its key in the other input",
        s.of_join.described,
        s.known.samples,
        {f"rows, {side}": held(s, side)[-1] for side in SIDES},
    )


def state_grows(s: Subject) -> Finding:
    rows = held(s)[-1]
    return Finding(
        "STATE_GROWS",
        f"The join stores {rows} rows of {s.name}, more with each batch, and no limit ends "
        "that: it has never removed one.",
        {"rows": rows, "batches": len(s.of_join.batches), "side": s.own},
        "A changelog join stores a row until its delete.",
        f'state_ttl={{"{s.own}": "30 days"}}. Or watermarks of both inputs, with a bound between '
        "their times in the condition.",
    )
