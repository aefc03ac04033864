"""Where Spark's own join gives wrong rows: a bound that each row brings along.

The text of the join is one and the same; only `spark.sql.streamJoin.replaceBuiltin` differs.
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
    """Auctions that each say when they end, and bids on them."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session = session
        self.folder = folder
        self.auctions = Landing(
            session, folder / "auctions", "id INT, t TIMESTAMP, expires TIMESTAMP"
        )
        self.bids = Landing(session, folder / "bids", "auction INT, t TIMESTAMP")

    def joined(self, how: str, read: str = "readStream") -> DataFrame:
        """Of the streams or, with `read`, of the same files as tables."""
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
        """Run the streams to their end: auctions 1 and 6 are open all day, the others are short."""
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


# Spark takes the bound on `expires` for one on `t`: an auction goes when the watermark passes its
# start, the bids it would still have met are lost, and a left join says that there were none
WRONG = [(1, "10:10"), (1, "12:00"), (5, "21:00"), (9, "23:40")]
WRONG_UNMATCHED = [(2, None), (3, None), (4, None), (6, None)]

RIGHT = [*WRONG, (1, "13:00"), (1, "14:00"), (1, "17:59"), (6, "13:00")]
UNMATCHED = [(2, None), (3, None), (4, None)]

BOTH = pytest.mark.parametrize(
    ("how", "wrong", "right"),
    [("inner", WRONG, RIGHT), ("left", WRONG + WRONG_UNMATCHED, RIGHT + UNMATCHED)],
)


@BOTH
def test_sparks_own_join_loses_rows_and_makes_some_up(
    spark: SparkSession, tmp_path: Path, how: str, wrong: Any, right: Any
) -> None:
    auctions = Auctions(spark, tmp_path)
    run = auctions.steps(how)
    assert run.operator("symmetricHashJoin")
    assert clocks(run.rows()) == sorted(wrong, key=str)
    assert clocks(auctions.as_tables(how)) == sorted(right, key=str)


@BOTH
def test_this_projects_join_gives_what_the_tables_give(
    spark: SparkSession, tmp_path: Path, replaced: None, how: str, wrong: Any, right: Any
) -> None:
    auctions = Auctions(spark, tmp_path)
    run = auctions.steps(how)
    assert run.operator("streamJoin")
    assert clocks(run.rows()) == clocks(auctions.as_tables(how)) == sorted(right, key=str)
    # of the auctions only those are kept that are open still
    assert [each["customMetrics"]["bufferedRowsLeft"] for each in run.operators()] == [
        3,
        3,
        3,
        1,
        0,
    ]
