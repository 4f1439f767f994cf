"""Control records: transaction markers, PID resets and KRaft records.

The key has two int16: the version of the key (0) and the type. The value depends on the type:

    ABORT, COMMIT      version int16 (0), coordinator epoch int32
    MIRROR_PID_RESET   MirrorPidResetRecord v0 (KIP-1279, flexible): version int16, source cluster id, tags
    KRaft types        flexible messages of `schemas/`, kept as bytes here

A control batch holds one record, is not compressed, and takes one offset. A transaction marker is transactional and has
the id of the producer whose transaction it ends. KIP-1279 does not define the header of a PID reset. It has no producer
id (D15), so it is not transactional, like KRaft's control batches.

MirrorPidResetRecord is encoded and decoded by hand here; otherwise opening or verifying a log would load the generated
messages. A property test compares both implementations.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch, LocalProtocolError
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData

_KEY: Final = Struct(">hh")
_END_TXN_VALUE: Final = Struct(">hi")
_KEY_VERSION: Final = 0
_VALUE_VERSION: Final = 0


class ControlType(IntEnum):
    """Type in the key of a control record."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6
    MIRROR_PID_RESET = 7


class ControlRecord(NamedTuple):
    """A parsed control record; `type` is None for an unknown number."""

    type: ControlType | None
    type_id: int
    key_version: int
    value: bytes | None
    coordinator_epoch: int | None = None  # Only for transaction markers.
    source_cluster_id: str | None = None  # Only for MIRROR_PID_RESET.


def parse_control(key: bytes | None, value: bytes | None) -> ControlRecord:
    """Return the parsed control record; raises `CorruptBatch` if key or value is too short or malformed."""
    if key is None or len(key) < _KEY.size:
        raise CorruptBatch(f"a control key has {_KEY.size} bytes, not {0 if key is None else len(key)}")
    key_version, type_id = _KEY.unpack_from(key)
    if key_version < 0:
        raise CorruptBatch(f"a control key cannot have version {key_version}")
    try:
        kind = ControlType(type_id)
    except ValueError:
        return ControlRecord(None, type_id, key_version, value)
    if kind in (ControlType.ABORT, ControlType.COMMIT):
        # Later versions may add fields after these.
        if value is None or len(value) < _END_TXN_VALUE.size:
            size = 0 if value is None else len(value)
            raise CorruptBatch(f"an end marker's value has {_END_TXN_VALUE.size} bytes, not {size}")
        version, epoch = _END_TXN_VALUE.unpack_from(value)
        if version < 0:
            raise CorruptBatch(f"an end marker cannot have version {version}")
        return ControlRecord(kind, type_id, key_version, value, coordinator_epoch=epoch)
    if kind is ControlType.MIRROR_PID_RESET:
        return ControlRecord(kind, type_id, key_version, value, source_cluster_id=_read_cluster_id(value))
    return ControlRecord(kind, type_id, key_version, value)


def _write_uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_uvarint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(5):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 127) << 7 * index
        if byte < 128:
            return value, at
    raise CorruptBatch("incomplete value of a PID reset")


def _read_cluster_id(value: bytes | None) -> str:
    """Return the source cluster id of a MIRROR_PID_RESET value; unknown tagged fields are skipped."""
    if value is None or len(value) < 2:
        raise CorruptBatch("a PID reset has no value")
    version = int.from_bytes(value[:2], "big", signed=True)
    if version < 0:
        raise CorruptBatch(f"a PID reset cannot have version {version}")
    size, at = _read_uvarint(value, 2)
    if not 1 <= size <= len(value) - at + 1:
        raise CorruptBatch(f"a cluster id of {size - 1} bytes does not fit into {len(value) - at} bytes")
    end = at + size - 1
    try:
        cluster_id = value[at:end].decode("utf-8")
    except UnicodeDecodeError:
        raise CorruptBatch("a PID reset's cluster id is not UTF-8") from None
    count, end = _read_uvarint(value, end)
    for _ in range(count):
        _, end = _read_uvarint(value, end)
        size, end = _read_uvarint(value, end)
        end += size
        if end > len(value):
            raise CorruptBatch("incomplete tagged field of a PID reset")
    return cluster_id


def control_key(kind: ControlType) -> bytes:
    """Return the key of a control record of this type."""
    return _KEY.pack(_KEY_VERSION, kind)


def end_txn_marker(
    *,
    base_offset: int,
    leader_epoch: int,
    timestamp_ms: int,
    producer_id: int,
    producer_epoch: int,
    commit: bool,
    coordinator_epoch: int,
) -> bytes:
    """Return the batch that commits or aborts a producer's open transaction."""
    kind = ControlType.COMMIT if commit else ControlType.ABORT
    value = _END_TXN_VALUE.pack(_VALUE_VERSION, coordinator_epoch)
    return build_batch(
        [RecordData(control_key(kind), value, (), timestamp_ms)],
        base_offset=base_offset,
        partition_leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )


def mirror_pid_reset(*, base_offset: int, leader_epoch: int, timestamp_ms: int, source_cluster_id: str) -> bytes:
    """Return the batch that makes every replica forget its mirrored producers (D15)."""
    name = source_cluster_id.encode("utf-8")
    if len(name) > 0x7FFF:
        raise LocalProtocolError(f"a cluster id of {len(name)} bytes is longer than a string may be")
    value = b"".join((_VALUE_VERSION.to_bytes(2, "big"), _write_uvarint(len(name) + 1), name, b"\x00"))
    return control_batch(
        ControlType.MIRROR_PID_RESET,
        value,
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        timestamp_ms=timestamp_ms,
    )


def control_batch(kind: ControlType, value: bytes, *, base_offset: int, leader_epoch: int, timestamp_ms: int) -> bytes:
    """Return a control batch without a producer: for KRaft records and the PID reset."""
    return build_batch(
        [RecordData(control_key(kind), value, (), timestamp_ms)],
        base_offset=base_offset,
        partition_leader_epoch=leader_epoch,
        is_control=True,
    )
