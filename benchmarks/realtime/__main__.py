"""``python -m benchmarks.realtime``: the latency of matches, and a query at a steady rate.

``latency`` measures from the call that sends the second row of a pair: to the time at which the
broker appends the match (``kafka``), or to the call of a foreach sink (``memory``). The engines run
one after the other, each in a process of its own. Rates count the rows of both inputs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .latency import ENGINES, measure
from .report import page
from .steady import run


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.realtime", description=__doc__)
    commands = parser.add_subparsers(required=True)

    measuring = commands.add_parser("latency", help="append a line of JSON for each run")
    measuring.add_argument("results", type=Path)
    measuring.add_argument("--paths", nargs="+", choices=["memory", "kafka"], default=["kafka"])
    measuring.add_argument("--rates", nargs="+", type=int, default=[100, 1000, 10_000])
    measuring.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    measuring.add_argument("--seconds", type=int, default=600, help="that are measured")
    measuring.add_argument("--warmup", type=int, default=60, help="seconds before them")
    measuring.add_argument("--batch", type=int, default=60, help="seconds, in real-time mode")
    measuring.set_defaults(command=_latency)

    showing = commands.add_parser("report", help="print the table, and draw the plot")
    showing.add_argument("results", type=Path)
    showing.add_argument("--plot", type=Path, metavar="SVG")
    showing.set_defaults(command=_report)

    lasting = commands.add_parser("steady", help="sample a query at a steady rate")
    lasting.add_argument("results", type=Path, help="the file of JSON lines to write")
    lasting.add_argument("--rate", type=int, default=500, help="rows per second, of both inputs")
    lasting.add_argument("--minutes", type=float, default=60)
    lasting.add_argument("--every", type=float, default=60, help="seconds between two samples")
    lasting.add_argument("--batch", type=int, default=30, help="seconds, in real-time mode")
    lasting.set_defaults(command=_steady)

    parsed = parser.parse_args(arguments)
    code: int = parsed.command(parsed)
    return code


def _latency(given: argparse.Namespace) -> int:
    given.results.parent.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for path in given.paths:
        for rate in given.rates:
            for engine in given.engines:
                if path == "memory" and engine.startswith("flink"):
                    continue
                line = measure(path, engine, rate, given.seconds, given.warmup, given.batch)
                with given.results.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(line) + "\n")
                print(json.dumps(line), flush=True)
                wrong += bool(line["missing"] or line["repeated"])
    return 1 if wrong else 0


def _report(given: argparse.Namespace) -> int:
    lines = [json.loads(line) for line in given.results.read_text(encoding="utf-8").splitlines()]
    print(page(lines))
    if given.plot:
        # not in the environment of each Spark
        from .plot import draw

        draw(lines, given.plot)
    return 0


def _steady(given: argparse.Namespace) -> int:
    print(run(given.results, given.rate, given.minutes, given.every, given.batch))
    return 0


if __name__ == "__main__":
    sys.exit(main())
