"""RemotePartitionDeleteMetadataRecord: metadata, key 2, versions 0, flexible from 0.

Generated from schemas/storage/RemotePartitionDeleteMetadataRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_iqb, pack_iqb = wire.fused("iqb")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicIdPartitionEntry(Struct):
    """Part of RemotePartitionDeleteMetadataRecord."""

    name: str = ""  # string
    id: Uuid = Uuid.ZERO  # uuid
    partition: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Id", "id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partition", "partition", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.uuid(self.id))
        put(wire.pack_int32(self.partition))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicIdPartitionEntry, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        self.id, pos = wire.read_uuid(buf, pos)
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class RemotePartitionDeleteMetadataRecord(Message):
    """RemotePartitionDeleteMetadataRecord, versions 0."""

    topic_id_partition: TopicIdPartitionEntry = field(default_factory=TopicIdPartitionEntry)  # TopicIdPartitionEntry
    broker_id: int = 0  # int32
    event_timestamp_ms: int = 0  # int64
    remote_partition_delete_state: int = 0  # int8

    NAME: ClassVar[str] = "RemotePartitionDeleteMetadataRecord"
    TYPE: ClassVar[str] = "metadata"
    API_KEY: ClassVar[int | None] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        self.topic_id_partition._write(put, version)
        put(pack_iqb(self.broker_id, self.event_timestamp_ms, self.remote_partition_delete_state))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemotePartitionDeleteMetadataRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id_partition, pos = TopicIdPartitionEntry._read(buf, pos, version)
        (
            self.broker_id,
            self.event_timestamp_ms,
            self.remote_partition_delete_state,
        ) = unpack_iqb(buf, pos)
        pos += 13
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
