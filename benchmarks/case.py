"""What a suite is made of: a workload with its parameters, and who takes part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Expected = Literal["correct", "wrong", "refused"]


@dataclass(frozen=True)
class Case:
    """A workload as every engine of a suite runs it.

    ``warmup`` are the rows of a run in the same process before the ``repetitions`` that are
    measured, in ``warmup_batches`` batches: what an engine does once a batch is compiled after many
    of them. After it come ``settling`` runs of the case itself that are not measured, since what is
    done once a row is compiled anew where the batches are large.
    ``expected`` has the engines whose result is not the right one, for a reason that the page on
    the benchmarks gives.
    """

    label: str
    workload: str
    engines: Sequence[str]
    warmup: int
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    warmup_batches: int = 200
    settling: int = 1
    repetitions: int = 3
    expected: Mapping[str, Expected] = field(default_factory=dict)

    def arguments(self, **changes: str | int) -> list[str]:
        values = {"workload": self.workload, **self.parameters, **changes}
        return [f"{name}={value}" for name, value in values.items()]
