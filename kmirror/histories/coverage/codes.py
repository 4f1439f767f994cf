"""Error codes of responses: extraction from messages, and rows for the codes of each API, sent and received.

The table has the codes that clients and nodes of a history can provoke. Codes for malformed or forbidden requests are
tested by the fuzzer. If a history has a code that is not in the table, a test fails (`table.unlisted`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from kmirror.histories.coverage.row import Origin, Row
from kmirror.protocol.structs import Struct
from kmirror.spec.error_codes import ErrorCode

_COORDINATOR = "COORDINATOR_NOT_AVAILABLE COORDINATOR_LOAD_IN_PROGRESS NOT_COORDINATOR"
_LEADER = "NOT_LEADER_OR_FOLLOWER UNKNOWN_TOPIC_OR_PARTITION"
_EPOCHS = "FENCED_LEADER_EPOCH UNKNOWN_LEADER_EPOCH"
_TRANSACTION = "CONCURRENT_TRANSACTIONS PRODUCER_FENCED INVALID_PRODUCER_EPOCH INVALID_PRODUCER_ID_MAPPING"
_MEMBER = "UNKNOWN_MEMBER_ID FENCED_INSTANCE_ID"
_MIRROR = "UNKNOWN_MIRROR UNKNOWN_TOPIC_OR_PARTITION TOPIC_NOT_IN_MIRROR UNSUPPORTED_VERSION"

CODES: dict[str, str] = {
    "Produce": f"{_LEADER} UNKNOWN_TOPIC_ID NOT_ENOUGH_REPLICAS NOT_ENOUGH_REPLICAS_AFTER_APPEND REQUEST_TIMED_OUT "
    "READ_ONLY_TOPIC OUT_OF_ORDER_SEQUENCE_NUMBER INVALID_PRODUCER_EPOCH INVALID_TXN_STATE INVALID_RECORD "
    "CONCURRENT_TRANSACTIONS INVALID_PRODUCER_ID_MAPPING TRANSACTION_ABORTABLE INVALID_TIMESTAMP "
    "KAFKA_STORAGE_ERROR MESSAGE_TOO_LARGE",
    "Fetch": f"{_LEADER} {_EPOCHS} UNKNOWN_TOPIC_ID OFFSET_OUT_OF_RANGE OFFSET_NOT_AVAILABLE KAFKA_STORAGE_ERROR "
    "FETCH_SESSION_ID_NOT_FOUND INVALID_FETCH_SESSION_EPOCH FETCH_SESSION_TOPIC_ID_ERROR",
    "ListOffsets": f"{_LEADER} {_EPOCHS} LEADER_NOT_AVAILABLE OFFSET_NOT_AVAILABLE",
    "Metadata": "LEADER_NOT_AVAILABLE REPLICA_NOT_AVAILABLE UNKNOWN_TOPIC_OR_PARTITION UNKNOWN_TOPIC_ID",
    "OffsetForLeaderEpoch": f"{_LEADER} {_EPOCHS} OFFSET_NOT_AVAILABLE KAFKA_STORAGE_ERROR",
    "FindCoordinator": "COORDINATOR_NOT_AVAILABLE",
    "OffsetCommit": f"{_COORDINATOR} {_MEMBER} UNKNOWN_TOPIC_ID UNKNOWN_TOPIC_OR_PARTITION ILLEGAL_GENERATION "
    "REBALANCE_IN_PROGRESS GROUP_ID_NOT_FOUND UNSTABLE_OFFSET_COMMIT TOPIC_NOT_IN_MIRROR",
    "OffsetFetch": "COORDINATOR_LOAD_IN_PROGRESS NOT_COORDINATOR UNSTABLE_OFFSET_COMMIT UNKNOWN_TOPIC_ID",
    "JoinGroup": f"{_COORDINATOR} {_MEMBER} MEMBER_ID_REQUIRED INCONSISTENT_GROUP_PROTOCOL",
    "SyncGroup": f"{_COORDINATOR} {_MEMBER} ILLEGAL_GENERATION REBALANCE_IN_PROGRESS",
    "Heartbeat": f"NOT_COORDINATOR {_MEMBER} ILLEGAL_GENERATION REBALANCE_IN_PROGRESS",
    "LeaveGroup": f"{_COORDINATOR} {_MEMBER}",
    "DeleteGroups": f"{_COORDINATOR} NON_EMPTY_GROUP GROUP_ID_NOT_FOUND",
    "OffsetDelete": f"{_COORDINATOR} UNKNOWN_TOPIC_OR_PARTITION GROUP_ID_NOT_FOUND GROUP_SUBSCRIBED_TO_TOPIC",
    "DescribeGroups": "COORDINATOR_LOAD_IN_PROGRESS NOT_COORDINATOR GROUP_ID_NOT_FOUND",
    "ListGroups": "COORDINATOR_LOAD_IN_PROGRESS",
    "TxnOffsetCommit": f"{_COORDINATOR} {_MEMBER} INVALID_PRODUCER_EPOCH INVALID_TXN_STATE ILLEGAL_GENERATION "
    "CONCURRENT_TRANSACTIONS UNKNOWN_TOPIC_OR_PARTITION TRANSACTION_ABORTABLE",
    "InitProducerId": f"{_COORDINATOR} CONCURRENT_TRANSACTIONS PRODUCER_FENCED INVALID_PRODUCER_EPOCH",
    "AddPartitionsToTxn": f"{_COORDINATOR} {_TRANSACTION} UNKNOWN_TOPIC_OR_PARTITION OPERATION_NOT_ATTEMPTED "
    "TRANSACTION_ABORTABLE",
    "AddOffsetsToTxn": f"{_COORDINATOR} {_TRANSACTION}",
    "EndTxn": f"{_COORDINATOR} {_TRANSACTION} INVALID_TXN_STATE",
    "DescribeTransactions": "COORDINATOR_LOAD_IN_PROGRESS NOT_COORDINATOR TRANSACTIONAL_ID_NOT_FOUND",
    "ListTransactions": "COORDINATOR_LOAD_IN_PROGRESS",
    "WriteTxnMarkers": f"{_LEADER} READ_ONLY_TOPIC NOT_ENOUGH_REPLICAS_AFTER_APPEND "
    "REQUEST_TIMED_OUT TRANSACTION_COORDINATOR_FENCED INVALID_PRODUCER_EPOCH KAFKA_STORAGE_ERROR",
    "CreateTopics": "TOPIC_ALREADY_EXISTS INVALID_PARTITIONS INVALID_REPLICATION_FACTOR INVALID_REPLICA_ASSIGNMENT "
    "TOPIC_NOT_IN_MIRROR",
    "DeleteTopics": "UNKNOWN_TOPIC_OR_PARTITION READ_ONLY_TOPIC",
    "CreatePartitions": "UNKNOWN_TOPIC_OR_PARTITION INVALID_PARTITIONS INVALID_REPLICA_ASSIGNMENT "
    "INVALID_REPLICATION_FACTOR READ_ONLY_TOPIC",
    "DeleteRecords": f"{_LEADER} OFFSET_OUT_OF_RANGE READ_ONLY_TOPIC REQUEST_TIMED_OUT KAFKA_STORAGE_ERROR",
    "DescribeProducers": _LEADER,
    "DescribeTopicPartitions": "UNKNOWN_TOPIC_OR_PARTITION",
    "DescribeConfigs": "UNKNOWN_TOPIC_OR_PARTITION UNKNOWN_MIRROR INVALID_REQUEST",
    "AlterConfigs": "UNKNOWN_TOPIC_OR_PARTITION INVALID_CONFIG",
    "IncrementalAlterConfigs": "UNKNOWN_TOPIC_OR_PARTITION UNKNOWN_MIRROR UNSUPPORTED_VERSION "
    "INVALID_CONFIG INVALID_REQUEST",
    "UpdateFeatures": "INVALID_UPDATE_VERSION",
    "AlterPartition": "FENCED_LEADER_EPOCH INELIGIBLE_REPLICA INVALID_UPDATE_VERSION NOT_CONTROLLER "
    "STALE_BROKER_EPOCH UNKNOWN_TOPIC_ID",
    "AssignReplicasToDirs": "NOT_LEADER_OR_FOLLOWER STALE_BROKER_EPOCH UNKNOWN_TOPIC_OR_PARTITION",
    "BrokerRegistration": "DUPLICATE_BROKER_REGISTRATION",
    "BrokerHeartbeat": "STALE_BROKER_EPOCH BROKER_ID_NOT_REGISTERED",
    "AllocateProducerIds": "STALE_BROKER_EPOCH",
    "FetchSnapshot": "SNAPSHOT_NOT_FOUND",
    "CreateMirror": "MIRROR_ALREADY_EXISTS UNSUPPORTED_VERSION INVALID_REPLICATION_FACTOR",
    "AddTopicsToMirror": "UNKNOWN_MIRROR UNSUPPORTED_VERSION INVALID_REQUEST COORDINATOR_NOT_AVAILABLE "
    "TOPIC_ALREADY_IN_MIRROR INCONSISTENT_TOPIC_ID",
    "RemoveTopicsFromMirror": f"{_MIRROR}",
    "PauseMirrorTopics": f"{_MIRROR} MIRROR_TOPIC_ALREADY_PAUSED MIRROR_TOPIC_BEING_REMOVED",
    "ResumeMirrorTopics": f"{_MIRROR} MIRROR_TOPIC_NOT_PAUSED MIRROR_TOPIC_BEING_REMOVED",
    "DeleteMirror": "UNKNOWN_MIRROR MIRROR_NOT_EMPTY COORDINATOR_NOT_AVAILABLE",
    "DescribeMirrors": f"{_LEADER} OFFSET_NOT_AVAILABLE UNKNOWN_MIRROR",
    "ReadMirrorStates": "COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR UNKNOWN_TOPIC_OR_PARTITION UNSUPPORTED_VERSION",
    "WriteMirrorStates": "COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR FENCED_LEADER_EPOCH UNKNOWN_TOPIC_ID "
    "UNKNOWN_MIRROR INVALID_REQUEST UNSUPPORTED_VERSION",
    "BumpLeaderEpochs": "UNKNOWN_TOPIC_OR_PARTITION UNKNOWN_TOPIC_ID UNSUPPORTED_VERSION",
}
"""API to the error codes that its responses may have in a history."""

_UNREACHABLE = {
    "BROKER_ID_NOT_REGISTERED": "no broker is unregistered: UnregisterBroker is not supported",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": "below min.insync.replicas the high watermark does not rise: requests that "
    "wait for it get REQUEST_TIMED_OUT",
}

ROWS: tuple[Row, ...] = tuple(
    Row(
        f"{direction}.{api}.{code}", f"{api} gets the error {code}; the response {ending}.", Origin.ANSWER,
        unreachable=_UNREACHABLE.get(code, ""),
    )
    for direction, ending in (("sent", "is sent"), ("received", "is received by its client"))
    for api, codes in CODES.items()
    for code in codes.split()
)  # fmt: skip


def error_codes(body: Struct) -> Iterator[int]:
    """Yield the error codes in a message other than NONE, with repetitions."""
    struct_class: Any = type(body)  # For mypy a mutable struct has no hash, and so its class has none.
    for attribute, struct, is_array in _code_fields(struct_class):
        value: Any = getattr(body, attribute)
        if struct is None:
            if value != ErrorCode.NONE:
                yield value
        elif is_array:
            for row in value or ():
                yield from error_codes(row)
        elif value is not None:
            yield from error_codes(value)


@cache
def _code_fields(struct_class: Any) -> tuple[tuple[str, type[Struct] | None, bool], ...]:
    """Return the fields of a struct that are an error code, or hold structs with one."""
    found: list[tuple[str, type[Struct] | None, bool]] = []
    for field in struct_class.FIELDS:
        if field.struct is not None and _code_fields(field.struct):
            found.append((field.attribute, field.struct, field.is_array))
        elif field.name.endswith("ErrorCode"):
            found.append((field.attribute, None, False))
    return tuple(found)
