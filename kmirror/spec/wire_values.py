"""Meanings of small integers in requests."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

CONSUMER_REPLICA_ID: Final = -1
"""The replica id of a fetcher that is not a replica (FetchRequest.CONSUMER_REPLICA_ID)."""
USE_DEFAULT: Final = -1
"""A partition count or replication factor that leaves the value for a new topic to the cluster's configs."""


class Acks(IntEnum):
    """The replicas for which the response to Produce waits."""

    ALL = -1
    NONE = 0
    LEADER = 1


class LeaderRecoveryState(IntEnum):
    """Whether a partition's leader has recovered from an unclean election; its next proposed ISR reports RECOVERED."""

    RECOVERED = 0
    RECOVERING = 1


class IsolationLevel(IntEnum):
    """The transactional records that a reader gets: `isolation.level` of a consumer."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class OffsetSpec(IntEnum):
    """Offsets that ListOffsets can return, given in place of a timestamp."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


class ConfigOp(IntEnum):
    """The operation of IncrementalAlterConfigs on one key; the last two are for lists."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ResourceType(IntEnum):
    """The resource that has a config; MIRROR is KIP-1279's (D3)."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32
    MIRROR = 64


class ConfigSource(IntEnum):
    """The origin of a value in a DescribeConfigs response."""

    UNKNOWN = 0
    TOPIC = 1
    BROKER = 2
    CLUSTER = 3
    """The default of all brokers, altered while they run: the resource of type BROKER without a name."""
    STATIC = 4
    """A broker's properties file."""
    DEFAULT = 5
    BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class ConfigType(IntEnum):
    """The type of a config's value in a DescribeConfigs response."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class SecurityProtocol(IntEnum):
    """How a listener is secured; registrations of brokers hold the number."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3


class AclOperation(IntEnum):
    """The operations that ACLs allow on a resource."""

    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class AclResourceType(IntEnum):
    """The resource of an ACL: the ResourceType of Kafka's ACLs; CLUSTER_MIRROR is KIP-1279's (D3)."""

    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7
    CLUSTER_MIRROR = 8


class AclPatternType(IntEnum):
    """How an ACL names its resources: by the name itself, or by how it begins."""

    LITERAL = 3
    PREFIXED = 4


class AclPermission(IntEnum):
    """Permission type of an ACL."""

    DENY = 2
    ALLOW = 3


class CoordinatorType(IntEnum):
    """The type of coordinator that FindCoordinator returns; MIRROR is KIP-1279's (D1)."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2
    MIRROR = 3


class EndpointType(IntEnum):
    """The type of nodes that DescribeCluster returns."""

    BROKER = 1
    CONTROLLER = 2


class UpgradeType(IntEnum):
    """The direction, and the caution, of a level change by UpdateFeatures."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3
