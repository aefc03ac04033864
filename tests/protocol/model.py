"""The protocol: query, tasks, executors, maintenance and faults, as steps between states.

A state is a tuple of the contents of the checkpoint, of the driver and of two executors, for one
partition. Steps have the names of the code. Each step reads or writes one thing that others see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from tests.protocol.explorer import ViolationError
from tests.protocol.files import (
    Chain,
    Code,
    File,
    Folder,
    MissingError,
    Resident,
    Version,
    Written,
    names,
    read,
)
from tests.protocol.join import NOTHING, ROWS, Change, Result, Rows, expected, process, restored

EXECUTORS = (0, 1)

LOST = "no row is lost"
TWICE = "no row is emitted twice"
WRONG = "no row is wrong"
WATERMARK = "watermarks never decrease"
EXACT = "a batch reads the state of the batch before"
DELETED = "no file is needed after it was deleted"
REFUSED = "no task of the batch is refused"
PROPERTIES = (LOST, TWICE, WRONG, WATERMARK, EXACT, DELETED, REFUSED)


@dataclass(frozen=True)
class Size:
    """The explored size: the number of batches, and of faults in one history."""

    batches: int = 2
    begun: int = 0
    """Batches that have run without faults and maintenance before a history begins."""
    crashes: int = 1
    failures: int = 1
    """Failed tasks and lost executors."""
    copies: int = 1
    """Speculative copies, and repeated actions on a batch."""
    maintenance: int = 1
    losses: int = 0
    """State files that are lost without a deletion."""
    ids: bool = False
    """Whether the commit log has the ids of state files (`checkpointFormatVersion` 2)."""
    largest: int = 2
    """Rows in a batch after the first batch."""


class Done(NamedTuple):
    """The result that a task has reported to the driver."""

    uid: int
    result: Result


class Task(NamedTuple):
    """An attempt of the task of a batch; `at` is its next step."""

    executor: int
    run: int
    batch: int
    asked: int | None
    at: str
    taken: Resident | None = None
    chain: Chain = ()
    read: tuple[Change, ...] = ()
    following: File | None = None
    before: int | None = None
    listed: frozenset[File] | None = None
    committed: Resident | None = None
    result: Result | None = None

    @property
    def name(self) -> str:
        return f"executor {self.executor + 1}, batch {self.batch}"


class Provider(NamedTuple):
    """`SegmentStateStoreProvider` of one run on one executor."""

    run: int
    executor: int
    resident: Resident | None = None
    newest: Version | None = None
    merged: Chain = ()
    doing: str = ""
    """The next step of `doMaintenance`."""
    version: Version | None = None
    one: File | None = None
    writes: Written | None = None
    deletes: Chain = ()

    @property
    def name(self) -> str:
        return f"maintenance of run {self.run} on executor {self.executor + 1}"


class State(NamedTuple):
    # the checkpoint and the sink
    offsets: tuple[int, ...] = ()
    """The number of rows up to each batch."""
    committed: int = 0
    uid: int | None = None
    """The uid of the state file in the commit log."""
    sink: tuple[tuple[int, frozenset[str]], ...] = ()
    folder: Folder = frozenset()
    written: tuple[int, ...] = ()
    """The number of tasks that have written each version."""
    # the driver
    run: int = 0
    phase: str = "down"
    done: Done | None = None
    # the executors
    tasks: tuple[Task, ...] = ()
    providers: tuple[Provider, ...] = ()
    holders: tuple[int, ...] = (0, 0)
    """`ResidentState`: for each executor, the run whose rows are in memory."""
    # remaining faults and actions
    crashes: int = 0
    failures: int = 0
    copies: int = 0
    maintenance: int = 0
    losses: int = 0
    lost: bool = False


Found: TypeAlias = "Iterator[tuple[str, State]]"


class Query:
    """The model. Driver mutations override its steps; state mutations override `Code`."""

    sink_is_idempotent = True

    def __init__(self, size: Size, code: Code | None = None) -> None:
        self.size = size
        self.code = code or Code()

    def start(self) -> State:
        s = self.size
        offsets: tuple[int, ...] = ()
        rows, sink, folder = NOTHING, [], []
        for batch in range(s.begun):
            start, end = (offsets[-1] if offsets else 0), self.ends(offsets)[0]
            result = process(rows, start, end, False)
            file = File(batch + 1, 0, batch)
            folder.append((file, Written(0 if batch else None, result.change)))
            rows, offsets = result.rows, (*offsets, end)
            sink.append((batch, result.emitted))
        return State(
            offsets=offsets,
            committed=s.begun,
            uid=0 if s.begun and s.ids else None,
            sink=tuple(sink),
            folder=_same(frozenset(folder)),
            written=(1,) * s.begun,
            crashes=s.crashes,
            failures=s.failures,
            copies=s.copies,
            maintenance=s.maintenance,
            losses=s.losses,
        )

    def is_end(self, state: State) -> bool:
        return state.committed == self.size.batches or state.lost

    def steps(self, state: State) -> Found:
        yield from self._driver(state)
        yield from self._launch(state)
        for task in state.tasks:
            yield from self._task(state, task)
        for provider in state.providers:
            yield from self._maintain(state, provider)
        yield from self._faults(state)

    # ---- driver: MicroBatchExecution ----

    def _driver(self, s: State) -> Found:
        batch = s.committed
        if batch == self.size.batches:
            return
        if s.phase == "down":
            again = self.is_planned(s, batch)
            yield (
                f"run {s.run + 1} starts: populateStartOffsets finds batch {batch} "
                + ("in the offset log only" if again else "to be planned"),
                s._replace(run=s.run + 1, phase="run" if again else "plan"),
            )
        elif s.phase == "plan":
            yield from self.plan(s, batch)
        elif s.phase == "sink" and s.done:
            yield self.add_batch(s, batch, s.done)
            if s.copies:
                yield (
                    f"a second action runs batch {batch} again",
                    s._replace(phase="run", done=None, copies=s.copies - 1),
                )
        elif s.phase == "commit":
            yield self.commit(s, batch)

    def is_planned(self, s: State, batch: int) -> bool:
        return len(s.offsets) > batch

    def plan(self, s: State, batch: int) -> Found:
        before = s.offsets[:batch]
        for end in self.ends(before):
            yield (
                f"offsetLog.add({batch}, {self.shown(before, end)})",
                s._replace(offsets=(*before, end), phase="run"),
            )

    def ends(self, offsets: tuple[int, ...]) -> list[int]:
        if not offsets:
            return [2]
        left = min(self.size.largest, len(ROWS) - offsets[-1])
        return [offsets[-1] + n for n in range(1, left + 1)]

    def shown(self, offsets: tuple[int, ...], end: int) -> str:
        start = offsets[-1] if offsets else 0
        rows = [
            (row.name if row.left else f"{row.name}'") + f" at {row.time}"
            for row in ROWS[start:end]
        ]
        return "rows " + ", ".join(rows)

    def add_batch(self, s: State, batch: int, done: Done) -> tuple[str, State]:
        emitted = done.result.emitted
        step = f"sink.addBatch({batch}, {{{', '.join(sorted(emitted))}}})"
        written = any(b == batch for b, _ in s.sink) and self.sink_is_idempotent
        sink = s.sink if written else (*s.sink, (batch, emitted))
        after = s._replace(sink=sink, phase="commit")
        self.check_sink(after, step)
        return step, after

    def commit(self, s: State, batch: int) -> tuple[str, State]:
        uid = s.done.uid if s.done and self.size.ids else None
        step = f"commitLog.add({batch})"
        after = s._replace(committed=batch + 1, uid=uid, phase="plan", done=None)
        self.check_sink(after, step)
        self.check_recoverable(after, step)
        return step, after

    # ---- tasks ----

    def _launch(self, s: State) -> Found:
        if s.phase != "run":
            return
        batch = s.committed
        running = any((t.run, t.batch) == (s.run, batch) for t in s.tasks)
        if running and not s.copies:
            return
        what = "a speculative copy of batch" if running else "the task of batch"
        # Before anything has run, the executors are symmetric.
        for executor in EXECUTORS if s.providers or s.tasks else EXECUTORS[:1]:
            task = Task(executor, s.run, batch, s.uid, "take")
            yield (
                f"{what} {batch} is launched on executor {executor + 1}",
                _put(s, None, task)._replace(copies=s.copies - running),
            )

    def _task(self, s: State, t: Task) -> Found:
        yield from getattr(self, f"_{t.at}")(s, t)
        if s.failures:
            after = self._given_up(s, t)._replace(failures=s.failures - 1)
            yield f"{t.name}: the task fails before this: {t.at}", after

    def _take(self, s: State, t: Task) -> Found:
        step = f"{t.name}: take(version {t.batch})"
        own = _provider(s, t.run, t.executor) or Provider(t.run, t.executor)
        # ResidentState: another run of the query releases its rows
        others = tuple(
            p._replace(resident=None) if p.executor == t.executor else p
            for p in s.providers
            if (p.run, p.executor) != (t.run, t.executor)
        )
        s = s._replace(
            providers=tuple(sorted((*others, own._replace(resident=None)), key=_place)),
            holders=tuple(t.run if e == t.executor else r for e, r in enumerate(s.holders)),
        )
        found = self.code.at(own.resident, t.batch, t.asked) if own.resident else None
        if found:
            yield self._opened(s, t, found, f"{step} from memory")
        elif t.batch == 0:
            yield self._opened(s, t, Resident(NOTHING, Version(0, ()), None), step)
        else:
            yield f"{step} from the files", _put(s, t, t._replace(at="find"))

    def _find(self, s: State, t: Task) -> Found:
        step = f"{t.name}: find(version {t.batch})"
        try:
            file = self.code.find(names(s.folder), t.batch, t.asked)
        except MissingError as missing:
            yield self._missing(s, t, step, missing)
        else:
            yield f"{step} = {file}", _put(s, t, t._replace(at="read", following=file))

    def _read(self, s: State, t: Task) -> Found:
        file = t.following
        assert file is not None
        step = f"{t.name}: files.read({file})"
        written = dict(s.folder).get(file)
        if written is None or not written.complete:
            yield self._missing(s, t, step, MissingError(str(file)))
            return
        t2 = t._replace(chain=(*t.chain, file), read=(*t.read, written.change), following=None)
        if written.before is None:
            version = Version(t.batch, t2.chain)
            s = _updated(s, t, lambda p: _read_here(p, version))
            yield self._opened(s, t, Resident(restored(t2.read), version, None), step)
        elif t.listed is None:
            yield step, _put(s, t, t2._replace(at="list", before=written.before))
        else:
            following = self.code.before(t.listed, file, written.before)
            yield step, _put(s, t, t2._replace(following=following))

    def _list(self, s: State, t: Task) -> Found:
        assert t.before is not None
        listed = names(s.folder)
        following = self.code.before(listed, t.chain[-1], t.before)
        t2 = t._replace(at="read", listed=listed, following=following, before=None)
        yield f"{t.name}: lists the files that were merged", _put(s, t, t2)

    def _missing(self, s: State, t: Task, step: str, missing: MissingError) -> tuple[str, State]:
        """Maintenance may have deleted a file after the task listed it: other files replace it."""
        why = f"{missing} is not there"
        if self.code.reads_again and self._is_readable(s, t):
            again = Task(t.executor, t.run, t.batch, t.asked, "find")
            return f"{step}: {why}, reads again", _put(s, t, again)
        if self._is_current(s, t) and not s.lost:
            raise ViolationError(REFUSED, step, why)
        return f"{step}: refused, {why}", self._given_up(s, t)

    def _is_readable(self, s: State, t: Task) -> bool:
        try:
            read(self.code, s.folder, t.batch, t.asked)
        except MissingError:
            return False
        return True

    def _is_current(self, s: State, t: Task) -> bool:
        return s.phase == "run" and (t.run, t.batch) == (s.run, s.committed)

    def _opened(self, s: State, t: Task, taken: Resident, step: str) -> tuple[str, State]:
        if self._is_current(s, t):
            self.check_rows(s, taken.rows, t.batch, step)
        t2 = Task(t.executor, t.run, t.batch, t.asked, "write", taken)
        return step, _put(s, t, t2)

    def _write(self, s: State, t: Task) -> Found:
        """`commit`, including `files.write`: the file appears by one rename."""
        assert t.taken is not None
        start = s.offsets[t.batch - 1] if t.batch else 0
        end = s.offsets[t.batch]
        for reverse in (False, True) if self.orders(start, end) else (False,):
            result = self.processed(s, t.taken.rows, start, end, reverse)
            written = (*s.written, *[0] * (t.batch + 1 - len(s.written)))
            file = File(t.batch + 1, self.code.file_id(written[t.batch]), t.batch)
            newest = t.taken.version.newest_file
            before = self.code.before_id(newest)
            after = s._replace(
                folder=_with_file(s.folder, file, Written(before, result.change)),
                written=tuple(n + (i == t.batch) for i, n in enumerate(written)),
            )
            version = Version(t.batch + 1, (file, *t.taken.version.files))
            committed = Resident(result.rows, version, (t.taken.rows, t.taken.version))
            t2 = t._replace(at="give", committed=committed, result=result)
            order = ", rows in the other order" if reverse else ""
            step = f"{t.name}: commit() writes {file}{_after(newest)}{order}"
            after = _put(after, t, t2)
            self.check_recoverable(after, step)
            yield step, after

    def orders(self, start: int, end: int) -> bool:
        return sum(row.left for row in ROWS[start:end]) > 1

    def processed(self, s: State, rows: Rows, start: int, end: int, reverse: bool) -> Result:
        return process(rows, start, end, reverse)

    def _give(self, s: State, t: Task) -> Found:
        assert t.committed is not None
        assert t.committed.version.newest_file is not None
        s = self._given(s, t, t.committed)
        t2 = t._replace(
            at="report", taken=None, committed=None, following=t.committed.version.newest_file
        )
        yield f"{t.name}: give(version {t.batch + 1})", _put(s, t, t2)

    def _report(self, s: State, t: Task) -> Found:
        assert t.following is not None
        assert t.result is not None
        s2 = _put(s, t, None)
        if self._is_current(s, t):
            s2 = s2._replace(phase="sink", done=Done(t.following.uid, t.result))
        yield f"{t.name}: the task ends with {t.following}", s2

    def _given(self, s: State, t: Task, rows: Resident) -> State:
        """`SegmentStateStoreProvider.give`."""
        if s.holders[t.executor] != t.run:
            return s

        def give(p: Provider) -> Provider:
            if p.newest and p.newest.number > rows.version.number:
                return p
            version = rows.version
            before = rows.before
            for one in p.merged:
                version = self.code.merged_to(version, one)
                before = before and (before[0], self.code.merged_to(before[1], one))
            return p._replace(resident=Resident(rows.rows, version, before), newest=version)

        return _updated(s, t, give)

    def _given_up(self, s: State, t: Task) -> State:
        """A failed task restores its rows: `abort`."""
        if t.taken:
            now = t.committed.rows if t.committed else t.taken.rows
            s = self._given(s, t, self.code.aborted(t.taken, now))
        return _put(s, t, None)

    # ---- maintenance: SegmentStateStoreProvider.doMaintenance ----

    def _maintain(self, s: State, p: Provider) -> Found:
        if p.doing:
            yield from getattr(self, f"_m_{p.doing}")(s, p)
        elif s.maintenance and p.newest:
            file = p.newest.newest_file
            listed = names(s.folder)
            stored = file is None or any(f[:2] == file[:2] for f in listed)
            if stored:
                s = s._replace(maintenance=s.maintenance - 1)
                yield (
                    f"{p.name} begins at version {p.newest.number}",
                    _changed(s, p, p._replace(doing="merge", version=p.newest)),
                )

    def _m_merge(self, s: State, p: Provider) -> Found:
        """Merge consecutive files, as often as allowed."""
        assert p.version is not None
        yield f"{p.name} merges no more", _changed(s, p, p._replace(doing="keep"))
        chain = p.version.files
        there = dict(s.folder)
        for i in range(len(chain)):
            for j in range(i + 2, len(chain) + 1):
                some = chain[i:j]
                shown = ", ".join(map(str, some))
                one, before = self.code.one_of(p.version, some)
                if not self.code.may_merge(one):
                    continue
                if all(f in there for f in some):
                    changes = tuple(there[f].change for f in some)
                    newest = there.get(chain[0], there[some[0]]).change
                    change = self.code.merge(changes, one.start == 0, newest)
                    p2 = p._replace(doing="put", one=one, writes=Written(before, change))
                    yield f"{p.name} reads {shown}", _changed(s, p, p2)
                else:
                    # Spark unloads a provider whose maintenance fails
                    yield f"{p.name} fails, one of {shown} is not there", _changed(s, p, None)

    def _m_put(self, s: State, p: Provider) -> Found:
        assert p.one is not None
        assert p.writes is not None
        step = f"{p.name} writes {p.one}"
        after = s._replace(folder=_with_file(s.folder, p.one, p.writes))
        after = _changed(after, p, p._replace(doing="tell", writes=None))
        self.check_recoverable(after, step)
        yield step, after

    def _m_tell(self, s: State, p: Provider) -> Found:
        assert p.version is not None
        assert p.one is not None
        one = p.one
        merge = self.code.merged_to
        recent = [f for f in p.merged if f.version >= p.version.number - self.code.retained]
        resident = p.resident and Resident(
            p.resident.rows,
            merge(p.resident.version, one),
            p.resident.before and (p.resident.before[0], merge(p.resident.before[1], one)),
        )
        p2 = p._replace(
            # oldest first
            merged=(*recent, one),
            resident=resident,
            newest=p.newest and merge(p.newest, one),
            doing="merge",
            version=merge(p.version, one),
            one=None,
        )
        yield f"{p.name} tells of {one}", _changed(s, p, p2)

    def _m_keep(self, s: State, p: Provider) -> Found:
        assert p.version is not None
        first = self.code.keep_from(p.version.number)
        listed = names(s.folder)
        newest = p.version.newest_file
        there = newest is None or any(f[:2] == newest[:2] for f in listed)
        deletes: Chain = ()
        if first > 1 and there:
            needed = self.code.needed_from(first, listed)
            deletes = tuple(sorted(f for f in listed - needed if f.version < first))
        p2 = p._replace(doing="delete" if deletes else "", version=None, deletes=deletes)
        yield f"{p.name} keeps versions from {first} on", _changed(s, p, p2)

    def _m_delete(self, s: State, p: Provider) -> Found:
        file, left = p.deletes[0], p.deletes[1:]
        step = f"{p.name} deletes {file}"
        after = s._replace(folder=frozenset(f for f in s.folder if f[0] != file))
        after = _changed(after, p, p._replace(doing="delete" if left else "", deletes=left))
        self.check_recoverable(after, step)
        yield step, after

    # ---- faults ----

    def _faults(self, s: State) -> Found:
        if s.crashes and s.phase != "down":
            down = s._replace(crashes=s.crashes - 1, phase="down", done=None)
            yield "all processes are killed", down._replace(tasks=(), providers=(), holders=(0, 0))
            if s.tasks or s.providers:
                yield "the query fails, its tasks and stores live on", down
        if s.failures:
            for e in EXECUTORS:
                if any(p.executor == e for p in s.providers):
                    left = s._replace(
                        failures=s.failures - 1,
                        tasks=tuple(t for t in s.tasks if t.executor != e),
                        providers=tuple(p for p in s.providers if p.executor != e),
                        holders=tuple(0 if i == e else r for i, r in enumerate(s.holders)),
                    )
                    yield f"executor {e + 1} is lost and started anew", left
        if s.losses:
            for one in sorted(s.folder, key=lambda f: f[0]):
                left = s._replace(folder=s.folder - {one}, losses=s.losses - 1, lost=True)
                yield f"{one[0]} is lost", left

    # ---- properties ----

    def check_sink(self, s: State, step: str) -> None:
        rows = [row for _, emitted in s.sink for row in sorted(emitted)]
        twice = {row for row in rows if rows.count(row) > 1}
        if twice:
            raise ViolationError(TWICE, step, f"{', '.join(sorted(twice))}")
        for batch in range(s.committed):
            lost = expected(s.offsets[: batch + 1]).emitted - set(rows)
            if lost:
                raise ViolationError(
                    LOST, step, f"batch {batch} is committed without {_shown(lost)}"
                )
        for batch, emitted in s.sink:
            right = expected(s.offsets[: batch + 1]).emitted
            if emitted - right:
                raise ViolationError(WRONG, step, f"batch {batch} emits {_shown(emitted - right)}")

    def check_rows(self, s: State, rows: Rows, number: int, step: str) -> None:
        right = expected(s.offsets[:number]).rows
        if rows.watermark < right.watermark:
            why = f"{rows.watermark} in version {number} after {right.watermark}"
            raise ViolationError(WATERMARK, step, why)
        if rows.meaning != right.meaning:
            why = f"version {number} has {_stored(rows)} instead of {_stored(right)}"
            raise ViolationError(EXACT, step, why)

    def check_recoverable(self, s: State, step: str) -> None:
        """A restart at this point can read the version of the next batch."""
        if s.lost:
            return
        try:
            rows, _ = read(self.code, s.folder, s.committed, s.uid)
        except MissingError as missing:
            raise ViolationError(DELETED, step, f"{missing} is not there") from missing
        self.check_rows(s, rows, s.committed, step)


def _place(p: Provider) -> tuple[int, int]:
    return p.run, p.executor


def _provider(s: State, run: int, executor: int) -> Provider | None:
    return next((p for p in s.providers if _place(p) == (run, executor)), None)


def _changed(s: State, p: Provider, now: Provider | None) -> State:
    """Replace a provider by another, or remove it."""
    providers = [now if one is p else one for one in s.providers]
    return s._replace(providers=tuple(one for one in providers if one is not None))


def _updated(s: State, t: Task, change: Callable[[Provider], Provider]) -> State:
    """Change the provider of a task, unless it has been unloaded."""
    own = _provider(s, t.run, t.executor)
    return _changed(s, own, change(own)) if own else s


def _read_here(p: Provider, version: Version) -> Provider:
    known = p.newest is not None and p.newest.number > version.number
    return p if known else p._replace(newest=version)


def _put(s: State, t: Task | None, now: Task | None) -> State:
    """Replace a task by another; either can be None."""
    tasks = [one for one in s.tasks if one is not t]
    # Waiting tasks with the same next step are interchangeable.
    return s._replace(tasks=tuple(sorted([*tasks, now] if now else tasks, key=_order)))


def _order(t: Task) -> tuple[int, int, int, str, int]:
    return t.run, t.batch, t.executor, t.at, hash(t)


def _with_file(folder: Folder, file: File, written: Written) -> Folder:
    return _same(frozenset({*((f, w) for f, w in folder if f != file), (file, written)}))


_FOLDERS: dict[Folder, Folder] = {}


def _same(folder: Folder) -> Folder:
    """Intern equal folders as one object, to make comparisons fast."""
    return _FOLDERS.setdefault(folder, folder)


def _after(newest: File | None) -> str:
    return f" after {newest}" if newest else ""


def _shown(rows: Iterable[str]) -> str:
    return ", ".join(sorted(rows))


def _stored(rows: Rows) -> str:
    shown = [f"{r.name}, matched" if r.matched else r.name for r in rows.rows]
    return f"[{'; '.join(sorted(shown))}] at {rows.watermark}"
