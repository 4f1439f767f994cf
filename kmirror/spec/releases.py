"""Last versions of each API that brokers of earlier Kafka releases serve.

Taken from `ApiKeys` in kafka-clients 2.1.1, 2.4.1, 2.8.2, 3.3.2, 3.6.2, 3.9.1 and 4.0.0, without unstable versions: the
versions that a broker offers to clients, from 3.3 on with KRaft.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RELEASES: Final = ("2.1", "2.4", "2.8", "3.3", "3.6", "3.9", "4.0")
NOT_SERVED: Final = -1
TOPIC_IDS_FROM: Final = 10
"""The first version of Metadata with topic ids (KIP-516)."""

LAST_VERSIONS: Final[Mapping[str, tuple[int, ...]]] = {
    "Produce": (7, 8, 9, 9, 9, 11, 12),
    "Fetch": (10, 11, 12, 13, 15, 17, 17),
    "ListOffsets": (4, 5, 6, 7, 8, 9, 10),
    "Metadata": (7, 9, 11, 12, 12, 12, 13),
    "OffsetCommit": (6, 8, 8, 8, 8, 9, 9),
    "OffsetFetch": (5, 6, 7, 8, 8, 9, 9),
    "FindCoordinator": (2, 3, 3, 4, 4, 6, 6),
    "JoinGroup": (3, 6, 7, 9, 9, 9, 9),
    "Heartbeat": (2, 4, 4, 4, 4, 4, 4),
    "LeaveGroup": (2, 4, 4, 5, 5, 5, 5),
    "SyncGroup": (2, 4, 5, 5, 5, 5, 5),
    "DescribeGroups": (2, 5, 5, 5, 5, 5, 6),
    "ListGroups": (2, 3, 4, 4, 4, 5, 5),
    "SaslHandshake": (1, 1, 1, 1, 1, 1, 1),
    "ApiVersions": (2, 3, 3, 3, 3, 4, 4),
    "CreateTopics": (3, 5, 7, 7, 7, 7, 7),
    "DeleteTopics": (3, 4, 6, 6, 6, 6, 6),
    "DeleteRecords": (1, 1, 2, 2, 2, 2, 2),
    "InitProducerId": (1, 2, 4, 4, 4, 5, 5),
    "OffsetForLeaderEpoch": (2, 3, 4, 4, 4, 4, 4),
    "AddPartitionsToTxn": (1, 1, 3, 3, 4, 5, 5),
    "AddOffsetsToTxn": (1, 1, 3, 3, 3, 4, 4),
    "EndTxn": (1, 1, 3, 3, 3, 4, 5),
    "WriteTxnMarkers": (0, 0, 1, 1, 1, 1, 1),
    "TxnOffsetCommit": (2, 2, 3, 3, 3, 4, 5),
    "DescribeAcls": (1, 1, 2, 3, 3, 3, 3),
    "CreateAcls": (1, 1, 2, 3, 3, 3, 3),
    "DeleteAcls": (1, 1, 2, 3, 3, 3, 3),
    "DescribeConfigs": (2, 2, 4, 4, 4, 4, 4),
    "AlterConfigs": (1, 1, 2, 2, 2, 2, 2),
    "AlterReplicaLogDirs": (1, 1, 2, 2, 2, 2, 2),
    "DescribeLogDirs": (1, 1, 2, 4, 4, 4, 4),
    "SaslAuthenticate": (0, 1, 2, 2, 2, 2, 2),
    "CreatePartitions": (1, 1, 3, 3, 3, 3, 3),
    "CreateDelegationToken": (1, 2, 2, -1, 3, 3, 3),
    "RenewDelegationToken": (1, 1, 2, -1, 2, 2, 2),
    "ExpireDelegationToken": (1, 1, 2, -1, 2, 2, 2),
    "DescribeDelegationToken": (1, 1, 2, -1, 3, 3, 3),
    "DeleteGroups": (1, 2, 2, 2, 2, 2, 2),
    "ElectLeaders": (-1, 2, 2, 2, 2, 2, 2),
    "IncrementalAlterConfigs": (-1, 1, 1, 1, 1, 1, 1),
    "AlterPartitionReassignments": (-1, 0, 0, 0, 0, 0, 0),
    "ListPartitionReassignments": (-1, 0, 0, 0, 0, 0, 0),
    "OffsetDelete": (-1, 0, 0, 0, 0, 0, 0),
    "DescribeClientQuotas": (-1, -1, 1, 1, 1, 1, 1),
    "AlterClientQuotas": (-1, -1, 1, 1, 1, 1, 1),
    "DescribeUserScramCredentials": (-1, -1, 0, -1, 0, 0, 0),
    "AlterUserScramCredentials": (-1, -1, 0, -1, 0, 0, 0),
    "DescribeQuorum": (-1, -1, -1, 1, 1, 2, 2),
    "AlterPartition": (-1, -1, 0, -1, -1, -1, -1),
    "UpdateFeatures": (-1, -1, 0, 1, 1, 1, 2),
    "DescribeCluster": (-1, -1, 0, 0, 0, 1, 2),
    "DescribeProducers": (-1, -1, 0, 0, 0, 0, 0),
    "UnregisterBroker": (-1, -1, -1, 0, 0, 0, 0),
    "DescribeTransactions": (-1, -1, -1, 0, 0, 0, 0),
    "ListTransactions": (-1, -1, -1, 0, 0, 1, 1),
    "ConsumerGroupHeartbeat": (-1, -1, -1, -1, -1, 0, 1),
    "ConsumerGroupDescribe": (-1, -1, -1, -1, -1, 0, 1),
    "GetTelemetrySubscriptions": (-1, -1, -1, -1, -1, 0, 0),
    "PushTelemetry": (-1, -1, -1, -1, -1, 0, 0),
    "ListConfigResources": (-1, -1, -1, -1, -1, 0, 0),
    "DescribeTopicPartitions": (-1, -1, -1, -1, -1, 0, 0),
    "AddRaftVoter": (-1, -1, -1, -1, -1, 0, 0),
    "RemoveRaftVoter": (-1, -1, -1, -1, -1, 0, 0),
}
"""API to its last version in each of RELEASES; -1 if it was not served. APIs that are missing here came later."""


def last_version(api: str, release: str) -> int:
    """Return the last version of an API that brokers of one of RELEASES served, -1 for none."""
    row = LAST_VERSIONS.get(api)
    return NOT_SERVED if row is None else row[RELEASES.index(release)]


def has_topic_ids(release: str) -> bool:
    """Return whether brokers of one of RELEASES return topic ids; for an empty text whether ours do."""
    return not release or last_version("Metadata", release) >= TOPIC_IDS_FROM
