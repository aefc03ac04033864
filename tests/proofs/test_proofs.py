"""Each rule is proven for all values, and each proof fails for a weakened rule."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.proofs import (
    asof,
    batches,
    buckets,
    chains,
    changelog,
    closure,
    eviction,
    longs,
    ordered,
    plans,
)
from tests.proofs.gaps import GAPS, Gap
from tests.proofs.proof import PROOFS, Proof, claims, counterexample, model
from tests.proofs.terms import all_of

MODULES = (asof, batches, buckets, changelog, chains, closure, eviction, longs, ordered, plans)


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_rule_is_proven_and_its_weakened_form_is_not(
    proof: Proof, record_property: Callable[[str, object], None]
) -> None:
    begun = time.perf_counter()
    proven = claims(proof.statement, proof.rule)
    for claim in proven:
        assert counterexample(claim) is None, counterexample(claim)
        # A claim whose assumptions are unsatisfiable would be vacuous.
        assert model(all_of(*claim.given)) is not None
    assert proven
    failed = [counterexample(claim) for claim in claims(proof.statement, proof.weakened)]
    example = next((values for values in failed if values is not None), None)
    assert example is not None, "the weakened rule is proven as well"
    took = 1000 * (time.perf_counter() - begun)
    verdict = f"{proof.number} {proof.about}: proven, {len(proven)} claims, {took:.0f} ms"
    record_property("verdict", verdict)
    print(f"{verdict}; {proof.statement.__name__}; the weakened rule fails for {example}")


@pytest.mark.parametrize(
    ("number", "formula"), GAPS, ids=lambda part: getattr(part, "__name__", part)
)
def test_gap_has_an_example(number: str, formula: Gap) -> None:
    example = model(formula())
    assert example is not None
    print(f"{number} is not tight: {formula.__name__}, {example}")
