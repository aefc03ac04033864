"""A query over topics that starts from history: of the topics, or of a table written from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import warm
from tests.kafka.broker import Broker
from tests.kafka.topics import Topics
from tests.orders import WITHIN_THE_HOUR, at, ids
from tests.streams import Run

COLUMNS = {
    "orders": "id INT, order_time TIMESTAMP",
    "deliveries": "id INT, delivery_time TIMESTAMP",
}


class Ends:
    """Two topics of two partitions, with the offset after the last message of each partition."""

    def __init__(self, spark: SparkSession, broker: Broker, prefix: str) -> None:
        self.spark = spark
        self.topics = Topics(broker, prefix)
        self.topics.create(2, *COLUMNS)
        self.ends = {name: [0, 0] for name in COLUMNS}

    def send(self, name: str, *rows: tuple[int, str]) -> None:
        time = COLUMNS[name].split()[2]
        for key, clock in rows:
            self.topics.send(name, key % 2, {"id": key, time: at(clock)})
            self.ends[name][key % 2] += 1
        self.topics.flush()

    def offsets(self, name: str) -> str:
        partitions = {str(p): end for p, end in enumerate(self.ends[name])}
        return json.dumps({self.topics.prefix + name: partitions})

    def read(self, reader: Any, name: str, *further: str, **options: str) -> DataFrame:
        topic: DataFrame = (
            reader.format("kafka")
            .option("kafka.bootstrap.servers", self.topics.broker.bootstrap)
            .option("subscribe", self.topics.prefix + name)
            .options(**options)
            .load()
        )
        row = F.from_json(F.col("value").cast("string"), COLUMNS[name])
        return topic.select(row.alias("row"), *further).select("row.*", *further)


@pytest.fixture
def ends(spark: SparkSession, kafka: Broker, request: pytest.FixtureRequest) -> Ends:
    ends = Ends(spark, kafka, f"{request.node.name}-")
    ends.send("orders", (1, "13:40"), (2, "13:50"), (3, "13:10"), (4, "14:00"))
    ends.send("deliveries", (3, "13:30"), (4, "14:00"))
    return ends


def live(ends: Ends, starts: dict[str, str]) -> tuple[dict[str, DataFrame], DataFrame]:
    streams = {n: ends.read(ends.spark.readStream, n, startingOffsets=starts[n]) for n in COLUMNS}
    o = streams["orders"].imposeOrder("order_time", "0 seconds").alias("o")
    d = streams["deliveries"].imposeOrder("delivery_time", "0 seconds").alias("d")
    return streams, o.streamJoin(d, WITHIN_THE_HOUR, "left")


def test_topic_is_its_own_history(ends: Ends, tmp_path: Path) -> None:
    cut = {name: ends.offsets(name) for name in COLUMNS}
    streams, result = live(ends, cut)
    read = ends.spark.read
    past = {n: ends.read(read, n, endingOffsets=cut[n]) for n in COLUMNS}
    run = Run(result, tmp_path / "checkpoint")
    # the live rows of another stream would begin later than the history ends
    later = {**cut, "orders": cut["orders"].replace('"0": 2', '"0": 3')}
    others, other = live(ends, later)
    with pytest.raises(AnalysisException, match="OTHER_CUT") as refused:
        warm(other, run.checkpoint, [(others[n], past[n]) for n in COLUMNS])
    assert cut["orders"].replace(" ", "") in str(refused.value)
    warm(run.result, run.checkpoint, [(streams[n], past[n]) for n in COLUMNS])
    ends.send("deliveries", (1, "14:10"), (9, "15:00"))
    ends.send("orders", (9, "15:00"))
    assert ids(run.step()[1]) == [(1, 1), (2, None), (9, 9)]


def test_table_with_offsets_is_the_history_of_a_topic(ends: Ends, tmp_path: Path) -> None:
    cut = {name: ends.offsets(name) for name in COLUMNS}
    streams, result = live(ends, cut)
    run = Run(result, tmp_path / "checkpoint")
    tables = {}
    for name in COLUMNS:
        table = ends.read(ends.spark.read, name, "partition", "offset")
        table.write.parquet(str(tmp_path / name))
        tables[name] = ends.spark.read.parquet(str(tmp_path / name))
    place = ("partition", "offset")
    with pytest.raises(AnalysisException, match="UNKNOWN_CUT"):
        warm(result, run.checkpoint, [(streams[n], tables[n]) for n in COLUMNS])
    missing = tables["orders"].where("NOT (partition = 0 AND offset = 0)").union(tables["orders"])
    with pytest.raises(AnalysisException, match=r"GAP.*Partition 0 has 3 rows, with 2 different"):
        warm(result, run.checkpoint, [(streams["orders"], missing, place)])
    warm(result, run.checkpoint, [(streams[n], tables[n], place) for n in COLUMNS])
    ends.send("deliveries", (1, "14:10"), (9, "15:00"))
    ends.send("orders", (9, "15:00"))
    assert ids(run.step()[1]) == [(1, 1), (2, None), (9, 9)]
