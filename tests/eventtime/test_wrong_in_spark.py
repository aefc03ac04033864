"""Spark's join returns wrong rows if each row has its bound in a column; this join does not.

Both run the same query; only `spark.sql.streamJoin.replaceBuiltin` differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.orders import at
from tests.streams import Landing, Run

SETTING = "spark.sql.streamJoin.replaceBuiltin"


class Auctions:
    """Auctions with an end time each, and bids on them."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session = session
        self.folder = folder
        self.auctions = Landing(
            session, folder / "auctions", "id INT, t TIMESTAMP, expires TIMESTAMP"
        )
        self.bids = Landing(session, folder / "bids", "auction INT, t TIMESTAMP")

    def joined(self, how: str, read: str = "readStream") -> DataFrame:
        """The join of the streams or, with `read="read"`, of the same files as tables."""
        auction, bid = (
            getattr(self.session, read)
            .schema(each.schema)
            .json(str(each.folder))
            .withWatermark("t", "0 seconds")
            .alias(name)
            for each, name in [(self.auctions, "auction"), (self.bids, "bid")]
        )
        within = F.expr("id = auction AND bid.t BETWEEN auction.t AND auction.expires")
        joined: DataFrame = auction.join(bid, within, how).select("id", "bid.t")
        return joined

    def as_tables(self, how: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.joined(how, "read").collect()]

    def steps(self, how: str) -> Run:
        """Run the streams to the end: auctions 1 and 6 last all day, the others are short."""
        run = Run(self.joined(how), self.folder / "checkpoint")
        for auctions, bids in [
            (
                [(1, "10:00", "18:00"), (2, "10:00", "10:30"), (6, "10:00", "18:00")],
                [(1, "10:10")],
            ),
            ([(3, "12:00", "12:30")], [(1, "12:00")]),
            ([(4, "14:00", "14:30")], [(1, "13:00"), (6, "13:00"), (1, "14:00")]),
            ([(5, "21:00", "21:00")], [(1, "17:59"), (1, "18:01"), (5, "21:00")]),
            ([(9, "23:40", "23:40")], [(9, "23:40"), (8, "23:50")]),
        ]:
            self.auctions.land(*({"id": i, "t": at(t), "expires": at(e)} for i, t, e in auctions))
            self.bids.land(*({"auction": i, "t": at(t)} for i, t in bids))
            run.step()
        return run


def clocks(rows: list[tuple[Any, ...]]) -> list[tuple[int, str | None]]:
    return sorted(((i, t and t.strftime("%H:%M")) for i, t in rows), key=str)


@pytest.fixture
def replaced(spark: SparkSession) -> Iterator[None]:
    spark.conf.set(SETTING, "true")
    yield
    spark.conf.unset(SETTING)


# Spark takes the bound on `expires` for one on `t`. It evicts an auction when the watermark passes
# its start, so later bids are lost, and the left join reports the auction as unmatched.
WRONG = [(1, "10:10"), (1, "12:00"), (5, "21:00"), (9, "23:40")]
WRONG_UNMATCHED = [(2, None), (3, None), (4, None), (6, None)]

RIGHT = [*WRONG, (1, "13:00"), (1, "14:00"), (1, "17:59"), (6, "13:00")]
UNMATCHED = [(2, None), (3, None), (4, None)]

BOTH = pytest.mark.parametrize(
    ("how", "wrong", "right"),
    [("inner", WRONG, RIGHT), ("left", WRONG + WRONG_UNMATCHED, RIGHT + UNMATCHED)],
)


@BOTH
def test_spark_join_loses_matches_and_emits_wrong_padded_rows(
    spark: SparkSession, tmp_path: Path, how: str, wrong: Any, right: Any
) -> None:
    auctions = Auctions(spark, tmp_path)
    run = auctions.steps(how)
    assert run.operator("symmetricHashJoin")
    assert clocks(run.rows()) == sorted(wrong, key=str)
    assert clocks(auctions.as_tables(how)) == sorted(right, key=str)


@BOTH
def test_replaced_join_equals_the_batch_join(
    spark: SparkSession, tmp_path: Path, replaced: None, how: str, wrong: Any, right: Any
) -> None:
    auctions = Auctions(spark, tmp_path)
    run = auctions.steps(how)
    assert run.operator("streamJoin")
    assert clocks(run.rows()) == clocks(auctions.as_tables(how)) == sorted(right, key=str)
    # Only auctions that are still open are buffered.
    assert [each["customMetrics"]["bufferedRowsLeft"] for each in run.operators()] == [
        3,
        3,
        3,
        1,
        0,
    ]
