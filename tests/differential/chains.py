"""Random chains of joins, run by Spark alone, with ``replaceBuiltin`` and with imposed orders.

Whose join a part of the chain becomes depends on where its bounds stand: in ON, in the WHERE of
the statement, in that of a sub-query. Rows and buffered state must not, nor may they on a start in
between. So a chain is drawn together with the place of each bound, and run over the same files in
the three ways: the rows are those of the batch query, and when the watermarks have passed all rows,
no more of them are buffered than in Spark.

No row is late, by its own watermark or by the lowest of all: the rows of a step are no further
apart than the lag. The bounds reach over several steps, so rows of a join are often older than the
watermark of its inputs, which is what an upper join must not take for late.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

Row = tuple[int | None, ...]
Way = Literal["spark", "replaceBuiltin", "imposeOrder"]
WAYS: tuple[Way, ...] = ("spark", "replaceBuiltin", "imposeOrder")
How = Literal["inner", "left", "right", "semi", "anti"]
Place = Literal["on", "where", "query"]
SQL_HOW: dict[How, str] = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "semi": "LEFT SEMI JOIN",
    "anti": "LEFT ANTI JOIN",
}
STEPS, STEP_S, LAG_S = 4, 10, 2
KEYS = 3
"""Of each group: its rows meet no row of another one."""
END = 10**6
SETTING = "spark.sql.streamJoin.replaceBuiltin"


@dataclass(frozen=True)
class Link:
    """Stream ``number`` joined with the plan so far, by the columns of stream ``to``."""

    number: int
    to: int
    how: How
    place: Place
    """Where the bounds stand: ON, the WHERE of the whole, that of a sub-query around this join."""
    reach: tuple[int, int]
    """How many seconds a row may be before and after that of the other stream."""

    @property
    def key(self) -> str:
        return f"k{self.to} = k{self.number}"

    @property
    def bounds(self) -> str:
        mine, other, (before, after) = f"t{self.number}", f"t{self.to}", self.reach
        return (
            f"{mine} BETWEEN {other} - INTERVAL {before} SECONDS "
            f"AND {other} + INTERVAL {after} SECONDS"
        )


@dataclass(frozen=True)
class Again:
    """EXISTS in WHERE, or NOT EXISTS, of another row of stream ``of`` of the chain."""

    of: int
    negated: bool
    reach: tuple[int, int]

    @property
    def sql(self) -> str:
        n, (before, after) = self.of, self.reach
        where = (
            f"e.k{n} = s{n}.k{n} AND e.id{n} <> s{n}.id{n} AND e.t{n} BETWEEN "
            f"s{n}.t{n} - INTERVAL {before} SECONDS AND s{n}.t{n} + INTERVAL {after} SECONDS"
        )
        return f"{'NOT ' if self.negated else ''}EXISTS (SELECT 1 FROM s{n} e WHERE {where})"


@dataclass(frozen=True)
class Chain:
    seed: int
    index: int
    links: tuple[Link, ...]
    comma: bool
    """``FROM a, b WHERE``, where all links are inner joins."""
    through: Literal["sql", "dataframe"]
    rows: tuple[tuple[tuple[int, int, int], ...], ...]
    """Of each stream the rows of all steps: id, key, second."""
    again: Again | None = None
    restart: bool = False
    """Whether the query is stopped, and started from its checkpoint, before the last rows land."""

    @property
    def name(self) -> str:
        return f"{self.seed}-{self.index}"

    @property
    def streams(self) -> int:
        return len(self.links) + 1

    def with_links(self, links: tuple[Link, ...]) -> Chain:
        """Another query over rows like these."""
        rows = (self.rows * (len(links) + 1))[: len(links) + 1]
        return replace(
            self, links=links, rows=rows, comma=False, through="sql", again=None, restart=False
        )

    def visible(self) -> list[int]:
        hidden = {link.number for link in self.links if link.how in ("semi", "anti")}
        return [number for number in range(self.streams) if number not in hidden]

    def sql(self) -> str:
        ids = ", ".join(f"id{number}" for number in self.visible())
        wheres = [link.bounds for link in self.links if link.place == "where"]
        wheres += [self.again.sql] if self.again else []
        if self.comma:
            streams = ", ".join(f"s{number}" for number in range(self.streams))
            keys = [link.key for link in self.links]
            return f"SELECT {ids} FROM {streams} WHERE {' AND '.join(keys + wheres)}"
        relation = "s0"
        for link in self.links:
            on = f"{link.key} AND {link.bounds}" if link.place == "on" else link.key
            relation = f"{relation} {SQL_HOW[link.how]} s{link.number} ON {on}"
            if link.place == "query":
                relation = f"(SELECT * FROM {relation} WHERE {link.bounds}) q{link.number}"
        where = f" WHERE {' AND '.join(wheres)}" if wheres else ""
        return f"SELECT {ids} FROM {relation}{where}"

    def query(self, session: SparkSession) -> DataFrame:
        if self.through == "sql":
            return session.sql(self.sql())
        joined = session.table("s0")
        for link in self.links:
            on = f"{link.key} AND {link.bounds}" if link.place == "on" else link.key
            joined = joined.join(session.table(f"s{link.number}"), F.expr(on), link.how)
            if link.place == "query":
                joined = joined.where(link.bounds)
        for link in self.links:
            if link.place == "where":
                joined = joined.where(link.bounds)
        return joined.select(*(f"id{number}" for number in self.visible()))


def draw(seed: int, index: int, groups: int = 1) -> Chain:
    rng = random.Random(f"chain {seed} {index}")
    count = rng.choice([2, 2, 2, 3])
    comma = rng.random() < 0.2
    links: list[Link] = []
    seen = [0]
    for number in range(1, count + 1):
        how: How = "inner"
        if not comma and (number > 1 or rng.random() < 0.3):
            how = rng.choice(["inner", "inner", "left", "left", "semi", "anti", "right"])
        place: Place = "where" if comma else "on"
        if how == "inner" and not comma:
            place = rng.choice(["on", "where", "where", "query"])
        reach = (rng.choice([0, 3, 15]), rng.choice([1, 4, 25]))
        links.append(Link(number, rng.choice(seen), how, place, reach))
        if how not in ("semi", "anti"):
            seen.append(number)
    through = "sql" if comma else rng.choice(["sql", "sql", "dataframe"])
    rows = tuple(
        tuple(
            (
                (group * STEPS + step) * 100 + n + 1,
                group * KEYS + rng.randrange(KEYS),
                (step + 1) * STEP_S - rng.randrange(LAG_S + 1),
            )
            for step in range(STEPS)
            for group in range(groups)
            for n in range(rng.randrange(1, 4))
        )
        for _ in range(count + 1)
    )
    again = None
    if through == "sql" and rng.random() < 0.3 and all(link.place != "query" for link in links):
        reach = (rng.choice([0, 3]), rng.choice([1, 4]))
        again = Again(rng.choice(seen), rng.random() < 0.5, reach)
    restart = rng.random() < 0.4
    return Chain(seed, index, tuple(links), comma, through, rows, again, restart)  # type: ignore[arg-type]


def write(chain: Chain, folder: Path) -> None:
    """One file a step of each stream, and two whose watermarks pass all rows."""
    for number, rows in enumerate(chain.rows):
        source = folder / f"s{number}"
        source.mkdir(parents=True)
        steps = [[row for row in rows if row[0] // 100 % STEPS == step] for step in range(STEPS)]
        ends = [[(-1 - n, -1 - number, END + 100 * n)] for n in range(2)]
        for at, step in enumerate([*steps, *ends]):
            lines = (
                json.dumps({f"id{number}": i, f"k{number}": k, "s": s}) + "\n" for i, k, s in step
            )
            path = source / f"{at}.json"
            path.write_text("".join(lines))
            os.utime(path, (1_700_000_000 + at, 1_700_000_000 + at))


@dataclass(frozen=True)
class Outcome:
    rows: list[Row]
    held: int
    operators: list[str]


@dataclass(frozen=True)
class Refused:
    condition: str


def run(chain: Chain, way: Way, spark: SparkSession, folder: Path) -> Outcome | Refused:
    rows: list[Row] = []
    starts = [False, True] if chain.restart and way != "spark" else [True]
    for whole in starts:
        _land_last(chain, folder, whole)
        session = _session(spark)
        session.conf.set(SETTING, "true" if way == "replaceBuiltin" else "false")
        for number in range(chain.streams):
            stream = _typed(chain, number, session.readStream, folder, maxFilesPerTrigger="1")
            time, lag = f"t{number}", f"{LAG_S} seconds"
            marked = (
                stream.imposeOrder(time, lag)
                if way == "imposeOrder"
                else stream.withWatermark(time, lag)
            )
            marked.createOrReplaceTempView(f"s{number}")
        try:
            query = (
                chain.query(session)
                .writeStream.foreachBatch(lambda df, _: rows.extend(tuple(r) for r in df.collect()))
                .option("checkpointLocation", str(folder / f"checkpoint-{way}"))
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()
        except (AnalysisException, StreamingQueryException) as error:
            _land_last(chain, folder, whole=True)
            condition = error.getCondition() if isinstance(error, AnalysisException) else str(error)
            return Refused(condition or str(error))
    operators = [p for p in query.recentProgress if p["stateOperators"]][-1]["stateOperators"]
    return Outcome(
        _real(rows),
        sum(each["numRowsTotal"] for each in operators),
        [each["operatorName"] for each in operators],
    )


def _land_last(chain: Chain, folder: Path, whole: bool) -> None:
    """Shows the last file of each stream to the source, or hides it."""
    for number in range(chain.streams):
        name = f"{STEPS + 1}.json"
        shown, hidden = folder / f"s{number}" / name, folder / f"s{number}" / f".{name}"
        if whole and hidden.exists():
            hidden.rename(shown)
        elif not whole and shown.exists():
            shown.rename(hidden)


def expected(chain: Chain, spark: SparkSession, folder: Path) -> list[Row]:
    session = _session(spark)
    for number in range(chain.streams):
        _typed(chain, number, session.read, folder).createOrReplaceTempView(f"s{number}")
    return _real([tuple(row) for row in chain.query(session).collect()])


def problems(chain: Chain, spark: SparkSession, folder: Path) -> list[str]:
    write(chain, folder)
    want = expected(chain, spark, folder)
    outcomes = {way: run(chain, way, spark, folder) for way in WAYS}
    return judged(chain, want, outcomes)


def judged(
    chain: Chain,
    want: list[Row],
    outcomes: Mapping[Way, Outcome | Refused],
) -> list[str]:
    """The differences, without queries that Spark itself refuses or answers wrongly."""
    found = []
    sparks = outcomes["spark"]
    # what stands for the end of each stream, alone and padded
    ends = 4 * (chain.streams + (chain.again is not None))
    allowed = max(ends, sparks.held) if isinstance(sparks, Outcome) else ends
    for way in ("replaceBuiltin", "imposeOrder"):
        outcome = outcomes[way]
        if isinstance(outcome, Refused):
            # a DataFrame's inner join must have its bounds before the WHERE above it is there
            excused = {
                "imposeOrder": outcome.condition == "STREAM_JOIN.UNBOUNDED_STATE",
                "replaceBuiltin": all(
                    isinstance(outcomes[other], Refused) for other in ("spark", "imposeOrder")
                ),
            }
            if not excused[way]:
                found.append(f"{way} is refused: {outcome.condition}")
            continue
        if outcome.rows != want and not (
            isinstance(sparks, Outcome)
            and sparks.rows == outcome.rows
            and "streamJoin" not in outcome.operators
        ):
            found.append(f"{way} gives {outcome.rows}, expected {want}; {outcome.operators}")
        if outcome.held > allowed:
            found.append(f"{way} holds {outcome.held} rows, Spark alone {allowed}; {outcome}")
    return found


def _session(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.shuffle.partitions", "1")
    return session


def _typed(chain: Chain, number: int, reader: object, folder: Path, **options: str) -> DataFrame:
    schema = f"id{number} INT, k{number} INT, s BIGINT"
    read = reader.schema(schema).options(**options)  # type: ignore[attr-defined]
    df: DataFrame = read.json(str(folder / f"s{number}"))
    return df.selectExpr(f"id{number}", f"k{number}", f"timestamp_seconds(s) AS t{number}")


def _real(rows: list[Row]) -> list[Row]:
    """Rows in which nothing stands for the end of a stream."""
    return sorted((row for row in rows if all(v is None or v > 0 for v in row)), key=str)
