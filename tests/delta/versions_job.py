"""Orders with the rate at their time, from a change feed: ``tests.delta.versions_job FOLDER``.

The second argument is the state format. A version is valid from the time of its commit. The orders
have times before, at and after each commit. Two runs of the query process all of it; ``end.json``
has the output of both, and the expectation from the changes of the table.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamjoin import from_changelog, impose_order
from tests.crash.whole import write_whole
from tests.delta.job import session
from tests.streams import Landing

CURRENCIES = ("EUR", "USD", "GBP", "JPY")
RUNS = [
    [
        "INSERT INTO rates VALUES ('EUR', 1.1), ('USD', 1.0)",
        "UPDATE rates SET rate = 1.2 WHERE currency = 'EUR'",
        "DELETE FROM rates WHERE currency = 'USD'",
    ],
    [
        "MERGE INTO rates USING (SELECT * FROM VALUES ('EUR', 1.3), ('GBP', 0.8) AS v(c, r)) "
        "ON currency = c WHEN MATCHED THEN UPDATE SET rate = r "
        "WHEN NOT MATCHED THEN INSERT (currency, rate) VALUES (c, r)",
        "INSERT INTO rates VALUES ('USD', 1.05)",
        "DELETE FROM rates WHERE currency = 'EUR'",
    ],
]
LONGER_THAN_A_TICK_S = 0.1


def main() -> None:
    folder, state_format = Path(sys.argv[1]), sys.argv[2]
    spark = session(folder, state_format)
    spark.sql(
        "CREATE TABLE rates (currency STRING, rate DOUBLE) USING delta "
        f"LOCATION '{folder}/rates' TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    orders = Landing(spark, folder / "orders", "id INT, currency STRING, placed TIMESTAMP")
    placed: list[dict[str, Any]] = []
    for number, statements in enumerate(RUNS):
        before = len(commits(spark))
        for statement in statements:
            time.sleep(LONGER_THAN_A_TICK_S)
            spark.sql(statement)
        new = orders_around(commits(spark)[before:], len(placed))
        placed += new
        orders.land(*map(written, new))
        if number == len(RUNS) - 1:
            time.sleep(LONGER_THAN_A_TICK_S)
            spark.sql("INSERT INTO rates VALUES ('END', 0)")
            last = commits(spark)[-1] + timedelta(days=1)
            orders.land(written({"id": -1, "currency": "END", "placed": last}))
        query(spark, orders, folder).awaitTermination()
    results = spark.read.schema("id INT, rate DOUBLE").json(str(folder / "results"))
    found = sorted([row.id, row.rate] for row in results.collect())
    end = {"found": found, "expected": expected(spark, placed)}
    write_whole(folder / "end.json", json.dumps(end))
    spark.stop()


def query(spark: SparkSession, orders: Landing, folder: Path) -> Any:
    feed = spark.readStream.option("readChangeFeed", True).option("startingVersion", 0)
    changes = from_changelog(feed.table("rates"), key="currency")
    rates = impose_order(changes, "_commit_timestamp", "0 seconds").alias("r")
    probe = impose_order(orders.stream(), "placed", "1 minute").alias("o")
    joined = probe.streamJoin(rates, "o.currency = r.currency", "left_asof")
    writer = joined.select("id", "rate").writeStream.format("json").trigger(availableNow=True)
    checkpoint = str(folder / "checkpoint")
    return writer.option("checkpointLocation", checkpoint).start(str(folder / "results"))


def commits(spark: SparkSession) -> list[datetime]:
    """The times of the commits, except that of the empty table."""
    history: DataFrame = spark.sql("DESCRIBE HISTORY rates").where("version > 0")
    millis = history.orderBy("version").selectExpr("unix_millis(timestamp) AS at").collect()
    return [datetime.fromtimestamp(row.at / 1000, timezone.utc) for row in millis]


def orders_around(times: list[datetime], first: int) -> list[dict[str, Any]]:
    moments = [at + timedelta(milliseconds=ms) for at in times for ms in (-1, 0, 1)]
    pairs = [(moment, currency) for moment in moments for currency in CURRENCIES]
    return [
        {"id": first + n, "currency": currency, "placed": moment}
        for n, (moment, currency) in enumerate(pairs)
    ]


def written(order: dict[str, Any]) -> dict[str, Any]:
    return {**order, "placed": order["placed"].isoformat()}


def expected(spark: SparkSession, placed: list[dict[str, Any]]) -> list[list[Any]]:
    """For each order, the last change of its currency at its time, read by a batch query."""
    kind = "_change_type <> 'update_preimage'"
    feed = spark.read.option("readChangeFeed", True).option("startingVersion", 0).table("rates")
    changes = feed.where(kind).selectExpr("*", "unix_millis(_commit_timestamp) AS at").collect()
    result: list[list[Any]] = []
    for order in placed:
        until = round(order["placed"].timestamp() * 1000)
        known = [c for c in changes if c.currency == order["currency"] and c.at <= until]
        last = max(known, key=lambda c: c._commit_version, default=None)
        valid = last is not None and last._change_type != "delete"
        result.append([order["id"], last.rate if last is not None and valid else None])
    return result


if __name__ == "__main__":
    main()
