"""Random join trees with conditions that bound the state of every join.

Each join gets a lower and an upper bound between a time column of each side. Above it only those
two columns are used for the bounds of a further join: whatever else may be derived, their
watermarks are certainly in the output, so no case here may be refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tests.differential.case import HOWS, NUMBERS, Case, How, Join, Node, visible
from tests.differential.instants import moment
from tests.differential.spelling import Reference, Spelling

CONSTANTS = [
    ("constant", "1 = 1"),
    ("never_true", "1 > 2"),
    ("never_true", "CAST(NULL AS BOOLEAN)"),
]
Shape = str | tuple["Shape", "Shape"]


@dataclass(frozen=True)
class Built:
    node: Node
    bounded: tuple[Reference, ...]
    """Time columns on which a further join may rely."""


def _built(node: Join, bounded: tuple[Reference, ...]) -> Built:
    return Built(node, tuple(at for at in bounded if at[0] in visible(node)))


class Conditions:
    def __init__(self, rng: Random, case: Case, first_how: How) -> None:
        self.rng = rng
        self.case = case
        self.hows: list[How] = [first_how]
        self.features: set[str] = set()
        self.spelling = Spelling(rng, case, self.features)

    def build(self, shape: Shape) -> Built:
        if isinstance(shape, str):
            source = self.case.input(shape)
            return Built(shape, tuple((shape, time.name) for time in source.watermarked))
        return self._join(self.build(shape[0]), self.build(shape[1]))

    def _join(self, left: Built, right: Built) -> Built:
        how = self.hows.pop() if self.hows else self.rng.choice(HOWS)
        pairs = [(x, y) for x in left.bounded for y in right.bounded if self._comparable(x, y)]
        if sum(each.part_of is None for each in self.case.inputs) == 4:
            # Of two joins that bound columns of different types a third could bound nothing.
            kind = self.spelling.kind
            pairs = [(x, y) for x, y in pairs if kind(x) == kind((x[0], "t"))] or pairs
        x, y = self.rng.choice(pairs)
        node = Join(left.node, right.node, how, (), as_column=self._chance(0.2))
        bounded: tuple[Reference, ...] = (x, y)
        if self._alone and self._chance(0.04) and self._using_works(x, y):
            self.features.add("using")
            names = ("k", "c", x[1]) if self.case.groups else ("k", x[1])
            return _built(replace(node, using=names), bounded)
        if self._chance(0.12):
            # Of a semi or anti join only the left times are in the output: they need the constant
            # bound.
            expiring, bounding = (y, x) if how in ("semi", "anti") or self._chance(0.4) else (x, y)
            bounds = self._row_bounds(expiring, bounding)
            bounded = (bounding,)
        else:
            bounds = self._bounds(x, y)
        conjuncts = [
            *self._keys(left.node, right.node),
            *self._groups(left.node, right.node),
            *bounds,
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
        return _built(node, bounded)

    @property
    def _alone(self) -> bool:
        """The only join of its query."""
        return len(self.case.inputs) == 2

    @property
    def _often(self) -> float:
        """Each join of a chain may be less selective, or the last one emits nothing."""
        return 0.8 if self._alone else 0.4

    def _chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def _comparable(self, x: Reference, y: Reference) -> bool:
        kinds = {self.spelling.kind(x), self.spelling.kind(y)}
        return len(kinds) == 1 or kinds <= set(NUMBERS)

    def _using_works(self, x: Reference, y: Reference) -> bool:
        case = self.case
        same_key = len({each.key for each in case.inputs}) == 1
        return (
            case.qualified
            and same_key
            and x[1] == y[1]
            and self.spelling.kind(x) == self.spelling.kind(y)
        )

    # Equality of keys

    def _keys(self, left: Node, right: Node) -> list[str]:
        if self._chance(0.07):
            self.features.add("no_key")
            return []
        a, b = self.rng.choice(visible(left)), self.rng.choice(visible(right))
        texts = [f"{a}.k = {b}.k", f"{b}.k = {a}.k"]
        if self._chance(0.15):
            self.features.add("null_safe_key")
            texts = [f"{a}.k <=> {b}.k"]
        elif self._chance(0.15 * self._often):
            self.features.add("expression_key")
            texts = self._expression_keys(a, b)
        if self._chance(0.25 * self._often):
            self.features.add("two_keys")
            second = self.rng.choice([f"{a}.g = {b}.g", f"{a}.g = {b}.g", f"{a}.g <=> {b}.g"])
            return [self.rng.choice(texts), second]
        return [self.rng.choice(texts)]

    def _expression_keys(self, a: str, b: str) -> list[str]:
        keys = {self.case.input(each).key for each in (a, b)}
        # NULL inside a struct meets NULL.
        texts = [f"named_struct('k', {a}.k, 'g', {a}.g) = named_struct('k', {b}.k, 'g', {b}.g)"]
        if keys <= {"string", "collated"}:
            texts.append(f"upper({a}.k) = upper({b}.k)")
        elif keys == {"binary"}:
            texts.append(f"substr({a}.k, 1, 1) = substr({b}.k, 1, 1)")
        elif keys == {"struct"}:
            texts += [f"{a}.k.n = {b}.k.n", f"{a}.k.x = {b}.k.x"]
        else:
            texts += [f"{a}.k % 3 = {b}.k % 3", f"{a}.k + 1 = {b}.k"]
        return texts

    def _groups(self, left: Node, right: Node) -> list[str]:
        if not self.case.groups:
            return []
        return [f"{self.rng.choice(visible(left))}.c = {self.rng.choice(visible(right))}.c"]

    # Bounds

    def _bounds(self, x: Reference, y: Reference) -> list[str]:
        """Y minus x is between two numbers of ticks."""
        draw = self.rng.randint
        low, high = self.rng.choice(
            [
                (0, draw(1, 15)),
                (-draw(1, 8), draw(1, 8)),
                *([(-2, 2), (-6, 6)] if self._chance(0.2) else []),
                (-draw(6, 12), -draw(1, 5)),
                (draw(1, 5), draw(6, 12)),
                (-draw(1, 15), 0),
                *([(0, 0), (draw(-6, 6),) * 2] if self._chance(0.5 * self._often) else []),
            ]
        )
        if self._chance(0.04 if self._alone else 0.02):
            self.features.add("contradiction")
            low, high = high + draw(1, 4), low
        if low == high:
            self.features.add("width_0")
            return [self.spelling.compare(x, y, low, "=")]
        if self._chance(0.35):
            return [self.spelling.between(x, y, low, high)]
        if high - low > 3 and self._chance(0.08):
            return [self.spelling.either(x, y, low, high)]
        lower = ">" if high - low > 2 and self._chance(0.3) else ">="
        upper = "<" if high - low > 2 and self._chance(0.3) else "<="
        compare = self.spelling.compare
        return [compare(x, y, low, lower), compare(x, y, high, upper)]

    def _row_bounds(self, x: Reference, y: Reference) -> list[str]:
        """Each row of x itself says until when it matches; those of y have a bound of x's time."""
        self.features.add("row_bound")
        end = self._end(x)
        if self._chance(0.5):
            first = self.spelling.plus(x, self.rng.choice([0, 0, -4]))
            return [f"{y[0]}.{y[1]} BETWEEN {first} AND {end}"]
        slack = self.rng.randint(0, 4)
        first = self.spelling.compare(x, y, self.rng.choice([0, -3, 2]), ">=")
        last = self.spelling.plus(y, -slack)
        return [first, self.rng.choice([f"{end} >= {last}", f"{last} <= {end}"])]

    def _end(self, x: Reference) -> str:
        """An expression of one row for the last time that it can match."""
        alias, kind = x[0], self.spelling.kind(x)
        ends = {time.name for time in self.case.input(alias).times if time.kind == kind}
        if "e" in ends:
            return f"{alias}.e"
        self.features.add("row_bound_expression")
        time = f"{alias}.{x[1]}"
        if kind == "date":
            return f"date_add({time}, {alias}.p)"
        return f"{time} + {alias}.p" + ("" if kind in NUMBERS else f" * {self.spelling.size(x, 1)}")

    def _more_bounds(self, pairs: list[tuple[Reference, Reference]]) -> list[str]:
        if not self._chance(0.2):
            return []
        self.features.add("more_bounds")
        x, y = self.rng.choice(pairs)
        others = [(v, w) for v, w in pairs if v != x and w != y]
        if others and self._chance(0.4):
            # What holds between one pair of times follows for the other one.
            self.features.add("equal_times")
            return [self.spelling.compare(*self.rng.choice(others), 0, "=")]
        operator = self.rng.choice([">=", "<=", ">", "<"])
        ticks = self.rng.randint(2, 12)
        ticks = -ticks if operator.startswith(">") else ticks
        return [self.spelling.compare(x, y, ticks, operator)]

    # Conjuncts that bound nothing

    def _residuals(self, left: Node, right: Node) -> list[str]:
        a, b = self.rng.choice(visible(left)), self.rng.choice(visible(right))
        texts: list[str] = []
        if self._chance(0.5 * self._often):
            self.features.add("residual")
            texts.append(self.rng.choice(self._of_both(a, b)))
        for alias in (a, b):
            if self._chance(0.25 * self._often):
                self.features.add("one_sided")
                texts.append(self._one_sided(alias))
        feature, text = self.rng.choice(CONSTANTS)
        if self._chance(0.03):
            self.features.add(feature)
            texts.append(text)
        return texts

    def _of_both(self, a: str, b: str) -> list[str]:
        texts = [
            f"{a}.p + {b}.p < 7",
            f"{a}.p <> {b}.p OR {b}.q IS NULL",
            f"{a}.q IS NOT DISTINCT FROM {b}.q",
            f"coalesce({a}.p, 0) <= coalesce({b}.p, 3)",
            f"{a}.p < 4 OR {b}.p > 2",
            f"NOT ({a}.p = {b}.p AND {a}.q = {b}.q)",
            f"CASE WHEN {a}.q = 1 THEN {b}.p > 1 ELSE {a}.p < 5 END",
            f"{a}.p IN ({b}.p, {b}.q, 3)",
        ]
        if not self._comparable((a, "t"), (b, "t")):
            return texts
        x, y = (a, "t"), (b, "t")
        either = self.spelling.compare(x, y, self.rng.randint(-3, 3), self.rng.choice(["<", ">="]))
        times = [
            f"{b}.t >= {a}.t OR {b}.q IS NULL",
            f"({either}) OR {a}.p < {b}.p",
            f"NOT ({self.spelling.between(x, y, -1, self.rng.randint(0, 2))})",
            f"{a}.t <=> {b}.t",
            f"{a}.t <> {b}.t",
        ]
        return [*texts, *times]

    def _one_sided(self, alias: str) -> str:
        kind = self.spelling.kind((alias, "t"))
        at = moment(self.case, kind, self.rng.randint(5, 30))
        texts = [
            f"{alias}.p > 1",
            f"{alias}.q IS NOT NULL",
            f"{alias}.q IS NULL",
            f"{alias}.p IN (1, 2, 3, 5)",
            f"{alias}.t > {at}",
            f"NOT ({at} >= {alias}.t)",
            f"{alias}.t < {at} OR {alias}.q = 1",
            f"{alias}.k IS NOT NULL",
        ]
        names = {time.name for time in self.case.input(alias).times}
        if "u" in names and self.spelling.kind((alias, "u")) == kind:
            # Looks like a bound, and is none: both columns are of one row.
            inside = (alias, "t"), (alias, "u")
            texts += [self.spelling.compare(*inside, self.rng.randint(-4, 4), ">=")] * 5
        return self.rng.choice(texts)
