"""Means with the uncertainty they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, quantiles, stdev

# Student's t for 95 % on both sides, by degrees of freedom; from 30 on 1.96 is near enough.
T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, half the width of its 95 % confidence interval (None for one value), and the greatest."""

    count: int
    mean: float
    half: float | None
    p95: float
    greatest: float

    def __str__(self) -> str:
        return f"{self.mean:.1f}" if self.half is None else f"{self.mean:.1f} ± {self.half:.1f}"


def estimate(values: Sequence[float]) -> Estimate:
    """Return what at least one value says about the mean of the distribution that it is drawn from."""
    count = len(values)
    half = None
    if count > 1:
        t = T_95[count - 2] if count - 2 < len(T_95) else 1.96
        half = t * stdev(values) / sqrt(count)
    return Estimate(count, fmean(values), half, percentile(values, 95), max(values))


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the value below which `percent` of all lie, 1 to 99; between two neighbours in proportion."""
    if len(values) == 1:
        return values[0]  # Before Python 3.13 `quantiles` wants two.
    return quantiles(values, n=100, method="inclusive")[percent - 1]
