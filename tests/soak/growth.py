"""Decides whether a repeatedly sampled figure grows without end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from statistics import median

WARM_UP = 1 / 4
LEAST_VALUES = 24
MOST_VALUES = 240
"""More values are merged, because the statistics compare all pairs."""
LEAST_SHARE = 1 / 4
"""A leak must have added this share of the initial value: the longer the run, the smaller the leak
that is found."""
NO_CHANCE = 4
"""Standard deviations of Kendall's rank correlation with time, under no correlation."""
SLOWED_DOWN = 1 / 4


@dataclass(frozen=True)
class Trend:
    """A line through the values after the warm-up, robust against outliers."""

    begin: float
    end: float
    significance: float
    """The confidence that values rise, in standard deviations; negative if they fall."""
    recent: float
    """The slope of the second half divided by the slope of the whole."""

    def grows(self, slack: float) -> bool:
        """Return whether it rises by more than chance and ``slack``, without slowing down.

        Caches, which fill up to a level, rise ever more slowly.
        """
        least = self.begin * LEAST_SHARE + slack
        return (
            self.end - self.begin > least
            and self.significance > NO_CHANCE
            and self.recent > SLOWED_DOWN
        )


def trend(values: Sequence[float]) -> Trend | None:
    """The trend of values at equal intervals; None if there are too few."""
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
    """The Theil-Sen estimator: the median of the slopes between all pairs."""
    pairs = combinations(enumerate(values), 2)
    return median((after - before) / (m - n) for (n, before), (m, after) in pairs)


def _significance(values: Sequence[float]) -> float:
    """The Mann-Kendall test."""
    rises = sum((b > a) - (b < a) for a, b in combinations(values, 2))
    count = len(values)
    return rises / sqrt(count * (count - 1) * (2 * count + 5) / 18)
