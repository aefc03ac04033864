"""Random join trees with conditions that bound the state of every join.

Each join gets a lower and an upper bound between a time column of each side. Above it only those
two columns are used for the bounds of a further join: whatever else may be derived, their
watermarks surely come out, so no case here may be refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tests.differential.case import HOWS, Case, How, Join, Kind, Node, visible
from tests.differential.instants import amount, literal, moment

Shape = str | tuple["Shape", "Shape"]
Reference = tuple[str, str]
"""Alias and name of a column."""


@dataclass(frozen=True)
class Built:
    node: Node
    bounded: tuple[Reference, ...]
    """Time columns on which a further join may rely."""


def _built(node: Join, x: Reference, y: Reference) -> Built:
    return Built(node, tuple(at for at in (x, y) if at[0] in visible(node)))


class Conditions:
    def __init__(self, rng: Random, case: Case, first_how: How) -> None:
        self.rng = rng
        self.case = case
        self.hows: list[How] = [first_how]
        self.features: set[str] = set()

    def build(self, shape: Shape) -> Built:
        if isinstance(shape, str):
            source = self.case.input(shape)
            return Built(shape, tuple((shape, time.name) for time in source.watermarked))
        return self._join(self.build(shape[0]), self.build(shape[1]))

    def _join(self, left: Built, right: Built) -> Built:
        how = self.hows.pop() if self.hows else self.rng.choice(HOWS)
        pairs = [(x, y) for x in left.bounded for y in right.bounded if self._comparable(x, y)]
        if len(self.case.inputs) == 4:
            # Of two joins that bound columns of different types a third could bound nothing.
            pairs = [(x, y) for x, y in pairs if self._kind(x) == self._kind((x[0], "t"))]
        x, y = self.rng.choice(pairs)
        node = Join(left.node, right.node, how, (), as_column=self._chance(0.2))
        if self._alone and self._chance(0.04) and self._using_works(x, y):
            self.features.add("using")
            return _built(replace(node, using=("k", x[1])), x, y)
        conjuncts = [
            *self._keys(left.node, right.node),
            *self._bounds(x, y),
            *self._more_bounds(pairs),
            *self._residuals(left.node, right.node),
        ]
        self.rng.shuffle(conjuncts)
        node = replace(node, conjuncts=tuple(conjuncts))
        if self.case.through == "dataframe" and self._chance(0.08):
            self.features.add("where")
            alias = self.rng.choice(visible(node))
            texts = [f"{alias}.p IS NULL OR {alias}.p <> 3", f"{alias}.p > 1"]
            node = replace(node, where=self.rng.choice(texts))
        return _built(node, x, y)

    @property
    def _alone(self) -> bool:
        """The only join of its query."""
        return len(self.case.inputs) == 2

    @property
    def _often(self) -> float:
        """Each join of a chain may be less selective, or nothing comes out of the last."""
        return 0.8 if self._alone else 0.4

    def _chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def _kind(self, at: Reference) -> Kind:
        return self.case.input(at[0]).time(at[1]).kind

    def _comparable(self, x: Reference, y: Reference) -> bool:
        kinds = {self._kind(x), self._kind(y)}
        return len(kinds) == 1 or kinds == {"bigint", "int"}

    def _using_works(self, x: Reference, y: Reference) -> bool:
        case = self.case
        same_key = len({each.key for each in case.inputs}) == 1
        return case.qualified and same_key and x[1] == y[1] and self._kind(x) == self._kind(y)

    # Equality of keys

    def _keys(self, left: Node, right: Node) -> list[str]:
        if self._chance(0.07):
            self.features.add("no_key")
            return []
        a, b = self.rng.choice(visible(left)), self.rng.choice(visible(right))
        key = self.case.input(a).key
        number = key != "string" and self.case.input(b).key != "string"
        texts = [f"{a}.k = {b}.k", f"{b}.k = {a}.k"]
        if self._chance(0.15):
            self.features.add("null_safe_key")
            texts = [f"{a}.k <=> {b}.k"]
        elif self._chance(0.1 * self._often):
            self.features.add("expression_key")
            texts = [f"upper({a}.k) = upper({b}.k)"]
            if number:
                texts = [f"{a}.k % 3 = {b}.k % 3", f"{a}.k + 1 = {b}.k"]
        if self._chance(0.2 * self._often):
            self.features.add("two_keys")
            return [self.rng.choice(texts), f"{a}.g = {b}.g"]
        return [self.rng.choice(texts)]

    # Bounds

    def _bounds(self, x: Reference, y: Reference) -> list[str]:
        """Y minus x lies between two numbers of ticks."""
        expires = "e" in {time.name for time in self.case.input(x[0]).times}
        if self._alone and expires and self._kind((x[0], "e")) == self._kind(y):
            self.features.add("row_bound")
            return self._row_bounds(x, y)
        draw = self.rng.randint
        low, high = self.rng.choice(
            [
                (0, draw(1, 15)),
                (-draw(1, 8), draw(1, 8)),
                (-draw(6, 12), -draw(1, 5)),
                (draw(1, 5), draw(6, 12)),
                (-draw(1, 15), 0),
                *([(0, 0), (draw(-6, 6),) * 2] if self._chance(0.5 * self._often) else []),
            ]
        )
        if self._alone and self._chance(0.04):
            self.features.add("contradiction")
            low, high = high + draw(1, 4), low
        if low == high:
            self.features.add("width_0")
            return [self._compare(x, y, low, "=")]
        if self._chance(0.35):
            return [self._between(x, y, low, high)]
        lower = ">" if high - low > 2 and self._chance(0.3) else ">="
        upper = "<" if high - low > 2 and self._chance(0.3) else "<="
        return [self._compare(x, y, low, lower), self._compare(x, y, high, upper)]

    def _row_bounds(self, x: Reference, y: Reference) -> list[str]:
        """The left row itself says until when it matches."""
        end = f"{x[0]}.e"
        if self._chance(0.5):
            return [f"{y[0]}.{y[1]} BETWEEN {x[0]}.{x[1]} AND {end}"]
        slack = self.rng.randint(0, 4)
        return [self._compare(x, y, 0, ">="), self._compare((x[0], "e"), y, slack, "<=")]

    def _more_bounds(self, pairs: list[tuple[Reference, Reference]]) -> list[str]:
        if not self._chance(0.2):
            return []
        self.features.add("more_bounds")
        x, y = self.rng.choice(pairs)
        operator = self.rng.choice([">=", "<=", ">", "<"])
        ticks = self.rng.randint(2, 12)
        return [self._compare(x, y, -ticks if operator.startswith(">") else ticks, operator)]

    def _between(self, x: Reference, y: Reference, low: int, high: int) -> str:
        if self._chance(0.3):
            x, y, low, high = y, x, -high, -low
        first, last = self._plus(x, low), self._plus(x, high)
        return f"{y[0]}.{y[1]} BETWEEN {first} AND {last}"

    def _compare(self, x: Reference, y: Reference, ticks: int, operator: str) -> str:
        """Write ``y operator x + ticks`` in one of its spellings."""
        flipped = operator.translate(str.maketrans("<>", "><"))
        texts = [
            f"{self._plus(y, 0)} {operator} {self._plus(x, ticks)}",
            f"{self._plus(x, ticks)} {flipped} {self._plus(y, 0)}",
            f"{self._plus(y, -ticks)} {operator} {self._plus(x, 0)}",
            f"{self._plus(x, 0)} {flipped} {self._plus(y, -ticks)}",
        ]
        return self.rng.choice(texts)

    def _plus(self, at: Reference, ticks: int) -> str:
        kind = self._kind(at)
        text = f"{at[0]}.{at[1]}"
        if ticks == 0:
            return text
        size = literal(kind, amount(self.case, kind, abs(ticks)), self.rng.randrange(6))
        return f"{text} {'+' if ticks > 0 else '-'} {size}"

    # Conjuncts that bound nothing

    def _residuals(self, left: Node, right: Node) -> list[str]:
        a, b = self.rng.choice(visible(left)), self.rng.choice(visible(right))
        texts: list[str] = []
        if self._chance(0.5 * self._often):
            self.features.add("residual")
            texts.append(
                self.rng.choice(
                    [
                        f"{a}.p + {b}.p < 7",
                        f"{a}.p <> {b}.p OR {b}.q IS NULL",
                        f"{a}.q IS NOT DISTINCT FROM {b}.q",
                        f"coalesce({a}.p, 0) <= coalesce({b}.p, 3)",
                        f"{a}.p < 4 OR {b}.p > 2",
                        f"{b}.t >= {a}.t OR {b}.q IS NULL",
                    ]
                    if self._comparable((a, "t"), (b, "t"))
                    else [f"{a}.p + {b}.p < 7"]
                )
            )
        if self._chance(0.4 * self._often):
            self.features.add("one_sided")
            texts.append(self._one_sided(self.rng.choice([a, b])))
        return texts

    def _one_sided(self, alias: str) -> str:
        kind = self._kind((alias, "t"))
        texts = [
            f"{alias}.p > 1",
            f"{alias}.q IS NOT NULL",
            f"{alias}.q IS NULL",
            f"{alias}.p IN (1, 2, 3, 5)",
            f"{alias}.t > {moment(self.case, kind, self.rng.randint(5, 30))}",
        ]
        names = {time.name for time in self.case.input(alias).times}
        if "u" in names and self._kind((alias, "u")) == kind:
            # Looks like a bound, and is none: both columns are of one row.
            inside = (alias, "t"), (alias, "u")
            texts += [self._compare(*inside, self.rng.randint(-4, 4), ">=")] * 5
        return self.rng.choice(texts)
