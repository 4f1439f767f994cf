"""FetchRequest in straight lines, version by version; the plain form stands beside it.

Generated from schemas/kafka/FetchRequest.json and schemas/mirroring/FetchRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.gen.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from kmirror.protocol.uuid import Uuid

new = object.__new__
new_uuid = bytes.__new__
pack_iiibii = wire.fused("iiibii")[1]
unpack_iiibiiB = wire.fused("iiibiiB")[0]
pack_iiiibii = wire.fused("iiiibii")[1]
unpack_iiiibiiB = wire.fused("iiiibiiB")[0]
unpack_iiqiqiB = wire.fused("iiqiqiB")[0]
iterate_iiqiqix = wire.iterator("iiqiqix")
unpack_uB = wire.fused("16sB")[0]
fetch_partition_rows = wire.Repeated("iiqiqix")


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[FetchRequest, int]:
    size = len(buf)
    self = new(FetchRequest)
    self.unknown_tags = ()
    self.cluster_id = None
    (
        self.replica_id,
        self.max_wait_ms,
        self.min_bytes,
        self.max_bytes,
        self.isolation_level,
        self.session_id,
        self.session_epoch,
        n,
    ) = unpack_iiiibiiB(buf, pos)
    pos += 26
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    self.topics = items_1 = []
    for _ in range(n):
        item_1 = new(FetchTopic)
        item_1.unknown_tags = ()
        item_1.topic = ""
        item_1.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        item_1.topic_id = new_uuid(Uuid, item_1.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 16 <= size - pos:
            raise wire.Malformed
        end = pos + 33 * n
        if end <= size and buf[pos + 32 : end : 33].count(0) == n:
            item_1.partitions = items_2 = list(map(new, repeat(FetchPartition, n)))
            for (
                item_2,
                (
                    item_2.partition,
                    item_2.current_leader_epoch,
                    item_2.fetch_offset,
                    item_2.last_fetched_epoch,
                    item_2.log_start_offset,
                    item_2.partition_max_bytes,
                ),
            ) in zip(items_2, iterate_iiqiqix(buf[pos:end])):
                item_2.unknown_tags = ()
                item_2.replica_directory_id = Uuid.ZERO
                item_2.high_watermark = 9223372036854775807
                item_2.mirror_leader_epoch = -1
            pos = end
        else:
            item_1.partitions = items_2 = []
            for _ in range(n):
                item_2 = new(FetchPartition)
                item_2.unknown_tags = ()
                item_2.replica_directory_id = Uuid.ZERO
                item_2.high_watermark = 9223372036854775807
                item_2.mirror_leader_epoch = -1
                (
                    item_2.partition,
                    item_2.current_leader_epoch,
                    item_2.fetch_offset,
                    item_2.last_fetched_epoch,
                    item_2.log_start_offset,
                    item_2.partition_max_bytes,
                    n,
                ) = unpack_iiqiqiB(buf, pos)
                pos += 33
                if n:
                    pos = item_2._read_tags(buf, pos - 1, version)
                items_2.append(item_2)
        if buf[pos]:
            pos = item_1._read_tags(buf, pos, version)
        else:
            pos += 1
        items_1.append(item_1)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    self.forgotten_topics_data = items_1 = []
    for _ in range(n):
        item_1 = new(ForgottenTopic)
        item_1.unknown_tags = ()
        item_1.topic = ""
        item_1.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        item_1.topic_id = new_uuid(Uuid, item_1.topic_id)
        if 0 < n < 33:
            item_1.partitions = list(wire.UNPACK_INT32S[n - 1](buf, pos))
            pos += 4 * n - 4
        else:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n < 0:
                raise wire.Malformed
            elif 4 * n > size - pos:
                raise wire.Malformed
            else:
                item_1.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = item_1._read_tags(buf, pos, version)
        else:
            pos += 1
        items_1.append(item_1)
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
        self.rack_id = buf[pos:end].decode()
        pos = end
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_13(self: FetchRequest, put: wire.Put, version: int) -> None:
    if self.unknown_tags or self.cluster_id is not None or (part := self.replica_state).replica_id != -1 or part.replica_epoch != -1 or part.unknown_tags:
        self._write(put, version)
        return
    put(pack_iiiibii(
        self.replica_id,
        self.max_wait_ms,
        self.min_bytes,
        self.max_bytes,
        self.isolation_level,
        self.session_id,
        self.session_epoch,
    ))
    put(wire.uvarint(len(self.topics) + 1))
    for item_1 in self.topics:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        if [item for item in item_1.partitions if item.unknown_tags]:
            for item in item_1.partitions:
                item._write(put, version)
        else:
            put(fetch_partition_rows.pack([(item.partition, item.current_leader_epoch, item.fetch_offset, item.last_fetched_epoch, item.log_start_offset, item.partition_max_bytes) for item in item_1.partitions]))
        put(b"\0")
    put(wire.uvarint(len(self.forgotten_topics_data) + 1))
    for item_1 in self.forgotten_topics_data:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        put(wire.numbers(item_1.partitions, "i"))
        put(b"\0")
    put(wire.compact_string(self.rack_id))
    put(b"\0")


def read_15(buf: Any, pos: int, version: int, lazy: bool) -> tuple[FetchRequest, int]:
    size = len(buf)
    self = new(FetchRequest)
    self.unknown_tags = ()
    self.cluster_id = None
    self.replica_id = -1
    (
        self.max_wait_ms,
        self.min_bytes,
        self.max_bytes,
        self.isolation_level,
        self.session_id,
        self.session_epoch,
        n,
    ) = unpack_iiibiiB(buf, pos)
    pos += 22
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    self.topics = items_1 = []
    for _ in range(n):
        item_1 = new(FetchTopic)
        item_1.unknown_tags = ()
        item_1.topic = ""
        item_1.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        item_1.topic_id = new_uuid(Uuid, item_1.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 16 <= size - pos:
            raise wire.Malformed
        end = pos + 33 * n
        if end <= size and buf[pos + 32 : end : 33].count(0) == n:
            item_1.partitions = items_2 = list(map(new, repeat(FetchPartition, n)))
            for (
                item_2,
                (
                    item_2.partition,
                    item_2.current_leader_epoch,
                    item_2.fetch_offset,
                    item_2.last_fetched_epoch,
                    item_2.log_start_offset,
                    item_2.partition_max_bytes,
                ),
            ) in zip(items_2, iterate_iiqiqix(buf[pos:end])):
                item_2.unknown_tags = ()
                item_2.replica_directory_id = Uuid.ZERO
                item_2.high_watermark = 9223372036854775807
                item_2.mirror_leader_epoch = -1
            pos = end
        else:
            item_1.partitions = items_2 = []
            for _ in range(n):
                item_2 = new(FetchPartition)
                item_2.unknown_tags = ()
                item_2.replica_directory_id = Uuid.ZERO
                item_2.high_watermark = 9223372036854775807
                item_2.mirror_leader_epoch = -1
                (
                    item_2.partition,
                    item_2.current_leader_epoch,
                    item_2.fetch_offset,
                    item_2.last_fetched_epoch,
                    item_2.log_start_offset,
                    item_2.partition_max_bytes,
                    n,
                ) = unpack_iiqiqiB(buf, pos)
                pos += 33
                if n:
                    pos = item_2._read_tags(buf, pos - 1, version)
                items_2.append(item_2)
        if buf[pos]:
            pos = item_1._read_tags(buf, pos, version)
        else:
            pos += 1
        items_1.append(item_1)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    self.forgotten_topics_data = items_1 = []
    for _ in range(n):
        item_1 = new(ForgottenTopic)
        item_1.unknown_tags = ()
        item_1.topic = ""
        item_1.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        item_1.topic_id = new_uuid(Uuid, item_1.topic_id)
        if 0 < n < 33:
            item_1.partitions = list(wire.UNPACK_INT32S[n - 1](buf, pos))
            pos += 4 * n - 4
        else:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n < 0:
                raise wire.Malformed
            elif 4 * n > size - pos:
                raise wire.Malformed
            else:
                item_1.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = item_1._read_tags(buf, pos, version)
        else:
            pos += 1
        items_1.append(item_1)
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
        self.rack_id = buf[pos:end].decode()
        pos = end
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_15(self: FetchRequest, put: wire.Put, version: int) -> None:
    if self.unknown_tags or self.cluster_id is not None or self.replica_id != -1 or (part := self.replica_state).replica_id != -1 or part.replica_epoch != -1 or part.unknown_tags:
        self._write(put, version)
        return
    put(pack_iiibii(
        self.max_wait_ms,
        self.min_bytes,
        self.max_bytes,
        self.isolation_level,
        self.session_id,
        self.session_epoch,
    ))
    put(wire.uvarint(len(self.topics) + 1))
    for item_1 in self.topics:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        if [item for item in item_1.partitions if item.unknown_tags]:
            for item in item_1.partitions:
                item._write(put, version)
        else:
            put(fetch_partition_rows.pack([(item.partition, item.current_leader_epoch, item.fetch_offset, item.last_fetched_epoch, item.log_start_offset, item.partition_max_bytes) for item in item_1.partitions]))
        put(b"\0")
    put(wire.uvarint(len(self.forgotten_topics_data) + 1))
    for item_1 in self.forgotten_topics_data:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        put(wire.numbers(item_1.partitions, "i"))
        put(b"\0")
    put(wire.compact_string(self.rack_id))
    put(b"\0")


def write_17(self: FetchRequest, put: wire.Put, version: int) -> None:
    if self.unknown_tags or self.cluster_id is not None or self.replica_id != -1 or (part := self.replica_state).replica_id != -1 or part.replica_epoch != -1 or part.unknown_tags:
        self._write(put, version)
        return
    put(pack_iiibii(
        self.max_wait_ms,
        self.min_bytes,
        self.max_bytes,
        self.isolation_level,
        self.session_id,
        self.session_epoch,
    ))
    put(wire.uvarint(len(self.topics) + 1))
    for item_1 in self.topics:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        if [item for item in item_1.partitions if item.unknown_tags or item.replica_directory_id is not Uuid.ZERO]:
            for item in item_1.partitions:
                item._write(put, version)
        else:
            put(fetch_partition_rows.pack([(item.partition, item.current_leader_epoch, item.fetch_offset, item.last_fetched_epoch, item.log_start_offset, item.partition_max_bytes) for item in item_1.partitions]))
        put(b"\0")
    put(wire.uvarint(len(self.forgotten_topics_data) + 1))
    for item_1 in self.forgotten_topics_data:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        put(wire.numbers(item_1.partitions, "i"))
        put(b"\0")
    put(wire.compact_string(self.rack_id))
    put(b"\0")


def write_18(self: FetchRequest, put: wire.Put, version: int) -> None:
    if self.unknown_tags or self.cluster_id is not None or self.replica_id != -1 or (part := self.replica_state).replica_id != -1 or part.replica_epoch != -1 or part.unknown_tags:
        self._write(put, version)
        return
    put(pack_iiibii(
        self.max_wait_ms,
        self.min_bytes,
        self.max_bytes,
        self.isolation_level,
        self.session_id,
        self.session_epoch,
    ))
    put(wire.uvarint(len(self.topics) + 1))
    for item_1 in self.topics:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        if [item for item in item_1.partitions if item.unknown_tags or item.replica_directory_id is not Uuid.ZERO or item.high_watermark != 9223372036854775807]:
            for item in item_1.partitions:
                item._write(put, version)
        else:
            put(fetch_partition_rows.pack([(item.partition, item.current_leader_epoch, item.fetch_offset, item.last_fetched_epoch, item.log_start_offset, item.partition_max_bytes) for item in item_1.partitions]))
        put(b"\0")
    put(wire.uvarint(len(self.forgotten_topics_data) + 1))
    for item_1 in self.forgotten_topics_data:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        put(wire.numbers(item_1.partitions, "i"))
        put(b"\0")
    put(wire.compact_string(self.rack_id))
    put(b"\0")


def write_19(self: FetchRequest, put: wire.Put, version: int) -> None:
    if self.unknown_tags or self.cluster_id is not None or self.replica_id != -1 or (part := self.replica_state).replica_id != -1 or part.replica_epoch != -1 or part.unknown_tags:
        self._write(put, version)
        return
    put(pack_iiibii(
        self.max_wait_ms,
        self.min_bytes,
        self.max_bytes,
        self.isolation_level,
        self.session_id,
        self.session_epoch,
    ))
    put(wire.uvarint(len(self.topics) + 1))
    for item_1 in self.topics:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        if [item for item in item_1.partitions if item.unknown_tags or item.replica_directory_id is not Uuid.ZERO or item.high_watermark != 9223372036854775807 or item.mirror_leader_epoch != -1]:
            for item in item_1.partitions:
                item._write(put, version)
        else:
            put(fetch_partition_rows.pack([(item.partition, item.current_leader_epoch, item.fetch_offset, item.last_fetched_epoch, item.log_start_offset, item.partition_max_bytes) for item in item_1.partitions]))
        put(b"\0")
    put(wire.uvarint(len(self.forgotten_topics_data) + 1))
    for item_1 in self.forgotten_topics_data:
        if item_1.unknown_tags:
            item_1._write(put, version)
            continue
        put(wire.uuid(item_1.topic_id))
        put(wire.uvarint(len(item_1.partitions) + 1))
        put(wire.numbers(item_1.partitions, "i"))
        put(b"\0")
    put(wire.compact_string(self.rack_id))
    put(b"\0")


FetchRequest.READERS = {
    13: read_13,
    14: read_13,
    15: read_15,
    16: read_15,
    17: read_15,
    18: read_15,
    19: read_15,
}
FetchRequest.WRITERS = {
    13: write_13,
    14: write_13,
    15: write_15,
    16: write_15,
    17: write_17,
    18: write_18,
    19: write_19,
}
