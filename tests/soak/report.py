"""What a run was like, for a person: a page and a picture; and for programs: JSON."""

from __future__ import annotations

from pathlib import Path

from tests.soak import plot
from tests.soak.outcome import BYTES, Outcome


def write(outcome: Outcome, folder: Path) -> str:
    """Write ``soak.json``, ``soak.md`` and ``soak.png``, and give the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "soak.json").write_text(outcome.as_json(), encoding="utf-8")
    text = page(outcome)
    (folder / "soak.md").write_text(text + "\n\n![](soak.png)\n", encoding="utf-8")
    plot.draw(outcome, folder / "soak.png")
    return text


def page(outcome: Outcome) -> str:
    late = sum(outcome.late_rows.values())
    events = ", ".join(f"{what} {count}" for what, count in sorted(outcome.events.items()))
    return "\n\n".join(
        [
            f"# Soak: {outcome.verdict}",
            f"Seed {outcome.seed}, {outcome.seconds / 60:.1f} minutes. {outcome.messages:,} "
            f"messages in {outcome.waves:,} waves, {late:,} of them late; {outcome.batches:,} "
            f"batches, {outcome.driver_starts} starts of the driver.",
            f"Compared with the oracle: {outcome.checked_rows:,} rows of the result of "
            f"{outcome.decided_orders:,} orders; watermarks, late rows and buffered rows of "
            f"{outcome.checked_reports:,} batches.",
            f"Happened: {events or 'nothing'}.",
            _table(outcome),
        ]
    )


def _table(outcome: Outcome) -> str:
    rows = [
        (
            each["what"].replace("_", " "),
            each["of"],
            *(_figure(each["what"], each[name]) for name in ("begin", "end", "most")),
            "grows" if each["grows"] else "steady",
        )
        for each in outcome.growth
    ]
    if not rows:
        return "Too short to tell whether anything grows."
    heads = ("watched", "of", "after warm-up", "at the end", "most", "")
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _figure(what: str, value: float) -> str:
    return f"{value / 1e6:,.1f} MB" if what in BYTES else f"{value:,.0f}"
