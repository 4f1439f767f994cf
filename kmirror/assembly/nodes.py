"""Assembly of a cluster, independent of the runner: nodes with all components, the first records of a metadata log, and

the configs that a small cluster needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kmirror.cluster.authorizer import Authorizer
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller, ControllerOptions
from kmirror.cluster.coordinators.plugins import COORDINATORS
from kmirror.cluster.metadata.directory import ControllerDirectory
from kmirror.cluster.node.context import BrokerOptions
from kmirror.errors import UsageError
from kmirror.kernel.clock import Instant
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.listeners import Listeners
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import Disk, Disks, OfflineLogDir
from kmirror.log.epochs import decode_checkpoint
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT
from kmirror.mirror.component import MirrorComponent
from kmirror.mirror.controller_component import MirrorControllerComponent
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.producer_ids_record import ProducerIdsRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message
from kmirror.records.legacy import iter_any_batches
from kmirror.spec.features import ELIGIBLE_VERSION, FORMAT_LEVELS, METADATA_VERSION, MIRROR_VERSION, TRANSACTION_VERSION

METADATA_LEVEL = 30


class PartitionFiles(Protocol):
    """The files of one partition, as `kmirror.read_log_dirs` returns them."""

    @property
    def segments(self) -> Mapping[int, bytes]: ...

    @property
    def files(self) -> Mapping[str, bytes]: ...


class ExistingLogs(Protocol):
    """Partitions by name, and the ids of their topics."""

    @property
    def partitions(self) -> Mapping[TopicPartition, PartitionFiles]: ...

    def topic_id(self, topic: str) -> Uuid | None: ...


@dataclass(frozen=True)
class Assembly:
    """The options of one cluster. Each call creates a new process of a node, with the given disks."""

    cluster_id: str
    controller_id: int
    listeners: Mapping[int, Listeners]
    """The listeners of each node, including the controller."""
    configs: Mapping[str, str]
    """Static configs of every node."""
    bootstrap: Sequence[Message]
    """The first records of an empty metadata log."""
    on_failure: OnFailure = OnFailure.RAISE
    authorizer: Authorizer | None = None
    """Authorizer used by every node, in place of the one in its configs."""
    racks: Mapping[int, str] = field(default_factory=dict)
    """`broker.rack` of brokers that have one."""
    clock: Callable[[], Instant] | None = None
    """Clock used to measure request processing time; virtual time if None."""

    def node(self, node_id: int, disks: Disks, rng: Rng) -> Broker | Controller:
        """Return the node with this id and all its components; it waits for `Started`.

        A controller uses the first disk.
        """
        if node_id != self.controller_id:
            return self.broker(node_id, disks, rng)
        disk = disks[0]
        if isinstance(disk, OfflineLogDir):
            raise UsageError(f"the metadata log cannot be opened in {disk.log_dir}: {disk.reason}")
        return self.controller(disk, rng)

    def controller(self, disk: Disk, rng: Rng) -> Controller:
        """Return the controller."""
        options = ControllerOptions(
            self.controller_id,
            self.cluster_id,
            self.listeners[self.controller_id],
            self.configs,
            self.bootstrap,
            self.on_failure,
            self.authorizer,
            self.clock,
        )
        return Controller(options, disk, rng, [MirrorControllerComponent()])

    def broker(self, broker_id: int, disks: Disks, rng: Rng) -> Broker:
        """Return one broker."""
        listeners, controller_endpoint = self.listeners[broker_id], self.listeners[self.controller_id][0].advertised
        controllers = ControllerDirectory({self.controller_id: controller_endpoint}, self.controller_id)
        rack = {"broker.rack": self.racks[broker_id]} if broker_id in self.racks else {}
        configs = {**self.configs, **rack}
        options = BrokerOptions(
            broker_id, self.cluster_id, listeners, controllers, configs, self.on_failure, self.authorizer, self.clock
        )
        broker = Broker(options, disks, rng)
        for component in (*COORDINATORS, MirrorComponent):
            broker.add(component(broker.parts))
        return broker


def feature_records(
    mirror_version: int,
    transaction_version: int = FORMAT_LEVELS[TRANSACTION_VERSION],
    eligible_version: int = FORMAT_LEVELS[ELIGIBLE_VERSION],
) -> list[Message]:
    """Return the records that set the feature levels of a new cluster.

    A level of 0 has no record: a controller of Kafka does not know mirror.version, and rejects a log that contains it.
    """
    levels = {
        METADATA_VERSION: METADATA_LEVEL,
        TRANSACTION_VERSION: transaction_version,
        ELIGIBLE_VERSION: eligible_version,
        MIRROR_VERSION: mirror_version,
    }
    return [FeatureLevelRecord(name=name, feature_level=level) for name, level in levels.items() if level > 0]


def formatted_records(eligible_version: int = FORMAT_LEVELS[ELIGIBLE_VERSION]) -> list[Message]:
    """Return the feature levels of a formatted folder, as `kafka-storage format` writes them."""
    levels = {**FORMAT_LEVELS, ELIGIBLE_VERSION: eligible_version}
    return [FeatureLevelRecord(name=name, feature_level=level) for name, level in levels.items() if level > 0]


def replication_configs(factor: int) -> dict[str, str]:
    """Return the configs that let a cluster of `factor` or more brokers host its internal topics."""
    keys = (
        "default.replication.factor",
        "offsets.topic.replication.factor",
        "transaction.state.log.replication.factor",
        "mirror.topic.replication.factor",
    )
    return {**dict.fromkeys(keys, str(factor)), "transaction.state.log.min.isr": str(min(2, factor))}


def existing_topics(
    logs: ExistingLogs,
    broker_ids: Sequence[int],
    replication_factor: int,
    new_id: Callable[[str], Uuid],
    directory_of: Callable[[TopicPartition, int], Uuid],
) -> tuple[list[Message], dict[TopicPartition, list[int]]]:
    """Return the records that create the topics of `logs` in a new cluster, and the replicas of each partition.

    Replicas are assigned round-robin. `new_id` creates the id of a topic without one. `directory_of` returns the log
    directory of a partition on a broker; it is called once for each replica.
    """
    counts: dict[str, int] = {}
    for tp in logs.partitions:
        counts[tp.topic] = max(counts.get(tp.topic, 0), tp.partition + 1)
    next_producer_id = 1 + max((last_producer_id(files) for files in logs.partitions.values()), default=-1)
    records: list[Message] = [
        # The cluster that wrote the logs has already allocated the producer ids in them.
        ProducerIdsRecord(broker_id=broker_ids[0], broker_epoch=-1, next_producer_id=next_producer_id)
    ]
    assignments: dict[TopicPartition, list[int]] = {}
    for topic, count in counts.items():
        topic_id = logs.topic_id(topic) or new_id(topic)
        records.append(TopicRecord(name=topic, topic_id=topic_id))
        for index in range(count):
            tp = TopicPartition(topic, index)
            files = logs.partitions.get(tp)
            position = len(assignments)
            replicas = [broker_ids[(position + n) % len(broker_ids)] for n in range(replication_factor)]
            assignments[tp] = replicas
            epoch = -1 if files is None else last_epoch(files)
            records.append(
                PartitionRecord(
                    partition_id=index,
                    topic_id=topic_id,
                    replicas=replicas,
                    isr=replicas,
                    leader=replicas[0],
                    leader_epoch=epoch + 1,
                    partition_epoch=0,
                    directories=[directory_of(tp, replica) for replica in replicas],
                )
            )
    return records, assignments


def last_epoch(files: PartitionFiles) -> int:
    """Return the highest leader epoch in a partition's files, or -1."""
    checkpoint = files.files.get(LEADER_EPOCH_CHECKPOINT)
    found = -1
    if checkpoint:
        found = max((entry.epoch for entry in decode_checkpoint(checkpoint)), default=-1)
    for base_offset in sorted(files.segments, reverse=True):
        for batch in iter_any_batches(files.segments[base_offset]):
            found = max(found, batch.partition_leader_epoch)
        if found >= 0:
            break
    return found


def last_producer_id(files: PartitionFiles) -> int:
    """Return the highest producer id in a partition's batches, or -1."""
    return max(
        (batch.producer_id for segment in files.segments.values() for batch in iter_any_batches(segment)), default=-1
    )
