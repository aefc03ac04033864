"""The driver of the pipeline, which the soak test kills: ``python -m tests.soak.job FOLDER ...``.

The job joins the three topics of examples/kafka_pipeline.py into ``table/batch=<number>``. It
copies the offset log entry of each batch to ``planned/``, because the log itself is purged. A
file ``stop`` ends the job (`tests.soak.session`).
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from pyspark.sql import DataFrame

from examples import kafka_pipeline
from tests.crash.whole import write_whole
from tests.kafka.jars import connector_jars
from tests.soak.session import Life


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("life", type=int, help="how often it has been started")
    parser.add_argument("bootstrap")
    parser.add_argument("prefix", help="of the topics")
    parser.add_argument("--trigger", default="0 seconds")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    life = Life(folder, arguments.life, jars=",".join(connector_jars()))
    result = kafka_pipeline.joined(life.spark, arguments.bootstrap, arguments.prefix)
    sink = Sink(folder)
    query = (
        result.writeStream.foreachBatch(sink.write)
        .option("checkpointLocation", str(life.checkpoint))
        .trigger(processingTime=arguments.trigger)
        .start()
    )
    life.live(query)


class Sink:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, batch: DataFrame, number: int) -> None:
        planned = self._folder / "checkpoint" / "offsets" / str(number)
        write_whole(self._folder / "planned" / str(number), planned.read_text())
        table = self._folder / "table" / f"batch={number}"
        shutil.rmtree(table, ignore_errors=True)
        batch.write.parquet(str(table))


if __name__ == "__main__":
    main()
