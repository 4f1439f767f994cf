"""APIs that are served, with versions, roles and omissions: one row each.

The versions from `first_mirror_version` on are served only while feature mirror.version is 1 (D1). A row names its API;
the API keys are in the schemas only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from kmirror.spec.api_keys import API_KEYS


@dataclass(frozen=True, slots=True)
class ApiRow:
    name: str
    first: int
    last: int
    roles: tuple[str, ...]
    first_mirror_version: int | None = None
    """First version that exists only with mirror.version 1."""
    unsupported: str = ""
    reported_from: int | None = None
    """The first version that ApiVersions reports, if that is not served."""

    @property
    def key(self) -> int:
        return API_KEYS[self.name]


_BROKER = ("broker",)
_CONTROLLER = ("controller",)
_BOTH = ("broker", "controller")

ROWS: tuple[ApiRow, ...] = (
    # librdkafka disables compression unless version 0 is reported (KAFKA-18659); a client that sends it is
    # disconnected.
    ApiRow("Produce", 3, 13, _BROKER, unsupported="quotas", reported_from=0),
    ApiRow("Fetch", 4, 19, _BOTH, 19, unsupported="quotas, tiered storage"),
    ApiRow("ListOffsets", 1, 11, _BROKER, unsupported="tiered storage"),
    ApiRow("Metadata", 0, 13, _BROKER),
    ApiRow("DescribeTopicPartitions", 0, 0, _BROKER),
    ApiRow("DescribeCluster", 0, 2, _BROKER, unsupported="endpoints of controllers"),
    ApiRow("FindCoordinator", 0, 7, _BROKER, 7, unsupported="share coordinators"),
    ApiRow("ApiVersions", 0, 4, _BOTH),
    ApiRow("CreateTopics", 2, 8, _BOTH, 8, unsupported="quotas, policies"),
    ApiRow("DeleteTopics", 1, 6, _BOTH, unsupported="quotas"),
    ApiRow("CreatePartitions", 0, 3, _BOTH, unsupported="quotas"),
    ApiRow("InitProducerId", 0, 5, _BROKER, unsupported="two-phase commit (KIP-939)"),
    ApiRow("OffsetForLeaderEpoch", 2, 4, _BROKER),
    ApiRow("AddPartitionsToTxn", 0, 5, _BROKER),
    ApiRow("EndTxn", 0, 5, _BROKER),
    ApiRow("AddOffsetsToTxn", 0, 4, _BROKER),
    ApiRow("JoinGroup", 0, 9, _BROKER),
    ApiRow("SyncGroup", 0, 5, _BROKER),
    ApiRow("Heartbeat", 0, 4, _BROKER),
    ApiRow("LeaveGroup", 0, 5, _BROKER),
    ApiRow("DescribeGroups", 0, 6, _BROKER),
    ApiRow("ListGroups", 0, 5, _BROKER),
    ApiRow("DeleteGroups", 0, 2, _BROKER),
    ApiRow("WriteTxnMarkers", 1, 2, _BROKER),
    ApiRow("TxnOffsetCommit", 0, 5, _BROKER),
    ApiRow("OffsetCommit", 2, 10, _BROKER, unsupported="members of the consumer protocol (KIP-848)"),
    ApiRow("OffsetFetch", 1, 10, _BROKER, unsupported="members of the consumer protocol (KIP-848)"),
    ApiRow("OffsetDelete", 0, 0, _BROKER),
    ApiRow("IncrementalAlterConfigs", 0, 2, _BOTH, 2, unsupported="group and client-metrics resources"),
    ApiRow("DeleteRecords", 0, 2, _BROKER),
    ApiRow("DescribeLogDirs", 1, 5, _BROKER, unsupported="cordoned directories"),
    ApiRow("DescribeProducers", 0, 0, _BROKER),
    ApiRow("DescribeTransactions", 0, 0, _BROKER),
    ApiRow("ListTransactions", 0, 2, _BROKER, unsupported="Java's forms of regular expressions"),
    ApiRow("UpdateFeatures", 0, 2, _BOTH),
    ApiRow("DescribeConfigs", 1, 5, _BROKER, 5, unsupported="levels of loggers, groups, client metrics"),
    ApiRow("DescribeQuorum", 0, 2, _BOTH, unsupported="observers, listeners"),
    ApiRow("AlterConfigs", 0, 2, _BOTH, unsupported="group and client-metrics resources"),
    ApiRow("AlterPartition", 2, 3, _CONTROLLER),
    ApiRow("Envelope", 0, 0, _CONTROLLER),
    ApiRow("BrokerRegistration", 0, 4, _CONTROLLER),
    ApiRow("BrokerHeartbeat", 0, 2, _CONTROLLER, unsupported="cordoned directories"),
    ApiRow("AssignReplicasToDirs", 0, 0, _CONTROLLER),
    ApiRow("AllocateProducerIds", 0, 0, _CONTROLLER),
    ApiRow("FetchSnapshot", 0, 1, _CONTROLLER),
    ApiRow("CreateMirror", 0, 0, _BOTH, 0),
    ApiRow("AddTopicsToMirror", 0, 0, _BOTH, 0),
    ApiRow("RemoveTopicsFromMirror", 0, 0, _BOTH, 0),
    ApiRow("PauseMirrorTopics", 0, 0, _BOTH, 0),
    ApiRow("ResumeMirrorTopics", 0, 0, _BOTH, 0),
    ApiRow("DeleteMirror", 0, 0, _BOTH, 0),
    ApiRow("ListMirrors", 0, 0, _BROKER, 0),
    ApiRow("DescribeMirrors", 0, 0, _BROKER, 0),
    ApiRow("ReadMirrorStates", 0, 0, _BROKER, 0),
    ApiRow("WriteMirrorStates", 0, 0, _BROKER, 0),
    ApiRow("BumpLeaderEpochs", 0, 0, _BOTH, 0),
)

ROWS_BY_KEY: Mapping[int, ApiRow] = {row.key: row for row in ROWS}


@cache
def versions_served(role: str, *, mirror: bool) -> Mapping[int, tuple[int, int]]:
    """Return api key to (first, last) version for a node of `role`; do not modify the result."""
    served = {}
    for row in ROWS:
        last = row.last if mirror or row.first_mirror_version is None else row.first_mirror_version - 1
        if role in row.roles and last >= row.first:
            served[row.key] = (row.first, last)
    return served


@cache
def versions_disabled(role: str, *, mirror: bool) -> Mapping[int, tuple[int, int]]:
    """Return api key to the (first, last) version that a node of `role` knows, but must not serve now (D1)."""
    return {
        row.key: (row.first_mirror_version, row.last)
        for row in ROWS
        if role in row.roles and row.first_mirror_version is not None and not mirror
    }


def version_served(api_key: int, *, mirror: bool) -> int:
    """Return the newest version of `api_key` that any node of a cluster serves."""
    row = ROWS_BY_KEY[api_key]
    return row.last if mirror or row.first_mirror_version is None else row.first_mirror_version - 1
