"""``python -m tests.soak``: runs pipelines for a long time, with injected faults."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from tests.kafka.jars import connector_jars
from tests.kafka.process import BrokerProcess
from tests.soak import report, throughput
from tests.soak.changelog.run import ChangesSoak, StateFormat
from tests.soak.outcome import Outcome
from tests.soak.run import Soak


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    commands = parser.add_subparsers(required=True)

    running = commands.add_parser("run", help="run for some minutes; fails if anything is wrong")
    running.set_defaults(command=_run, out=Path("artifacts/soak"))

    changing = commands.add_parser("changes", help="the same for changelog joins")
    changing.add_argument("--state-format", choices=get_args(StateFormat), default="segments")
    changing.set_defaults(command=_run_changes, out=Path("artifacts/soak-changes"))

    for lasting in (running, changing):
        lasting.add_argument("--minutes", type=float, default=10)
        lasting.add_argument("--seed", type=int, default=1, help="of all random choices")
        lasting.add_argument("--out", type=Path)
        lasting.add_argument(
            "--verdict", action="store_true", help="fail with 2 if the run was too short to tell"
        )

    measuring = commands.add_parser("throughput", help="rows a second, without faults and with")
    measuring.add_argument("--waves", type=int, default=200)
    measuring.add_argument("--faults", type=int, default=2, help="kills of driver and of broker")
    measuring.add_argument("--seed", type=int, default=1)
    measuring.add_argument("--out", type=Path, default=Path("artifacts/soak"))
    measuring.set_defaults(command=_measure)

    given = parser.parse_args(arguments)
    code: int = given.command(given)
    return code


def _run(given: argparse.Namespace) -> int:
    with _broker() as (broker, folder):
        pipeline = folder / "pipeline"
        return _told(given, Soak(broker, pipeline, given.seed, given.minutes).run(), pipeline)


def _run_changes(given: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="streamjoin-soak-") as name:
        pipeline = Path(name) / "pipeline"
        soak = ChangesSoak(pipeline, given.seed, given.minutes, given.state_format)
        return _told(given, soak.run(), pipeline)


def _told(given: argparse.Namespace, outcome: Outcome, pipeline: Path) -> int:
    print(report.write(outcome, given.out))
    if outcome.failure is None:
        return 2 if given.verdict and outcome.lacks else 0
    kept = given.out / "failed"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(pipeline, kept)
    print(f"checkpoint, output and logs: {kept}")
    return 1


def _measure(given: argparse.Namespace) -> int:
    runs = []
    for faults in (0, given.faults):
        with _broker() as (broker, folder):
            run = throughput.measure(broker, folder / "pipeline", given.seed, given.waves, faults)
            runs.append(run)
    calm, disturbed = runs
    text = throughput.page(calm, disturbed)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "throughput.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0 if calm.checked_rows == disturbed.checked_rows else 1


@contextmanager
def _broker() -> Iterator[tuple[BrokerProcess, Path]]:
    if not connector_jars():
        sys.exit("the jars of Kafka are missing: make kafka-jars")
    with tempfile.TemporaryDirectory(prefix="streamjoin-soak-") as name:
        broker = BrokerProcess(Path(name) / "kafka")
        try:
            broker.start()
            yield broker, Path(name)
        finally:
            broker.remove()


if __name__ == "__main__":
    sys.exit(main())
