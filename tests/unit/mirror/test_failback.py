"""Records that a failback removes if the two logs have nothing in common."""

from __future__ import annotations

import pytest

from kmirror.log.epochs import EpochEntry
from kmirror.mirror.failback import Cut, FailbackFacts, LogOutline, failback_cut, markers_from


@pytest.mark.parametrize("start", [0, 3])
def test_a_log_that_is_mirrored_from_scratch_loses_its_first_record_too(start: int) -> None:
    ours = LogOutline([EpochEntry(2, start)], start, start + 5)
    theirs = LogOutline([EpochEntry(4, 0)], 0, 9)
    cut = failback_cut(FailbackFacts(ours, theirs, settled_epoch=None))
    assert cut == Cut(start, start, "the source knows nothing of this log, so it is mirrored from scratch")
    shared = failback_cut(FailbackFacts(ours, theirs, settled_epoch=2, shared_epoch=-1))
    assert (shared.offset, shared.start) == (start, start)


OURS = LogOutline([EpochEntry(0, 0), EpochEntry(3, 2)], 0, 3)


@pytest.mark.decision("D25")
@pytest.mark.parametrize(
    ("theirs", "own", "shared", "expected"),
    [
        (LogOutline([EpochEntry(0, 0)], 0, 2), 0, None, 2),
        (LogOutline([EpochEntry(0, 0), EpochEntry(1, 3)], 1, 9), 0, None, 2),
        (LogOutline([EpochEntry(0, 0)], 0, 2), -1, None, None),
        (LogOutline([EpochEntry(0, 0)], 0, 2), 0, -1, None),
        (LogOutline([EpochEntry(0, 0), EpochEntry(1, 1)], 0, 9), 0, None, None),
        (LogOutline([EpochEntry(5, 0)], 0, 9), 0, None, None),
        (LogOutline([EpochEntry(5, 4)], 4, 9), 0, None, None),
        (LogOutline([], 0, 0), 0, None, None),
    ],
    ids=["the same", "more", "no epoch of ours", "other writers", "less", "created again", "begins above", "empty"],
)
def test_from_where_on_a_log_may_have_only_markers(
    theirs: LogOutline, own: int, shared: int | None, expected: int | None
) -> None:
    assert markers_from(FailbackFacts(OURS, theirs, settled_epoch=-1, own_epoch=own, shared_epoch=shared)) == expected


@pytest.mark.decision("D25")
def test_a_log_with_only_records_after_the_epoch_needs_no_proof() -> None:
    ours = LogOutline([EpochEntry(3, 2)], 2, 3)
    assert markers_from(FailbackFacts(ours, LogOutline([], 0, 0), settled_epoch=-1, own_epoch=0)) == 2
