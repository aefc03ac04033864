"""The warm start that a test kills: ``python -m tests.warm.job FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import streamjoin
from tests.orders import Shop
from tests.streams import Run


def query(shop: Shop) -> Run:
    """Two joins, whose states are written one after the other."""
    returned = shop.delivered().alias("r")
    twice = shop.joined("left").result.streamJoin(
        returned,
        "o.id = r.id AND r.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR",
        "left",
    )
    return shop.run(twice)


def histories(shop: Shop, past: Shop) -> list[tuple[DataFrame, DataFrame]]:
    """The live streams, and tables of the files of the other shop."""
    read = shop.session.read
    return [
        (live.stream(), read.schema(live.schema).json(str(table.folder)))
        for live, table in ((shop.orders, past.orders), (shop.deliveries, past.deliveries))
    ]


def warm(shop: Shop, past: Shop) -> Run:
    run = query(shop)
    streamjoin.warm(run.result, run.checkpoint, histories(shop, past))
    return run


def main() -> None:
    folder = Path(sys.argv[1])
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    session = streamjoin.configure(builder).getOrCreate()
    warm(Shop(session, folder / "live"), Shop(session, folder / "past"))
    session.stop()


if __name__ == "__main__":
    main()
