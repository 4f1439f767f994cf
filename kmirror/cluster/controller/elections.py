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
    every = (
        without_replica(image, defaults, topic, index, broker_id) for topic, index in image.topics.hosted_by(broker_id)
    )
    return [change for change in every if change is not None]


def unclean_records(image: MetadataImage, defaults: Configs, broker_id: int) -> list[Message]:
    """Return the changes that remove a broker from every ISR and eligible set after an unclean shutdown."""
    every = (
        _change(image, defaults, topic, index, _without(topic.partitions[index], broker_id), gone=broker_id, lost=True)
        for topic, index in image.topics.hosted_by(broker_id)
        if broker_id in (*topic.partitions[index].isr, *topic.partitions[index].eligible)
    )
    return [change for change in every if change is not None]


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
    return _change(image, defaults, topic, index, _without(partition, broker_id), gone=broker_id)


def elect_leaderless(image: MetadataImage, defaults: Configs, broker_id: int | None = None) -> list[Message]:
    """Return the possible elections; `broker_id` is treated as active, although `image` may not show it yet."""
    records: list[Message] = []
    for name, index in image.topics.leaderless:
        topic = image.topics[name]
        partition = topic.partitions[index]
        if broker_id is not None and broker_id not in partition.replicas:
            continue  # The elections that are possible without this broker are done.
        change = _change(image, defaults, topic, index, partition.isr, comes=broker_id)
        if change is not None:
            records.append(change)
    return records


def with_isr(
    image: MetadataImage, defaults: Configs, topic: TopicImage, index: int, isr: Sequence[int], *, recovered: bool
) -> PartitionChangeRecord | None:
    """Return the change to the ISR that the leader proposes; None if the ISR has these members already."""
    return _change(image, defaults, topic, index, isr, recovered=recovered)


def _without(partition: PartitionImage, broker_id: int) -> list[int]:
    return [member for member in partition.isr if member != broker_id]


def _comes(image: MetadataImage, replica: int, broker_id: int | None, partition: PartitionImage) -> bool:
    """Return whether a replica of `broker_id` may lead once that broker is active."""
    return replica == broker_id and image.brokers[replica].has_online(partition.directory_of(replica))


class _Elected(NamedTuple):
    """The result of an election; the leader may be unchanged, or NO_LEADER."""

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
    gone: int | None = None,
    lost: bool = False,
    comes: int | None = None,
    recovered: bool = False,
) -> PartitionChangeRecord | None:
    """Return the change that results from the new members of the ISR; None if nothing changes.

    `gone` may not lead, and is no longer eligible if it may have `lost` records; `comes` will be active. The leader may
    have `recovered` from an unclean election.
    """
    partition, keeps = topic.partitions[index], image.features.has_eligible_replicas
    configs = Configs(Scope.TOPIC, image.configs.topic(topic.name), defaults)
    able = [
        b
        for b in partition.replicas
        if b != gone
        and (b == partition.leader or image.brokers.may_lead(b, partition) or _comes(image, b, comes, partition))
    ]
    eligible = list(partition.eligible)
    if keeps:
        min_isr = min(configs.integer("min.insync.replicas"), len(partition.replicas))
        eligible = _eligible(partition, isr, min_isr, gone if lost else None)
    unclean = configs.flag("unclean.leader.election.enable")
    elected = _elect(partition, _Elected(partition.leader, list(isr), eligible), able, keeps=keeps, unclean=unclean)
    record = PartitionChangeRecord(partition_id=index, topic_id=topic.topic_id)
    if elected.leader != partition.leader:
        record.leader = elected.leader
        if elected.unclean and not partition.recovering:
            record.leader_recovery_state = LeaderRecoveryState.RECOVERING
    if recovered and partition.recovering:
        record.leader_recovery_state = LeaderRecoveryState.RECOVERED
    if elected.isr != list(partition.isr) and (keeps or elected.leader != NO_LEADER):
        record.isr = elected.isr  # At level 0 the last ISR is kept: only its members may lead again.
    _note_eligible(record, partition, elected.eligible, keeps=keeps)
    named = record.isr, record.eligible_leader_replicas, record.last_known_elr
    is_same = record.leader == LEADER_UNCHANGED and record.leader_recovery_state == RECOVERY_UNCHANGED
    return None if is_same and named == (None, None, None) else record


def _eligible(partition: PartitionImage, isr: Sequence[int], min_isr: int, lost: int | None) -> list[int]:
    """Return the replicas outside the new ISR with all committed records; none if that ISR may commit more."""
    if len(isr) >= min_isr:
        return []
    candidates = dict.fromkeys((*partition.eligible, *partition.isr))
    return in_hash_order([b for b in candidates if b not in isr and b != lost], int, most=len(candidates))


def _elect(partition: PartitionImage, wanted: _Elected, able: Sequence[int], *, keeps: bool, unclean: bool) -> _Elected:
    """Return the leader, one of the replicas in `able`, with the resulting ISR and eligible replicas."""
    isr, eligible = wanted.isr, wanted.eligible
    clean = [b for b in able if b in (isr or eligible)]
    if partition.leader in clean:
        return wanted
    if clean:
        leader = clean[0]
        if isr:
            return _Elected(leader, isr, eligible)
        return _Elected(leader, [leader], [b for b in eligible if b != leader])
    last = partition.last_known
    if keeps and not isr and not eligible and len(last) == 1 and last[0] in able:
        return _Elected(last[0], [last[0]], [], unclean=True)
    if unclean and able:
        return _Elected(able[0], [able[0]], [], unclean=True)
    return _Elected(NO_LEADER, isr, eligible)


def _note_eligible(
    record: PartitionChangeRecord, partition: PartitionImage, eligible: list[int], *, keeps: bool
) -> None:
    """Add the eligible replicas to a change, and the last leader if the partition loses its leader."""
    if not keeps:
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
