"""Sources whose rows arrive when the runner says so.

``MemoryFeed`` is the fast one: Spark's own test source. ``FileFeed`` is what survives the death of
the process, and it cuts batches by itself (``maxFilesPerTrigger``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.differential.case import Case, Row, Step
from tests.differential.instants import stored
from tests.differential.plans import RAW, typed
from tests.differential.shapes import PLAIN

Arrived = Mapping[str, Mapping[str | int, list[Row]]]


class Feed(Protocol):
    inputs: dict[str, DataFrame]
    """A streaming DataFrame for each input of the case, without watermark."""

    def add(self, step: Step) -> None:
        """Let the rows of a step arrive."""

    @property
    def arrived(self) -> Arrived:
        """All rows so far, by input and by what the offset log calls their arrival."""


def raw(case: Case, alias: str, row: Row) -> dict[str, Any]:
    """A row as it is fed, its times as integers."""
    values = {name: row.get(name) for name in PLAIN}
    for time in case.input(alias).times:
        ticks = row[time.name]
        values[time.name] = None if ticks is None else stored(case, time.kind, ticks)
    return values


def lines(case: Case, alias: str, rows: Sequence[Row]) -> list[str]:
    return [json.dumps(raw(case, alias, row)) for row in rows]


def parsed(texts: DataFrame) -> DataFrame:
    return texts.select(F.from_json("value", RAW).alias("row")).select("row.*")


def leaves(case: Case, sources: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """Give each input its columns; both sides of a self-join are one DataFrame."""
    fed = {alias: typed(case, case.input(alias), sources[alias]) for alias in case.fed}
    return {each.alias: fed[each.same_as or each.alias] for each in case.inputs}


class MemoryFeed:
    def __init__(self, case: Case, session: SparkSession) -> None:
        self._case = case
        jvm: Any = session._jvm
        self._jvm = jvm
        memory = jvm.org.apache.spark.sql.execution.streaming.runtime.MemoryStream
        text = jvm.org.apache.spark.sql.Encoders.STRING()
        jsession = session._jsparkSession
        self._streams = {alias: memory.apply(text, jsession) for alias in case.fed}
        self._added: dict[str, dict[str | int, list[Row]]] = {alias: {} for alias in case.fed}
        self.inputs = leaves(
            case,
            {
                alias: parsed(DataFrame(stream.toDF(), session))
                for alias, stream in self._streams.items()
            },
        )

    def add(self, step: Step) -> None:
        to_seq = self._jvm.PythonUtils.toSeq
        texts = {alias: to_seq(lines(self._case, alias, rows)) for alias, rows in step.items()}
        # At once, so that few triggers fire in between: those make two batches of a step.
        for alias, seq in texts.items():
            self._streams[alias].addData(seq)
        for alias, rows in step.items():
            added = self._added[alias]
            added[len(added)] = list(rows)

    @property
    def arrived(self) -> Arrived:
        return self._added


class FileFeed:
    def __init__(self, case: Case, session: SparkSession, folder: Path) -> None:
        self._landing = Landing(case, folder)
        self.inputs = leaves(case, read_files(case, session, folder))

    def add(self, step: Step) -> None:
        for alias, rows in step.items():
            # Two files, so that the source can cut between them.
            middle = (len(rows) + 1) // 2
            self._landing.land(alias, rows[:middle])
            if rows[middle:]:
                self._landing.land(alias, rows[middle:])

    @property
    def arrived(self) -> Arrived:
        return self._landing.arrived


class Landing:
    """Writes files that appear whole in the folder of their input."""

    def __init__(self, case: Case, folder: Path) -> None:
        self._case = case
        self._folder = folder
        self._staging = folder / "staging"
        self.arrived: dict[str, dict[str | int, list[Row]]] = {alias: {} for alias in case.fed}
        for name in ("staging", *case.fed):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def land(self, alias: str, rows: Sequence[Row]) -> None:
        name = f"{alias}-{len(self.arrived[alias]):04d}.json"
        self.arrived[alias][name] = list(rows)
        staged = self._staging / name
        staged.write_text("".join(line + "\n" for line in lines(self._case, alias, rows)))
        staged.replace(self._folder / alias / name)


def read_files(case: Case, session: SparkSession, folder: Path) -> dict[str, DataFrame]:
    reader = session.readStream.schema(RAW)
    if case.files_per_trigger is not None:
        reader = reader.option("maxFilesPerTrigger", case.files_per_trigger)
    return {alias: reader.json(str(folder / alias)) for alias in case.fed}
