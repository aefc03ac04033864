"""The state files of one partition, and how the code interprets them.

The names are those of `SegmentStateStoreProvider`, `StoredVersions` and `StateFiles`. A mutation
overrides one method of `Code`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, TypeAlias

from tests.protocol.join import NOTHING, Change, Rows, merged, restored


class File(NamedTuple):
    """`StateFile`: the changes after version `start`, up to and including `version`."""

    version: int
    uid: int
    """The id of the task; tasks are numbered in the order in which they wrote the version."""
    start: int

    @property
    def span(self) -> int:
        return self.version - self.start

    def __str__(self) -> str:
        name = f"{self.version}_{chr(ord('a') + self.uid)}"
        if self.span == 1:
            return f"{name}.change"
        return f"{name}.whole" if self.start == 0 else f"{name}.{self.start}.range"


class Written(NamedTuple):
    before: int | None
    """The uid of the file that this one continues."""
    change: Change
    complete: bool = True


Folder: TypeAlias = "frozenset[tuple[File, Written]]"
Chain: TypeAlias = "tuple[File, ...]"
"""Files of one version, newest first."""


class Version(NamedTuple):
    number: int
    files: Chain

    @property
    def newest_file(self) -> File | None:
        return self.files[0] if self.files else None


class Resident(NamedTuple):
    """Rows in memory, and the previous version, to which they can be rolled back."""

    rows: Rows
    version: Version
    before: tuple[Rows, Version] | None


class MissingError(Exception):
    """A file, or every file of a version, is missing."""


class Code:
    """The behaviour of the product."""

    retained = 1
    """`minBatchesToRetain`."""
    spans = (2, 4)
    """`MergeRule.Spans`: 10, 100 and 1000 versions in the product."""
    reads_again = True
    """Whether a task lists the folder again if a listed file is missing."""

    # ---- MergeRule ----

    def may_merge(self, one: File) -> bool:
        """More than `MergeRule.next` merges: any whole, and each aligned range."""
        return one.start == 0 or (one.span in self.spans and one.version % one.span == 0)

    def besides(self, whole: File) -> set[int]:
        return {whole.version - whole.version % span for span in self.spans} - {whole.version}

    # ---- StoredVersions ----

    def find(self, listed: frozenset[File], number: int, uid: int | None) -> File:
        found = [f for f in listed if f.version == number and uid in (None, f.uid)]
        if not found:
            raise MissingError(f"a file of version {number}")
        changes = [f for f in found if f.span == 1]
        last = max(changes or found, key=lambda f: f.uid)
        return widest([f for f in found if f.uid == last.uid])

    def before(self, listed: frozenset[File], file: File, uid: int) -> File:
        """The file that this file continues; `listed` was read when the first file was found."""
        found = [f for f in listed if f.span > 1 and (f.version, f.uid) == (file.start, uid)]
        return widest(found) if found else File(file.start, uid, file.start - 1)

    def needed_from(self, first: int, listed: frozenset[File]) -> frozenset[File]:
        needed: set[File] = set()
        asked = [f for f in listed if f.version >= first]
        while asked:
            file = asked.pop()
            if file not in needed:
                needed.add(file)
                for number in {file.start} if file.start else self.besides(file):
                    if number < first:
                        asked += self.of_all_ids([f for f in listed if f.version == number])
        return frozenset(needed)

    def of_all_ids(self, some: list[File]) -> list[File]:
        """A file name contains the version that it continues, but not the id."""
        return [widest([f for f in some if f.uid == uid]) for uid in {f.uid for f in some}]

    def keep_from(self, newest: int) -> int:
        return newest - self.retained

    # ---- SegmentStateStoreProvider, Resident and Version ----

    def file_id(self, written_before: int) -> int:
        """The product uses a random uid, which no other task has."""
        return written_before

    def before_id(self, newest: File | None) -> int | None:
        return newest.uid if newest else None

    def at(self, held: Resident, number: int, uid: int | None) -> Resident | None:
        def fits(version: Version) -> bool:
            newest = version.newest_file
            return version.number == number and (
                uid is None or (newest is not None and newest.uid == uid)
            )

        if fits(held.version):
            return Resident(held.rows, held.version, None)
        if held.before and fits(held.before[1]):
            return Resident(*held.before, None)
        return None

    def aborted(self, taken: Resident, now: Rows) -> Resident:
        return Resident(taken.rows, taken.version, None)

    def merged_to(self, version: Version, one: File) -> Version:
        same = [f for f in version.files if (f.version, f.uid) == (one.version, one.uid)]
        apart = all(f.start != one.start for f in version.files)
        if apart or not any(f.start > one.start for f in same):
            return version
        above = [f for f in version.files if f.version > one.version]
        below = [f for f in version.files if f.version <= one.start]
        return Version(version.number, (*above, one, *below))

    def one_of(self, version: Version, some: Chain) -> tuple[File, int | None]:
        """The file that the given files are merged into, and the uid of the file before it."""
        last = version.files.index(some[-1])
        before = version.files[last + 1].uid if last + 1 < len(version.files) else None
        return some[0]._replace(start=0 if before is None else some[-1].start), before

    def merge(self, changes: tuple[Change, ...], whole: bool, newest: Change) -> Change:
        return merged(changes, whole)


def widest(some: list[File]) -> File:
    """Of files for one version, the one that needs the fewest other files."""
    return min(some, key=lambda f: f.start)


def names(folder: Folder) -> frozenset[File]:
    return frozenset(file for file, _ in folder)


def contents(folder: Folder, chain: Chain) -> Rows:
    written = dict(folder)
    return restored(tuple(written[file].change for file in chain))


@cache
def read(code: Code, folder: Folder, number: int, uid: int | None) -> tuple[Rows, Chain]:
    """A version as read without concurrent steps."""
    if number == 0:
        return NOTHING, ()
    written, listed = dict(folder), names(folder)
    chain: list[File] = []
    file: File | None = code.find(listed, number, uid)
    while file is not None:
        chain.append(file)
        if file not in written or not written[file].complete:
            raise MissingError(str(file))
        before = written[file].before
        file = None if before is None else code.before(listed, file, before)
    return contents(folder, tuple(chain)), tuple(chain)
