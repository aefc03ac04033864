"""Random groups that appear, stall, become idle and return, against a model and the batch join.

After each batch the watermark of the join is that of the model. Each batch starts from the
checkpoint. With an idle timeout each batch runs twice, the second time with a chosen clock; without
one, every fourth batch does. The whole output is that of the batch query on the rows that the model
does not call late.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamjoin import impose_order, stream_join
from tests.groups.model import Arrival, Input, Model
from tests.streams import Landing, Run, planned_at

MIDNIGHT = datetime(2024, 5, 4)
SCHEMAS = {"left": "g STRING, id INT, t TIMESTAMP", "right": "id INT, u TIMESTAMP"}
WITHIN = "l.id = r.id AND r.u BETWEEN l.t - INTERVAL '5' MINUTE AND l.t + INTERVAL '10' MINUTE"
KINDS = ("inner", "left", "full", "anti", "asof", "chain", "no equality", "ordered")

# After the last rows, every watermark is far above all others.
END = 100_000


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        option = metafunc.config.option
        first = option.group_seed
        metafunc.parametrize("seed", range(first, first + option.group_cases))


def clock(minutes: int | None) -> str | None:
    return None if minutes is None else (MIDNIGHT + timedelta(minutes=minutes)).isoformat()


class Case:
    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.kind = KINDS[seed % len(KINDS)]
        self.lag = random.randint(0, 3)
        self.idle = random.choice([None, None, random.randint(3, 8)])
        groups: list[str | None] = [None, "a", "b, 'c", "NULL"]
        pace = {g: random.randint(0, 40) for g in groups}
        self.batches: list[tuple[list[Arrival], list[Arrival], int]] = []
        now, right = 0, 0
        for _ in range(random.randint(4, 7)):
            now += random.randint(1, 4)
            # some groups appear late, and each may stall
            awake = [g for g in groups if random.random() < 0.6]
            left = []
            for g in awake:
                pace[g] += random.randint(0, 12)
                left += [
                    Arrival(
                        g,
                        random.randint(1, 4),
                        None if random.random() < 0.05 else pace[g] - random.randint(0, 9),
                    )
                    for _ in range(random.randint(1, 3))
                ]
            right += random.randint(0, 10)
            others = [
                Arrival(None, random.randint(1, 4), max(0, right - random.randint(0, 9)))
                for _ in range(random.randint(0, 3))
            ]
            self.batches.append((left, others, now))
        self.groups = groups
        self.repeated = [self.idle is not None or random.random() < 0.25 for _ in self.batches]

    def last(self) -> tuple[list[Arrival], list[Arrival]]:
        left = [Arrival(g, -1, END) for g in self.groups]
        return left, [Arrival(None, -2, END)]

    def query(self, left: DataFrame, right: DataFrame, streams: bool) -> DataFrame:
        ordered = left
        if streams:
            idle = None if self.idle is None else f"{self.idle} minutes"
            lag = f"{self.lag} minutes"
            ordered = impose_order(left, "t", lag, idle_timeout=idle, per="g")
            right = right if self.kind == "ordered" else impose_order(right, "u", "1 minute")
        ordered, other = ordered.alias("l"), right.alias("r")
        if self.kind == "ordered":
            return ordered.orderBy("t")
        if self.kind == "asof":
            return stream_join(ordered, other, "l.id = r.id AND r.u <= l.t", "asof")
        if self.kind == "no equality":
            return stream_join(ordered, other, WITHIN.partition(" AND ")[2], "left")
        if self.kind == "chain":
            again = right.alias("s")
            one = stream_join(ordered, other, WITHIN, "left").select("l.g", "l.id", "l.t", "r.u")
            on = "x.id = s.id AND s.u BETWEEN x.t AND x.t + INTERVAL '3' MINUTE"
            return stream_join(one.alias("x"), again, on, "left")
        how: Any = self.kind
        return stream_join(ordered, other, WITHIN, how)


def landed(case: Case, session: SparkSession, folder: Path) -> dict[str, Landing]:
    sides = {side: Landing(session, folder / side, SCHEMAS[side]) for side in SCHEMAS}
    return {"left": sides["left"]} if case.kind == "ordered" else sides


def rows(side: str, arrivals: list[Arrival]) -> list[dict[str, Any]]:
    if side == "left":
        return [{"g": a.group, "id": a.id, "t": clock(a.time)} for a in arrivals]
    return [{"id": a.id, "u": clock(a.time)} for a in arrivals]


def last_before(left: list[Any], right: list[Any]) -> list[tuple[Any, ...]]:
    """Each left row with the last right row of its key that is not after it."""
    pairs = []
    for row in left:
        before = [r for r in right if row.t is not None and r.id == row.id and r.u <= row.t]
        if before:
            pairs.append((*row, *max(before, key=lambda r: r.u)))
    return pairs


def of_tests(output: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Leave out the last rows, whose output depends on when the query ends."""
    return [row for row in output if not any(v in (-1, -2) for v in row)]


def test_watermarks_and_rows_are_those_of_the_model(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    case = Case(seed)
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    try:
        check(case, spark, tmp_path)
    finally:
        spark.conf.unset("spark.sql.streaming.noDataMicroBatches.enabled")


def check(case: Case, spark: SparkSession, folder: Path) -> None:
    streams = landed(case, spark, folder / "streams")
    inputs = {side: of.stream() for side, of in streams.items()}
    run = Run(
        case.query(inputs["left"], inputs.get("right", inputs["left"]), True), folder / "checkpoint"
    )
    alone = case.kind == "ordered"
    model = Model(Input(case.lag, case.idle), Input(1))
    operator = "streamOrder" if alone else "streamJoin"
    for (left, right, now), repeated in zip(case.batches, case.repeated, strict=True):
        arrivals = {"left": left, "right": [] if alone else right}
        for side, of in streams.items():
            of.land(*rows(side, arrivals[side]))
        if repeated:
            planned_at(run, now)
        else:
            run.step()
        model.batch(left, arrivals["right"], now)
        # the topmost join of a chain has the watermark of the output of the join below
        if case.kind != "chain":
            metrics = run.operator(operator)["customMetrics"]
            shown = metrics.get("watermark.t")
            mark = model.left.watermark
            expected = (
                MIDNIGHT.replace(tzinfo=timezone.utc).timestamp() / 60 + mark.value
                if mark.there
                else None
            )
            assert shown == (None if expected is None else expected * 60_000), (case.kind, now)
            assert metrics["groups.t"] == len(model.left.marks)
    left, right = case.last()
    for side, of in streams.items():
        of.land(*rows(side, left if side == "left" else right))
    run.step()
    if case.kind == "ordered":
        times = [row[2] for row in run.rows() if row[2] is not None]
        assert times == sorted(times)
    tables = {
        side: spark.createDataFrame(
            [
                tuple(
                    datetime.fromisoformat(v) if k in ("t", "u") and v is not None else v
                    for k, v in row.items()
                )
                for row in rows(side, model.in_time[side])
            ],
            SCHEMAS[side],
        )
        for side in SCHEMAS
    }
    if case.kind == "asof":
        expected_rows = last_before(tables["left"].collect(), tables["right"].collect())
    else:
        found = case.query(tables["left"], tables["right"], False).collect()
        expected_rows = [tuple(row) for row in found]
    assert Counter(of_tests(run.rows())) == Counter(expected_rows)
    if case.kind not in ("chain",):
        names = ["lateRows"] if alone else ["lateRowsLeft", "lateRowsRight"]
        assert sum(run.total(name, operator) for name in names) == model.late
