"""Files of SQL statements, and the files of their results.

An input file has statements that end in `;` at the end of a line, each below a comment with its
subject. A result has, for each statement, its text and then either `-- !error` (class, SQLSTATE
and message) or `-- !plan` and `-- !rows`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
INPUTS = sorted((HERE / "inputs").glob("*.sql"))


@dataclass(frozen=True)
class Statement:
    about: str
    sql: str


@dataclass(frozen=True)
class Outcome:
    """The result of a statement: an error, or a plan and rows."""

    error: str | None = None
    plan: str = ""
    rows: tuple[str, ...] = ()

    def text(self) -> str:
        if self.error is not None:
            return f"-- !error\n{self.error}\n"
        rows = "".join(f"{row}\n" for row in self.rows)
        return f"-- !plan\n{self.plan}\n-- !rows\n{rows}"


def statements(file: Path) -> list[Statement]:
    found = []
    for piece in file.read_text(encoding="utf-8").split(";\n"):
        lines = piece.strip("\n").splitlines()
        about = [line.removeprefix("-- ") for line in lines if line.startswith("-- ")]
        sql = [line for line in lines if not line.startswith("-- ")]
        if any(line.strip() for line in sql):
            found.append(Statement(" ".join(about), "\n".join(sql).strip("\n")))
    return found


def results(file: Path) -> Path:
    return HERE / "results" / f"{file.name}.out"


def written(statement: Statement, outcome: Outcome) -> str:
    return f"-- {statement.about}\n-- !query\n{statement.sql};\n{outcome.text()}"


def recorded(file: Path) -> list[str]:
    """The sections of a result file, one for each statement."""
    path = results(file)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [piece for piece in text.split("\n\n=====\n\n") if piece]


def record(file: Path, pieces: list[str]) -> None:
    results(file).write_text("\n\n=====\n\n".join(pieces), encoding="utf-8")


def without_spark(section: str) -> str:
    """A section without its plan, and without an error of Spark's: these differ by version."""
    section = re.sub(r"^-- !plan\n.*?(?=^-- !rows$)", "", section, flags=re.M | re.S)
    return re.sub(r"(?<=^-- !error\n)(?!STREAM_JOIN)[\s\S]*", "of Spark\n", section, flags=re.M)
