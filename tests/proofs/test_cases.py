"""The cases that the Scala core replays have the answers of the rules."""

from __future__ import annotations

import pytest

from tests.proofs.cases import FILE, answer_join, answered, parsed
from tests.proofs.new_cases import weakened_joins
from tests.proofs.rules import Join

LINES = FILE.read_text(encoding="utf-8").splitlines()
CASES = [parsed(line.partition(" => ")[0]) for line in LINES]


def test_answers() -> None:
    assert answered(CASES) == LINES


@pytest.mark.parametrize("rule", weakened_joins(), ids=lambda rule: rule.__name__)
def test_some_case_tells_a_weakened_rule(rule: type[Join]) -> None:
    joins = [case for case in CASES if "columns" in case]
    assert any(answer_join(case, rule) != answer_join(case) for case in joins)
