"""``python -m benchmarks``: run a suite, show the results of one, split what took time in it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from . import account, nexmark, profile, suite
from .case import Case
from .engine import LIMIT, NotStagedError
from .report import write
from .run import run
from .summary import read


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True)

    running = commands.add_parser("run", help="run a suite and show its results")
    size = running.add_mutually_exclusive_group()
    size.add_argument("--short", action="store_true", help="minutes; the default")
    size.add_argument("--full", action="store_true", help="hours")
    size.add_argument("--plain", action="store_true", help="of it the plain sessions")
    size.add_argument("--nexmark", action="store_true", help="whole queries of Nexmark")
    running.add_argument(
        "--only", nargs="+", metavar="CASE", help="cases by name, or all of a workload"
    )
    running.add_argument("--engines", nargs="+", metavar="ENGINE", help="these, and the bare loop")
    running.add_argument("--repetitions", type=int, help="for every case")
    running.add_argument("--rows", type=int, help="for every case: rows a side, or events")
    running.add_argument("--batch", type=int, help="for every case: the same of a batch")
    running.add_argument("--profile", type=Path, metavar="FOLDER", help="keep collapsed stacks")
    running.add_argument("--append", action="store_true", help="keep the results of other cases")
    running.add_argument("results", type=Path, help="the file of JSON lines to write")
    running.set_defaults(command=_run)

    showing = commands.add_parser("report", help="write table and plots beside the results")
    showing.add_argument("--nexmark", action="store_true", help="of a run of whole queries")
    showing.add_argument("results", type=Path, help="a file of JSON lines")
    showing.set_defaults(command=_report)

    accounting = commands.add_parser("account", help="show where the time of batches went")
    accounting.add_argument("results", type=Path, help="a file of JSON lines")
    accounting.add_argument("--rules", type=int, default=10, help="so many of each engine's")
    accounting.set_defaults(command=_account)

    splitting = commands.add_parser("profile", help="split collapsed stacks into what a join does")
    splitting.add_argument("stacks", type=Path, nargs="+", help="files of --profile")
    splitting.set_defaults(command=_profile)

    parsed = parser.parse_args(arguments)
    try:
        code: int = parsed.command(parsed)
    except NotStagedError as missing:
        sys.exit(str(missing))
    return code


def _run(arguments: argparse.Namespace) -> int:
    cases = _suite(arguments)
    chosen = [_changed(case, arguments) for case in _wanted(cases, arguments.only)]
    kept = _others(arguments.results, chosen) if arguments.append else ""
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    arguments.results.write_text(kept, encoding="utf-8")
    problems = run(chosen, arguments.results, arguments.profile)
    _sort(arguments.results, cases)
    print(f"\n{_written(arguments)}")
    if problems:
        print(f"{len(problems)} runs did not give what they should:", *problems, sep="\n  ")
    return 1 if problems else 0


def _report(arguments: argparse.Namespace) -> int:
    print(_written(arguments))
    return 0


def _suite(arguments: argparse.Namespace) -> list[Case]:
    if arguments.full:
        return suite.full()
    if arguments.plain:
        return suite.plain()
    return suite.nexmark() if arguments.nexmark else suite.short()


def _written(arguments: argparse.Namespace) -> str:
    return nexmark.write(arguments.results) if arguments.nexmark else write(arguments.results)


def _account(arguments: argparse.Namespace) -> int:
    print(account.tables(read(arguments.results), arguments.rules))
    return 0


def _profile(arguments: argparse.Namespace) -> int:
    print("\n\n".join(profile.table(file) for file in arguments.stacks))
    return 0


def _wanted(cases: Sequence[Case], only: Sequence[str] | None) -> list[Case]:
    """Choose cases by their labels; another word is the workload of all its cases."""
    if only is None:
        return list(cases)
    workloads = set(only) - {case.label for case in cases}
    if unknown := workloads - {case.workload for case in cases}:
        sys.exit(f"no case or workload of this suite: {', '.join(sorted(unknown))}")
    return [case for case in cases if case.label in only or case.workload in workloads]


def _others(results: Path, chosen: Sequence[Case]) -> str:
    """Return the lines of cases that are not run again: compared results were measured together."""
    labels = {case.label for case in chosen}
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return "".join(f"{line}\n" for line in lines if json.loads(line)["case"] not in labels)


def _sort(results: Path, cases: Sequence[Case]) -> None:
    """Sort the lines in the order of the suite, whichever cases were run last."""
    place = {case.label: n for n, case in enumerate(cases)}
    lines = results.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.sort(key=lambda line: place.get(json.loads(line)["case"], len(place)))
    results.write_text("".join(lines), encoding="utf-8")


def _changed(case: Case, arguments: argparse.Namespace) -> Case:
    sizes = {n: v for n in ("rows", "batch") if (v := getattr(arguments, n)) is not None}
    return replace(
        case,
        parameters={**case.parameters, **sizes},
        warmup=min(case.warmup, arguments.rows or case.warmup),
        repetitions=arguments.repetitions or case.repetitions,
        engines=[LIMIT, *(e for e in arguments.engines if e != LIMIT)]
        if arguments.engines
        else case.engines,
    )


if __name__ == "__main__":
    sys.exit(main())
