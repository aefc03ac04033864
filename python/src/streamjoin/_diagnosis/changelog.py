"""Why a join of changelogs emits nothing, or loses changes: a rule for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from streamjoin._diagnosis.called import input_name
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.keys import agreement
from streamjoin._diagnosis.known import SIDES, Known
from streamjoin._progress import Join, changelog_joins

# Batches over which a state must grow before it is called so, and rows of a side that are sampled.
_LASTS = 3
_SAMPLE = 1000

_ARRIVED = ("insertedRows", "deletedRows", "cancelledRows", "unknownRetractions", "staleRows")
_NEEDED = {
    "INNER": SIDES,
    "LEFT SEMI": SIDES,
    "LEFT OUTER": ("left",),
    "LEFT ANTI": ("left",),
    "RIGHT OUTER": ("right",),
}


@dataclass(frozen=True)
class _Changes:
    """One join of changelogs: what it has reported, and what lies beside its state."""

    reported: Join
    described: Mapping[str, Any]

    def total(self, metric: str, side: str) -> int:
        return self.reported.total(metric + side.capitalize())

    def input(self, side: str) -> str:
        return input_name(self.described, side)

    def arrived(self, side: str) -> int:
        return sum(self.total(metric, side) for metric in (*_ARRIVED, "lateRows"))

    def held(self, side: str) -> list[int]:
        metric = f"bufferedRows{side.capitalize()}"
        return [batch.metrics.get(metric, 0) for batch in self.reported.batches]


def changelog_findings(known: Known) -> Iterator[Finding]:
    """Give what keeps changes back, or loses them; the lowest join first."""
    joins = _joins(known)
    for rule in (_lost, _silent, _expired, _no_key_met, _grows):
        for join in joins:
            yield from rule(known, join)


def changes_out(report: Mapping[str, Any]) -> int:
    """Give the changes that the join on top has emitted in a batch."""
    for operator in report["stateOperators"]:
        if "changesOut" in operator["customMetrics"]:
            return int(operator["customMetrics"]["changesOut"])
    return 0


def _joins(known: Known) -> list[_Changes]:
    reported = list(reversed(changelog_joins(list(known.progress))))
    described = sorted(
        (d for d in known.described if d.get("changelog")), key=lambda d: d["operator"]
    )
    fits = len(described) == len(reported)
    return [_Changes(join, described[n] if fits else {}) for n, join in enumerate(reported)]


def _lost(known: Known, join: _Changes) -> Iterator[Finding]:
    for side in SIDES:
        arrived = join.arrived(side)
        for metric, code, what, cause, write in _LOST:
            lost = join.total(metric, side)
            if lost and lost * 2 >= arrived:
                yield Finding(
                    code,
                    f"{lost} of {arrived} changes of {join.input(side)} {what}: they are ignored.",
                    {metric: lost, "changes": arrived, "side": side},
                    cause,
                    write,
                )


_LOST = (
    (
        "lateRows",
        "MOSTLY_LATE",
        "are late",
        "A change is late by the times of its row, whatever its kind: the lag says for how long a "
        "row may still be changed.",
        "imposeOrder(..., lag) with one as long as rows are changed for; or a condition without "
        "bounds and with state_ttl.",
    ),
    (
        "staleRows",
        "MOSTLY_STALE",
        "have a smaller sequence than the row that is held",
        "The sequence does not grow with the changes of a key: numbers as text, in which '10' is "
        "before '9', a clock that jumps, or a topic that is read again from its beginning.",
        'sequence_by="..." with a number that grows with each change of a key.',
    ),
    (
        "unknownRetractions",
        "UNKNOWN_RETRACTIONS",
        "take away rows that are not held",
        "The feed began after the rows had come, or they went by state_ttl; or what goes does not "
        "look as it came: a column that differs in the two images, 0.0 and -0.0.",
        'Read the feed from its first version, or give a key: fromChangelog(key="...").',
    ),
)


def _silent(known: Known, join: _Changes) -> Iterator[Finding]:
    if join.reported.total("changesOut"):
        return
    for side in _NEEDED.get(join.described.get("joinType", ""), ()):
        if not join.arrived(side) and not join.held(side)[-1]:
            empty = [n for n, brought in enumerate(_brought(known)) if not brought]
            sources = known.progress[-1]["sources"]
            if empty:
                names = ", ".join(str(sources[n]["description"]) for n in empty)
                yield Finding(
                    "NO_INPUT",
                    f"No change of {join.input(side)} has come, and no row of {names}.",
                    {"side": side},
                    "Nothing is joined with an input that is empty.",
                    "Look at the source: path, topic, starting offsets or version.",
                )
            else:
                yield Finding(
                    "FILTERED_BELOW",
                    f"Each source has brought rows, and none has reached {join.input(side)}.",
                    {"rows of the sources": sum(_brought(known)), "side": side},
                    "A filter before the join lets none through, or a column of the equality is "
                    "NULL in all rows; a filter above an inner join goes below it.",
                    "df.explain() shows what stands below the join.",
                )


def _expired(known: Known, join: _Changes) -> Iterator[Finding]:
    if join.reported.total("changesOut"):
        return
    for side in SIDES:
        gone = join.total("expiredRows", side)
        if gone:
            yield Finding(
                "EXPIRED_UNMET",
                f"Nothing has come out. Rows of {join.input(side)} that went by state_ttl: {gone}.",
                {"expiredRows": gone, "side": side},
                "What comes later meets none of them: their age ends before their partners come.",
                f'A longer age: state_ttl={{"{side}": "..."}}.',
            )


def _brought(known: Known) -> list[int]:
    sources = len(known.progress[-1]["sources"]) if known.progress else 0
    return [
        sum(report["sources"][n].get("numInputRows") or 0 for report in known.progress)
        for n in range(sources)
    ]


def _no_key_met(known: Known, join: _Changes) -> Iterator[Finding]:
    held = {side: join.held(side)[-1] for side in SIDES}
    keys = join.described.get("keys", [])
    nothing = not join.reported.total("changesOut")
    # of more rows a sample of both sides may miss the keys that they share
    if not keys or not all(held.values()) or (not nothing and max(held.values()) > _SAMPLE):
        return
    seen = agreement(join.described, known.sample(join.described["operator"]))
    if seen.text:
        yield Finding(
            "NO_KEY_MET",
            f"No row that is held has met its key. {seen.text}",
            {f"rows, {side}": count for side, count in held.items()},
            "The columns of the equality hold other values in the two inputs: another spelling, "
            "spaces, upper and lower case, leading zeros, or another column.",
            seen.write or f"Compare the values of both sides of {' and '.join(keys)}.",
        )


def _grows(known: Known, join: _Changes) -> Iterator[Finding]:
    for side in SIDES:
        held = join.held(side)[-(_LASTS + 1) :]
        growing = len(held) > _LASTS and all(a < b for a, b in pairwise(held))
        limits = join.described.get("limits", {}).get(side)
        if growing and limits == [] and not join.total("deletedRows", side):
            yield Finding(
                "STATE_GROWS",
                f"{held[-1]} rows of {join.input(side)} are held, more with each batch, and "
                "nothing ends that: none of them has ever gone.",
                {"rows": held[-1], "batches": len(join.reported.batches), "side": side},
                "A row of a changelog join is kept until it is deleted.",
                f'state_ttl={{"{side}": "30 days"}}; or watermarks of both inputs and a bound '
                "between their times in the condition.",
            )
