"""R25 to R30: changelog joins."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import TypeAlias

import z3

from tests.proofs import changelog_rules as rules
from tests.proofs import shapes
from tests.proofs.changelog_rules import Counted, Delta, EvictionRule, Partners, Stay, Version
from tests.proofs.proof import EXACT, OUTPUT, SOUND, TIGHT, Claim, proof
from tests.proofs.rules import LEFT, SIDES, Join, Row, Watermarks
from tests.proofs.shapes import joined, unknown_or
from tests.proofs.terms import (
    Maybe,
    Term,
    Truth,
    all_of,
    any_of,
    implies,
    is_below,
    known,
    lowest,
    moved,
    negate,
    same,
)


def stay(name: str) -> Stay:
    return Stay(z3.Bool(f"{name}_before"), z3.Bool(f"{name}_after"))


def exactly(delta: Delta, before: Truth, after: Truth) -> Truth:
    return all_of(
        same(delta.deleted, all_of(before, negate(after))),
        same(delta.inserted, all_of(negate(before), after)),
    )


DeltaOfPair: TypeAlias = Callable[[Stay, Stay], Delta]


def without_both_removed(left: Stay, right: Stay) -> Delta:
    found = rules.delta_of_pair(left, right)
    return Delta(all_of(found.deleted, any_of(left.after, right.after)), found.inserted)


@proof("R25", EXACT, rule=rules.delta_of_pair, weakened=without_both_removed)
def a_batch_emits_the_difference_of_its_pairs(rule: DeltaOfPair) -> Claim:
    """For any two rows, hence for all; no pair is both deleted and inserted."""
    left, right = stay("left"), stay("right")
    delta = rule(left, right)
    before, after = all_of(left.before, right.before), all_of(left.after, right.after)
    return Claim(
        [], all_of(exactly(delta, before, after), negate(all_of(delta.deleted, delta.inserted)))
    )


DeltaOfRow: TypeAlias = Callable[[Stay, Partners, bool], Delta]


def blind_to_partners_that_stay(row: Stay, partners: Partners, semi: bool) -> Delta:
    return rules.delta_of_row(row, partners._replace(kept=0), semi)


@proof("R26", EXACT, rule=rules.delta_of_row, weakened=blind_to_partners_that_stay)
def a_batch_emits_the_difference_of_its_unmatched_rows(rule: DeltaOfRow) -> list[Claim]:
    """For outer and anti joins and, with the opposite condition, for semi joins."""
    row = stay("row")
    kept, removed, added = z3.Ints("kept removed added")
    marked = z3.Bool("marked")
    counts = [kept >= 0, removed >= 0, added >= 0, implies(row.added, negate(marked))]
    found = []
    for semi in (False, True):
        had = any_of(marked, kept + removed > 0)
        has = any_of(marked, kept + added > 0)
        before = all_of(row.before, rules.is_alone(had, semi))
        after = all_of(row.after, rules.is_alone(has, semi))
        delta = rule(row, Partners(kept, removed, added, marked), semi)
        found.append(Claim(counts, exactly(delta, before, after)))
    return found


class LeavesByPartnersAlone(EvictionRule):
    def clock(self, column: int, watermarks: Watermarks) -> Maybe:
        return self.join.bound(column, watermarks)


@proof("R27", SOUND, rule=EvictionRule, weakened=LeavesByPartnersAlone)
def an_evicted_row_can_neither_change_nor_match(kind: type[EvictionRule]) -> list[Claim]:
    found = []
    for shape in shapes.ALL:
        join = shape(Join)
        leaving = kind(join)
        pair, matched = joined(join)
        marks = shapes.watermarks(join)
        for side in SIDES:
            left = [leaving.leaves(side, pair, marks), negate(join.contradictory)]
            in_time = negate(join.late(1 - side, pair, marks))
            found.append(Claim([*left, join.arrives(side, pair)], join.late(side, pair, marks)))
            found.append(Claim([*left, *matched], negate(in_time)))
    return found


class LeavesOneLate(EvictionRule):
    def clock(self, column: int, watermarks: Watermarks) -> Maybe:
        return moved(super().clock(column, watermarks), -1)


@proof("R27", TIGHT, rule=EvictionRule, weakened=LeavesOneLate)
def a_stored_row_can_change_or_match(kind: type[EvictionRule]) -> Claim:
    """With one event time on a side. With several, a row can be stored slightly longer."""
    join = shapes.BOTH_WAYS(Join)
    marks = [known(z3.Int("w_0")), known(z3.Int("w_1"))]
    row = shapes.row(join, LEFT)
    return Claim(
        [negate(kind(join).leaves(LEFT, row, marks))],
        any_of(negate(join.late(LEFT, row, marks)), join.survives(LEFT, row, marks)),
    )


class LeavesByItsOwnWatermark(EvictionRule):
    def leaves(self, side: int, row: Row, watermarks: Watermarks) -> Truth:
        return any_of(
            *[is_below(row[i], moved(self.clock(i, watermarks), -1)) for i in self.columns(side)]
        )


@proof("R27", OUTPUT, rule=EvictionRule, weakened=LeavesByItsOwnWatermark)
def no_image_below_the_output_watermark_is_emitted_later(kind: type[EvictionRule]) -> list[Claim]:
    """An old image of a key whose time changes is included: it is the image of a stored row."""
    found = []
    for shape in shapes.ALL:
        join = shape(Join)
        leaving, marks = kind(join), shapes.watermarks(join)
        for side in SIDES:
            row = shapes.row(join, side)
            possible = any_of(
                negate(leaving.leaves(side, row, marks)), negate(join.late(side, row, marks))
            )
            for column in leaving.columns(side):
                out = join.output_watermark(column, marks)
                found.append(Claim([possible], negate(is_below(row[column], out))))
    return found


Marked: TypeAlias = Callable[[Truth, Truth, Truth], Truth]


def forgets(before: Truth, evicted: Truth, pairs: Truth) -> Truth:
    return before


@proof("R27", EXACT, rule=rules.marked, weakened=forgets)
def an_evicted_row_changes_no_other_row(rule: Marked) -> list[Claim]:
    """A row had a partner before an eviction if and only if it has one, or a mark, after it."""
    partners = z3.Int("partners")
    mark, evicted, pairs = z3.Bools("mark evicted pairs")
    gone = z3.If(z3.And(evicted, pairs), 1, 0)
    had = any_of(mark, partners > 0)
    has = any_of(rule(mark, evicted, pairs), partners - gone > 0)
    return [
        Claim([partners >= gone], same(rules.is_alone(had, semi), rules.is_alone(has, semi)))
        for semi in (False, True)
    ]


HasResult: TypeAlias = Callable[[Truth, Truth, Truth], Truth]


def never_unmarks(before: Truth, lost: Truth, partner: Truth) -> Truth:
    return any_of(before, partner)


@proof("R28", EXACT, rule=rules.has_result, weakened=never_unmarks)
def a_row_is_marked_if_and_only_if_its_key_has_a_result(rule: HasResult) -> Claim:
    """For a key that identifies the result, whether or not partners have expired."""
    mark, result, before, after = z3.Bools("mark result before after")
    # The table after the batch, by the deletes and inserts of R25.
    lost = all_of(before, negate(after))
    left = any_of(after, all_of(result, negate(lost)))
    given = [same(mark, result), implies(before, result)]
    return Claim(given, same(rule(mark, lost, after), left))


OfAge: TypeAlias = Callable[[Term, Term, Term], Truth]


def from_its_end_on(written: Term, ttl: Term, clock: Term) -> Truth:
    return written + ttl <= clock


@proof("R28", TIGHT, rule=rules.of_age, weakened=from_its_end_on)
def a_row_is_stored_until_its_expiry_time(rule: OfAge) -> Claim:
    written, ttl = z3.Ints("written ttl")
    return Claim(
        [], all_of(negate(rule(written, ttl, written + ttl)), rule(written, ttl, written + ttl + 1))
    )


Latest: TypeAlias = Callable[[Version, Version], Version]


def last_arrived(stored: Version, change: Version) -> Version:
    return change


def version(name: str) -> Version:
    return Version(unknown_or(name), z3.Bool(f"{name}_present"), z3.Int(f"{name}_row"))


@proof("R29", EXACT, rule=rules.latest, weakened=last_arrived)
def the_change_with_the_largest_sequence_is_the_latest_version(rule: Latest) -> list[Claim]:
    """In any order and any batches, if no two changes have the same sequence."""
    stored, *changes = [version(name) for name in ("stored", "a", "b", "c")]
    every = [stored, *changes]
    differ = [
        negate(equal(one.sequence, two.sequence))
        for i, one in enumerate(every)
        for two in every[:i]
    ]
    first, *others = [applied(rule, stored, order) for order in permutations(changes)]
    return [
        Claim(
            differ,
            all_of(
                equal(first.sequence, other.sequence),
                same(first.present, other.present),
                first.row == other.row,
            ),
        )
        for other in others
    ]


def applied(rule: Latest, stored: Version, changes: tuple[Version, ...]) -> Version:
    for change in changes:
        stored = rule(stored, change)
    return stored


def equal(one: Maybe, two: Maybe) -> Truth:
    return all_of(same(one.there, two.there), implies(one.there, one.value == two.value))


Netting: TypeAlias = Callable[[Term, Term, Term, bool], Counted]


def below_none(stored: Term, come: Term, go: Term, by_write: bool) -> Counted:
    return Counted(stored + come - go, 0, come - go)


def removals_first(stored: Term, come: Term, go: Term, by_write: bool) -> Counted:
    taken = lowest(stored, go)
    return Counted(stored - taken + come, taken, come)


@proof("R30", EXACT, rule=rules.counted, weakened=below_none)
def equal_rows_are_counted(rule: Netting) -> list[Claim]:
    stored, come, go = z3.Ints("stored come go")
    given = [stored >= 0, come >= 0, go >= 0]
    found = []
    for by_write in (False, True):
        net = rule(stored, come, go, by_write)
        found += [
            Claim(given, net.stored == rules.net_count(stored, come, go)),
            Claim(given, net.stored == stored - net.removed + net.added),
            Claim(given, all_of(net.removed >= 0, net.added >= 0)),
            Claim(given, any_of(net.removed == 0, net.added == 0)),
        ]
    return found


@proof("R30", SOUND, rule=rules.counted, weakened=removals_first)
def stored_counts_do_not_depend_on_batch_boundaries(rule: Netting) -> Claim:
    """Provided that the first of two batches removes no more rows than exist."""
    stored, come, go, more, less = z3.Ints("stored come go more less")
    apart = rule(rule(stored, come, go, False).stored, more, less, False).stored
    together = rule(stored, come + more, go + less, False).stored
    given = [n >= 0 for n in (stored, come, go, more, less)]
    return Claim([*given, stored + come >= go], apart == together)
