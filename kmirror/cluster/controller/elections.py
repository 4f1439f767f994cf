"""Elections and ISR changes: records, decided from the image alone (PartitionChangeBuilder).

A replica in an offline log directory is treated like one of a dead broker. The first live ISR member in replica order
leads. If there is none, an unclean election may take any live replica, if the topic allows it. Otherwise the partition
has no leader and keeps its last ISR.

With `eligible.leader.replicas.version` 1 (KIP-966, D71) the ISR may become empty instead. Nothing is committed while
the ISR has fewer members than `min.insync.replicas`, so a replica that leaves it then has all committed records: it
stays eligible, and leads if the ISR is empty. A broker may have lost records in an unclean shutdown, and is no longer
eligible after one. If no replica is eligible either, the last leader leads when it comes back, even if it has lost
records.

At level 0 the log may contain eligible replicas that another controller recorded. They are treated as the ISR if that
is empty. The first change of the ISR clears them, because at level 0 no change removes an eligible replica that falls
behind.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from kmirror.cluster.images import (
    LEADER_UNCHANGED,
    NO_LEADER,
    RECOVERY_UNCHANGED,
    MetadataImage,
    PartitionImage,
    TopicImage,
)
from kmirror.kernel.java import in_hash_order
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.message import Message
from kmirror.spec.configs import Configs, Scope
from kmirror.spec.wire_values import LeaderRecoveryState


def fence_records(image: MetadataImage, defaults: Configs, broker_id: int) -> list[Message]:
    """Return the changes that remove `broker_id` from every ISR and leadership; it may still be active in `image`."""
    changes = (
        without_replica(image, defaults, topic, index, broker_id) for topic, index in image.topics.hosted_by(broker_id)
    )
    return [change for change in changes if change is not None]


def unclean_records(image: MetadataImage, defaults: Configs, broker_id: int) -> list[Message]:
    """Return the changes that remove a broker from every ISR and eligible set after an unclean shutdown."""
    changes = (
        _change(
            image,
            defaults,
            topic,
            index,
            _isr_without(topic.partitions[index], broker_id),
            removed_broker=broker_id,
            may_have_lost=True,
        )
        for topic, index in image.topics.hosted_by(broker_id)
        if broker_id in (*topic.partitions[index].isr, *topic.partitions[index].eligible)
    )
    return [change for change in changes if change is not None]


def offline_records(
    image: MetadataImage, defaults: Configs, broker_id: int, directories: Collection[Uuid]
) -> list[Message]:
    """Return the changes that remove `broker_id` from ISR and leadership of its replicas in these directories."""
    return [
        change
        for topic, index in image.topics.hosted_by(broker_id)
        if topic.partitions[index].directory_of(broker_id) in directories
        and (change := without_replica(image, defaults, topic, index, broker_id)) is not None
    ]


def without_replica(
    image: MetadataImage, defaults: Configs, topic: TopicImage, index: int, broker_id: int
) -> PartitionChangeRecord | None:
    """Return the change that removes one replica from its ISR and leadership; None if it has neither."""
    partition = topic.partitions[index]
    if broker_id not in partition.isr and partition.leader != broker_id:
        return None
    return _change(image, defaults, topic, index, _isr_without(partition, broker_id), removed_broker=broker_id)


def elect_leaderless(image: MetadataImage, defaults: Configs, broker_id: int | None = None) -> list[Message]:
    """Return the possible elections; `broker_id` is treated as active, although `image` may not show it yet."""
    records: list[Message] = []
    for name, index in image.topics.leaderless:
        topic = image.topics[name]
        partition = topic.partitions[index]
        if broker_id is not None and broker_id not in partition.replicas:
            continue  # The elections that are possible without this broker are done.
        change = _change(image, defaults, topic, index, partition.isr, activated_broker=broker_id)
        if change is not None:
            records.append(change)
    return records


def with_isr(
    image: MetadataImage, defaults: Configs, topic: TopicImage, index: int, isr: Sequence[int], *, recovered: bool
) -> PartitionChangeRecord | None:
    """Return the change to the ISR that the leader proposes; None if the ISR has these members already."""
    return _change(image, defaults, topic, index, isr, recovered=recovered)


def _isr_without(partition: PartitionImage, broker_id: int) -> list[int]:
    return [member for member in partition.isr if member != broker_id]


def _may_lead_once_active(image: MetadataImage, replica: int, broker_id: int | None, partition: PartitionImage) -> bool:
    """Return whether a replica may lead once `broker_id`, its broker, is active."""
    return replica == broker_id and image.brokers[replica].has_online(partition.directory_of(replica))


class _Election(NamedTuple):
    """The state of a partition before or after an election; the leader may be unchanged, or NO_LEADER."""

    leader: int
    isr: list[int]
    eligible: list[int]
    unclean: bool = False
    """Whether the leader may lack committed records."""


def _change(
    image: MetadataImage,
    defaults: Configs,
    topic: TopicImage,
    index: int,
    isr: Sequence[int],
    *,
    removed_broker: int | None = None,
    may_have_lost: bool = False,
    activated_broker: int | None = None,
    recovered: bool = False,
) -> PartitionChangeRecord | None:
    """Return the change that results from the new members of the ISR; None if nothing changes.

    `removed_broker` may not lead, and is no longer eligible if it `may_have_lost` records; `activated_broker` will be
    active. The leader may have `recovered` from an unclean election.
    """
    partition, has_elr = topic.partitions[index], image.features.has_eligible_replicas
    configs = Configs(Scope.TOPIC, image.configs.topic(topic.name), defaults)
    candidates = [
        b
        for b in partition.replicas
        if b != removed_broker
        and (
            b == partition.leader
            or image.brokers.may_lead(b, partition)
            or _may_lead_once_active(image, b, activated_broker, partition)
        )
    ]
    eligible = list(partition.eligible)
    if has_elr:
        min_isr = min(configs.integer("min.insync.replicas"), len(partition.replicas))
        eligible = _eligible(partition, isr, min_isr, removed_broker if may_have_lost else None)
    unclean = configs.flag("unclean.leader.election.enable")
    election = _elect(
        partition, _Election(partition.leader, list(isr), eligible), candidates, has_elr=has_elr, unclean=unclean
    )
    record = PartitionChangeRecord(partition_id=index, topic_id=topic.topic_id)
    if election.leader != partition.leader:
        record.leader = election.leader
        if election.unclean and not partition.recovering:
            record.leader_recovery_state = LeaderRecoveryState.RECOVERING
    if recovered and partition.recovering:
        record.leader_recovery_state = LeaderRecoveryState.RECOVERED
    if election.isr != list(partition.isr) and (has_elr or election.leader != NO_LEADER):
        record.isr = election.isr  # At level 0 the last ISR is kept: only its members may lead again.
    _set_eligible(record, partition, election.eligible, has_elr=has_elr)
    replica_fields = record.isr, record.eligible_leader_replicas, record.last_known_elr
    is_same = record.leader == LEADER_UNCHANGED and record.leader_recovery_state == RECOVERY_UNCHANGED
    return None if is_same and replica_fields == (None, None, None) else record


def _eligible(partition: PartitionImage, isr: Sequence[int], min_isr: int, lost_replica: int | None) -> list[int]:
    """Return the replicas outside the new ISR with all committed records; none if that ISR may commit more."""
    if len(isr) >= min_isr:
        return []
    candidates = dict.fromkeys((*partition.eligible, *partition.isr))
    return in_hash_order([b for b in candidates if b not in isr and b != lost_replica], int, size_max=len(candidates))


def _elect(
    partition: PartitionImage, proposed: _Election, candidates: Sequence[int], *, has_elr: bool, unclean: bool
) -> _Election:
    """Return the leader, one of the replicas in `candidates`, with the resulting ISR and eligible replicas."""
    isr, eligible = proposed.isr, proposed.eligible
    clean = [b for b in candidates if b in (isr or eligible)]
    if partition.leader in clean:
        return proposed
    if clean:
        leader = clean[0]
        if isr:
            return _Election(leader, isr, eligible)
        return _Election(leader, [leader], [b for b in eligible if b != leader])
    last = partition.last_known
    if has_elr and not isr and not eligible and len(last) == 1 and last[0] in candidates:
        return _Election(last[0], [last[0]], [], unclean=True)
    if unclean and candidates:
        return _Election(candidates[0], [candidates[0]], [], unclean=True)
    return _Election(NO_LEADER, isr, eligible)


def _set_eligible(
    record: PartitionChangeRecord, partition: PartitionImage, eligible: list[int], *, has_elr: bool
) -> None:
    """Add the eligible replicas to a change, and the last leader if the partition loses its leader."""
    if not has_elr:
        changes = record.leader != LEADER_UNCHANGED or record.isr is not None
        if changes and (partition.eligible or partition.last_known):
            record.eligible_leader_replicas, record.last_known_elr = [], []
        return
    if eligible != list(partition.eligible):
        record.eligible_leader_replicas = eligible
    if record.leader == NO_LEADER and not partition.last_known:
        record.last_known_elr = [partition.leader]
    elif record.leader >= 0 and partition.last_known:
        record.last_known_elr = []
