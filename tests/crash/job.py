"""The process that gets killed: ``python -m tests.crash.job FOLDER``, and one of its options.

The job reads ``case.json`` and the files that land in ``source/``. It keeps its checkpoint in
``checkpoint/``, and writes one file for each attempt of a batch to ``output/`` and one for each
batch to ``progress/``. If a file ``complete`` exists, it processes the rest and ends. With an
order, an as-of join over the same files also runs, in the folder ``last/``. With versions, the
join is the as-of join with a changelog.

An idempotent sink would overwrite the output of a batch that runs again. This sink keeps both, so
that the test can compare them.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

import streamjoin
from tests.crash.scenarios import last_rows
from tests.crash.whole import write_whole
from tests.differential import builtin, plans
from tests.differential.case import from_json
from tests.differential.feeds import leaves, read_files
from tests.differential.runner import session_of


class ProgressFiles(StreamingQueryListener):
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def onQueryStarted(self, event: QueryStartedEvent) -> None: ...

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        if event.progress.name is None:
            write_whole(self.folder / f"{event.progress.batchId}.json", event.progress.json)

    def onQueryIdle(self, event: QueryIdleEvent) -> None: ...

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None: ...


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--builtin", action="store_true", help="Spark's own join, to test the test")
    parser.add_argument("--order", help="a time of the result by which it is ordered")
    parser.add_argument("--versions", action="store_true", help="the join with a changelog")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    case = from_json((folder / "case.json").read_text())
    spark = start_spark(folder, arguments.builtin)
    session = session_of(case, spark)
    session.streams.addListener(ProgressFiles(folder / "progress"))
    inputs = leaves(case, read_files(case, session, folder / "source"))
    if arguments.order:
        last = plans.last_before(last_rows(case), inputs)
        queries = [
            start(plans.in_order(case, inputs, arguments.order), folder),
            start(last, folder / "last", "last"),
        ]
    elif arguments.versions:
        queries = [start(plans.valid_version(last_rows(case), inputs), folder)]
    else:
        build = builtin.stream if arguments.builtin else plans.stream
        queries = [start(build(case, session, inputs), folder)]
    run(queries, folder / "complete")
    spark.stop()


def start_spark(folder: Path, without_product: bool) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").appName("streamjoin crash test")
    if not without_product:
        builder = streamjoin.configure(builder)
    return (
        builder.config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        # The process lives for seconds, in which the second compiler costs more than it saves.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        # Files left behind by a killed process are removed with the folder of the test.
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )


def start(df: DataFrame, folder: Path, name: str | None = None) -> StreamingQuery:
    (folder / "output").mkdir(parents=True, exist_ok=True)

    def sink(rows: DataFrame, batch: int) -> None:
        collected = [list(row) for row in rows.collect()]
        attempt = len(list((folder / "output").glob(f"{batch}.*.json")))
        write_whole(folder / "output" / f"{batch}.{attempt}.json", json.dumps(collected))

    writer = df.writeStream.foreachBatch(sink)
    if name:
        writer = writer.queryName(name)
    return writer.option("checkpointLocation", str(folder / "checkpoint")).start()


def run(queries: list[StreamingQuery], complete: Path) -> None:
    done = False
    while not done:
        done = complete.exists()
        for query in queries:
            query.processAllAvailable()
        time.sleep(0.05)
    for query in queries:
        query.stop()


if __name__ == "__main__":
    main()
