"""Ported tests of DataFusion's symmetric hash join, which prunes by sorted columns.

DataFusion compares with a hash join; these tests compare with Spark's join of tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin import impose_order, stream_join
from tests.peers.feeds import Feeds, Row, in_order, with_millis

SIZE = 30
BATCH = 10
NULLS = 12
START = 1672531200000

# last row of each input, with a key that matches nothing
LEFT_END, RIGHT_END = -1, -2

COLUMNS = {
    "a": "INT",
    "key": "INT",
    "at": "TIMESTAMP",
    "descending": "INT",
    "nulls_first": "INT",
    "nulls_last": "INT",
    "nulls_first_descending": "INT",
    "twice": "INT",
}
END = 1_000_000


def rows(keys: int) -> list[Row]:
    """joins/test_utils.rs, build_sides_record_batches"""
    tail = list(range(NULLS, SIZE))
    blank = [None] * NULLS
    first, last, down = [*blank, *tail], [*tail, *blank], [*blank, *reversed(tail)]
    return [
        (n, n % keys, START + n, SIZE - 1 - n, first[n], last[n], down[n], 2 * n)
        for n in range(SIZE)
    ]


def end(key: int) -> Row:
    return (END, key, START + END, END, END, END, END, END)


JOINS = {
    "inner": "SELECT l.a, l.key, r.a, r.key FROM {l} l JOIN {r} r ON {on}",
    "left": "SELECT l.a, l.key, r.a, r.key FROM {l} l LEFT JOIN {r} r ON {on}",
    "right": "SELECT l.a, l.key, r.a, r.key FROM {l} l RIGHT JOIN {r} r ON {on}",
    "full": "SELECT l.a, l.key, r.a, r.key FROM {l} l FULL JOIN {r} r ON {on}",
    "left semi": "SELECT l.a, l.key, 0, 0 FROM {l} l LEFT SEMI JOIN {r} r ON {on}",
    "left anti": "SELECT l.a, l.key, 0, 0 FROM {l} l LEFT ANTI JOIN {r} r ON {on}",
    "right semi": "SELECT r.a, r.key, 0, 0 FROM {r} r LEFT SEMI JOIN {l} l ON {on}",
    "right anti": "SELECT r.a, r.key, 0, 0 FROM {r} r LEFT ANTI JOIN {l} l ON {on}",
}


class Sides:
    """The two inputs, as streams of three batches and as tables."""

    def __init__(self, session: SparkSession, folder: Path, keys: tuple[int, int]) -> None:
        self.session = session
        schema = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        self.feeds = Feeds(session, folder, ls=schema, rs=schema)
        left, right = rows(keys[0]), rows(keys[1])
        left.append(end(LEFT_END))
        right.append(end(RIGHT_END))
        for start in (0, BATCH, 2 * BATCH):
            part = slice(start, start + BATCH if start < 2 * BATCH else None)
            self.feeds.land(ls=left[part], rs=right[part])
        for name in ("ls", "rs"):
            table = session.read.schema(schema).json(str(folder / name))
            table.createOrReplaceTempView(f"{name}_table")

    def order(self, time: str, lag: str, right: str | None = None) -> None:
        for name, column in (("ls", time), ("rs", right or time)):
            self.session.sql(
                f"CREATE OR REPLACE TEMPORARY VIEW {name}_ordered AS "
                f"SELECT * FROM IMPOSE_ORDER(TABLE({name}), DESCRIPTOR({column}), {lag})"
            )

    def check(self, on: str, joins: Sequence[str]) -> None:
        """Compare these join types, in one query each for streams and for tables."""

        def query(kind: str) -> DataFrame:
            return self.session.sql(
                " UNION ALL ".join(
                    f"SELECT '{how}', * FROM "
                    f"({JOINS[how].format(l='ls_' + kind, r='rs_' + kind, on=on)})"
                    for how in joins
                )
            )

        def real(found: Sequence[Row]) -> list[Row]:
            return in_order([row for row in found if not {row[2], row[4]} & {LEFT_END, RIGHT_END}])

        expected = real([tuple(row) for row in with_millis(query("table")).collect()])
        run = self.feeds.run(query("ordered"))
        assert real(run.rows()) == expected
        assert run.total("lateRowsLeft") == run.total("lateRowsRight") == 0


@pytest.fixture(scope="module")
def sides(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Sides:
    return Sides(spark, tmp_path_factory.mktemp("sides"), (4, 5))


@pytest.fixture(autouse=True)
def checkpoint(sides: Sides, tmp_path: Path) -> None:
    sides.feeds.folder = tmp_path


FILTERS = [
    "{l} + 1 > {r} + 5 AND {l} + 3 < {r} + 10",
    "{l} - 1 > {r} + 3 AND {l} + 3 < {r} + 15",
    "{l} - 1 > {r} + 5 AND {l} - 3 < {r} + 10",
    "{l} - 10 > {r} - 5 AND {l} - 3 < {r} + 10",
    "{l} - 10 > {r} - 5 AND {l} - 30 < {r} - 3",
    "{l} - 2 >= {r} + 5 AND {l} + 7 <= {r} - 3",
]


@pytest.mark.parametrize("number", range(len(FILTERS)))
def test_joins_on_ascending_numbers_equal_the_batch_join(sides: Sides, number: int) -> None:
    """symmetric_hash_join.rs, join_all_one_ascending_numeric: three join types for each filter"""
    sides.order("a", "0")
    others = [how for how in JOINS if how != "full"]
    joins = ["full", others[number], others[(number + 3) % len(others)]]
    sides.check("l.key = r.key AND " + FILTERS[number].format(l="l.a", r="r.a"), joins)


@pytest.mark.parametrize(
    ("column", "lag", "number"),
    [
        pytest.param("descending", "30", 0, id="join_all_one_descending_numeric_particular"),
        pytest.param("nulls_first", "0", 1, id="build_null_columns_first"),
        pytest.param("nulls_last", "0", 1, id="build_null_columns_last"),
        pytest.param("nulls_first_descending", "18", 1, id="build_null_columns_first_descending"),
    ],
)
def test_joins_on_descending_or_nullable_numbers_equal_the_batch_join(
    sides: Sides, column: str, lag: str, number: int
) -> None:
    """The DataFusion test named in the parameter id; the lag covers the descending order."""
    sides.order(column, lag)
    on = "l.key = r.key AND " + FILTERS[number].format(l=f"l.{column}", r=f"r.{column}")
    sides.check(on, ["full", "left anti"])


@pytest.mark.parametrize(
    "bounds",
    [
        "l.at - INTERVAL '0.1' SECOND > r.at - INTERVAL '0.2' SECOND "
        "AND l.at - INTERVAL '0.45' SECOND < r.at - INTERVAL '0.3' SECOND",
        "l.at - TIMESTAMP '2023-01-01 12:00:03' > r.at - TIMESTAMP '2023-01-01 12:00:01' "
        "AND l.at - TIMESTAMP '2023-01-01 12:00:00' < r.at - TIMESTAMP '2023-01-01 12:00:02'",
        "l.at - INTERVAL '3' SECOND > r.at - INTERVAL '2' SECOND "
        "AND l.at - INTERVAL '5' SECOND < r.at - INTERVAL '4' SECOND",
    ],
    ids=["intervals", "timestamps", "durations"],
)
def test_joins_on_timestamps_equal_the_batch_join(sides: Sides, bounds: str) -> None:
    """testing_with_temporal_columns"""
    sides.order("at", "INTERVAL '0' SECOND")
    sides.check(f"l.key = r.key AND {bounds}", ["full", "left anti"])


def test_join_on_a_computed_ordered_column_equals_the_batch_join(sides: Sides) -> None:
    """complex_join_all_one_ascending_numeric: its sum is sorted, so the sum gets the order"""
    sides.order("twice", "0", right="a")
    on = "l.key + 1 = r.key AND l.twice > r.a + 10 AND l.twice < r.a + 100"
    sides.check(on, ["full", "left semi", "left anti"])


def refused(sides: Sides, time: str, on: str) -> str:
    left, right = (
        impose_order(sides.feeds.stream(name), time, 0).alias(name[0]) for name in ("ls", "rs")
    )
    with pytest.raises(AnalysisException) as refusal:
        stream_join(left, right, on, "full")
    return str(refusal.value.getCondition()).removeprefix("STREAM_JOIN.")


@pytest.mark.parametrize(
    ("on", "condition"),
    [
        pytest.param("l.key = r.key", "UNBOUNDED_STATE", id="join_without_filter"),
        pytest.param(
            "l.key = r.key AND l.descending > r.descending AND l.descending < r.descending + 10",
            "UNBOUNDED_STATE",
            id="join_no_order_on_filter",
        ),
        pytest.param(
            "l.key = r.key AND l.a + l.twice > r.a + 10 AND l.a + l.twice < r.a + 100",
            "UNBOUNDED_STATE",
            id="complex_join_all_one_ascending_equivalence",
        ),
    ],
)
def test_filter_without_a_usable_bound_is_refused(sides: Sides, on: str, condition: str) -> None:
    """The DataFusion test named in the parameter id: it buffers all rows; this join is refused."""
    assert refused(sides, "a", on) == condition


def test_streams_without_a_watermark_are_refused(sides: Sides) -> None:
    """join_change_in_planner_without_sort_not_allowed and join_without_sort_information"""
    with pytest.raises(AnalysisException) as refusal:
        stream_join(
            sides.feeds.stream("ls").alias("l"),
            sides.feeds.stream("rs").alias("r"),
            "l.key = r.key AND l.a > r.a + 3 AND l.a < r.a + 10",
            "full",
        )
    assert refusal.value.getCondition() == "STREAM_JOIN.MISSING_WATERMARK"


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("DOUBLE", id="testing_ascending_float_pruning"),
        pytest.param("INTERVAL DAY TO SECOND", id="test_with_interval_columns"),
    ],
)
def test_impose_order_refuses_double_and_interval_columns(sides: Sides, kind: str) -> None:
    """The DataFusion test named in the parameter id."""
    stream = sides.feeds.stream("ls").select(F.lit(None).cast(kind).alias("sorted"))
    with pytest.raises(AnalysisException) as refusal:
        impose_order(stream, "sorted", 0)
    assert refusal.value.getCondition() == "STREAM_JOIN.UNSUPPORTED_TIME_TYPE"
