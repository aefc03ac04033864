"""Ported tests of Hazelcast's IMPOSE_ORDER and of late items."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.sql import SparkSession

from tests.peers.feeds import Feeds, Harness, Row, in_order
from tests.peers.hazelcast import millis, ordered, refusal


class TestImposeOrder:
    """com.hazelcast.jet.sql.impl.SqlImposeOrderFunctionTest"""

    PEOPLE: ClassVar[list[Row]] = [(0, "Alice"), (1, None), (2, "Bob")]

    @pytest.fixture
    def people(self, spark: SparkSession, tmp_path: Path) -> Feeds:
        return Feeds(spark, tmp_path, people="ts TIMESTAMP, name STRING")

    @pytest.mark.parametrize(
        ("kind", "lag"),
        [
            ("TINYINT", "1"),
            ("SMALLINT", "2"),
            ("INT", "3"),
            ("BIGINT", "4"),
            ("DATE", millis(6)),
            ("TIMESTAMP_NTZ", millis(7)),
            ("TIMESTAMP", millis(8)),
        ],
    )
    def test_impose_order_accepts_valid_lags(
        self, numbers: str, spark: SparkSession, kind: str, lag: str
    ) -> None:
        """test_validArguments"""
        stream = f"SELECT CAST(NULL AS {kind}) AS ts FROM {numbers}"
        assert spark.sql(ordered("ts", lag, stream)).isStreaming

    @pytest.mark.parametrize(
        ("kind", "lag", "condition"),
        [
            ("TINYINT", millis(1), "INVALID_LAG"),
            ("SMALLINT", millis(2), "INVALID_LAG"),
            ("INT", millis(3), "INVALID_LAG"),
            ("BIGINT", millis(4), "INVALID_LAG"),
            ("DECIMAL(9)", millis(5), "UNSUPPORTED_TIME_TYPE"),
            ("DECIMAL(9)", "6", "UNSUPPORTED_TIME_TYPE"),
            ("FLOAT", millis(7), "UNSUPPORTED_TIME_TYPE"),
            ("FLOAT", "8", "UNSUPPORTED_TIME_TYPE"),
            ("DOUBLE", millis(9), "UNSUPPORTED_TIME_TYPE"),
            ("DOUBLE", "10", "UNSUPPORTED_TIME_TYPE"),
            ("TIME", millis(5), "UNSUPPORTED_TIME_TYPE"),
            ("TIME", "11", "UNSUPPORTED_TIME_TYPE"),
            ("DATE", "12", "INVALID_LAG"),
            ("TIMESTAMP_NTZ", "13", "INVALID_LAG"),
            ("TIMESTAMP", "14", "INVALID_LAG"),
        ],
    )
    def test_impose_order_refuses_invalid_lags_and_types(
        self, numbers: str, spark: SparkSession, kind: str, lag: str, condition: str
    ) -> None:
        """test_invalidArguments, and the TIME type"""
        stream = f"SELECT CAST(NULL AS {kind}) AS ts FROM {numbers}"
        found = refusal(spark, ordered("ts", lag, stream))
        assert found.removeprefix("STREAM_JOIN.") == condition

    @pytest.fixture
    def numbers(self, spark: SparkSession, tmp_path: Path) -> str:
        Feeds(spark, tmp_path, s="n INT")
        return "s"

    def test_nested_orders_use_the_longer_lag(self, people: Feeds) -> None:
        """test_layeredInvocations: Hazelcast refuses; here the longer lag applies."""
        inner = ordered("ts", millis(1), "people")
        outer = ordered("ts", millis(5), inner)
        people.land(people=[(10, "a")])
        # below the 9 of the inner order and the 5 of the outer one
        people.land(people=[(7, "b"), (4, "c")])
        run = people.run(
            people.session.sql(f"SELECT ts FROM ({outer}) l JOIN ({outer}) r USING (ts)")
        )
        assert in_order(run.rows()) == [(10,), (7,)]
        assert run.total("lateRowsLeft") == 1

    @pytest.mark.parametrize("columns", ["", "ts, ts"])
    def test_impose_order_refuses_zero_or_two_columns(self, people: Feeds, columns: str) -> None:
        """test_singleColumn"""
        query = f"SELECT * FROM IMPOSE_ORDER(TABLE(people), DESCRIPTOR({columns}), {millis(1)})"
        assert refusal(people.session, query) == "STREAM_JOIN.INVALID_IMPOSE_ORDER"

    def test_impose_order_on_filtered_and_projected_inputs(self, people: Feeds) -> None:
        """The Hazelcast tests named in the keys; the argument time_col is named column here."""
        people.land(people=self.PEOPLE)
        arguments = {
            "test_filteredInput": "TABLE(SELECT * FROM people WHERE name != 'Alice'), "
            "DESCRIPTOR(ts), {lag}",
            "test_projectedInput": "TABLE(SELECT ts FROM people), DESCRIPTOR(ts), {lag}",
            "test_filteredAndProjectedInput": "TABLE(SELECT ts FROM people "
            "WHERE name != 'Alice'), DESCRIPTOR(ts), {lag}",
            "test_namedParameters": "lag => {lag}, input => TABLE people, column => DESCRIPTOR(ts)",
        }
        results = {
            name: people.session.sql(
                f"SELECT * FROM TABLE(IMPOSE_ORDER({call.format(lag=millis(1))}))"
            )
            for name, call in arguments.items()
        }
        assert people.run_all(results) == {
            "test_filteredInput": [(2, "Bob")],
            "test_projectedInput": [(0,), (1,), (2,)],
            "test_filteredAndProjectedInput": [(2,)],
            "test_namedParameters": in_order(self.PEOPLE),
        }

    @pytest.mark.parametrize(
        ("lag", "before", "last", "late"),
        [
            pytest.param(1, (28, 27, 30, 30, 31), 29, 1, id="test_lateItemsDropping"),
            pytest.param(
                5, (28, 29, 30, 30, 31), 27, 0, id="test_lateItemsDidNotDropWithAllowedLag"
            ),
            pytest.param(5, (28, 29, 30, 30, 31), 15, 1, id="test_lateItemsDropWithAllowedLag"),
        ],
    )
    def test_join_drops_rows_late_by_the_lag(
        self, people: Feeds, lag: int, before: tuple[int, ...], last: int, late: int
    ) -> None:
        """The Hazelcast test named in the id: the join drops late rows, not the order."""
        people.land(people=[(time, str(n)) for n, time in enumerate(before)])
        people.land(people=[(last, "Zedd")])
        order = ordered("ts", millis(lag), "people")
        query = (
            f"SELECT l.ts, l.name FROM ({order}) l LEFT SEMI JOIN ({order}) r "
            "ON l.ts = r.ts AND l.name = r.name"
        )
        run = people.run(people.session.sql(query), "joined")
        assert ((last, "Zedd") in run.rows()) == (late == 0)
        assert len(run.rows()) == len(before) + 1 - late
        assert run.total("lateRowsLeft") == late


class TestLateItemsDrop:
    """com.hazelcast.jet.sql.impl.processors.LateItemsDropPTest"""

    def test_rows_late_by_one_time_are_emitted(self, spark: SparkSession, tmp_path: Path) -> None:
        """when_noEventIsLate_, when_oneEventIsLate_ and when_fewEventsAreLate_then_dropEvents"""
        harness = Harness(spark, tmp_path, left=("t", "n"))
        harness.step(left=[("k", 0, 1), ("k", 1, 2), ("k", 2, 2)], left_watermark={"t": 3})
        harness.step(left=[("k", 2, 2), ("k", 1, 3)], left_watermark={"t": 5})
        harness.step(left=[("k", 5, 5)])
        trace = harness.run("inner", "l.t = r.t", late="emit")
        late = [row[:3] for rows in trace.out for row in rows]
        assert in_order(late) == [("k", 1, 3), ("k", 2, 2)]
        assert trace.total("lateRowsLeft") == 2

    def test_row_late_by_either_of_two_times_names_the_column(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        """when_bothEventsAreLateByDifferent_then_dropEvent"""
        harness = Harness(spark, tmp_path, left=("t", "u"))
        harness.step(left=[("k", 0, 1), ("k", 1, 2)], left_watermark=3)
        harness.step(left=[("k", 1, 4), ("k", 4, 1)])
        trace = harness.run("inner", "l.t = r.t", late="emit")
        reasons = [(*row[:3], row[-1].column) for row in trace.out[1]]
        assert reasons == [("k", 1, 4, "l.t"), ("k", 4, 1, "u")]
