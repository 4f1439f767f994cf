"""Intended differences between our broker and Kafka's, with their reasons; they are not findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

from kmirror.cluster.broker.apis.describe_configs import NOT_DESCRIBED
from kmirror.errors import ProtocolError
from kmirror.fuzz.differential.reasons import Reason
from kmirror.fuzz.responses import key_and_version
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.headers import decode_request
from kmirror.records import layout
from kmirror.spec.apis import versions_disabled
from kmirror.spec.configs import Scope, config_keys
from kmirror.spec.wire_values import ResourceType

SHORT_TIMEOUT_MS = 20
"""A controller that gets no more time than this may time out before it starts."""
_OPERATIONS = range(4)
_RESOURCE_TYPES = frozenset(ResourceType) - {ResourceType.MIRROR}
_NO_RESOURCE_TYPE = 0
_PRODUCER_ENDS_AT = sum(layout.field_range("producer_id"))
_SHARDS = 8  # Kafka's cache of fetch sessions has this many shards, each with an equal range of the ids.
_SHARD_IDS = (2**31 - 1) // _SHARDS


def _body(data: bytes) -> Any:
    """Return the request, whose class is known from the pattern of the cause; None if it cannot be read."""
    try:
        return decode_request(data).body
    except ProtocolError:
        return None


def _has_duplicates(names: Iterable[Hashable]) -> bool:
    return any(count > 1 for count in Counter(names).values())


def _is_kip_version(data: bytes) -> bool:
    key, version = key_and_version(data)
    first, last = versions_disabled("broker", mirror=False).get(key, (0, -1))
    return first <= version <= last


def _has_mirrors(data: bytes) -> bool:
    return any(row.resource_type == ResourceType.MIRROR for row in _body(data).resources)


def _has_unsupported_resource_type(data: bytes) -> bool:
    return any(row.resource_type in NOT_DESCRIBED for row in _body(data).resources)


def _has_unknown_broker_config(data: bytes) -> bool:
    names = [
        row.name for each in _body(data).resources if each.resource_type == ResourceType.BROKER for row in each.configs
    ]
    return not config_keys(Scope.BROKER).keys() >= set(names)


def _has_short_timeout(data: bytes) -> bool:
    return bool(_body(data).timeout_ms <= SHORT_TIMEOUT_MS)


def _has_null_records(data: bytes) -> bool:
    return any(row.records is None for topic in _body(data).topic_data for row in topic.partition_data)


def _has_a_tiny_batch(data: bytes) -> bool:
    """Return whether the size of a partition's first batch, of format 2, ends before its producer id does."""
    records = [bytes(row.records or b"") for topic in _body(data).topic_data for row in topic.partition_data]
    return any(
        batch[layout.MAGIC_AT : layout.MAGIC_AT + 1] == bytes([layout.MAGIC_V2])
        and layout.LEGACY_LENGTH_MIN <= layout.OVERHEAD.unpack_from(batch)[1] < _PRODUCER_ENDS_AT - layout.LOG_OVERHEAD
        for batch in records
    )


def _has_no_shard(data: bytes) -> bool:
    number = _body(data).session_id
    return not -_SHARD_IDS < number < _SHARDS * _SHARD_IDS


def _has_subscription(data: bytes) -> bool:
    return bool(_body(data).protocol_type == "consumer")


def _has_a_protocol_twice(data: bytes) -> bool:
    return _has_duplicates(row.name for row in _body(data).protocols)


def _has_no_topic_id(data: bytes) -> bool:
    body = _body(data)
    return any(topic.topic_id == Uuid.ZERO for topic in [*body.topics, *body.forgotten_topics_data])


def _has_an_empty_name(data: bytes) -> bool:
    body = _body(data)
    return body.cursor is None and any(not topic.name for topic in body.topics)


def _has_no_transactions(data: bytes) -> bool:
    return not _body(data).transactions


def _has_an_id_twice(data: bytes) -> bool:
    return _has_duplicates(row.transactional_id for row in _body(data).transactions)


def _has_a_resource_twice(data: bytes) -> bool:
    def kind(row: Any) -> int:
        return row.resource_type if row.resource_type in _RESOURCE_TYPES else _NO_RESOURCE_TYPE

    return _has_duplicates((kind(row), row.resource_name) for row in _body(data).resources)


def _has_an_unknown_operation(data: bytes) -> bool:
    return any(config.config_operation not in _OPERATIONS for row in _body(data).resources for config in row.configs)


def _has_marker_without_producer(data: bytes) -> bool:
    no_producer = layout.NO_PRODUCER_ID, layout.NO_PRODUCER_EPOCH
    return any(row.producer_id == no_producer[0] or row.producer_epoch == no_producer[1] for row in _body(data).markers)


BROKER_REASONS: tuple[Reason, ...] = (
    Reason(
        r"\w+: answers with .* by ours, closes the link by theirs",
        "A version, or an API, that KIP-1279 adds, while mirror.version is 0",
        "kmirror knows it, does not list it, and answers UNSUPPORTED_VERSION; Kafka does not know it",
        _is_kip_version,
    ),
    Reason(
        r"(Incremental)?AlterConfigs responses.errorCode: UNSUPPORTED_VERSION by ours, INVALID_REQUEST by theirs",
        "Configs of a mirror, while mirror.version is 0",
        "The resource type comes from the KIP; for Kafka it does not exist",
        _has_mirrors,
    ),
    Reason(
        r"(DescribeConfigs results|(Incremental)?AlterConfigs responses).errorCode: INVALID_REQUEST by ours, \w+ by",
        "Configs of a broker's loggers, of client metrics or of groups",
        "kmirror implements none of them",
        _has_unsupported_resource_type,
    ),
    Reason(
        r"(Incremental)?AlterConfigs responses.errorCode: INVALID_REQUEST by ours, NONE by theirs",
        "A broker config with a name that Kafka does not define",
        "Kafka stores it, because plugins may read it; kmirror has no plugins, and rejects it as a typing error",
        _has_unknown_broker_config,
    ),
    Reason(
        r"(CreateTopics|DeleteTopics|CreatePartitions) \w+(.errorCode: \w+ by ours, REQUEST_TIMED_OUT by theirs|: .*)",
        "A timeout of a few milliseconds, zero, or below zero, for the controller",
        "In Kafka it expires while the request waits in a queue; kmirror's controller returns its decision at once",
        _has_short_timeout,
    ),
    Reason(
        r"Produce: .* by ours, does not answer by theirs",
        "A Produce with null records",
        "Kafka does not answer: a NullPointerException. kmirror: INVALID_RECORD",
        _has_null_records,
    ),
    Reason(
        r"Produce responses.partitionResponses.errorCode: \w+ by ours, UNKNOWN_SERVER_ERROR by theirs",
        "A Produce with a batch whose stated size ends before the end of its producer id",
        "Kafka: an exception for the whole request. kmirror: CORRUPT_MESSAGE for the partition",
        _has_a_tiny_batch,
    ),
    Reason(
        r"JoinGroup: .* by ours, does not answer by theirs",
        "A JoinGroup of type consumer whose metadata is not a subscription",
        "Kafka's coordinator raises an exception and never answers (see the findings). kmirror does not parse metadata",
        _has_subscription,
    ),
    Reason(
        r"JoinGroup(: .* by ours, does not answer| errorCode: NONE by ours, INCONSISTENT_GROUP_PROTOCOL) by theirs",
        "A JoinGroup that names a protocol twice",
        "Kafka counts it twice, so not as one of all members; a group with no other protocol is never answered",
        _has_a_protocol_twice,
    ),
    Reason(
        r"Fetch errorCode: NONE by ours, UNKNOWN_SERVER_ERROR by theirs",
        "A Fetch with partitions of the zero topic id",
        "Kafka: a NullPointerException for the whole request. kmirror: UNKNOWN_TOPIC_ID for each partition",
        _has_no_topic_id,
    ),
    Reason(
        r"Fetch errorCode: FETCH_SESSION_ID_NOT_FOUND by ours, UNKNOWN_SERVER_ERROR by theirs",
        "A Fetch with a session id that no shard of Kafka's cache has: below zero, or close to 2^31",
        "Kafka: an exception, because it uses the shard with that number. kmirror: there is no such session",
        _has_no_shard,
    ),
    Reason(
        r"DescribeTopicPartitions (topics.errorCode: \w+ by ours, UNKNOWN_SERVER_ERROR|nextCursor: set by ours, null)",
        "A DescribeTopicPartitions of a topic with an empty name, without a cursor",
        "Kafka: a NullPointerException, as it uses the null cursor for this topic. kmirror: INVALID_TOPIC_EXCEPTION",
        _has_an_empty_name,
    ),
    Reason(
        r"AddPartitionsToTxn resultsByTransaction",
        "An AddPartitionsToTxn that names a transactional id twice",
        "Kafka uses the partitions of one of them for both. kmirror: each has its own. Only brokers send it",
        _has_an_id_twice,
    ),
    Reason(
        r"AddPartitionsToTxn: .* by ours, does not answer by theirs",
        "An AddPartitionsToTxn without transactions",
        "Kafka does not answer: it waits for the last result. kmirror: a response without any. Only brokers send it",
        _has_no_transactions,
    ),
    Reason(
        r"AlterConfigs: .* by ours, does not answer by theirs",
        "An AlterConfigs that names a resource twice",
        "Kafka does not answer: its response is built from a map with unique keys. kmirror: INVALID_REQUEST",
        _has_a_resource_twice,
    ),
    Reason(
        r"IncrementalAlterConfigs responses.errorCode: \w+ by ours, UNKNOWN_SERVER_ERROR by theirs",
        "An unknown operation on a config",
        "Kafka: a NullPointerException in the controller, which resigns. kmirror: INVALID_REQUEST",
        _has_an_unknown_operation,
    ),
    Reason(
        r"WriteTxnMarkers markers(\.topics(\.partitions)?)?: (a row by ours, none|more rows by ours, fewer)",
        "A WriteTxnMarkers that names a producer, topic or partition twice, or none",
        "Kafka's response is a map: each once, and none without partitions. kmirror answers each as requested",
    ),
    Reason(
        r"WriteTxnMarkers: .* by ours, does not answer by theirs",
        "A WriteTxnMarkers that names a partition twice, or has some markers without a partition on this broker",
        "Kafka does not answer: it waits for more results than exist. Only brokers send this API",
    ),
    Reason(
        r"WriteTxnMarkers markers.topics.partitions.errorCode: \w+ by ours, UNKNOWN_SERVER_ERROR by theirs",
        "A marker with producer id or epoch -1, which means none",
        "Kafka: an exception for the whole request. kmirror: INVALID_REQUEST for existing partitions",
        _has_marker_without_producer,
    ),
)
