"""Medians over the repetitions of a run, and ratios of the runs that took turns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from .engine import OURS
from .process import Result


@dataclass(frozen=True)
class Summary:
    """All repetitions of a case on an engine."""

    case: str
    engine: str
    lines: Sequence[Result]

    @property
    def outcome(self) -> str:
        return next((o for line in self.lines if (o := line["outcome"]) != "correct"), "correct")

    @property
    def measured(self) -> bool:
        return all("cpu_seconds" in line for line in self.lines)

    def values(self, name: str) -> list[float]:
        return [value for line in self.lines if (value := line.get(name)) is not None]

    def median(self, name: str) -> float | None:
        values = self.values(name)
        return median(values) if values else None

    def ratios(self, other: Summary, name: str) -> list[float]:
        """By how much each run is above the other's next to it; a warm-up took no turn."""
        mine = {
            line["repetition"]: line for line in self.lines if line.get("against") == other.engine
        }
        return [
            line_of_mine[name] / line[name]
            for line in other.lines
            if line.get("against") == self.engine and (line_of_mine := mine.get(line["repetition"]))
        ]


def read(results: Path) -> list[Result]:
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


def summaries(lines: Sequence[Result]) -> dict[str, dict[str, Summary]]:
    """Give the summaries by case and engine, in the order in which they were run."""
    grouped: dict[str, dict[str, list[Result]]] = {}
    for line in lines:
        grouped.setdefault(line["case"], {}).setdefault(line["engine"], []).append(line)
    return {
        case: {engine: Summary(case, engine, runs) for engine, runs in engines.items()}
        for case, engines in grouped.items()
    }


def ours(engines: dict[str, Summary]) -> Summary | None:
    found = engines.get(OURS)
    return found if found is not None and found.outcome == "correct" else None
