"""The recorded answers of the cases that the Scala core replays equal those of the rules."""

from __future__ import annotations

import pytest

from tests.proofs.cases import FILE, answer_join, answered, parsed
from tests.proofs.new_cases import weakened_joins
from tests.proofs.rules import Join

LINES = FILE.read_text(encoding="utf-8").splitlines()
CASES = [parsed(line.partition(" => ")[0]) for line in LINES]


def test_recorded_answers_equal_the_rules() -> None:
    assert answered(CASES) == LINES


@pytest.mark.parametrize("rule", weakened_joins(), ids=lambda rule: rule.__name__)
def test_a_case_distinguishes_each_weakened_rule(rule: type[Join]) -> None:
    joins = [case for case in CASES if "columns" in case]
    assert any(answer_join(case, rule) != answer_join(case) for case in joins)
