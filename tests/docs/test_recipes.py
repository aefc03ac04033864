"""The recipes of docs/how-to/recipes.md, run verbatim."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from scripts.code_blocks import ROOT, python
from tests.orders import at
from tests.streams import Landing, Run

PAGE = "docs/how-to/recipes.md"

SCHEMAS = {
    "impressions": "ad_id INT, shown_at TIMESTAMP",
    "clicks": "click_id STRING, ad_id INT, clicked_at TIMESTAMP",
    "conversions": "click_id STRING, amount INT, converted_at TIMESTAMP",
    "trades": "symbol STRING, at TIMESTAMP",
    "quotes": "symbol STRING, bid INT, at TIMESTAMP",
    "alarms": "what STRING, at TIMESTAMP",
    "maintenance": "starts TIMESTAMP, ends TIMESTAMP",
    "views": "user STRING, at TIMESTAMP",
    "purchases": "user STRING, bought_at TIMESTAMP",
}


def blocks(heading: str) -> list[str]:
    return python(PAGE, heading)


class Kitchen:
    """The streams that the recipes use, with rows from a test."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.folder = folder
        self.fed = {
            name: Landing(session, folder / name, schema) for name, schema in SCHEMAS.items()
        }
        self.names: dict[str, Any] = {
            **{name: landing.stream() for name, landing in self.fed.items()},
            "F": F,
            "spark": session,
            "lake": str(folder / "lake"),
        }

    def feed(self, name: str, *rows: tuple[Any, ...]) -> None:
        """Rows in column order; HH:MM is a time of the test day."""
        columns = [column.split()[0] for column in SCHEMAS[name].split(", ")]
        clock = re.compile(r"\d\d:\d\d")
        self.fed[name].land(
            *(
                {
                    c: at(v) if isinstance(v, str) and clock.fullmatch(v) else v
                    for c, v in zip(columns, row, strict=True)
                }
                for row in rows
            )
        )

    def run(self, code: str) -> list[tuple[Any, ...]]:
        self.cook(code)
        return self.step(Run(self.names["result"], self.folder / "checkpoint"))

    def cook(self, code: str) -> None:
        exec(compile(code, PAGE, "exec"), self.names)

    @staticmethod
    def step(run: Run) -> list[tuple[Any, ...]]:
        return sorted((row for rows in run.step().values() for row in rows), key=str)


@pytest.fixture
def kitchen(spark: SparkSession, tmp_path: Path) -> Kitchen:
    return Kitchen(spark, tmp_path)


def clock(text: str) -> datetime:
    return datetime.fromisoformat(at(text))


def clicked(kitchen: Kitchen) -> None:
    kitchen.feed("impressions", (1, "10:00"), (2, "10:01"), (3, "23:00"))
    kitchen.feed("clicks", ("a", 1, "10:05"), ("b", 1, "10:03"), ("z", 9, "23:00"))


def test_attribution_recipe(kitchen: Kitchen) -> None:
    clicked(kitchen)
    kitchen.feed("conversions", ("a", 7, "10:30"), ("x", 0, "23:00"))
    (code,) = blocks("Attribution: impressions, clicks, conversions")
    # The click without a conversion is buffered for a day; the unmatched impression is emitted.
    assert kitchen.run(code) == [(1, "a", 7), (2, None, None)]


def test_click_share_recipe(kitchen: Kitchen) -> None:
    clicked(kitchen)
    (code,) = blocks("The share that was clicked, by the hour")
    assert kitchen.run(code) == [(clock("10:00"), 2, 3)]


def test_first_match_recipes(kitchen: Kitchen) -> None:
    clicked(kitchen)
    semi, by_time = blocks("First match")
    assert kitchen.run(semi) == [(1, clock("10:00"))]
    kitchen.cook(by_time)
    assert kitchen.step(Run(kitchen.names["result"], kitchen.folder / "by_time")) == [(1, "b")]


def test_deduplication_recipe(kitchen: Kitchen) -> None:
    clicked(kitchen)
    kitchen.feed("clicks", ("a", 1, "10:05"))
    (code,) = blocks("Deduplication above a join")
    assert [row[0] for row in kitchen.run(code)] == ["a", "b"]


def test_as_of_recipe(kitchen: Kitchen) -> None:
    kitchen.feed("trades", ("X", "10:05"), ("Y", "10:05"), ("X", "12:00"))
    kitchen.feed(
        "quotes", ("X", 1, "10:01"), ("X", 2, "10:04"), ("X", 3, "10:06"), ("X", 4, "12:00")
    )
    (code,) = blocks("As-of: the last quote before a trade")
    found = [(symbol, bid) for symbol, time, bid in kitchen.run(code)]
    assert found == [("X", 2), ("Y", None)]


def test_alarm_recipe_joins_without_an_equality(kitchen: Kitchen) -> None:
    kitchen.feed("alarms", ("planned", "10:30"), ("real", "12:30"), ("later", "20:00"))
    kitchen.feed("maintenance", ("10:00", "11:00"), ("18:00", "19:00"))
    (code,) = blocks("Alarms outside of maintenance, without an equality")
    assert [row[0] for row in kitchen.run(code)] == ["real"]


def test_session_recipe(kitchen: Kitchen) -> None:
    kitchen.feed("views", ("u", "10:00"), ("u", "10:20"), ("w", "18:00"), ("w", "23:00"))
    kitchen.feed("purchases", ("u", "10:10"), ("n", "10:10"), ("w", "23:50"))
    (code,) = blocks("Sessions joined")
    assert kitchen.run(code) == [("n", clock("10:10"), None), ("u", clock("10:10"), 2)]


def test_backfill_recipe_drops_no_late_rows(kitchen: Kitchen, spark: SparkSession) -> None:
    lake = Path(kitchen.names["lake"])
    orders = Landing(spark, lake / "orders", "id INT, order_time TIMESTAMP")
    deliveries = Landing(spark, lake / "deliveries", "id INT, delivery_time TIMESTAMP")
    for n in reversed(range(10, 20)):
        orders.land({"id": n, "order_time": at(f"{n}:00")})
        deliveries.land({"id": n, "delivery_time": at(f"{n}:30")})
    (code,) = blocks("Backfill from a lake, and from Kafka, without late rows")
    kitchen.cook(code)
    assert spark.read.parquet(f"{lake}/joined").count() == 10


def test_late_rows_recipe_writes_and_rejoins_late_rows(kitchen: Kitchen) -> None:
    clicked(kitchen)
    join, back = blocks("Late rows to a table, and back")
    kitchen.cook(join)
    result = kitchen.names["result"]

    def run() -> None:
        result.writeStream.foreachBatch(kitchen.names["write"]).option(
            "checkpointLocation", str(kitchen.folder / "checkpoint")
        ).trigger(availableNow=True).start().awaitTermination()

    run()
    kitchen.feed("clicks", ("late", 2, "10:02"))
    run()
    kitchen.cook(back)
    assert [row[:2] for row in kitchen.names["made_up"].collect()] == [("late", "clicked_at")]


def test_every_recipe_of_the_page_has_a_test() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    here = Path(__file__).read_text(encoding="utf-8")
    assert [h for h in headings if f'"{h}"' not in here] == []
