"""What a suite is made of: a workload with its parameters, and who takes part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from .engine import OURS

Expected = Literal["correct", "wrong", "refused"]
Parameters = Mapping[str, "str | int"]


@dataclass(frozen=True)
class Case:
    """A workload as this project's join and all whom it is compared with run it.

    ``engines`` are the others. Each of them takes turns with this project's join, ``repetitions``
    of them; so does the join itself on the parameters of ``itself``, each of which changes some of
    the case's.

    ``warmup`` are the rows of a run in the same process before all that is measured, in
    ``warmup_batches`` batches: what an engine does once a batch is compiled after many of them.
    After it the case itself is run until ``settling`` seconds have passed, because the code that
    runs once for each row is compiled again if the batches are large.

    ``fresh`` starts a process for each run, which is not warmed up: so a user meets a query that
    starts.

    ``plain`` gives each engine of Spark a session as a user finds it: this project's has what
    ``streamjoin.configure`` sets, the others nothing. Else what costs all of them alike is taken
    away.

    ``expected`` has the engines whose result is not the right one, for a reason that the page on
    the benchmarks gives.
    """

    label: str
    workload: str
    engines: Sequence[str]
    warmup: int
    parameters: Parameters = field(default_factory=dict)
    warmup_batches: int = 200
    settling: float = 20
    repetitions: int = 3
    itself: Sequence[Parameters] = ()
    plain: bool = False
    fresh: bool = False
    expected: Mapping[str, Expected] = field(default_factory=dict)

    def arguments(self) -> list[str]:
        return named({"workload": self.workload, **self.parameters})

    def rivals(self) -> list[Rival]:
        """Give whom this project's join takes turns with."""
        others = [Rival(engine, engine, self) for engine in self.engines]
        return others + [
            Rival(
                f"{OURS}, {', '.join(f'{k} {v}' for k, v in changes.items())}",
                OURS,
                replace(self, parameters={**self.parameters, **changes}),
            )
            for changes in self.itself
        ]


@dataclass(frozen=True)
class Rival:
    """An engine under the name that its results carry, and the case as it runs it."""

    name: str
    engine: str
    case: Case


def named(parameters: Parameters) -> list[str]:
    return [f"{name}={value}" for name, value in parameters.items()]
