"""Twelve partitions of a topic, of which one stops for three hours of event time.

Each test prints its rows of the table in docs/concepts/watermark-groups.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.engine import FLINK_SQL
from streamjoin import impose_order
from tests.kafka import flink
from tests.kafka.broker import Broker
from tests.kafka.topics import Topics
from tests.streams import Run

PARTITIONS = range(12)
SLOW = 7
OTHERS = [p for p in PARTITIONS if p != SLOW]
START = datetime(2024, 5, 4, 6)
OUTAGE = range(60, 240)
MINUTES = 360
# The rows after which no other row waits for a watermark.
LAST = [100_000, 100_001]
COLUMNS = {"orders": "ot", "deliveries": "dt"}

# About two hours of all partitions.
RATE = len(PARTITIONS) * 120

# The dialects of Spark and Flink agree on it.
QUERY = """
    SELECT o.id, TIMESTAMPDIFF(MINUTE, o.ot, d.dt)
    FROM {orders} AS o LEFT JOIN {deliveries} AS d
      ON o.id = d.id AND d.dt BETWEEN o.ot AND o.ot + INTERVAL '30' MINUTE
"""


def clock(minute: int) -> str:
    return (START + timedelta(minutes=minute)).isoformat()


def number(partition: int, minute: int) -> int:
    return minute * len(PARTITIONS) + partition


def delivered(partition: int, minute: int) -> bool:
    return (partition + minute) % 3 > 0


class Shop:
    """An order a minute in each partition, and ten minutes later its delivery; a third has none."""

    def __init__(self, spark: SparkSession, kafka: Broker, folder: Path) -> None:
        self.spark = spark
        self.topics = Topics(kafka, f"slow-{uuid4()}-")
        self.topics.create(len(PARTITIONS), *COLUMNS)
        self.folder = folder

    def send(self, partitions: Iterable[int], minutes: Iterable[int]) -> None:
        for minute in minutes:
            for p in partitions:
                key = number(p, minute)
                self.topics.send("orders", p, {"id": key, "ot": clock(minute)})
                if delivered(p, minute):
                    self.topics.send("deliveries", p, {"id": key, "dt": clock(minute + 10)})
        self.topics.flush()

    def send_until_the_end_of_the_outage(self) -> None:
        self.send(PARTITIONS, range(OUTAGE.start))
        self.send(OTHERS, OUTAGE)

    def send_backlog(self) -> None:
        self.send([SLOW], OUTAGE)
        self.send(PARTITIONS, range(OUTAGE.stop, MINUTES))

    def rows(self, name: str) -> DataFrame:
        schema = f"id INT, {COLUMNS[name]} TIMESTAMP"
        messages = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.topics.broker.bootstrap)
            .option("subscribe", self.topics.prefix + name)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", str(RATE))
            .load()
        )
        row = F.from_json(F.col("value").cast("string"), schema).alias("row")
        return messages.select("topic", F.col("partition").alias("p"), row).select(
            "topic", "p", "row.*"
        )

    def run(self, name: str, inputs: dict[str, Any]) -> Run:
        return Run(self.spark.sql(QUERY, **inputs), self.folder / name)

    def with_groups(self, of: Callable[[DataFrame], DataFrame] = lambda rows: rows) -> Run:
        """With groups of the rows that a function gives."""
        per = ["topic", "p"]
        inputs = {
            name: impose_order(of(self.rows(name)), time, "1 minute", per=per)
            for name, time in COLUMNS.items()
        }
        return self.run("per", inputs)

    def without_groups(self) -> Run:
        inputs = {n: impose_order(self.rows(n), time, "1 minute") for n, time in COLUMNS.items()}
        return self.run("plain", inputs)

    def on_spark(self) -> Run:
        inputs = {n: self.rows(n).withWatermark(time, "1 minute") for n, time in COLUMNS.items()}
        return self.run("spark", inputs)

    def table_of_flink(self, name: str, options: dict[str, str]) -> str:
        minutes = [*range(MINUTES), *LAST]
        ends = {p: sum(name == "orders" or delivered(p, m) for m in minutes) for p in PARTITIONS}
        options = {
            **options,
            "connector": "kafka",
            "topic": self.topics.prefix + name,
            "properties.bootstrap.servers": self.topics.broker.bootstrap,
            "scan.startup.mode": "earliest-offset",
            "scan.bounded.mode": "specific-offsets",
            "scan.bounded.specific-offsets": ";".join(
                f"partition:{p},offset:{end}" for p, end in ends.items()
            ),
            "format": "json",
            "json.timestamp-format.standard": "ISO-8601",
        }
        settings = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
        time = COLUMNS[name]
        watermark = f"WATERMARK FOR {time} AS {time} - INTERVAL '1' MINUTE"
        return f"CREATE TABLE {name} (id INT, {time} TIMESTAMP(3), {watermark}) WITH ({settings})"


EXPECTED = sorted(
    (number(p, minute), 10 if delivered(p, minute) else None)
    for p in PARTITIONS
    for minute in range(MINUTES)
)
PAIRS = sum(minutes is not None for _, minutes in EXPECTED)


def late(run: Run) -> int:
    return run.total("lateRowsLeft") + run.total("lateRowsRight")


def late_on_spark(run: Run) -> int:
    return sum(each["numRowsDroppedByWatermark"] for each in run.operators("symmetricHashJoin"))


@pytest.fixture
def shop(spark: SparkSession, kafka: Broker, tmp_path: Path) -> Shop:
    return Shop(spark, kafka, tmp_path)


def finish(shop: Shop, *runs: Run) -> None:
    for minute in LAST:
        shop.send(PARTITIONS, [minute])
        for run in runs:
            run.step()


def results(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted((row for row in rows if row[0] < number(0, LAST[0])), key=lambda row: row[0])


def show(query: str, late: int | None, rows: list[tuple[Any, ...]]) -> int:
    """Print a row of the table, and return the number of missing pairs."""
    missing = PAIRS - sum(minutes is not None for _, minutes in rows)
    wrong = len(set(rows) - set(EXPECTED))
    cells = "not counted" if late is None else late, len(rows), missing, wrong
    print("|", query, "|", *(f"{cell} |" for cell in cells))
    return missing


def test_partition_that_stops_for_three_hours_has_no_late_row(
    shop: Shop, spark: SparkSession, kafka: Broker, tmp_path: Path
) -> None:
    shop.send_until_the_end_of_the_outage()
    runs = grouped, plain, builtin = shop.with_groups(), shop.without_groups(), shop.on_spark()
    for run in runs:
        run.step()
    metrics = grouped.metrics()
    assert metrics["groups.ot"] == len(PARTITIONS)
    slowest = f"groupWatermark.ot.{shop.topics.prefix}orders, {SLOW}"
    fastest = max(v for k, v in metrics.items() if k.startswith("groupWatermark.ot."))
    assert metrics[slowest] == metrics["watermark.ot"] < fastest
    shop.send_backlog()
    for run in runs:
        run.step()
    finish(shop, *runs)
    without = Shop(spark, kafka, tmp_path / "without")
    without.send(PARTITIONS, range(MINUTES))
    in_order = without.with_groups()
    in_order.step()
    finish(without, in_order)
    assert late(grouped) == late(in_order) == 0
    assert results(grouped.rows()) == results(in_order.rows()) == EXPECTED
    assert show("`per`", late(grouped), results(grouped.rows())) == 0
    assert late(plain) >= len(OUTAGE)
    assert show("without `per`", late(plain), results(plain.rows())) > 0
    assert late_on_spark(builtin) >= len(OUTAGE)
    assert show("Spark's own join", late_on_spark(builtin), results(builtin.rows())) > 0


@pytest.mark.parametrize("idle", [False, True])
def test_flink_with_a_watermark_for_each_split(shop: Shop, tmp_path: Path, idle: bool) -> None:
    if not FLINK_SQL.staged():
        pytest.skip("Flink's jars are not here: make bench-jars")
    group = str(uuid4())
    options = {"properties.group.id": group}
    if idle:
        options["scan.watermark.idle-timeout"] = "1 s"
    tables = [shop.table_of_flink(name, options) for name in COLUMNS]
    query = QUERY.format(**{name: name for name in COLUMNS})
    topics = [shop.topics.prefix + name for name in COLUMNS]
    with flink.started(tmp_path / "flink", *tables, query) as running:

        def outage_has_passed() -> bool:
            if idle:
                first = number(0, OUTAGE.start)
                return any(row[0] >= first and row[1] is None for row in results(running.rows()))
            # a source commits its offsets when the join has processed the rows before them
            return flink.has_read(shop.topics.broker, group, topics, len(PARTITIONS))

        shop.send_until_the_end_of_the_outage()
        running.wait_until(outage_has_passed)
        shop.send_backlog()
        shop.send(PARTITIONS, LAST)
        running.finish()
    rows = results(running.rows())
    if idle:
        assert show("Flink, idle timeout of a second", None, rows) > 0
    else:
        assert show("Flink", None, rows) == 0
        assert rows == EXPECTED


def in_halves(rows: DataFrame) -> DataFrame:
    return rows.where("p < 6").unionByName(rows.where("p >= 6"))


@pytest.mark.parametrize("read_twice", [False, True])
def test_partition_without_a_row_holds_the_watermark_back(shop: Shop, read_twice: bool) -> None:
    run = shop.with_groups(in_halves) if read_twice else shop.with_groups()
    shop.send(OTHERS, range(10))
    run.step()
    assert "watermark.ot" not in run.metrics()
    assert run.metrics()["groups.ot"] == len(PARTITIONS)
    shop.send([SLOW], [3])
    run.step()
    assert (
        run.metrics()["watermark.ot"]
        == (START.replace(tzinfo=timezone.utc).timestamp() + 2 * 60) * 1000
    )
    assert late(run) == 0


def test_partition_that_a_filter_leaves_out_holds_nothing_back(shop: Shop) -> None:
    run = shop.with_groups(lambda rows: rows.where(F.col("p") != SLOW))
    shop.send(OTHERS, range(10))
    run.step()
    assert run.metrics()["groups.ot"] == len(OTHERS)
    assert "watermark.ot" in run.metrics()
