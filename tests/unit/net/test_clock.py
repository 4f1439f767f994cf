"""Time never goes back, and follows a wall clock that is set forward."""

from __future__ import annotations

from kmirror.net.clock import Clock


class Hands:
    """Both of the system's clocks, moved by hand; in seconds."""

    def __init__(self) -> None:
        self.wall = 1_000_000
        self.run = 50

    def clock(self) -> Clock:
        return Clock(lambda: self.wall * 10**9, lambda: self.run * 10**9)


def test_it_is_the_walls_time_in_microseconds() -> None:
    assert Hands().clock().now() == 1_000_000_000_000


def test_it_runs_on_when_the_wall_is_set_back() -> None:
    hands = Hands()
    clock = hands.clock()
    before = clock.now()
    hands.wall -= 3_600
    hands.run += 1
    assert not clock.follow_wall()
    assert clock.now() == before + 1_000_000


def test_it_leaps_when_the_wall_is_well_ahead() -> None:
    hands = Hands()
    clock = hands.clock()
    hands.wall += 3_600  # The machine slept: the other clock stopped.
    assert clock.now() == 1_000_000_000_000
    assert clock.follow_wall()
    assert clock.now() == 1_003_600_000_000
    assert not clock.follow_wall()
