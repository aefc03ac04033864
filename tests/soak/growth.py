"""Whether a figure that was taken again and again grows without end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from statistics import median

WARM_UP = 1 / 4
LEAST_VALUES = 24
MOST_VALUES = 240
"""More are taken together, for what follows looks at each pair of them."""
LEAST_SHARE = 1 / 4
"""A leak must have added this share of what there was: the longer the run, the smaller the leak
that is seen."""
NO_CHANCE = 4
"""Standard deviations of Kendall's rank correlation with time, were there none."""
SLOWED_DOWN = 1 / 4


@dataclass(frozen=True)
class Trend:
    """A line through the values after the warm-up; of no matter to it is how far off a few lie."""

    begin: float
    end: float
    significance: float
    """How sure it is that values rise with time, in standard deviations; below 0: that they fall"""
    recent: float
    """The slope of the second half, divided by that of the whole."""

    def grows(self, slack: float) -> bool:
        """Say whether it rises, by more than chance and ``slack``, and does not slow down.

        What fills up to a level, as caches do, rises ever more slowly.
        """
        least = self.begin * LEAST_SHARE + slack
        return (
            self.end - self.begin > least
            and self.significance > NO_CHANCE
            and self.recent > SLOWED_DOWN
        )


def trend(values: Sequence[float]) -> Trend | None:
    """Give the trend of values taken at equal intervals; None if there are too few to tell."""
    if len(values) < LEAST_VALUES:
        return None
    warm = _fewer(values[int(len(values) * WARM_UP) :])
    slope = _slope(warm)
    half = slope * (len(warm) - 1) / 2
    middle = median(value + half - slope * n for n, value in enumerate(warm))
    recent = _slope(warm[len(warm) // 2 :])
    return Trend(middle - half, middle + half, _significance(warm), recent / slope if slope else 0)


def _fewer(values: Sequence[float]) -> Sequence[float]:
    together = -(-len(values) // MOST_VALUES)
    return [median(values[n : n + together]) for n in range(0, len(values), together)]


def _slope(values: Sequence[float]) -> float:
    """Theil and Sen's: the median of the slopes between all pairs."""
    pairs = combinations(enumerate(values), 2)
    return median((after - before) / (m - n) for (n, before), (m, after) in pairs)


def _significance(values: Sequence[float]) -> float:
    """Mann and Kendall's test."""
    rises = sum((b > a) - (b < a) for a, b in combinations(values, 2))
    count = len(values)
    return rises / sqrt(count * (count - 1) * (2 * count + 5) / 18)
