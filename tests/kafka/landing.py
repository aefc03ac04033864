"""Cases of the differential tests whose inputs are topics that are partitioned alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.differential.case import Case, Row
from tests.differential.feeds import lines, parsed
from tests.differential.recorded import place

if TYPE_CHECKING:
    # the client is not there on every Spark that the topics are read with
    from tests.kafka.topics import Topics

PARTITIONS = 3


class TopicLanding:
    """Sends rows to the topic of their input, each with its key as that of the message."""

    def __init__(self, case: Case, topics: Topics) -> None:
        self._case = case
        self._topics = topics
        self.arrived: dict[str, dict[str | int, list[Row]]] = {alias: {} for alias in case.fed}
        topics.create(PARTITIONS, *case.fed)

    def land(self, alias: str, rows: Sequence[Row]) -> None:
        arrived = self.arrived[alias]
        for row, line in zip(rows, lines(self._case, alias, rows), strict=True):

            def placed(partition: int, offset: int, row: Row = row) -> None:
                arrived[place(partition, offset)] = [row]

            key = None if row["k"] is None else row["k"].encode()
            self._topics.send_by_key(alias, key, line, placed=placed)
        self._topics.flush()


def read_topics(
    case: Case, session: SparkSession, bootstrap: str, prefix: str
) -> dict[str, DataFrame]:
    reader = (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("startingOffsets", "earliest")
    )
    return {
        alias: parsed(
            reader.option("subscribe", prefix + alias).load().select(F.col("value").cast("string"))
        )
        for alias in case.fed
    }
