"""docs/internals/rules.md: the proven properties that it lists, and its example."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from tests.proofs import test_proofs
from tests.proofs.gaps import GAPS
from tests.proofs.proof import PROOFS
from tests.proofs.rules import LEFT, RIGHT, Bound, Column, Join, Row, received
from tests.proofs.terms import ABSENT, Maybe, known

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "internals" / "rules.md").read_text(encoding="utf-8")
RULE = re.compile(r"^\*\*(R\d+) [^*]+\*\*(.*?)\*Proven:\s+([^*]+)\.\*$", re.MULTILINE | re.DOTALL)


def test_page_lists_exactly_the_proven_rules() -> None:
    assert test_proofs.MODULES
    proven = defaultdict(set)
    for one in PROOFS:
        proven[one.number].add(one.about)
    stated = {number: set(re.split(r",\s+", about)) for number, _, about in RULE.findall(PAGE)}
    assert stated == proven
    assert sorted(stated, key=lambda r: int(r[1:])) == [f"R{i + 1}" for i in range(len(stated))]


def test_each_rule_of_the_page_states_its_proofs() -> None:
    assert len(RULE.findall(PAGE)) == len(re.findall(r"^\*\*R\d+ ", PAGE, re.MULTILINE))


def test_scala_core_cites_existing_rules() -> None:
    cited = [
        number
        for source in (ROOT / "jvm" / "core" / "src" / "main").rglob("*.scala")
        for line in re.findall(
            r"\* Rules? (.*) of `docs/internals/rules.md`", source.read_text("utf-8")
        )
        for number in re.findall(r"R\d+", line)
    ]
    assert len(cited) > 20
    assert set(cited) <= {number for number, _, _ in RULE.findall(PAGE)}


def test_page_lists_the_rules_that_are_not_tight() -> None:
    listed = PAGE.partition("## Not tight")[2].partition("## Not proven")[0]
    assert re.findall(r"^- \*\*(R\d+)\*\*", listed, re.MULTILINE) == [number for number, _ in GAPS]


def known_row(times: dict[int, int]) -> Row:
    return {column: known(value) for column, value in times.items()}


def test_example_of_the_page_follows_the_rules() -> None:
    def at(time: str) -> int:
        hours, minutes = time.split(":")
        return 60 * int(hours) + int(minutes)

    o, d = 0, 1
    join = Join([Column(LEFT), Column(RIGHT)], [Bound(d, o, 0), Bound(o, d, 60)])
    marks: list[tuple[Maybe, Maybe]] = [(ABSENT, ABSENT)]
    for largest in [("10:30", "10:40"), ("10:15", "11:15"), (None, "11:50")]:
        arrived = [known(at(time)) if time else ABSENT for time in largest]
        w_o, w_d = (
            received(before, time, 10) for before, time in zip(marks[-1], arrived, strict=True)
        )
        marks.append((w_o, w_d))
    assert [(w_o.value, w_d.value) for w_o, w_d in marks[1:]] == [
        (at("10:20"), at("10:30")),
        (at("10:20"), at("11:05")),
        (at("10:20"), at("11:40")),
    ]
    a, b, c = (known_row({o: at(time)}) for time in ("10:00", "10:30", "10:15"))
    assert join.limit(LEFT, a, d) == known(at("11:00"))
    assert all(join.survives(LEFT, row, marks[1]) for row in (a, b))
    assert join.survives(RIGHT, known_row({d: at("10:40")}), marks[1])
    assert join.late(LEFT, c, marks[1])
    assert [join.survives(LEFT, a, marks[2]), join.survives(LEFT, b, marks[2])] == [False, True]
    assert not join.survives(LEFT, b, marks[3])
    assert join.output_watermark(o, marks[2]) == known(at("10:05"))
