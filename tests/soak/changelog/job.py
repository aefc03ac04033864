"""The driver of the changelog pipeline, which the soak test kills."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.soak.changelog.pipeline import written
from tests.soak.session import Life


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("life", type=int, help="how often it has been started")
    parser.add_argument("state_format")
    parser.add_argument("trigger")
    arguments = parser.parse_args()
    life = Life(arguments.folder, arguments.life)
    life.spark.conf.set("spark.sql.streamJoin.stateFormat", arguments.state_format)
    result = written(life.spark, life.folder, life.number)
    life.live(result.trigger(processingTime=arguments.trigger).start())


if __name__ == "__main__":
    main()
