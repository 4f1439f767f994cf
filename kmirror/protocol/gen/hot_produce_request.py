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
from kmirror.protocol.uuid import Uuid

new = object.__new__
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
    self.unknown_tags = ()
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
    self.topic_data = items_1 = []
    for _ in range(n):
        item_1 = new(TopicProduceData)
        item_1.unknown_tags = ()
        item_1.topic_id = Uuid.ZERO
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
            item_1.name = str(buf[pos:end], "utf-8")
            pos = end
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 6 <= size - pos:
            raise wire.Malformed
        item_1.partition_data = items_2 = []
        for _ in range(n):
            item_2 = new(PartitionProduceData)
            item_2.unknown_tags = ()
            item_2.index, n = unpack_iB(buf, pos)
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
                item_2.records = None
            else:
                end = pos + n
                item_2.records = view[pos:end]
                pos = end
            if buf[pos]:
                pos = item_2._read_tags(buf, pos, version)
            else:
                pos += 1
            items_2.append(item_2)
        if buf[pos]:
            pos = item_1._read_tags(buf, pos, version)
        else:
            pos += 1
        items_1.append(item_1)
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_9(self: ProduceRequest, put: wire.Put, version: int) -> None:
    if self.unknown_tags:
        self._write(put, version)
        return
    put(wire.compact_nullable_string(self.transactional_id))
    put(pack_hi(self.acks, self.timeout_ms))
    put(wire.uvarint(len(self.topic_data) + 1))
    for item_1 in self.topic_data:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.compact_string(item_1.name))
        put(wire.uvarint(len(item_1.partition_data) + 1))
        for item_2 in item_1.partition_data:
            if item_2.unknown_tags:
                item_2._write(put, version)
                continue
            put(pack_i(item_2.index))
            if item_2.records is None:
                put(b"\0")
            else:
                put(wire.uvarint(len(item_2.records) + 1))
                put(item_2.records)
            put(b"\0")
        put(b"\0")
    put(b"\0")


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ProduceRequest, int]:
    size = len(buf)
    view = memoryview(buf)
    self = new(ProduceRequest)
    self.unknown_tags = ()
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
    self.topic_data = items_1 = []
    for _ in range(n):
        item_1 = new(TopicProduceData)
        item_1.unknown_tags = ()
        item_1.name = ""
        item_1.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        item_1.topic_id = new_uuid(Uuid, item_1.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 6 <= size - pos:
            raise wire.Malformed
        item_1.partition_data = items_2 = []
        for _ in range(n):
            item_2 = new(PartitionProduceData)
            item_2.unknown_tags = ()
            item_2.index, n = unpack_iB(buf, pos)
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
                item_2.records = None
            else:
                end = pos + n
                item_2.records = view[pos:end]
                pos = end
            if buf[pos]:
                pos = item_2._read_tags(buf, pos, version)
            else:
                pos += 1
            items_2.append(item_2)
        if buf[pos]:
            pos = item_1._read_tags(buf, pos, version)
        else:
            pos += 1
        items_1.append(item_1)
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_13(self: ProduceRequest, put: wire.Put, version: int) -> None:
    if self.unknown_tags:
        self._write(put, version)
        return
    put(wire.compact_nullable_string(self.transactional_id))
    put(pack_hi(self.acks, self.timeout_ms))
    put(wire.uvarint(len(self.topic_data) + 1))
    for item_1 in self.topic_data:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partition_data) + 1))
        for item_2 in item_1.partition_data:
            if item_2.unknown_tags:
                item_2._write(put, version)
                continue
            put(pack_i(item_2.index))
            if item_2.records is None:
                put(b"\0")
            else:
                put(wire.uvarint(len(item_2.records) + 1))
                put(item_2.records)
            put(b"\0")
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
