"""RemoteLogSegmentMetadataUpdateRecord: metadata, key 1, versions 0, flexible from 0.

Generated from schemas/storage/RemoteLogSegmentMetadataUpdateRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_iq, pack_iq = wire.fused("iq")


class TopicIdPartitionEntry(Struct):
    """Part of RemoteLogSegmentMetadataUpdateRecord."""

    __slots__ = ("name", "id", "partition")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Id", "id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partition", "partition", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        id: Uuid = Uuid.ZERO,  # uuid
        partition: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.id = id
        self.partition = partition
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.uuid(self.id))
        put(wire.pack_int32(self.partition))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicIdPartitionEntry, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.id, pos = wire.read_uuid(buf, pos)
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class RemoteLogSegmentIdEntry(Struct):
    """Part of RemoteLogSegmentMetadataUpdateRecord."""

    __slots__ = ("topic_id_partition", "id")

    FIELDS = (
        Field(
            "TopicIdPartition",
            "topic_id_partition",
            "struct",
            (0, 0),
            default={},
            struct=TopicIdPartitionEntry,
        ),
        Field("Id", "id", "uuid", (0, 0), default=Uuid.ZERO),
    )

    def __init__(
        self,
        topic_id_partition: TopicIdPartitionEntry = UNSET,  # TopicIdPartitionEntry
        id: Uuid = Uuid.ZERO,  # uuid
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id_partition = TopicIdPartitionEntry() if topic_id_partition is UNSET else topic_id_partition
        self.id = id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        self.topic_id_partition._write(put, version)
        put(wire.uuid(self.id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemoteLogSegmentIdEntry, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id_partition, pos = TopicIdPartitionEntry._read(buf, pos, version)
        self.id, pos = wire.read_uuid(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class RemoteLogSegmentMetadataUpdateRecord(Message):
    """RemoteLogSegmentMetadataUpdateRecord, versions 0."""

    __slots__ = (
        "remote_log_segment_id",
        "broker_id",
        "event_timestamp_ms",
        "custom_metadata",
        "remote_log_segment_state",
    )

    NAME = "RemoteLogSegmentMetadataUpdateRecord"
    TYPE = "metadata"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field(
            "RemoteLogSegmentId",
            "remote_log_segment_id",
            "struct",
            (0, 0),
            default={},
            struct=RemoteLogSegmentIdEntry,
        ),
        Field("BrokerId", "broker_id", "int32", (0, 0), default=0),
        Field("EventTimestampMs", "event_timestamp_ms", "int64", (0, 0), default=0),
        Field("CustomMetadata", "custom_metadata", "bytes", (0, 0), nullable=(0, 0)),
        Field("RemoteLogSegmentState", "remote_log_segment_state", "int8", (0, 0), default=0),
    )

    def __init__(
        self,
        remote_log_segment_id: RemoteLogSegmentIdEntry = UNSET,  # RemoteLogSegmentIdEntry
        broker_id: int = 0,  # int32
        event_timestamp_ms: int = 0,  # int64
        custom_metadata: bytes | None = None,  # bytes
        remote_log_segment_state: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.remote_log_segment_id = RemoteLogSegmentIdEntry() if remote_log_segment_id is UNSET else remote_log_segment_id
        self.broker_id = broker_id
        self.event_timestamp_ms = event_timestamp_ms
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        self.remote_log_segment_id._write(put, version)
        put(pack_iq(self.broker_id, self.event_timestamp_ms))
        wire.put_compact_nullable_bytes(put, self.custom_metadata)
        put(wire.pack_int8(self.remote_log_segment_state))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemoteLogSegmentMetadataUpdateRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.remote_log_segment_id, pos = RemoteLogSegmentIdEntry._read(buf, pos, version)
        self.broker_id, self.event_timestamp_ms = unpack_iq(buf, pos)
        pos += 12
        self.custom_metadata, pos = wire.read_compact_nullable_bytes(buf, pos)
        (self.remote_log_segment_state,) = wire.unpack_int8(buf, pos)
        pos += 1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
