"""The process that gets killed: ``python -m tests.realtime.page_job FOLDER ADDRESS PREFIX BATCH``.

Runs the example of docs/how-to/real-time.md with a checkpoint in the folder, a broker at this
address, topics whose names have the prefix, and batches of this length.
"""

from __future__ import annotations

import sys

from pyspark.sql import functions as F

from scripts.code_blocks import python
from tests.kafka.session import started

PAGE = "docs/how-to/real-time.md"
TOPICS = ("orders", "deliveries", "delivered")


def main() -> None:
    folder, address, prefix, batch = sys.argv[1:]
    spark = started("local[16]")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    code = python(PAGE)[0]
    for shown, used in {
        **{f'"{topic}"': repr(prefix + topic) for topic in TOPICS},
        '"HOST:PORT"': repr(address),
        '"/data/checkpoints/delivered"': repr(f"{folder}/checkpoint"),
        'realTime="1 minute"': f"realTime={batch!r}",
    }.items():
        assert shown in code
        code = code.replace(shown, used)
    exec(compile(code, PAGE, "exec"), {"spark": spark, "F": F})
    spark.streams.awaitAnyTermination()


if __name__ == "__main__":
    main()
