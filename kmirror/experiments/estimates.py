"""Means with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, quantiles, stdev

# Student's t for a two-sided 95 % interval, by degrees of freedom; from 30 on 1.96 is close enough.
T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, half the width of its 95 % confidence interval (None for one value), 95th percentile, and maximum."""

    count: int
    mean: float
    half: float | None
    p95: float
    maximum: float

    def __str__(self) -> str:
        return f"{self.mean:.1f}" if self.half is None else f"{self.mean:.1f} ± {self.half:.1f}"


def estimate(values: Sequence[float]) -> Estimate:
    """Return the estimate of the mean from at least one value."""
    count = len(values)
    half = None
    if count > 1:
        t = T_95[count - 2] if count - 2 < len(T_95) else 1.96
        half = t * stdev(values) / sqrt(count)
    return Estimate(count, fmean(values), half, percentile(values, 95), max(values))


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the percentile of the values, 1 to 99, interpolated linearly."""
    if len(values) == 1:
        return values[0]  # Before Python 3.13 `quantiles` needs two values.
    return quantiles(values, n=100, method="inclusive")[percent - 1]
