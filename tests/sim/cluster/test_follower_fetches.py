"""Consumers fetch from followers (KIP-392): serving replicas, end offsets, and preferred read replicas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kmirror.hooks.hooks import Hooks
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import AppendOrigin
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.message import Message
from kmirror.records.batch import iter_batches
from kmirror.sim.cluster import Cluster
from kmirror.sim.consumer import Consumer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CONSUMER_REPLICA_ID, IsolationLevel, OffsetSpec
from tests.builders import marker
from tests.sim.stage import TP as MIRRORED
from tests.sim.stage import pair, transactional

TP = TopicPartition("t", 0)
SELECTOR = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}
RACKS = {1: "r1", 2: "r2", 3: "r3"}


def cluster_with_racks(interpose: Hooks | None = None, **configs: str) -> Cluster:
    cluster = Cluster(Simulation(seed=5), "a", configs={**SELECTOR, **configs}, racks=RACKS, interpose=interpose)
    cluster.start()
    cluster.create_topic("t")
    cluster.simulation.run_until(cluster.is_settled)
    cluster.produce("t", 0, [b"x", b"y"])
    cluster.simulation.run_for(span_s=2)
    return cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with_nodes = cluster_with_racks()
    yield with_nodes
    with_nodes.__exit__(None, None, None)


def leader_of(cluster: Cluster) -> int:
    return cluster.image.topics["t"].partitions[0].leader


def follower_of(cluster: Cluster) -> int:
    return 1 + leader_of(cluster) % 3


def fetch_request(
    *, topic: str = "t", offset: int = 0, epoch: int = -1, rack: str = "", committed: bool = False, wait_ms: int = 0
) -> FetchRequest:
    row = FetchPartition(partition=0, fetch_offset=offset, current_leader_epoch=epoch, partition_max_bytes=1 << 20)
    return FetchRequest(
        replica_id=CONSUMER_REPLICA_ID,
        session_id=0,
        session_epoch=-1,
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=1 << 20,
        isolation_level=IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED,
        topics=[FetchTopic(topic=topic, partitions=[row])],
        rack_id=rack,
    )


def fetch(cluster: Cluster, broker: int, *, version: int = 12, **asked: Any) -> PartitionData:
    reply = cluster.client.call(cluster.endpoint(broker), fetch_request(**asked), version_max=version)
    assert isinstance(reply, FetchResponse), reply
    return reply.responses[0].partitions[0]


def append(cluster: Cluster, batch: bytes, origin: AppendOrigin = AppendOrigin.CLIENT) -> None:
    broker = cluster.broker(leader_of(cluster))
    partition = broker.parts.replicas.partitions[TP]
    broker.parts.replicas.appends.append(cluster.simulation.world.now, partition, batch, origin=origin)


def next_offsets(data: PartitionData) -> list[int]:
    return [batch.next_offset for batch in iter_batches(bytes(data.records or b""))]


def test_a_follower_responds_from_version_11_on(cluster: Cluster) -> None:
    follower = follower_of(cluster)
    data = fetch(cluster, follower, version=11)
    assert (data.error_code, next_offsets(data)[-1], data.high_watermark, data.preferred_read_replica) == (0, 2, 2, -1)
    assert fetch(cluster, follower, version=10).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_another_epoch_is_refused_before_leadership_is_checked(cluster: Cluster) -> None:
    restarted = leader_of(cluster)
    cluster.kill(restarted)
    cluster.simulation.run_for(span_s=15)
    epoch = cluster.image.topics["t"].partitions[0].leader_epoch
    assert epoch > 0
    follower = next(n for n in cluster.living() if n != leader_of(cluster))
    for version in (10, 12):
        errors = [fetch(cluster, follower, epoch=asked, version=version).error_code for asked in (epoch - 1, epoch + 1)]
        assert errors == [ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH]


def test_a_follower_is_bounded_by_its_own_offsets(cluster: Cluster) -> None:
    leader, follower = leader_of(cluster), follower_of(cluster)
    log = cluster.replicas(TP)[follower].log
    cluster.kill(6 - leader - follower)  # While it is in the ISR, the high watermark does not move.
    append(cluster, transactional(0, 0, 7, "z"))
    cluster.simulation.run_for(span_s=1)
    assert (log.log_end_offset, log.high_watermark) == (3, 2)
    data = fetch(cluster, follower, offset=2)
    assert (data.error_code, next_offsets(data), data.high_watermark) == (0, [], 2)
    assert fetch(cluster, follower, offset=3).error_code == 0
    assert fetch(cluster, follower, offset=4).error_code == ErrorCode.OFFSET_OUT_OF_RANGE

    cluster.simulation.run_for(span_s=15)
    assert next_offsets(fetch(cluster, follower, offset=2)) == [3]
    data = fetch(cluster, follower, offset=2, committed=True)
    assert (next_offsets(data), data.high_watermark, data.last_stable_offset) == ([], 3, 2)

    append(cluster, marker(commit=False, pid=7), origin=AppendOrigin.COORDINATOR)
    cluster.simulation.run_for(span_s=2)
    data = fetch(cluster, follower, offset=2, committed=True)
    aborted = [(row.producer_id, row.first_offset) for row in data.aborted_transactions or []]
    assert (next_offsets(data), data.last_stable_offset, aborted) == ([3, 4], 4, [(7, 2)])


def test_a_fetch_waits_at_a_follower_until_its_high_watermark_rises(cluster: Cluster) -> None:
    answers: list[Message | None] = []
    request = fetch_request(offset=2, wait_ms=20_000)
    cluster.client.send(cluster.endpoint(follower_of(cluster)), request, answers.append, version_max=12)
    cluster.simulation.run_for(span_s=3)
    assert not answers
    cluster.produce("t", 0, [b"z"])
    cluster.simulation.run_for(span_s=2)
    assert isinstance(answers[0], FetchResponse)
    assert next_offsets(answers[0].responses[0].partitions[0]) == [3]


@pytest.mark.decision("D57")
def test_a_follower_of_a_mirrored_partition_waits_for_its_leaders_response() -> None:
    p = pair()
    p.a.create_topic(MIRRORED.topic)
    p.simulation.run_until(p.a.is_settled)
    p.a.write("r0")
    p.begin()
    p.simulation.run_for(span_s=3)
    follower = next(n for n, replica in p.b.replicas(MIRRORED).items() if not replica.is_leader)
    assert next_offsets(fetch(p.b, follower, topic=MIRRORED.topic)) == [1]
    known = p.b.broker(follower).parts.fetchers._loop.find(MIRRORED)
    assert known is not None
    known[1].has_response = False  # As in a new leader epoch.
    assert fetch(p.b, follower, topic=MIRRORED.topic).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    p.a.write("r1")
    p.simulation.run_for(span_s=3)
    assert next_offsets(fetch(p.b, follower, topic=MIRRORED.topic)) == [1, 2]


def test_the_leader_names_the_follower_in_the_rack_and_reads_nothing(cluster: Cluster) -> None:
    leader, follower = leader_of(cluster), follower_of(cluster)
    data = fetch(cluster, leader, rack=RACKS[follower])
    assert (data.error_code, data.preferred_read_replica, data.high_watermark, next_offsets(data)) == (
        0,
        follower,
        2,
        [],
    )
    for rack in ("", "elsewhere", RACKS[leader]):
        data = fetch(cluster, leader, rack=rack)
        assert (data.preferred_read_replica, next_offsets(data)[-1]) == (-1, 2)
    assert fetch(cluster, follower, rack=RACKS[follower]).preferred_read_replica == -1


def test_the_leader_names_no_replica_that_is_dead(cluster: Cluster) -> None:
    leader, follower = leader_of(cluster), follower_of(cluster)
    cluster.kill(follower)
    cluster.simulation.run_for(span_s=15)
    assert fetch(cluster, leader, rack=RACKS[follower]).preferred_read_replica == -1


def test_only_a_debugging_consumer_lists_offsets_at_a_follower(cluster: Cluster) -> None:
    found = []
    for replica in (CONSUMER_REPLICA_ID, -2):
        row = ListOffsetsPartition(partition_index=0, current_leader_epoch=-1, timestamp=OffsetSpec.LATEST)
        request = ListOffsetsRequest(replica_id=replica, topics=[ListOffsetsTopic(name="t", partitions=[row])])
        reply = cluster.client.call(cluster.endpoint(follower_of(cluster)), request)
        assert isinstance(reply, ListOffsetsResponse), reply
        found.append((reply.topics[0].partitions[0].error_code, reply.topics[0].partitions[0].offset))
    assert found == [(ErrorCode.NOT_LEADER_OR_FOLLOWER, -1), (ErrorCode.NONE, 2)]


def test_a_consumer_in_a_rack_reads_from_its_follower_and_then_from_the_leader() -> None:
    hooks = Hooks()
    asked: list[int] = []
    cluster = cluster_with_racks(hooks)
    leader, follower = leader_of(cluster), follower_of(cluster)
    hooks.on(FetchRequest, from_nodes=False).watch(lambda request: asked.append(request.node_id))
    consumer = Consumer(cluster, "t", client_rack=RACKS[follower])
    assert [record.value for record in consumer] == [b"x", b"y"]
    assert asked[:2] == [leader, follower]
    assert set(asked[1:]) == {follower}
    asked.clear()
    cluster.kill(follower)
    cluster.simulation.run_for(span_s=15)
    cluster.produce("t", 0, [b"z"])
    assert [record.value for record in consumer] == [b"z"]
    assert set(asked) == {leader}
