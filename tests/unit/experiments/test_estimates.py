"""Confidence intervals of means, and percentiles, which are between adjacent values."""

from __future__ import annotations

import pytest

from kmirror.experiments.estimates import estimate, percentile


def test_a_mean_has_its_interval_from_two_values_on() -> None:
    found = estimate([1, 2, 3])
    assert (found.count, found.mean, found.maximum) == (3, 2, 3)
    assert found.half == pytest.approx(4.303 / 3**0.5)
    assert str(estimate([4])) == "4.0"


def test_many_values_use_the_normal_quantile() -> None:
    found = estimate([0, 1] * 50)
    assert found.half == pytest.approx(1.96 * (25 / 99) ** 0.5 / 10)


@pytest.mark.parametrize(("percent", "value"), [(5, 1.2), (25, 2), (50, 3), (95, 4.8)])
def test_a_percentile_lies_between_two_values_in_proportion(percent: int, value: float) -> None:
    assert percentile([5, 3, 1, 4, 2], percent) == pytest.approx(value)
    assert percentile([7], percent) == 7
