"""What a failback removes, where the two logs have nothing in common."""

from __future__ import annotations

import pytest

from kmirror.log.epochs import EpochEntry
from kmirror.mirror.failback import Cut, FailbackFacts, LogOutline, failback_cut


@pytest.mark.parametrize("start", [0, 3])
def test_a_log_that_is_mirrored_from_scratch_loses_its_first_record_too(start: int) -> None:
    ours = LogOutline([EpochEntry(2, start)], start, start + 5)
    theirs = LogOutline([EpochEntry(4, 0)], 0, 9)
    cut = failback_cut(FailbackFacts(ours, theirs, told_epoch=None))
    assert cut == Cut(start, start, "the source knows nothing of this log, so it is mirrored from scratch")
    shared = failback_cut(FailbackFacts(ours, theirs, told_epoch=2, shared_epoch=-1))
    assert (shared.offset, shared.start) == (start, start)
