"""A proof: a claim about a rule, and a weakened rule for which the claim fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

import z3

from tests.proofs.terms import Truth, all_of, negate

SOUND = "sound"
TIGHT = "tight"
OUTPUT = "output"
MONOTONE = "monotone"
EXACT = "exact"


class Claim(NamedTuple):
    """For all values: if all of `given` hold, `then` holds."""

    given: Sequence[Truth]
    then: Truth


Statement: TypeAlias = Callable[[Any], "Claim | list[Claim]"]


@dataclass(frozen=True)
class Proof:
    """A claim about a rule.

    Attributes
    ----------
    number
        the number of the rule in docs/internals/rules.md
    about
        the kind of claim: SOUND, TIGHT, OUTPUT, MONOTONE or EXACT
    statement
        the function that makes the claims of a rule
    rule
        the rule of the product
    weakened
        the rule with a deliberate mistake

    """

    number: str
    about: str
    statement: Statement
    rule: Any
    weakened: Any

    @property
    def name(self) -> str:
        return f"{self.number}-{self.about}-{self.statement.__name__}"


PROOFS: list[Proof] = []


def proof(number: str, about: str, *, rule: Any, weakened: Any) -> Callable[[Statement], Statement]:
    """Register the claims that a function makes about `rule`."""

    def register(statement: Statement) -> Statement:
        PROOFS.append(Proof(number, about, statement, rule, weakened))
        return statement

    return register


def claims(statement: Statement, rule: Any) -> list[Claim]:
    """The claims of a statement.

    Without those that assume the constant False: a shape of joins may have no row of the kind that
    a claim is about, for example no column that evicts a row of one side.
    """
    found = statement(rule)
    every = [found] if isinstance(found, Claim) else found
    return [claim for claim in every if not any(part is False for part in claim.given)]


def counterexample(claim: Claim) -> z3.ModelRef | None:
    """Values for which the claim fails; None if it holds for all values."""
    return model(all_of(*claim.given, negate(claim.then)))


def model(formula: Truth) -> z3.ModelRef | None:
    """Values for which a formula holds; None if there are none."""
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.add(formula)
    answer = solver.check()
    if answer == z3.unknown:
        raise AssertionError(f"the solver gives up: {solver.reason_unknown()}")
    return cast(z3.ModelRef, solver.model()) if answer == z3.sat else None
