"""A replica that differs from its leader is reported with the difference."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.histories import observer
from kmirror.histories.account import ObservedCut
from kmirror.histories.observer import find_difference
from kmirror.kernel.clock import SECOND
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import LogConfig, PartitionLog
from kmirror.records.batch import Batch
from tests.sim.stage import TP, plain

LOG = [plain(0, 0, "r0"), plain(1, 1, "r1"), plain(2, 1, "r2")]


def replica(*batches: bytes, high_watermark: int = 3) -> Partition:
    log = PartitionLog.open(TP, MemoryStore.from_files({0: b"".join(batches)}, {}), LogConfig(), now_ms=0)
    log.update_high_watermark(high_watermark)
    return cast(Partition, SimpleNamespace(log=log, leader_epoch=3, epoch_start_offset=0))


def test_records_above_the_high_watermark_may_be_missing_but_not_added() -> None:
    assert find_difference(replica(*LOG), replica(*LOG)) == ""
    assert find_difference(replica(*LOG, high_watermark=2), replica(*LOG[:2])) == ""
    assert find_difference(replica(*LOG), replica(*LOG[:2])) == "log end 2, but the leader's is 3"
    assert find_difference(replica(*LOG[:2]), replica(*LOG)) == "log end 3, but the leader's is 2"


def test_another_batch_is_reported_by_epoch_and_checksum() -> None:
    other = plain(1, 0, "x1")
    assert find_difference(replica(*LOG), replica(LOG[0], other, LOG[2])) == (
        f"offset 1: epoch 0, checksum {Batch(other).crc:08x}, the leader's is of epoch 1, "
        f"checksum {Batch(LOG[1]).crc:08x}"
    )


def test_a_batch_of_one_side_only_is_reported() -> None:
    """Both logs end at 3; the last offsets of one are a gap, as left by the cleaner."""
    gap = replica(*LOG[:2])
    gap.log.segments.end_offset = 3
    assert find_difference(replica(*LOG), gap) == "offset 2: only the leader has a batch"
    assert find_difference(gap, replica(*LOG)) == ""
    gap.log.high_watermark = 3
    assert find_difference(gap, replica(*LOG)) == "offset 2: only the replica has a batch"


@pytest.mark.parametrize(("ago", "is_told"), [(4 * SECOND, False), (6 * SECOND, True)])
def test_a_joining_replica_may_be_longer_than_a_just_truncated_leader(
    ago: int, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observer, "may_be_compacted", lambda *_: False)
    leader, follower = replica(*LOG[:2], high_watermark=2), replica(*LOG)
    leader.image = PartitionImage((1, 2), (1,), 1, 3, 1)
    account = SimpleNamespace(
        differing_joiners=[], cuts=[ObservedCut("a", TP, 1, 2, 3, "diverging epoch", 60 * SECOND - ago)]
    )
    scene = SimpleNamespace(
        account=account, now=60 * SECOND, plan=None, leader=lambda *_: leader,
        clusters={"a": SimpleNamespace(replicas=lambda tp: {1: leader, 2: follower})},
    )  # fmt: skip
    watch = SimpleNamespace(_scene=scene, mirror_partition=lambda *_: None)
    after = replace(leader.image, isr=(1, 2), partition_epoch=2)
    observer.Observer._record_joiners(cast(observer.Observer, watch), "a", TP, leader.image, after)
    assert bool(account.differing_joiners) is is_told
