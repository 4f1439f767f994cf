"""WriteTxnMarkersRequest: request, key 27, versions 1-2, flexible from 1.

Generated from schemas/kafka/WriteTxnMarkersRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_qho, pack_qho = wire.fused("qh?")


class WritableTxnMarkerTopic(Struct):
    """Part of WriteTxnMarkersRequest."""

    __slots__ = ("name", "partition_indexes")

    FIELDS = (
        Field("Name", "name", "string", (1, 2), default="", entity="topicName"),
        Field("PartitionIndexes", "partition_indexes", "int32", (1, 2), is_array=True, default=[]),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partition_indexes: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partition_indexes = [] if partition_indexes is UNSET else partition_indexes
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partition_indexes))
        put(wire.numbers(self.partition_indexes, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WritableTxnMarkerTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partition_indexes, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class WritableTxnMarker(Struct):
    """Part of WriteTxnMarkersRequest."""

    __slots__ = (
        "producer_id",
        "producer_epoch",
        "transaction_result",
        "topics",
        "coordinator_epoch",
        "transaction_version",
    )

    FIELDS = (
        Field("ProducerId", "producer_id", "int64", (1, 2), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (1, 2), default=0),
        Field("TransactionResult", "transaction_result", "bool", (1, 2), default=False),
        Field("Topics", "topics", "struct", (1, 2), is_array=True, default=[], struct=WritableTxnMarkerTopic),
        Field("CoordinatorEpoch", "coordinator_epoch", "int32", (1, 2), default=0),
        Field("TransactionVersion", "transaction_version", "int8", (2, 2), default=0, ignorable=True),
    )

    def __init__(
        self,
        producer_id: int = 0,  # int64, producerId
        producer_epoch: int = 0,  # int16
        transaction_result: bool = False,  # bool
        topics: list[WritableTxnMarkerTopic] = UNSET,  # []WritableTxnMarkerTopic
        coordinator_epoch: int = 0,  # int32
        transaction_version: int = 0,  # int8, v2+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics = [] if topics is UNSET else topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qho(self.producer_id, self.producer_epoch, self.transaction_result))
        put(wire.compact_count(self.topics))
        for writable_txn_marker_topic in self.topics:
            writable_txn_marker_topic._write(put, version)
        put(wire.pack_int32(self.coordinator_epoch))
        if version >= 2:
            put(wire.pack_int8(self.transaction_version))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WritableTxnMarker, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class WriteTxnMarkersRequest(Message):
    """WriteTxnMarkersRequest, versions 1-2."""

    __slots__ = ("markers",)

    NAME = "WriteTxnMarkersRequest"
    TYPE = "request"
    API_KEY = 27
    MIN_VERSION = 1
    MAX_VERSION = 2
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("Markers", "markers", "struct", (1, 2), is_array=True, default=[], struct=WritableTxnMarker),
    )

    def __init__(
        self,
        markers: list[WritableTxnMarker] = UNSET,  # []WritableTxnMarker
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.markers = [] if markers is UNSET else markers
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.markers))
        for writable_txn_marker in self.markers:
            writable_txn_marker._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteTxnMarkersRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 17)
        self.markers, pos = wire.read_structs(WritableTxnMarker._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
