"""Placement of replicas: Kafka's StripedReplicaPlacer without racks, and the checks of manual assignments.

Fenced brokers get replicas only if there are not enough others, and lead nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.cluster.controller.decisions import ApiError
from kmirror.cluster.images import MetadataImage
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.spec.error_codes import ErrorCode

NONE_USABLE = "All brokers are currently fenced, or have all their log directories cordoned."
NONE_ACTIVE = "All brokers are currently fenced or in controlled shutdown."

Replicas = tuple[int, ...]


def place(image: MetadataImage, rng: Rng, count: int, factor: int) -> list[Replicas]:
    """Return the replicas of `count` partitions, from a start position that `rng` draws; the first replica should lead.

    INVALID_REPLICATION_FACTOR if there are fewer brokers than replicas, or no live broker.
    """
    alive = sorted(b for b in image.brokers if image.brokers.is_alive(b))
    fenced = sorted(b for b in image.brokers if not image.brokers.is_alive(b))
    if not alive:
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, NONE_USABLE)
    if factor > len(image.brokers):
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The target replication factor of {factor} cannot be reached because only {len(image.brokers)} broker(s) "
            "are registered or some brokers have all their log directories cordoned.",
        )
    start = rng.below(len(alive))
    assignments = []
    for index in range(count):
        leader = (start + index) % len(alive)
        # The distance between replicas grows with each round over the brokers, to spread the load when one dies.
        shift = index // len(alive)
        live_count = min(factor, len(alive)) - 1
        live_replicas = [alive[(leader + 1 + (shift + n) % (len(alive) - 1)) % len(alive)] for n in range(live_count)]
        fenced_replicas = [fenced[(index + n) % len(fenced)] for n in range(factor - 1 - live_count)]
        assignments.append((alive[leader], *live_replicas, *fenced_replicas))
    return assignments


def check_assignment(image: MetadataImage, replicas: Sequence[int], factor: int | None) -> None:
    """Raise ApiError unless a partition may have these replicas; `factor` is the replica count of the others."""
    if not replicas:
        raise _assignment_error("includes an empty replica list.")
    previous = None
    for broker_id in sorted(replicas):
        if broker_id not in image.brokers:
            raise _assignment_error(f"includes broker {broker_id}, but no such broker is registered.")
        if broker_id == previous:
            raise _assignment_error(f"includes the broker {broker_id} more than once.")
        previous = broker_id
    if factor is not None and len(replicas) != factor:
        raise _assignment_error(
            f"includes a partition with {len(replicas)} replica(s), but this is not consistent with previous "
            f"partitions, which have {factor} replica(s)."
        )


def _assignment_error(problem: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"The manual partition assignment {problem}")


def check_active(image: MetadataImage, replicas: Sequence[int], index: int) -> None:
    """Raise ApiError if none of the replicas assigned to partition `index` may lead."""
    if not any(image.brokers.is_active(b) for b in replicas):
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"All brokers specified in the manual partition assignment for partition {index} are fenced or in "
            "controlled shutdown.",
        )


def new_partition(image: MetadataImage, topic_id: Uuid, index: int, replicas: Sequence[int]) -> PartitionRecord:
    """Return the record of a new partition; its leader epoch is 0 unless the topic id was used before.

    INVALID_REPLICATION_FACTOR if none of its replicas may lead: all live brokers are shutting down.
    """
    isr = [b for b in replicas if image.brokers.is_active(b)]
    if not isr:
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, factor_problem(len(replicas), NONE_ACTIVE))
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=isr,
        leader=isr[0],
        leader_epoch=image.topics.first_leader_epoch(topic_id),
        partition_epoch=0,
        directories=[image.brokers.default_directory(b) for b in replicas] if image.features.has_directories else [],
    )


def factor_problem(factor: int, reason: str) -> str:
    """Return Kafka's message for a replication factor that cannot be met."""
    return f"Unable to replicate the partition {factor} time(s): {reason}"
