"""Served APIs with Cluster Mirroring and without; the coordinating broker of a mirror (D1)."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.error_response import error_response
from kmirror.errors import KafkaError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.state_records import mirror_partition
from kmirror.protocol.careful import is_within
from kmirror.protocol.gen.allocate_producer_ids_request import AllocateProducerIdsRequest
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest, LeaderEpochState, TopicState
from kmirror.protocol.gen.bump_leader_epochs_response import BumpLeaderEpochsResponse
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.headers import encode_request, encode_response
from kmirror.protocol.message import Message
from kmirror.protocol.registry import all_apis, by_key, key_of
from kmirror.protocol.structs import Struct
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from kmirror.spec.apis import ROWS, versions_disabled
from kmirror.spec.error_codes import ErrorCode
from tests.client_links import envelope_of
from tests.sim.cluster.random_requests import Generator, RawClient, read_back
from tests.sim.stage import SMALL

FOR_BOTH = {
    "CreateMirror",
    "AddTopicsToMirror",
    "RemoveTopicsFromMirror",
    "PauseMirrorTopics",
    "ResumeMirrorTopics",
    "DeleteMirror",
    "BumpLeaderEpochs",
}
FOR_BROKERS = FOR_BOTH | {"ListMirrors", "DescribeMirrors", "ReadMirrorStates", "WriteMirrorStates"}
NEW = FOR_BROKERS
BUMPED = {"Fetch": 19, "DescribeConfigs": 5, "FindCoordinator": 7, "CreateTopics": 8, "IncrementalAlterConfigs": 2}


def make(mirror_version: int) -> Cluster:
    cluster = Cluster(Simulation(1), "b", configs=SMALL, mirror_version=mirror_version)
    cluster.start()
    return cluster


def versions(cluster: Cluster, node_id: int) -> dict[str, int]:
    """Return the newest version of every API that a node serves."""
    reply = cluster.client.call(cluster.endpoint(node_id), ApiVersionsRequest(), 0)
    assert isinstance(reply, ApiVersionsResponse)
    return {by_key(row.api_key).name: row.max_version for row in reply.api_keys}


@pytest.mark.decision("D1")
def test_new_apis_and_versions_are_advertised_with_the_feature() -> None:
    cluster = make(1)
    broker, controller = versions(cluster, 1), versions(cluster, CONTROLLER_ID)
    assert set(broker) & NEW == FOR_BROKERS
    assert set(controller) & NEW == FOR_BOTH
    assert {name: broker[name] for name in BUMPED} == BUMPED


@pytest.mark.decision("D1")
def test_new_apis_and_bumps_are_hidden_without_the_feature() -> None:
    cluster = make(0)
    for node_id in (1, CONTROLLER_ID):
        told = versions(cluster, node_id)
        assert not set(told) & NEW
        for name, version in BUMPED.items():
            assert told.get(name, 0) < version


@pytest.mark.parametrize("role", ["broker", "controller"])
def test_a_node_has_a_handler_for_every_api_of_the_table_and_for_no_other(role: str) -> None:
    cluster = make(1)
    server = cluster.broker(1).parts.server if role == "broker" else cluster.controller.server
    routed = sorted(request.NAME for request in server.routes)
    assert routed == sorted(f"{row.name}Request" for row in ROWS if role in row.roles)


DISABLED = [
    (role, key, version)
    for role in ("broker", "controller")
    for key, (first, last) in versions_disabled(role, mirror=False).items()
    for version in range(first, last + 1)
]


def test_every_api_and_bump_of_the_kip_is_known_as_disabled() -> None:
    """Including all: the schemas contain the additions of KIP-1279."""
    names = {by_key(key).name for _, key, _ in DISABLED}
    assert names == NEW | set(BUMPED)
    for role in ("broker", "controller"):
        for key, versions in versions_disabled(role, mirror=False).items():
            api = by_key(key)
            assert versions == (BUMPED.get(api.name, 0), api.max_version), (role, api.name)
    assert not versions_disabled("broker", mirror=True)


@pytest.fixture(scope="module")
def without_mirroring() -> tuple[Cluster, RawClient]:
    cluster = make(0)
    return cluster, RawClient(cluster)


def errors_of(struct: Struct, version: int) -> list[tuple[str, int]]:
    """Return every error in a response, with the field's name; nested ones after their parents."""
    found: list[tuple[str, int]] = []
    for field in struct.FIELDS:
        value = getattr(struct, field.attribute)
        if field.attribute.endswith("error_code") and is_within(version, field.versions):
            found.append((field.attribute, value))
        elif field.type == "struct" and value is not None:
            for one in value if field.is_array else [value]:
                found += errors_of(one, version)
    return found


@pytest.mark.decision("D1")
@pytest.mark.parametrize(
    ("role", "key", "version"), [pytest.param(*row, id=f"{by_key(row[1]).name}-{row[0]}") for row in DISABLED]
)
def test_disabled_requests_are_refused_and_the_link_stays_open(
    role: str, key: int, version: int, without_mirroring: tuple[Cluster, RawClient]
) -> None:
    cluster, raw = without_mirroring
    endpoint = cluster.endpoint(1 if role == "broker" else CONTROLLER_ID)
    generator = Generator(Rng(key), cluster, well_meant=True)
    for _ in range(10):
        body = generator.message(by_key(key).request, version)
        answer = raw.ask(endpoint, body, version)
        assert answer is not None, "the link was closed"
        errors = errors_of(answer, version)
        asked = next((getattr(body, row.attribute) for row in body.FIELDS if row.is_array), None)
        assert {code for name, code in errors if name == "error_code"} <= {ErrorCode.UNSUPPORTED_VERSION}
        assert errors or asked == []
    assert raw.channel == 0, "every request went over the first link"


def refused(cluster: Cluster, raw: RawClient, body: Message, version: int, node_id: int = 1) -> Any:
    return raw.ask(cluster.endpoint(node_id), body, version)


@pytest.mark.decision("D1")
def test_an_error_response_names_the_requested_resources(without_mirroring: tuple[Cluster, RawClient]) -> None:
    cluster, raw = without_mirroring
    error = ErrorCode.UNSUPPORTED_VERSION
    found = refused(cluster, raw, FindCoordinatorRequest(key_type=3, coordinator_keys=["m", "n"]), 7)
    assert [(c.key, c.error_code, c.node_id) for c in found.coordinators] == [("m", error, -1), ("n", error, -1)]
    made = refused(cluster, raw, CreateTopicsRequest(topics=[CreatableTopic(name="t", num_partitions=3)]), 8)
    assert [(t.name, t.error_code, t.num_partitions) for t in made.topics] == [("t", error, -1)]
    resources = [AlterConfigsResource(resource_type=64, resource_name="m"), AlterConfigsResource(resource_type=2)]
    altered = refused(cluster, raw, IncrementalAlterConfigsRequest(resources=resources), 2)
    assert [(r.resource_type, r.resource_name, r.error_code) for r in altered.responses] == [
        (64, "m", error),
        (2, "", error),
    ]
    topics = [FetchTopic(topic_id=Uuid.from_ints(1, 2), partitions=[FetchPartition()])]
    fetched = refused(cluster, raw, FetchRequest(topics=topics), 19)
    assert (fetched.error_code, fetched.responses) == (error, [])
    bumped = refused(cluster, raw, BumpLeaderEpochsRequest(), 0, CONTROLLER_ID)
    assert bumped.error_code == error


def test_a_refusal_can_be_written_for_every_request_of_every_api(without_mirroring: tuple[Cluster, RawClient]) -> None:
    cluster, _ = without_mirroring
    for api in all_apis():
        generator = Generator(Rng(api.key), cluster, well_meant=True)
        for version in range(api.min_version, api.max_version + 1):
            body = generator.message(api.request, version)
            answer = error_response(body, version, ErrorCode.UNSUPPORTED_VERSION, "no")
            read_back(encode_response(answer, version, correlation_id=1), api.key, version)
            assert {code for _, code in errors_of(answer, version)} <= {0, ErrorCode.UNSUPPORTED_VERSION}


@pytest.mark.decision("D1")
def test_a_refused_create_mirror_has_a_reason() -> None:
    cluster = make(0)
    source = Cluster(cluster.simulation, "source", brokers=1)
    with pytest.raises(KafkaError, match=r"UNSUPPORTED_VERSION.*mirror.version=0") as caught:
        Mirror("m", source=source, destination=cluster).create()
    assert caught.value.code == ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.decision("D1")
def test_disabled_requests_in_an_envelope_are_refused(without_mirroring: tuple[Cluster, RawClient]) -> None:
    """A broker that does not know yet that the feature is off forwards the controller's error."""
    cluster, raw = without_mirroring
    inner = encode_request(CreateMirrorRequest(mirror_name="m"), 0, correlation_id=5, client_id=None)
    envelope = envelope_of(inner)
    answer = raw.ask(cluster.endpoint(CONTROLLER_ID), envelope, 0)
    assert isinstance(answer, EnvelopeResponse) and answer.error_code == 0 and answer.response_data is not None
    body = read_back(bytes(answer.response_data), key_of(CreateMirrorRequest), 0)
    assert isinstance(body, CreateMirrorResponse) and body.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_an_unknown_api_closes_the_clients_connection() -> None:
    """Like a broker that gets a request it never advertised."""
    cluster = make(1)
    raw = RawClient(cluster)
    assert raw.ask(cluster.endpoint(1), AllocateProducerIdsRequest(), 0) is None
    assert raw.ask(cluster.endpoint(1), AllocateProducerIdsRequest(), 0) is None, "only the controller gives out ids"
    assert isinstance(raw.ask(cluster.endpoint(1), ListMirrorsRequest(), 0), ListMirrorsResponse)


def test_a_broker_hands_a_bump_of_leader_epochs_to_the_controller() -> None:
    """The KIP has the request at brokers too, for clients that do not reach the controller."""
    cluster = make(1)
    cluster.create_topic("t")
    topic_id = cluster.controller.image.topics["t"].topic_id
    rows = [LeaderEpochState(partition_index=0, min_leader_epoch=9)]
    request = BumpLeaderEpochsRequest(topics=[TopicState(topic_id=topic_id, partitions=rows)])
    reply = RawClient(cluster).ask(cluster.endpoint(2), request, 0)
    assert isinstance(reply, BumpLeaderEpochsResponse)
    assert [(t.topic_name, [p.error_code for p in t.partitions]) for t in reply.topics] == [("t", [ErrorCode.NONE])]
    found = cluster.controller.image.topics.partition(TopicPartition("t", 0))
    assert found is not None and found.leader_epoch == 9


def find(cluster: Cluster, key: str, version: int = 7, key_type: int = 3) -> Coordinator | None:
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    reply = cluster.client.call(cluster.endpoint(1), request, version)
    if not isinstance(reply, FindCoordinatorResponse):
        return None
    return reply.coordinators[0]


@pytest.mark.decision("D1")
@pytest.mark.decision("D8")
def test_the_coordinator_of_a_mirror_leads_its_partition_of_the_state_topic() -> None:
    cluster = make(1)
    Mirror("m", source=Cluster(cluster.simulation, "source", brokers=1), destination=cluster).create()
    cluster.simulation.run_until(cluster.is_settled, what="the state topic")
    cluster.simulation.run_for(span_s=1)  # Every broker has received it.
    for name in ("m", "n", "another.mirror"):
        found = find(cluster, name)
        partition = cluster.image.topics["__mirror_state"].partitions[mirror_partition(name, 2)]
        assert found is not None and found.error_code == 0
        assert (found.key, found.node_id, found.host) == (name, partition.leader, f"b-{partition.leader}")


@pytest.mark.decision("D1")
def test_a_request_for_a_coordinator_creates_the_state_topic() -> None:
    cluster = make(1)
    first = find(cluster, "m")
    assert first is not None and first.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    cluster.simulation.run_until(
        lambda: (found := find(cluster, "m")) is not None and found.error_code == 0, what="a coordinator"
    )
    assert len(cluster.image.topics["__mirror_state"].partitions) == 2


def test_a_request_for_a_group_coordinator_creates_the_offsets_topic() -> None:
    cluster = make(0)
    first = find(cluster, "g", 4, key_type=0)
    assert first is not None and first.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    cluster.simulation.run_until(
        lambda: (found := find(cluster, "g", 4, key_type=0)) is not None and found.error_code == 0, what="a coordinator"
    )
    found = find(cluster, "g", 4, key_type=0)
    topic = cluster.image.topics["__consumer_offsets"]
    assert found is not None and len(topic.partitions) == 2
    assert found.node_id == topic.partitions[partition_for("g", 2)].leader


def test_coordinators_of_other_types_are_refused() -> None:
    found = find(make(1), "g", key_type=2)
    assert found is not None and found.error_code == ErrorCode.INVALID_REQUEST
