"""Changelog joins that emit nothing or lose changes, as seen in their reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from streamjoin._diagnosis.known import Known
from streamjoin._progress import reports
from tests.stuck.model import SIDES

BATCHES = 5


@dataclass
class Feeds:
    """A join of two changelogs: the metrics of each batch and input."""

    counts: dict[str, dict[str, int]] = field(
        default_factory=lambda: {s: {"insertedRows": 10, "deletedRows": 10} for s in SIDES}
    )
    held: dict[str, Callable[[int], int]] = field(
        default_factory=lambda: {s: lambda batch: 20 for s in SIDES}
    )
    of_sources: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SIDES, 30))
    keys: dict[str, str] = field(default_factory=lambda: dict.fromkeys(SIDES, "A1"))
    out: int = 10
    error: str = ""

    def known(self) -> Known:
        return Known(
            progress=reports([self._report(batch) for batch in range(BATCHES)]),
            described=[_DESCRIBED],
            error=self.error,
            sample=lambda operator: {s: [{"id": self.keys[s]}] for s in SIDES},
        )

    def _report(self, batch: int) -> dict[str, Any]:
        metrics = {f"{m}{s.capitalize()}": n for s in SIDES for m, n in self.counts[s].items()}
        # each arrived change has one outcome here, and rows expire without a change
        for s, counts in self.counts.items():
            arrived = sum(counts.values()) - counts.get("expiredRows", 0)
            metrics[f"inputRows{s.capitalize()}"] = arrived
        metrics |= {f"bufferedRows{s.capitalize()}": self.held[s](batch) for s in SIDES}
        operator = {"operatorName": "streamJoin", "customMetrics": metrics}
        metrics["changesOut"] = self.out
        return {
            "batchId": batch,
            "timestamp": f"2024-05-04T10:{batch:02d}:00.000Z",
            "numInputRows": sum(self.of_sources.values()),
            "sources": [{"description": s, "numInputRows": n} for s, n in self.of_sources.items()],
            "sink": {"numOutputRows": self.out},
            "durationMs": {"addBatch": 1},
            "stateOperators": [operator],
        }


_DESCRIBED = {
    "operator": 0,
    "joinType": "INNER",
    "changelog": True,
    "contradiction": False,
    "keys": ["id = id: STRING"],
    "limits": {s: [] for s in SIDES},
    "times": {s: {} for s in SIDES},
    "aliases": {"left": "o", "right": "d"},
}


@dataclass(frozen=True)
class Fault:
    """A fault of a changelog join, and the finding that reports it."""

    code: str
    apply: Callable[[Feeds], None]
    # what the fault suppresses: changes that do not arrive are neither late nor stale
    side: str = ""
    takes_all: bool = False
    changes_keys: bool = False


def _sided(side: str) -> dict[str, Fault]:
    def counting(code: str, **counts: int) -> Fault:
        def apply(feeds: Feeds) -> None:
            of = feeds.counts[side]
            of.update({metric: of.get(metric, 0) + n for metric, n in counts.items()})

        return Fault(code, apply, side)

    def nothing(code: str, rows: int) -> Fault:
        def apply(feeds: Feeds) -> None:
            feeds.counts[side], feeds.held[side], feeds.out = {}, lambda batch: 0, 0
            feeds.of_sources[side] = rows

        return Fault(code, apply, side, takes_all=True)

    def expired(feeds: Feeds) -> None:
        feeds.counts[side]["expiredRows"], feeds.out = 5, 0

    def expired_unmet(feeds: Feeds) -> None:
        """Other rows are emitted, and the stored keys of the two inputs differ."""
        feeds.counts[side]["expiredRows"], feeds.keys = 5, {"left": "A1", "right": "B7"}

    def grows(feeds: Feeds) -> None:
        feeds.held[side] = lambda batch: 10 * (batch + 1)
        feeds.counts[side]["deletedRows"] = 0

    return {
        f"late {side}": counting("MOSTLY_LATE", lateRows=90),
        f"some late {side}": counting("LATE_ROWS", lateRows=2),
        f"stale {side}": counting("MOSTLY_STALE", staleRows=90),
        f"unknown {side}": counting("UNKNOWN_RETRACTIONS", unknownRetractions=90),
        f"empty {side}": nothing("NO_INPUT", 0),
        f"filtered {side}": nothing("FILTERED_BELOW", 30),
        f"expired {side}": Fault("EXPIRED_UNMET", expired, side),
        f"expired unmet {side}": Fault("EXPIRED_UNMET", expired_unmet, side, changes_keys=True),
        f"grows {side}": Fault("STATE_GROWS", grows, side),
    }


def _keys(feeds: Feeds) -> None:
    feeds.keys, feeds.out = {"left": "A1", "right": "a1"}, 0


FAULTS: dict[str, Fault] = {
    "failed": Fault("FAILED", lambda feeds: setattr(feeds, "error", "broken")),
    "keys": Fault("NO_KEY_MET", _keys),
    **_sided("left"),
    **_sided("right"),
}


def hides(by: Fault, hidden: Fault) -> bool:
    """Whether one fault leaves no sign of another one."""
    same = by.side == hidden.side
    if hidden.code == "NO_KEY_MET":
        return by.takes_all or by.changes_keys
    if hidden.code == "FILTERED_BELOW":
        # A single empty source can be that of either input.
        return by.code == "NO_INPUT"
    more = by.code == "MOSTLY_LATE" and hidden.code == "LATE_ROWS"
    return same and (by.takes_all or more)
