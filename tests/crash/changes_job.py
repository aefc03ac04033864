"""A changelog join that gets killed: ``python -m tests.crash.changes_job`` with four arguments.

The arguments are the folder, two numbers and the state format. The job generates the case of the
numbers and reads the files that land in ``source/``. It writes the output as `tests.crash.job`
does, one file for each attempt of a batch.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.crash.job import run, start, start_spark
from tests.differential.changelog_plans import ChangelogFeed, stream
from tests.differential.changelogs import generate


def main() -> None:
    folder, seed, index, state_format = sys.argv[1:]
    case = generate(int(seed), int(index))
    session = start_spark(Path(folder), without_product=False)
    for key, value in case.settings.items():
        session.conf.set(key, value)
    session.conf.set("spark.sql.streamJoin.stateFormat", state_format)
    session.conf.set("spark.sql.streaming.stateStore.maintenanceInterval", "100ms")
    feed = ChangelogFeed(case, session, Path(folder) / "source")
    query = start(stream(case, session, feed.streams()), Path(folder))
    run([query], Path(folder) / "complete")
    session.stop()


if __name__ == "__main__":
    main()
