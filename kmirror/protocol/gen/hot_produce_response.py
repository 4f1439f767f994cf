"""ProduceResponse in straight lines, version by version; the plain form stands beside it.

Generated from schemas/kafka/ProduceResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.gen.produce_response import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kmirror.protocol.uuid import Uuid

new = object.__new__
new_uuid = bytes.__new__
pack_i = wire.fused("i")[1]
unpack_iB, pack_iB = wire.fused("iB")
pack_ihqqq = wire.fused("ihqqq")[1]
unpack_ihqqqB = wire.fused("ihqqqB")[0]
unpack_uB = wire.fused("16sB")[0]


def read_9(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ProduceResponse, int]:
    size = len(buf)
    self = new(ProduceResponse)
    self.unknown_tags = ()
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    self.responses = items_1 = []
    for _ in range(n):
        item_1 = new(TopicProduceResponse)
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
            item_1.name = buf[pos:end].decode()
            pos = end
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 22 <= size - pos:
            raise wire.Malformed
        item_1.partition_responses = items_2 = []
        for _ in range(n):
            item_2 = new(PartitionProduceResponse)
            item_2.unknown_tags = ()
            (
                item_2.index,
                item_2.error_code,
                item_2.base_offset,
                item_2.log_append_time_ms,
                item_2.log_start_offset,
                n,
            ) = unpack_ihqqqB(buf, pos)
            pos += 31
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
            else:
                n -= 1
            if not 0 <= n * 6 <= size - pos:
                raise wire.Malformed
            item_2.record_errors = items_3 = []
            for _ in range(n):
                item_3 = new(BatchIndexAndErrorMessage)
                item_3.unknown_tags = ()
                item_3.batch_index, n = unpack_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n > wire.STRING_BYTES_MAX:
                        raise wire.Malformed
                else:
                    n -= 1
                if n < 0:
                    item_3.batch_index_error_message = None
                else:
                    end = pos + n
                    item_3.batch_index_error_message = buf[pos:end].decode()
                    pos = end
                if buf[pos]:
                    pos = item_3._read_tags(buf, pos, version)
                else:
                    pos += 1
                items_3.append(item_3)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
                if n > wire.STRING_BYTES_MAX:
                    raise wire.Malformed
            else:
                n -= 1
            if n < 0:
                item_2.error_message = None
            else:
                end = pos + n
                item_2.error_message = buf[pos:end].decode()
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
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n:
        pos = self._read_tags(buf, pos - 1, version)
    return self, pos


def write_9(self: ProduceResponse, put: wire.Put, version: int) -> None:
    if self.unknown_tags or self.node_endpoints:
        self._write(put, version)
        return
    put(wire.uvarint(len(self.responses) + 1))
    for item_1 in self.responses:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.compact_string(item_1.name))
        put(wire.uvarint(len(item_1.partition_responses) + 1))
        for item_2 in item_1.partition_responses:
            if item_2.unknown_tags or (part := item_2.current_leader).leader_id != -1 or part.leader_epoch != -1 or part.unknown_tags:
                item_2._write(put, version)
                continue
            put(pack_ihqqq(
                item_2.index,
                item_2.error_code,
                item_2.base_offset,
                item_2.log_append_time_ms,
                item_2.log_start_offset,
            ))
            put(wire.uvarint(len(item_2.record_errors) + 1))
            for item_3 in item_2.record_errors:
                if item_3.unknown_tags:
                    item_3._write(put, version)
                    continue
                put(pack_i(item_3.batch_index))
                put(wire.compact_nullable_string(item_3.batch_index_error_message))
                put(b"\0")
            put(wire.compact_nullable_string(item_2.error_message))
            put(b"\0")
        put(b"\0")
    put(pack_iB(self.throttle_time_ms, 0))


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ProduceResponse, int]:
    size = len(buf)
    self = new(ProduceResponse)
    self.unknown_tags = ()
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    self.responses = items_1 = []
    for _ in range(n):
        item_1 = new(TopicProduceResponse)
        item_1.unknown_tags = ()
        item_1.name = ""
        item_1.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        item_1.topic_id = new_uuid(Uuid, item_1.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 22 <= size - pos:
            raise wire.Malformed
        item_1.partition_responses = items_2 = []
        for _ in range(n):
            item_2 = new(PartitionProduceResponse)
            item_2.unknown_tags = ()
            (
                item_2.index,
                item_2.error_code,
                item_2.base_offset,
                item_2.log_append_time_ms,
                item_2.log_start_offset,
                n,
            ) = unpack_ihqqqB(buf, pos)
            pos += 31
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
            else:
                n -= 1
            if not 0 <= n * 6 <= size - pos:
                raise wire.Malformed
            item_2.record_errors = items_3 = []
            for _ in range(n):
                item_3 = new(BatchIndexAndErrorMessage)
                item_3.unknown_tags = ()
                item_3.batch_index, n = unpack_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n > wire.STRING_BYTES_MAX:
                        raise wire.Malformed
                else:
                    n -= 1
                if n < 0:
                    item_3.batch_index_error_message = None
                else:
                    end = pos + n
                    item_3.batch_index_error_message = buf[pos:end].decode()
                    pos = end
                if buf[pos]:
                    pos = item_3._read_tags(buf, pos, version)
                else:
                    pos += 1
                items_3.append(item_3)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
                if n > wire.STRING_BYTES_MAX:
                    raise wire.Malformed
            else:
                n -= 1
            if n < 0:
                item_2.error_message = None
            else:
                end = pos + n
                item_2.error_message = buf[pos:end].decode()
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
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n:
        pos = self._read_tags(buf, pos - 1, version)
    return self, pos


def write_13(self: ProduceResponse, put: wire.Put, version: int) -> None:
    if self.unknown_tags or self.node_endpoints:
        self._write(put, version)
        return
    put(wire.uvarint(len(self.responses) + 1))
    for item_1 in self.responses:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partition_responses) + 1))
        for item_2 in item_1.partition_responses:
            if item_2.unknown_tags or (part := item_2.current_leader).leader_id != -1 or part.leader_epoch != -1 or part.unknown_tags:
                item_2._write(put, version)
                continue
            put(pack_ihqqq(
                item_2.index,
                item_2.error_code,
                item_2.base_offset,
                item_2.log_append_time_ms,
                item_2.log_start_offset,
            ))
            put(wire.uvarint(len(item_2.record_errors) + 1))
            for item_3 in item_2.record_errors:
                if item_3.unknown_tags:
                    item_3._write(put, version)
                    continue
                put(pack_i(item_3.batch_index))
                put(wire.compact_nullable_string(item_3.batch_index_error_message))
                put(b"\0")
            put(wire.compact_nullable_string(item_2.error_message))
            put(b"\0")
        put(b"\0")
    put(pack_iB(self.throttle_time_ms, 0))


ProduceResponse.READERS = {
    9: read_9,
    10: read_9,
    11: read_9,
    12: read_9,
    13: read_13,
}
ProduceResponse.WRITERS = {
    9: write_9,
    10: write_9,
    11: write_9,
    12: write_9,
    13: write_13,
}
