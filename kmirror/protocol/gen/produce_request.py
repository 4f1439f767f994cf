"""ProduceRequest: request, key 0, versions 3-13, flexible from 9.

Generated from schemas/kafka/ProduceRequest.json.
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

unpack_hi, pack_hi = wire.fused("hi")


class PartitionProduceData(Struct):
    """Part of ProduceRequest."""

    __slots__ = ("index", "records")

    FIELDS = (
        Field("Index", "index", "int32", (3, 13), default=0),
        Field("Records", "records", "records", (3, 13), nullable=(3, 13)),
    )

    def __init__(
        self,
        # Partition.
        index: int = 0,  # int32
        # Record batches as they stand in the log.
        records: bytes | memoryview | None = None,  # records
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.index = index
        self.records = records
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.index))
        (wire.put_compact_nullable_bytes if version >= 9 else wire.put_nullable_bytes)(put, self.records)
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionProduceData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.index,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.records, pos = (wire.read_compact_nullable_records if version >= 9 else wire.read_nullable_records)(buf, pos)
        if version >= 9:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class TopicProduceData(Struct):
    """Part of ProduceRequest."""

    __slots__ = ("name", "topic_id", "partition_data")

    FIELDS = (
        Field(
            "Name",
            "name",
            "string",
            (3, 12),
            default="",
            ignorable=True,
            entity="topicName",
            map_key=True,
        ),
        Field("TopicId", "topic_id", "uuid", (13, 13), default=Uuid.ZERO, ignorable=True, map_key=True),
        Field(
            "PartitionData",
            "partition_data",
            "struct",
            (3, 13),
            is_array=True,
            default=[],
            struct=PartitionProduceData,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, v3-12, ignorable, topicName
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v13+, ignorable
        # One entry for each partition.
        partition_data: list[PartitionProduceData] = UNSET,  # []PartitionProduceData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.topic_id = topic_id
        self.partition_data = [] if partition_data is UNSET else partition_data
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version <= 12:
            put((wire.compact_string if version >= 9 else wire.string)(self.name))
        if version >= 13:
            put(wire.uuid(self.topic_id))
        put((wire.compact_count if version >= 9 else wire.count)(self.partition_data))
        for partition_produce_data in self.partition_data:
            partition_produce_data._write(put, version)
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicProduceData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version <= 12:
            self.name, pos = (wire.read_compact_string if version >= 9 else wire.read_string)(buf, pos)
        else:
            self.name = ""
        if version >= 13:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 6)
        self.partition_data, pos = wire.read_structs(PartitionProduceData._read, buf, pos, n, version)
        if version >= 9:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class ProduceRequest(Message):
    """Brings records to be appended."""

    __slots__ = ("transactional_id", "acks", "timeout_ms", "topic_data")

    NAME = "ProduceRequest"
    TYPE = "request"
    API_KEY = 0
    MIN_VERSION = 3
    MAX_VERSION = 13
    FLEXIBLE_FROM = 9
    HAS_RECORDS = True
    FIELDS = (
        Field(
            "TransactionalId",
            "transactional_id",
            "string",
            (3, 13),
            nullable=(3, 13),
            entity="transactionalId",
        ),
        Field("Acks", "acks", "int16", (3, 13), default=0),
        Field("TimeoutMs", "timeout_ms", "int32", (3, 13), default=0),
        Field(
            "TopicData",
            "topic_data",
            "struct",
            (3, 13),
            is_array=True,
            default=[],
            struct=TopicProduceData,
        ),
    )

    def __init__(
        self,
        # Transactional id, null outside of transactions.
        transactional_id: str | None = None,  # string, transactionalId
        # 0 none, 1 the leader, -1 all replicas in sync.
        acks: int = 0,  # int16
        # How long the broker may take, in milliseconds.
        timeout_ms: int = 0,  # int32
        # One entry for each topic.
        topic_data: list[TopicProduceData] = UNSET,  # []TopicProduceData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data = [] if topic_data is UNSET else topic_data
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_nullable_string if version >= 9 else wire.nullable_string)(self.transactional_id))
        put(pack_hi(self.acks, self.timeout_ms))
        put((wire.compact_count if version >= 9 else wire.count)(self.topic_data))
        for topic_produce_data in self.topic_data:
            topic_produce_data._write(put, version)
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ProduceRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.transactional_id, pos = (wire.read_compact_nullable_string if version >= 9 else wire.read_nullable_string)(buf, pos)
        self.acks, self.timeout_ms = unpack_hi(buf, pos)
        pos += 6
        n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 3)
        self.topic_data, pos = wire.read_structs(TopicProduceData._read, buf, pos, n, version)
        if version >= 9:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


# -- the same functions as above, written out for each version, for speed

new = object.__new__
uvarint = wire.uvarint
new_uuid = bytes.__new__
unpack_hiB = wire.fused("hiB")[0]
pack_i = wire.fused("i")[1]
unpack_iB = wire.fused("iB")[0]
unpack_uB = wire.fused("16sB")[0]


def read_9(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ProduceRequest, int]:
    size = len(buf)
    view = memoryview(buf)
    self = new(ProduceRequest)
    self._tagged = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
        if n > wire.STRING_BYTES_MAX:
            raise wire.Malformed
    else:
        n -= 1
    if n < 0:
        self.transactional_id = None
    else:
        end = pos + n
        self.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    self.acks, self.timeout_ms, n = unpack_hiB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    topic_produce_data_items: list[TopicProduceData] = []
    self.topic_data = topic_produce_data_items
    for _ in range(n):
        topic_produce_data = new(TopicProduceData)
        topic_produce_data._tagged = 0
        topic_produce_data.topic_id = Uuid.ZERO
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n > wire.STRING_BYTES_MAX:
                raise wire.Malformed
        else:
            n -= 1
        if n < 0:
            raise wire.Malformed
        else:
            end = pos + n
            topic_produce_data.name = str(buf[pos:end], "utf-8")
            pos = end
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 6 <= size - pos:
            raise wire.Malformed
        partition_produce_data_items: list[PartitionProduceData] = []
        topic_produce_data.partition_data = partition_produce_data_items
        for _ in range(n):
            partition_produce_data = new(PartitionProduceData)
            partition_produce_data._tagged = 0
            partition_produce_data.index, n = unpack_iB(buf, pos)
            pos += 5
            if n > 127:
                second = buf[pos]
                if second < 128:
                    n = (n & 0x7F | second << 7) - 1
                    pos += 1
                elif buf[pos + 1] < 128:
                    n = (n & 0x7F | (second & 0x7F) << 7 | buf[pos + 1] << 14) - 1
                    pos += 2
                else:
                    n, pos = wire.read_compact_length(buf, pos - 1)
            else:
                n -= 1
            if n < 0:
                partition_produce_data.records = None
            else:
                end = pos + n
                partition_produce_data.records = view[pos:end]
                pos = end
            if buf[pos]:
                pos = partition_produce_data._read_tags(buf, pos, version)
            else:
                pos += 1
            partition_produce_data_items.append(partition_produce_data)
        if buf[pos]:
            pos = topic_produce_data._read_tags(buf, pos, version)
        else:
            pos += 1
        topic_produce_data_items.append(topic_produce_data)
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_9(self: ProduceRequest, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    chunks += (
        wire.compact_nullable_string(self.transactional_id),
        pack_hi(self.acks, self.timeout_ms),
        uvarint(len(self.topic_data) + 1),
    )
    for topic_produce_data in self.topic_data:
        if topic_produce_data._tagged:
            topic_produce_data._write(put, version)
            continue
        chunks += (
            wire.compact_string(topic_produce_data.name),
            uvarint(len(topic_produce_data.partition_data) + 1),
        )
        for partition_produce_data in topic_produce_data.partition_data:
            if partition_produce_data._tagged:
                partition_produce_data._write(put, version)
                continue
            if partition_produce_data.records is not None:
                chunks += (
                    pack_i(partition_produce_data.index),
                    uvarint(len(partition_produce_data.records) + 1),
                    partition_produce_data.records,
                    b"\0",
                )
            else:
                chunks += (pack_i(partition_produce_data.index), b"\0", b"\0")
        put(b"\0")
    put(b"\0")


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ProduceRequest, int]:
    size = len(buf)
    view = memoryview(buf)
    self = new(ProduceRequest)
    self._tagged = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
        if n > wire.STRING_BYTES_MAX:
            raise wire.Malformed
    else:
        n -= 1
    if n < 0:
        self.transactional_id = None
    else:
        end = pos + n
        self.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    self.acks, self.timeout_ms, n = unpack_hiB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    topic_produce_data_items: list[TopicProduceData] = []
    self.topic_data = topic_produce_data_items
    for _ in range(n):
        topic_produce_data = new(TopicProduceData)
        topic_produce_data._tagged = 0
        topic_produce_data.name = ""
        topic_produce_data.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        topic_produce_data.topic_id = new_uuid(Uuid, topic_produce_data.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 6 <= size - pos:
            raise wire.Malformed
        partition_produce_data_items: list[PartitionProduceData] = []
        topic_produce_data.partition_data = partition_produce_data_items
        for _ in range(n):
            partition_produce_data = new(PartitionProduceData)
            partition_produce_data._tagged = 0
            partition_produce_data.index, n = unpack_iB(buf, pos)
            pos += 5
            if n > 127:
                second = buf[pos]
                if second < 128:
                    n = (n & 0x7F | second << 7) - 1
                    pos += 1
                elif buf[pos + 1] < 128:
                    n = (n & 0x7F | (second & 0x7F) << 7 | buf[pos + 1] << 14) - 1
                    pos += 2
                else:
                    n, pos = wire.read_compact_length(buf, pos - 1)
            else:
                n -= 1
            if n < 0:
                partition_produce_data.records = None
            else:
                end = pos + n
                partition_produce_data.records = view[pos:end]
                pos = end
            if buf[pos]:
                pos = partition_produce_data._read_tags(buf, pos, version)
            else:
                pos += 1
            partition_produce_data_items.append(partition_produce_data)
        if buf[pos]:
            pos = topic_produce_data._read_tags(buf, pos, version)
        else:
            pos += 1
        topic_produce_data_items.append(topic_produce_data)
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_13(self: ProduceRequest, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    chunks += (
        wire.compact_nullable_string(self.transactional_id),
        pack_hi(self.acks, self.timeout_ms),
        uvarint(len(self.topic_data) + 1),
    )
    for topic_produce_data in self.topic_data:
        if topic_produce_data._tagged:
            topic_produce_data._write(put, version)
            continue
        chunks += (
            wire.uuid(topic_produce_data.topic_id),
            uvarint(len(topic_produce_data.partition_data) + 1),
        )
        for partition_produce_data in topic_produce_data.partition_data:
            if partition_produce_data._tagged:
                partition_produce_data._write(put, version)
                continue
            if partition_produce_data.records is not None:
                chunks += (
                    pack_i(partition_produce_data.index),
                    uvarint(len(partition_produce_data.records) + 1),
                    partition_produce_data.records,
                    b"\0",
                )
            else:
                chunks += (pack_i(partition_produce_data.index), b"\0", b"\0")
        put(b"\0")
    put(b"\0")


ProduceRequest.READERS = {
    9: read_9,
    10: read_9,
    11: read_9,
    12: read_9,
    13: read_13,
}
ProduceRequest.WRITERS = {
    9: write_9,
    10: write_9,
    11: write_9,
    12: write_9,
    13: write_13,
}
