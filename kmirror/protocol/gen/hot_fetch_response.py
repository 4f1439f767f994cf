"""FetchResponse in straight lines, version by version; the plain form stands beside it.

Generated from schemas/kafka/FetchResponse.json and schemas/mirroring/FetchResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.gen.fetch_response import (
    AbortedTransaction,
    FetchResponse,
    FetchableTopicResponse,
    PartitionData,
)
from kmirror.protocol.uuid import Uuid

new = object.__new__
new_uuid = bytes.__new__
pack_i = wire.fused("i")[1]
unpack_iB = wire.fused("iB")[0]
pack_ihi = wire.fused("ihi")[1]
unpack_ihiB = wire.fused("ihiB")[0]
pack_ihqqq = wire.fused("ihqqq")[1]
unpack_ihqqqB = wire.fused("ihqqqB")[0]
unpack_qqB = wire.fused("qqB")[0]
unpack_uB = wire.fused("16sB")[0]
aborted_transaction_rows = wire.Repeated("qqx")


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[FetchResponse, int]:
    size = len(buf)
    view = memoryview(buf)
    self = new(FetchResponse)
    self.unknown_tags = ()
    self.throttle_time_ms, self.error_code, self.session_id, n = unpack_ihiB(buf, pos)
    pos += 11
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    self.responses = items_1 = []
    for _ in range(n):
        item_1 = new(FetchableTopicResponse)
        item_1.unknown_tags = ()
        item_1.topic = ""
        item_1.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        item_1.topic_id = new_uuid(Uuid, item_1.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 30 <= size - pos:
            raise wire.Malformed
        item_1.partitions = items_2 = []
        for _ in range(n):
            item_2 = new(PartitionData)
            item_2.unknown_tags = ()
            item_2.mirror_leader_epoch = -1
            (
                item_2.partition_index,
                item_2.error_code,
                item_2.high_watermark,
                item_2.last_stable_offset,
                item_2.log_start_offset,
                n,
            ) = unpack_ihqqqB(buf, pos)
            pos += 31
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
            else:
                n -= 1
            if n < 0:
                item_2.aborted_transactions = None
            else:
                if not 0 <= n * 16 <= size - pos:
                    raise wire.Malformed
                item_2.aborted_transactions = items_3 = []
                for _ in range(n):
                    item_3 = new(AbortedTransaction)
                    item_3.unknown_tags = ()
                    item_3.producer_id, item_3.first_offset, n = unpack_qqB(buf, pos)
                    pos += 17
                    if n:
                        pos = item_3._read_tags(buf, pos - 1, version)
                    items_3.append(item_3)
            item_2.preferred_read_replica, n = unpack_iB(buf, pos)
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


def write_13(self: FetchResponse, put: wire.Put, version: int) -> None:
    if self.unknown_tags or self.node_endpoints:
        self._write(put, version)
        return
    put(pack_ihi(self.throttle_time_ms, self.error_code, self.session_id))
    put(wire.uvarint(len(self.responses) + 1))
    for item_1 in self.responses:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        for item_2 in item_1.partitions:
            if item_2.unknown_tags or (part := item_2.diverging_epoch).epoch != -1 or part.end_offset != -1 or part.unknown_tags or (part := item_2.current_leader).leader_id != -1 or part.leader_epoch != -1 or part.unknown_tags or (part := item_2.snapshot_id).end_offset != -1 or part.epoch != -1 or part.unknown_tags:
                item_2._write(put, version)
                continue
            put(pack_ihqqq(
                item_2.partition_index,
                item_2.error_code,
                item_2.high_watermark,
                item_2.last_stable_offset,
                item_2.log_start_offset,
            ))
            if item_2.aborted_transactions is None:
                put(b"\0")
            else:
                put(wire.uvarint(len(item_2.aborted_transactions) + 1))
                if [item for item in item_2.aborted_transactions if item.unknown_tags]:
                    for item in item_2.aborted_transactions:
                        item._write(put, version)
                else:
                    put(aborted_transaction_rows.pack([(item.producer_id, item.first_offset) for item in item_2.aborted_transactions]))
            put(pack_i(item_2.preferred_read_replica))
            if item_2.records is None:
                put(b"\0")
            else:
                put(wire.uvarint(len(item_2.records) + 1))
                put(item_2.records)
            put(b"\0")
        put(b"\0")
    put(b"\0")


def write_19(self: FetchResponse, put: wire.Put, version: int) -> None:
    if self.unknown_tags or self.node_endpoints:
        self._write(put, version)
        return
    put(pack_ihi(self.throttle_time_ms, self.error_code, self.session_id))
    put(wire.uvarint(len(self.responses) + 1))
    for item_1 in self.responses:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        for item_2 in item_1.partitions:
            if item_2.unknown_tags or (part := item_2.diverging_epoch).epoch != -1 or part.end_offset != -1 or part.unknown_tags or (part := item_2.current_leader).leader_id != -1 or part.leader_epoch != -1 or part.unknown_tags or (part := item_2.snapshot_id).end_offset != -1 or part.epoch != -1 or part.unknown_tags or item_2.mirror_leader_epoch != -1:
                item_2._write(put, version)
                continue
            put(pack_ihqqq(
                item_2.partition_index,
                item_2.error_code,
                item_2.high_watermark,
                item_2.last_stable_offset,
                item_2.log_start_offset,
            ))
            if item_2.aborted_transactions is None:
                put(b"\0")
            else:
                put(wire.uvarint(len(item_2.aborted_transactions) + 1))
                if [item for item in item_2.aborted_transactions if item.unknown_tags]:
                    for item in item_2.aborted_transactions:
                        item._write(put, version)
                else:
                    put(aborted_transaction_rows.pack([(item.producer_id, item.first_offset) for item in item_2.aborted_transactions]))
            put(pack_i(item_2.preferred_read_replica))
            if item_2.records is None:
                put(b"\0")
            else:
                put(wire.uvarint(len(item_2.records) + 1))
                put(item_2.records)
            put(b"\0")
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
    19: write_19,
}
