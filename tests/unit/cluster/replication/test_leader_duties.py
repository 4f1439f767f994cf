"""A leader's responses to waiting producers, its proposed ISR members, and ListOffsets after an election."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication import isr
from kmirror.kernel.events import LinkClosed, OutboundLink, Send, SetTimer, TimerFired
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import LogConfig, PartitionLog
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.configs import Scope, problem_with
from kmirror.spec.error_codes import ErrorCode
from tests.builders import batch

TP = TopicPartition("t", 0)


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(Simulation(1), "a")
    made.start()
    create(made)
    made.simulation.run_for(span_s=3)  # Every follower has fetched.
    return made


def create(cluster: Cluster, **configs: str) -> None:
    rows = [CreatableTopicConfig(name=name.replace("_", "."), value=value) for name, value in configs.items()]
    topic = CreatableTopic(name="t", num_partitions=1, replication_factor=3, configs=rows)
    cluster.client.call(cluster.endpoint(1), CreateTopicsRequest(topics=[topic]), 7)
    cluster.simulation.run_until(lambda: cluster.leader(TP) is not None and cluster.is_settled())


def led(cluster: Cluster) -> tuple[Broker, Partition]:
    partition = cluster.leader(TP)
    assert partition is not None
    return cluster.broker(partition.broker_id), partition


@pytest.mark.parametrize("new_start", [None, 100])
def test_a_truncated_record_is_never_acknowledged(cluster: Cluster, new_start: int | None) -> None:
    broker, partition = led(cluster)
    now = cluster.simulation.world.now
    told: list[ErrorCode] = []
    info = broker.parts.replicas.appends.append(now, partition, batch(5, timestamp=cluster.simulation.now_ms))
    broker.parts.replicas.purgatory.await_acks(
        now, partition, info.last_offset + 1, 1000, lambda _, error: told.append(error)
    )
    if new_start is None:
        broker.parts.replicas.appends.truncate(now, partition, 0)
        broker.parts.replicas.appends.append(now, partition, batch(9, timestamp=cluster.simulation.now_ms))
        partition.log.update_high_watermark(9)
    else:
        broker.parts.replicas.appends.truncate_fully(
            now, partition, new_start
        )  # The high watermark is above the offset that the producer waits for.
    broker.parts.replicas.purgatory.wake_waiters(now)
    assert told == [ErrorCode.NOT_LEADER_OR_FOLLOWER]


def test_a_requested_member_holds_the_high_watermark_until_the_outcome(cluster: Cluster) -> None:
    broker, partition = led(cluster)
    now = cluster.simulation.world.now
    joining = next(b for b in partition.isr if b != broker.context.node_id)
    partition.image = replace(partition.image, isr=tuple(b for b in partition.isr if b != joining))
    broker.parts.isr.maybe_expand(now, partition, joining)
    assert joining in partition.maximal_isr()
    assert broker.context.run_deferred(now)
    effects = broker.handle(now, LinkClosed(OutboundLink(broker.context.controllers.leader, "controller")))
    assert joining in partition.maximal_isr()
    assert any(isinstance(effect, SetTimer) and effect.key == isr.RETRY_TIMER for effect in effects)
    again = broker.handle(now, TimerFired(isr.RETRY_TIMER))
    assert any(isinstance(effect, Send) and effect.link.peer == broker.context.controllers.leader for effect in again)


def test_a_replica_is_proposed_only_in_the_incarnation_that_fetched(cluster: Cluster) -> None:
    broker, partition = led(cluster)
    now = cluster.simulation.world.now
    joining = next(b for b in partition.isr if b != broker.context.node_id)
    partition.image = replace(partition.image, isr=tuple(b for b in partition.isr if b != joining))
    partition.on_follower_fetch(now, joining, 0, broker_epoch=broker.context.image.brokers[joining].epoch - 1)
    broker.parts.isr.maybe_expand(now, partition, joining)
    assert partition.pending_isr is None
    partition.on_follower_fetch(now, joining, 0, broker_epoch=broker.context.image.brokers[joining].epoch)
    broker.parts.isr.maybe_expand(now, partition, joining)
    assert partition.pending_isr is not None


@pytest.mark.parametrize(
    ("version", "error"), [(4, ErrorCode.LEADER_NOT_AVAILABLE), (5, ErrorCode.OFFSET_NOT_AVAILABLE)]
)
def test_the_log_end_is_not_returned_before_the_new_leader_knows_it(
    cluster: Cluster, version: int, error: ErrorCode
) -> None:
    broker, partition = led(cluster)
    partition.epoch_start_offset = 10

    def ask(timestamp: int) -> int:
        row = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=[row])])
        reply = cluster.client.call(cluster.endpoint(broker.context.node_id), request, version)
        assert isinstance(reply, ListOffsetsResponse)
        return reply.topics[0].partitions[0].error_code

    assert ask(-1) == error
    assert ask(0) == error  # A later record may have this timestamp.
    assert ask(-2) == ErrorCode.NONE


def test_the_high_watermark_stops_below_min_insync_replicas() -> None:
    log = PartitionLog.open(TP, MemoryStore(), LogConfig(), now_ms=0)
    partition = Partition(1, TP, Uuid.ZERO, log)
    partition.min_insync_replicas = 2
    partition.apply(0, PartitionImage((1, 2, 3), (1,), 1, 0, 0))
    log.append_as_leader(batch(3, timestamp=0), leader_epoch=0, now_ms=0)
    assert not partition.advance_high_watermark()
    partition.apply(0, PartitionImage((1, 2, 3), (1, 2), 1, 0, 1))
    partition.on_follower_fetch(0, 2, 3)
    assert partition.advance_high_watermark() and log.high_watermark == 3


def test_a_partition_needs_no_more_members_than_it_has_replicas() -> None:
    partition = Partition(1, TP, Uuid.ZERO, PartitionLog.open(TP, MemoryStore(), LogConfig(), now_ms=0))
    partition.min_insync_replicas = 3
    partition.apply(0, PartitionImage((1,), (1,), 1, 0, 0))
    assert partition.min_isr == 1


@pytest.mark.parametrize(
    ("leader", "leader_epoch", "partition_epoch", "expected"),
    [(1, 4, 9, True), (1, 9, 8, True), (1, 9, 9, False), (2, 4, 8, False)],
    ids=["one epoch on", "one change on", "perhaps not", "another leader"],
)
def test_a_leader_led_before_if_no_other_can_have_led_in_between(
    leader: int, leader_epoch: int, partition_epoch: int, expected: bool
) -> None:
    partition = Partition(1, TP, Uuid.ZERO, PartitionLog.open(TP, MemoryStore(), LogConfig(), now_ms=0))
    before = PartitionImage((1, 2), isr=(1, 2), leader=1, leader_epoch=3, partition_epoch=7)
    partition.apply(0, before)
    assert not partition.led_before, "it did not lead before"
    partition.apply(0, replace(before, leader=leader, leader_epoch=leader_epoch, partition_epoch=partition_epoch))
    assert partition.led_before is expected


def test_a_deleted_and_recreated_topic_is_another_topic(cluster: Cluster) -> None:
    Producer(cluster).send({TP: [RecordData(value=b"old")]})
    old_id = cluster.image.topics["t"].topic_id
    world = cluster.simulation.world
    cluster.controller.commit(world.now, [RemoveTopicRecord(topic_id=old_id)])
    world.perform(cluster.process(100), cluster.controller.outbox.drain())
    cluster.simulation.run_for(span_s=3)
    assert all(TP not in cluster.broker(b).parts.replicas.partitions for b in cluster.broker_ids)
    assert all(TP not in cluster.log_dirs[b][0].partitions() for b in cluster.broker_ids)
    create(cluster)
    assert Producer(cluster).send({TP: [RecordData(value=b"new")]}) == {TP: 0}


def test_topic_configs_reach_the_log(cluster: Cluster) -> None:
    _, partition = led(cluster)
    assert not partition.log.config.compact
    for name, value, fine in (
        ("compression.type", "gzip", True),
        ("compression.type", "gzp", False),
        ("cleanup.policy", "compact,delete", True),
        ("cleanup.policy", "shred", False),
        ("message.timestamp.type", "logappendtime", False),
        ("segment.bytes", "1_000", False),
        ("segment.bytes", "\u0663", False),
        ("segment.bytes", str(1 << 31), False),
        ("retention.ms", str((1 << 63) - 1), True),
        ("retention.ms", str(1 << 63), False),
        ("retention.ms", "9" * 5000, False),
    ):
        assert (problem_with(Scope.TOPIC, name, value) is None) == fine, (name, value)


def test_a_compacted_topic_refuses_records_without_a_key() -> None:
    cluster = Cluster(Simulation(1), "a")
    cluster.start()
    create(cluster, cleanup_policy="compact", compression_type="gzip")
    _, partition = led(cluster)
    assert partition.log.config.compact and partition.log.config.compression_type is not None
    data = build_batch([RecordData(value=b"v")], timestamp_ms=cluster.simulation.now_ms)
    code, _, _ = Producer(cluster).try_send({TP: data})[TP]
    assert code == ErrorCode.INVALID_RECORD
