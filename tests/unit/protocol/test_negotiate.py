"""Both sides use the newest version that both support."""

from __future__ import annotations

from kmirror.protocol.negotiate import negotiate, negotiate_all


def test_the_newest_shared_version() -> None:
    assert negotiate((4, 19), (0, 11)) == 11
    assert negotiate((4, 19), (19, 25)) == 19
    assert negotiate((4, 19), (20, 25)) is None
    assert negotiate((4, 19), (0, 3)) is None


def test_an_api_without_a_shared_version_is_left_out() -> None:
    assert negotiate_all({1: (4, 19), 2: (1, 9), 3: (0, 1)}, {1: (0, 11), 2: (10, 11), 9: (0, 0)}) == {1: 11}
