"""The row for histories: the reference loop, and the measurement."""

from __future__ import annotations

from benchmarks import histories


def test_the_loop_does_the_same_each_time_and_more_with_more_rounds() -> None:
    assert histories.loop(500) == histories.loop(500) != histories.loop(501)


def test_each_group_of_histories_gives_a_ratio() -> None:
    ratios = histories.measure(1, rounds=1_000, profile="smoke")
    assert len(ratios) == 1 and 0 < ratios[0] < 1
