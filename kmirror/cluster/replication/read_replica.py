"""Choice of the preferred read replica of a consumer (Kafka's RackAwareReplicaSelector, KIP-392)."""

from __future__ import annotations

from kmirror.cluster.images import MetadataImage
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.clock import Instant, to_ms


def preferred_read_replica(
    now: Instant, partition: Partition, image: MetadataImage, listener: str, rack: str, offset: int
) -> int | None:
    """Return the follower in `rack` with the highest log end, None if there is none or the leader is in `rack`.

    Returns None on a follower too. Candidates are ISR members whose log contains `offset` and whose broker has an
    endpoint on `listener`.
    """
    if not partition.is_leader or _rack(image, partition.broker_id) == rack:
        return None
    candidates = [
        (follower.log_end, to_ms(follower.caught_up_at) - to_ms(now), replica)
        for replica, follower in partition.followers.items()
        if replica in partition.image.isr
        and _rack(image, replica) == rack
        and image.brokers.endpoint(replica, listener) is not None
        and follower.log_start <= offset <= follower.log_end
    ]
    return max(candidates)[2] if candidates else None


def _rack(image: MetadataImage, broker_id: int) -> str | None:
    """Return the rack of a living broker, else None."""
    broker = image.brokers.get(broker_id)
    return None if broker is None or broker.fenced else broker.rack
