"""Leader elections when a broker is fenced or unfenced: records, decided from the image alone.

A replica whose log directory is offline counts as one whose broker is not alive. Kafka's rules
(PartitionChangeBuilder): the first living ISR member in replica order leads; if there is none, an unclean election
may take any living replica, where the topic allows it; if not, the partition has no leader and keeps its last ISR.

A controller of Kafka may have emptied the ISR and kept its members as eligible leaders (KIP-966). They count as the ISR
then. With the first change of the ISR here they are forgotten, for nobody here would take out who falls behind.
"""

from __future__ import annotations

from collections.abc import Collection

from kmirror.cluster.images import NO_LEADER, MetadataImage, PartitionImage, TopicImage
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.message import Message
from kmirror.spec.configs import Configs, Scope


def fence_records(image: MetadataImage, defaults: Configs, broker_id: int) -> list[Message]:
    """Return the changes that take `broker_id` out of every ISR and leadership; it may still be active in `image`."""
    every = (without_replica(image, defaults, topic, index, broker_id) for topic, index in image.held_by(broker_id))
    return [change for change in every if change is not None]


def offline_records(
    image: MetadataImage, defaults: Configs, broker_id: int, directories: Collection[Uuid]
) -> list[Message]:
    """Return the changes that take `broker_id` out of ISR and leadership of what lies in these of its directories."""
    return [
        change
        for topic, index in image.held_by(broker_id)
        if topic.partitions[index].directory_of(broker_id) in directories
        and (change := without_replica(image, defaults, topic, index, broker_id)) is not None
    ]


def without_replica(
    image: MetadataImage, defaults: Configs, topic: TopicImage, index: int, broker_id: int
) -> PartitionChangeRecord | None:
    """Return the change that takes one replica out of its ISR and leadership; None if it has neither."""
    partition = topic.partitions[index]
    if broker_id not in partition.isr and partition.leader != broker_id:
        return None
    alive = [b for b in partition.replicas if b != broker_id and image.may_lead(b, partition)]
    return _elect(image, defaults, topic.name, topic.topic_id, index, partition, alive, broker_id)


def elect_leaderless(image: MetadataImage, defaults: Configs, broker_id: int | None = None) -> list[Message]:
    """Return the elections that are possible; `broker_id` counts as active, which in `image` it may not be yet."""
    records: list[Message] = []
    for name, index in image.leaderless:
        topic = image.topics[name]
        partition = topic.partitions[index]
        if broker_id is not None and broker_id not in partition.replicas:
            continue  # What is possible without it has been done.
        alive = [
            b for b in partition.replicas if image.may_lead(b, partition) or _comes(image, b, broker_id, partition)
        ]
        change = _elect(image, defaults, topic.name, topic.topic_id, index, partition, alive, None)
        if change is not None:
            records.append(change)
    return records


def _comes(image: MetadataImage, replica: int, broker_id: int | None, partition: PartitionImage) -> bool:
    """Return whether a replica may lead as soon as `broker_id`, whose it is, is active."""
    return replica == broker_id and image.brokers[replica].has_online(partition.directory_of(replica))


def change_of(partition: PartitionImage, topic_id: Uuid, index: int) -> PartitionChangeRecord:
    """Return a record that will change the ISR of a partition, and ends what was said of eligible leaders."""
    record = PartitionChangeRecord(partition_id=index, topic_id=topic_id)
    if partition.eligible:
        record.eligible_leader_replicas, record.last_known_elr = [], []
    return record


def _elect(
    image: MetadataImage,
    defaults: Configs,
    topic: str,
    topic_id: Uuid,
    index: int,
    partition: PartitionImage,
    alive: list[int],
    gone: int | None,
) -> PartitionChangeRecord | None:
    isr = [b for b in partition.isr if b != gone]
    record = change_of(partition, topic_id, index)
    if partition.leader not in (gone, NO_LEADER):
        record.isr = isr  # Only a follower is removed; the leader and its epoch stay.
        return record
    clean = [b for b in alive if b in isr]
    if not isr:
        clean = [b for b in alive if b in partition.eligible]
        isr = clean[:1]
    if clean:
        record.leader = clean[0]
        if isr != list(partition.isr):
            record.isr = isr
        return record
    unclean = Configs(Scope.TOPIC, image.topic_config(topic), defaults).flag("unclean.leader.election.enable")
    if unclean and alive:
        record.leader, record.isr = alive[0], [alive[0]]
        return record
    if partition.leader == NO_LEADER:
        return None
    record.leader = NO_LEADER  # The last ISR stays on record: only its members may lead again.
    return record
