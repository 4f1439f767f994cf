"""First difference between two replicas of a partition."""

from __future__ import annotations

from kmirror.cluster.node.partition import Partition
from kmirror.log.compare import compare, parting


def find_difference(leader: Partition, replica: Partition) -> str:
    """Return where a replica's log differs from its leader's committed records; empty if it does not.

    The newest records may not have reached the replica, but it may have no record that the leader lacks.
    """
    end = leader.log.log_end_offset
    if not leader.log.high_watermark <= replica.log.log_end_offset <= end:
        return f"log end {replica.log.log_end_offset}, but the leader's is {end}"
    return first_difference_below(leader, replica, leader.log.high_watermark)


def first_difference_below(leader: Partition, replica: Partition, until: int) -> str:
    """Return where two replicas diverge below `until`; empty if they do not."""
    one, other = leader.log, replica.log
    start = max(one.log_start_offset, other.log_start_offset)
    parted = compare(one.batches(start, until), other.batches(start, until)).parted
    if parted is None:
        return ""
    where = f"offset {parting(parted).offset}"
    left, right = parted.expected, parted.found
    if left is None or right is None:
        return f"{where}: only the {'leader' if right is None else 'replica'} has a batch"
    return (
        f"{where}: epoch {right.partition_leader_epoch}, checksum {right.crc:08x}, the "
        f"leader's is of epoch {left.partition_leader_epoch}, checksum {left.crc:08x}"
    )
