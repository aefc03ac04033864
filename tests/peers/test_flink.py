"""Ported tests of Flink's SQL interval joins that run a query.

Processing time has no equivalent here, so its tests are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.peers.feeds import Feeds, Row, Rows, in_order
from tests.peers.flink import SECOND, THE_END, tables
from tests.streams import Run


class TestIntervalJoinITCase:
    """org.apache.flink.table.planner.runtime.stream.sql.IntervalJoinITCase"""

    IDS = "key STRING, id STRING, rowtime TIMESTAMP"
    INNER_LEFT: ClassVar[list[Row]] = [
        ("A", "LEFT0.999", 999),
        ("A", "LEFT1", 1000),
        ("A", "LEFT2", 2000),
        ("A", "LEFT3", 3000),
        ("B", "LEFT4", 4000),
        ("A", "LEFT5", 5000),
        ("A", "LEFT6", 6000),
        (None, "LEFT8", 8000),
    ]
    INNER_RIGHT: ClassVar[list[Row]] = [
        ("A", "RIGHT6", 6000),
        ("B", "RIGHT7", 7000),
        (None, "RIGHT10", 10000),
    ]

    @staticmethod
    def feeds(
        session: SparkSession,
        folder: Path,
        columns: str,
        left: Rows,
        right: Rows,
        end: Sequence[Any] | None = None,
    ) -> Feeds:
        """The right rows arrive between the first and the second half of the left rows.

        `end` adds a last row to each input that matches nothing.
        """
        feeds = Feeds(session, folder, left_rows=columns, right_rows=columns)
        half = len(left) // 2
        feeds.land(left_rows=left[:half])
        feeds.land(right_rows=right)
        last = [("~l", *end)] if end else [], [("~r", *end)] if end else []
        feeds.land(left_rows=[*left[half:], *last[0]], right_rows=last[1])
        tables(session, T1="left_rows", T2="right_rows")
        return feeds

    def test_inner_joins_with_null_safe_or_no_equality(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """The Flink tests named in the keys."""
        feeds = self.feeds(spark, tmp_path, self.IDS, self.INNER_LEFT, self.INNER_RIGHT)
        conditions = {
            "testRowTimeInnerJoin": "t1.key = t2.key AND",
            "testRowTimeInnerJoinWithIsNotDistinctFrom": "t1.key IS NOT DISTINCT FROM t2.key AND",
            "testRowTimeInnerJoinWithoutEqualCondition": "",
        }
        results = {
            name: spark.sql(
                f"SELECT t2.key, t2.id, t1.id FROM T1 AS t1 JOIN T2 AS t2 ON {condition} "
                "t1.rowtime BETWEEN t2.rowtime - INTERVAL '5' SECOND "
                "AND t2.rowtime + INTERVAL '6' SECOND"
            )
            for name, condition in conditions.items()
        }
        equal = [
            *(("A", "RIGHT6", f"LEFT{n}") for n in (1, 2, 3, 5, 6)),
            ("B", "RIGHT7", "LEFT4"),
        ]
        assert feeds.run_all(results) == {
            "testRowTimeInnerJoin": equal,
            "testRowTimeInnerJoinWithIsNotDistinctFrom": in_order(
                [*equal, (None, "RIGHT10", "LEFT8")]
            ),
            "testRowTimeInnerJoinWithoutEqualCondition": in_order(
                [
                    *(("A", "RIGHT6", f"LEFT{n}") for n in (1, 2, 3, 4, 5, 6, 8)),
                    *(("B", "RIGHT7", f"LEFT{n}") for n in (2, 3, 4, 5, 6, 8)),
                    *((None, "RIGHT10", f"LEFT{n}") for n in (5, 6, 8)),
                ]
            ),
        }

    def test_unwindowed_aggregation_above_an_inner_join(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """testUnboundedAggAfterRowtimeInnerJoin, with sizes of sets instead of COUNT(DISTINCT)"""
        self.feeds(spark, tmp_path, self.IDS, self.INNER_LEFT, self.INNER_RIGHT)
        counts: dict[str, Row] = {}

        def keep(batch: DataFrame, _: int) -> None:
            counts.update({row.key: (row.n1, row.n2) for row in batch.collect()})

        result = spark.sql(
            "SELECT t1.key, size(collect_set(t2.id)) AS n1, size(collect_set(t1.id)) AS n2 "
            "FROM T1 AS t1 JOIN T2 AS t2 ON t1.key = t2.key AND t1.rowtime "
            "BETWEEN t2.rowtime - INTERVAL '5' SECOND AND t2.rowtime + INTERVAL '6' SECOND "
            "GROUP BY t1.key"
        )
        query = (
            result.writeStream.outputMode("update")
            .foreachBatch(keep)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        assert counts == {"A": (1, 5), "B": (1, 1)}

    def test_join_on_equal_times_drops_late_rows(self, spark: SparkSession, tmp_path: Path) -> None:
        """From testRowTimeInnerJoinWithEquiTimeAttrs.

        Flink's test has two discarded rows commented out. Here they arrive in later batches, late.
        """
        columns = "key STRING, rowtime TIMESTAMP, val STRING"
        feeds = Feeds(spark, tmp_path, left_rows=columns, right_rows=columns)
        left = [("K1", 1000, f"L{n}") for n in (1, 2, 3)]
        left += [("K2", 2000, "L4"), ("K1", 4000, "L5")]
        right = [("K1", 1000, f"R{n}") for n in (1, 2, 3)]
        right += [("K2", 3000, "R4"), ("K1", 4000, "R5"), ("K1", 6000, "R6"), ("K1", 5001, "R7")]
        feeds.land(left_rows=left, right_rows=right)
        feeds.land(left_rows=[("K1", 1000, "discarded"), ("K1", 6000, "L7"), ("K1", 5001, "L8")])
        feeds.land(left_rows=[("K2", 1000, "discarded")])
        tables(spark, "INTERVAL '1' SECOND", T1="left_rows", T2="right_rows")
        query = (
            "SELECT t1.key, t1.rowtime, t1.val, t2.val FROM T1 AS t1 JOIN T2 AS t2 ON "
            "t1.key = t2.key AND t2.rowtime = t1.rowtime"
        )
        run = feeds.run(spark.sql(query))
        assert in_order(run.rows()) == [
            *(("K1", 1000, f"L{n}", f"R{m}") for n in (1, 2, 3) for m in (1, 2, 3)),
            ("K1", 4000, "L5", "R5"),
            ("K1", 5001, "L8", "R7"),
            ("K1", 6000, "L7", "R6"),
        ]
        assert run.total("lateRowsLeft") == 2

    NUMBERS = "a INT, b BIGINT, c STRING, rowtime TIMESTAMP"
    OTHER_RIGHT: ClassVar[list[Row]] = [
        (1, 1, "RIGHT1", 1000),
        (1, 9, "RIGHT6", 6000),
        (2, 14, "RIGHT7", 7000),
        (1, 4, "RIGHT8", 8000),
    ]

    @pytest.mark.parametrize(
        ("condition", "left", "expected"),
        [
            pytest.param(
                "t1.rowtime > t2.rowtime - INTERVAL '5' SECOND "
                "AND t1.rowtime < t2.rowtime - INTERVAL '1' SECOND AND t1.b < t2.b AND t1.b > 2",
                [
                    (1, 4, "LEFT1", 1000),
                    (1, 8, "LEFT1.1", 1001),
                    (1, 2, "LEFT2", 2000),
                    (1, 7, "LEFT3", 3000),
                    (2, 5, "LEFT4", 4000),
                    (1, 4, "LEFT4.9", 4999),
                    (1, 4, "LEFT5", 5000),
                    (1, 10, "LEFT6", 6000),
                ],
                [
                    (1, "LEFT1.1", "RIGHT6"),
                    (1, "LEFT3", "RIGHT6"),
                    (1, "LEFT4.9", "RIGHT6"),
                    (2, "LEFT4", "RIGHT7"),
                ],
                id="testRowTimeInnerJoinWithOtherConditions",
            ),
            pytest.param(
                "t1.rowtime > t2.rowtime - INTERVAL '4' SECOND AND t1.rowtime < t2.rowtime "
                "AND quarter(t1.rowtime) = t2.a",
                [
                    (1, 4, "LEFT1", 1000),
                    (1, 2, "LEFT2", 2000),
                    (1, 7, "LEFT3", 3000),
                    (2, 5, "LEFT4", 4000),
                    (1, 4, "LEFT5", 5000),
                    (1, 10, "LEFT6", 6000),
                ],
                [
                    (1, "LEFT3", "RIGHT6"),
                    (1, "LEFT5", "RIGHT6"),
                    (1, "LEFT5", "RIGHT8"),
                    (1, "LEFT6", "RIGHT8"),
                ],
                id="testRowTimeInnerJoinWithOtherTimeCondition",
            ),
        ],
    )
    def test_inner_joins_with_additional_conditions(
        self,
        spark: SparkSession,
        tmp_path: Path,
        condition: str,
        left: list[Row],
        expected: list[Row],
    ) -> None:
        """The Flink test named in the parameter id."""
        feeds = self.feeds(spark, tmp_path, self.NUMBERS, left, self.OTHER_RIGHT)
        query = (
            f"SELECT t2.a, t1.c, t2.c FROM T1 AS t1 JOIN T2 AS t2 ON t1.a = t2.a AND {condition}"
        )
        assert feeds.sql(query) == expected

    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            pytest.param(
                "t1",
                "t2",
                [("A", 4000, 3), ("A", 12000, 2), ("A", 16000, 1), ("B", 8000, 1)],
                id="testRowTimeInnerJoinWithWindowAggregateOnFirstTime",
            ),
            pytest.param(
                "t2",
                "t1",
                [("A", 8000, 3), ("A", 12000, 3), ("B", 8000, 1)],
                id="testRowTimeInnerJoinWithWindowAggregateOnSecondTime",
            ),
        ],
    )
    def test_window_aggregation_above_an_inner_join(
        self, spark: SparkSession, tmp_path: Path, first: str, second: str, expected: list[Row]
    ) -> None:
        """The Flink test named in the parameter id."""
        left = [
            ("A", "L-1", 1000),
            ("A", "L-2", 2000),
            ("A", "L-3", 3000),
            ("B", "L-4", 4000),
            ("C", "L-5", 4000),
            ("A", "L-6", 10000),
            ("A", "L-7", 13000),
        ]
        right = [("A", "R-1", 7000), ("B", "R-4", 7000), ("A", "R-3", 8000), ("D", "R-2", 8000)]
        feeds = self.feeds(spark, tmp_path, self.IDS, left, right, end=("", THE_END))
        query = (
            f"SELECT {first}.key, window({first}.rowtime, '4 seconds').end, count({second}.key) "
            "FROM T1 AS t1 JOIN T2 AS t2 ON t1.key = t2.key AND t1.rowtime "
            "BETWEEN t2.rowtime - INTERVAL '5' SECOND AND t2.rowtime + INTERVAL '5' SECOND "
            f"GROUP BY window({first}.rowtime, '4 seconds'), {first}.key"
        )
        assert feeds.sql(query) == in_order(expected)

    OUTER_LEFT: ClassVar[list[Row]] = [
        ("A", "L-1", 1000),
        ("A", "L-2", 2000),
        ("B", "L-4", 4000),
        ("B", "L-5", 5000),
        ("A", "L-6", 6000),
        ("C", "L-7", 7000),
        ("A", "L-10", 10000),
        ("A", "L-12", 12000),
        ("A", "L-20", 20000),
    ]

    @pytest.mark.parametrize(
        ("how", "condition", "left", "right", "expected"),
        [
            pytest.param(
                "LEFT",
                "t1.id <> 'L-5'",
                OUTER_LEFT,
                [
                    ("A", "R-6", 6000),
                    ("B", "R-7", 7000),
                    ("D", "R-8", 8000),
                    ("A", "R-11", 11000),
                ],
                [
                    *(("A", "R-6", f"L-{n}") for n in (1, 2, 6, 10, 12)),
                    ("B", "R-7", "L-4"),
                    *(("A", "R-11", f"L-{n}") for n in (6, 10, 12)),
                    *((None, None, f"L-{n}") for n in (5, 7, 20)),
                ],
                id="testRowTimeLeftOuterJoin",
            ),
            pytest.param(
                "RIGHT",
                "t2.id <> 'R-5'",
                [row for row in OUTER_LEFT if row[1] not in ("L-5", "L-20")],
                [
                    ("A", "R-5", 5000),
                    ("A", "R-6", 6000),
                    ("B", "R-7", 7000),
                    ("D", "R-8", 8000),
                    ("A", "R-20", 20000),
                ],
                [
                    ("A", "R-5", None),
                    *(("A", "R-6", f"L-{n}") for n in (1, 2, 6, 10, 12)),
                    ("A", "R-20", None),
                    ("B", "R-7", "L-4"),
                    ("D", "R-8", None),
                ],
                id="testRowTimeRightOuterJoin",
            ),
            pytest.param(
                "FULL",
                "NOT (t1.id = 'L-5' OR t2.id = 'R-5')",
                OUTER_LEFT,
                [("A", "R-5", 5000), ("A", "R-6", 6000), ("B", "R-7", 7000), ("D", "R-8", 8000)],
                [
                    *(("A", "R-6", f"L-{n}") for n in (1, 2, 6, 10, 12)),
                    ("B", "R-7", "L-4"),
                    ("A", "R-5", None),
                    ("D", "R-8", None),
                    *((None, None, f"L-{n}") for n in (5, 7, 20)),
                ],
                id="testRowTimeFullOuterJoin",
            ),
        ],
    )
    def test_outer_joins_with_one_sided_conditions(
        self,
        spark: SparkSession,
        tmp_path: Path,
        how: str,
        condition: str,
        left: list[Row],
        right: list[Row],
        expected: list[Row],
    ) -> None:
        """The Flink test named in the parameter id."""
        feeds = self.feeds(spark, tmp_path, self.IDS, left, right, end=("", THE_END))
        query = (
            f"SELECT t2.key, t2.id, t1.id FROM T1 AS t1 {how} OUTER JOIN T2 AS t2 ON "
            "t1.key = t2.key AND t1.rowtime BETWEEN t2.rowtime - INTERVAL '5' SECOND "
            f"AND t2.rowtime + INTERVAL '6' SECOND AND {condition}"
        )
        assert feeds.sql(query) == in_order(expected)

    @pytest.mark.parametrize(
        ("how", "bounds"),
        [
            pytest.param("LEFT", (3, 1), id="testRowTimeLeftOuterJoinNegativeIntervalSize"),
            pytest.param("RIGHT", (5, 1), id="testRowTimeRightOuterJoinNegativeIntervalSize"),
            pytest.param("FULL", (5, 4), id="testRowTimeFullOuterJoinNegativeIntervalSize"),
        ],
    )
    def test_outer_joins_with_empty_intervals_emit_all_rows_unmatched(
        self, spark: SparkSession, tmp_path: Path, how: str, bounds: tuple[int, int]
    ) -> None:
        """The Flink test named in the parameter id; the rows are emitted at once."""
        left = [("A", "L-1", 1000), ("B", "L-4", 4000), ("C", "L-7", 7000)]
        right = [("A", "R-6", 6000), ("B", "R-7", 7000), ("D", "R-8", 8000)]
        feeds = self.feeds(spark, tmp_path, self.IDS, left, right)
        query = (
            f"SELECT t2.key, t2.id, t1.id FROM T1 AS t1 {how} OUTER JOIN T2 AS t2 ON "
            f"t1.key = t2.key AND t1.rowtime BETWEEN t2.rowtime + INTERVAL '{bounds[0]}' SECOND "
            f"AND t2.rowtime + INTERVAL '{bounds[1]}' SECOND"
        )
        expected: list[Row] = []
        if how != "RIGHT":
            expected += [(None, None, name) for _, name, _ in left]
        if how != "LEFT":
            expected += [(key, name, None) for key, name, _ in right]
        run = feeds.run(spark.sql(query))
        assert in_order(run.rows()) == in_order(expected)
        assert run.operator()["numRowsTotal"] == 0


class TestIntervalJoinPrograms:
    """org.apache.flink.table.planner.plan.nodes.exec.stream.IntervalJoinTestPrograms"""

    @pytest.mark.parametrize(
        ("query", "before", "after"),
        [
            pytest.param(
                "JOIN shipments_t s ON o.id = s.order_id WHERE o.rowtime "
                "BETWEEN s.rowtime - INTERVAL '5' SECOND AND s.rowtime + INTERVAL '5' SECOND",
                [(1, 1, 2), (2, 2, 5), (5, 5, 6)],
                [(10, 11, 16)],
                id="INTERVAL_JOIN_EVENT_TIME",
            ),
            pytest.param(
                "LEFT OUTER JOIN shipments_t s ON o.id = s.order_id AND o.rowtime "
                "BETWEEN s.rowtime + INTERVAL '10' SECOND AND s.rowtime + INTERVAL '5' SECOND",
                [(n, n, None) for n in (1, 2, 3, 4, 5)],
                [(7, 9, None), (10, 11, None)],
                id="INTERVAL_JOIN_NEGATIVE_INTERVAL",
            ),
        ],
    )
    def test_interval_join_continues_after_a_restart(
        self,
        spark: SparkSession,
        tmp_path: Path,
        query: str,
        before: list[Row],
        after: list[Row],
    ) -> None:
        """The program named in the parameter id, with a restart in the middle."""
        feeds = Feeds(
            spark,
            tmp_path,
            orders="id INT, rowtime TIMESTAMP",
            shipments="id INT, order_id INT, rowtime TIMESTAMP",
        )
        tables(spark, "INTERVAL '1' SECOND", orders_t="orders", shipments_t="shipments")
        result = spark.sql(
            f"SELECT o.id, unix_seconds(o.rowtime), unix_seconds(s.rowtime) FROM orders_t o {query}"
        )
        run = Run(result, tmp_path / "checkpoint")
        feeds.land(
            orders=[(n, n * SECOND) for n in (1, 2, 4, 5, 3)],
            shipments=[
                (number, order_id, second * SECOND)
                for number, order_id, second in [
                    (2, 1, 2),
                    (5, 2, 5),
                    (6, 5, 6),
                    (15, 4, 15),
                    (16, 6, 15),
                ]
            ],
        )
        run.step()
        assert in_order(run.rows()) == before
        feeds.land(
            orders=[(7, 9 * SECOND), (10, 11 * SECOND)],
            shipments=[
                (number, order_id, second * SECOND)
                for number, order_id, second in [(7, 3, 15), (11, 7, 16), (13, 10, 16)]
            ],
        )
        output = run.step()
        assert in_order([row for rows in output.values() for row in rows]) == in_order(after)
