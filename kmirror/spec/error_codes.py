"""Kafka's error codes and those of KIP-1279.

Generated from schemas/errors.json. Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """The error code of an answer; to a client any other is UNKNOWN_SERVER_ERROR."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_FETCH_SIZE = 4
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    STALE_CONTROLLER_EPOCH = 11
    OFFSET_METADATA_TOO_LARGE = 12
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    SECURITY_DISABLED = 54
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    LOG_DIR_NOT_FOUND = 57
    SASL_AUTHENTICATION_FAILED = 58
    UNKNOWN_PRODUCER_ID = 59
    REASSIGNMENT_IN_PROGRESS = 60
    DELEGATION_TOKEN_AUTH_DISABLED = 61
    DELEGATION_TOKEN_NOT_FOUND = 62
    DELEGATION_TOKEN_OWNER_MISMATCH = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
    DELEGATION_TOKEN_EXPIRED = 66
    INVALID_PRINCIPAL_TYPE = 67
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    LISTENER_NOT_FOUND = 72
    TOPIC_DELETION_DISABLED = 73
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    STALE_BROKER_EPOCH = 77
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    INCONSISTENT_VOTER_SET = 94
    INVALID_UPDATE_VERSION = 95
    FEATURE_UPDATE_FAILED = 96
    PRINCIPAL_DESERIALIZATION_FAILURE = 97
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_TOPIC_ID = 103
    INCONSISTENT_CLUSTER_ID = 104
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FETCH_SESSION_TOPIC_ID_ERROR = 106
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    OFFSET_MOVED_TO_TIERED_STORAGE = 109
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_CONTROLLER_ID = 116
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118
    INVALID_REGISTRATION = 119
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    FENCED_STATE_EPOCH = 124
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127
    INVALID_REGULAR_EXPRESSION = 128
    REBOOTSTRAP_REQUIRED = 129
    STREAMS_INVALID_TOPOLOGY = 130
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131
    STREAMS_TOPOLOGY_FENCED = 132
    SHARE_SESSION_LIMIT_REACHED = 133
    READ_ONLY_TOPIC = 134
    INVALID_MIRROR_NAME = 135
    UNKNOWN_MIRROR = 136
    TOPIC_ALREADY_IN_MIRROR = 137
    TOPIC_NOT_IN_MIRROR = 138
    MIRROR_TOPIC_ALREADY_PAUSED = 139
    MIRROR_TOPIC_NOT_PAUSED = 140
    MIRROR_TOPIC_BEING_REMOVED = 141
    MIRROR_NOT_EMPTY = 142
    MIRROR_AUTHORIZATION_FAILED = 143
    MIRROR_ALREADY_EXISTS = 144

    @property
    def retriable(self) -> bool:
        """Return whether the same request may succeed later."""
        return self.value in _RETRIABLE

    @property
    def text(self) -> str:
        """Return a description of the error for people."""
        return _TEXTS[self.value]


_RETRIABLE = frozenset(
    {
        2, 3, 5, 6, 7, 9, 13, 14, 15, 16, 19, 20, 41, 51, 56, 70, 71, 72, 74, 75, 78, 80, 83, 84,
        88, 89, 100, 103, 106, 122, 123, 133,
    }
)

_TEXTS = {
    -1: "The broker met something it did not expect.",
    0: "All is well.",
    1: "The requested offset is outside of the partition's log.",
    2: "The batch is damaged: wrong checksum, wrong size, or no key where compaction needs one.",
    3: "No such topic or partition is known here.",
    4: "The fetch size makes no sense.",
    5: "The partition has no leader at the moment.",
    6: "The broker asked does not lead the partition, or does not hold a replica of it.",
    7: "The request took longer than its timeout.",
    8: "The broker cannot be reached.",
    9: "The broker asked holds no usable replica of the partition.",
    10: "A batch is larger than the broker takes.",
    11: "The request comes from a controller that was replaced.",
    12: "The metadata string of a committed offset is too long.",
    13: "The connection closed before the answer came.",
    14: "The coordinator is still loading its state.",
    15: "There is no coordinator for this key at the moment.",
    16: "Another broker is the coordinator for this key.",
    17: "The topic's name is not legal, or the topic may not be used like this.",
    18: "The batches together are larger than a segment.",
    19: "Fewer replicas are in sync than min.insync.replicas asks for; nothing was written.",
    20: "The records were written, but fewer replicas than min.insync.replicas have them.",
    21: "acks is neither 0, 1 nor -1.",
    22: "The generation is not the group's current one.",
    23: "The member shares no protocol with the rest of the group, or named none.",
    24: "The group id is not legal.",
    25: "The group has no such member.",
    26: "The session timeout lies outside of the broker's bounds.",
    27: "The group is rebalancing: join again.",
    28: "The commit is larger than an offset record may be.",
    29: "Not allowed for this topic.",
    30: "Not allowed for this group.",
    31: "Not allowed for the cluster.",
    32: "A record's timestamp is outside of the range that the topic accepts.",
    33: "The broker does not offer this SASL mechanism.",
    34: "A SASL message came at the wrong moment.",
    35: "The broker does not serve this version.",
    36: "A topic of this name exists.",
    37: "The number of partitions is not legal.",
    38: "The replication factor is not legal, or larger than the number of brokers.",
    39: "The replica assignment is not legal.",
    40: "A configuration key or value is not legal.",
    41: "The broker asked is not the controller.",
    42: "The request contradicts itself or the protocol.",
    43: "The message format on the broker's disk cannot carry this.",
    44: "A policy of the cluster forbids the request.",
    45: "The producer's sequence number leaves a gap.",
    46: "The producer's batch was appended before.",
    47: "A newer instance of the producer is at work: its epoch is higher.",
    48: "The transaction is in a state that does not allow this.",
    49: "The producer id does not belong to this transactional id.",
    50: "The transaction timeout is longer than the broker allows.",
    51: "Another operation of the same transaction is not finished yet.",
    52: "The transaction marker comes from a coordinator that was replaced.",
    53: "Not allowed for this transactional id.",
    54: "The broker has no authorizer.",
    55: "Nothing was tried, because another part of the request failed.",
    56: "The broker could not read or write its disk.",
    57: "The broker has no such log directory.",
    58: "Authentication failed.",
    59: "The broker no longer knows the producer id, as its records are gone.",
    60: "The partition's replicas are being reassigned.",
    61: "Delegation tokens are switched off.",
    62: "No such delegation token is known.",
    63: "Only its owner or a renewer may do this with the delegation token.",
    64: "Delegation tokens are not served on this kind of connection.",
    65: "Not allowed for this delegation token.",
    66: "The delegation token has expired.",
    67: "The kind of principal is not supported.",
    68: "The group is not empty.",
    69: "No such group is known.",
    70: "The fetch session is gone.",
    71: "The fetch session's epoch is not the next one.",
    72: "The leader has no listener of the name the request came in on.",
    73: "Deleting topics is switched off.",
    74: "The leader epoch in the request is older than the broker's.",
    75: "The leader epoch in the request is newer than the broker's.",
    76: "The client's version cannot read this compression.",
    77: "The broker epoch is not the current one.",
    78: "The new leader's high watermark has not caught up yet.",
    79: "Join again, with the member id in this answer.",
    80: "The preferred leader is not available.",
    81: "The group has as many members as it may have.",
    82: "Another member uses the same group.instance.id by now.",
    83: "No replica may be elected.",
    84: "The partition has the leader that was asked for.",
    85: "The partition is not being reassigned.",
    86: "A member of the group is subscribed to the topic.",
    87: "A record failed the broker's checks; the batch was not written.",
    88: "The offset belongs to a transaction that is still open.",
    89: "A quota is used up.",
    90: "A newer producer with the same transactional id is at work.",
    91: "There is no such resource.",
    92: "The resource is named twice or exists.",
    93: "The credential does not meet the requirements.",
    94: "The two sides of the vote do not agree on the set of voters.",
    95: "The feature level is not legal.",
    96: "The feature could not be set.",
    97: "The principal in a forwarded request cannot be read.",
    98: "There is no such snapshot.",
    99: "The position lies outside of the snapshot.",
    100: "No topic with this id is known here.",
    101: "A broker with this id is registered and alive.",
    102: "No broker with this id is registered.",
    103: "The topic id does not match the one on record.",
    104: "The cluster id does not match.",
    105: "No such transactional id is known.",
    106: "The fetch session changed between topic names and topic ids.",
    107: "The replica may not join the ISR.",
    108: "The request led to the election of another leader.",
    109: "The offset was moved to tiered storage.",
    110: "The member's epoch is older than the coordinator's.",
    111: "Another member still holds this group.instance.id.",
    112: "The group does not support the assignor.",
    113: "The member must learn its new epoch first.",
    114: "The request was sent to the other kind of endpoint.",
    115: "This kind of endpoint is not known.",
    116: "No such controller is known.",
    117: "The telemetry subscription is not the client's current one.",
    118: "The telemetry report is too large.",
    119: "The controller refused the registration.",
    120: "The transaction hit an error after which it can only be aborted.",
    121: "A record is in a state that does not allow the acknowledgement.",
    122: "The share session is gone.",
    123: "The share session's epoch is not the next one.",
    124: "The state epoch is older than the coordinator's.",
    125: "The voter key is not the one the receiver has.",
    126: "The voter is in the set already.",
    127: "The voter is not in the set.",
    128: "The regular expression is not legal.",
    129: "The client must find the cluster again from its bootstrap servers.",
    130: "The topology of the streams application is not legal.",
    131: "The epoch of the streams topology is not the group's.",
    132: "A newer streams topology is in use.",
    133: "There are as many share sessions as there may be.",
    134: "The topic is a mirror: it takes no writes until mirroring has stopped.",
    135: "The mirror's name is not legal.",
    136: "No such mirror is known, or the topic belongs to none.",
    137: "The topic belongs to a mirror already.",
    138: "The topic does not belong to this mirror.",
    139: "The topic is paused already.",
    140: "The topic is not paused.",
    141: "The topic is being removed from its mirror.",
    142: "The mirror still has topics that are not stopped.",
    143: "Not allowed for this mirror.",
    144: "A mirror of this name exists.",
}
