"""Single controllers and single partitions for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kmirror.cluster.authorizer import ALLOW_ALL, Rights
from kmirror.cluster.controller.controller import Controller, ControllerOptions
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.events import Started
from kmirror.kernel.ids import ANONYMOUS, Endpoint, TopicPartition
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import LogConfig, PartitionLog
from kmirror.mirror.controller_component import MirrorControllerComponent
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.register_broker_record import BrokerEndpoint, BrokerFeature, RegisterBrokerRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.features import FEATURES
from tests.client_links import handle_with_disk

TP = TopicPartition("orders", 0)
TOPIC_ID = Uuid.from_ints(3, 4)
BROKER_EPOCH = 1000
RIGHTS = Rights(ALLOW_ALL, ANONYMOUS, "127.0.0.1")


def controller(
    brokers: Sequence[int] = (1, 2, 3),
    *,
    configs: Mapping[str, str] | None = None,
    mirror_version: int = 1,
    eligible_version: int = 0,
    topic: Sequence[int] = (),
) -> Controller:
    """Return a started controller with live brokers, and with topic `orders` if `topic` names brokers for it."""
    bootstrap: list[Message] = [
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        FeatureLevelRecord(name="mirror.version", feature_level=mirror_version),
    ]
    if eligible_version:
        bootstrap.append(FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=eligible_version))
    for broker_id in brokers:
        bootstrap.append(
            RegisterBrokerRecord(
                broker_id=broker_id,
                broker_epoch=BROKER_EPOCH + broker_id,
                incarnation_id=Uuid.from_ints(9, broker_id),
                end_points=[BrokerEndpoint(name="PLAINTEXT", host=f"b-{broker_id}", port=9092)],
                features=[BrokerFeature(row.name, row.minimum, row.maximum) for row in FEATURES],
                fenced=False,
            )
        )
    if topic:
        bootstrap += [
            TopicRecord(name=TP.topic, topic_id=TOPIC_ID),
            PartitionRecord(
                partition_id=0,
                topic_id=TOPIC_ID,
                replicas=list(topic),
                isr=list(topic),
                leader=topic[0],
                leader_epoch=7,
                partition_epoch=2,
            ),
        ]
    options = ControllerOptions(
        100, "cluster", (ListenerSpec.plain(Endpoint("controller", 9093)),), configs or {}, bootstrap
    )
    made = Controller(options, MemoryDisk(), Rng(1), [MirrorControllerComponent()])
    handle_with_disk(made, 0, Started())
    return made


def fence(target: Controller, broker_id: int) -> None:
    """Mark a broker as fenced without changing its partitions."""
    epoch = target.image.brokers[broker_id].epoch
    target.commit(0, [BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=epoch, fenced=1)])


def partition(
    broker_id: int = 1,
    *,
    replicas: Sequence[int] = (1, 2, 3),
    isr: Sequence[int] | None = None,
    leader: int = 1,
    leader_epoch: int = 0,
) -> Partition:
    """Return a partition from the view of one broker."""
    log = PartitionLog.open(TP, MemoryStore(), LogConfig(), now_ms=0)
    made = Partition(broker_id, TP, TOPIC_ID, log)
    made.apply(0, PartitionImage(tuple(replicas), tuple(isr or replicas), leader, leader_epoch, 0))
    return made


def append(target: Partition, count: int = 1) -> None:
    """Let the leader append `count` batches of one record."""
    for _ in range(count):
        target.log.append_as_leader(
            build_batch([RecordData(value=b"v", timestamp=1)]), leader_epoch=target.leader_epoch, now_ms=1
        )
