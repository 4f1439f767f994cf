"""Messages stored in logs: KRaft metadata, tiered storage metadata, and the coordinators' topics.

A metadata record starts with three varints: frame version 1, record type, version. A coordinator's key starts with the
record type as int16, its value with the version as int16; the key version is always 0. A null value is a tombstone.
"""

from __future__ import annotations

from typing import NamedTuple

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.protocol import wire
from kmirror.protocol.gen.registry import COORDINATOR_RECORDS, METADATA_RECORDS, REMOTE_LOG_RECORDS
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_name
from kmirror.protocol.wire import Buffer

FRAME_VERSION = 1

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
MIRROR_STATE = "__mirror_state"


class VersionedMessage(NamedTuple):
    message: Message
    version: int


class CoordinatorRecord(NamedTuple):
    """Key and value of a coordinator's record; `value` is None for a tombstone."""

    key: Message
    value: Message | None
    version: int | None


def encode_metadata_record(message: Message, version: int) -> bytes:
    """Return the value of a record in a metadata log."""
    if message.TYPE != "metadata" or message.API_KEY is None:
        raise LocalProtocolError(f"{message.NAME} is no metadata record")
    head = wire.uvarint(FRAME_VERSION) + wire.uvarint(message.API_KEY) + wire.uvarint(version)
    return head + message.encode(version)


def decode_metadata_record(buffer: Buffer, *, table: dict[int, str] = METADATA_RECORDS) -> VersionedMessage:
    """Return the record encoded by `encode_metadata_record`; `table` is METADATA_RECORDS or REMOTE_LOG_RECORDS."""
    position = 0
    head = []
    for path in ("frame_version", "record_type", "version"):
        try:
            value, position = wire.read_uvarint(buffer, position)
        except wire.READ_ERRORS:
            raise ProtocolError("the bytes end within a varint", position=position, field=path) from None
        head.append(value)
    frame_version, record_type, version = head
    if frame_version != FRAME_VERSION:
        raise ProtocolError(f"frame version {frame_version}: only {FRAME_VERSION} is known", position=0)
    if record_type not in table:
        raise ProtocolError(f"no metadata record has the type {record_type}", position=1, field="record_type")
    message, _ = by_name(table[record_type]).decode_prefix(buffer, version, position)
    return VersionedMessage(message, version)


def encode_key(message: Message) -> bytes:
    """Return the key of a coordinator's record."""
    if message.TYPE != "coordinator-key" or message.API_KEY is None:
        raise LocalProtocolError(f"{message.NAME} is no coordinator key")
    return wire.pack_int16(message.API_KEY) + message.encode(0)


def encode_value(message: Message, version: int) -> bytes:
    """Return the value of a coordinator's record."""
    if message.TYPE != "coordinator-value":
        raise LocalProtocolError(f"{message.NAME} is no coordinator value")
    return wire.pack_int16(version) + message.encode(version)


def _read_int16(buffer: Buffer, path: str) -> int:
    if len(buffer) < 2:
        raise ProtocolError(f"2 bytes wanted, {len(buffer)} left", position=0, field=path)
    return int(wire.unpack_int16(buffer, 0)[0])


def record_type(key: Buffer) -> int:
    """Return the record type at the start of a coordinator's key."""
    return _read_int16(key, "record_type")


def value_version(value: Buffer) -> int:
    """Return the version at the start of a coordinator's value."""
    return _read_int16(value, "version")


def _record_names(topic: str, record_type: int) -> tuple[str, str]:
    table = COORDINATOR_RECORDS.get(topic)
    if table is None:
        raise LocalProtocolError(f"{topic} holds no coordinator records")
    if record_type not in table:
        raise ProtocolError(f"{topic} has no record type {record_type}", position=0, field="record_type")
    return table[record_type]


def decode_key(topic: str, buffer: Buffer) -> Message:
    """Return the key of a record of `topic`, one of the internal topics."""
    name, _ = _record_names(topic, record_type(buffer))
    return by_name(name).decode_prefix(buffer, 0, 2)[0]


def decode_value(topic: str, key: Message, buffer: Buffer | None) -> VersionedMessage | None:
    """Return the value of a record with this `key`; None for a tombstone."""
    if buffer is None:
        return None
    _, name = _record_names(topic, -1 if key.API_KEY is None else key.API_KEY)
    version = value_version(buffer)
    message, _ = by_name(name).decode_prefix(buffer, version, 2)
    return VersionedMessage(message, version)


def decode_record(topic: str, key: Buffer, value: Buffer | None) -> CoordinatorRecord:
    """Return key and value of a record of `topic`, one of the internal topics."""
    decoded = decode_key(topic, key)
    found = decode_value(topic, decoded, value)
    return CoordinatorRecord(decoded, None, None) if found is None else CoordinatorRecord(decoded, *found)


__all__ = [
    "CONSUMER_OFFSETS",
    "METADATA_RECORDS",
    "MIRROR_STATE",
    "REMOTE_LOG_RECORDS",
    "SHARE_GROUP_STATE",
    "TRANSACTION_STATE",
    "CoordinatorRecord",
    "VersionedMessage",
    "decode_key",
    "decode_metadata_record",
    "decode_record",
    "decode_value",
    "encode_key",
    "encode_metadata_record",
    "encode_value",
    "record_type",
    "value_version",
]
