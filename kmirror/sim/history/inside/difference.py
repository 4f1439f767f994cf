"""Where do two replicas of a partition differ?"""

from __future__ import annotations

from kmirror.cluster.replication.partition import Partition
from kmirror.log.compare import compare, parting


def difference(leader: Partition, replica: Partition) -> str:
    """Say where a replica's log differs from what its leader has committed; empty if it does not.

    What was appended a moment ago may not have reached the replica, but nothing may be in it that the leader lacks.
    """
    one, other = leader.log, replica.log
    if not one.high_watermark <= other.log_end_offset <= one.log_end_offset:
        return f"log end {other.log_end_offset}, the leader's is {one.log_end_offset}"
    start, until = max(one.log_start_offset, other.log_start_offset), one.high_watermark
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
