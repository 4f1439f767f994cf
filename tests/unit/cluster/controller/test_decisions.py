"""Decisions of the controller: topics with the source's id, ISR changes, leader epochs, envelopes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.cluster.controller.controller import Controller, ControllerOptions
from kmirror.kernel.events import Reply, RequestReceived, Started
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.protocol.gen.alter_partition_request import AlterPartitionRequest, BrokerState, PartitionData, TopicData
from kmirror.protocol.gen.alter_partition_response import AlterPartitionResponse
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest, LeaderEpochState, TopicState
from kmirror.protocol.gen.bump_leader_epochs_response import BumpLeaderEpochsResponse
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse
from kmirror.protocol.gen.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    MirrorInfo,
)
from kmirror.protocol.gen.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import LeaderRecoveryState
from tests.client_links import envelope_of, handle_with_disk, link_opened
from tests.unit.cluster.stage import BROKER_EPOCH, RIGHTS, TOPIC_ID, TP, controller, fence

SOURCE_ID = Uuid.from_ints(77, 77)


def create(target: Controller, topic: CreatableTopic, *, validate: bool = False) -> CreatableTopicResult:
    reply = target.decide(0, CreateTopicsRequest(topics=[topic], validate_only=validate), 8, RIGHTS)
    assert isinstance(reply, CreateTopicsResponse)
    return reply.topics[0]


def mirrored(name: str = "t", **options: object) -> CreatableTopic:
    fields: dict[str, object] = {
        "num_partitions": 2,
        "replication_factor": 2,
        "mirror_info": MirrorInfo(topic_id=SOURCE_ID),
        **options,
    }
    return CreatableTopic(name=name, **fields)  # type: ignore[arg-type]


@pytest.mark.decision("D17")
@pytest.mark.kip("1279", "CreateTopics MirrorInfo")
def test_a_mirrored_topic_gets_the_id_of_the_source() -> None:
    c = controller()
    result = create(c, mirrored())
    assert (result.error_code, result.topic_id, result.num_partitions) == (0, SOURCE_ID, 2)
    assert c.image.topics.names[SOURCE_ID] == "t"
    assert all(len(p.replicas) == 2 and p.isr == p.replicas for p in c.image.topics["t"].partitions.values())


@pytest.mark.decision("D17")
def test_an_id_that_is_in_use_is_refused() -> None:
    c = controller()
    create(c, mirrored())
    result = create(c, mirrored("other"))
    assert result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert "other" not in c.image.topics


@pytest.mark.decision("D17")
def test_a_mirrored_topic_needs_every_replica_alive() -> None:
    c = controller()
    fence(c, 3)
    place = [CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 3])]
    refused = create(c, mirrored(num_partitions=-1, replication_factor=-1, assignments=place))
    assert refused.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    plain = mirrored(num_partitions=-1, replication_factor=-1, assignments=place, mirror_info=None)
    assert create(c, plain).error_code == 0, "without MirrorInfo one living replica will do"
    assert c.image.topics["t"].partitions[0].isr == (1,)


@pytest.mark.parametrize(
    ("topic", "error"),
    [
        (CreatableTopic(name="a b", num_partitions=1, replication_factor=1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (CreatableTopic(name="orders", num_partitions=1, replication_factor=1), ErrorCode.TOPIC_ALREADY_EXISTS),
        (CreatableTopic(name="t", num_partitions=0, replication_factor=1), ErrorCode.INVALID_PARTITIONS),
        (CreatableTopic(name="t", num_partitions=1, replication_factor=4), ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_refused_topics(topic: CreatableTopic, error: ErrorCode) -> None:
    c = controller(topic=(1, 2, 3))
    offset = c.image.offset
    assert create(c, topic).error_code == error
    assert c.image.offset == offset, "nothing is written"


def test_validate_only_writes_nothing() -> None:
    c = controller()
    offset = c.image.offset
    assert create(c, mirrored(), validate=True).error_code == 0
    assert c.image.offset == offset


def test_replicas_are_spread_over_the_brokers() -> None:
    c = controller()
    create(c, mirrored(num_partitions=6, replication_factor=3))
    partitions = c.image.topics["t"].partitions.values()
    assert all(sorted(p.replicas) == [1, 2, 3] for p in partitions)
    assert sorted(p.leader for p in partitions) == [1, 1, 2, 2, 3, 3]


def alter(target: Controller, isr: list[int], **options: int) -> ErrorCode:
    """Propose an ISR as the leader, broker 1, unless `options` change that; return the error."""
    broker_id = options.get("broker_id", 1)
    members = [BrokerState(broker_id=b, broker_epoch=options.get("member_epoch", BROKER_EPOCH + b)) for b in isr]
    proposal = PartitionData(
        partition_index=options.get("partition", 0),
        leader_epoch=options.get("leader_epoch", 7),
        partition_epoch=options.get("partition_epoch", 2),
        new_isr_with_epochs=members,
        leader_recovery_state=options.get("state", LeaderRecoveryState.RECOVERED),
    )
    request = AlterPartitionRequest(
        broker_id=broker_id,
        broker_epoch=options.get("broker_epoch", BROKER_EPOCH + broker_id),
        topics=[TopicData(topic_id=TOPIC_ID, partitions=[proposal])],
    )
    reply = target.decide(0, request, 3, RIGHTS)
    assert isinstance(reply, AlterPartitionResponse)
    return ErrorCode(reply.error_code or reply.topics[0].partitions[0].error_code)


def test_an_isr_change_is_confirmed_and_counted() -> None:
    c = controller(topic=(1, 2, 3))
    assert alter(c, [1, 2]) is ErrorCode.NONE
    found = c.image.topics.partition(TP)
    assert found is not None
    assert (found.isr, found.partition_epoch, found.leader_epoch) == ((1, 2), 3, 7)


def test_an_isr_that_is_already_so_changes_nothing() -> None:
    c = controller(topic=(1, 2, 3))
    offset = c.image.offset
    assert alter(c, [1, 2, 3]) is ErrorCode.NONE
    assert c.image.offset == offset


@pytest.mark.parametrize(
    ("isr", "options", "error"),
    [
        ([1, 2], {"leader_epoch": 6}, ErrorCode.FENCED_LEADER_EPOCH),
        ([1, 2], {"leader_epoch": 8}, ErrorCode.NOT_CONTROLLER),
        ([1, 2], {"partition_epoch": 3}, ErrorCode.NOT_CONTROLLER),
        ([1, 2], {"partition_epoch": 1}, ErrorCode.INVALID_UPDATE_VERSION),
        ([2, 3], {}, ErrorCode.INVALID_REQUEST),
        ([1, 2], {"broker_id": 2}, ErrorCode.INVALID_REQUEST),
        ([1, 9], {}, ErrorCode.INVALID_REQUEST),
        ([1, 2], {"member_epoch": 1}, ErrorCode.INELIGIBLE_REPLICA),
        ([1, 2], {"broker_epoch": 1}, ErrorCode.STALE_BROKER_EPOCH),
        ([1], {"state": LeaderRecoveryState.RECOVERING}, ErrorCode.INVALID_REQUEST),
        ([1, 2], {"partition": 5}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_refused_isr_changes(isr: list[int], options: dict[str, int], error: ErrorCode) -> None:
    c = controller(topic=(1, 2, 3))
    before = c.image.topics.partition(TP)
    found = alter(c, isr, **options)
    assert found is error or (error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and found is ErrorCode.UNKNOWN_TOPIC_ID)
    assert c.image.topics.partition(TP) == before


@pytest.mark.decision("D72")
def test_an_unclean_leader_recovers_with_its_first_isr_change() -> None:
    c = controller(topic=(1, 2, 3), configs={"unclean.leader.election.enable": "true"})
    for broker_id in (2, 3, 1):
        c.sessions.fence(0, broker_id, "a test")
    for broker_id in (2, 1):
        c.sessions.unfence(0, broker_id)
    found = c.image.topics.partition(TP)
    assert found is not None and (found.leader, found.isr, found.recovering) == (2, (2,), True)
    led = {"broker_id": 2, "leader_epoch": found.leader_epoch, "partition_epoch": found.partition_epoch}
    recovering = {**led, "state": LeaderRecoveryState.RECOVERING}
    assert alter(c, [2, 1], **recovering) is ErrorCode.INVALID_REQUEST
    assert alter(c, [2], **recovering) is ErrorCode.NONE and c.image.topics.partition(TP) == found
    assert alter(c, [2, 1], **led) is ErrorCode.NONE
    found = c.image.topics.partition(TP)
    assert found is not None and (found.isr, found.recovering) == ((2, 1), False)


def test_a_fenced_broker_may_not_join() -> None:
    c = controller(topic=(1, 2, 3))
    fence(c, 3)
    assert alter(c, [1, 2, 3]) is ErrorCode.INELIGIBLE_REPLICA


def bump(target: Controller, epoch: int, topic_id: Uuid = TOPIC_ID, partition: int = 0) -> ErrorCode:
    row = LeaderEpochState(partition_index=partition, min_leader_epoch=epoch)
    request = BumpLeaderEpochsRequest(topics=[TopicState(topic_id=topic_id, partitions=[row])])
    reply = target.decide(0, request, 0, RIGHTS)
    assert isinstance(reply, BumpLeaderEpochsResponse)
    assert reply.topics[0].topic_id == topic_id
    return ErrorCode(reply.topics[0].partitions[0].error_code)


@pytest.mark.decision("D14")
@pytest.mark.decision("D15")
def test_leader_epochs_are_raised_as_requested_and_never_lowered() -> None:
    c = controller(topic=(1, 2, 3))
    assert bump(c, 20) is ErrorCode.NONE
    found = c.image.topics.partition(TP)
    assert found is not None
    assert (found.leader, found.leader_epoch, found.isr, found.partition_epoch) == (1, 20, (1, 2, 3), 3)
    offset = c.image.offset
    for epoch in (20, 19, -1):
        assert bump(c, epoch) is ErrorCode.NONE, "high enough already: a success that changes nothing"
    assert c.image.offset == offset


@pytest.mark.decision("D14")
def test_a_raised_epoch_does_not_change_the_rest_of_a_partition() -> None:
    c = controller(topic=(1, 2, 3))
    change = PartitionChangeRecord(partition_id=TP.partition, topic_id=TOPIC_ID, isr=[], leader=-1)
    change.eligible_leader_replicas, change.last_known_elr = [2, 3], [1]
    change.leader_recovery_state = LeaderRecoveryState.RECOVERING
    c.commit(0, [change])
    before = c.image.topics.partition(TP)
    assert before is not None and before.recovering and before.eligible == (2, 3)
    assert bump(c, 20) is ErrorCode.NONE
    expected = replace(before, leader_epoch=20, partition_epoch=before.partition_epoch + 1)
    assert c.image.topics.partition(TP) == expected


@pytest.mark.decision("D3")
def test_bumping_a_missing_partition_is_an_error() -> None:
    c = controller(topic=(1, 2, 3))
    assert bump(c, 20, SOURCE_ID) is ErrorCode.UNKNOWN_TOPIC_ID
    assert bump(c, 20, TOPIC_ID, 5) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def send_envelope(target: Controller, frame: bytes) -> EnvelopeResponse:
    """Send an envelope with a frame; return its response."""
    envelope = envelope_of(frame)
    outer = encode_request(envelope, 0, correlation_id=5, client_id="broker-1")
    client = link_opened("broker-1")
    effects = handle_with_disk(target, 0, client) + handle_with_disk(target, 0, RequestReceived(client.link, outer))
    reply = next(effect for effect in effects if isinstance(effect, Reply))
    body = decode_response(b"".join(reply.chunks), 58, 0).body
    assert isinstance(body, EnvelopeResponse)
    return body


def create_mirror(name: str = "m", servers: str = "a:9092", **configs: str) -> CreateMirrorRequest:
    values = {"bootstrap.servers": servers, **{key.replace("_", "."): value for key, value in configs.items()}}
    return CreateMirrorRequest(
        mirror_name=name, config=[MirrorConfig(name=key, value=value) for key, value in values.items()]
    )


@pytest.mark.kip("590", "Envelope")
def test_an_envelope_contains_request_and_response_of_the_client() -> None:
    c = controller()
    answer = send_envelope(c, encode_request(create_mirror(), 0, correlation_id=99, client_id="client"))
    assert answer.error_code == 0 and answer.response_data is not None
    inner = decode_response(bytes(answer.response_data), key_of(CreateMirrorRequest), 0)
    assert inner.correlation_id == 99
    assert isinstance(inner.body, CreateMirrorResponse) and inner.body.error_code == 0


@pytest.mark.kip("590", "Envelope")
@pytest.mark.decision("D1")
@pytest.mark.parametrize("mirror_version", [0, 1])
def test_an_envelope_of_an_unserved_api_is_refused(mirror_version: int) -> None:
    c = controller(mirror_version=mirror_version)
    frame = encode_request(create_mirror(), 0, correlation_id=1, client_id="c")
    expected = ErrorCode.UNSUPPORTED_VERSION if mirror_version == 0 else ErrorCode.NONE
    answer = send_envelope(c, frame)
    assert answer.error_code == 0 and answer.response_data is not None, "the refusal is the client's to read"
    inner = decode_response(bytes(answer.response_data), key_of(CreateMirrorRequest), 0).body
    assert isinstance(inner, CreateMirrorResponse) and inner.error_code == expected
    assert ("__mirror_state" in c.image.topics) is (mirror_version == 1)
    assert send_envelope(c, frame[:11]).error_code != 0, "a torn frame is refused, not raised"


@pytest.mark.decision("D2")
@pytest.mark.decision("D7")
@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (create_mirror("m.paused"), ErrorCode.INVALID_MIRROR_NAME),
        (create_mirror("m.removed"), ErrorCode.INVALID_MIRROR_NAME),
        (create_mirror("m/x"), ErrorCode.INVALID_MIRROR_NAME),
        (create_mirror("taken"), ErrorCode.MIRROR_ALREADY_EXISTS),
        (create_mirror(servers=""), ErrorCode.INVALID_CONFIG),
        (create_mirror(servers="nowhere"), ErrorCode.INVALID_CONFIG),
        (create_mirror(no_such_key="1"), ErrorCode.INVALID_CONFIG),
        (create_mirror(source_cluster_id="x"), ErrorCode.INVALID_CONFIG),
    ],
)
def test_refused_mirrors(request_: CreateMirrorRequest, error: ErrorCode) -> None:
    c = controller()
    c.decide(0, create_mirror("taken"), 0, RIGHTS)
    offset = c.image.offset
    reply = c.decide(0, request_, 0, RIGHTS)
    assert isinstance(reply, CreateMirrorResponse)
    assert reply.error_code == error
    assert c.image.offset == offset


def alter_config(target: Controller, kind: int, name: str, key: str, value: str | None) -> ErrorCode:
    operation = 1 if value is None else 0
    config = AlterableConfig(name=key, config_operation=operation, value=value)
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=[config])
    reply: Message = target.decide(0, IncrementalAlterConfigsRequest(resources=[resource]), 2, RIGHTS)
    assert isinstance(reply, IncrementalAlterConfigsResponse)
    return ErrorCode(reply.responses[0].error_code)


@pytest.mark.decision("D7")
@pytest.mark.parametrize("value", ["m", "", None])
def test_mirror_name_cannot_be_set_or_deleted_as_a_config(value: str | None) -> None:
    c = controller(topic=(1, 2, 3))
    offset = c.image.offset
    assert alter_config(c, 2, TP.topic, "mirror.name", value) is not ErrorCode.NONE
    assert c.image.offset == offset
    assert alter_config(c, 2, TP.topic, "retention.ms", "5") is ErrorCode.NONE


@pytest.mark.decision("D16")
def test_the_source_cluster_id_is_set_once() -> None:
    c = controller()
    c.decide(0, create_mirror(), 0, RIGHTS)
    assert alter_config(c, 64, "m", "source.cluster.id", "first") is ErrorCode.NONE
    assert alter_config(c, 64, "m", "source.cluster.id", "second") is ErrorCode.INVALID_CONFIG
    assert alter_config(c, 64, "m", "source.cluster.id", None) is not ErrorCode.NONE
    assert c.image.configs[(64, "m")]["source.cluster.id"] == "first"
    assert alter_config(c, 64, "x", "bootstrap.servers", "a:1") is ErrorCode.UNKNOWN_MIRROR


def test_a_restarted_controller_replays_its_decisions() -> None:
    disk = MemoryDisk()
    bootstrap = controller(topic=(1, 2)).options.bootstrap
    options = ControllerOptions(100, "cluster", (ListenerSpec.plain(Endpoint("controller", 9093)),), {}, bootstrap)
    first = Controller(options, disk, Rng(1))
    handle_with_disk(first, 0, Started())
    first.sessions.fence(0, 1, "a test")
    second = Controller(options, disk, Rng(2))
    handle_with_disk(second, 5, Started())
    assert second.image.topics == first.image.topics
    assert second.image.brokers == first.image.brokers
    assert second.image.offset == first.image.offset
