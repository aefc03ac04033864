"""Explores every reachable state of a model, breadth first."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

S = TypeVar("S", bound=Hashable)
Step: TypeAlias = "tuple[str, S]"


class ViolationError(Exception):
    """A property that does not hold after a step."""

    def __init__(self, property_name: str, step: str, why: str) -> None:
        super().__init__(f"{property_name}: {why}")
        self.property_name = property_name
        self.step = step
        self.why = why


class Model(Protocol[S]):
    def start(self) -> S: ...

    def steps(self, state: S) -> Iterable[Step[S]]:
        """Raise a ViolationError if a step violates a property."""
        ...

    def is_end(self, state: S) -> bool:
        """Whether the model has ended properly."""
        ...


@dataclass(frozen=True)
class Counterexample:
    property_name: str
    why: str
    trace: tuple[str, ...]

    def __str__(self) -> str:
        steps = "\n".join(f"  {n}. {step}" for n, step in enumerate(self.trace, 1))
        return f"{self.property_name}: {self.why}\n{steps}"


@dataclass(frozen=True)
class Explored:
    states: int
    steps: int
    depth: int
    found: Counterexample | None


def explore(model: Model[S], most: int = 20_000_000) -> Explored:
    """Breadth first, so that a counterexample is as short as possible."""
    start = model.start()
    # the predecessor of a state, from which its step can be recomputed
    before: dict[S, S | None] = {start: None}
    waiting = deque([(start, 0)])
    taken = depth = 0
    while waiting:
        state, depth = waiting.popleft()
        progress = False
        try:
            for _, following in model.steps(state):
                taken += 1
                progress = progress or following != state
                if following not in before:
                    before[following] = state
                    waiting.append((following, depth + 1))
        except ViolationError as e:
            trace = (*_trace(model, before, state), e.step)
            return Explored(len(before), taken, depth, _example(e.property_name, e.why, trace))
        if not progress and not model.is_end(state):
            trace = _trace(model, before, state)
            stuck = _example("progress", "no step is possible, and the query has not ended", trace)
            return Explored(len(before), taken, depth, stuck)
        if len(before) > most:
            raise MemoryError(f"more than {most} states")
    return Explored(len(before), taken, depth, None)


def _example(property_name: str, why: str, trace: tuple[str, ...]) -> Counterexample:
    return Counterexample(property_name, why, trace)


def _trace(model: Model[S], before: dict[S, S | None], state: S) -> tuple[str, ...]:
    labels: list[str] = []
    previous = before[state]
    while previous is not None:
        labels.append(next(label for label, s in model.steps(previous) if s == state))
        state, previous = previous, before[previous]
    return tuple(reversed(labels))
