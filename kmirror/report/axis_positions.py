"""Positions of values along an axis, and choice of the values that get a label.

Numbers are placed linearly. If labels would then overlap, as those of 0, 100, 500 and 10,000 do, the numbers are placed
by their logarithms. Labels that still overlap are left out; the first and the last are always shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Value = int | str
GAP = 1.5
"""Smallest gap between two labels, in characters."""


@dataclass(frozen=True, slots=True)
class AxisPositions:
    """Positions of an axis's values, as fractions of its length."""

    positions: dict[Value, float]
    labelled: tuple[Value, ...]
    is_log: bool = False
    is_rotated: bool = False
    """All names are labelled; they are rotated if they would overlap otherwise."""


def axis_positions(values: Sequence[Value], characters: float) -> AxisPositions:
    """Return the positions of `values`, which ascend, on an axis with room for this number of label characters."""
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) < len(values):
        equal_steps = _spread(values, range(len(values)))
        return AxisPositions(
            equal_steps, tuple(values), is_rotated=len(_without_overlaps(equal_steps, characters)) < len(values)
        )
    linear = _spread(values, numbers)
    labelled = _without_overlaps(linear, characters)
    if len(labelled) < len(values) and numbers[0] >= 0 and numbers[-1] > 0:
        by_log = _spread(values, _logarithms(numbers))
        labelled_by_log = _without_overlaps(by_log, characters)
        if len(labelled_by_log) > len(labelled):
            return AxisPositions(by_log, labelled_by_log, is_log=True)
    return AxisPositions(linear, labelled)


def _logarithms(numbers: Sequence[int]) -> list[float]:
    """Return the logarithms; 0 is placed before the smallest one, at the average distance of the others."""
    logs = [math.log10(number) for number in numbers if number]
    step = (logs[-1] - logs[0]) / (len(logs) - 1) if len(logs) > 1 else 1.0
    return [logs[0] - step] * (len(numbers) - len(logs)) + logs


def _spread(values: Sequence[Value], scores: Sequence[float]) -> dict[Value, float]:
    """Return positions from 0 to 1, in proportion to the scores; a single value is in the middle."""
    span = scores[-1] - scores[0]
    return {value: (score - scores[0]) / span if span else 0.5 for value, score in zip(values, scores, strict=True)}


def _without_overlaps(positions: dict[Value, float], characters: float) -> tuple[Value, ...]:
    """Return the values whose labels do not overlap, including the first and the last."""

    def overlap(one: Value, other: Value) -> bool:
        return (positions[other] - positions[one]) * characters < (len(str(one)) + len(str(other))) / 2 + GAP

    labelled: list[Value] = []
    for value in positions:
        if not labelled or not overlap(labelled[-1], value):
            labelled.append(value)
    last = next(reversed(positions))
    if labelled[-1] != last:
        while len(labelled) > 1 and overlap(labelled[-1], last):
            labelled.pop()
        labelled.append(last)
    return tuple(labelled)
