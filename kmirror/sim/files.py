"""Contents that the log folders of a cluster's brokers would have if all brokers were shut down now.

The result is a copy: each partition's log, closed as a broker closes it, and a `__cluster_metadata` log from which a
real broker serves these partitions alone. The cluster keeps running unchanged. `kmirror.write_log_dirs` writes the
copy.

The metadata log is generated for each broker. A real controller does not know the feature and the configs of KIP-1279,
and a leader without its followers serves nothing, so each broker is the only replica of its partitions. As after a
shutdown, no partition has a leader and no broker is registered. With eligible leader replicas, such a broker would
count as uncleanly shut down and could not become leader, so the copies do not use them (D71).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import METADATA_TOPIC_ID, NO_LEADER, MetadataImage
from kmirror.cluster.replication.log_configs import log_config
from kmirror.cluster.replication.log_recovery import belongs_to_topic
from kmirror.errors import UsageError
from kmirror.kernel import arguments
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.config import LogConfig
from kmirror.log.disk import MemoryDisk
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import AppendOrigin, PartitionLog
from kmirror.log.state_files import encode_partition_metadata
from kmirror.log.store import HIGH_WATERMARK, LOG_START_OFFSET, PARTITION_METADATA
from kmirror.protocol.gen.begin_transaction_record import BeginTransactionRecord
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.end_transaction_record import EndTransactionRecord
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.producer_ids_record import ProducerIdsRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.target import Target
from kmirror.spec.configs import broker_configs
from kmirror.spec.features import ELIGIBLE_VERSION, MIRROR_VERSION
from kmirror.spec.topics import METADATA_TOPIC
from kmirror.spec.wire_values import ResourceType

T = TypeVar("T")
METADATA_EPOCH = 1
_MIRRORING = "mirror."  # Prefix of KIP-1279's topic configs.
_BATCH_RECORDS = 500  # A real controller reads at most 8 MiB at once.


@dataclass(frozen=True, slots=True)
class ReplicaFiles:
    """Closed log, and the last leader epoch in it."""

    store: MemoryStore
    latest_epoch: int


@dataclass(frozen=True, slots=True)
class BrokerFiles:
    """Contents of the log folder of one broker; for several folders, the contents of all of them."""

    broker_id: int
    directory_id: Uuid
    partitions: Mapping[TopicPartition, ReplicaFiles]
    metadata: MemoryStore
    """Closed metadata log with these partitions."""
    metadata_epoch: int = METADATA_EPOCH


@dataclass(frozen=True, slots=True)
class ClusterFiles:
    """Log folders of some brokers of one cluster."""

    cluster_id: str
    brokers: tuple[BrokerFiles, ...]


class CopySource(Target, Protocol):
    """Cluster with its disks; implemented by `Cluster`."""

    cluster_id: str
    configs: dict[str, str]
    log_dirs: dict[int, list[MemoryDisk]]
    rng: Rng

    def runs(self, node_id: int) -> bool: ...

    def broker(self, broker_id: int) -> Broker: ...


def files_of(
    cluster: CopySource, brokers: Collection[int] | None, partitions: Collection[TopicPartition] | None
) -> ClusterFiles:
    """Return copies of these partitions' replicas on these brokers; see `Cluster.files`."""
    if not cluster.log_dirs:
        raise UsageError(f"the disks of cluster {cluster.name} are folders already: stop it, then they are complete")
    brokers = (
        None if brokers is None else _check_not_empty("brokers", arguments.items("brokers", brokers, "broker ids"))
    )
    partitions = None if partitions is None else _check_not_empty("partitions", arguments.partitions(partitions))
    selected = _select_partitions(cluster, partitions)
    found = tuple(_copy_broker(cluster, broker_id, selected) for broker_id in _select_brokers(cluster, brokers))
    for tp in partitions or ():
        if not any(tp in broker.partitions for broker in found):
            raise UsageError(f"no chosen broker of cluster {cluster.name} has {tp}: {_replicas_text(cluster, tp)}")
    return ClusterFiles(cluster.cluster_id, found)


def _check_not_empty(name: str, given: list[T]) -> list[T]:
    if not given:
        raise UsageError(f"no {name} are selected: name at least one, or leave {name} out for all")
    return given


def _copy_broker(cluster: CopySource, broker_id: int, partitions: Iterable[TopicPartition]) -> BrokerFiles:
    directory_id = cluster.log_dirs[broker_id][0].directory_id
    replicas = {tp: copy for tp in partitions if (copy := _copy_replica(cluster, broker_id, tp)) is not None}
    records = _metadata_records(cluster.image, broker_id, directory_id, replicas)
    return BrokerFiles(broker_id, directory_id, replicas, _metadata_log(records, cluster.simulation.now_ms))


def _select_brokers(cluster: CopySource, brokers: Collection[int] | None) -> list[int]:
    if cluster.image.offset < 0:
        raise UsageError(f"cluster {cluster.name} was never started: call start() first")
    for broker_id in brokers or ():
        if broker_id not in cluster.broker_ids:
            broker_list = ", ".join(map(str, cluster.broker_ids))
            raise UsageError(f"cluster {cluster.name} has no broker {broker_id}: it has {broker_list}")
    return sorted(cluster.broker_ids if brokers is None else set(brokers))


def _select_partitions(cluster: CopySource, partitions: Collection[TopicPartition] | None) -> list[TopicPartition]:
    known_partitions = [
        TopicPartition(name, index) for name, topic in cluster.image.topics.items() for index in topic.partitions
    ]
    for tp in partitions or ():
        if tp not in known_partitions:
            raise UsageError(f"cluster {cluster.name} has no partition {tp}")
    return sorted(known_partitions if partitions is None else set(partitions))


def _replicas_text(cluster: CopySource, tp: TopicPartition) -> str:
    image = cluster.image.topics.partition(tp)
    return f"its replicas are on {', '.join(map(str, image.replicas if image else ()))}"


def _copy_replica(cluster: CopySource, broker_id: int, tp: TopicPartition) -> ReplicaFiles | None:
    """Return a closed copy of a broker's replica, or None if it has none.

    The logs of a broker that is not running are copied with the repairs that the broker would make at its start.
    """
    image, topic = cluster.image, cluster.image.topics[tp.topic]
    disk = next((disk for disk in cluster.log_dirs[broker_id] if disk.is_open(tp)), None)
    if broker_id not in topic.partitions[tp.partition].replicas or disk is None:
        return None
    store = disk.open(tp).fork()
    if belongs_to_topic(store, topic.topic_id) is False:
        return None  # The log belongs to an earlier topic with this name.
    running_replica = cluster.broker(broker_id).parts.replicas.partitions.get(tp) if cluster.runs(broker_id) else None
    if running_replica is None:
        config = log_config(
            image.configs.topic(tp.topic), broker_configs(cluster.configs, image.configs.broker(broker_id))
        )
    else:
        config = running_replica.log.config
        store.write_file(HIGH_WATERMARK, b"%d" % running_replica.log.high_watermark)
        store.write_file(LOG_START_OFFSET, b"%d" % running_replica.log.log_start_offset)
    log = PartitionLog.open(tp, store, config, now_ms=cluster.simulation.now_ms, repair=running_replica is None)
    log.close()
    store.write_file(PARTITION_METADATA, encode_partition_metadata(topic.topic_id))
    return ReplicaFiles(store, log.latest_epoch)


def _metadata_records(
    image: MetadataImage, broker_id: int, directory_id: Uuid, replicas: Mapping[TopicPartition, ReplicaFiles]
) -> Iterator[tuple[Message, int]]:
    """Yield the records of the controller's log, each with its version."""
    yield BeginTransactionRecord(name="What kmirror wrote"), 0
    for name, level in image.features.items():
        if name not in (MIRROR_VERSION, ELIGIBLE_VERSION):
            yield FeatureLevelRecord(name=name, feature_level=level), 0
    for topic in dict.fromkeys(tp.topic for tp in replicas):
        yield TopicRecord(name=topic, topic_id=image.topics[topic].topic_id), 0
        # The simulated clock is not the machine's: a broker would delete records that appear old.
        for name, value in {"retention.ms": "-1", **image.configs.topic(topic)}.items():
            if not name.startswith(_MIRRORING):
                yield ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=topic, name=name, value=value), 0
    for tp, copy in replicas.items():
        partition_image = image.topics[tp.topic].partitions[tp.partition]
        record = PartitionRecord(
            partition_id=tp.partition,
            topic_id=image.topics[tp.topic].topic_id,
            replicas=[broker_id],
            isr=[broker_id],
            leader=NO_LEADER,
            leader_epoch=max(partition_image.leader_epoch, copy.latest_epoch),
            partition_epoch=partition_image.partition_epoch,
            directories=[directory_id],
        )
        yield record, 1
    yield (
        ProducerIdsRecord(broker_id=broker_id, broker_epoch=-1, next_producer_id=image.producer_ids.next_producer_id),
        0,
    )
    yield EndTransactionRecord(), 0


def _metadata_log(records: Iterable[tuple[Message, int]], now_ms: int) -> MemoryStore:
    """Return a closed `__cluster_metadata` log with these records, written in one leader epoch."""
    store = MemoryStore()
    log = PartitionLog.open(TopicPartition(METADATA_TOPIC, 0), store, LogConfig(), now_ms=now_ms)
    data = [RecordData(None, encode_metadata_record(record, version), (), now_ms) for record, version in records]
    for start in range(0, len(data), _BATCH_RECORDS):
        batch = build_batch(data[start : start + _BATCH_RECORDS])
        log.append_as_leader(batch, leader_epoch=METADATA_EPOCH, now_ms=now_ms, origin=AppendOrigin.COORDINATOR)
    log.update_high_watermark(log.log_end_offset)
    log.close()
    store.write_file(PARTITION_METADATA, encode_partition_metadata(METADATA_TOPIC_ID))
    return store
