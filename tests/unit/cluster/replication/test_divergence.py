"""The leader's calculation of the offset where a follower's log diverges from its own (KIP-595, D13)."""

from __future__ import annotations

import pytest

from kmirror.cluster.replication.truncation import Divergence, divergence
from tests.builders import batch
from tests.unit.log.partitions import follow, open_log


@pytest.mark.decision("D13")
@pytest.mark.parametrize("epoch", [0, 3])
@pytest.mark.parametrize("fetch_offset", [1, 2, 4])
def test_a_replica_with_a_later_epoch_than_a_mirrored_log_truncates_to_its_end(epoch: int, fetch_offset: int) -> None:
    """It was offline while the log was truncated: no other log has its records of the later epoch."""
    log = open_log()
    follow(log, batch(2, epoch=epoch))
    assert divergence(log, epoch + 1, fetch_offset, foreign=True) == Divergence(epoch, 2)
    assert divergence(log, epoch, 2, foreign=True) is None, "it has what the log has"
