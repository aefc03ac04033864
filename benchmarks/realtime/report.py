"""The table of measured latencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Line = dict[str, Any]
BASE = "real-time, buffer 5 ms"
_HEADS = (
    "path", "rows per second", "engine", "pairs", "p0", "p50", "p90", "p99", "max",
    "p50, relative", "between batches, median and longest", "load",
)  # fmt: skip


def page(lines: Sequence[Line]) -> str:
    """Give the table; of runs that are alike, the last one counts."""
    rows = [_HEADS, ("---",) * len(_HEADS)]
    latest = newest(lines)
    for (path, rate, engine), line in latest.items():
        base = latest.get((path, rate, BASE), line)
        rows.append((
            path, f"{rate:,}", engine, _pairs(line), *map(_ms, line["latency_ms"]),
            _relative(line, base), _gaps(line), str(line["load"]),
        ))  # fmt: skip
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def newest(lines: Sequence[Line]) -> dict[tuple[str, int, str], Line]:
    return {(line["path"], line["rate"], line["engine"]): line for line in lines}


def _pairs(line: Line) -> str:
    missing, repeated = line["missing"], line["repeated"]
    wrong = f", {missing} missing" if missing else ""
    wrong += f", {repeated} repeated" if repeated else ""
    return f"{line['pairs']:,}{wrong}"


def _ms(value: float) -> str:
    return f"{value / 1000:.2f} s" if value >= 1000 else f"{value:.3g} ms"


def _relative(line: Line, base: Line) -> str:
    ours, theirs = base["latency_ms"], line["latency_ms"]
    return f"{theirs[1] / ours[1]:.1f}" if ours and theirs and ours[1] else ""


def _gaps(line: Line) -> str:
    return " and ".join(map(_ms, line["gap_ms"])) if "gap_ms" in line else ""
