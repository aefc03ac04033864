"""The pipeline under test: sends messages, and returns batches with their input and output."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random

import pyarrow.parquet as pq

from examples.kafka_pipeline import SCHEMAS
from tests.kafka.broker import Broker
from tests.kafka.orders import PARTITIONS, Message
from tests.kafka.topics import Topics
from tests.soak.driver import Driver
from tests.soak.lines import Lines
from tests.soak.oracle import Batch, ResultRow, Row

PREFIX = "soak-"
RESULT = ("order_id", "order_time", "delivery_time", "courier", "return_time")
Ends = Mapping[str, Mapping[int, int]]
Encoded = Sequence[tuple[str, int, Row, bytes]]


class Pipeline:
    def __init__(self, broker: Broker, folder: Path, seed: int, trigger: str = "0 seconds") -> None:
        self.broker = broker
        self.folder = folder
        self.driver = Driver(
            "tests.soak.job", folder, broker.bootstrap, PREFIX, "--trigger", trigger
        )
        self.sent = 0
        self.progress = Lines(folder / "progress.jsonl")
        self.vitals = Lines(folder / "vitals.jsonl")
        self._rng = Random(f"partitions/{seed}")
        self._topics = Topics(broker, PREFIX)
        self._topics.create(PARTITIONS, *SCHEMAS)
        self._waiting: dict[tuple[str, int], deque[Row]] = defaultdict(deque)
        self._taken: dict[tuple[str, int], int] = defaultdict(int)
        self._next = 0
        (folder / "planned").mkdir(parents=True)

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @property
    def waiting(self) -> int:
        """Messages that no finished batch is known to have read."""
        return sum(map(len, self._waiting.values()))

    def encoded(self, messages: Iterable[Message]) -> Encoded:
        return [
            (topic, self._rng.randrange(PARTITIONS), row, json.dumps(row).encode())
            for topic, row in messages
        ]

    def send(self, messages: Encoded) -> None:
        for topic, partition, row, value in messages:
            self._topics.send(topic, partition, value, placed=partial(self._placed, topic, row))
        self._topics.flush()
        self.sent += len(messages)

    def _placed(self, topic: str, row: Row, partition: int, offset: int) -> None:
        """The broker confirms two consecutive messages in the order in which they were sent."""
        place = (topic, partition)
        expected = self._taken[place] + len(self._waiting[place])
        if offset != expected:
            raise RuntimeError(f"a message of {place} lies at {offset}, not {expected}")
        self._waiting[place].append(row)

    def finished(self) -> int:
        """The number of batches committed since the beginning."""
        return max((int(p.name) for p in self._logged("commits")), default=-1) + 1

    def planned(self) -> int:
        return max((int(p.name) for p in self._logged("offsets")), default=-1) + 1

    def messages_finished(self) -> int:
        """The number of messages that all finished batches have read."""
        last = self.finished() - 1
        if last < 0:
            return 0
        ends = _ends((self.folder / "planned" / str(last)).read_text())
        return sum(end for partitions in ends.values() for end in partitions.values())

    def batches(self) -> Iterator[Batch]:
        """Newly finished batches; deletes the files that the job wrote for them."""
        while self._next < self.finished():
            number, self._next = self._next, self._next + 1
            plan = self.folder / "planned" / str(number)
            table = self.folder / "table" / f"batch={number}"
            yield Batch(number, self._take(_ends(plan.read_text())), _result(table))
            shutil.rmtree(table)
            plan.unlink()

    def _take(self, ends: Ends) -> dict[str, list[Row]]:
        rows: dict[str, list[Row]] = {topic: [] for topic in SCHEMAS}
        for topic, partitions in ends.items():
            for partition, end in partitions.items():
                place = (topic.removeprefix(PREFIX), partition)
                for _ in range(end - self._taken[place]):
                    rows[place[0]].append(self._waiting[place].popleft())
                self._taken[place] = end
        return rows

    def _logged(self, log: str) -> Iterator[Path]:
        return (self.checkpoint / log).glob("[0-9]*")


def _ends(plan: str) -> Ends:
    version, _, *sources = plan.splitlines()
    if version != "v1":
        raise ValueError(f"unknown version of the offset log: {version}")
    return {
        topic: {int(partition): end for partition, end in partitions.items()}
        for source in sources
        for topic, partitions in json.loads(source).items()
    }


def _result(table: Path) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for file in sorted(table.glob("*.parquet")):
        columns = pq.read_table(file).select(RESULT).to_pydict()
        rows += zip(*(columns[name] for name in RESULT), strict=True)
    return rows
