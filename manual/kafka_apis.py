"""APIs of a Kafka 4.3.1 broker, and the reasons why some of them are missing here.

The rows are those of its ApiVersions response, in the same order; an interop test compares them with a real broker.
`kmirror/spec/apis.py` has the APIs that kmirror serves.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KafkaApi:
    """One API, and the versions that a Kafka broker reports."""

    name: str
    first: int
    last: int
    omission_reason: str = ""
    """Reason why kmirror lacks the API; empty if it is served or planned."""


_SECURITY = (
    "Security: listeners are PLAINTEXT, and no request alters an ACL. With `authorizer.class.name` brokers obey the "
    "ACLs of the metadata log, and a program that embeds a cluster can pass its own authorizer"
)
_QUOTAS = "Client quotas: not implemented"
_QUORUM = "Changes of the quorum: there is one controller, so there are no voters to add or remove"
_MOVES = "Moves of replicas and leaders: replicas stay on their brokers, and the controller elects leaders by itself"
_GROUPS = "Groups of KIP-848: not implemented; consumers use the classic protocol"
_SHARE = "Share groups (KIP-932): not implemented"
_STREAMS = "Streams groups (KIP-1071): not implemented; Kafka Streams uses the classic protocol"
_RESOURCES = "Configs of groups and client metrics: not implemented; DescribeConfigs has all other resources"

ROWS: tuple[KafkaApi, ...] = (
    KafkaApi("Produce", 0, 13),
    KafkaApi("Fetch", 4, 18),
    KafkaApi("ListOffsets", 1, 11),
    KafkaApi("Metadata", 0, 13),
    KafkaApi("OffsetCommit", 2, 10),
    KafkaApi("OffsetFetch", 1, 10),
    KafkaApi("FindCoordinator", 0, 6),
    KafkaApi("JoinGroup", 0, 9),
    KafkaApi("Heartbeat", 0, 4),
    KafkaApi("LeaveGroup", 0, 5),
    KafkaApi("SyncGroup", 0, 5),
    KafkaApi("DescribeGroups", 0, 6),
    KafkaApi("ListGroups", 0, 5),
    KafkaApi("SaslHandshake", 0, 1, _SECURITY),
    KafkaApi("ApiVersions", 0, 4),
    KafkaApi("CreateTopics", 2, 7),
    KafkaApi("DeleteTopics", 1, 6),
    KafkaApi("DeleteRecords", 0, 2),
    KafkaApi("InitProducerId", 0, 5),
    KafkaApi("OffsetForLeaderEpoch", 2, 4),
    KafkaApi("AddPartitionsToTxn", 0, 5),
    KafkaApi("AddOffsetsToTxn", 0, 4),
    KafkaApi("EndTxn", 0, 5),
    KafkaApi("WriteTxnMarkers", 1, 2),
    KafkaApi("TxnOffsetCommit", 0, 5),
    KafkaApi("DescribeAcls", 1, 3, _SECURITY),
    KafkaApi("CreateAcls", 1, 3, _SECURITY),
    KafkaApi("DeleteAcls", 1, 3, _SECURITY),
    KafkaApi("DescribeConfigs", 1, 4),
    KafkaApi("AlterConfigs", 0, 2),
    KafkaApi("AlterReplicaLogDirs", 1, 2, _MOVES),
    KafkaApi("DescribeLogDirs", 1, 5),
    KafkaApi("SaslAuthenticate", 0, 2, _SECURITY),
    KafkaApi("CreatePartitions", 0, 3),
    KafkaApi("CreateDelegationToken", 1, 3, _SECURITY),
    KafkaApi("RenewDelegationToken", 1, 2, _SECURITY),
    KafkaApi("ExpireDelegationToken", 1, 2, _SECURITY),
    KafkaApi("DescribeDelegationToken", 1, 3, _SECURITY),
    KafkaApi("DeleteGroups", 0, 2),
    KafkaApi("ElectLeaders", 0, 2, _MOVES),
    KafkaApi("IncrementalAlterConfigs", 0, 1),
    KafkaApi("AlterPartitionReassignments", 0, 1, _MOVES),
    KafkaApi("ListPartitionReassignments", 0, 0, _MOVES),
    KafkaApi("OffsetDelete", 0, 0),
    KafkaApi("DescribeClientQuotas", 0, 1, _QUOTAS),
    KafkaApi("AlterClientQuotas", 0, 1, _QUOTAS),
    KafkaApi("DescribeUserScramCredentials", 0, 0, _SECURITY),
    KafkaApi("AlterUserScramCredentials", 0, 0, _SECURITY),
    KafkaApi("DescribeQuorum", 0, 2),
    KafkaApi("UpdateFeatures", 0, 2),
    KafkaApi("DescribeCluster", 0, 2),
    KafkaApi("DescribeProducers", 0, 0),
    KafkaApi("UnregisterBroker", 0, 0, _MOVES),
    KafkaApi("DescribeTransactions", 0, 0),
    KafkaApi("ListTransactions", 0, 2),
    KafkaApi("ConsumerGroupHeartbeat", 0, 1, _GROUPS),
    KafkaApi("ConsumerGroupDescribe", 0, 1, _GROUPS),
    KafkaApi("ListConfigResources", 0, 1, _RESOURCES),
    KafkaApi("DescribeTopicPartitions", 0, 0),
    KafkaApi("ShareGroupHeartbeat", 1, 1, _SHARE),
    KafkaApi("ShareGroupDescribe", 1, 1, _SHARE),
    KafkaApi("ShareFetch", 1, 2, _SHARE),
    KafkaApi("ShareAcknowledge", 1, 2, _SHARE),
    KafkaApi("AddRaftVoter", 0, 1, _QUORUM),
    KafkaApi("RemoveRaftVoter", 0, 0, _QUORUM),
    KafkaApi("InitializeShareGroupState", 0, 0, _SHARE),
    KafkaApi("ReadShareGroupState", 0, 0, _SHARE),
    KafkaApi("WriteShareGroupState", 0, 1, _SHARE),
    KafkaApi("DeleteShareGroupState", 0, 0, _SHARE),
    KafkaApi("ReadShareGroupStateSummary", 0, 1, _SHARE),
    KafkaApi("StreamsGroupHeartbeat", 0, 0, _STREAMS),
    KafkaApi("StreamsGroupDescribe", 0, 0, _STREAMS),
    KafkaApi("DescribeShareGroupOffsets", 0, 1, _SHARE),
    KafkaApi("AlterShareGroupOffsets", 0, 0, _SHARE),
    KafkaApi("DeleteShareGroupOffsets", 0, 0, _SHARE),
)
