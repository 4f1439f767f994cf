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
from kmirror.kernel.uuid import Uuid

new = object.__new__
uvarint = wire.uvarint
new_uuid = bytes.__new__
pack_iiibii = wire.fused("iiibii")[1]
unpack_iiibiiB = wire.fused("iiibiiB")[0]
pack_iiiibii = wire.fused("iiiibii")[1]
unpack_iiiibiiB = wire.fused("iiiibiiB")[0]
unpack_iiqiqiB, pack_iiqiqiB = wire.fused("iiqiqiB")
iterate_iiqiqix = wire.iterator("iiqiqix")
unpack_uB = wire.fused("16sB")[0]


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[FetchRequest, int]:
    size = len(buf)
    self = new(FetchRequest)
    self._tagged = 0
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
    fetch_topic_items: list[FetchTopic] = []
    self.topics = fetch_topic_items
    for _ in range(n):
        fetch_topic = new(FetchTopic)
        fetch_topic._tagged = 0
        fetch_topic.topic = ""
        fetch_topic.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        fetch_topic.topic_id = new_uuid(Uuid, fetch_topic.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 16 <= size - pos:
            raise wire.Malformed
        end = pos + 33 * n
        if end <= size and buf[pos + 32 : end : 33].count(0) == n:
            fetch_partition_items: list[FetchPartition] = list(map(new, repeat(FetchPartition, n)))
            fetch_topic.partitions = fetch_partition_items
            fetch_partition: FetchPartition
            for (
                fetch_partition,
                (
                    fetch_partition.partition,
                    fetch_partition.current_leader_epoch,
                    fetch_partition.fetch_offset,
                    fetch_partition.last_fetched_epoch,
                    fetch_partition.log_start_offset,
                    fetch_partition.partition_max_bytes,
                ),
            ) in zip(fetch_partition_items, iterate_iiqiqix(buf[pos:end])):
                fetch_partition._tagged = 0
            pos = end
        else:
            fetch_partition_items = []
            fetch_topic.partitions = fetch_partition_items
            for _ in range(n):
                fetch_partition = new(FetchPartition)
                fetch_partition._tagged = 0
                (
                    fetch_partition.partition,
                    fetch_partition.current_leader_epoch,
                    fetch_partition.fetch_offset,
                    fetch_partition.last_fetched_epoch,
                    fetch_partition.log_start_offset,
                    fetch_partition.partition_max_bytes,
                    n,
                ) = unpack_iiqiqiB(buf, pos)
                pos += 33
                if n:
                    pos = fetch_partition._read_tags(buf, pos - 1, version)
                fetch_partition_items.append(fetch_partition)
        if buf[pos]:
            pos = fetch_topic._read_tags(buf, pos, version)
        else:
            pos += 1
        fetch_topic_items.append(fetch_topic)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    forgotten_topic_items: list[ForgottenTopic] = []
    self.forgotten_topics_data = forgotten_topic_items
    for _ in range(n):
        forgotten_topic = new(ForgottenTopic)
        forgotten_topic._tagged = 0
        forgotten_topic.topic = ""
        forgotten_topic.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        forgotten_topic.topic_id = new_uuid(Uuid, forgotten_topic.topic_id)
        if 0 < n < 33:
            forgotten_topic.partitions = list(wire.UNPACK_INT32S[n - 1](buf, pos))
            pos += 4 * n - 4
        else:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n < 0:
                raise wire.Malformed
            elif 4 * n > size - pos:
                raise wire.Malformed
            else:
                forgotten_topic.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = forgotten_topic._read_tags(buf, pos, version)
        else:
            pos += 1
        forgotten_topic_items.append(forgotten_topic)
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


def write_13(self: FetchRequest, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    chunks += (
        pack_iiiibii(self.replica_id, self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level, self.session_id, self.session_epoch),
        uvarint(len(self.topics) + 1),
    )
    for fetch_topic in self.topics:
        if fetch_topic._tagged:
            fetch_topic._write(put, version)
            continue
        chunks += (wire.uuid(fetch_topic.topic_id), uvarint(len(fetch_topic.partitions) + 1))
        try:
            rows = [
                pack_iiqiqiB(
                    item.partition,
                    item.current_leader_epoch,
                    item.fetch_offset,
                    item.last_fetched_epoch,
                    item.log_start_offset,
                    item.partition_max_bytes,
                    item._tagged,
                )
                for item in fetch_topic.partitions
            ]
            put(b"".join(rows))
        except wire.PACK_ERRORS:
            for fetch_partition in fetch_topic.partitions:
                fetch_partition._write(put, version)
        put(b"\0")
    put(uvarint(len(self.forgotten_topics_data) + 1))
    for forgotten_topic in self.forgotten_topics_data:
        if forgotten_topic._tagged:
            forgotten_topic._write(put, version)
            continue
        chunks += (
            wire.uuid(forgotten_topic.topic_id),
            uvarint(len(forgotten_topic.partitions) + 1),
            wire.numbers(forgotten_topic.partitions, "i"),
        )
        put(b"\0")
    chunks += (wire.compact_string(self.rack_id), b"\0")


def read_15(buf: Any, pos: int, version: int, lazy: bool) -> tuple[FetchRequest, int]:
    size = len(buf)
    self = new(FetchRequest)
    self._tagged = 0
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
    fetch_topic_items: list[FetchTopic] = []
    self.topics = fetch_topic_items
    for _ in range(n):
        fetch_topic = new(FetchTopic)
        fetch_topic._tagged = 0
        fetch_topic.topic = ""
        fetch_topic.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        fetch_topic.topic_id = new_uuid(Uuid, fetch_topic.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 16 <= size - pos:
            raise wire.Malformed
        end = pos + 33 * n
        if end <= size and buf[pos + 32 : end : 33].count(0) == n:
            fetch_partition_items: list[FetchPartition] = list(map(new, repeat(FetchPartition, n)))
            fetch_topic.partitions = fetch_partition_items
            fetch_partition: FetchPartition
            for (
                fetch_partition,
                (
                    fetch_partition.partition,
                    fetch_partition.current_leader_epoch,
                    fetch_partition.fetch_offset,
                    fetch_partition.last_fetched_epoch,
                    fetch_partition.log_start_offset,
                    fetch_partition.partition_max_bytes,
                ),
            ) in zip(fetch_partition_items, iterate_iiqiqix(buf[pos:end])):
                fetch_partition._tagged = 0
            pos = end
        else:
            fetch_partition_items = []
            fetch_topic.partitions = fetch_partition_items
            for _ in range(n):
                fetch_partition = new(FetchPartition)
                fetch_partition._tagged = 0
                (
                    fetch_partition.partition,
                    fetch_partition.current_leader_epoch,
                    fetch_partition.fetch_offset,
                    fetch_partition.last_fetched_epoch,
                    fetch_partition.log_start_offset,
                    fetch_partition.partition_max_bytes,
                    n,
                ) = unpack_iiqiqiB(buf, pos)
                pos += 33
                if n:
                    pos = fetch_partition._read_tags(buf, pos - 1, version)
                fetch_partition_items.append(fetch_partition)
        if buf[pos]:
            pos = fetch_topic._read_tags(buf, pos, version)
        else:
            pos += 1
        fetch_topic_items.append(fetch_topic)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    forgotten_topic_items: list[ForgottenTopic] = []
    self.forgotten_topics_data = forgotten_topic_items
    for _ in range(n):
        forgotten_topic = new(ForgottenTopic)
        forgotten_topic._tagged = 0
        forgotten_topic.topic = ""
        forgotten_topic.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        forgotten_topic.topic_id = new_uuid(Uuid, forgotten_topic.topic_id)
        if 0 < n < 33:
            forgotten_topic.partitions = list(wire.UNPACK_INT32S[n - 1](buf, pos))
            pos += 4 * n - 4
        else:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n < 0:
                raise wire.Malformed
            elif 4 * n > size - pos:
                raise wire.Malformed
            else:
                forgotten_topic.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = forgotten_topic._read_tags(buf, pos, version)
        else:
            pos += 1
        forgotten_topic_items.append(forgotten_topic)
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


def write_15(self: FetchRequest, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged or self.replica_id != -1:
        self._write(put, version)
        return
    chunks += (
        pack_iiibii(self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level, self.session_id, self.session_epoch),
        uvarint(len(self.topics) + 1),
    )
    for fetch_topic in self.topics:
        if fetch_topic._tagged:
            fetch_topic._write(put, version)
            continue
        chunks += (wire.uuid(fetch_topic.topic_id), uvarint(len(fetch_topic.partitions) + 1))
        try:
            rows = [
                pack_iiqiqiB(
                    item.partition,
                    item.current_leader_epoch,
                    item.fetch_offset,
                    item.last_fetched_epoch,
                    item.log_start_offset,
                    item.partition_max_bytes,
                    item._tagged,
                )
                for item in fetch_topic.partitions
            ]
            put(b"".join(rows))
        except wire.PACK_ERRORS:
            for fetch_partition in fetch_topic.partitions:
                fetch_partition._write(put, version)
        put(b"\0")
    put(uvarint(len(self.forgotten_topics_data) + 1))
    for forgotten_topic in self.forgotten_topics_data:
        if forgotten_topic._tagged:
            forgotten_topic._write(put, version)
            continue
        chunks += (
            wire.uuid(forgotten_topic.topic_id),
            uvarint(len(forgotten_topic.partitions) + 1),
            wire.numbers(forgotten_topic.partitions, "i"),
        )
        put(b"\0")
    chunks += (wire.compact_string(self.rack_id), b"\0")


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
    17: write_15,
    18: write_15,
    19: write_15,
}
