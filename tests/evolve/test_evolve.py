"""A changed query continues from the checkpoint of an earlier one."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from streamjoin import doctor, evolve, from_upserts, impose_order, pending
from tests.fingerprints import fingerprints
from tests.parameters import STATE_FORMATS
from tests.streams import Landing, Run, planned_at

ROW = "id INT, t TIMESTAMP, v INT"
WITHIN = "a.id = b.id AND b.t BETWEEN a.t AND a.t + INTERVAL '{}' MINUTE"


class Pair:
    """Two streams, and joins of them."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.landings = {n: Landing(session, folder / n, ROW) for n in "abc"}

    def stream(
        self, name: str, *columns: str, source: str | None = None, per: str | None = None
    ) -> DataFrame:
        rows = self.landings[source or name].stream().selectExpr(*(columns or ("id", "t", "v")))
        return impose_order(rows, "t", "0 seconds", per=per).alias(name)

    def joined(self, how: str = "left", minutes: int = 30, more: str = "", **of: Any) -> DataFrame:
        left, right = of.get("a") or self.stream("a"), of.get("b") or self.stream("b")
        result: DataFrame = left.streamJoin(right, WITHIN.format(minutes) + more, how)
        return result

    def land(self, name: str, *rows: tuple[int, str, int | None]) -> None:
        self.landings[name].land(
            *({"id": i, "t": f"2024-05-04T{clock}:00", "v": v} for i, clock, v in rows)
        )

    def run(self, result: DataFrame) -> Run:
        return Run(result, self.folder / "checkpoint")


def evolved(run: Run, changed: DataFrame, **changes: Any) -> list[str]:
    """Continue the run as the changed query. A dry run says the same, and writes nothing."""
    to = run.checkpoint.with_name(run.checkpoint.name + "-2")
    before = fingerprints(run.checkpoint)
    said = evolve(run.checkpoint, to, changed, dry_run=True, **changes)
    assert not to.exists()
    assert evolve(run.checkpoint, to, changed, **changes) == said
    assert fingerprints(run.checkpoint) == before
    run.checkpoint, run.result = to, changed
    return said


def clock(value: Any) -> Any:
    return value.strftime("%H:%M") if hasattr(value, "strftime") else value


def emitted(run: Run) -> list[tuple[Any, ...]]:
    return sorted((tuple(map(clock, r)) for rows in run.step().values() for r in rows), key=str)


def says(lines: list[str], text: str) -> bool:
    return any(text in " ".join(line.split()) for line in lines)


@pytest.fixture(params=STATE_FORMATS)
def pair(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Pair:
    session = spark.newSession()
    session.conf.set("spark.sql.streamJoin.stateFormat", request.param)
    session.conf.set("spark.sql.shuffle.partitions", "3")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return Pair(session, tmp_path)


def test_columns_are_added_removed_renamed_and_widened(pair: Pair) -> None:
    run = pair.run(pair.joined())
    pair.land("a", (1, "10:00", 7), (2, "10:01", 8))
    pair.land("b", (1, "10:05", 70))
    assert emitted(run) == [(1, "10:00", 7, 1, "10:05", 70)]
    left = pair.stream("a", "CAST(v AS BIGINT) AS amount", "t", "id", "'new' AS kind")
    right = pair.stream("b", "id", "t")
    lines = evolved(run, pair.joined(a=left, b=right), rename={"v": "amount"}, fill={"kind": "old"})
    assert says(lines, "amount v INT BIGINT the same, cast")
    assert says(lines, "kind - STRING old")
    assert says(lines, "v INT - removed")
    pair.land("a", (3, "10:06", 9))
    pair.land("b", (2, "10:10", 80), (3, "10:11", 90), (1, "10:12", 71))
    assert emitted(run) == [
        (7, "10:00", 1, "old", 1, "10:12"),
        (8, "10:01", 2, "old", 2, "10:10"),
        (9, "10:06", 3, "new", 3, "10:11"),
    ]


@pytest.mark.parametrize("chained", [False, True])
def test_one_of_two_columns_of_a_name_is_renamed(pair: Pair, chained: bool) -> None:
    def query(a: str) -> DataFrame:
        result = pair.joined(a=pair.stream("a", "id", "t", a))
        of_c = "c.id = a.id AND c.t BETWEEN a.t AND a.t + INTERVAL '20' MINUTE"
        return result.streamJoin(pair.stream("c", "id", "t"), of_c) if chained else result

    run = pair.run(query("v"))
    pair.land("a", (2, "10:01", 8))
    pair.land("b", (2, "10:05", 70))
    emitted(run)
    evolved(run, query("v AS amount"), rename={"v": "amount"})
    pair.land("a", (2, "10:04", 9))
    pair.land("c", (2, "10:06", 0))
    row, other = (2, "10:01", 8, 2, "10:05", 70), (2, "10:04", 9, 2, "10:05", 70)
    assert emitted(run) == ([(*r, 2, "10:06") for r in (row, other)] if chained else [other])


def test_an_added_column_is_null(pair: Pair) -> None:
    run = pair.run(pair.joined(a=pair.stream("a", "id", "t")))
    pair.land("a", (1, "10:00", 7))
    emitted(run)
    lines = evolved(run, pair.joined())
    assert says(lines, "v - INT NULL")
    pair.land("b", (1, "10:05", 70))
    assert emitted(run) == [(1, "10:00", None, 1, "10:05", 70)]


def test_values_of_fill_are_those_of_create_data_frame(pair: Pair) -> None:
    pair.session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    noon = datetime(2024, 5, 4, 12, microsecond=1)
    in_delhi = noon.replace(tzinfo=timezone(timedelta(hours=5, minutes=30)))
    values: dict[str, tuple[str, Any]] = {
        "instant": ("TIMESTAMP", noon),
        "clock": ("TIMESTAMP_NTZ", noon),
        "instant_in_delhi": ("TIMESTAMP", in_delhi),
        "clock_in_delhi": ("TIMESTAMP_NTZ", in_delhi),
        "last_clock": ("TIMESTAMP_NTZ", datetime.max),
        "day": ("DATE", date(2024, 5, 4)),
        "first_day": ("DATE", date.min),
        "day_of_noon": ("DATE", in_delhi),
        "price": ("DECIMAL(10, 2)", Decimal("1.5")),
        "code": ("BINARY", b"\x01\x02"),
    }
    run = pair.run(pair.joined(a=pair.stream("a", "id", "t")))
    pair.land("a", (1, "10:00", 7))
    run.step()
    added = [f"CAST(NULL AS {of}) AS {name}" for name, (of, _) in values.items()]
    fill = {name: value for name, (_, value) in values.items()}
    lines = evolved(run, pair.joined(a=pair.stream("a", "id", "t", *added)), fill=fill)
    assert says(lines, "clock - TIMESTAMP_NTZ 2024-05-04 12:00:00.000001")
    assert says(lines, "code - BINARY 0x0102")
    pair.land("b", (1, "10:05", 70))
    ((row,),) = run.step().values()
    schema = ", ".join(f"{name} {of}" for name, (of, _) in values.items())
    assert row[2:-3] == pair.session.createDataFrame([tuple(fill.values())], schema).first()


def test_fields_are_added_removed_and_widened(pair: Pair) -> None:
    def joined(fields: str) -> DataFrame:
        struct = f"named_struct({fields})"
        columns = (f"{struct} AS s", f"array({struct}) AS items", f"map(id, {struct}) AS of")
        result = pair.joined(a=pair.stream("a", "id", "t", *columns))
        return result.selectExpr("a.id", "to_json(s)", "to_json(items)", "to_json(of)", "b.v")

    run = pair.run(joined("'v', v, 'old', id"))
    pair.land("a", (1, "10:00", 7))
    emitted(run)
    changed = joined("'new', v + 1, 'v', CAST(v AS BIGINT)")
    lines = evolved(run, changed)
    assert says(lines, "the same, by field")
    pair.land("a", (2, "10:01", 8))
    pair.land("b", (1, "10:05", 70), (2, "10:05", 80))
    assert emitted(run) == [
        (1, '{"v":7}', '[{"v":7}]', '{"1":{"v":7}}', 70),
        (2, '{"new":9,"v":8}', '[{"new":9,"v":8}]', '{"2":{"new":9,"v":8}}', 80),
    ]


@pytest.mark.parametrize("stored", ["v", None])
def test_null_in_a_column_that_is_never_null_needs_a_value(pair: Pair, stored: str | None) -> None:
    def joined(*more: str) -> DataFrame:
        return pair.joined(a=pair.stream("a", "id", "t", *more))

    run = pair.run(joined(*([stored] if stored else [])))
    pair.land("a", (1, "10:00", 7), (2, "10:01", None))
    emitted(run)
    changed = joined("coalesce(v, 0) AS v")
    if stored:
        run.result = changed
        with pytest.raises(AnalysisException, match="NULL in a column that is never NULL"):
            run.step()
    with pytest.raises(AnalysisException, match=f"{1 if stored else 2} left rows.*columns are v"):
        evolve(run.checkpoint, run.checkpoint.with_name("to"), changed)
    lines = evolved(run, changed, fill={"v": -1})
    assert says(lines, "v INT INT the same; not NULL, but -1" if stored else "v - INT -1")
    pair.land("b", (1, "10:05", 70), (2, "10:05", 80))
    assert [row[2] for row in emitted(run)] == [7 if stored else -1, -1]


def test_rows_beyond_a_narrower_interval_come_out_in_the_first_batch(pair: Pair) -> None:
    run = pair.run(pair.joined(minutes=60))
    pair.land("a", (1, "10:00", 1), (2, "10:10", 2), (3, "10:35", 3))
    pair.land("b", (2, "10:40", 20))
    emitted(run)
    lines = evolved(run, pair.joined(minutes=15))
    assert says(lines, "1 left rows leave")
    assert says(lines, "1 left rows can match nothing: the first batch emits them unmatched")
    pair.land("b", (1, "10:40", 10), (3, "10:45", 30))
    assert emitted(run) == [(1, "10:00", 1, None, None, None), (3, "10:35", 3, 3, "10:45", 30)]


def test_a_wider_interval_is_complete_from_a_time_on(pair: Pair) -> None:
    run = pair.run(pair.joined(minutes=10))
    pair.land("a", (1, "10:00", 1), (2, "10:25", 2))
    pair.land("b", (9, "10:30", 20))
    assert emitted(run) == [(1, "10:00", 1, None, None, None)]
    lines = evolved(run, pair.joined(minutes=60))
    assert says(lines, "once the watermark of b.t has passed 2024-05-04 11:20:00")
    pair.land("b", (1, "10:50", 10), (2, "11:20", 30))
    assert emitted(run) == [(2, "10:25", 2, 2, "11:20", 30)]


def test_explain_shows_when_results_are_complete_until_they_are(
    pair: Pair, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown() -> tuple[bool, bool, bool]:
        query = run.start(availableNow=True)
        query.awaitTermination()
        capsys.readouterr()
        query.explain()
        text = "watermark of b.t has passed 2024-05-04 11:20:00"
        progress = query.recentProgress
        metrics = next(o for o in progress[-1].stateOperators if o.operatorName == "streamJoin")
        found = [f for f in doctor(query).findings if f.code == "INCOMPLETE"]
        assert all("passed 2024-05-04 11:20:00" in f.headline for f in found)
        explained = text in capsys.readouterr().out
        return explained, "completeFrom.b.t" in metrics.customMetrics, bool(found)

    run = pair.run(pair.joined(minutes=10))
    pair.land("a", (1, "10:00", 1), (2, "10:25", 2))
    pair.land("b", (9, "10:30", 20))
    assert shown() == (False, False, False)
    evolved(run, pair.joined(minutes=60))
    pair.land("b", (1, "10:50", 10))
    assert shown() == (True, True, True)
    # a later change does not forget it
    lines = evolved(run, pair.joined("inner", minutes=60))
    assert says(lines, "once the watermark of b.t has passed 2024-05-04 11:20:00")
    pair.land("b", (1, "11:19", 10))
    assert shown() == (True, True, True)
    pair.land("b", (1, "11:20", 10))
    assert shown() == (False, False, False)
    assert not says(evolved(run, pair.joined("inner", minutes=50)), "has passed")


def test_rows_are_placed_by_another_key(pair: Pair) -> None:
    run = pair.run(pair.joined())
    pair.land("a", *((i, "10:00", i + 100) for i in range(20)))
    emitted(run)
    on = WITHIN.format(30).replace("a.id = b.id", "a.v = b.v")
    evolved(run, pair.stream("a").streamJoin(pair.stream("b"), on, "left"))
    pair.land("b", *((50 + i, "10:05", i + 100) for i in range(20)))
    assert emitted(run) == sorted(
        ((i, "10:00", i + 100, 50 + i, "10:05", i + 100) for i in range(20)), key=str
    )


def test_another_condition_keeps_rows_and_their_matches(pair: Pair) -> None:
    run = pair.run(pair.joined())
    pair.land("a", (1, "10:00", 1), (2, "10:00", 5), (3, "10:00", 9))
    pair.land("b", (1, "10:01", 1))
    emitted(run)
    lines = evolved(run, pair.joined(more=" AND a.v < 6 AND b.v <> 50"))
    assert says(lines, "rows that had a match before still count as matched")
    pair.land("b", (2, "10:02", 50), (3, "10:02", 90))
    # the condition on a.v alone excludes the stored row 3
    assert emitted(run) == [(3, "10:00", 9, None, None, None)]
    pair.land("a", (9, "12:00", 0))
    pair.land("b", (8, "12:00", 0))
    assert emitted(run) == [(2, "10:00", 5, None, None, None)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("left", "inner", []),
        ("full", "left", [2]),
        ("full", "right", []),
        ("left", "left_anti", [2]),
        ("left", "left_semi", []),
        ("left_semi", "left_anti", [2]),
        ("left_anti", "left_semi", []),
    ],
)
def test_the_flags_decide_another_join_type(
    pair: Pair, before: str, after: str, expected: list[int]
) -> None:
    run = pair.run(pair.joined(before))
    pair.land("a", (1, "10:00", 1), (2, "10:01", 2), (3, "10:02", 3))
    pair.land("b", (1, "10:05", 10))
    emitted(run)
    evolved(run, pair.joined(after))
    pair.land("b", (1, "10:06", 11), (3, "10:06", 30))
    found = emitted(run)
    matched = [row[0] for row in found]
    assert matched == {"left_anti": [], "left_semi": [3]}.get(after, [1, 3])
    pair.land("a", (9, "12:00", 0))
    pair.land("b", (8, "12:00", 0))
    assert [row[0] for row in emitted(run) if row[0] is not None] == expected


@pytest.mark.parametrize("change", ["interval", "inputs", "name of per"])
def test_groups_keep_their_watermarks(pair: Pair, change: str) -> None:
    grouped = pair.stream("a", per="v")
    run = pair.run(pair.joined(a=grouped))
    pair.land("a", (1, "11:00", 0), (2, "10:00", 1))
    pair.land("b", (9, "09:00", 0))
    run.step()
    changed = pair.joined(a=grouped, minutes=60)
    rename = {}
    if change == "inputs":
        changed = pair.stream("b").streamJoin(grouped, WITHIN.format(60), "right")
    if change == "name of per":
        rename = {"v": "device"}
        changed = pair.joined(a=pair.stream("a", "id", "t", "v AS device", per="device"))
    lines = evolved(run, changed, rename=rename)
    assert not says(lines, "per =")
    pair.land("a", (3, "12:00", 0))
    run.step()
    found = {k: v for k, v in run.metrics().items() if k.startswith(("groups.", "groupSpread."))}
    assert sorted(found.values()) == [2, 2 * 3_600_000]
    pair.land("a", (4, "10:30", 1))
    run.step()
    assert run.total("lateRowsLeft") == run.total("lateRowsRight") == 0
    lines = evolved(run, pair.joined(a=pair.stream("a", per="id")))
    assert says(lines, "was changed to [id]. Its watermark continues") or change == "inputs"


def test_inputs_are_exchanged_and_a_source_moves(pair: Pair) -> None:
    run = pair.run(pair.joined("left"))
    pair.land("a", (1, "10:00", 1), (2, "10:01", 2))
    pair.land("b", (1, "10:05", 10))
    emitted(run)
    pair.landings["c"] = Landing(pair.session, pair.folder / "c", ROW)
    on = WITHIN.format(30)
    changed = pair.stream("b").streamJoin(pair.stream("a", source="c"), on, "right")
    c, a = str(pair.folder / "c"), str(pair.folder / "a")
    lines = evolved(run, changed, sources={c: a})
    assert says(lines, "the inputs are exchanged")
    pair.land("b", (2, "10:06", 20))
    pair.land("c", (3, "10:04", 3))
    assert emitted(run) == [(2, "10:06", 20, 2, "10:01", 2)]
    pair.land("b", (9, "12:00", 0))
    pair.land("c", (8, "12:00", 0))
    assert emitted(run) == [(None, None, None, 3, "10:04", 3)]


OF_C = "c.id = a.id AND c.t BETWEEN a.t AND a.t + INTERVAL '20' MINUTE"


def test_joins_are_added_above_and_removed(pair: Pair) -> None:
    run = pair.run(pair.joined("left"))
    pair.land("a", (1, "10:00", 1), (2, "10:01", 2))
    pair.land("b", (1, "10:05", 10))
    emitted(run)
    chain = pair.joined("left").streamJoin(pair.stream("c"), OF_C, "left")
    lines = evolved(run, chain)
    assert says(lines, "StreamJoin 0: starts without rows")
    assert says(lines, "StreamJoin 1: continues join 0")
    pair.land("b", (2, "10:10", 20))
    pair.land("c", (2, "10:11", 200), (1, "10:11", 100))
    assert emitted(run) == [(2, "10:01", 2, 2, "10:10", 20, 2, "10:11", 200)]
    # and away again
    lines = evolved(run, pair.joined("left"))
    assert says(lines, "join 0 of the checkpoint: removed")
    pair.land("b", (1, "10:12", 11))
    assert emitted(run) == [(1, "10:00", 1, 1, "10:12", 11)]


def test_a_join_is_added_below(pair: Pair) -> None:
    run = pair.run(pair.joined("left"))
    pair.land("a", (1, "10:00", 1), (2, "10:01", 2))
    pair.land("b", (1, "10:05", 10))
    emitted(run)
    on = "c.id = a.id AND c.t BETWEEN a.t - INTERVAL '5' MINUTE AND a.t + INTERVAL '5' MINUTE"
    below = pair.stream("a").streamJoin(pair.stream("c"), on, "left")
    changed = below.streamJoin(pair.stream("b"), WITHIN.format(30), "left")
    lines = evolved(run, changed)
    assert says(lines, "StreamJoin 1: starts without rows")
    pair.land("c", (3, "10:07", 300))
    pair.land("a", (3, "10:06", 3))
    pair.land("b", (2, "10:10", 20), (3, "10:12", 30))
    assert emitted(run) == [
        (2, "10:01", 2, None, None, None, 2, "10:10", 20),
        (3, "10:06", 3, 3, "10:07", 300, 3, "10:12", 30),
    ]


def test_pending_lists_the_rows_of_the_new_checkpoint(pair: Pair) -> None:
    run = pair.run(pair.joined())
    pair.land("a", (1, "10:00", 7))
    emitted(run)
    evolved(run, pair.joined(minutes=45))
    (row,) = pending(run.checkpoint, side="left").collect()
    assert clock(row.expires) == "10:45"


def test_an_ordered_output_gets_columns(pair: Pair) -> None:
    run = pair.run(pair.stream("a", "id", "t").orderBy("t"))
    pair.land("a", (1, "10:00", 1), (2, "10:05", 2))
    assert emitted(run) == [(1, "10:00"), (2, "10:05")]
    lagging = impose_order(pair.landings["b"].stream().select("id", "t"), "t", "10 minutes")
    run = Run(lagging.orderBy("t"), pair.folder / "lagging")
    pair.land("b", (1, "10:00", 1), (2, "10:05", 2), (3, "10:12", 3))
    assert emitted(run) == [(1, "10:00")]
    wider = pair.landings["b"].stream().selectExpr("CAST(id AS BIGINT) AS number", "t", "v")
    changed = impose_order(wider, "t", "10 minutes").orderBy("t")
    lines = evolved(run, changed, rename={"id": "number"}, fill={"v": 7})
    assert says(lines, "StreamOrder 0: continues ordered output 0, 2 rows")
    pair.land("b", (4, "10:11", 4), (5, "10:30", 5))
    rows = [tuple(map(clock, row)) for batch in run.step().values() for row in batch]
    assert rows == [(2, "10:05", 7), (4, "10:11", 4), (3, "10:12", 7)]


def test_an_as_of_join_gets_columns_and_another_type(pair: Pair) -> None:
    on = "a.id = b.id AND b.t <= a.t"
    before = pair.stream("a", "id", "t").streamJoin(pair.stream("b", "id", "t"), on, "left_asof")
    run = pair.run(before)
    pair.land("a", (1, "10:00", 1), (2, "10:05", 2))
    pair.land("b", (1, "09:55", 10), (1, "10:02", 11), (2, "10:04", 20))
    assert emitted(run) == [(1, "10:00", 1, "09:55")]
    changed = pair.stream("a").streamJoin(pair.stream("b"), on, "asof")
    lines = evolved(run, changed, fill={"v": 0})
    assert says(lines, "type: INNER, before: LEFT OUTER")
    pair.land("a", (1, "10:10", 3), (9, "10:10", 9), (8, "10:20", 8))
    pair.land("b", (8, "10:20", 80))
    assert emitted(run) == [
        (1, "10:10", 3, 1, "10:02", 0),
        (2, "10:05", 0, 2, "10:04", 0),
    ]
    finer = pair.stream("a").streamJoin(pair.stream("b"), on + " AND a.v = b.v", "asof")
    with pytest.raises(AnalysisException, match="UNSUPPORTED_CHANGE"):
        evolve(run.checkpoint, pair.folder / "finer", finer)


def test_latest_versions_below_a_changelog_join_stay(pair: Pair) -> None:
    """A row that leaves its join key is retracted from there by its stored version."""

    def joined(value: str) -> DataFrame:
        def latest(name: str) -> DataFrame:
            rows = pair.landings[name].stream().selectExpr("id", "t", value)
            return from_upserts(rows, key="id", sequence_by="t").alias(name)

        result: DataFrame = latest("a").streamJoin(latest("b"), "a.v = b.v")
        return result.selectExpr("a.id AS a", "b.id AS b", "a.v", "_change_type")

    run = pair.run(joined("v"))
    pair.land("a", (1, "10:00", 5))
    pair.land("b", (7, "10:00", 5))
    assert emitted(run) == [(1, 7, 5, "insert")]
    lines = evolved(run, joined("CAST(v AS BIGINT) AS v"))
    assert not says(lines, "starts without rows")
    assert says(lines, "v INT BIGINT the same, cast")
    pair.land("a", (1, "10:10", 6), (2, "10:10", 5))
    assert emitted(run) == [(1, 7, 5, "delete"), (2, 7, 5, "insert")]


def test_added_column_of_a_changelog_join_with_ttl(pair: Pair) -> None:
    """Stored rows keep their age and their tombstones, and get the value of `fill`."""

    def joined(*more: str) -> DataFrame:
        rows = pair.landings["a"].stream().selectExpr("id", "t", "v < 0 AS gone", *more)
        orders = from_upserts(rows, key="id", sequence_by="t", deletes="gone").alias("a")
        # no row of it is deleted, so it needs no key
        customers = pair.landings["b"].stream().selectExpr("id", *more).alias("b")
        result: DataFrame = orders.streamJoin(
            customers, "a.id = b.id", "left", mode="changelog", state_ttl="1 hour"
        )
        added = (f"{name}.{c}" for c in more for name in "ab")
        return result.selectExpr("a.id", "b.id AS b", *added, "_change_type")

    run = pair.run(joined())
    pair.land("a", (1, "10:00", 1), (2, "10:00", 2), (3, "10:05", -1))
    pair.land("b", (4, "10:00", 4))
    assert sorted(planned_at(run, 0), key=str) == [
        (1, None, "insert"),
        (2, None, "insert"),
        (3, None, "delete"),
    ]
    evolved(run, joined("v"), fill={"v": 9})
    # a change that is older than the deletion of its row
    pair.land("a", (3, "10:00", 3), (4, "10:00", 4))
    pair.land("b", (1, "10:00", 0))
    assert sorted(planned_at(run, 60), key=str) == [
        (1, 1, 9, 0, "insert"),
        (1, None, 9, None, "delete"),
        (4, 4, 4, 9, "insert"),
    ]
    pair.land("b", (2, "10:00", 0))
    assert planned_at(run, 61) == []
