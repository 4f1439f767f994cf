"""Decoders for the key and value of a record, by topic.

A decoder returns text, a JSON value, or None (not printed) for each. Invalid bytes are reported in the wording of
Kafka's tool, as these texts are part of its output.

    offsets, transaction log, share group state, mirror state   key {"type","data"}, value {"version","data"}
    cluster metadata                                            value {"type","version","data"}, no key
    remote log metadata                                         value in the toString form of its Java class, no key

The mirror state uses the fields of our schemas: the KIP's own key would show only the mirror's name (D8).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from kmirror.errors import ProtocolError, UsageError
from kmirror.kernel import java
from kmirror.logdir.dump.jvm_reasons import jvm_message
from kmirror.protocol import keyed_records as coordinator
from kmirror.protocol import wire
from kmirror.protocol.gen.consumer_protocol_assignment import ConsumerProtocolAssignment
from kmirror.protocol.gen.consumer_protocol_subscription import ConsumerProtocolSubscription
from kmirror.protocol.gen.registry import COORDINATOR_RECORDS
from kmirror.protocol.json_form import to_json
from kmirror.protocol.keyed_records import METADATA_RECORDS, REMOTE_LOG_RECORDS
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_name
from kmirror.protocol.structs import Struct

_CONSUMER_PROTOCOL: Final = "consumer"
_WORD_START: Final = re.compile(r"(?<=.)(?=[A-Z])")
_INT16_MAX: Final = 2**15 - 1
# Java reads the size of the null value first, and fails.
_NULL_REMOTE_VALUE: Final = (
    'Cannot invoke "java.nio.ByteBuffer.remaining()" because the return value of '
    '"org.apache.kafka.common.record.internal.Record.value()" is null'
)
SEGMENT_STATES: Final = (
    "COPY_SEGMENT_STARTED",
    "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED",
    "DELETE_SEGMENT_FINISHED",
)
DELETE_STATES: Final = ("DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED")


class AnyRecord(Protocol):
    """The fields of a record that decoders use."""

    @property
    def offset(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...


class DecodedRecord(NamedTuple):
    """Text or JSON value to print for key and value."""

    key: Any = None
    value: Any = None


class DecodeError(UsageError):
    """The record cannot be decoded and the dump ends, as in Kafka's tool."""


Decoder = Callable[[AnyRecord], DecodedRecord]


# -- plain bytes ------------------------------------------------------------------------------


def as_string(data: bytes) -> str:
    return java.java_text(data)


def as_default(data: bytes) -> str:
    """Return an array in Java's form; Java prints a hash of its address, this function a hash of its bytes."""
    return f"[B@{java.hash_of_bytes(data) & 0xFFFF_FFFF:x}"


def as_integer(data: bytes) -> str:
    return _number(data, 4)


def as_long(data: bytes) -> str:
    return _number(data, 8)


def _number(data: bytes, size: int) -> str:
    if len(data) < size:
        raise DecodeError(f"a number of {size} bytes cannot be read from {len(data)}")
    return str(int.from_bytes(data[:size], "big", signed=True))


_API: Final = "org.apache.kafka.tools.api."
PLAIN: Final[Mapping[str, Callable[[bytes], str]]] = {
    _API + "StringDecoder": as_string,
    _API + "DefaultDecoder": as_default,
    _API + "IntegerDecoder": as_integer,
    _API + "LongDecoder": as_long,
}
DEFAULT_DECODER: Final = _API + "StringDecoder"


def plain_decoder(key_class: str, value_class: str) -> Decoder:
    """Return the decoder of two Kafka decoder classes; raises `UsageError` for an unknown class."""
    try:
        value_of, key_of = PLAIN[value_class], PLAIN[key_class]
    except KeyError as error:
        raise UsageError(f"unknown decoder class {error}; available: {', '.join(PLAIN)}") from None

    def decode(record: AnyRecord) -> DecodedRecord:
        key, value = record.key, record.value
        return DecodedRecord(None if key is None else key_of(key), None if value is None else value_of(value))

    return decode


# -- topics of coordinators -------------------------------------------------------------------


def coordinator_decoder(topic: str) -> Decoder:
    """Return the decoder for records of `topic`, one of the internal topics."""
    names = COORDINATOR_RECORDS[topic]

    def decode(record: AnyRecord) -> DecodedRecord:
        key = record.key
        if key is None:
            raise DecodeError(f"a record of {topic} has no key")
        if len(key) < 2:
            return DecodedRecord(_error_at(record, "Could not read version from key's buffer."))
        record_type = int.from_bytes(key[:2], "big", signed=True)
        if record_type not in names:
            return DecodedRecord(f"Unknown record type {record_type} at offset {record.offset}, skipping.")
        try:
            return _coordinator_record(topic, record_type, key, record.value)
        except ProtocolError as error:
            return DecodedRecord(_error_at(record, error.reason))

    return decode


def _error_at(record: AnyRecord, reason: str) -> str:
    return f"Error at offset {record.offset}, skipping. {reason}"


def _coordinator_record(topic: str, record_type: int, key: bytes, value: bytes | None) -> DecodedRecord:
    try:
        read_key = coordinator.decode_key(topic, key)
    except ProtocolError as error:
        raise _make_error(record_type, "key", error, key) from None
    key_json = {"type": str(record_type), "data": to_json(read_key, 0)}
    if value is None:
        return DecodedRecord(key_json, "<DELETE>")
    cls = by_name(COORDINATOR_RECORDS[topic][record_type][1])
    if len(value) < 2:
        raise ProtocolError("Could not read version from value's buffer.")
    version = int.from_bytes(value[:2], "big", signed=True)
    if not cls.MIN_VERSION <= version <= cls.MAX_VERSION:
        raise ProtocolError(f"Found an unknown record version {version} for {record_type} type")
    try:
        message, _ = cls.decode_prefix(value, version, 2)
    except ProtocolError as error:
        raise _make_error(version, "value", error, value) from None
    data = to_json(message, version)
    if cls.NAME == "GroupMetadataValue" and data.get("protocolType") == _CONSUMER_PROTOCOL:
        _decode_members(data)
    return DecodedRecord(key_json, {"version": str(version), "data": data})


def _make_error(version: int, name: str, error: ProtocolError, data: bytes) -> ProtocolError:
    reason = jvm_message(error, data)
    return ProtocolError(f"Could not read record with version {version} from {name}'s buffer due to: {reason}.")


def _decode_members(data: dict[str, Any]) -> None:
    """Replace the bytes of the members' subscriptions and assignments by their decoded content."""
    member_fields: tuple[tuple[str, type[Message]], ...] = (
        ("subscription", ConsumerProtocolSubscription),
        ("assignment", ConsumerProtocolAssignment),
    )
    for member in data["members"]:
        for field, cls in member_fields:
            raw = base64.b64decode(member[field])
            if len(raw) < 2:
                continue
            version = int.from_bytes(raw[:2], "big", signed=True)
            try:
                member[field] = to_json(cls.decode_prefix(raw, version, 2)[0], version)
            except ProtocolError:
                continue  # The bytes are kept.


# -- topics of framed records -----------------------------------------------------------------


def decode_cluster_metadata(record: AnyRecord) -> DecodedRecord:
    """Return the output of Kafka's tool for a record of `__cluster_metadata` or of one of its snapshots."""
    try:
        message, version = _decode_framed(record.value or b"", METADATA_RECORDS)
    except ProtocolError as error:
        return DecodedRecord(None, f"Error at {record.offset}, skipping. {error.reason}")
    data = to_json(message, min(version, message.MAX_VERSION))
    return DecodedRecord(None, {"type": _constant_name(message), "version": version, "data": data})


def _constant_name(message: Message) -> str:
    return _WORD_START.sub("_", message.NAME).upper()


def _decode_framed(data: bytes, table: dict[int, str]) -> tuple[Message, int]:
    """Return a framed message and its version; raises `ProtocolError` in the wording of Kafka's reader."""
    numbers = []
    at = 0
    for name in ("frame version", "type", "version"):
        try:
            number, at = wire.read_uvarint(data, at)
        except wire.READ_ERRORS:
            raise ProtocolError(f"Error while reading {name}") from None
        if number > _INT16_MAX:
            raise ProtocolError(f"Value for {name} was too large.")
        if name == "frame version" and number != coordinator.FRAME_VERSION:
            raise ProtocolError(_frame_version_error(number))
        numbers.append(number)
    _, record_type, version = numbers
    if record_type not in table:
        family = "org.apache.kafka.common.errors.UnsupportedVersionException"
        raise ProtocolError(f"{family}: Unknown metadata id {record_type}")
    cls = by_name(table[record_type])
    try:
        # The JVM decodes a future version as the newest known one,
        message, end = cls.decode_prefix(data, min(version, cls.MAX_VERSION), at)
    except ProtocolError:
        raise ProtocolError(f"Failed to deserialize record with type {record_type}") from None
    if version > cls.MAX_VERSION and _has_structs(message):
        # but each nested struct rejects an unknown version.
        raise ProtocolError(f"Failed to deserialize record with type {record_type}")
    if end < len(data):
        raise ProtocolError(f"Found {len(data) - end} byte(s) of garbage after {record_type}")
    return message, version


def _has_structs(message: Message) -> bool:
    names: Iterable[str] = message.__slots__
    values = (getattr(message, name) for name in names)
    return any(isinstance(value[0] if isinstance(value, list) and value else value, Struct) for value in values)


def _frame_version_error(version: int) -> str:
    if version == 0:
        return (
            "Could not deserialize metadata record with frame version 0. Note that upgrades from the preview release "
            "of KRaft in 2.8 to newer versions are not supported."
        )
    return (
        f"Could not deserialize metadata record due to unknown frame version {version}"
        f"(only frame version {coordinator.FRAME_VERSION} is supported)"
    )


def decode_remote_log_metadata(record: AnyRecord) -> DecodedRecord:
    """Return the output of Kafka's tool for a record of `__remote_log_metadata`."""
    try:
        if record.value is None:
            raise ProtocolError(_NULL_REMOTE_VALUE)
        message, _ = _decode_framed(record.value, REMOTE_LOG_RECORDS)
        text = _REMOTE[message.NAME](message)
    except ProtocolError as error:
        return DecodedRecord(None, _error_at(record, error.reason))
    return DecodedRecord(None, text)


def _state_text(states: tuple[str, ...], number: int, error_text: str = "state can not be null") -> str:
    if not 0 <= number < len(states):
        raise ProtocolError(error_text)
    return states[number]


def _partition_text(entry: Any) -> str:
    return f"{entry.id}:{entry.name}-{entry.partition}"


def _segment_id_text(entry: Any) -> str:
    return f"RemoteLogSegmentId{{topicIdPartition={_partition_text(entry.topic_id_partition)}, id={entry.id}}}"


def _epochs_text(entries: Any) -> str:
    """Return the epochs in the form of a sorted Java map."""
    found = {entry.leader_epoch: entry.offset for entry in entries}
    if not found:
        raise ProtocolError("segmentLeaderEpochs can not be null or empty")
    return "{" + ", ".join(f"{epoch}={found[epoch]}" for epoch in sorted(found)) + "}"


def _custom_text(data: bytes | None) -> str:
    return "Optional.empty" if data is None else f"Optional[CustomMetadata{{{len(data)} bytes}}]"


def _segment_text(found: Any) -> str:
    start, end = found.start_offset, found.end_offset
    if start < 0:
        raise ProtocolError(f"Unexpected start offset = {start}. StartOffset for a remote segment cannot be negative")
    if end < start:
        reason = f"EndOffset for a remote segment cannot be less than startOffset = {start}"
        raise ProtocolError(f"Unexpected end offset = {end}. {reason}")
    epochs = _epochs_text(found.segment_leader_epochs)
    return (
        f"RemoteLogSegmentMetadata{{remoteLogSegmentId={_segment_id_text(found.remote_log_segment_id)}, "
        f"startOffset={start}, endOffset={end}, brokerId={found.broker_id}, maxTimestampMs={found.max_timestamp_ms}, "
        f"eventTimestampMs={found.event_timestamp_ms}, segmentLeaderEpochs={epochs}, "
        f"segmentSizeInBytes={found.segment_size_in_bytes}, customMetadata={_custom_text(found.custom_metadata)}, "
        f"state={_state_text(SEGMENT_STATES, found.remote_log_segment_state)}, "
        f"txnIdxEmpty={java.boolean(found.txn_index_empty)}}}"
    )


def _segment_update_text(found: Any) -> str:
    return (
        f"RemoteLogSegmentMetadataUpdate{{remoteLogSegmentId={_segment_id_text(found.remote_log_segment_id)}, "
        f"customMetadata={_custom_text(found.custom_metadata)}, "
        f"state={_state_text(SEGMENT_STATES, found.remote_log_segment_state)}, "
        f"eventTimestampMs={found.event_timestamp_ms}, brokerId={found.broker_id}}}"
    )


def _partition_delete_text(found: Any) -> str:
    return (
        f"RemotePartitionDeleteMetadata{{topicPartition={_partition_text(found.topic_id_partition)}, "
        f"state={_state_text(DELETE_STATES, found.remote_partition_delete_state, 'null')}, "
        f"eventTimestampMs={found.event_timestamp_ms}, brokerId={found.broker_id}}}"
    )


def _segment_snapshot_text(found: Any) -> str:
    epochs = _epochs_text(found.segment_leader_epochs)
    return (
        f"RemoteLogSegmentMetadataSnapshot{{segmentId={found.segment_id}, startOffset={found.start_offset}, "
        f"endOffset={found.end_offset}, maxTimestampMs={found.max_timestamp_ms}, segmentLeaderEpochs={epochs}, "
        f"segmentSizeInBytes={found.segment_size_in_bytes}, customMetadata={_custom_text(found.custom_metadata)}, "
        f"state={_state_text(SEGMENT_STATES, found.remote_log_segment_state)}, "
        f"txnIdxEmpty={java.boolean(found.txn_index_empty)}}}"
    )


_REMOTE: Final[Mapping[str, Callable[[Any], str]]] = {
    "RemoteLogSegmentMetadataRecord": _segment_text,
    "RemoteLogSegmentMetadataUpdateRecord": _segment_update_text,
    "RemotePartitionDeleteMetadataRecord": _partition_delete_text,
    "RemoteLogSegmentMetadataSnapshotRecord": _segment_snapshot_text,
}
