"""Which records say as little as possible and still make the same image? What a snapshot of the metadata log holds.

Records are merged with records and not read off an image: what a Kafka of another release or a feature that is not
served here has written (credentials, quotas, directories of replicas) then stays, each in the version that it was
written in. Their order is that of Kafka's MetadataImage: features first, and topics before what is about them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from kmirror.cluster.images import LEADER_UNCHANGED, NO_LEADER
from kmirror.kernel.uuid import Uuid
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
from kmirror.protocol.keyed_records import VersionedMessage
from kmirror.protocol.message import Message
from kmirror.spec.features import METADATA_VERSION, MIRROR_VERSION
from kmirror.spec.wire_values import ResourceType

REGISTRATION_OF_CHANGE = (0, 1, 3, 4)
"""Version of a BrokerRegistrationChangeRecord to that of the RegisterBrokerRecord which has the same fields."""


@dataclass(slots=True)
class _Topic:
    record: VersionedMessage
    partitions: dict[int, VersionedMessage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Former:
    """A topic that was deleted: its id may come back, and then goes on behind this leader epoch (D49)."""

    name: str
    leader_epoch: int


class SnapshotRecords:
    """The records that are left of a metadata log, in the form of tables; `take` is the only way they change.

    Transactions of the log are taken out before (`metadata_transactions.py`).
    """

    def __init__(self) -> None:
        self._features: dict[str, VersionedMessage] = {}
        self._brokers: dict[int, VersionedMessage] = {}
        self._controllers: dict[Hashable, VersionedMessage] = {}
        self._topics: dict[Uuid, _Topic] = {}
        self._former: dict[Uuid, _Former] = {}
        self._configs: dict[tuple[int, str], dict[str, VersionedMessage]] = {}
        self._single: dict[Hashable, VersionedMessage] = {}
        """The records of which the newest counts, whatever kind they are."""
        self._secured: dict[Hashable, VersionedMessage] = {}
        """ACLs, quotas, credentials and tokens, by what they are about."""

    def take(self, record: Message, version: int) -> None:
        """Take in the next record of the log; it may be changed later."""
        versioned = VersionedMessage(record, version)
        match record:
            case TopicRecord():
                self._topics[record.topic_id] = _Topic(versioned)
            case PartitionRecord():
                self._topics[record.topic_id].partitions[record.partition_id] = versioned
            case PartitionChangeRecord():
                partitions = self._topics[record.topic_id].partitions
                partitions[record.partition_id] = _merged(partitions[record.partition_id], record, version)
            case RemoveTopicRecord():
                self._remove_topic(record.topic_id)
            case ConfigRecord():
                self._set_config(record, versioned)
            case FeatureLevelRecord():
                self._features[record.name] = versioned
            case RegisterBrokerRecord():
                self._brokers[record.broker_id] = versioned
            case BrokerRegistrationChangeRecord():
                self._brokers[record.broker_id] = _registered(self._brokers[record.broker_id], record, version)
            case FenceBrokerRecord() | UnfenceBrokerRecord():
                broker = self._brokers[record.id].message
                assert isinstance(broker, RegisterBrokerRecord), "a registration"
                broker.fenced = isinstance(record, FenceBrokerRecord)
            case UnregisterBrokerRecord():
                self._brokers.pop(record.broker_id, None)
            case ClearElrRecord():
                self._clear_eligible(record.topic_name)
            case RegisterControllerRecord():
                self._controllers[record.controller_id] = versioned
            case ProducerIdsRecord() | ZkMigrationStateRecord():
                self._single[type(record).__name__] = versioned
            case NoOpRecord():
                pass
            case _:
                self._take_secured(record, versioned)

    def _take_secured(self, record: Message, versioned: VersionedMessage) -> None:
        key: Hashable
        is_removal = False
        match record:
            case AccessControlEntryRecord() | RemoveAccessControlEntryRecord():
                key, is_removal = ("acl", record.id), isinstance(record, RemoveAccessControlEntryRecord)
            case UserScramCredentialRecord() | RemoveUserScramCredentialRecord():
                key = "scram", record.name, record.mechanism
                is_removal = isinstance(record, RemoveUserScramCredentialRecord)
            case DelegationTokenRecord() | RemoveDelegationTokenRecord():
                key, is_removal = ("token", record.token_id), isinstance(record, RemoveDelegationTokenRecord)
            case ClientQuotaRecord():
                entity = frozenset((part.entity_type, part.entity_name) for part in record.entity)
                key, is_removal = ("quota", entity, record.key), record.remove
            case _:
                raise AssertionError(f"no place in a snapshot for {type(record).__name__}")
        if is_removal:
            self._secured.pop(key, None)
        else:
            self._secured[key] = versioned

    def _remove_topic(self, topic_id: Uuid) -> None:
        topic = self._topics.pop(topic_id)
        assert isinstance(topic.record.message, TopicRecord), "a topic"
        name = topic.record.message.name
        self._configs.pop((ResourceType.TOPIC, name), None)
        mirroring = self._features.get(MIRROR_VERSION)
        if mirroring is None or _level(mirroring) < 1:
            return
        former = self._former.pop(topic_id, None)
        epochs = [one.message.leader_epoch for one in topic.partitions.values()]  # type: ignore[attr-defined]
        latest = max(epochs, default=-1 if former is None else former.leader_epoch)
        self._former[topic_id] = _Former(name, latest)

    def _set_config(self, record: ConfigRecord, versioned: VersionedMessage) -> None:
        resource = record.resource_type, record.resource_name
        values = self._configs.setdefault(resource, {})
        if record.value is not None:
            values[record.name] = versioned
            return
        values.pop(record.name, None)
        if not values:
            del self._configs[resource]

    def _clear_eligible(self, name: str) -> None:
        for topic in self._topics.values():
            if name and topic.record.message.name != name:  # type: ignore[attr-defined]
                continue
            for one in topic.partitions.values():
                assert isinstance(one.message, PartitionRecord), "a partition"
                if one.message.eligible_leader_replicas or one.message.last_known_elr:
                    one.message.eligible_leader_replicas = one.message.last_known_elr = None
                    one.message.partition_epoch += 1

    def records(self) -> Iterator[VersionedMessage]:
        """Yield what is left, in the order in which it is to be replayed."""
        features = sorted(self._features, key=lambda name: name != METADATA_VERSION)
        yield from (self._features[name] for name in features)
        yield from chain(self._brokers.values(), self._controllers.values())
        yield from self._former_topics()
        for topic in self._topics.values():
            yield topic.record
            yield from topic.partitions.values()
        for values in self._configs.values():
            yield from values.values()
        yield from chain(self._single.values(), self._secured.values())

    def _former_topics(self) -> Iterator[VersionedMessage]:
        """Yield records of topics that were deleted while mirroring was on: no other record tells their epochs."""
        if not self._former:
            return
        level = self._features[MIRROR_VERSION]
        if _level(level) < 1:  # Mirroring was switched off since; what was deleted before still counts.
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
        if _level(level) < 1:
            yield level


def _level(feature: VersionedMessage) -> int:
    assert isinstance(feature.message, FeatureLevelRecord), "a feature"
    return feature.message.feature_level


def _merged(before: VersionedMessage, change: PartitionChangeRecord, version: int) -> VersionedMessage:
    """Return a partition's record with a change in it: both kinds of records have the same fields in a version."""
    partition = before.message
    assert isinstance(partition, PartitionRecord), "a partition"
    for name in ("replicas", "isr", "removing_replicas", "adding_replicas", "directories"):
        value = getattr(change, name)
        if value is not None:
            setattr(partition, name, value)
    if len(partition.directories) != len(partition.replicas):  # They were those of the replicas before.
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


def _registered(before: VersionedMessage, change: BrokerRegistrationChangeRecord, version: int) -> VersionedMessage:
    broker = before.message
    assert isinstance(broker, RegisterBrokerRecord), "a registration"
    if change.fenced:
        broker.fenced = change.fenced > 0
    if change.in_controlled_shutdown:
        broker.in_controlled_shutdown = change.in_controlled_shutdown > 0
    if change.log_dirs:
        broker.log_dirs = change.log_dirs
    if change.cordoned_log_dirs is not None:
        broker.cordoned_log_dirs = change.cordoned_log_dirs
    return VersionedMessage(broker, max(before.version, REGISTRATION_OF_CHANGE[version]))
