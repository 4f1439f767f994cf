"""FetchResponse in straight lines, version by version; the plain form stands beside it.

Generated from schemas/kafka/FetchResponse.json and schemas/mirroring/FetchResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.gen.fetch_response import (
    AbortedTransaction,
    FetchResponse,
    FetchableTopicResponse,
    PartitionData,
)
from kmirror.kernel.uuid import Uuid

new = object.__new__
uvarint = wire.uvarint
new_uuid = bytes.__new__
pack_i = wire.fused("i")[1]
unpack_iB = wire.fused("iB")[0]
pack_ihi = wire.fused("ihi")[1]
unpack_ihiB = wire.fused("ihiB")[0]
pack_ihqqq = wire.fused("ihqqq")[1]
pack_ihqqqBi = wire.fused("ihqqqBi")[1]
unpack_ihqqqBiB = wire.fused("ihqqqBiB")[0]
unpack_qqB, pack_qqB = wire.fused("qqB")
unpack_uB = wire.fused("16sB")[0]


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[FetchResponse, int]:
    size = len(buf)
    view = memoryview(buf)
    self = new(FetchResponse)
    self._tagged = 0
    self.throttle_time_ms, self.error_code, self.session_id, n = unpack_ihiB(buf, pos)
    pos += 11
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    fetchable_topic_response_items: list[FetchableTopicResponse] = []
    self.responses = fetchable_topic_response_items
    for _ in range(n):
        fetchable_topic_response = new(FetchableTopicResponse)
        fetchable_topic_response._tagged = 0
        fetchable_topic_response.topic = ""
        fetchable_topic_response.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        fetchable_topic_response.topic_id = new_uuid(Uuid, fetchable_topic_response.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 30 <= size - pos:
            raise wire.Malformed
        partition_data_items: list[PartitionData] = list(map(new, repeat(PartitionData, n)))
        fetchable_topic_response.partitions = partition_data_items
        for partition_data in partition_data_items:
            partition_data._tagged = 0
            (
                partition_data.partition_index,
                partition_data.error_code,
                partition_data.high_watermark,
                partition_data.last_stable_offset,
                partition_data.log_start_offset,
                count,
                partition_data.preferred_read_replica,
                n,
            ) = unpack_ihqqqBiB(buf, pos)
            if count < 2:
                partition_data.aborted_transactions = [] if count else None
                pos += 36
            else:
                pos += 30
                n, pos = wire.read_compact_length(buf, pos)
                if not 0 <= n * 16 <= size - pos:
                    raise wire.Malformed
                aborted_transaction_items: list[AbortedTransaction] = list(map(new, repeat(AbortedTransaction, n)))
                partition_data.aborted_transactions = aborted_transaction_items
                for aborted_transaction in aborted_transaction_items:
                    aborted_transaction._tagged = 0
                    (
                        aborted_transaction.producer_id,
                        aborted_transaction.first_offset,
                        n,
                    ) = unpack_qqB(buf, pos)
                    pos += 17
                    if n:
                        pos = aborted_transaction._read_tags(buf, pos - 1, version)
                partition_data.preferred_read_replica, n = unpack_iB(buf, pos)
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
                partition_data.records = None
            else:
                end = pos + n
                partition_data.records = view[pos:end]
                pos = end
            if buf[pos]:
                pos = partition_data._read_tags(buf, pos, version)
            else:
                pos += 1
        if buf[pos]:
            pos = fetchable_topic_response._read_tags(buf, pos, version)
        else:
            pos += 1
        fetchable_topic_response_items.append(fetchable_topic_response)
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_13(self: FetchResponse, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    chunks += (
        pack_ihi(self.throttle_time_ms, self.error_code, self.session_id),
        uvarint(len(self.responses) + 1),
    )
    for fetchable_topic_response in self.responses:
        if fetchable_topic_response._tagged:
            fetchable_topic_response._write(put, version)
            continue
        chunks += (
            wire.uuid(fetchable_topic_response.topic_id),
            uvarint(len(fetchable_topic_response.partitions) + 1),
        )
        for partition_data in fetchable_topic_response.partitions:
            if partition_data._tagged:
                partition_data._write(put, version)
                continue
            if not partition_data.aborted_transactions:
                put(pack_ihqqqBi(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset, partition_data.log_start_offset, partition_data.aborted_transactions is not None, partition_data.preferred_read_replica))
            else:
                chunks += (
                    pack_ihqqq(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset, partition_data.log_start_offset),
                    uvarint(len(partition_data.aborted_transactions) + 1),
                )
                try:
                    rows = [
                        pack_qqB(item.producer_id, item.first_offset, item._tagged)
                        for item in partition_data.aborted_transactions
                    ]
                    put(b"".join(rows))
                except wire.PACK_ERRORS:
                    for aborted_transaction in partition_data.aborted_transactions:
                        aborted_transaction._write(put, version)
                put(pack_i(partition_data.preferred_read_replica))
            if partition_data.records is not None:
                chunks += (uvarint(len(partition_data.records) + 1), partition_data.records, b"\0")
            else:
                chunks += (b"\0", b"\0")
        put(b"\0")
    put(b"\0")


FetchResponse.READERS = {
    13: read_13,
    14: read_13,
    15: read_13,
    16: read_13,
    17: read_13,
    18: read_13,
    19: read_13,
}
FetchResponse.WRITERS = {
    13: write_13,
    14: write_13,
    15: write_13,
    16: write_13,
    17: write_13,
    18: write_13,
    19: write_13,
}
