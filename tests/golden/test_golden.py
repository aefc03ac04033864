"""SQL text in; plan and rows, or error, out, as in the files of `results`.

`--golden-update` writes the files anew; what has changed in them is then for `git diff` to show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.golden import world
from tests.golden.files import INPUTS, Outcome, record, recorded, statements, written
from tests.golden.run import outcomes

CASES = [(file, i) for file in INPUTS for i in range(len(statements(file)))]


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
def test_statement(found: dict[Path, list[Outcome]], file: Path, number: int) -> None:
    expected = recorded(file)
    assert len(expected) == len(statements(file)), "run with --golden-update"
    assert written(statements(file)[number], found[file][number]) == expected[number]


def test_there_are_enough() -> None:
    texts = [piece for file in INPUTS for piece in recorded(file)]
    wrong = [text for text in texts if "\n-- !error\n" in text]
    assert len(texts) >= 100
    assert len(wrong) >= len(texts) // 2


@pytest.mark.parametrize("file", INPUTS, ids=lambda file: file.stem)
def test_errors_are_errors_of_the_statement(found: dict[Path, list[Outcome]], file: Path) -> None:
    """A class of ours or of Spark's, with a state, and never a fault of the program."""
    for outcome in found[file]:
        if outcome.error is not None:
            head, message = outcome.error.split("\n", 1)
            named = re.fullmatch(r"[A-Z_]+(\.[A-Z_0-9]+)* [0-9A-Z]{5}", head)
            assert named is not None, outcome.error
            assert not head.startswith("INTERNAL_ERROR")
            assert not re.search(r"\bat (java|scala|org)\.|Exception:", message)
