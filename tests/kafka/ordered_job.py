"""The process that gets killed: ``python -m tests.kafka.ordered_job FOLDER BOOTSTRAP TOPIC``.

Sends the events that landed in ``FOLDER/events``, in order, to a topic with one partition, and ends
after the last event.
"""

from __future__ import annotations

import sys
from pathlib import Path

import streamjoin
from tests.kafka.session import started

SCHEMA = "n BIGINT, id INT"
LAG = 25


def main() -> None:
    folder, bootstrap, topic = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    spark = started("local[2]")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    files = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    events = streamjoin.impose_order(files.json(str(folder / "events")), "n", LAG)
    messages = events.orderBy("n", "id").selectExpr("to_json(struct(*)) AS value").coalesce(1)
    writer = messages.writeStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    writer.option("topic", topic).option("checkpointLocation", str(folder / "checkpoint")).trigger(
        availableNow=True
    ).start().awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
