"""R21 to R24: as-of joins."""

from __future__ import annotations

import z3

from tests.proofs.proof import MONOTONE, OUTPUT, SOUND, TIGHT, Claim, proof
from tests.proofs.rules import AsOf
from tests.proofs.shapes import unknown_or
from tests.proofs.terms import (
    Maybe,
    Term,
    Truth,
    all_of,
    any_of,
    implies,
    is_at_least,
    is_below,
    known,
    least_if_all,
    moved,
    negate,
)


def join(kind: type[AsOf], tolerance: bool = True) -> AsOf:
    return kind(z3.Int("reach"), z3.Int("tolerance") if tolerance else None)


PROBE, BUILD = unknown_or("probe_watermark"), unknown_or("build_watermark")


def in_time(time: Term, watermark: Maybe) -> Truth:
    return negate(is_below(known(time), watermark))


class DueByItsOwnWatermark(AsOf):
    def limit(self, probe: Maybe, build: Maybe) -> Maybe:
        return moved(probe, self.reach)


@proof("R21", SOUND, rule=AsOf, weakened=DueByItsOwnWatermark)
def a_probe_row_is_due_once_no_earlier_build_row_can_arrive(kind: type[AsOf]) -> list[Claim]:
    asof, (probe, build) = join(kind), z3.Ints("probe build")
    limit = asof.limit(PROBE, BUILD)
    return [
        Claim(
            [asof.is_due(True, probe, limit), in_time(build, BUILD)],
            negate(asof.precedes(probe, build)),
        ),
        # Rows on time are not below the limit of the previous batch.
        Claim([in_time(probe, PROBE)], negate(asof.is_due(True, probe, limit))),
        Claim([in_time(build, BUILD)], negate(asof.is_due(False, build, limit))),
    ]


class DueOneLate(AsOf):
    def is_due(self, probes: bool, time: Term, limit: Maybe) -> Truth:
        return super().is_due(probes, time + 1, limit)


@proof("R21", TIGHT, rule=AsOf, weakened=DueOneLate)
def a_buffered_probe_row_waits_for_a_row_that_can_arrive(kind: type[AsOf]) -> Claim:
    """An earlier build row, or an earlier probe row for which latest rows are stored."""
    asof, probe = join(kind), z3.Int("probe")
    limit = asof.limit(PROBE, BUILD)
    waits = negate(asof.is_due(True, probe, limit))
    return Claim(
        [waits, PROBE.there, BUILD.there],
        any_of(asof.precedes(probe, BUILD.value), PROBE.value <= probe),
    )


class SettledTooSoon(AsOf):
    def is_due(self, probes: bool, time: Term, limit: Maybe) -> Truth:
        return super().is_due(probes, time if probes else time - 2, limit)


@proof("R22", SOUND, rule=AsOf, weakened=SettledTooSoon)
def a_due_build_row_precedes_each_later_probe_row(kind: type[AsOf]) -> Claim:
    """The latest rows of each key suffice: a probe row after an earlier row is also after them."""
    asof, (probe, later) = join(kind), z3.Ints("probe later")
    limit = asof.limit(PROBE, BUILD)
    return Claim(
        [
            PROBE.there,
            BUILD.there,
            asof.is_due(False, later, limit),
            negate(asof.is_due(True, probe, limit)),
        ],
        asof.precedes(probe, later),
    )


class DueAtTheLimit(AsOf):
    def is_due(self, probes: bool, time: Term, limit: Maybe) -> Truth:
        return super().is_due(probes, time - 1, limit)


@proof("R22", SOUND, rule=AsOf, weakened=DueAtTheLimit)
def no_row_that_a_due_delete_applies_to_can_arrive(kind: type[AsOf]) -> Claim:
    """The delete need not be stored. A row at its time could precede it by sequence."""
    asof, (end, build) = join(kind), z3.Ints("end build")
    limit = asof.limit(PROBE, BUILD)
    return Claim([asof.is_due(False, end, limit), in_time(build, BUILD)], end < build)


class StrictlyBefore(AsOf):
    def precedes(self, probe: Term, build: Term) -> Truth:
        return build < probe + self.reach


@proof("R22", TIGHT, rule=AsOf, weakened=StrictlyBefore)
def the_latest_due_build_row_can_still_match(kind: type[AsOf]) -> Claim:
    """The partner is the probe row whose horizon is the limit."""
    asof, build = join(kind), z3.Int("build")
    limit = asof.limit(PROBE, BUILD)
    probe = limit.value - asof.reach
    return Claim(
        [limit.there, build <= limit.value],
        all_of(asof.precedes(probe, build), negate(asof.is_due(True, probe, limit))),
    )


class ExpiresAtTheLimit(AsOf):
    def expired(self, build: Term, limit: Maybe) -> Truth:
        return super().expired(build - 1, limit)


@proof("R23", SOUND, rule=AsOf, weakened=ExpiresAtTheLimit)
def an_expired_row_is_too_old_for_each_later_probe_row(kind: type[AsOf]) -> Claim:
    asof, (probe, build) = join(kind), z3.Ints("probe build")
    limit = asof.limit(PROBE, BUILD)
    return Claim(
        [asof.expired(build, limit), negate(asof.is_due(True, probe, limit))],
        negate(asof.recent(probe, build)),
    )


class ExpiresOneLate(AsOf):
    def expired(self, build: Term, limit: Maybe) -> Truth:
        return super().expired(build + 1, limit)


@proof("R23", TIGHT, rule=AsOf, weakened=ExpiresOneLate)
def a_stored_build_row_is_recent_enough_for_a_probe_row(kind: type[AsOf]) -> Claim:
    asof, build = join(kind), z3.Int("build")
    limit = asof.limit(PROBE, BUILD)
    probe = limit.value - asof.reach
    return Claim([limit.there, negate(asof.expired(build, limit))], asof.recent(probe, build))


class AsAnEventTimeJoin(AsOf):
    """The output watermark of a join that emits a pair as soon as both rows have arrived."""

    def build_watermark(self, probe: Maybe, build: Maybe) -> Maybe:
        return least_if_all([build, moved(probe, 0 if self.tolerance is None else -self.tolerance)])


@proof("R24", OUTPUT, rule=AsOf, weakened=AsAnEventTimeJoin)
def no_time_below_the_output_watermark_is_emitted_later(kind: type[AsOf]) -> list[Claim]:
    asof, (probe, build) = join(kind), z3.Ints("probe build")
    limit = asof.limit(PROBE, BUILD)
    later = negate(asof.is_due(True, probe, limit))
    return [
        Claim([later], in_time(probe, asof.probe_watermark(PROBE, BUILD))),
        Claim(
            [later, asof.recent(probe, build)], in_time(build, asof.build_watermark(PROBE, BUILD))
        ),
    ]


class LimitOfTheDistance(AsOf):
    def limit(self, probe: Maybe, build: Maybe) -> Maybe:
        return moved(probe, -build.value)


@proof("R24", MONOTONE, rule=AsOf, weakened=LimitOfTheDistance)
def the_output_watermarks_never_decrease(kind: type[AsOf]) -> list[Claim]:
    asof = join(kind)
    later = [unknown_or("later_probe"), unknown_or("later_build")]
    given = [
        implies(a.there, is_at_least(b, a)) for a, b in zip([PROBE, BUILD], later, strict=True)
    ]
    found = []
    for rule in (asof.probe_watermark, asof.build_watermark):
        before = rule(PROBE, BUILD)
        found.append(Claim([*given, before.there], is_at_least(rule(*later), before)))
    return found
