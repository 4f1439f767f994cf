"""Simulated return of a replica that is down: whether it would get its leader's log (D13, D30).

A replica that missed a cut has records of another history. When it returns, the list of uncut replicas and the leader's
responses to its fetches must remove all of them. Histories rarely draw a return at such a time with a later election of
the replica. So the same steps are simulated here with the batches on its disk, without any effect on the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.truncation import divergence
from kmirror.errors import CorruptBatch
from kmirror.histories.describing import persisted_states
from kmirror.histories.scene import Scene
from kmirror.histories.stores import partition_stores
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.cut_rules import Uncut
from kmirror.mirror.state_records import StateKey
from kmirror.records.batch import Batch, iter_batches
from kmirror.sim.cluster import Cluster


def find_difference_after_return(scene: Scene, cluster: str, leader: Partition, mirror: str, *, foreign: bool) -> str:
    """Return which replica of a mirrored partition would keep records that its leader lacks; empty if none would.

    `foreign` means that the log has leader epochs of another cluster.
    """
    key = StateKey(mirror, leader.topic_id, leader.tp.partition)
    uncut = next((state.uncut for found, state in persisted_states(scene, cluster) if found == key), None)
    if uncut is None:
        return ""  # No running coordinator has it.
    return find_kept_records(scene, cluster, leader, uncut, foreign=foreign)


def find_kept_records(scene: Scene, cluster: str, leader: Partition, cuts: Uncut, *, foreign: bool) -> str:
    """Return which follower would keep records that its leader lacks, although it makes the cuts in `cuts`."""
    for broker_id in leader.followers:
        batches = batches_on_disk(scene.clusters[cluster], broker_id, leader)
        if batches is None:
            continue
        if broker_id in cuts:
            batches = [batch for batch in batches if batch.partition_leader_epoch <= cuts[broker_id]]
        difference = _find_difference(leader.log, converge(leader.log, batches, foreign=foreign))
        if difference:
            return f"broker {broker_id} would return with {difference}"
    return ""


def batches_on_disk(cluster: Cluster, broker_id: int, leader: Partition) -> Sequence[Batch] | None:
    """Return the batches on a broker's disks up to one torn by a power cut; None if no disk, or more than one, has the
    log.
    """
    stores = partition_stores(cluster, broker_id, leader.tp, leader.topic_id)
    if len(stores) != 1:
        return None
    found: list[Batch] = []
    with suppress(CorruptBatch):
        for base_offset in stores[0].segments():
            found.extend(iter_batches(stores[0].view(base_offset), check_crc=False))
    return found


def find_extra_batch(leader: PartitionLog, batches: Sequence[Batch]) -> str:
    """Return a follower's batch that its leader lacks; empty if there is none."""
    if batches and batches[-1].last_offset >= leader.log_end_offset:
        return f"offset {batches[-1].last_offset}, but the leader's log ends at {leader.log_end_offset}"
    return _find_difference(leader, batches)


def converge(leader: PartitionLog, batches: Sequence[Batch], *, foreign: bool) -> Sequence[Batch]:
    """Return the rest of a follower's batches after its fetches no longer diverge; empty if they are out of range."""
    end = batches[-1].last_offset + 1 if batches else 0
    while batches:
        if end < leader.log_start_offset:
            return ()
        found = divergence(leader, batches[-1].partition_leader_epoch, end, foreign=foreign)
        if found is None:
            return batches if end <= leader.log_end_offset else ()
        if found.epoch == -1:
            return ()
        remaining = [batch for batch in batches if batch.partition_leader_epoch <= found.epoch]
        if remaining and remaining[-1].partition_leader_epoch == found.epoch:
            remaining = [batch for batch in remaining if batch.last_offset < found.end_offset]
        assert len(remaining) < len(batches), "a divergence cuts something"
        batches, end = remaining, remaining[-1].last_offset + 1 if remaining else 0
    return ()


def _find_difference(leader: PartitionLog, batches: Sequence[Batch]) -> str:
    start = leader.log_start_offset
    ours = {batch.base_offset: (batch.partition_leader_epoch, batch.crc) for batch in leader.batches(start)}
    for batch in batches:
        if batch.base_offset >= start and ours.get(batch.base_offset) != (batch.partition_leader_epoch, batch.crc):
            return (
                f"epoch {batch.partition_leader_epoch} at offset {batch.base_offset}, but the leader has "
                "another batch there"
            )
    return ""
