"""The outcome of a run, including figures that grew."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from tests.soak.growth import trend
from tests.soak.session import MIN_BATCHES_TO_RETAIN

STEADY_AFTER = 2 * MIN_BATCHES_TO_RETAIN
"""Batches after which all retained history is present, on disk and in the driver's memory."""

LEAST_BATCHES = 50
OF_THE_DRIVERS_LIFE = {
    "heap": 16e6,
    "resident": 64e6,
    "threads": 16.0,
    "open_files": 24.0,
    "local_files": 256.0,
}
OF_THE_RUN = {
    "buffered_rows": 500.0,
    "state_bytes": 1e6,
    "checkpoint_files": 32.0,
    "checkpoint_bytes": 1e6,
}
"""The watched figures, and the increase that is allowed within a run."""
BYTES = ("heap", "resident", "state_bytes", "checkpoint_bytes")


@dataclass
class Outcome:
    least_events: ClassVar[dict[str, int]] = {"driver killed": 2}
    """The minimum number of events before a run can be called a success."""

    seed: int
    minutes: float
    seconds: float = 0.0
    batches: int = 0
    checked_batches: int = 0
    happened: list[dict[str, Any]] = field(default_factory=list)
    """The injected faults: ``event``, and ``at``, the seconds since the start."""
    driver_starts: int = 0
    growth: list[dict[str, Any]] = field(default_factory=list)
    failure: str | None = None
    samples: list[dict[str, float]] = field(default_factory=list)
    vitals: list[dict[str, float]] = field(default_factory=list)

    @property
    def events(self) -> dict[str, int]:
        """The number of each event."""
        return dict(Counter(each["event"] for each in self.happened))

    @property
    def lacks(self) -> list[str]:
        """The missing conditions of a successful run."""
        missing = [
            f"{what} {self.events.get(what, 0)} times of {least}"
            for what, least in self.least_events.items()
            if self.events.get(what, 0) < least
        ]
        if self.checked_batches < LEAST_BATCHES:
            missing.append(f"{self.checked_batches} batches of {LEAST_BATCHES}")
        if not self.growth:
            missing.append("too few values to see anything grow")
        return missing

    @property
    def verdict(self) -> str:
        if self.failure is not None:
            return self.failure
        if self.lacks:
            return f"nothing wrong so far, too short to tell: {', '.join(self.lacks)}"
        return "as it should be"

    @property
    def told(self) -> list[str]:
        """Input, comparisons and events, a paragraph each."""
        events = ", ".join(f"{what} {count}" for what, count in sorted(self.events.items()))
        return [f"Happened: {events or 'nothing'}."]

    def watch_growth(self) -> None:
        """Record figures that grow; this fails the run unless it has failed already."""
        self.growth = growth(self)
        growing = [each["what"] for each in self.growth if each["grows"]]
        if growing and self.failure is None:
            self.failure = f"grows without end: {', '.join(growing)}"

    def as_json(self) -> str:
        derived = {"events": self.events, "verdict": self.verdict}
        return json.dumps(asdict(self) | derived, indent=1)


@dataclass
class OrdersOutcome(Outcome):
    """Outcome of the Kafka pipeline."""

    least_events: ClassVar[dict[str, int]] = {"driver killed": 2, "broker killed": 1}

    waves: int = 0
    messages: int = 0
    decided_orders: int = 0
    checked_rows: int = 0
    late_rows: dict[str, int] = field(default_factory=dict)

    @property
    def told(self) -> list[str]:
        late = sum(self.late_rows.values())
        return [
            f"Seed {self.seed}, {self.seconds / 60:.1f} minutes. {self.messages:,} messages in "
            f"{self.waves:,} waves, {late:,} of them late; {self.batches:,} batches, "
            f"{self.driver_starts} starts of the driver.",
            f"Compared with the oracle: {self.checked_rows:,} rows of the result of "
            f"{self.decided_orders:,} orders; watermarks, late rows and buffered rows of "
            f"{self.checked_batches:,} batches.",
            *super().told,
        ]


@dataclass
class ChangesOutcome(Outcome):
    """Outcome of the changelog pipeline."""

    changes: int = 0
    emitted: int = 0
    replayed: int = 0

    @property
    def told(self) -> list[str]:
        return [
            f"Seed {self.seed}, {self.seconds / 60:.1f} minutes. {self.changes:,} changes in "
            f"{self.batches:,} batches, {self.driver_starts} starts of the driver; "
            f"{self.emitted:,} changes came out.",
            f"Compared with the oracle: the table that the changes make after each of "
            f"{self.checked_batches:,} batches. {self.replayed:,} batches came out twice, the same "
            "changes each time.",
            *super().told,
        ]


def growth(outcome: Outcome) -> list[dict[str, Any]]:
    """The trends of all watched figures with enough values."""
    samples = [sample for sample in outcome.samples if sample["batches"] >= STEADY_AFTER]
    found = [
        _growth(what, "run", [sample[what] for sample in samples], slack)
        for what, slack in OF_THE_RUN.items()
    ]
    for life in range(1, outcome.driver_starts + 1):
        alive = [
            vitals
            for vitals in outcome.vitals
            if vitals["life"] == life and vitals["batches"] >= STEADY_AFTER
        ]
        for what, slack in OF_THE_DRIVERS_LIFE.items():
            values = [vitals[what] for vitals in alive if what in vitals]
            found.append(_growth(what, f"driver {life}", values, slack))
    return [each for each in found if each["begin"] is not None]


def _growth(what: str, of: str, values: list[float], slack: float) -> dict[str, Any]:
    seen = trend(values)
    return {
        "what": what,
        "of": of,
        "values": len(values),
        "most": max(values, default=0),
        "begin": seen and seen.begin,
        "end": seen and seen.end,
        "grows": seen is not None and seen.grows(slack),
    }
