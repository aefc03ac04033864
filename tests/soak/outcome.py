"""What has come of a run, and whether anything grew in it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.soak.growth import trend
from tests.soak.job import MIN_BATCHES_TO_RETAIN

STEADY_AFTER = 2 * MIN_BATCHES_TO_RETAIN
"""Batches after which all that is kept of the past is there, on disk and in a driver's memory."""

LEAST_BATCHES = 50
LEAST_EVENTS = {"driver killed": 2, "broker killed": 1}
"""What a run must have been through before it says that all is as it should be."""

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
"""What is watched, and how much it may rise within a run whatever there was."""
BYTES = ("heap", "resident", "state_bytes", "checkpoint_bytes")


@dataclass
class Outcome:
    seed: int
    minutes: float
    seconds: float = 0.0
    waves: int = 0
    messages: int = 0
    batches: int = 0
    decided_orders: int = 0
    checked_rows: int = 0
    checked_reports: int = 0
    late_rows: dict[str, int] = field(default_factory=dict)
    happened: list[dict[str, Any]] = field(default_factory=list)
    """What went wrong: ``event``, and ``at`` how many seconds after the start."""
    driver_starts: int = 0
    growth: list[dict[str, Any]] = field(default_factory=list)
    failure: str | None = None
    samples: list[dict[str, float]] = field(default_factory=list)
    vitals: list[dict[str, float]] = field(default_factory=list)

    @property
    def events(self) -> dict[str, int]:
        """How often each thing went wrong."""
        return dict(Counter(each["event"] for each in self.happened))

    @property
    def lacks(self) -> list[str]:
        """What is missing to say that all is as it should be."""
        missing = [
            f"{what} {self.events.get(what, 0)} times of {least}"
            for what, least in LEAST_EVENTS.items()
            if self.events.get(what, 0) < least
        ]
        if self.checked_reports < LEAST_BATCHES:
            missing.append(f"{self.checked_reports} batches of {LEAST_BATCHES}")
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

    def as_json(self) -> str:
        derived = {"events": self.events, "verdict": self.verdict}
        return json.dumps(asdict(self) | derived, indent=1)


def growth(outcome: Outcome) -> list[dict[str, Any]]:
    """The trend of all that is watched, where there are values enough."""
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
