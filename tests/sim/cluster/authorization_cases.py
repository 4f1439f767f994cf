"""Authorizations of each API, and the response if all operations are denied: one row for each API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.kernel.ids import Principal
from kmirror.kernel.uuid import Uuid
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
from kmirror.protocol.gen.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest
from kmirror.protocol.gen.bump_leader_epochs_request import TopicState as BumpedTopic
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kmirror.protocol.gen.describe_cluster_request import DescribeClusterRequest
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest, LineageTopic
from kmirror.protocol.gen.describe_quorum_request import DescribeQuorumRequest
from kmirror.protocol.gen.describe_quorum_request import PartitionData as QuorumPartition
from kmirror.protocol.gen.describe_quorum_request import TopicData as QuorumTopic
from kmirror.protocol.gen.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.gen.fetch_snapshot_request import FetchSnapshotRequest
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
from kmirror.protocol.gen.pause_mirror_topics_request import PauseMirrorTopicsRequest
from kmirror.protocol.gen.pause_mirror_topics_request import TopicData as PausedTopic
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.read_mirror_states_request import ReadMirrorStatesRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import TopicData as RemovedTopic
from kmirror.protocol.gen.resume_mirror_topics_request import ResumeMirrorTopicsRequest
from kmirror.protocol.gen.resume_mirror_topics_request import TopicData as ResumedTopic
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest
from kmirror.protocol.gen.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kmirror.protocol.gen.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kmirror.protocol.gen.write_mirror_states_request import WriteMirrorStatesRequest
from kmirror.protocol.gen.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kmirror.protocol.message import Message
from kmirror.spec.acls import CLUSTER_NAME, SUPPORTED_OPERATIONS
from kmirror.spec.error_codes import ErrorCode as E
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import AclOperation as Op
from kmirror.spec.wire_values import AclResourceType as Kind
from kmirror.spec.wire_values import CoordinatorType, ResourceType
from tests.client_links import envelope_of
from tests.sim.cluster.admin_rights import OF_ADMINS
from tests.sim.stage import plain, transactional

MALLORY = Principal("User", "mallory")
HOST = "10.1.2.3"
CLUSTER = Resource(Kind.CLUSTER, CLUSTER_NAME)
CLUSTER_ACTION = (Op.CLUSTER_ACTION, CLUSTER)
BY_TYPE = "any"
"""Resource name in checks of a resource type alone."""
T, U = Resource.topic("t"), Resource.topic("u")
TX, M, G = Resource.transactional_id("tx"), Resource.mirror("m"), Resource.group("g")
PLAIN, IN_TRANSACTION = plain(0, 0, "a"), transactional(0, 0, 1, "b")
Ask = tuple[Op, Resource]


@dataclass
class Watcher:
    """Allows Mallory the operations in `allowed`, all if it is None, and others everything; records the checks."""

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
    """A request, the operations checked while all are allowed, and the error if all are denied."""

    request: Message
    version: int
    asked: Sequence[Ask]
    error: E = E.NONE
    """NONE if the response has no error; a separate test checks the response."""
    also_asked: Sequence[Ask] = ()
    """Additional checks if all operations are denied, because one of several is enough."""
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
UPDATE_FEATURES = UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey("mirror.version", 1)])
DESCRIBE_QUORUM = DescribeQuorumRequest(
    topics=[QuorumTopic(topic_name="__cluster_metadata", partitions=[QuorumPartition(partition_index=0)])]
)
BUMP = BumpLeaderEpochsRequest(topics=[BumpedTopic(topic_id=Uuid.from_ints(1, 2))])
PAUSE = PauseMirrorTopicsRequest(mirror_name="m", topics=[PausedTopic(topic_name="t")])
RESUME = ResumeMirrorTopicsRequest(mirror_name="m", topics=[ResumedTopic(topic_name="t")])
DELETE_MIRROR = DeleteMirrorRequest(mirror_name="m")
DESCRIBE_MIRRORS = DescribeMirrorsRequest(mirror_names=["m"], lineages=[LineageTopic(topic_name="t", partitions=[0])])
CREATE = CreateTopicsRequest(topics=[CreatableTopic(name="n", num_partitions=1, replication_factor=1)])
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
        [(Op.DESCRIBE, T), *((one, T) for one in SUPPORTED_OPERATIONS[Kind.TOPIC])],
        E.TOPIC_AUTHORIZATION_FAILED,
    ),
    Case(DescribeClusterRequest(), 2, []),
    Case(
        DescribeClusterRequest(include_cluster_authorized_operations=True),
        0,
        [(Op.DESCRIBE, CLUSTER), *((one, CLUSTER) for one in SUPPORTED_OPERATIONS[Kind.CLUSTER])],
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
    Case(DELETE_MIRROR, 0, [(Op.ALTER, M)], E.MIRROR_AUTHORIZATION_FAILED),
    Case(ListMirrorsRequest(), 0, [(Op.DESCRIBE, M)]),
    Case(DESCRIBE_MIRRORS, 0, [(Op.DESCRIBE, M), (Op.DESCRIBE, T)]),
    Case(
        DescribeMirrorsRequest(mirror_names=["m"], include_authorized_operations=True),
        0,
        [(Op.DESCRIBE, M), *((one, M) for one in SUPPORTED_OPERATIONS[Kind.CLUSTER_MIRROR])],
    ),
    Case(ReadMirrorStatesRequest(mirror_name="m"), 0, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED),
    Case(WriteMirrorStatesRequest(mirror_name="m"), 0, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED),
    # For forwarded requests the controller does the check.
    Case(CREATE, 7, []),
    Case(DELETE, 6, []),
    Case(ADD_PARTITIONS_TO_TOPIC, 3, []),
    Case(alter(ResourceType.TOPIC, "t"), 1, []),
    Case(CreateMirrorRequest(mirror_name="n"), 0, []),
    Case(REMOVE_FROM_MIRROR, 0, []),
    Case(UPDATE_FEATURES, 1, []),
    Case(PAUSE, 0, []),
    Case(BUMP, 0, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED),
    Case(RESUME, 0, []),
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
    Case(envelope_of(b""), 0, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"),
    Case(
        BrokerRegistrationRequest(broker_id=-1), 4, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"
    ),
    Case(BrokerHeartbeatRequest(broker_id=9), 2, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"),
    Case(DESCRIBE_QUORUM, 2, []),
    Case(DESCRIBE_QUORUM, 2, [(Op.DESCRIBE, CLUSTER)], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"),
    Case(
        AllocateProducerIdsRequest(broker_id=9), 0, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"
    ),
    Case(
        AssignReplicasToDirsRequest(broker_id=9),
        0,
        [CLUSTER_ACTION],
        E.CLUSTER_AUTHORIZATION_FAILED,
        role="controller",
    ),
    Case(FetchSnapshotRequest(), 1, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"),
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
    Case(UPDATE_FEATURES, 1, [(Op.ALTER, CLUSTER)], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"),
    Case(PAUSE, 0, [(Op.ALTER, M), (Op.READ, T)], E.MIRROR_AUTHORIZATION_FAILED, role="controller"),
    Case(RESUME, 0, [(Op.ALTER, M), (Op.READ, T)], E.MIRROR_AUTHORIZATION_FAILED, role="controller"),
    Case(DELETE_MIRROR, 0, [(Op.ALTER, M)], E.MIRROR_AUTHORIZATION_FAILED, role="controller"),
    Case(BUMP, 0, [CLUSTER_ACTION], E.CLUSTER_AUTHORIZATION_FAILED, role="controller"),
]
