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
from kmirror.kernel.uuid import Uuid

new = object.__new__
uvarint = wire.uvarint
new_uuid = bytes.__new__
pack_i = wire.fused("i")[1]
unpack_iB, pack_iB = wire.fused("iB")
pack_ihqqq = wire.fused("ihqqq")[1]
unpack_ihqqqB = wire.fused("ihqqqB")[0]
unpack_uB = wire.fused("16sB")[0]


def read_9(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ProduceResponse, int]:
    size = len(buf)
    self = new(ProduceResponse)
    self._tagged = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    topic_produce_response_items: list[TopicProduceResponse] = []
    self.responses = topic_produce_response_items
    for _ in range(n):
        topic_produce_response = new(TopicProduceResponse)
        topic_produce_response._tagged = 0
        topic_produce_response.topic_id = Uuid.ZERO
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
            topic_produce_response.name = buf[pos:end].decode()
            pos = end
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 22 <= size - pos:
            raise wire.Malformed
        partition_produce_response_items: list[PartitionProduceResponse] = []
        topic_produce_response.partition_responses = partition_produce_response_items
        for _ in range(n):
            partition_produce_response = new(PartitionProduceResponse)
            partition_produce_response._tagged = 0
            (
                partition_produce_response.index,
                partition_produce_response.error_code,
                partition_produce_response.base_offset,
                partition_produce_response.log_append_time_ms,
                partition_produce_response.log_start_offset,
                n,
            ) = unpack_ihqqqB(buf, pos)
            pos += 31
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
            else:
                n -= 1
            if not 0 <= n * 6 <= size - pos:
                raise wire.Malformed
            batch_index_and_error_message_items: list[BatchIndexAndErrorMessage] = []
            partition_produce_response.record_errors = batch_index_and_error_message_items
            for _ in range(n):
                batch_index_and_error_message = new(BatchIndexAndErrorMessage)
                batch_index_and_error_message._tagged = 0
                batch_index_and_error_message.batch_index, n = unpack_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n > wire.STRING_BYTES_MAX:
                        raise wire.Malformed
                else:
                    n -= 1
                if n < 0:
                    batch_index_and_error_message.batch_index_error_message = None
                else:
                    end = pos + n
                    batch_index_and_error_message.batch_index_error_message = buf[pos:end].decode()
                    pos = end
                if buf[pos]:
                    pos = batch_index_and_error_message._read_tags(buf, pos, version)
                else:
                    pos += 1
                batch_index_and_error_message_items.append(batch_index_and_error_message)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
                if n > wire.STRING_BYTES_MAX:
                    raise wire.Malformed
            else:
                n -= 1
            if n < 0:
                partition_produce_response.error_message = None
            else:
                end = pos + n
                partition_produce_response.error_message = buf[pos:end].decode()
                pos = end
            if buf[pos]:
                pos = partition_produce_response._read_tags(buf, pos, version)
            else:
                pos += 1
            partition_produce_response_items.append(partition_produce_response)
        if buf[pos]:
            pos = topic_produce_response._read_tags(buf, pos, version)
        else:
            pos += 1
        topic_produce_response_items.append(topic_produce_response)
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n:
        pos = self._read_tags(buf, pos - 1, version)
    return self, pos


def write_9(self: ProduceResponse, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    put(uvarint(len(self.responses) + 1))
    for topic_produce_response in self.responses:
        if topic_produce_response._tagged:
            topic_produce_response._write(put, version)
            continue
        chunks += (
            wire.compact_string(topic_produce_response.name),
            uvarint(len(topic_produce_response.partition_responses) + 1),
        )
        for partition_produce_response in topic_produce_response.partition_responses:
            if partition_produce_response._tagged:
                partition_produce_response._write(put, version)
                continue
            chunks += (
                pack_ihqqq(partition_produce_response.index, partition_produce_response.error_code, partition_produce_response.base_offset, partition_produce_response.log_append_time_ms, partition_produce_response.log_start_offset),
                uvarint(len(partition_produce_response.record_errors) + 1),
            )
            for batch_index_and_error_message in partition_produce_response.record_errors:
                if batch_index_and_error_message._tagged:
                    batch_index_and_error_message._write(put, version)
                    continue
                chunks += (
                    pack_i(batch_index_and_error_message.batch_index),
                    wire.compact_nullable_string(batch_index_and_error_message.batch_index_error_message),
                    b"\0",
                )
            chunks += (wire.compact_nullable_string(partition_produce_response.error_message), b"\0")
        put(b"\0")
    put(pack_iB(self.throttle_time_ms, 0))


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ProduceResponse, int]:
    size = len(buf)
    self = new(ProduceResponse)
    self._tagged = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    topic_produce_response_items: list[TopicProduceResponse] = []
    self.responses = topic_produce_response_items
    for _ in range(n):
        topic_produce_response = new(TopicProduceResponse)
        topic_produce_response._tagged = 0
        topic_produce_response.name = ""
        topic_produce_response.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        topic_produce_response.topic_id = new_uuid(Uuid, topic_produce_response.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 22 <= size - pos:
            raise wire.Malformed
        partition_produce_response_items: list[PartitionProduceResponse] = []
        topic_produce_response.partition_responses = partition_produce_response_items
        for _ in range(n):
            partition_produce_response = new(PartitionProduceResponse)
            partition_produce_response._tagged = 0
            (
                partition_produce_response.index,
                partition_produce_response.error_code,
                partition_produce_response.base_offset,
                partition_produce_response.log_append_time_ms,
                partition_produce_response.log_start_offset,
                n,
            ) = unpack_ihqqqB(buf, pos)
            pos += 31
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
            else:
                n -= 1
            if not 0 <= n * 6 <= size - pos:
                raise wire.Malformed
            batch_index_and_error_message_items: list[BatchIndexAndErrorMessage] = []
            partition_produce_response.record_errors = batch_index_and_error_message_items
            for _ in range(n):
                batch_index_and_error_message = new(BatchIndexAndErrorMessage)
                batch_index_and_error_message._tagged = 0
                batch_index_and_error_message.batch_index, n = unpack_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n > wire.STRING_BYTES_MAX:
                        raise wire.Malformed
                else:
                    n -= 1
                if n < 0:
                    batch_index_and_error_message.batch_index_error_message = None
                else:
                    end = pos + n
                    batch_index_and_error_message.batch_index_error_message = buf[pos:end].decode()
                    pos = end
                if buf[pos]:
                    pos = batch_index_and_error_message._read_tags(buf, pos, version)
                else:
                    pos += 1
                batch_index_and_error_message_items.append(batch_index_and_error_message)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
                if n > wire.STRING_BYTES_MAX:
                    raise wire.Malformed
            else:
                n -= 1
            if n < 0:
                partition_produce_response.error_message = None
            else:
                end = pos + n
                partition_produce_response.error_message = buf[pos:end].decode()
                pos = end
            if buf[pos]:
                pos = partition_produce_response._read_tags(buf, pos, version)
            else:
                pos += 1
            partition_produce_response_items.append(partition_produce_response)
        if buf[pos]:
            pos = topic_produce_response._read_tags(buf, pos, version)
        else:
            pos += 1
        topic_produce_response_items.append(topic_produce_response)
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n:
        pos = self._read_tags(buf, pos - 1, version)
    return self, pos


def write_13(self: ProduceResponse, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    put(uvarint(len(self.responses) + 1))
    for topic_produce_response in self.responses:
        if topic_produce_response._tagged:
            topic_produce_response._write(put, version)
            continue
        chunks += (
            wire.uuid(topic_produce_response.topic_id),
            uvarint(len(topic_produce_response.partition_responses) + 1),
        )
        for partition_produce_response in topic_produce_response.partition_responses:
            if partition_produce_response._tagged:
                partition_produce_response._write(put, version)
                continue
            chunks += (
                pack_ihqqq(partition_produce_response.index, partition_produce_response.error_code, partition_produce_response.base_offset, partition_produce_response.log_append_time_ms, partition_produce_response.log_start_offset),
                uvarint(len(partition_produce_response.record_errors) + 1),
            )
            for batch_index_and_error_message in partition_produce_response.record_errors:
                if batch_index_and_error_message._tagged:
                    batch_index_and_error_message._write(put, version)
                    continue
                chunks += (
                    pack_i(batch_index_and_error_message.batch_index),
                    wire.compact_nullable_string(batch_index_and_error_message.batch_index_error_message),
                    b"\0",
                )
            chunks += (wire.compact_nullable_string(partition_produce_response.error_message), b"\0")
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
