"""The metadata image, built by replaying the metadata log, and the delta between two images.

Controller and brokers replay the same records with the same code; an image changes in no other way. Leader epochs
follow Kafka's rule: a PartitionChangeRecord that names a leader raises the epoch by one, one without a leader leaves
it; the partition epoch rises with every change.

`apply` also keeps what would take a walk over the whole cluster to find out: the partitions that a broker holds, how
many it leads, which have no leader, which resources of a type have configs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.log_dirs import UNASSIGNED
from kmirror.protocol.gen.abort_transaction_record import AbortTransactionRecord
from kmirror.protocol.gen.access_control_entry_record import AccessControlEntryRecord
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.gen.clear_elr_record import ClearElrRecord
from kmirror.protocol.gen.client_quota_record import ClientQuotaRecord
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.delegation_token_record import DelegationTokenRecord
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.fence_broker_record import FenceBrokerRecord
from kmirror.protocol.gen.no_op_record import NoOpRecord
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.producer_ids_record import ProducerIdsRecord
from kmirror.protocol.gen.register_broker_record import RegisterBrokerRecord
from kmirror.protocol.gen.register_controller_record import RegisterControllerRecord
from kmirror.protocol.gen.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kmirror.protocol.gen.remove_delegation_token_record import RemoveDelegationTokenRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.gen.unfence_broker_record import UnfenceBrokerRecord
from kmirror.protocol.gen.unregister_broker_record import UnregisterBrokerRecord
from kmirror.protocol.gen.user_scram_credential_record import UserScramCredentialRecord
from kmirror.protocol.gen.zk_migration_state_record import ZkMigrationStateRecord
from kmirror.protocol.message import Message
from kmirror.spec.features import DIRECTORIES_FROM, ELIGIBLE_VERSION, METADATA_VERSION, MIRROR_VERSION
from kmirror.spec.topics import collision_key
from kmirror.spec.wire_values import LeaderRecoveryState, ResourceType

MIGRATING = Uuid.ZERO
"""The directory of a replica that was placed before anybody told the controller where."""
LOST = Uuid.from_ints(0, 2)
"""A directory that is offline, nobody knows which."""
NO_LEADER = -1
LEADER_UNCHANGED = -2
RECOVERY_UNCHANGED = -1

METADATA_TOPIC_ID = Uuid.from_ints(0, 1)

SAYS_NOTHING = (NoOpRecord, RegisterControllerRecord, ZkMigrationStateRecord, AbortTransactionRecord)
"""Records of a real controller that change nothing that is kept here; a transaction was dropped before its abort."""
NOT_ENFORCED = (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
    ClientQuotaRecord,
    UserScramCredentialRecord,
    RemoveUserScramCredentialRecord,
    DelegationTokenRecord,
    RemoveDelegationTokenRecord,
)
"""Records about who may do what, and how fast. They stay in the log; the authorizer of the nodes does not read them."""


@dataclass(frozen=True, slots=True)
class BrokerImage:
    """One registered broker; `epoch` is the offset of its registration."""

    broker_id: int
    epoch: int
    incarnation: Uuid
    endpoint: Endpoint
    fenced: bool
    rack: str | None = None
    in_controlled_shutdown: bool = False
    directories: tuple[Uuid, ...] = ()
    """The ids of its log directories that are online; none where the metadata log is of before KIP-858."""
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict, hash=False)
    """Feature to the first and the last level that it supports."""

    def has_online(self, directory_id: Uuid) -> bool:
        """Return whether a replica in this directory may be served, as far as is known (DirectoryId.isOnline)."""
        if directory_id in (UNASSIGNED, MIGRATING) or not self.directories:
            return directory_id != LOST
        return directory_id in self.directories


@dataclass(frozen=True, slots=True)
class PartitionImage:
    """The state of one partition; `leader` is NO_LEADER if there is none."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    eligible: tuple[int, ...] = ()
    """Replicas out of the ISR that have all that is committed (KIP-966)."""
    directories: tuple[Uuid, ...] = ()
    """The log directory of each replica, in their order; none where nobody has said (KIP-858)."""
    last_known: tuple[int, ...] = ()
    """The last leader of a partition that has none (LastKnownElr)."""
    recovering: bool = False
    """Was the leader elected uncleanly, and has not altered the ISR since (LeaderRecoveryState)?"""

    def directory_of(self, broker_id: int) -> Uuid:
        """Return the directory in which a replica lies, as far as the controller was told, else MIGRATING."""
        return self.directories[self.replicas.index(broker_id)] if self.directories else MIGRATING

    def why_isr_is_short(self, min_insync_replicas: int) -> str:
        """Return that the ISR is too small for writes, and which replicas are not in it; empty if it is not."""
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


@dataclass(slots=True)
class Delta:
    """What changed between two published images; each field is a dict that serves as an ordered set.

    The partitions of a topic that was deleted are among those that changed.
    """

    brokers: dict[int, None] = field(default_factory=dict)
    topics_created: dict[str, None] = field(default_factory=dict)
    topics_deleted: dict[str, dict[Uuid, None]] = field(default_factory=dict)
    """Name to the ids of the topics that bore it; there may be one again by now, even of the same id (D49)."""
    partitions: dict[TopicPartition, None] = field(default_factory=dict)
    configs: dict[tuple[int, str], None] = field(default_factory=dict)
    features: dict[str, None] = field(default_factory=dict)

    def alters_node(self, node_id: int) -> bool:
        """Return whether broker configs changed that hold at `node_id`: its own, or the cluster-wide ones."""
        return any((ResourceType.BROKER, name) in self.configs for name in ("", str(node_id)))

    def add(self, later: Delta) -> None:
        """Take in what changed after this."""
        for name, ids in later.topics_deleted.items():
            self.topics_created.pop(name, None)
            self.topics_deleted.setdefault(name, {}).update(ids)
        self.brokers.update(later.brokers)
        self.topics_created.update(later.topics_created)
        self.partitions.update(later.partitions)
        self.configs.update(later.configs)
        self.features.update(later.features)

    def is_empty(self) -> bool:
        return not (
            self.brokers
            or self.topics_created
            or self.topics_deleted
            or self.partitions
            or self.configs
            or self.features
        )


class MetadataImage:
    """The cluster's metadata; `apply` is the only way it changes."""

    def __init__(self) -> None:
        self.brokers: dict[int, BrokerImage] = {}
        self.topics: dict[str, TopicImage] = {}
        self.topic_names: dict[Uuid, str] = {}
        self.configs: dict[tuple[int, str], dict[str, str]] = {}
        self.features: dict[str, int] = {}
        self.next_producer_id = 0
        self.not_enforced = 0
        """Number of records about rights, credentials and quotas that were replayed (NOT_ENFORCED)."""
        self.offset = -1
        """Offset of the last record applied. It rises with every batch, so it names the version of the image: what was
        derived from the image holds as long as this is the same."""
        self.leaderless: dict[TopicPartition, None] = {}
        """The partitions that have no leader, in the order in which they lost it."""
        self._held: dict[int, dict[str, int]] = {}
        """Broker to topic to the partitions that it has a replica of, partition n as bit n: a set or a dict would take
        a hundred times the memory, in every node."""
        self._leads: dict[int, int] = {}
        """Broker to the number of partitions that it leads."""
        self._configured: dict[int, dict[str, None]] = {}
        """Resource type to the names that have configs."""
        self._former_epochs: dict[Uuid, int] = {}
        """Id of a topic that was deleted to the greatest leader epoch it had: a mirror may bring the id back (D49)."""
        self._alike: dict[str, dict[str, None]] = {}
        """Collision key to the topics that have it."""
        self._tuples: dict[tuple[int, ...], tuple[int, ...]] = {}
        """Every list of replicas or ISR members, once: there are few different ones."""
        self._directories: dict[tuple[Uuid, ...], tuple[Uuid, ...]] = {}
        """Every list of directories, likewise."""

    def apply(self, record: Message, delta: Delta) -> None:
        """Replay one record, and add what it changed to `delta`.

        Raises `CorruptBatch` for one that does not fit what was replayed before it; the image is of no use then.
        """
        try:
            self._apply(record, delta)
        except (LookupError, ValueError) as error:
            raise CorruptBatch(f"{record.NAME} does not fit the records before it: {error!r}") from error

    def _apply(self, record: Message, delta: Delta) -> None:
        match record:
            case TopicRecord():
                self._add_topic(record, delta)
            case RemoveTopicRecord():
                self._remove_topic(record.topic_id, delta)
            case PartitionRecord():
                self._set_partition(record, delta)
            case PartitionChangeRecord():
                self._change_partition(record, delta)
            case ConfigRecord():
                self._set_config(record, delta)
            case RegisterBrokerRecord():
                listener = record.end_points[0]
                self.brokers[record.broker_id] = BrokerImage(
                    record.broker_id,
                    record.broker_epoch,
                    record.incarnation_id,
                    Endpoint(listener.host, listener.port),
                    record.fenced,
                    record.rack,
                    record.in_controlled_shutdown,
                    tuple(record.log_dirs),
                    {row.name: (row.min_supported_version, row.max_supported_version) for row in record.features},
                )
                delta.brokers[record.broker_id] = None
            case BrokerRegistrationChangeRecord():
                broker = self.brokers[record.broker_id]
                if record.fenced:
                    broker = replace(broker, fenced=record.fenced > 0)
                if record.in_controlled_shutdown:
                    broker = replace(broker, in_controlled_shutdown=record.in_controlled_shutdown > 0)
                if record.log_dirs:
                    broker = replace(broker, directories=tuple(record.log_dirs))
                self.brokers[record.broker_id] = broker
                delta.brokers[record.broker_id] = None
            case UnregisterBrokerRecord():
                self.brokers.pop(record.broker_id, None)
                delta.brokers[record.broker_id] = None
            case FeatureLevelRecord():
                if record.feature_level:
                    self.features[record.name] = record.feature_level
                else:
                    self.features.pop(record.name, None)
                delta.features[record.name] = None
            case ProducerIdsRecord():
                self.next_producer_id = record.next_producer_id
            case FenceBrokerRecord() | UnfenceBrokerRecord():
                self.brokers[record.id] = replace(self.brokers[record.id], fenced=isinstance(record, FenceBrokerRecord))
                delta.brokers[record.id] = None
            case ClearElrRecord():
                self._clear_eligible(record.topic_name, delta)
            case _ if isinstance(record, SAYS_NOTHING):
                pass
            case _ if isinstance(record, NOT_ENFORCED):
                self.not_enforced += 1
            case _:
                raise AssertionError(f"no replay for {type(record).__name__}")

    def replace_by(self, other: MetadataImage) -> None:
        """Become what `other` is, which is not used any more: a snapshot was read instead of records."""
        self.__dict__.update(vars(other))

    def _add_topic(self, record: TopicRecord, delta: Delta) -> None:
        if record.name in self.topics or record.topic_id in self.topic_names:
            raise ValueError(f"there is a topic {record.name} or {record.topic_id}")
        self.topics[record.name] = TopicImage(record.name, record.topic_id)
        self.topic_names[record.topic_id] = record.name
        key = collision_key(record.name)
        if key is not None:
            self._alike.setdefault(key, {})[record.name] = None
        delta.topics_created[record.name] = None

    def _remove_topic(self, topic_id: Uuid, delta: Delta) -> None:
        name = self.topic_names.pop(topic_id)
        partitions = self.topics.pop(name).partitions
        if self.features.get(MIRROR_VERSION, 0) >= 1:
            former = self._former_epochs.get(topic_id, -1)
            self._former_epochs[topic_id] = max((one.leader_epoch for one in partitions.values()), default=former)
        for index, partition in partitions.items():
            tp = TopicPartition(name, index)
            delta.partitions[tp] = None
            self._forget_leader(tp, partition)
            for broker_id in partition.replicas:
                self._held[broker_id].pop(name, None)
        if self.configs.pop((ResourceType.TOPIC, name), None) is not None:
            del self._configured[ResourceType.TOPIC][name]
            delta.configs[(ResourceType.TOPIC, name)] = None
        key = collision_key(name)
        if key is not None:
            del self._alike[key][name]
            if not self._alike[key]:
                del self._alike[key]
        delta.topics_deleted.setdefault(name, {})[topic_id] = None
        delta.topics_created.pop(name, None)

    def _set_partition(self, record: PartitionRecord, delta: Delta) -> None:
        if record.directories and len(record.directories) != len(record.replicas):
            raise ValueError(f"{len(record.directories)} directories of {len(record.replicas)} replicas")
        partition = PartitionImage(
            self._shared(record.replicas),
            self._shared(record.isr),
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
            self._shared(record.eligible_leader_replicas or ()),
            self._shared_ids(record.directories),
            self._shared(record.last_known_elr or ()),
            record.leader_recovery_state == LeaderRecoveryState.RECOVERING,
        )
        self._put(self.topics[self.topic_names[record.topic_id]], record.partition_id, partition, delta)

    def _change_partition(self, record: PartitionChangeRecord, delta: Delta) -> None:
        topic = self.topics[self.topic_names[record.topic_id]]
        before = topic.partitions[record.partition_id]
        names_leader = record.leader != LEADER_UNCHANGED
        replicas = before.replicas if record.replicas is None else self._shared(record.replicas)
        directories = before.directories if record.directories is None else self._shared_ids(record.directories)
        partition = PartitionImage(
            replicas,
            before.isr if record.isr is None else self._shared(record.isr),
            record.leader if names_leader else before.leader,
            before.leader_epoch + 1 if names_leader else before.leader_epoch,
            before.partition_epoch + 1,
            before.eligible
            if record.eligible_leader_replicas is None
            else self._shared(record.eligible_leader_replicas),
            directories if len(directories) == len(replicas) else (),
            before.last_known if record.last_known_elr is None else self._shared(record.last_known_elr),
            before.recovering
            if record.leader_recovery_state == RECOVERY_UNCHANGED
            else record.leader_recovery_state == LeaderRecoveryState.RECOVERING,
        )
        self._put(topic, record.partition_id, partition, delta)

    def _clear_eligible(self, name: str, delta: Delta) -> None:
        """Forget the eligible replicas and the last leaders of a topic, or without a name of all topics."""
        for topic in [self.topics[name]] if name else self.topics.values():
            for index, partition in topic.partitions.items():
                if partition.eligible or partition.last_known:
                    epoch = partition.partition_epoch + 1
                    cleared = replace(partition, eligible=(), last_known=(), partition_epoch=epoch)
                    self._put(topic, index, cleared, delta)

    def _shared(self, members: Iterable[int]) -> tuple[int, ...]:
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
                self._held[broker_id][topic.name] &= ~bit
            for broker_id in partition.replicas:
                held = self._held.setdefault(broker_id, {})
                held[topic.name] = held.get(topic.name, 0) | bit
        if before is None or before.leader != partition.leader:
            if before is not None:
                self._forget_leader(tp, before)
            if partition.leader == NO_LEADER:
                self.leaderless[tp] = None
            else:
                self._leads[partition.leader] = self._leads.get(partition.leader, 0) + 1

    def _forget_leader(self, tp: TopicPartition, before: PartitionImage) -> None:
        """Forget who led a partition."""
        if before.leader == NO_LEADER:
            self.leaderless.pop(tp, None)
        else:
            self._leads[before.leader] -= 1

    def _set_config(self, record: ConfigRecord, delta: Delta) -> None:
        resource = (record.resource_type, record.resource_name)
        values = self.configs.setdefault(resource, {})
        names = self._configured.setdefault(record.resource_type, {})
        if record.value is None:
            values.pop(record.name, None)
            if not values:
                del self.configs[resource]
                names.pop(record.resource_name, None)
        else:
            values[record.name] = record.value
            names[record.resource_name] = None
        delta.configs[resource] = None

    def held_by(self, broker_id: int) -> Iterator[tuple[TopicImage, int]]:
        """Yield topic and number of each partition that a broker has a replica of; topics in the order they came in."""
        for name, bits in self._held.get(broker_id, {}).items():
            topic, digits = self.topics[name], f"{bits:b}"[::-1]
            index = digits.find("1")
            while index >= 0:
                yield topic, index
                index = digits.find("1", index + 1)

    def leads(self, broker_id: int) -> int:
        """Return the number of partitions that a broker leads."""
        return self._leads.get(broker_id, 0)

    def configured(self, resource_type: int) -> Iterable[str]:
        """Return the names of the resources of a type that have configs of their own."""
        return self._configured.get(resource_type, {})

    def partition(self, tp: TopicPartition) -> PartitionImage | None:
        """Return the partition's state, or None if there is no such partition."""
        topic = self.topics.get(tp.topic)
        return None if topic is None else topic.partitions.get(tp.partition)

    def first_leader_epoch(self, topic_id: Uuid) -> int:
        """Return the leader epoch in which a topic that is created with this id begins (D49)."""
        return self._former_epochs.get(topic_id, -1) + 1

    def topic_like(self, name: str) -> str | None:
        """Return a topic whose name is `name` but for `.` and `_`, which may be the topic of that name itself."""
        key = collision_key(name)
        return None if key is None else next(iter(self._alike.get(key, ())), None)

    def topic_config(self, topic: str) -> dict[str, str]:
        """Return the configs set on `topic` itself; do not change the result."""
        return self.configs.get((ResourceType.TOPIC, topic), {})

    def broker_config(self, broker_id: int) -> dict[str, str]:
        """Return the dynamic configs of a broker over the cluster-wide ones."""
        everyone = self.configs.get((ResourceType.BROKER, ""), {})
        return {**everyone, **self.configs.get((ResourceType.BROKER, str(broker_id)), {})}

    def is_alive(self, broker_id: int) -> bool:
        """Return whether a broker is registered and not fenced."""
        broker = self.brokers.get(broker_id)
        return broker is not None and not broker.fenced

    def is_active(self, broker_id: int) -> bool:
        """Return whether a broker is alive and not in controlled shutdown: only then it may lead or join an ISR."""
        return self.is_alive(broker_id) and not self.brokers[broker_id].in_controlled_shutdown

    def may_lead(self, broker_id: int, partition: PartitionImage) -> bool:
        """Return whether a broker is active, and the log directory of its replica of a partition online."""
        if not self.is_active(broker_id):
            return False
        return self.brokers[broker_id].has_online(partition.directory_of(broker_id))

    @property
    def keeps_eligible(self) -> bool:
        """Return whether replicas that leave a too small ISR stay eligible as leaders (KIP-966)."""
        return self.features.get(ELIGIBLE_VERSION, 0) >= 1

    @property
    def has_directories(self) -> bool:
        """Return whether records may speak of log directories: from metadata.version 3.7-IV2 on."""
        return self.features.get(METADATA_VERSION, DIRECTORIES_FROM) >= DIRECTORIES_FROM

    def default_directory(self, broker_id: int) -> Uuid:
        """Return where a new replica of a broker is: in its only directory, or still to be placed by the broker."""
        broker = self.brokers.get(broker_id)
        if broker is None:
            return UNASSIGNED
        if not broker.directories:
            return MIGRATING
        return broker.directories[0] if len(broker.directories) == 1 else UNASSIGNED

    def any_alive(self) -> int:
        """Return the id of a broker that is alive; -1 if none is."""
        return next((number for number, broker in self.brokers.items() if not broker.fenced), -1)

    def offline(self, partition: PartitionImage) -> list[int]:
        """Return the replicas whose brokers are not alive, or whose log directories are offline."""
        return [
            broker_id
            for broker_id in partition.replicas
            if not self.is_alive(broker_id) or not self.brokers[broker_id].has_online(partition.directory_of(broker_id))
        ]

    def endpoint(self, broker_id: int) -> Endpoint | None:
        """Return where an unfenced broker listens, or None."""
        broker = self.brokers.get(broker_id)
        return None if broker is None or broker.fenced else broker.endpoint
