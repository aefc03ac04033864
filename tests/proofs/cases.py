"""Cases with the answers of the rules, which a suite of the Scala core replays.

A line is a list of ``name=values``; the answer of the rules follows ``=>``. ``-`` is NULL, an
unknown watermark, no bound, or no row. ``new_cases`` rewrites the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.proofs.rules import (
    JOIN_TYPES,
    LEFT,
    Bound,
    Column,
    Join,
    JoinType,
    Row,
    Watermarks,
)
from tests.proofs.terms import ABSENT, Maybe, Truth, known

FILE = Path(__file__).parents[2] / "jvm/core/src/test/resources/io/streamjoin/rules/cases.txt"

NONE = "-"

Fields = dict[str, str]


# ---- writing and reading ----


def text(fields: Fields) -> str:
    return " ".join(f"{name}={values}" for name, values in fields.items())


def parsed(line: str) -> Fields:
    return dict(field.split("=", 1) for field in line.split())


def listed(values: Sequence[object]) -> str:
    return ",".join(str(v) for v in values)


def items(values: str) -> list[str]:
    return values.split(",") if values else []


def optional(time: Maybe) -> str:
    return str(time.value) if time.there else NONE


def maybe(value: str) -> Maybe:
    return ABSENT if value == NONE else known(int(value))


def number_of(value: str) -> int | None:
    return None if value == NONE else int(value)


def maybes(values: str) -> list[Maybe]:
    return [maybe(v) for v in items(values)]


def flags(values: Sequence[Truth]) -> str:
    return "".join("1" if v else "0" for v in values)


def column_text(column: Column) -> str:
    side = "L" if column.side == LEFT else "R"
    return side + ("" if column.watermarked else "u") + ("n" if column.nullable else "")


def column_of(text: str) -> Column:
    return Column("LR".index(text[0]), "u" not in text, "n" in text)


def bounds_text(bounds: Sequence[Bound]) -> str:
    return listed([f"{b.later}:{b.earlier}:{b.slack}" for b in bounds])


def bounds_of(values: str) -> list[Bound]:
    return [Bound(*map(int, bound.split(":"))) for bound in items(values)]


def side_of(letter: str) -> int:
    return "LR".index(letter)


def type_text(kind: JoinType) -> str:
    return kind.name.replace(" ", "_")


def type_of(name: str) -> JoinType:
    return next(kind for kind in JOIN_TYPES if kind.name == name.replace("_", " "))


# ---- parts of cases ----


def join_text(join: Join, row: Row, marks: Watermarks, kind: JoinType) -> Fields:
    return {
        "columns": listed([column_text(c) for c in join.columns]),
        "conjuncts": bounds_text(join.conjuncts),
        "facts": bounds_text(join.facts),
        "times": listed([optional(row[i]) for i in range(len(join.columns))]),
        "marks": listed([optional(mark) for mark in marks]),
        "type": type_text(kind),
    }


def join_of(fields: Fields) -> Join:
    return Join(
        [column_of(c) for c in items(fields["columns"])],
        bounds_of(fields["conjuncts"]),
        bounds_of(fields["facts"]),
    )


def kind_of(fields: Fields) -> str:
    return next(iter(fields))


def joins_of(cases: Sequence[Fields]) -> list[Join]:
    """The joins that other cases refer to by number."""
    return [join_of(fields) for fields in cases if kind_of(fields) == "columns"]
