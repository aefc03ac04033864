"""The queries of the golden checkpoints, with the input of each batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamjoin import How, from_changelog, impose_order, stream_join

Row = dict[str, Any]
Batch = dict[str, list[Row]]
"""The rows of each input."""

CLOSING = -1
"""The number of a row that only advances the watermark."""


@dataclass(frozen=True)
class Case:
    """A query over some inputs, and a day of rows.

    Every row has a number `n`. The query outputs the number of each input under the input's name.
    """

    name: str
    schemas: dict[str, str]
    query: Callable[[dict[str, DataFrame]], DataFrame]
    morning: list[Batch]
    evening: list[Batch]
    settings: dict[str, str] = field(default_factory=dict)
    over_tables: Callable[[dict[str, DataFrame]], DataFrame] | None = None
    """The equivalent query over tables, if the query itself works on streams only."""
    merged: bool = False
    """Whether maintenance has merged state files when the checkpoint is archived."""
    one_start: bool = False
    """Whether one start runs all batches of the morning, so that knowledge of the run counts."""
    changes: bool = False
    """Whether the last column is a row kind; the test then compares the resulting tables."""


def at(clock: str, day: int = 4, second: int = 0) -> str:
    return f"2024-05-{day:02d}T{clock}:{second:02d}"


def ordered(inputs: dict[str, DataFrame], name: str, lag: str | int = "0 seconds") -> DataFrame:
    return impose_order(inputs[name], "t", lag).alias(name)


def both(on: str, how: How, lag: str | int = "0 seconds") -> Callable[..., DataFrame]:
    def query(inputs: dict[str, DataFrame]) -> DataFrame:
        joined = stream_join(ordered(inputs, "l", lag), ordered(inputs, "r", lag), on, how)
        alone = how in ("semi", "anti")
        return joined.selectExpr("l.n AS l", "NULL AS r" if alone else "r.n AS r")

    return query


def latest(inputs: dict[str, DataFrame]) -> DataFrame:
    left, right = (inputs[name].alias(name) for name in "lr")
    pairs = left.join(right, F.expr(f"{SAME_KEY_BEFORE} AND r.t <= l.t"), "left")
    return pairs.groupBy("l.n").agg(F.max_by("r.n", "r.t")).toDF("l", "r")


def versions(inputs: dict[str, DataFrame]) -> DataFrame:
    changes = from_changelog(inputs["r"], key="k", op="op", sequence_by="s")
    rates = impose_order(changes, "t", "10 minutes").alias("r")
    on = f"{SAME_KEY_BEFORE} AND r.n <> 21"
    joined = stream_join(ordered(inputs, "l", "10 minutes"), rates, on, "left_asof")
    return joined.selectExpr("l.n AS l", "r.n AS r")


def latest_versions(inputs: dict[str, DataFrame]) -> DataFrame:
    left, right = (inputs[name].alias(name) for name in "lr")
    change = "l.k = r.k AND r.t <= l.t AND r.op <> 'update_preimage'"
    last = F.max_by(F.struct("r.n", "r.t", "r.op"), F.struct("r.t", "r.s"))
    found = left.join(right, F.expr(change), "left").groupBy("l.n", "l.t").agg(last.alias("r"))
    valid = "r.op <> 'delete' AND r.t >= t - INTERVAL '2' HOURS AND r.n <> 21"
    return found.selectExpr("n AS l", f"IF({valid}, r.n, NULL) AS r")


def in_order(on: str, lag: str) -> Callable[..., DataFrame]:
    def query(inputs: dict[str, DataFrame]) -> DataFrame:
        joined = stream_join(
            ordered(inputs, "l", lag),
            ordered(inputs, "r", lag),
            on,
            "left",
            order_by=["l.t", "r.n"],
        )
        return joined.selectExpr("l.n AS l", "r.n AS r")

    return query


SAME_KEY_BEFORE = "l.k = r.k AND r.t >= l.t - INTERVAL '2' HOURS"
AROUND = "r.t BETWEEN l.t - INTERVAL '2' MINUTES AND l.t + INTERVAL '4' MINUTES"
WITHIN_THE_HOUR = "r.t BETWEEN l.t AND l.t + INTERVAL '1' HOUR"


def orders(key: str, kind: str, keys: list[Any], time: str = "TIMESTAMP") -> dict[str, Any]:
    """Four orders; the first two have a delivery each, one before noon and one after."""
    a, b, c, d = keys
    schema = f"n INT, {key} {kind}, t {time}"
    return {
        "schemas": {"l": schema, "r": schema},
        "morning": [
            {
                "l": [{"n": 1, key: a, "t": at("10:00")}, {"n": 2, key: b, "t": at("10:10")}],
                "r": [{"n": 11, key: d, "t": at("10:05")}],
            },
            {
                "l": [{"n": 3, key: c, "t": at("10:20")}, {"n": 4, key: d, "t": at("10:21")}],
                "r": [{"n": 12, key: a, "t": at("10:30")}, {"n": 13, key: c, "t": at("10:25")}],
            },
        ],
        "evening": [
            {
                "l": [{"n": 5, key: c, "t": at("10:24")}, {"n": 6, key: a, "t": at("10:40")}],
                "r": [{"n": 14, key: b, "t": at("10:50")}, {"n": 15, key: a, "t": at("11:00")}],
            },
            {"r": [{"n": 16, key: d, "t": at("11:21")}]},
            *closing(at("20:00", 6)),
        ],
    }


def changing_rates() -> dict[str, Any]:
    """Orders, and versions that are replaced, deleted or buffered in the archived checkpoint."""

    def order(n: int, k: int, t: str) -> Row:
        return {"n": n, "k": k, "t": at(t)}

    def rate(n: int, k: int, t: str, op: str = "insert", s: int = 1) -> Row:
        return {"n": n, "k": k, "t": at(t), "s": s, "op": op}

    end = {"n": CLOSING, "k": -1, "t": at("20:00", 6)}
    return {
        "schemas": {
            "l": "n INT, k INT, t TIMESTAMP",
            "r": "n INT, k INT, t TIMESTAMP, s INT, op STRING",
        },
        "morning": [
            {
                "l": [order(1, 1, "10:00"), order(2, 2, "10:10")],
                "r": [rate(11, 1, "09:50"), rate(12, 2, "10:05"), rate(13, 3, "09:30")],
            },
            {
                "l": [order(3, 3, "10:20"), order(4, 1, "10:31")],
                "r": [
                    rate(11, 1, "10:25", "update_preimage", 2),
                    rate(14, 1, "10:25", "update_postimage", 2),
                    rate(12, 2, "10:30", "delete", 2),
                    # Of equal times, the sequence decides.
                    rate(15, 3, "10:30", "update_postimage", 3),
                    rate(16, 3, "10:30", "update_postimage", 2),
                ],
            },
        ],
        "evening": [
            {
                "l": [order(5, 2, "10:35"), order(6, 3, "10:36"), order(7, 1, "10:50")],
                "r": [
                    rate(14, 1, "10:45", "delete", 3),
                    rate(17, 2, "10:40"),
                    rate(18, 4, "10:41"),
                ],
            },
            {"r": [rate(21, 1, "11:00", s=4), rate(19, 3, "10:55", "update_postimage", 4)]},
            {
                "l": [
                    order(8, 1, "11:05"),
                    order(9, 2, "11:06"),
                    order(10, 3, "12:55"),
                    # older than two hours
                    order(22, 4, "12:42"),
                ]
            },
            {"l": [end], "r": [{**end, "s": 1, "op": "insert"}]},
        ],
    }


def closing(time: Any) -> list[Batch]:
    return [{"l": [{"n": CLOSING, "t": time}], "r": [{"n": CLOSING, "t": time}]}]


def crowded() -> dict[str, Any]:
    """A left row a minute and some right rows, on both sides of the bucket edges."""
    schema = "n INT, k INT, t TIMESTAMP"

    def rows(first: int, minutes: range, step: int = 1) -> list[Row]:
        return [
            {"n": first + m, "k": m % 5, "t": at(f"{10 + m // 60}:{m % 60:02}")}
            for m in minutes[::step]
        ]

    return {
        "schemas": {"l": schema, "r": schema},
        "morning": [
            {"l": rows(0, range(0, 60)), "r": rows(1000, range(0, 60, 7))},
            {"l": rows(0, range(60, 100)), "r": rows(1000, range(62, 90, 7))},
        ],
        "evening": [
            {"l": rows(0, range(100, 130)), "r": rows(1000, range(92, 130, 9))},
            {"l": [{"n": 500, "k": 1, "t": None}], "r": [{"n": 1500, "k": 1, "t": None}]},
            *closing(at("20:00", 6)),
        ],
    }


def one_hot_key(right_later: int = 3) -> dict[str, Any]:
    """Ten minutes a batch, with a hot key in every other row; right rows are some seconds later."""
    schema = "n INT, k INT, t TIMESTAMP"

    def rows(batch: int, first: int, later: int = 0) -> list[Row]:
        seconds = [batch * 600 + n * 5 + later for n in range(110)]
        return [
            {
                "n": first + second,
                "k": 7 if n % 2 else 1000 + n,
                "t": at(f"{10 + second // 3600}:{second // 60 % 60:02}", second=second % 60),
            }
            for n, second in enumerate(seconds)
        ]

    def batch(number: int) -> Batch:
        return {"l": rows(number, 0), "r": rows(number, 10_000, right_later)}

    return {
        "schemas": {"l": schema, "r": schema},
        "morning": [batch(0), batch(1)],
        "evening": [batch(2), *closing(at("20:00", 6))],
        "settings": {
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.streamJoin.hotKeyRows": "50",
            "spark.sql.streamJoin.hotKeyBuckets": "1",
        },
        "one_start": True,
    }


def numbers() -> dict[str, Any]:
    schema = "n INT, k BOOLEAN, t BIGINT"

    def row(n: int, k: bool, t: int) -> Row:
        return {"n": n, "k": k, "t": t}

    return {
        "schemas": {"l": schema, "r": schema},
        "morning": [
            {"l": [row(1, True, 100), row(2, False, 105)], "r": [row(11, True, 104)]},
            {"l": [row(3, True, 110), row(4, False, 111)], "r": [row(12, False, 109)]},
        ],
        "evening": [
            {"r": [row(13, True, 114), row(14, True, 120)]},
            {"l": [row(5, False, 121)], "r": [row(15, False, 122)]},
            *closing(10_000),
        ],
    }


def expiring() -> dict[str, Any]:
    """Auctions with an end time each."""

    def auction(n: int, k: str, t: str, until: str) -> Row:
        return {"n": n, "k": k, "t": at(t), "until": at(until)}

    def bid(n: int, k: str, t: str) -> Row:
        return {"n": n, "k": k, "t": at(t)}

    last = {"n": CLOSING, "t": at("20:00"), "until": at("21:00")}
    return {
        "schemas": {
            "l": "n INT, k STRING, t TIMESTAMP, until TIMESTAMP",
            "r": "n INT, k STRING, t TIMESTAMP",
        },
        "morning": [
            {
                "l": [auction(1, "a", "10:00", "10:05"), auction(2, "b", "10:00", "12:00")],
                "r": [bid(11, "b", "10:04")],
            },
            {
                "l": [auction(3, "c", "10:06", "11:00"), auction(4, "ü", "10:07", "10:30")],
                "r": [bid(12, "x", "10:06")],
            },
        ],
        "evening": [
            {"r": [bid(13, "b", "10:20"), bid(14, "ü", "10:30"), bid(15, "c", "11:00")]},
            {"r": [bid(16, "b", "12:00"), bid(17, "b", "12:01")]},
            {"l": [last], "r": [{"n": CLOSING, "t": at("20:00")}]},
        ],
    }


def chain(inputs: dict[str, DataFrame]) -> DataFrame:
    delivered = stream_join(
        ordered(inputs, "l"),
        ordered(inputs, "r", "5 minutes"),
        f"l.k = r.k AND {WITHIN_THE_HOUR}",
        "left",
    )
    returned = stream_join(
        delivered,
        ordered(inputs, "b"),
        "b.k = l.k AND b.t BETWEEN l.t AND l.t + INTERVAL '2' HOURS",
        "left",
    )
    return returned.selectExpr("l.n AS l", "r.n AS r", "b.n AS b")


def three() -> dict[str, Any]:
    two = orders("k", "INT", [1, 2, 3, 4])
    back = "n INT, k INT, t TIMESTAMP"
    morning, evening = two["morning"], two["evening"]
    return {
        "schemas": {**two["schemas"], "b": back},
        "morning": [
            {**morning[0], "b": [{"n": 21, "k": 1, "t": at("10:20")}]},
            {**morning[1], "b": [{"n": 22, "k": 4, "t": at("10:25")}]},
        ],
        "evening": [
            {**evening[0], "b": [{"n": 23, "k": 2, "t": at("12:10")}]},
            evening[1],
            {**evening[2], "b": [{"n": CLOSING, "t": at("20:00", 6)}]},
            *closing(at("21:00", 6)),
        ],
    }


def changelogs(
    ons: list[str], key: str | None = "n", how: How = "left"
) -> Callable[[dict[str, DataFrame]], DataFrame]:
    """Joins of `l` with `r`, then with `b`, one for each condition."""

    def query(inputs: dict[str, DataFrame]) -> DataFrame:
        declared = {
            name: from_changelog(df, key=key, op="op").alias(name) for name, df in inputs.items()
        }
        result = declared["l"]
        for name, on in zip("rb", ons, strict=False):
            result = stream_join(result, declared[name], on, how)
        others = [f"{name}.k AS {name}" for name in "rb"[: len(ons)]]
        return result.selectExpr("l.n AS n", "l.k AS l", *others, "_change_type AS op")

    return query


def joined_tables(ons: list[str], how: How = "left") -> Callable[..., DataFrame]:
    """The same join over the rows that remain after all changes."""

    def query(inputs: dict[str, DataFrame]) -> DataFrame:
        sign = "IF(op IN ('insert', 'update_postimage'), 1, -1)"

        def left(df: DataFrame) -> DataFrame:
            counted = df.groupBy("n", "k").agg(F.expr(f"sum({sign})").alias("c")).where("c > 0")
            return counted.selectExpr("n", "k", "explode(sequence(1, c)) AS one").drop("one")

        tables = {name: left(df).alias(name) for name, df in inputs.items()}
        result = tables["l"]
        for name, on in zip("rb", ons, strict=False):
            result = result.join(tables[name], F.expr(on), how)
        others = [f"{name}.k AS {name}" for name in "rb"[: len(ons)]]
        return result.selectExpr("l.n AS n", "l.k AS l", *others, "'insert' AS op")

    return query


def changing(inputs: str) -> dict[str, Any]:
    """Inserts, updates and deletes; at most one for each row and batch."""

    def came(n: int, k: int) -> Batch:
        return {"": [{"n": n, "k": k, "op": "insert"}]}

    def went(n: int, k: int) -> Batch:
        return {"": [{"n": n, "k": k, "op": "delete"}]}

    def became(n: int, k: int, then: int) -> Batch:
        return {
            "": [
                {"n": n, "k": k, "op": "update_preimage"},
                {"n": n, "k": then, "op": "update_postimage"},
            ]
        }

    def batch(**by_input: list[Batch]) -> Batch:
        return {
            name: [row for change in by_input.get(name, []) for row in change[""]]
            for name in inputs
        }

    return {
        "schemas": dict.fromkeys(inputs, "n INT, k INT, op STRING"),
        "changes": True,
        "morning": [
            batch(
                l=[came(1, 1), came(2, 2), came(3, 1), came(4, 9), came(5, 2)],
                r=[came(1, 11), came(2, 12), came(9, 19)],
                b=[came(1, 21), came(3, 23)],
            ),
            batch(l=[became(1, 1, 2), went(5, 2)], r=[came(3, 13)], b=[came(2, 22)]),
        ],
        "evening": [
            batch(l=[became(2, 2, 3), became(1, 2, 3)], r=[became(1, 11, 10)], b=[went(1, 21)]),
            batch(l=[went(3, 1), came(6, 1)], r=[went(2, 12)], b=[became(2, 22, 20)]),
            batch(l=[became(4, 9, 4), went(1, 3)], r=[came(4, 14)], b=[came(4, 24)]),
        ],
    }


BY_KEY = ["l.n = r.n", "l.n = b.n"]
BY_REFERENCE = ["l.k = r.n"]

COMPOSITE = "d DATE, price DECIMAL(20, 4), s STRUCT<a: INT, b: STRING>"
COMPOSITE_KEYS = [
    {"d": "2024-05-04", "price": "1.5000", "s": {"a": 1, "b": "x"}},
    {"d": "2024-05-05", "price": "12345678901234.5", "s": {"a": 1, "b": None}},
    {"d": None, "price": "1.5000", "s": {"a": 1, "b": "x"}},
    {"d": None, "price": "2.5000", "s": None},
]

CASES = [
    Case(
        "inner",
        query=both(f"l.k.d <=> r.k.d AND l.k.price = r.k.price AND {WITHIN_THE_HOUR}", "inner"),
        **orders("k", f"STRUCT<{COMPOSITE}>", COMPOSITE_KEYS),
    ),
    Case("left", query=both("l.k = r.k AND r.t BETWEEN l.t AND l.until", "left"), **expiring()),
    Case(
        "right",
        query=both(f"l.k = r.k AND {WITHIN_THE_HOUR}", "right", "10 minutes"),
        **orders("k", "STRING", ["a", "b", "", "ß"], "TIMESTAMP_NTZ"),
    ),
    Case(
        "full",
        query=both(f"l.k = r.k AND {WITHIN_THE_HOUR}", "full"),
        **orders("k", "INT", [1, 2, 3, 4]),
    ),
    Case(
        "full_merged",
        query=both(f"l.k = r.k AND {WITHIN_THE_HOUR}", "full"),
        **orders("k", "BIGINT", [1, 2**40, -3, 4]),
        settings={
            "spark.sql.streaming.stateStore.minDeltasForSnapshot": "1",
            "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
        },
        merged=True,
    ),
    Case(
        "full_with_ids",
        query=both(f"l.k = r.k AND {WITHIN_THE_HOUR}", "full"),
        **orders("k", "DOUBLE", [0.0, 1.5, -2.25, 1e300]),
        settings={"spark.sql.streaming.stateStore.checkpointFormatVersion": "2"},
    ),
    Case(
        "full_no_equality",
        query=both(f"l.k < r.k AND {WITHIN_THE_HOUR}", "full"),
        **orders("k", "INT", [1, 2, 3, 4]),
    ),
    Case(
        "left_no_equality",
        query=both(f"l.k <> r.k AND {WITHIN_THE_HOUR}", "left"),
        **orders("k", "INT", [1, 2, 3, 4]),
    ),
    Case("left_by_time", query=both(f"l.k <> r.k AND {AROUND}", "left"), **crowded()),
    Case("full_by_time", query=both(f"l.k <> r.k AND {AROUND}", "full"), **crowded()),
    Case(
        "semi",
        query=both("l.k = r.k AND r.t BETWEEN l.t AND l.t + 10", "semi", 0),
        **numbers(),
    ),
    Case(
        "anti",
        query=both("l.k = r.k AND r.t BETWEEN l.t AND l.t + 10", "anti", 0),
        **numbers(),
    ),
    Case(
        "full_hot_key",
        query=both("l.k = r.k AND r.t BETWEEN l.t AND l.t + INTERVAL '1' MINUTE", "full"),
        **one_hot_key(),
    ),
    # A batch spans many time buckets of the key, so they are wider than necessary.
    Case(
        "full_wide_hot_key",
        query=both(
            "l.k = r.k AND r.t BETWEEN l.t AND l.t + INTERVAL '1' SECOND AND l.n % 7 <> 0", "full"
        ),
        **one_hot_key(right_later=1),
    ),
    Case("chain", query=chain, **three()),
    Case(
        "ordered",
        query=in_order(f"l.k = r.k AND {WITHIN_THE_HOUR}", "10 minutes"),
        **orders("k", "INT", [1, 2, 3, 4]),
    ),
    Case(
        "last_rows",
        query=both(SAME_KEY_BEFORE, "left_asof", "10 minutes"),
        over_tables=latest,
        **orders("k", "INT", [1, 2, 3, 4]),
    ),
    Case(
        "versions",
        query=versions,
        over_tables=latest_versions,
        **changing_rates(),
    ),
    Case(
        "changes_by_key",
        query=changelogs(BY_KEY[:1], how="full"),
        over_tables=joined_tables(BY_KEY[:1], "full"),
        **changing("lr"),
    ),
    Case(
        "changes_that_move",
        query=changelogs(BY_REFERENCE),
        over_tables=joined_tables(BY_REFERENCE),
        **changing("lr"),
    ),
    Case(
        "changes_counted",
        query=changelogs(BY_REFERENCE, key=None),
        over_tables=joined_tables(BY_REFERENCE),
        **changing("lr"),
    ),
    Case(
        "changes_in_a_chain",
        query=changelogs(BY_KEY),
        over_tables=joined_tables(BY_KEY),
        **changing("lrb"),
    ),
]
