"""Rates over time: Kafka's meters and windows, at any instant, unchanged by reading them."""

from __future__ import annotations

import random

import pytest

from kmirror.kernel.clock import SECOND
from kmirror.kernel.meters import SAMPLE_SIZE, TICK, Histogram, Meter, WindowedRate

START = 1_700_000_000 * SECOND


def test_a_steady_meter_shows_the_rate_per_second() -> None:
    meter = Meter()
    for second in range(120):
        meter.mark(START + second * SECOND, 7)
    assert meter.count == 840
    assert meter.rates(START + 120 * SECOND) == pytest.approx((7, 7, 7))


def test_a_meter_decays_per_minute_without_marks() -> None:
    meter = Meter()
    meter.mark(START, 600)
    first = meter.rates(START + TICK)
    one, five, fifteen = meter.rates(START + TICK + 60 * SECOND)
    assert first == (120, 120, 120)
    assert one == pytest.approx(120 / 2.718281828)
    assert one < five < fifteen < 120


def test_reading_a_meter_changes_nothing() -> None:
    silent, asked, chance = Meter(), Meter(), random.Random(4)
    now = START
    for _ in range(300):
        now += chance.randrange(9 * SECOND)
        for _ in range(chance.randrange(3)):
            asked.rates(now)
        count = chance.randrange(50)
        silent.mark(now, count)
        asked.mark(now, count)
    assert silent.rates(now + SECOND) == pytest.approx(asked.rates(now + SECOND))


def test_a_rate_counts_only_its_windows() -> None:
    rate = WindowedRate(11, 1_000)
    rate.record(1_000, 500)
    assert rate.measure(1_000) == 500, "at least over one window"
    assert rate.measure(6_000) == 100
    rate.record(6_000, 500)
    assert rate.measure(6_000) == 200
    assert rate.measure(11_999) == pytest.approx(1_000 * 1_000 / 10_999)
    assert rate.measure(12_000) == pytest.approx(500 * 1_000 / 6_000), "the first one counts no more"
    assert rate.measure(17_000) == 0


def test_the_time_at_which_a_rate_falls_to_its_bound_is_exact() -> None:
    chance = random.Random(1)
    for _ in range(200):
        rate, now = WindowedRate(chance.choice((1, 2, 11)), chance.choice((10, 100))), 5_000
        for _ in range(chance.randrange(8)):
            now += chance.randrange(60)
            rate.record(now, chance.randrange(1_000))
        bound = chance.choice((0, 1, 100, 10_000))
        first = next(at for at in range(now, now + 5_000) if rate.measure(at) <= bound)
        assert rate.time_until_at_most(bound, now) == first


def test_a_histogram_knows_all_and_the_quantiles_of_the_newest() -> None:
    histogram = Histogram()
    assert (histogram.mean, *histogram.quantiles([0.5])) == (0, 0)
    for value in (1_000_000, *range(SAMPLE_SIZE)):
        histogram.add(value)
    assert (histogram.count, histogram.minimum, histogram.maximum) == (SAMPLE_SIZE + 1, 0, 1_000_000)
    assert histogram.quantiles([0.5, 1]) == [SAMPLE_SIZE // 2, SAMPLE_SIZE - 1]


def test_two_histograms_are_one() -> None:
    low, high, none = Histogram(), Histogram(), Histogram()
    for value in (1, 2, 3):
        low.add(value)
        high.add(10 * value)
    both = low.merge(high)
    assert (both.count, both.minimum, both.maximum, both.mean) == (6, 1, 30, 11)
    assert both.quantiles([0, 0.5, 1]) == [1, 10, 30]
    assert none.merge(high) == high.merge(none) and none.merge(high).minimum == 10
