"""Limit of repeated truncations of a log."""

from __future__ import annotations

import pytest

from kmirror.mirror.repeated_cuts import CUTS_MAX, RepeatedCuts

pytestmark = pytest.mark.decision("D59")
EPOCH = 4


def cut_and_filled(times: int, *, end: int = 9) -> RepeatedCuts:
    cuts = RepeatedCuts()
    for _ in range(times):
        assert cuts.may_cut(EPOCH)
        cuts.on_cut(EPOCH, end, 3)
        cuts.on_appended(end)
    return cuts


def test_a_log_that_never_passes_its_former_end_is_truncated_a_limited_number_of_times() -> None:
    cuts = cut_and_filled(CUTS_MAX)
    assert not cuts.may_cut(EPOCH)
    assert cuts.barred_epoch == EPOCH
    assert f"cut {CUTS_MAX} times and never passed offset 9" in cuts.reason()


def test_in_the_next_source_epoch_it_is_truncated_once() -> None:
    cuts = cut_and_filled(CUTS_MAX)
    assert cuts.may_cut(EPOCH + 1)
    cuts.on_cut(EPOCH + 1, 9, 3)
    cuts.on_appended(9)
    assert not cuts.may_cut(EPOCH + 1)
    assert cuts.barred_epoch == EPOCH + 1


def test_passing_the_former_end_restarts_the_count() -> None:
    cuts = cut_and_filled(CUTS_MAX)
    cuts.on_appended(10)
    assert cuts.may_cut(EPOCH)
    cuts.on_cut(EPOCH, 10, 3)
    assert (cuts.count, cuts.end_max) == (1, 10)


def test_a_log_restarted_above_its_end_makes_progress() -> None:
    cuts = cut_and_filled(CUTS_MAX - 1)
    cuts.on_cut(EPOCH, 9, 50)
    assert cuts.count == 0


def test_truncations_in_several_epochs_without_appends_count_once() -> None:
    cuts = cut_and_filled(CUTS_MAX - 1)
    for end in range(9, 0, -1):
        assert cuts.may_cut(EPOCH)
        cuts.on_cut(EPOCH, end, end - 1)
    assert cuts.count == CUTS_MAX
    cuts.on_appended(5)
    assert not cuts.may_cut(EPOCH)


def test_truncations_that_remove_nothing_count_each() -> None:
    cuts = RepeatedCuts()
    for _ in range(CUTS_MAX):
        assert cuts.may_cut(EPOCH)
        cuts.on_cut(EPOCH, 9, 9)
    assert not cuts.may_cut(EPOCH)
