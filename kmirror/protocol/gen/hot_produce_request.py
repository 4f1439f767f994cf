"""ProduceRequest in straight lines, version by version; the plain form stands beside it.

Generated from schemas/kafka/ProduceRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.gen.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kmirror.kernel.uuid import Uuid

new = object.__new__
uvarint = wire.uvarint
new_uuid = bytes.__new__
pack_hi = wire.fused("hi")[1]
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
