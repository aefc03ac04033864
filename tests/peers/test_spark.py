"""Ported tests of Spark's joins combined with other stateful operators.

Those of the join operator run in the JVM (tests/peers/spark-join-suites.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import stream_join
from tests.peers.feeds import Feeds, Row, in_order
from tests.streams import Run

SETTING = "spark.sql.streamJoin.replaceBuiltin"


@pytest.fixture(autouse=True)
def replaced(spark: SparkSession) -> Iterator[None]:
    spark.conf.set(SETTING, "true")
    yield
    spark.conf.unset(SETTING)


def operators(run: Run) -> list[str]:
    """The stateful operators, from the top down."""
    return [each["operatorName"] for each in run.progress[max(run.progress)]["stateOperators"]]


class TestMultiStatefulOperators:
    """org.apache.spark.sql.streaming.MultiStatefulOperatorsSuite"""

    @staticmethod
    def numbers(feeds: Feeds) -> DataFrame:
        stream = feeds.stream("input1").withColumn("eventTime1", F.timestamp_seconds("value1"))
        return stream.withColumn("v1", F.col("eventTime1")).withWatermark("eventTime1", "0 seconds")

    @staticmethod
    def ranges(feeds: Feeds) -> DataFrame:
        stream = feeds.stream("input2")
        for name, column in [("eventTime2Start", "start"), ("eventTime2End", "end")]:
            stream = stream.withColumn(name, F.timestamp_seconds(column))
        stream = stream.withColumn("start2", F.timestamp_seconds("start"))
        return stream.withWatermark("eventTime2Start", "0 seconds")

    @staticmethod
    def counted(
        joined: DataFrame, time: str = "eventTime1", length: str = "5 seconds"
    ) -> DataFrame:
        window = F.window(time, length)
        return joined.groupBy(window.alias("w")).agg(F.count("*")).select("w.start", "count(1)")

    def test_window_aggregation_above_a_join_on_equal_times(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """From "join -> window agg, append mode"."""
        feeds = Feeds(spark, tmp_path, input1="value1 INT", input2="start INT, end INT")
        joined = self.numbers(feeds).join(
            self.ranges(feeds), F.expr("eventTime1 = eventTime2Start")
        )
        four = range(1, 5)
        feeds.land(input1=[(n,) for n in four], input2=[(n, n) for n in four])
        assert feeds.run(self.counted(joined)).rows() == []
        feeds.land(input1=[(5,)], input2=[(5, 5)])
        assert feeds.run(self.counted(joined)).rows() == []
        # A row at the watermark is not late here, so the window waits for the next row.
        feeds.land(input1=[(6,)], input2=[(6, 6)])
        run = feeds.run(self.counted(joined))
        assert run.rows() == [(0, 4)]
        assert operators(run) == ["stateStoreSave", "streamJoin"]

    def test_window_aggregation_above_a_range_join(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """From "join on time interval -> window agg, append mode, should fail".

        Above Spark's join, its watermark would be wrong. Above this join, the watermark is delayed.
        """
        feeds = Feeds(spark, tmp_path, input1="value1 INT", input2="start INT, end INT")
        on = F.expr(
            "eventTime1 >= eventTime2Start AND eventTime1 < eventTime2End AND eventTime1 = start2"
        )
        joined = self.numbers(feeds).join(self.ranges(feeds), on)
        feeds.land(input1=[(1,), (2,)], input2=[(n, n + 1) for n in range(1, 5)])
        feeds.land(input1=[(3,), (4,)])
        feeds.land(input1=[(30,)], input2=[(31, 32)])
        run = feeds.run(self.counted(joined))
        assert run.rows() == [(0, 4)]
        assert operators(run) == ["stateStoreSave", "streamJoin"]

    def test_range_join_on_columns_without_watermark_remains_sparks(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """From "join with range join on non-time intervals -> window agg, ..., shouldn't fail"."""
        feeds = Feeds(spark, tmp_path, input1="value1 INT", input2="start INT, end INT")
        on = F.expr("v1 >= start2 AND v1 < eventTime2End AND eventTime1 = start2")
        joined = self.numbers(feeds).join(self.ranges(feeds), on)
        feeds.land(input1=[(n,) for n in range(1, 5)], input2=[(n, n + 1) for n in range(1, 5)])
        run = Run(self.counted(joined), tmp_path / "checkpoint")
        run.step()
        assert run.rows() == []
        # No watermark of the right input can evict a left row.
        assert operators(run) == ["stateStoreSave", "symmetricHashJoin"]

    def test_window_aggregation_above_a_left_interval_join(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """From "stream-stream time interval left outer join -> aggregation, append mode"."""
        columns = "eventTime TIMESTAMP, id STRING, comment STRING"
        feeds = Feeds(spark, tmp_path, input1=columns, input2=columns)
        left = feeds.stream("input1").withWatermark("eventTime", "2 minutes").alias("left")
        right = feeds.stream("input2").withWatermark("eventTime", "4 minutes").alias("right")
        on = F.expr(
            "left.id = right.id AND left.eventTime BETWEEN right.eventTime - INTERVAL 40 seconds "
            "AND right.eventTime + INTERVAL 30 seconds"
        )
        result = self.counted(left.join(right, on, "leftOuter"), "left.eventTime", "30 seconds")
        first, second, third = (
            at("2020-01-01 00:00:00"),
            at("2020-01-02 00:00:00"),
            at("2020-01-02 01:00:00"),
        )
        feeds.land(
            input1=[
                (first, "abc", "has no join partner"),
                (second, "abc", "joined with A"),
                (third, "abc", "joined with B"),
            ],
            input2=[
                (at("2020-01-02 00:00:10"), "abc", "A"),
                (at("2020-01-02 00:59:59"), "abc", "B"),
                (at("2020-01-02 02:00:00"), "abc", "C"),
            ],
        )
        assert in_order(feeds.run(result).rows()) == [(first, 1), (second, 1)]
        feeds.land(
            input1=[(at("2020-01-05 00:00:00"), "abc", "joined with D")],
            input2=[(at("2020-01-05 00:00:10"), "abc", "D")],
        )
        run = feeds.run(result)
        assert run.rows() == [(third, 1)]
        assert operators(run) == ["stateStoreSave", "streamJoin"]

    def test_left_join_with_one_inequality_requires_a_retention(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """From "stream-stream time interval left outer join (left side condition) -> ..." there.

        Spark stores right rows for ever. Here the query must state a limit.
        """
        columns = "id INT, ts TIMESTAMP"
        feeds = Feeds(spark, tmp_path, input1=columns, input2=columns)
        impressions = feeds.stream("input1").withWatermark("ts", "1 hour").alias("tb1")
        clicks = feeds.stream("input2").withWatermark("ts", "1 hour").alias("tb2")
        on = "tb1.id == tb2.id AND tb1.ts + interval 5 minutes > tb2.ts"
        with pytest.raises(AnalysisException) as refused:
            stream_join(impressions, clicks, on, "left")
        assert refused.value.getCondition() == "STREAM_JOIN.UNBOUNDED_STATE"
        joined = stream_join(impressions, clicks, on, "left", retention="30 minutes")
        feeds.land(input1=self.seen("01:30", "03:30", "05:30"), input2=self.clicked())
        run = feeds.run(self.counted(joined, "tb1.ts", "5 minutes"))
        assert in_order(run.rows()) == [
            (at("2022-01-01 01:30:00"), 1),
            (at("2022-01-01 03:30:00"), 1),
        ]

    @staticmethod
    def seen(*clocks: str) -> list[Row]:
        return [
            (number, at(f"2022-01-01 {clock}:55"))
            for number, clock in zip((1, 2, 4), clocks, strict=True)
        ]

    @staticmethod
    def clicked() -> list[Row]:
        clocks = {1: "01:31", 3: "02:40", 6: "05:30"}
        return [(number, at(f"2022-01-01 {clock}:55")) for number, clock in clocks.items()]


def at(text: str) -> int:
    """Milliseconds since 1970."""
    return round(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp() * 1000)
