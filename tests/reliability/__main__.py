"""Random tests that continue where they stopped: ``python -m tests.reliability --minutes 60``.

A piece is one seed of one kind of test. ``artifacts/reliability/pieces.jsonl`` has a line for each
piece that has run. Each start runs pieces of the kind that is furthest from its target, until the
time is over. At the end it writes ``results/reliability-DATE.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path

from tests.reliability.pieces import KINDS, ROOT, Kind, Piece, run

FOLDER = ROOT / "artifacts" / "reliability"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    names = [kind.name for kind in KINDS]
    parser.add_argument("--minutes", type=float, default=60, help="no piece begins after that")
    parser.add_argument("--kinds", nargs="+", choices=names, default=names)
    parser.add_argument("--size", type=int, help="how many are in a piece, of one kind")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="pieces and logs of failures")
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    arguments = parser.parse_args()
    os.nice(10)
    known = Path(arguments.folder) / "pieces.jsonl"
    pieces = read(known)
    before = len(pieces)
    until = time.monotonic() + arguments.minutes * 60
    chosen = [kind for kind in KINDS if kind.name in arguments.kinds]
    while time.monotonic() < until and (kind := furthest(chosen, pieces)):
        seed = 1 + max((p.seed for p in pieces if p.kind == kind.name), default=0)
        piece = run(kind, seed, arguments.size or kind.size, arguments.folder)
        pieces.append(piece)
        with known.open("a") as out:
            out.write(json.dumps(piece.data()) + "\n")
        outcome = f"{len(piece.failures)} failed" if piece.failures else "passed"
        print(
            f"{kind.name}, seed {seed}: {piece.count} in {piece.seconds} s, {outcome}", flush=True
        )
    if not pieces:
        parser.error("no piece has run: give it some --minutes")
    path = arguments.results / f"reliability-{time.strftime('%Y-%m-%d')}.md"
    path.write_text(report(pieces))
    print(f"{path}: list it in mkdocs.yml")
    raise SystemExit(any(piece.failures for piece in pieces[before:]))


def read(known: Path) -> list[Piece]:
    if not known.exists():
        return []
    return [Piece.of(json.loads(line)) for line in known.read_text().splitlines()]


def furthest(kinds: Sequence[Kind], pieces: Sequence[Piece]) -> Kind | None:
    """The kind of which the smallest share of its target has run; none if all are complete."""
    run = {kind: sum(p.count for p in pieces if p.kind == kind.name) for kind in kinds}
    shares = {kind: count / kind.target for kind, count in run.items()}
    kind = min(shares, key=lambda each: shares[each])
    return kind if shares[kind] < 1 else None


def report(pieces: Sequence[Piece]) -> str:
    dates = sorted({piece.date for piece in pieces})
    lines = [
        f"# Reliability, {dates[-1]}",
        "",
        "`make reliability` runs random tests in pieces and writes this page. What the tests do:",
        "[reliability](../docs/internals/reliability.md). Machine: "
        f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}.",
        "",
        "| test | run | target | seeds | minutes | failed |",
        "|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        own = [piece for piece in pieces if piece.kind == kind.name]
        count = sum(piece.count for piece in own)
        seeds = f"1 to {max(p.seed for p in own)}" if own else ""
        minutes = round(sum(piece.seconds for piece in own) / 60)
        failed = sum(len(piece.failures) for piece in own)
        queries = f" in {count // kind.in_query:,} queries" if kind.in_query > 1 else ""
        cells = (
            kind.name,
            f"{count:,} {kind.unit}{queries}",
            f"{kind.target:,}",
            seeds,
            str(minutes),
            str(failed),
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| version | date | pieces |", "|---|---|---|"]
    for version, date in sorted({(p.version, p.date) for p in pieces}, key=lambda each: each[1]):
        own = [p for p in pieces if (p.version, p.date) == (version, date)]
        lines.append(f"| {version} | {date} | {len(own)} |")
    failures = [(piece, name) for piece in pieces for name in piece.failures]
    if failures:
        lines += ["", "Failed:", ""]
        lines += [f"- {piece.kind}, seed {piece.seed}: `{name}`" for piece, name in failures]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
