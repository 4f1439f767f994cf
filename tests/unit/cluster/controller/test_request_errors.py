"""Requests that a broker or controller refuses, with Kafka's error code or by closing the link."""

from __future__ import annotations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.controller.apis.create_topics import PARTITIONS_MAX
from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest
from kmirror.protocol.gen.broker_registration_response import BrokerRegistrationResponse
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest, MirrorInfo
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.fetch_request import FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import FindCoordinatorResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import METADATA_TOPIC, TRANSACTION_TOPIC


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(Simulation(1), "a", configs={"transaction.state.log.num.partitions": "1"})
    made.start()
    made.client.call(made.endpoint(1), create("t"), 7)
    made.simulation.run_for(span_s=1)
    return made


def create(*names: str, partitions: int = 1, mirror_info: MirrorInfo | None = None) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[
            CreatableTopic(name=name, num_partitions=partitions, replication_factor=3, mirror_info=mirror_info)
            for name in names
        ]
    )


def created(cluster: Cluster, request: CreateTopicsRequest, version: int = 8) -> dict[str, ErrorCode]:
    reply = cluster.client.call(cluster.endpoint(1), request, version)
    assert isinstance(reply, CreateTopicsResponse)
    assert len({row.name for row in reply.topics}) == len(reply.topics)
    return {row.name: ErrorCode(row.error_code) for row in reply.topics}


def produce(cluster: Cluster, topic: str, acks: int) -> Message | None:
    """Write one record to partition 0 at its leader; None if the link was closed."""
    image = cluster.image.topics.partition(TopicPartition(topic, 0))
    leader = 1 if image is None else image.leader
    records = build_batch([RecordData(key=b"k", value=b"v")], timestamp_ms=cluster.simulation.now_ms)
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])
    request = ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[data])
    return cluster.client.call(cluster.endpoint(leader), request, 12)


def produce_error(cluster: Cluster, topic: str, acks: int) -> ErrorCode:
    reply = produce(cluster, topic, acks)
    assert isinstance(reply, ProduceResponse)
    return ErrorCode(reply.responses[0].partition_responses[0].error_code)


def test_acks_other_than_minus_one_zero_and_one_are_refused(cluster: Cluster) -> None:
    assert produce_error(cluster, "t", 2) is ErrorCode.INVALID_REQUIRED_ACKS
    leader = cluster.leader(TopicPartition("t", 0))
    assert leader is not None and leader.log.log_end_offset == 0


def test_an_error_closes_the_link_of_a_client_without_a_response(cluster: Cluster) -> None:
    before = cluster.simulation.world.now
    assert produce(cluster, "nowhere", 0) is None
    assert cluster.simulation.world.now - before < 1_000_000


def test_clients_do_not_write_to_internal_topics(cluster: Cluster) -> None:
    created(cluster, create(TRANSACTION_TOPIC))
    cluster.simulation.run_for(span_s=1)
    assert produce_error(cluster, TRANSACTION_TOPIC, -1) is ErrorCode.INVALID_TOPIC_EXCEPTION


def test_a_partition_count_of_a_request_is_checked_before_allocation(cluster: Cluster) -> None:
    assert created(cluster, create("big", partitions=0x7FFFFFFF)) == {"big": ErrorCode.POLICY_VIOLATION}
    half = create("x", "y", partitions=PARTITIONS_MAX // 2 + 1)
    assert set(created(cluster, half).values()) == {ErrorCode.POLICY_VIOLATION}


def test_a_topic_named_twice_is_not_created_at_all(cluster: Cluster) -> None:
    found = created(cluster, create("twice", "once", "twice"))
    assert found == {"twice": ErrorCode.INVALID_REQUEST, "once": ErrorCode.NONE}
    assert "twice" not in cluster.image.topics


def test_the_metadata_topic_and_reserved_ids_cannot_be_created(cluster: Cluster) -> None:
    assert created(cluster, create(METADATA_TOPIC)) == {METADATA_TOPIC: ErrorCode.INVALID_REQUEST}
    for reserved in (Uuid.ZERO, METADATA_TOPIC_ID):
        assert created(cluster, create("r", mirror_info=MirrorInfo(topic_id=reserved))) == {
            "r": ErrorCode.INVALID_REQUEST
        }


def test_a_registration_without_listeners_is_refused_and_leaves_no_record(cluster: Cluster) -> None:
    offset = cluster.image.offset
    request = BrokerRegistrationRequest(broker_id=9, cluster_id=cluster.cluster_id)
    reply = cluster.client.call(cluster.endpoint(CONTROLLER_ID), request, 4)
    assert isinstance(reply, BrokerRegistrationResponse)
    assert reply.error_code == ErrorCode.INVALID_REGISTRATION
    assert cluster.image.offset == offset


@pytest.mark.parametrize(("version", "closed"), [(4, True), (6, True), (7, False), (17, False)])
def test_a_controller_serves_nothing_but_its_one_partition(cluster: Cluster, version: int, closed: bool) -> None:
    topic = FetchTopic(topic_id=METADATA_TOPIC_ID if version >= 13 else Uuid.ZERO, topic="")
    reply = cluster.client.call(cluster.endpoint(CONTROLLER_ID), FetchRequest(topics=[topic]), version)
    if closed:  # These versions have no top-level error.
        assert reply is None
    else:
        assert isinstance(reply, FetchResponse) and reply.error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(("key_type", "version"), [(2, 5), (3, 6), (9, 7)])
def test_a_coordinator_type_is_unknown_to_versions_before_it(cluster: Cluster, key_type: int, version: int) -> None:
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["x"])
    reply = cluster.client.call(cluster.endpoint(1), request, version)
    assert isinstance(reply, FindCoordinatorResponse)
    assert reply.coordinators[0].error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("version", [10, 11])
def test_topics_cannot_be_requested_by_id_before_version_12(cluster: Cluster, version: int) -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=cluster.image.topics["t"].topic_id)])
    reply = cluster.client.call(cluster.endpoint(1), request, version)
    assert isinstance(reply, MetadataResponse)
    assert [row.error_code for row in reply.topics] == [ErrorCode.INVALID_REQUEST]


@pytest.mark.parametrize("port", ["\u00b2", "0", "65536", "9" * 40, "", "-1"])
def test_servers_with_an_impossible_port_are_refused(cluster: Cluster, port: str) -> None:
    servers = MirrorConfig(name="bootstrap.servers", value=f"host:{port}")
    reply = cluster.client.call(cluster.endpoint(1), CreateMirrorRequest(mirror_name="m", config=[servers]), 0)
    assert isinstance(reply, CreateMirrorResponse) and reply.error_code == ErrorCode.INVALID_CONFIG
