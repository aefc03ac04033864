"""The rules and the code: both give the same answers in the recorded cases and in random ones."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import Any

import pyspark
import pytest

from tests.proofs import answers, cases, changelog_runs, rules, runs, test_proofs
from tests.proofs.answers import answer, answered
from tests.proofs.cases import FILE, Fields, joins_of, kind_of, parsed, text
from tests.proofs.draws import drawn
from tests.proofs.proof import PROOFS, Proof
from tests.proofs.rules import Join, received, settled

LINES = FILE.read_text(encoding="utf-8").splitlines()
CASES = [parsed(line.partition(" => ")[0]) for line in LINES]
JARS = Path(__file__).parents[1] / "jars" / "core"

ANSWERING = (answers, cases, changelog_runs, rules, runs)
"""The modules in which a weakened rule replaces the rule."""


def test_recorded_answers_equal_the_rules() -> None:
    assert answered(CASES) == LINES


def test_the_code_answers_random_cases_as_the_rules_do(pytestconfig: pytest.Config) -> None:
    seed, scale = pytestconfig.option.rules_seed, pytestconfig.option.rules_scale
    found = drawn(Random(seed), [], scale)
    jars = [*JARS.glob("*.jar"), *(Path(pyspark.__path__[0]) / "jars").glob("scala-library-*.jar")]
    lines = subprocess.run(
        ["java", "-cp", os.pathsep.join(map(str, jars)), "io.streamjoin.rules.CodeAnswers"],
        input="\n".join(map(text, found)),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    joins = joins_of(found)
    for case, line in zip(found, lines, strict=True):
        assert parsed(line) == answer(case, joins), f"--rules-seed {seed}\n{text(case)}"


# ---- each rule is seen by a case ----


@contextmanager
def replaced(rule: Any, weakened: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ANSWERING:
            for name in [name for name, value in vars(module).items() if value is rule]:
                patch.setattr(module, name, weakened)
        yield


def in_turns() -> list[int]:
    """The cases of all kinds in turns, so that some case of each kind is among the first."""
    kinds = dict.fromkeys(map(kind_of, CASES))
    numbers = [[i for i, case in enumerate(CASES) if kind_of(case) == kind] for kind in kinds]
    return [i for i in chain.from_iterable(zip_longest(*numbers)) if i is not None]


ELSEWHERE = (received, settled)
"""R1 and the watermark of an idle input (R16): in the Spark module, not in the core."""

TIED = [one for one in PROOFS if one.rule not in ELSEWHERE]


@pytest.mark.parametrize("proof", TIED, ids=lambda one: f"{one.number}-{one.weakened.__name__}")
def test_a_case_distinguishes_each_weakened_rule(proof: Proof) -> None:
    assert test_proofs.MODULES
    with replaced(proof.rule, proof.weakened):
        joins = joins_of(CASES)
        assert any(differs(CASES[i], joins, LINES[i]) for i in in_turns())


def differs(case: Fields, joins: list[Join], line: str) -> bool:
    return text(answer(case, joins)) != line.partition(" => ")[2]
