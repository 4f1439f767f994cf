"""Authorizations of every API, and the response if all operations are denied.

The table was taken from KafkaApis and ControllerApis of Kafka 4.3.1, and from KIP-1279's two tables (D18).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from kmirror.cluster.authorizer import AllowAll, Resource
from kmirror.cluster.envelope import principal_from
from kmirror.kernel.events import Effect, InboundLink, LinkClosed, LinkOpened, Reply, RequestReceived, Send
from kmirror.kernel.ids import Endpoint, Principal, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.configs import mirror_names
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.headers import decode_request, decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.protocol.structs import Struct
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.apis import ROWS
from kmirror.spec.error_codes import ErrorCode as E
from kmirror.spec.wire_values import AclOperation as Op
from kmirror.spec.wire_values import AclResourceType as Kind
from tests.client_links import envelope_of, handle_with_disk, link_opened
from tests.sim.cluster.authorization_cases import (
    ADD_PARTITIONS,
    ADD_TO_MIRROR,
    BY_TYPE,
    CASES,
    CREATE,
    DESCRIBE_MIRRORS,
    EPOCHS,
    HOST,
    MALLORY,
    OFFSETS,
    PLAIN,
    REMOVE_FROM_MIRROR,
    TX,
    Case,
    M,
    T,
    Watcher,
    fetch,
    produce,
)
from tests.sim.stage import ONE_BROKER, TOPIC, WrittenLogs, pair, plain, values, wait_until_mirrored


def name_of(case: Case) -> str:
    return f"{case.request.NAME}-v{case.version}-{case.role}"


@pytest.fixture(scope="module")
def watched() -> Iterator[tuple[Cluster, Watcher]]:
    """A running cluster with topics `t` and `u` and mirror `m`; its world does not advance from then on."""
    watcher = Watcher()
    cluster = Cluster(Simulation(5), "a", brokers=1, configs=ONE_BROKER, authorizer=watcher)
    cluster.start()
    for name in ("t", "u"):
        cluster.create_topic(name)
    mirror = CreateMirrorRequest(mirror_name="m", config=[MirrorConfig(name="bootstrap.servers", value="nowhere:9092")])
    cluster.client.call(cluster.endpoint(1), mirror, 0)
    cluster.simulation.run_until(
        lambda: "m" in mirror_names(cluster.broker(1).context.image), what="the mirror to be known"
    )
    yield cluster, watcher


def log_end(cluster: Cluster) -> int:
    partition = cluster.leader(TopicPartition("t", 0))
    assert partition is not None
    return partition.log.log_end_offset


def ask(cluster: Cluster, case: Case) -> list[Effect]:
    """Send the request to a node as Mallory; return the immediate effects."""
    node = cluster.controller if case.role == "controller" else cluster.broker(1)
    now = cluster.simulation.world.now
    client = LinkOpened(InboundLink(("mallory", case.request.NAME)), "SASL", MALLORY, Endpoint(HOST, 4000))
    frame = encode_request(case.request, case.version, correlation_id=7, client_id=None)
    node.handle(now, client)
    effects = handle_with_disk(node, now, RequestReceived(client.link, frame))
    node.handle(now, LinkClosed(client.link))
    return effects


def answer(cluster: Cluster, request: Message, version: int, role: str = "broker") -> Any:
    """Return Mallory's immediate response."""
    effects = ask(cluster, Case(request, version, [], role=role))
    [reply] = [effect for effect in effects if isinstance(effect, Reply)]
    return decode_response(b"".join(reply.chunks), key_of(type(request)), version).body


def errors_in(answer: Struct) -> list[E]:
    """Return every error code in a response except NONE."""
    found = []
    for row in type(answer).FIELDS:
        value = getattr(answer, row.attribute)
        if row.attribute.endswith("error_code") and value:
            found.append(E(value))
        elif row.type == "struct":
            found += [error for one in (value if row.is_array else [value]) or () if one for error in errors_in(one)]
    return found


def test_every_api_that_is_served_has_its_row() -> None:
    told = {(case.request.NAME.removesuffix("Request"), case.role) for case in CASES}
    assert told == {(row.name, role) for row in ROWS for role in row.roles}


@pytest.mark.decision("D18")
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_each_api_asks_the_authorizer_for_its_operations(case: Case, watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    watcher.allowed, watcher.asked = None, []
    ask(cluster, case)
    assert watcher.asked == [(HOST, *one) for one in case.asked]


@pytest.mark.decision("D18")
@pytest.mark.parametrize("case", [case for case in CASES if case.error], ids=name_of)
def test_each_api_returns_its_error_if_all_operations_are_denied(case: Case, watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    watcher.allowed, watcher.asked = [], []
    before = cluster.controller.image.offset, log_end(cluster)
    found = errors_in(answer(cluster, case.request, case.version, case.role))
    assert found and set(found) == {case.error}
    assert {one[1:] for one in watcher.asked} <= {*case.asked, *case.also_asked}
    assert {*case.also_asked} <= {one[1:] for one in watcher.asked}
    assert (cluster.controller.image.offset, log_end(cluster)) == before, "nothing was done"


def test_one_topic_that_is_denied_does_not_harm_the_others(watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    watcher.allowed = [(Op.WRITE, T), (Op.READ, T), (Op.DESCRIBE, T)]
    for request, version in ((produce(PLAIN), 9), (fetch(), 12), (OFFSETS, 7), (EPOCHS, 4)):
        assert errors_in(answer(cluster, request, version)) == [E.TOPIC_AUTHORIZATION_FAILED], request.NAME


def test_partitions_of_a_transaction_are_added_all_or_none(watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    watcher.allowed = [(Op.WRITE, TX), (Op.WRITE, T)]
    found = errors_in(answer(cluster, ADD_PARTITIONS, 3))
    assert found == [E.OPERATION_NOT_ATTEMPTED, E.TOPIC_AUTHORIZATION_FAILED]


def test_a_producer_without_an_id_may_write_if_it_may_write_anything(watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    watcher.allowed = [(Op.WRITE, Resource.topic(BY_TYPE))]
    assert not any(
        isinstance(one, Reply) for one in ask(cluster, Case(InitProducerIdRequest(transactional_id=None), 4, []))
    )


def test_a_topic_without_describe_rights_is_not_returned(watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    watcher.allowed = [(Op.DESCRIBE, T)]
    reply = answer(cluster, MetadataRequest(topics=None), 12)
    assert [topic.name for topic in reply.topics] == ["t"]
    topic_id = cluster.image.topics["u"].topic_id
    by_id = answer(cluster, MetadataRequest(topics=[MetadataRequestTopic(topic_id=topic_id, name=None)]), 12)
    [row] = by_id.topics
    assert (row.error_code, row.name, row.topic_id) == (E.TOPIC_AUTHORIZATION_FAILED, None, topic_id)
    names = [MetadataRequestTopic(name=name) for name in ("u", "nowhere")]
    rows = answer(cluster, MetadataRequest(topics=names), 12).topics
    assert [(row.error_code, row.topic_id, row.partitions) for row in rows] == [
        (E.TOPIC_AUTHORIZATION_FAILED, Uuid.ZERO, [])
    ] * 2, "one is there, the other is not: it cannot be seen"


def test_a_topic_may_be_created_without_the_right_to_read_its_configs(watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    watcher.allowed = [(Op.CREATE, Resource.topic("new"))]
    request = CreateTopicsRequest(topics=[CreatableTopic(name="new", num_partitions=1, replication_factor=1)])
    [row] = answer(cluster, request, 7, "controller").topics
    assert (row.error_code, row.topic_config_error_code) == (E.NONE, E.TOPIC_AUTHORIZATION_FAILED)
    assert (row.num_partitions, row.replication_factor) == (-1, -1)


@pytest.mark.decision("D18")
@pytest.mark.decision("D32")
def test_a_mirror_that_may_not_be_described_is_refused_and_not_silent(watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    watcher.allowed = []
    reply = answer(cluster, DESCRIBE_MIRRORS, 0)
    assert [(row.mirror_name, row.error_code) for row in reply.mirrors] == [("m", E.MIRROR_AUTHORIZATION_FAILED)]
    [lineage] = reply.lineages[0].partitions
    assert (lineage.error_code, lineage.stretches) == (E.TOPIC_AUTHORIZATION_FAILED, [])
    assert answer(cluster, DescribeMirrorsRequest(mirror_names=["nowhere"]), 0).mirrors[0].error_code == (
        E.MIRROR_AUTHORIZATION_FAILED
    ), "whether a mirror exists cannot be seen"
    assert answer(cluster, DescribeMirrorsRequest(mirror_names=None), 0).mirrors == []
    assert answer(cluster, ListMirrorsRequest(), 0).mirrors == []


def test_topics_of_a_mirror_must_be_readable(watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    watcher.allowed = [(Op.ALTER, M)]
    for request in (ADD_TO_MIRROR, REMOVE_FROM_MIRROR):
        found = errors_in(answer(cluster, request, 0, "controller"))
        assert found and set(found) == {E.TOPIC_AUTHORIZATION_FAILED}


@pytest.mark.kip("590", "Envelope")
def test_a_request_in_an_envelope_is_authorized_for_the_client(watched: tuple[Cluster, Watcher]) -> None:
    """A broker may forward requests; that gives its clients no additional rights."""
    cluster, watcher = watched
    watcher.allowed, watcher.asked = [], []
    [sent] = [effect for effect in ask(cluster, Case(CREATE, 7, [])) if isinstance(effect, Send)]
    assert watcher.asked == []
    envelope = decode_request(b"".join(sent.chunks)).body
    reply = as_broker(cluster, envelope)
    assert {one[0] for one in watcher.asked} == {HOST}
    inner = decode_response(bytes(reply.response_data or b""), key_of(CreateTopicsRequest), 7).body
    assert errors_in(inner) == [E.TOPIC_AUTHORIZATION_FAILED]
    bump = encode_request(BumpLeaderEpochsRequest(), 0, correlation_id=1, client_id=None)
    reply = as_broker(cluster, envelope_of(bump, MALLORY, HOST))
    inner = decode_response(bytes(reply.response_data or b""), key_of(BumpLeaderEpochsRequest), 0).body
    assert errors_in(inner) == [E.CLUSTER_AUTHORIZATION_FAILED]


def test_an_envelope_without_a_valid_client_is_refused(watched: tuple[Cluster, Watcher]) -> None:
    cluster, _ = watched
    frame = encode_request(CREATE, 7, correlation_id=1, client_id=None)
    for principal in (b"", b"\0", b"\0\1", b"\0\0", None):
        broken = EnvelopeRequest(request_data=frame, request_principal=principal, client_host_address=b"\x7f\0\0\1")
        assert as_broker(cluster, broken).error_code == E.PRINCIPAL_DESERIALIZATION_FAILURE
    broken = envelope_of(frame)
    broken.client_host_address = b"\x7f\0\0"
    assert as_broker(cluster, broken).error_code == E.INVALID_REQUEST


def as_broker(cluster: Cluster, envelope: Message) -> EnvelopeResponse:
    """Return the controller's response to a broker's envelope."""
    client, now = link_opened("broker"), cluster.simulation.world.now
    frame = encode_request(envelope, 0, correlation_id=7, client_id=None)
    cluster.controller.handle(now, client)
    effects = handle_with_disk(cluster.controller, now, RequestReceived(client.link, frame))
    [reply] = [effect for effect in effects if isinstance(effect, Reply)]
    body = decode_response(b"".join(reply.chunks), key_of(EnvelopeRequest), 0).body
    assert isinstance(body, EnvelopeResponse)
    return body


@dataclass
class Secretive(AllowAll):
    """While it is active, denies every description of mirrors, or, unless `always`, every second one."""

    always: bool
    active: bool = False
    turns: int = 0

    def authorize(self, principal: Principal, host: str, operation: Op, resource: Resource) -> bool:
        if not self.active or (operation, resource.type) != (Op.DESCRIBE, Kind.CLUSTER_MIRROR):
            return True
        self.turns += 1
        return not self.always and self.turns % 2 == 1


@pytest.mark.decision("D18")
@pytest.mark.decision("D32")
@pytest.mark.parametrize(("always", "reason"), [(True, "MIRROR_AUTHORIZATION_FAILED"), (False, "does not list it")])
def test_a_failback_to_a_source_without_rights_waits_and_truncates_nothing(always: bool, reason: str) -> None:
    authorizer = Secretive(always)
    p = pair(brokers=1, logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}), b_authorizer=authorizer)
    p.begin()
    p.fail_over()
    p.b.write("on b")
    p.a.write("only on a")
    before = values(p.a.log())
    authorizer.active = True
    p.back.create()
    p.back.add_topics([TOPIC])
    p.run_until(lambda: reason in p.a.reason(), "the reason to be told")
    p.hold(10, lambda: values(p.a.log()) == before, "nothing is cut")
    authorizer.active = False
    wait_until_mirrored(p.back)
    assert p.cuts_of(p.a) == [(2, 3)]


def test_deleting_a_topic_needs_delete_rights_and_naming_it_describe_rights(
    watched: tuple[Cluster, Watcher],
) -> None:
    cluster, watcher = watched
    ids = {name: cluster.image.topics[name].topic_id for name in ("t", "u")}

    def errors(*states: DeleteTopicState) -> list[tuple[str | None, Uuid, E]]:
        rows = answer(cluster, DeleteTopicsRequest(topics=list(states)), 6, role="controller").responses
        return [(row.name, row.topic_id, E(row.error_code)) for row in rows]

    watcher.allowed = []
    hidden = E.TOPIC_AUTHORIZATION_FAILED
    assert errors(DeleteTopicState(name="t"), DeleteTopicState(name="nowhere")) == [
        ("t", Uuid.ZERO, hidden),
        ("nowhere", Uuid.ZERO, hidden),
    ], "one is there, the other is not: it cannot be seen"
    assert errors(DeleteTopicState(name=None, topic_id=ids["t"])) == [(None, ids["t"], hidden)]
    watcher.allowed = [(Op.DESCRIBE, T), (Op.DESCRIBE, Resource.topic("nowhere"))]
    assert errors(DeleteTopicState(name="t"), DeleteTopicState(name="nowhere")) == [
        ("t", Uuid.ZERO, hidden),
        ("nowhere", Uuid.ZERO, E.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert errors(DeleteTopicState(name=None, topic_id=ids["t"])) == [("t", ids["t"], hidden)]
    both = [DeleteTopicState(name="t"), DeleteTopicState(name=None, topic_id=ids["t"])]
    assert errors(*both) == [("t", Uuid.ZERO, hidden), ("t", ids["t"], hidden)], "that they are one is not told"


def test_auto_creation_uses_the_rights_of_the_client(watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    names = [Resource.topic(name) for name in ("new", "newer", "other")]
    described = [(Op.DESCRIBE, name) for name in names[:2]]
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name.name) for name in names])
    watcher.allowed = [*described, (Op.CREATE, names[0])]
    effects = ask(cluster, Case(request, 12, []))
    [reply] = [effect for effect in effects if isinstance(effect, Reply)]
    rows = decode_response(b"".join(reply.chunks), key_of(MetadataRequest), 12).body
    assert isinstance(rows, MetadataResponse)
    assert [(row.name, row.error_code) for row in rows.topics] == [
        ("new", E.UNKNOWN_TOPIC_OR_PARTITION),
        ("newer", E.TOPIC_AUTHORIZATION_FAILED),
        ("other", E.TOPIC_AUTHORIZATION_FAILED),
    ]
    [sent] = [effect for effect in effects if isinstance(effect, Send)]
    order = decode_request(b"".join(sent.chunks)).body
    assert isinstance(order, EnvelopeRequest) and principal_from(order.request_principal) == MALLORY
    inner = decode_request(bytes(order.request_data)).body
    assert isinstance(inner, CreateTopicsRequest) and [topic.name for topic in inner.topics] == ["new"]
