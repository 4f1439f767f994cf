"""WriteTxnMarkersRequest: request, key 27, versions 1-2, flexible from 1.

Generated from schemas/kafka/WriteTxnMarkersRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_qho, pack_qho = wire.fused("qh?")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WritableTxnMarkerTopic(Struct):
    """Part of WriteTxnMarkersRequest."""

    name: str = ""  # string, topicName
    partition_indexes: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (1, 2), default="", entity="topicName"),
        Field("PartitionIndexes", "partition_indexes", "int32", (1, 2), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partition_indexes))
        put(wire.numbers(self.partition_indexes, "i"))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WritableTxnMarkerTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partition_indexes, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WritableTxnMarker(Struct):
    """Part of WriteTxnMarkersRequest."""

    producer_id: int = 0  # int64, producerId
    producer_epoch: int = 0  # int16
    transaction_result: bool = False  # bool
    topics: list[WritableTxnMarkerTopic] = field(default_factory=list)  # []WritableTxnMarkerTopic
    coordinator_epoch: int = 0  # int32
    transaction_version: int = 0  # int8, v2+, ignorable

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ProducerId", "producer_id", "int64", (1, 2), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (1, 2), default=0),
        Field("TransactionResult", "transaction_result", "bool", (1, 2), default=False),
        Field("Topics", "topics", "struct", (1, 2), is_array=True, default=[], struct=WritableTxnMarkerTopic),
        Field("CoordinatorEpoch", "coordinator_epoch", "int32", (1, 2), default=0),
        Field("TransactionVersion", "transaction_version", "int8", (2, 2), default=0, ignorable=True),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qho(self.producer_id, self.producer_epoch, self.transaction_result))
        put(wire.compact_count(self.topics))
        for writable_txn_marker_topic in self.topics:
            writable_txn_marker_topic._write(put, version)
        put(wire.pack_int32(self.coordinator_epoch))
        if version >= 2:
            put(wire.pack_int8(self.transaction_version))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WritableTxnMarker, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.producer_id, self.producer_epoch, self.transaction_result = unpack_qho(buf, pos)
        pos += 11
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(WritableTxnMarkerTopic._read, buf, pos, n, version)
        (self.coordinator_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            (self.transaction_version,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.transaction_version = 0
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WriteTxnMarkersRequest(Message):
    """WriteTxnMarkersRequest, versions 1-2."""

    markers: list[WritableTxnMarker] = field(default_factory=list)  # []WritableTxnMarker

    NAME: ClassVar[str] = "WriteTxnMarkersRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 27
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Markers", "markers", "struct", (1, 2), is_array=True, default=[], struct=WritableTxnMarker),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.markers))
        for writable_txn_marker in self.markers:
            writable_txn_marker._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteTxnMarkersRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 17)
        self.markers, pos = wire.read_structs(WritableTxnMarker._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
