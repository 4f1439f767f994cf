"""RemotePartitionDeleteMetadataRecord: metadata, key 2, versions 0, flexible from 0.

Generated from schemas/storage/RemotePartitionDeleteMetadataRecord.json.
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

unpack_iqb, pack_iqb = wire.fused("iqb")


class TopicIdPartitionEntry(Struct):
    """Part of RemotePartitionDeleteMetadataRecord."""

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


class RemotePartitionDeleteMetadataRecord(Message):
    """RemotePartitionDeleteMetadataRecord, versions 0."""

    __slots__ = ("topic_id_partition", "broker_id", "event_timestamp_ms", "remote_partition_delete_state")

    NAME = "RemotePartitionDeleteMetadataRecord"
    TYPE = "metadata"
    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field(
            "TopicIdPartition",
            "topic_id_partition",
            "struct",
            (0, 0),
            default={},
            struct=TopicIdPartitionEntry,
        ),
        Field("BrokerId", "broker_id", "int32", (0, 0), default=0),
        Field("EventTimestampMs", "event_timestamp_ms", "int64", (0, 0), default=0),
        Field("RemotePartitionDeleteState", "remote_partition_delete_state", "int8", (0, 0), default=0),
    )

    def __init__(
        self,
        topic_id_partition: TopicIdPartitionEntry = UNSET,  # TopicIdPartitionEntry
        broker_id: int = 0,  # int32
        event_timestamp_ms: int = 0,  # int64
        remote_partition_delete_state: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id_partition = TopicIdPartitionEntry() if topic_id_partition is UNSET else topic_id_partition
        self.broker_id = broker_id
        self.event_timestamp_ms = event_timestamp_ms
        self.remote_partition_delete_state = remote_partition_delete_state
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        self.topic_id_partition._write(put, version)
        put(pack_iqb(self.broker_id, self.event_timestamp_ms, self.remote_partition_delete_state))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemotePartitionDeleteMetadataRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id_partition, pos = TopicIdPartitionEntry._read(buf, pos, version)
        (
            self.broker_id,
            self.event_timestamp_ms,
            self.remote_partition_delete_state,
        ) = unpack_iqb(buf, pos)
        pos += 13
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
