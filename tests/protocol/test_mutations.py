"""Each rule of the protocol, weakened on purpose: the explorer must find a counterexample."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.protocol import model
from tests.protocol.explorer import explore
from tests.protocol.files import Code, File, Resident, widest
from tests.protocol.join import Change, Rows, merged
from tests.protocol.model import Done, Query, Size, State

NO_FAULT = Size(batches=4, begun=1, largest=1, crashes=0, failures=0, copies=0, maintenance=1)
BOTH_MAINTAIN = replace(NO_FAULT, batches=5, begun=3, maintenance=2)
FAILURE = replace(NO_FAULT, failures=1)
COPY = Size(batches=3, crashes=0, failures=0, copies=1, maintenance=0)
CRASH = replace(COPY, begun=2, crashes=1, copies=0)


class AnyRange(Code):
    """Ranges can begin and end at any version."""

    def may_merge(self, one: File) -> bool:
        return True


class NothingBesidesAWhole(Code):
    """Maintenance deletes what a range continues once a whole file in the range replaces it."""

    def besides(self, whole: File) -> set[int]:
        return set()


class DeletesAllBefore(Code):
    """All files of versions beyond the retention are deleted."""

    def needed_from(self, first: int, listed: frozenset[File]) -> frozenset[File]:
        return frozenset(f for f in listed if f.version >= first)


class NeedsOneId(Code):
    """Of a version that other files continue, only one task's file is retained."""

    def of_all_ids(self, some: list[File]) -> list[File]:
        first = min((f.uid for f in some), default=0)
        return [widest([f for f in some if f.uid == first])] if some else []


class ReadsOnce(Code):
    """A task does not list the folder again if a listed file is missing."""

    reads_again = False


class MarksAreDropped(Code):
    """A range drops the match marks of rows before it."""

    def merge(self, changes: tuple[Change, ...], whole: bool, newest: Change) -> Change:
        return merged(changes, whole=True)


class ContinuesAnyId(Code):
    """A file continues the previous version of an arbitrary task."""

    def before(self, listed: frozenset[File], file: File, uid: int) -> File:
        found = [f for f in listed if f.version == file.start]
        return widest([f for f in found if f.uid == max(f.uid for f in found)])


class OneId(Code):
    """All tasks of a version write the same file."""

    def file_id(self, written_before: int) -> int:
        return 0


class NothingIsUndone(Code):
    """A failed task returns its rows without a rollback."""

    def aborted(self, taken: Resident, now: Rows) -> Resident:
        return Resident(now, taken.version, None)


class PlansAgain(Query):
    """A restart plans a batch that the offset log already contains."""

    def is_planned(self, s: State, batch: int) -> bool:
        return False


class CommitsFirst(Query):
    """The commit log records a batch before the sink writes it."""

    def add_batch(self, s: State, batch: int, done: Done) -> tuple[str, State]:
        return self.commit(s, batch)


class SinkAppends(Query):
    """The sink appends a batch that it has already written."""

    sink_is_idempotent = False


STATE: tuple[tuple[type[Code], Size, str], ...] = (
    (AnyRange, BOTH_MAINTAIN, model.DELETED),
    (NothingBesidesAWhole, BOTH_MAINTAIN, model.DELETED),
    (DeletesAllBefore, NO_FAULT, model.DELETED),
    (NeedsOneId, FAILURE, model.DELETED),
    (ReadsOnce, replace(BOTH_MAINTAIN, maintenance=1), model.REFUSED),
    (MarksAreDropped, replace(NO_FAULT, largest=2), model.EXACT),
    (ContinuesAnyId, COPY, model.EXACT),
    (OneId, COPY, model.EXACT),
    (NothingIsUndone, FAILURE, model.EXACT),
)
DRIVER: tuple[tuple[type[Query], Size, str], ...] = (
    (PlansAgain, CRASH, model.WRONG),
    (CommitsFirst, CRASH, model.LOST),
    (SinkAppends, CRASH, model.TWICE),
)


def _name(parameter: object) -> str:
    return parameter.__name__ if isinstance(parameter, type) else ""


@pytest.mark.parametrize(("weakened", "size", "violated"), STATE, ids=_name)
def test_weakened_state_rule_violates_its_property(
    weakened: type[Code], size: Size, violated: str
) -> None:
    _check(Query(size, weakened()), violated)


@pytest.mark.parametrize(("weakened", "size", "violated"), DRIVER, ids=_name)
def test_weakened_driver_rule_violates_its_property(
    weakened: type[Query], size: Size, violated: str
) -> None:
    _check(weakened(size), violated)


def _check(query: Query, violated: str) -> None:
    explored = explore(query)
    print(f"{explored.states} states\n{explored.found}")
    assert explored.found is not None
    assert explored.found.property_name == violated
