"""SQL statements and their recorded plans, rows or errors in `results`.

`--golden-update` rewrites the files; `git diff` then shows the changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from tests.golden import world
from tests.golden.files import INPUTS, Outcome, record, recorded, statements, without_spark, written
from tests.golden.run import outcomes
from tests.other_sparks import ON_SPARK_4_0

CASES = [(file, i) for file in INPUTS for i in range(len(statements(file)))]

# FROM STREAM t, and the tables that the statements read in this way.
OF_SPARK_4_1 = r"(FROM |\()STREAM\b|\bshop_"


@pytest.fixture(scope="module")
def found(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[Path, list[Outcome]]]:
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    folder: Path = tmp_path_factory.mktemp("golden")
    world.create(session, folder)
    found = {
        file: outcomes(session, statements(file), folder / f"{file.stem}.runs") for file in INPUTS
    }
    if request.config.getoption("--golden-update"):
        for file, those in found.items():
            record(file, [written(s, o) for s, o in zip(statements(file), those, strict=True)])
    yield found
    world.drop(session)


@pytest.mark.parametrize(
    ("file", "number"),
    CASES,
    ids=[f"{file.stem}-{i}-{statements(file)[i].about[:40]}" for file, i in CASES],
)
def test_statement_result_equals_the_recorded_result(
    found: dict[Path, list[Outcome]], file: Path, number: int
) -> None:
    expected = recorded(file)
    assert len(expected) == len(statements(file)), "run with --golden-update"
    statement = statements(file)[number]
    if ON_SPARK_4_0 and re.search(OF_SPARK_4_1, statement.sql):
        pytest.skip("Spark 4.0 has no FROM STREAM t")
    result = written(statement, found[file][number])
    if pyspark.__version__.startswith("4.2."):
        assert result == expected[number]
    else:
        assert without_spark(result) == without_spark(expected[number])


def test_at_least_100_statements_and_half_of_them_refused() -> None:
    texts = [piece for file in INPUTS for piece in recorded(file)]
    wrong = [text for text in texts if "\n-- !error\n" in text]
    assert len(texts) >= 100
    assert len(wrong) >= len(texts) // 2


def test_recorded_errors_have_a_class_and_an_sqlstate(found: dict[Path, list[Outcome]]) -> None:
    """A class of this project or of Spark, with an SQLSTATE, and never an internal error."""
    errors = [o.error for outcomes in found.values() for o in outcomes if o.error is not None]
    assert len(errors) >= 50
    for error in errors:
        head, message = error.split("\n", 1)
        named = re.fullmatch(r"[A-Z_]+(\.[A-Z_0-9]+)* [0-9A-Z]{5}", head)
        assert named is not None, error
        assert not head.startswith("INTERNAL_ERROR"), error
        assert not re.search(r"\bat (java|scala|org)\.|Exception:", message), error
