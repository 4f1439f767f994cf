"""What every API asks of the authorizer, and what it answers whoever may do nothing.

The table is read off KafkaApis and ControllerApis of Kafka 4.3.1, and off KIP-1279's two tables (D18).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from kmirror.cluster.authorizer import AllowAll, Resource
from kmirror.cluster.envelope import principal_from
from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.kernel.events import Effect, InboundLink, LinkClosed, LinkOpened, Reply, RequestReceived, Send
from kmirror.kernel.ids import Endpoint, Principal, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.configs import mirror_names
from kmirror.protocol.gen.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kmirror.protocol.gen.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.add_topics_to_mirror_request import TopicData as AddedTopic
from kmirror.protocol.gen.allocate_producer_ids_request import AllocateProducerIdsRequest
from kmirror.protocol.gen.alter_partition_request import AlterPartitionRequest
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest
from kmirror.protocol.gen.bump_leader_epochs_request import TopicState as BumpedTopic
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kmirror.protocol.gen.describe_cluster_request import DescribeClusterRequest
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest, LineageTopic
from kmirror.protocol.gen.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.incremental_alter_configs_request import AlterConfigsResource, IncrementalAlterConfigsRequest
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.join_group_request import JoinGroupRequest
from kmirror.protocol.gen.leave_group_request import LeaveGroupRequest
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kmirror.protocol.gen.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kmirror.protocol.gen.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kmirror.protocol.gen.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.read_mirror_states_request import ReadMirrorStatesRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import TopicData as RemovedTopic
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest
from kmirror.protocol.gen.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kmirror.protocol.gen.write_mirror_states_request import WriteMirrorStatesRequest
from kmirror.protocol.gen.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kmirror.protocol.headers import decode_request, decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.protocol.structs import Struct
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.acls import CLUSTER_NAME, SUPPORTED
from kmirror.spec.apis import ROWS
from kmirror.spec.error_codes import ErrorCode as E
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import AclOperation as Op
from kmirror.spec.wire_values import AclResourceType as Kind
from kmirror.spec.wire_values import CoordinatorType, ResourceType
from tests.links import handled, opened, wrapped
from tests.sim.admin_rights import OF_ADMINS
from tests.sim.stage import ONE_BROKER, TOPIC, WrittenLogs, mirrored, pair, plain, transactional, values

MALLORY = Principal("User", "mallory")
HOST = "10.1.2.3"
CLUSTER = Resource(Kind.CLUSTER, CLUSTER_NAME)
CLUSTER_ACTION = (Op.CLUSTER_ACTION, CLUSTER)
BY_TYPE = "any"
"""Stands for the name of a resource where only its type was asked about."""
T, U = Resource.topic("t"), Resource.topic("u")
TX, M, G = Resource.transactional_id("tx"), Resource.mirror("m"), Resource.group("g")
PLAIN, IN_TRANSACTION = plain(0, 0, "a"), transactional(0, 0, 1, "b")
Ask = tuple[Op, Resource]


@dataclass
class Watcher:
    """Allows Mallory what is in `allowed`, or all if that is None, and everybody else all; notes what is asked."""

    allowed: Sequence[Ask] | None = None
    asked: list[tuple[str, Op, Resource]] = field(default_factory=list)

    def authorize(self, principal: Principal, host: str, operation: Op, resource: Resource) -> bool:
        if principal != MALLORY:
            return True
        self.asked.append((host, operation, resource))
        return self.allowed is None or (operation, resource) in self.allowed

    def authorize_by_resource_type(self, principal: Principal, host: str, operation: Op, resource_type: Kind) -> bool:
        return self.authorize(principal, host, operation, Resource(resource_type, BY_TYPE))


@dataclass(frozen=True)
class Case:
    """A request, what is asked while everything is allowed, and the error of whoever may do nothing."""

    request: Message
    version: int
    asked: Sequence[Ask]
    error: E = E.NONE
    """NONE where no error is the answer; a test of its own says what is."""
    also_asked: Sequence[Ask] = ()
    """What else is asked of whoever may do nothing, because one of several things is enough."""
    role: str = "broker"


def produce(records: bytes, transactional_id: str | None = None) -> ProduceRequest:
    topics = [
        TopicProduceData(name=name, partition_data=[PartitionProduceData(index=0, records=records)])
        for name in ("t", "u")
    ]
    return ProduceRequest(acks=1, timeout_ms=10, transactional_id=transactional_id, topic_data=topics)


def fetch(replica_id: int = -1) -> FetchRequest:
    topics = [FetchTopic(topic=name, partitions=[FetchPartition(partition=0)]) for name in ("t", "u")]
    return FetchRequest(replica_id=replica_id, topics=topics, max_wait_ms=0)


def alter(kind: ResourceType, name: str) -> IncrementalAlterConfigsRequest:
    return IncrementalAlterConfigsRequest(resources=[AlterConfigsResource(resource_type=kind, resource_name=name)])


METADATA_FETCH = FetchRequest(
    replica_state=ReplicaState(replica_id=1),
    topics=[FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[FetchPartition(partition=0)])],
)
OFFSETS = ListOffsetsRequest(
    topics=[ListOffsetsTopic(name=name, partitions=[ListOffsetsPartition(partition_index=0)]) for name in ("t", "u")]
)
EPOCHS = OffsetForLeaderEpochRequest(
    topics=[OffsetForLeaderTopic(topic=name, partitions=[OffsetForLeaderPartition(partition=0)]) for name in ("t", "u")]
)
ADD_PARTITIONS = AddPartitionsToTxnRequest(
    v3_and_below_transactional_id="tx",
    v3_and_below_topics=[AddPartitionsToTxnTopic(name=name, partitions=[0]) for name in ("t", "u")],
)
VERIFY = AddPartitionsToTxnRequest(
    transactions=[AddPartitionsToTxnTransaction(transactional_id="tx", verify_only=True)]
)
MARKERS = WriteTxnMarkersRequest(
    markers=[WritableTxnMarker(topics=[WritableTxnMarkerTopic(name="nowhere", partition_indexes=[0])])]
)
ADD_TO_MIRROR = AddTopicsToMirrorRequest(
    mirror_name="m", topics=[AddedTopic(topic_name="t"), AddedTopic(topic_name="u")]
)
REMOVE_FROM_MIRROR = RemoveTopicsFromMirrorRequest(mirror_name="m", topics=[RemovedTopic(topic_name="t")])
DESCRIBE_MIRRORS = DescribeMirrorsRequest(mirror_names=["m"], lineages=[LineageTopic(topic_name="t", partitions=[0])])
CREATE = CreateTopicsRequest(topics=[CreatableTopic(name="n", num_partitions=1, replication_factor=1)])
NOWHERE = Resource.topic("nowhere")
DELETE = DeleteTopicsRequest(topics=[DeleteTopicState(name="nowhere")])
ADD_PARTITIONS_TO_TOPIC = CreatePartitionsRequest(
    topics=[CreatePartitionsTopic(name="t", count=2, assignments=None)], validate_only=True
)
COMMIT = OffsetCommitRequest(
    group_id="g",
    topics=[
        OffsetCommitRequestTopic(name=name, partitions=[OffsetCommitRequestPartition(partition_index=0)])
        for name in ("t", "u")
    ],
)
COMMIT_IN_TXN = TxnOffsetCommitRequest(
    transactional_id="tx",
    group_id="g",
    topics=[
        TxnOffsetCommitRequestTopic(name=name, partitions=[TxnOffsetCommitRequestPartition(partition_index=0)])
        for name in ("t", "u")
    ],
)
FETCH_OFFSETS = OffsetFetchRequest(
    groups=[
        OffsetFetchRequestGroup(
            group_id="g", topics=[OffsetFetchRequestTopics(name=name, partition_indexes=[0]) for name in ("t", "u")]
        )
    ]
)
DELETE_OFFSETS = OffsetDeleteRequest(
    group_id="g",
    topics=[
        OffsetDeleteRequestTopic(name=name, partitions=[OffsetDeleteRequestPartition(partition_index=0)])
        for name in ("t", "u")
    ],
)
READ_T_AND_U = [(Op.READ, T), (Op.READ, U)]
NOWHERE = Resource.topic("nowhere")
DELETE = DeleteTopicsRequest(topics=[DeleteTopicState(name="nowhere")])
ADD_PARTITIONS_TO_TOPIC = CreatePartitionsRequest(
    topics=[CreatePartitionsTopic(name="t", count=2, assignments=None)], validate_only=True
)
WRITE_T_AND_U = [(Op.WRITE, T), (Op.WRITE, U)]
DESCRIBE_T_AND_U = [(Op.DESCRIBE, T), (Op.DESCRIBE, U)]

CASES = [
    *(Case(*row) for row in OF_ADMINS),
    Case(produce(PLAIN), 9, WRITE_T_AND_U, E.TOPIC_AUTHORIZATION_FAILED),
    Case(produce(IN_TRANSACTION, "tx"), 9, [(Op.WRITE, TX), *WRITE_T_AND_U], E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    Case(fetch(), 12, [(Op.READ, T), (Op.READ, U)], E.TOPIC_AUTHORIZATION_FAILED),
    Case(fetch(replica_id=2), 12, [CLUSTER_ACTION], E.TOPIC_AUTHORIZATION_FAILED),
    Case(OFFSETS, 7, DESCRIBE_T_AND_U, E.TOPIC_AUTHORIZATION_FAILED),
    Case(
        MetadataRequest(topics=[MetadataRequestTopic(name="t"), MetadataRequestTopic(name="nowhere")]),
        9,
        [(Op.DESCRIBE, T), (Op.DESCRIBE, Resource.topic("nowhere")), (Op.CREATE, CLUSTER)],
        E.TOPIC_AUTHORIZATION_FAILED,
    ),
    Case(
        DescribeTopicPartitionsRequest(topics=[TopicRequest(name="t")]),
        0,
        [(Op.DESCRIBE, T), *((one, T) for one in SUPPORTED[Kind.TOPIC])],
        E.TOPIC_AUTHORIZATION_FAILED,
    ),
    Case(DescribeClusterRequest(), 2, []),
    Case(
        DescribeClusterRequest(include_cluster_authorized_operations=True),
        0,
        [(Op.DESCRIBE, CLUSTER), *((one, CLUSTER) for one in SUPPORTED[Kind.CLUSTER])],
    ),
    Case(MetadataRequest(topics=None), 9, [*DESCRIBE_T_AND_U, (Op.DESCRIBE, Resource.topic(MIRROR_STATE_TOPIC))]),
    Case(
        FindCoordinatorRequest(key_type=CoordinatorType.GROUP, coordinator_keys=["g"]),
        4,
        [(Op.DESCRIBE, Resource(Kind.GROUP, "g"))],
        E.GROUP_AUTHORIZATION_FAILED,
    ),
    Case(
        FindCoordinatorRequest(key_type=CoordinatorType.TRANSACTION, coordinator_keys=["tx"]),
        4,
        [(Op.DESCRIBE, TX)],
        E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ),
    Case(
        FindCoordinatorRequest(key_type=CoordinatorType.MIRROR, coordinator_keys=["m"]),
        7,
        [CLUSTER_ACTION],
        E.CLUSTER_AUTHORIZATION_FAILED,
    ),
    Case(JoinGroupRequest(group_id="g", session_timeout_ms=10_000), 9, [(Op.READ, G)], E.GROUP_AUTHORIZATION_FAILED),
    Case(
        SyncGroupRequest(group_id="g", protocol_type="consumer", protocol_name="range"),
        5,
        [(Op.READ, G)],
        E.GROUP_AUTHORIZATION_FAILED,
    ),
    Case(HeartbeatRequest(group_id="g"), 4, [(Op.READ, G)], E.GROUP_AUTHORIZATION_FAILED),
    Case(LeaveGroupRequest(group_id="g"), 5, [(Op.READ, G)], E.GROUP_AUTHORIZATION_FAILED),
    Case(DescribeGroupsRequest(groups=["g"]), 5, [(Op.DESCRIBE, G)], E.GROUP_AUTHORIZATION_FAILED),
    Case(ListGroupsRequest(), 5, [(Op.DESCRIBE, CLUSTER)]),
    Case(DeleteGroupsRequest(groups_names=["g"]), 2, [(Op.DELETE, G)], E.GROUP_AUTHORIZATION_FAILED),
    Case(ApiVersionsRequest(), 3, []),
    Case(InitProducerIdRequest(transactional_id="tx"), 4, [(Op.WRITE, TX)], E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    Case(
        InitProducerIdRequest(transactional_id=None),
        4,
        [(Op.IDEMPOTENT_WRITE, CLUSTER)],
        E.CLUSTER_AUTHORIZATION_FAILED,
        also_asked=[(Op.WRITE, Resource.topic(BY_TYPE))],
    ),
    Case(EPOCHS, 4, [CLUSTER_ACTION], E.TOPIC_AUTHORIZATION_FAILED, also_asked=DESCRIBE_T_AND_U),
    Case(ADD_PARTITIONS, 3, [(Op.WRITE, TX), *WRITE_T_AND_U], E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    Case(VERIFY, 4, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED),
    Case(EndTxnRequest(transactional_id="tx"), 3, [(Op.WRITE, TX)], E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    Case(COMMIT, 9, [(Op.READ, G), *READ_T_AND_U], E.GROUP_AUTHORIZATION_FAILED),
    Case(FETCH_OFFSETS, 9, [(Op.DESCRIBE, G), *DESCRIBE_T_AND_U], E.GROUP_AUTHORIZATION_FAILED),
    Case(DELETE_OFFSETS, 0, [(Op.DELETE, G), *READ_T_AND_U], E.GROUP_AUTHORIZATION_FAILED),
    Case(
        AddOffsetsToTxnRequest(transactional_id="tx", group_id="g"),
        3,
        [(Op.WRITE, TX), (Op.READ, G)],
        E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ),
    Case(COMMIT_IN_TXN, 3, [(Op.WRITE, TX), (Op.READ, G), *READ_T_AND_U], E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    Case(MARKERS, 1, [(Op.ALTER, CLUSTER)], E.CLUSTER_AUTHORIZATION_FAILED, also_asked=[CLUSTER_ACTION]),
    Case(ADD_TO_MIRROR, 0, [(Op.ALTER, M)], E.MIRROR_AUTHORIZATION_FAILED),
    Case(ListMirrorsRequest(), 0, [(Op.DESCRIBE, M)]),
    Case(DESCRIBE_MIRRORS, 0, [(Op.DESCRIBE, M), (Op.DESCRIBE, T)]),
    Case(ReadMirrorStatesRequest(mirror_name="m"), 0, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED),
    Case(WriteMirrorStatesRequest(mirror_name="m"), 0, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED),
    # What a broker passes on is the controller's to ask about.
    Case(CREATE, 7, []),
    Case(DELETE, 6, []),
    Case(ADD_PARTITIONS_TO_TOPIC, 3, []),
    Case(alter(ResourceType.TOPIC, "t"), 1, []),
    Case(CreateMirrorRequest(mirror_name="n"), 0, []),
    Case(REMOVE_FROM_MIRROR, 0, []),
    Case(ApiVersionsRequest(), 3, [], role="controller"),
    Case(METADATA_FETCH, 17, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"),
    Case(
        CREATE,
        7,
        [(Op.CREATE, CLUSTER), (Op.DESCRIBE_CONFIGS, Resource.topic("n"))],
        E.TOPIC_AUTHORIZATION_FAILED,
        also_asked=[(Op.CREATE, Resource.topic("n"))],
        role="controller",
    ),
    Case(
        DELETE,
        6,
        [(Op.DELETE, CLUSTER)],
        E.TOPIC_AUTHORIZATION_FAILED,
        also_asked=[(Op.DESCRIBE, NOWHERE), (Op.DELETE, NOWHERE)],
        role="controller",
    ),
    Case(ADD_PARTITIONS_TO_TOPIC, 3, [(Op.ALTER, T)], E.TOPIC_AUTHORIZATION_FAILED, role="controller"),
    Case(alter(ResourceType.TOPIC, "t"), 1, [(Op.ALTER_CONFIGS, T)], E.TOPIC_AUTHORIZATION_FAILED, role="controller"),
    Case(
        alter(ResourceType.BROKER, "1"),
        1,
        [(Op.ALTER_CONFIGS, CLUSTER)],
        E.CLUSTER_AUTHORIZATION_FAILED,
        role="controller",
    ),
    Case(alter(ResourceType.MIRROR, "m"), 2, [(Op.ALTER_CONFIGS, M)], E.MIRROR_AUTHORIZATION_FAILED, role="controller"),
    Case(AlterPartitionRequest(), 3, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"),
    Case(wrapped(b""), 0, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"),
    Case(
        BrokerRegistrationRequest(broker_id=-1), 4, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"
    ),
    Case(BrokerHeartbeatRequest(broker_id=9), 2, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"),
    Case(
        AllocateProducerIdsRequest(broker_id=9), 0, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"
    ),
    Case(
        CreateMirrorRequest(mirror_name="n"),
        0,
        [(Op.CREATE, Resource.mirror("n"))],
        E.MIRROR_AUTHORIZATION_FAILED,
        role="controller",
    ),
    Case(
        ADD_TO_MIRROR,
        0,
        [(Op.ALTER, M), (Op.READ, T), (Op.READ, U)],
        E.MIRROR_AUTHORIZATION_FAILED,
        role="controller",
    ),
    Case(REMOVE_FROM_MIRROR, 0, [(Op.ALTER, M), (Op.READ, T)], E.MIRROR_AUTHORIZATION_FAILED, role="controller"),
    Case(
        BumpLeaderEpochsRequest(topics=[BumpedTopic(topic_id=Uuid.from_ints(1, 2))]),
        0,
        [CLUSTER_ACTION],
        E.CLUSTER_AUTHORIZATION_FAILED,
        role="controller",
    ),
]


def named(case: Case) -> str:
    return f"{case.request.NAME}-v{case.version}-{case.role}"


@pytest.fixture(scope="module")
def watched() -> Iterator[tuple[Cluster, Watcher]]:
    """A running cluster with topics `t` and `u` and mirror `m`; its world stands still from then on."""
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
    """Send the request to a node as Mallory; returns what follows from it at once."""
    node = cluster.controller if case.role == "controller" else cluster.broker(1)
    now = cluster.simulation.world.now
    client = LinkOpened(InboundLink(("mallory", case.request.NAME)), "SASL", MALLORY, Endpoint(HOST, 4000))
    frame = encode_request(case.request, case.version, correlation_id=7, client_id=None)
    node.handle(now, client)
    effects = handled(node, now, RequestReceived(client.link, frame))
    node.handle(now, LinkClosed(client.link))
    return effects


def answer(cluster: Cluster, request: Message, version: int, role: str = "broker") -> Any:
    """Return the answer that Mallory gets at once."""
    effects = ask(cluster, Case(request, version, [], role=role))
    [reply] = [effect for effect in effects if isinstance(effect, Reply)]
    return decode_response(b"".join(reply.chunks), key_of(type(request)), version).body


def errors_in(answer: Struct) -> list[E]:
    """Return every error code that an answer has room for and says."""
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
@pytest.mark.parametrize("case", CASES, ids=named)
def test_what_an_api_asks_of_the_authorizer(case: Case, watched: tuple[Cluster, Watcher]) -> None:
    cluster, watcher = watched
    watcher.allowed, watcher.asked = None, []
    ask(cluster, case)
    assert watcher.asked == [(HOST, *one) for one in case.asked]


@pytest.mark.decision("D18")
@pytest.mark.parametrize("case", [case for case in CASES if case.error], ids=named)
def test_what_an_api_answers_whoever_may_do_nothing(case: Case, watched: tuple[Cluster, Watcher]) -> None:
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


def test_a_topic_that_may_not_be_described_is_not_told_of(watched: tuple[Cluster, Watcher]) -> None:
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


def test_a_topic_may_be_created_by_whoever_may_not_read_its_configs(watched: tuple[Cluster, Watcher]) -> None:
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
def test_what_comes_in_an_envelope_is_asked_about_as_the_clients_own(watched: tuple[Cluster, Watcher]) -> None:
    """A broker may pass requests on; that gives its clients no right of its own."""
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
    reply = as_broker(cluster, wrapped(bump, MALLORY, HOST))
    inner = decode_response(bytes(reply.response_data or b""), key_of(BumpLeaderEpochsRequest), 0).body
    assert errors_in(inner) == [E.CLUSTER_AUTHORIZATION_FAILED]


def test_an_envelope_says_who_its_client_is_or_is_refused(watched: tuple[Cluster, Watcher]) -> None:
    cluster, _ = watched
    frame = encode_request(CREATE, 7, correlation_id=1, client_id=None)
    for principal in (b"", b"\0", b"\0\1", b"\0\0", None):
        broken = EnvelopeRequest(request_data=frame, request_principal=principal, client_host_address=b"\x7f\0\0\1")
        assert as_broker(cluster, broken).error_code == E.PRINCIPAL_DESERIALIZATION_FAILURE
    broken = wrapped(frame)
    broken.client_host_address = b"\x7f\0\0"
    assert as_broker(cluster, broken).error_code == E.INVALID_REQUEST


def as_broker(cluster: Cluster, envelope: Message) -> EnvelopeResponse:
    """Return the controller's answer to a broker's envelope."""
    client, now = opened("broker"), cluster.simulation.world.now
    frame = encode_request(envelope, 0, correlation_id=7, client_id=None)
    cluster.controller.handle(now, client)
    effects = handled(cluster.controller, now, RequestReceived(client.link, frame))
    [reply] = [effect for effect in effects if isinstance(effect, Reply)]
    body = decode_response(b"".join(reply.chunks), key_of(EnvelopeRequest), 0).body
    assert isinstance(body, EnvelopeResponse)
    return body


@dataclass
class Secretive(AllowAll):
    """While it is active, lets nobody describe a mirror, or, unless `always`, refuses that every second time."""

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
def test_a_failback_to_a_source_that_tells_nothing_waits_and_cuts_nothing(always: bool, reason: str) -> None:
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
    mirrored(p.back)
    assert p.cuts_of(p.a) == [(2, 3)]


def test_a_topic_is_deleted_by_whoever_may_delete_it_and_named_to_whoever_may_describe_it(
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


def test_asking_creates_topics_in_the_name_of_the_client(watched: tuple[Cluster, Watcher]) -> None:
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
