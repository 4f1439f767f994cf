"""Means with the uncertainty they have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
    """Return what at least one value says about the mean they come from."""
    count = len(values)
    mean = sum(values) / count
    half = None
    if count > 1:
        deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
        t = T_95[count - 2] if count - 2 < len(T_95) else 1.96
        half = t * deviation / math.sqrt(count)
    return Estimate(count, mean, half, percentile(values, 0.95), max(values))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of all lie, between neighbours in proportion."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
