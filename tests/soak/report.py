"""The report of a run: a page and a picture for people, and JSON for programs."""

from __future__ import annotations

from pathlib import Path

from tests.soak import plot
from tests.soak.outcome import BYTES, Outcome


def write(outcome: Outcome, folder: Path) -> str:
    """Write ``soak.json``, ``soak.md`` and ``soak.png``, and return the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "soak.json").write_text(outcome.as_json(), encoding="utf-8")
    text = page(outcome)
    (folder / "soak.md").write_text(text + "\n\n![](soak.png)\n", encoding="utf-8")
    plot.draw(outcome, folder / "soak.png")
    return text


def page(outcome: Outcome) -> str:
    return "\n\n".join([f"# Soak: {outcome.verdict}", *outcome.told, _table(outcome)])


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
