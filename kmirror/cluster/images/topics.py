"""Aspect of the metadata image: topics and their partitions.

Leader epochs follow Kafka's rule: a PartitionChangeRecord with a leader raises the leader epoch by one, one without a
leader does not change it. The partition epoch rises with every change.

The image also maintains data that would otherwise need a scan of the whole cluster: the partitions of a broker, the
number of partitions it leads, and the leaderless partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from kmirror.cluster.images.aspect import Merges, Replays
from kmirror.cluster.images.delta import Delta
from kmirror.cluster.images.features import FeatureRecords, Features
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.clear_elr_record import ClearElrRecord
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.keyed_records import VersionedMessage
from kmirror.spec.features import MIRROR_VERSION
from kmirror.spec.topics import collision_key
from kmirror.spec.wire_values import LeaderRecoveryState

METADATA_TOPIC_ID = Uuid.from_ints(0, 1)
MIGRATING = Uuid.ZERO
"""The directory of a replica that was placed before the controller knew its directory."""
LOST = Uuid.from_ints(0, 2)
"""An offline directory with unknown id."""
NO_LEADER = -1
LEADER_UNCHANGED = -2
RECOVERY_UNCHANGED = -1


@dataclass(frozen=True, slots=True)
class PartitionImage:
    """The state of one partition; `leader` is NO_LEADER if there is none."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    eligible: tuple[int, ...] = ()
    """Replicas outside the ISR that have all committed records (KIP-966)."""
    directories: tuple[Uuid, ...] = ()
    """The log directory of each replica, in the same order; empty if the log does not contain them (KIP-858)."""
    last_known: tuple[int, ...] = ()
    """The last leader of a leaderless partition (LastKnownElr)."""
    recovering: bool = False
    """Whether the leader was elected uncleanly and has not changed the ISR since (LeaderRecoveryState)."""

    def directory_of(self, broker_id: int) -> Uuid:
        """Return the log directory of a replica; MIGRATING if the controller does not know it."""
        return self.directories[self.replicas.index(broker_id)] if self.directories else MIGRATING

    def record(self, topic_id: Uuid, index: int) -> PartitionRecord:
        """Return the record that creates this partition in another image."""
        recovery = LeaderRecoveryState.RECOVERING if self.recovering else LeaderRecoveryState.RECOVERED
        return PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=list(self.replicas),
            isr=list(self.isr),
            leader=self.leader,
            leader_epoch=self.leader_epoch,
            partition_epoch=self.partition_epoch,
            leader_recovery_state=recovery,
            directories=list(self.directories),
            eligible_leader_replicas=list(self.eligible) or None,
            last_known_elr=list(self.last_known) or None,
        )

    def short_isr_reason(self, min_insync_replicas: int) -> str:
        """Return why the ISR is too small for writes, and which replicas are missing; empty if it is not."""
        if len(self.isr) >= min(min_insync_replicas, len(self.replicas)):
            return ""
        others = [broker for broker in self.replicas if broker not in self.isr]
        return (
            f"ISR {list(self.isr)} is smaller than min.insync.replicas, which is {min_insync_replicas}: "
            f"brokers {others} are not in it"
        )


@dataclass(slots=True)
class TopicImage:
    """One topic, and its partitions by number."""

    name: str
    topic_id: Uuid
    partitions: dict[int, PartitionImage] = field(default_factory=dict)


class Topics(dict[str, TopicImage]):
    """Topic name -> topic."""

    def __init__(self, features: Features) -> None:
        self._features = features
        self.names: dict[Uuid, str] = {}
        """Topic id -> name."""
        self.leaderless: dict[TopicPartition, None] = {}
        """The leaderless partitions, in the order in which they lost their leader."""
        self._partition_bits: dict[int, dict[str, int]] = {}
        """Broker -> topic -> bit mask of the partitions with a replica on it (partition n is bit n).

        A set or a dict would take a hundred times the memory, in every node.
        """
        self._leads: dict[int, int] = {}
        """Broker -> number of partitions that it leads."""
        self._deleted_epochs: dict[Uuid, int] = {}
        """Id of a deleted topic -> its highest leader epoch; a mirror may create the id again (D49)."""
        self._by_collision_key: dict[str, dict[str, None]] = {}
        """Collision key -> topics with this key."""
        self._tuples: dict[tuple[int, ...], tuple[int, ...]] = {}
        """One shared tuple for each distinct list of replicas or ISR members; there are few."""
        self._directories: dict[tuple[Uuid, ...], tuple[Uuid, ...]] = {}
        """One shared tuple for each distinct list of directories."""

    def replays(self) -> Replays:
        return {
            TopicRecord: self._add,
            RemoveTopicRecord: self._remove,
            PartitionRecord: self._set_partition,
            PartitionChangeRecord: self._change_partition,
            ClearElrRecord: self._clear_eligible,
        }

    def _add(self, record: TopicRecord, delta: Delta) -> None:
        if record.name in self or record.topic_id in self.names:
            raise ValueError(f"topic {record.name} or id {record.topic_id} already exists")
        self[record.name] = TopicImage(record.name, record.topic_id)
        self.names[record.topic_id] = record.name
        key = collision_key(record.name)
        if key is not None:
            self._by_collision_key.setdefault(key, {})[record.name] = None
        delta.topics_created[record.name] = None

    def _remove(self, record: RemoveTopicRecord, delta: Delta) -> None:
        topic_id, name = record.topic_id, self.names.pop(record.topic_id)
        partitions = self.pop(name).partitions
        if self._features.has_mirrors:
            former = self._deleted_epochs.get(topic_id, -1)
            self._deleted_epochs[topic_id] = max((state.leader_epoch for state in partitions.values()), default=former)
        for index, partition in partitions.items():
            tp = TopicPartition(name, index)
            delta.partitions[tp] = None
            self._forget_leader(tp, partition)
            for broker_id in partition.replicas:
                self._partition_bits[broker_id].pop(name, None)
        key = collision_key(name)
        if key is not None:
            del self._by_collision_key[key][name]
            if not self._by_collision_key[key]:
                del self._by_collision_key[key]
        delta.topics_deleted.setdefault(name, {})[topic_id] = None
        delta.topics_created.pop(name, None)

    def _set_partition(self, record: PartitionRecord, delta: Delta) -> None:
        if record.directories and len(record.directories) != len(record.replicas):
            raise ValueError(f"{len(record.directories)} directories of {len(record.replicas)} replicas")
        partition = PartitionImage(
            self._intern(record.replicas),
            self._intern(record.isr),
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
            self._intern(record.eligible_leader_replicas or ()),
            self._shared_ids(record.directories),
            self._intern(record.last_known_elr or ()),
            record.leader_recovery_state == LeaderRecoveryState.RECOVERING,
        )
        self._put(self[self.names[record.topic_id]], record.partition_id, partition, delta)

    def _change_partition(self, record: PartitionChangeRecord, delta: Delta) -> None:
        topic = self[self.names[record.topic_id]]
        before = topic.partitions[record.partition_id]
        names_leader = record.leader != LEADER_UNCHANGED
        replicas = before.replicas if record.replicas is None else self._intern(record.replicas)
        directories = before.directories if record.directories is None else self._shared_ids(record.directories)
        partition = PartitionImage(
            replicas,
            before.isr if record.isr is None else self._intern(record.isr),
            record.leader if names_leader else before.leader,
            before.leader_epoch + 1 if names_leader else before.leader_epoch,
            before.partition_epoch + 1,
            before.eligible
            if record.eligible_leader_replicas is None
            else self._intern(record.eligible_leader_replicas),
            directories if len(directories) == len(replicas) else (),
            before.last_known if record.last_known_elr is None else self._intern(record.last_known_elr),
            before.recovering
            if record.leader_recovery_state == RECOVERY_UNCHANGED
            else record.leader_recovery_state == LeaderRecoveryState.RECOVERING,
        )
        self._put(topic, record.partition_id, partition, delta)

    def _clear_eligible(self, record: ClearElrRecord, delta: Delta) -> None:
        """Clear the eligible replicas and last leaders of a topic; without a name, of all topics."""
        for topic in [self[record.topic_name]] if record.topic_name else self.values():
            for index, partition in topic.partitions.items():
                if partition.eligible or partition.last_known:
                    epoch = partition.partition_epoch + 1
                    cleared = replace(partition, eligible=(), last_known=(), partition_epoch=epoch)
                    self._put(topic, index, cleared, delta)

    def _intern(self, members: Iterable[int]) -> tuple[int, ...]:
        key = tuple(members)
        return self._tuples.setdefault(key, key)

    def _shared_ids(self, directories: Iterable[Uuid]) -> tuple[Uuid, ...]:
        key = tuple(directories)
        return self._directories.setdefault(key, key)

    def _put(self, topic: TopicImage, index: int, partition: PartitionImage, delta: Delta) -> None:
        tp, before, bit = TopicPartition(topic.name, index), topic.partitions.get(index), 1 << index
        topic.partitions[index] = partition
        delta.partitions[tp] = None
        if before is None or before.replicas is not partition.replicas:
            for broker_id in () if before is None else before.replicas:
                topic_bits = self._partition_bits[broker_id]
                topic_bits[topic.name] &= ~bit
                if not topic_bits[topic.name]:
                    del topic_bits[topic.name]
            for broker_id in partition.replicas:
                topic_bits = self._partition_bits.setdefault(broker_id, {})
                topic_bits[topic.name] = topic_bits.get(topic.name, 0) | bit
        if before is None or before.leader != partition.leader:
            if before is not None:
                self._forget_leader(tp, before)
            if partition.leader == NO_LEADER:
                self.leaderless[tp] = None
            else:
                self._leads[partition.leader] = self._leads.get(partition.leader, 0) + 1

    def _forget_leader(self, tp: TopicPartition, before: PartitionImage) -> None:
        """Remove the leader of a partition from the indexes."""
        if before.leader == NO_LEADER:
            self.leaderless.pop(tp, None)
        else:
            self._leads[before.leader] -= 1

    def add_difference(self, before: Topics, delta: Delta) -> None:
        """Add the created and deleted topics, and the partitions that differ."""
        for name, old in before.items():
            new = self.get(name)
            is_recreated = before.first_leader_epoch(old.topic_id) != self.first_leader_epoch(old.topic_id)
            if new is None or new.topic_id != old.topic_id or is_recreated:  # A recreated id is another topic (D49).
                delta.topics_deleted[name] = {old.topic_id: None}
                delta.partitions.update({TopicPartition(name, index): None for index in old.partitions})
        for name, new in self.items():
            former = before.get(name)
            known = {} if former is None or name in delta.topics_deleted else former.partitions
            if former is None or name in delta.topics_deleted:
                delta.topics_created[name] = None
            for index, partition in new.partitions.items():
                if known.get(index) != partition:
                    delta.partitions[TopicPartition(name, index)] = None

    def hosted_by(self, broker_id: int) -> Iterator[tuple[TopicImage, int]]:
        """Yield topic and number of each partition with a replica on a broker; topics in insertion order."""
        for name, bits in self._partition_bits.get(broker_id, {}).items():
            topic, digits = self[name], f"{bits:b}"[::-1]
            index = digits.find("1")
            while index >= 0:
                yield topic, index
                index = digits.find("1", index + 1)

    def leads(self, broker_id: int) -> int:
        """Return the number of partitions that a broker leads."""
        return self._leads.get(broker_id, 0)

    def partition(self, tp: TopicPartition) -> PartitionImage | None:
        """Return the partition's state, or None if there is no such partition."""
        topic = self.get(tp.topic)
        return None if topic is None else topic.partitions.get(tp.partition)

    def first_leader_epoch(self, topic_id: Uuid) -> int:
        """Return the first leader epoch of a topic that is created with this id (D49)."""
        return self._deleted_epochs.get(topic_id, -1) + 1

    def colliding(self, name: str) -> str | None:
        """Return a topic whose name equals `name` except for `.` and `_`, or None; it may be `name` itself."""
        key = collision_key(name)
        return None if key is None else next(iter(self._by_collision_key.get(key, ())), None)


@dataclass(slots=True)
class _Topic:
    record: VersionedMessage
    partitions: dict[int, VersionedMessage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _DeletedTopic:
    """A deleted topic: its id may be created again, and its leader epochs then continue after this one (D49)."""

    name: str
    leader_epoch: int


class TopicRecords:
    """The records of existing topics, and the leader epochs of topics that were deleted while mirroring was on."""

    def __init__(self, features: FeatureRecords) -> None:
        self._features = features
        self._topics: dict[Uuid, _Topic] = {}
        self._former: dict[Uuid, _DeletedTopic] = {}

    def merges(self) -> Merges:
        return {
            TopicRecord: self._add,
            RemoveTopicRecord: self._remove,
            PartitionRecord: self._set_partition,
            PartitionChangeRecord: self._change_partition,
            ClearElrRecord: self._clear_eligible,
        }

    def name(self, topic_id: Uuid) -> str:
        """Return the name of an existing topic."""
        record = self._topics[topic_id].record.message
        assert isinstance(record, TopicRecord), "a topic"
        return record.name

    def _add(self, record: TopicRecord, version: int) -> None:
        self._topics[record.topic_id] = _Topic(VersionedMessage(record, version))

    def _set_partition(self, record: PartitionRecord, version: int) -> None:
        self._topics[record.topic_id].partitions[record.partition_id] = VersionedMessage(record, version)

    def _change_partition(self, record: PartitionChangeRecord, version: int) -> None:
        partitions = self._topics[record.topic_id].partitions
        partitions[record.partition_id] = _merge(partitions[record.partition_id], record, version)

    def _remove(self, record: RemoveTopicRecord, version: int) -> None:
        name = self.name(record.topic_id)
        topic = self._topics.pop(record.topic_id)
        if self._features.level(MIRROR_VERSION) < 1:
            return
        former = self._former.pop(record.topic_id, None)
        epochs = [state.message.leader_epoch for state in topic.partitions.values()]  # type: ignore[attr-defined]
        latest = max(epochs, default=-1 if former is None else former.leader_epoch)
        self._former[record.topic_id] = _DeletedTopic(name, latest)

    def _clear_eligible(self, record: ClearElrRecord, version: int) -> None:
        for topic_id, topic in self._topics.items():
            if record.topic_name and record.topic_name != self.name(topic_id):
                continue
            for state in topic.partitions.values():
                assert isinstance(state.message, PartitionRecord), "a partition"
                if state.message.eligible_leader_replicas or state.message.last_known_elr:
                    state.message.eligible_leader_replicas = state.message.last_known_elr = None
                    state.message.partition_epoch += 1

    def records(self) -> Iterator[VersionedMessage]:
        yield from self._former_topics()
        for topic in self._topics.values():
            yield topic.record
            yield from topic.partitions.values()

    def _former_topics(self) -> Iterator[VersionedMessage]:
        """Yield records of topics that were deleted while mirroring was on: no other record has their epochs."""
        if not self._former:
            return
        level = self._features.latest[MIRROR_VERSION]
        is_on = self._features.level(MIRROR_VERSION) >= 1
        if not is_on:  # Mirroring was turned off since; topics deleted before are still needed.
            yield VersionedMessage(FeatureLevelRecord(name=MIRROR_VERSION, feature_level=1), level.version)
        for topic_id, former in self._former.items():
            yield VersionedMessage(TopicRecord(name=former.name, topic_id=topic_id), 0)
            if former.leader_epoch >= 0:
                partition = PartitionRecord(
                    partition_id=0,
                    topic_id=topic_id,
                    leader=NO_LEADER,
                    leader_epoch=former.leader_epoch,
                    partition_epoch=0,
                )
                yield VersionedMessage(partition, 0)
            yield VersionedMessage(RemoveTopicRecord(topic_id=topic_id), 0)
        if not is_on:
            yield level


def _merge(before: VersionedMessage, change: PartitionChangeRecord, version: int) -> VersionedMessage:
    """Return a partition's record with a change merged; both record types have the same fields in a version."""
    partition = before.message
    assert isinstance(partition, PartitionRecord), "a partition"
    for name in ("replicas", "isr", "removing_replicas", "adding_replicas", "directories"):
        value = getattr(change, name)
        if value is not None:
            setattr(partition, name, value)
    if len(partition.directories) != len(partition.replicas):  # They belong to the previous replicas.
        partition.directories = []
    if change.eligible_leader_replicas is not None:
        partition.eligible_leader_replicas = change.eligible_leader_replicas or None
    if change.last_known_elr is not None:
        partition.last_known_elr = change.last_known_elr or None
    if change.leader_recovery_state >= 0:
        partition.leader_recovery_state = change.leader_recovery_state
    if change.leader != LEADER_UNCHANGED:
        partition.leader = change.leader
        partition.leader_epoch += 1
    partition.partition_epoch += 1
    return VersionedMessage(partition, max(before.version, version))
