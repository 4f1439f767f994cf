"""The metadata image, built by replaying the metadata log, and the delta between two images.

Controller and brokers replay the same records with the same code; an image changes in no other way. Leader epochs
follow Kafka's rule: a PartitionChangeRecord that names a leader raises the epoch by one, one without a leader leaves
it; the partition epoch rises with every change.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.producer_ids_record import ProducerIdsRecord
from kmirror.protocol.gen.register_broker_record import RegisterBrokerRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.gen.unregister_broker_record import UnregisterBrokerRecord
from kmirror.protocol.message import Message
from kmirror.spec.wire_values import ResourceType

NO_LEADER = -1
LEADER_UNCHANGED = -2

METADATA_TOPIC_ID = Uuid.from_ints(0, 1)


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


@dataclass(frozen=True, slots=True)
class PartitionImage:
    """The state of one partition; `leader` is NO_LEADER if there is none."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int


@dataclass(slots=True)
class TopicImage:
    name: str
    topic_id: Uuid
    partitions: dict[int, PartitionImage] = field(default_factory=dict)


@dataclass(slots=True)
class Delta:
    """What changed between two published images; each field is a dict that serves as an ordered set."""

    brokers: dict[int, None] = field(default_factory=dict)
    topics_created: dict[str, None] = field(default_factory=dict)
    topics_deleted: dict[str, Uuid] = field(default_factory=dict)
    partitions: dict[TopicPartition, None] = field(default_factory=dict)
    configs: dict[tuple[int, str], None] = field(default_factory=dict)
    features: dict[str, None] = field(default_factory=dict)

    def alters_node(self, node_id: int) -> bool:
        """Return whether broker configs changed that hold at `node_id`: its own, or the cluster-wide ones."""
        return any((ResourceType.BROKER, name) in self.configs for name in ("", str(node_id)))

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
        self.offset = -1
        """Offset of the last record applied."""

    def apply(self, record: Message, delta: Delta) -> None:
        """Replay one record, and add what it changed to `delta`."""
        match record:
            case TopicRecord():
                self.topics[record.name] = TopicImage(record.name, record.topic_id)
                self.topic_names[record.topic_id] = record.name
                delta.topics_created[record.name] = None
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
                )
                delta.brokers[record.broker_id] = None
            case BrokerRegistrationChangeRecord():
                broker = self.brokers[record.broker_id]
                if record.fenced:
                    broker = replace(broker, fenced=record.fenced > 0)
                if record.in_controlled_shutdown:
                    broker = replace(broker, in_controlled_shutdown=record.in_controlled_shutdown > 0)
                self.brokers[record.broker_id] = broker
                delta.brokers[record.broker_id] = None
            case UnregisterBrokerRecord():
                self.brokers.pop(record.broker_id, None)
                delta.brokers[record.broker_id] = None
            case FeatureLevelRecord():
                self.features[record.name] = record.feature_level
                delta.features[record.name] = None
            case ProducerIdsRecord():
                self.next_producer_id = record.next_producer_id
            case _:
                raise AssertionError(f"no replay for {type(record).__name__}")

    def _remove_topic(self, topic_id: Uuid, delta: Delta) -> None:
        name = self.topic_names.pop(topic_id)
        del self.topics[name]
        if self.configs.pop((ResourceType.TOPIC, name), None) is not None:
            delta.configs[(ResourceType.TOPIC, name)] = None
        delta.topics_deleted[name] = topic_id
        delta.topics_created.pop(name, None)

    def _set_partition(self, record: PartitionRecord, delta: Delta) -> None:
        name = self.topic_names[record.topic_id]
        self.topics[name].partitions[record.partition_id] = PartitionImage(
            tuple(record.replicas),
            tuple(record.isr),
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
        )
        delta.partitions[TopicPartition(name, record.partition_id)] = None

    def _change_partition(self, record: PartitionChangeRecord, delta: Delta) -> None:
        name = self.topic_names[record.topic_id]
        before = self.topics[name].partitions[record.partition_id]
        names_leader = record.leader != LEADER_UNCHANGED
        self.topics[name].partitions[record.partition_id] = PartitionImage(
            before.replicas if record.replicas is None else tuple(record.replicas),
            before.isr if record.isr is None else tuple(record.isr),
            record.leader if names_leader else before.leader,
            before.leader_epoch + 1 if names_leader else before.leader_epoch,
            before.partition_epoch + 1,
        )
        delta.partitions[TopicPartition(name, record.partition_id)] = None

    def _set_config(self, record: ConfigRecord, delta: Delta) -> None:
        resource = (record.resource_type, record.resource_name)
        values = self.configs.setdefault(resource, {})
        if record.value is None:
            values.pop(record.name, None)
            if not values:
                del self.configs[resource]
        else:
            values[record.name] = record.value
        delta.configs[resource] = None

    def partition(self, tp: TopicPartition) -> PartitionImage | None:
        """Return the partition's state, or None if there is no such partition."""
        topic = self.topics.get(tp.topic)
        return None if topic is None else topic.partitions.get(tp.partition)

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

    def endpoint(self, broker_id: int) -> Endpoint | None:
        """Return where an unfenced broker listens, or None."""
        broker = self.brokers.get(broker_id)
        return None if broker is None or broker.fenced else broker.endpoint
