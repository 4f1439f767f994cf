"""MetadataResponse in straight lines, version by version; the plain form stands beside it.

Generated from schemas/kafka/MetadataResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.gen.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kmirror.protocol.structs import Late
from kmirror.kernel.uuid import Uuid

new = object.__new__
uvarint = wire.uvarint
new_uuid = bytes.__new__
pack_h = wire.fused("h")[1]
unpack_hB, pack_hB = wire.fused("hB")
unpack_hiiiB = wire.fused("hiiiB")[0]
pack_i = wire.fused("i")[1]
unpack_iB, pack_iB = wire.fused("iB")
pack_o = wire.fused("?")[1]
unpack_uoB = wire.fused("16s?B")[0]
metadata_response_partition_shape = wire.Shape("h", "i", "i", "i", "i*", "i*", "i*")
metadata_response_partition_shape_pack = metadata_response_partition_shape.known_packs.get
metadata_response_partition_shape_rows = metadata_response_partition_shape.known_rows.get


class LateMetadataResponseTopic(MetadataResponseTopic):
    __slots__ = ()

    partitions = Late(MetadataResponseTopic, "partitions")


def load_metadata_response_partition_shape(buf: Any, pos: int, end: int, n: int, rows: Any) -> list[MetadataResponsePartition]:
    cut, pick = rows
    items = list(map(new, repeat(MetadataResponsePartition, n)))
    item: MetadataResponsePartition
    for (
        item,
        (
            item.error_code,
            item.partition_index,
            item.leader_id,
            item.leader_epoch,
            item.replica_nodes,
            item.isr_nodes,
            item.offline_replicas,
        ),
    ) in zip(items, map(pick, cut(buf[pos:end]))):
        item._tagged = 0
    return items


def read_12(buf: Any, pos: int, version: int, lazy: bool) -> tuple[MetadataResponse, int]:
    size = len(buf)
    self = new(MetadataResponse)
    self._tagged = 0
    self.cluster_authorized_operations = -2147483648
    self.error_code = 0
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 10 <= size - pos:
        raise wire.Malformed
    metadata_response_broker_items: list[MetadataResponseBroker] = []
    self.brokers = metadata_response_broker_items
    for _ in range(n):
        metadata_response_broker = new(MetadataResponseBroker)
        metadata_response_broker._tagged = 0
        metadata_response_broker.node_id, n = unpack_iB(buf, pos)
        pos += 5
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
            metadata_response_broker.host = buf[pos:end].decode()
            pos = end
        metadata_response_broker.port, n = unpack_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n > wire.STRING_BYTES_MAX:
                raise wire.Malformed
        else:
            n -= 1
        if n < 0:
            metadata_response_broker.rack = None
        else:
            end = pos + n
            metadata_response_broker.rack = buf[pos:end].decode()
            pos = end
        if buf[pos]:
            pos = metadata_response_broker._read_tags(buf, pos, version)
        else:
            pos += 1
        metadata_response_broker_items.append(metadata_response_broker)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
        if n > wire.STRING_BYTES_MAX:
            raise wire.Malformed
    else:
        n -= 1
    if n < 0:
        self.cluster_id = None
    else:
        end = pos + n
        self.cluster_id = buf[pos:end].decode()
        pos = end
    self.controller_id, n = unpack_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 8 <= size - pos:
        raise wire.Malformed
    metadata_response_topic_items: list[MetadataResponseTopic] = []
    self.topics = metadata_response_topic_items
    for _ in range(n):
        metadata_response_topic = new(MetadataResponseTopic)
        metadata_response_topic._tagged = 0
        metadata_response_topic.error_code, n = unpack_hB(buf, pos)
        pos += 3
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n > wire.STRING_BYTES_MAX:
                raise wire.Malformed
        else:
            n -= 1
        if n < 0:
            metadata_response_topic.name = None
        else:
            end = pos + n
            metadata_response_topic.name = buf[pos:end].decode()
            pos = end
        (
            metadata_response_topic.topic_id,
            metadata_response_topic.is_internal,
            n,
        ) = unpack_uoB(buf, pos)
        pos += 18
        metadata_response_topic.topic_id = new_uuid(Uuid, metadata_response_topic.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 18 <= size - pos:
            raise wire.Malformed
        rows = None
        try:
            spot_replica_nodes = pos + 14
            length_replica_nodes = buf[spot_replica_nodes]
            spot_isr_nodes = spot_replica_nodes + 4 * length_replica_nodes + -3
            length_isr_nodes = buf[spot_isr_nodes]
            spot_offline_replicas = spot_isr_nodes + 4 * length_isr_nodes + -3
            length_offline_replicas = buf[spot_offline_replicas]
            last = spot_offline_replicas + 4 * length_offline_replicas - 3
            stride = last + 1 - pos
            end = pos + stride * n
            rows = metadata_response_partition_shape_rows((length_replica_nodes, length_isr_nodes, length_offline_replicas)) or metadata_response_partition_shape.rows(length_replica_nodes, length_isr_nodes, length_offline_replicas)
        except IndexError:
            pass  # A length of two bytes, taken for one, may point anywhere.
        if (
            rows is not None
            and end <= size
            and buf[spot_replica_nodes:end:stride].count(length_replica_nodes) == n
            and buf[spot_isr_nodes:end:stride].count(length_isr_nodes) == n
            and buf[spot_offline_replicas:end:stride].count(length_offline_replicas) == n
            and buf[last:end:stride].count(0) == n
        ):
            if lazy:
                metadata_response_topic.partitions = (load_metadata_response_partition_shape, buf, pos, end, n, rows)  # type: ignore[assignment]
                metadata_response_topic.__class__ = LateMetadataResponseTopic
            else:
                cut, pick = rows
                metadata_response_topic.partitions = list(map(new, repeat(MetadataResponsePartition, n)))
                metadata_response_partition: MetadataResponsePartition
                for (
                    metadata_response_partition,
                    (
                        metadata_response_partition.error_code,
                        metadata_response_partition.partition_index,
                        metadata_response_partition.leader_id,
                        metadata_response_partition.leader_epoch,
                        metadata_response_partition.replica_nodes,
                        metadata_response_partition.isr_nodes,
                        metadata_response_partition.offline_replicas,
                    ),
                ) in zip(metadata_response_topic.partitions, map(pick, cut(buf[pos:end]))):
                    metadata_response_partition._tagged = 0
            pos = end
        else:
            metadata_response_partition_items: list[MetadataResponsePartition] = []
            metadata_response_topic.partitions = metadata_response_partition_items
            for _ in range(n):
                metadata_response_partition = new(MetadataResponsePartition)
                metadata_response_partition._tagged = 0
                (
                    metadata_response_partition.error_code,
                    metadata_response_partition.partition_index,
                    metadata_response_partition.leader_id,
                    metadata_response_partition.leader_epoch,
                    n,
                ) = unpack_hiiiB(buf, pos)
                pos += 15
                if 0 < n < 33:
                    metadata_response_partition.replica_nodes = wire.UNPACK_INT32S[n - 1](buf, pos)
                    pos += 4 * n - 4
                else:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n < 0:
                        raise wire.Malformed
                    elif 4 * n > size - pos:
                        raise wire.Malformed
                    else:
                        metadata_response_partition.replica_nodes, pos = wire.read_tuple(buf, pos, n, "i", 4)
                n = buf[pos]
                pos += 1
                if 0 < n < 33:
                    metadata_response_partition.isr_nodes = wire.UNPACK_INT32S[n - 1](buf, pos)
                    pos += 4 * n - 4
                else:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n < 0:
                        raise wire.Malformed
                    elif 4 * n > size - pos:
                        raise wire.Malformed
                    else:
                        metadata_response_partition.isr_nodes, pos = wire.read_tuple(buf, pos, n, "i", 4)
                n = buf[pos]
                pos += 1
                if 0 < n < 33:
                    metadata_response_partition.offline_replicas = wire.UNPACK_INT32S[n - 1](buf, pos)
                    pos += 4 * n - 4
                else:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n < 0:
                        raise wire.Malformed
                    elif 4 * n > size - pos:
                        raise wire.Malformed
                    else:
                        metadata_response_partition.offline_replicas, pos = wire.read_tuple(buf, pos, n, "i", 4)
                if buf[pos]:
                    pos = metadata_response_partition._read_tags(buf, pos, version)
                else:
                    pos += 1
                metadata_response_partition_items.append(metadata_response_partition)
        metadata_response_topic.topic_authorized_operations, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = metadata_response_topic._read_tags(buf, pos - 1, version)
        metadata_response_topic_items.append(metadata_response_topic)
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_12(self: MetadataResponse, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged or self.cluster_authorized_operations != -2147483648:
        self._write(put, version)
        return
    chunks += (pack_i(self.throttle_time_ms), uvarint(len(self.brokers) + 1))
    for metadata_response_broker in self.brokers:
        if metadata_response_broker._tagged:
            metadata_response_broker._write(put, version)
            continue
        chunks += (
            pack_i(metadata_response_broker.node_id),
            wire.compact_string(metadata_response_broker.host),
            pack_i(metadata_response_broker.port),
            wire.compact_nullable_string(metadata_response_broker.rack),
            b"\0",
        )
    chunks += (
        wire.compact_nullable_string(self.cluster_id),
        pack_i(self.controller_id),
        uvarint(len(self.topics) + 1),
    )
    for metadata_response_topic in self.topics:
        if metadata_response_topic._tagged:
            metadata_response_topic._write(put, version)
            continue
        chunks += (
            pack_h(metadata_response_topic.error_code),
            wire.compact_nullable_string(metadata_response_topic.name),
            wire.uuid(metadata_response_topic.topic_id),
            pack_o(metadata_response_topic.is_internal),
            uvarint(len(metadata_response_topic.partitions) + 1),
        )
        for metadata_response_partition in metadata_response_topic.partitions:
            replica_nodes = metadata_response_partition.replica_nodes
            isr_nodes = metadata_response_partition.isr_nodes
            offline_replicas = metadata_response_partition.offline_replicas
            try:
                pack = metadata_response_partition_shape_pack((len(replica_nodes), len(isr_nodes), len(offline_replicas))) or metadata_response_partition_shape.pack(len(replica_nodes), len(isr_nodes), len(offline_replicas))
                put(pack(
                    metadata_response_partition.error_code,
                    metadata_response_partition.partition_index,
                    metadata_response_partition.leader_id,
                    metadata_response_partition.leader_epoch,
                    len(replica_nodes) + 1,
                    *replica_nodes,
                    len(isr_nodes) + 1,
                    *isr_nodes,
                    len(offline_replicas) + 1,
                    *offline_replicas,
                    metadata_response_partition._tagged,
                ))
            except wire.PACK_ERRORS:
                metadata_response_partition._write(put, version)
        put(pack_iB(metadata_response_topic.topic_authorized_operations, 0))
    put(b"\0")


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[MetadataResponse, int]:
    size = len(buf)
    self = new(MetadataResponse)
    self._tagged = 0
    self.cluster_authorized_operations = -2147483648
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 10 <= size - pos:
        raise wire.Malformed
    metadata_response_broker_items: list[MetadataResponseBroker] = []
    self.brokers = metadata_response_broker_items
    for _ in range(n):
        metadata_response_broker = new(MetadataResponseBroker)
        metadata_response_broker._tagged = 0
        metadata_response_broker.node_id, n = unpack_iB(buf, pos)
        pos += 5
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
            metadata_response_broker.host = buf[pos:end].decode()
            pos = end
        metadata_response_broker.port, n = unpack_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n > wire.STRING_BYTES_MAX:
                raise wire.Malformed
        else:
            n -= 1
        if n < 0:
            metadata_response_broker.rack = None
        else:
            end = pos + n
            metadata_response_broker.rack = buf[pos:end].decode()
            pos = end
        if buf[pos]:
            pos = metadata_response_broker._read_tags(buf, pos, version)
        else:
            pos += 1
        metadata_response_broker_items.append(metadata_response_broker)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
        if n > wire.STRING_BYTES_MAX:
            raise wire.Malformed
    else:
        n -= 1
    if n < 0:
        self.cluster_id = None
    else:
        end = pos + n
        self.cluster_id = buf[pos:end].decode()
        pos = end
    self.controller_id, n = unpack_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 8 <= size - pos:
        raise wire.Malformed
    metadata_response_topic_items: list[MetadataResponseTopic] = []
    self.topics = metadata_response_topic_items
    for _ in range(n):
        metadata_response_topic = new(MetadataResponseTopic)
        metadata_response_topic._tagged = 0
        metadata_response_topic.error_code, n = unpack_hB(buf, pos)
        pos += 3
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n > wire.STRING_BYTES_MAX:
                raise wire.Malformed
        else:
            n -= 1
        if n < 0:
            metadata_response_topic.name = None
        else:
            end = pos + n
            metadata_response_topic.name = buf[pos:end].decode()
            pos = end
        (
            metadata_response_topic.topic_id,
            metadata_response_topic.is_internal,
            n,
        ) = unpack_uoB(buf, pos)
        pos += 18
        metadata_response_topic.topic_id = new_uuid(Uuid, metadata_response_topic.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 18 <= size - pos:
            raise wire.Malformed
        rows = None
        try:
            spot_replica_nodes = pos + 14
            length_replica_nodes = buf[spot_replica_nodes]
            spot_isr_nodes = spot_replica_nodes + 4 * length_replica_nodes + -3
            length_isr_nodes = buf[spot_isr_nodes]
            spot_offline_replicas = spot_isr_nodes + 4 * length_isr_nodes + -3
            length_offline_replicas = buf[spot_offline_replicas]
            last = spot_offline_replicas + 4 * length_offline_replicas - 3
            stride = last + 1 - pos
            end = pos + stride * n
            rows = metadata_response_partition_shape_rows((length_replica_nodes, length_isr_nodes, length_offline_replicas)) or metadata_response_partition_shape.rows(length_replica_nodes, length_isr_nodes, length_offline_replicas)
        except IndexError:
            pass  # A length of two bytes, taken for one, may point anywhere.
        if (
            rows is not None
            and end <= size
            and buf[spot_replica_nodes:end:stride].count(length_replica_nodes) == n
            and buf[spot_isr_nodes:end:stride].count(length_isr_nodes) == n
            and buf[spot_offline_replicas:end:stride].count(length_offline_replicas) == n
            and buf[last:end:stride].count(0) == n
        ):
            if lazy:
                metadata_response_topic.partitions = (load_metadata_response_partition_shape, buf, pos, end, n, rows)  # type: ignore[assignment]
                metadata_response_topic.__class__ = LateMetadataResponseTopic
            else:
                cut, pick = rows
                metadata_response_topic.partitions = list(map(new, repeat(MetadataResponsePartition, n)))
                metadata_response_partition: MetadataResponsePartition
                for (
                    metadata_response_partition,
                    (
                        metadata_response_partition.error_code,
                        metadata_response_partition.partition_index,
                        metadata_response_partition.leader_id,
                        metadata_response_partition.leader_epoch,
                        metadata_response_partition.replica_nodes,
                        metadata_response_partition.isr_nodes,
                        metadata_response_partition.offline_replicas,
                    ),
                ) in zip(metadata_response_topic.partitions, map(pick, cut(buf[pos:end]))):
                    metadata_response_partition._tagged = 0
            pos = end
        else:
            metadata_response_partition_items: list[MetadataResponsePartition] = []
            metadata_response_topic.partitions = metadata_response_partition_items
            for _ in range(n):
                metadata_response_partition = new(MetadataResponsePartition)
                metadata_response_partition._tagged = 0
                (
                    metadata_response_partition.error_code,
                    metadata_response_partition.partition_index,
                    metadata_response_partition.leader_id,
                    metadata_response_partition.leader_epoch,
                    n,
                ) = unpack_hiiiB(buf, pos)
                pos += 15
                if 0 < n < 33:
                    metadata_response_partition.replica_nodes = wire.UNPACK_INT32S[n - 1](buf, pos)
                    pos += 4 * n - 4
                else:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n < 0:
                        raise wire.Malformed
                    elif 4 * n > size - pos:
                        raise wire.Malformed
                    else:
                        metadata_response_partition.replica_nodes, pos = wire.read_tuple(buf, pos, n, "i", 4)
                n = buf[pos]
                pos += 1
                if 0 < n < 33:
                    metadata_response_partition.isr_nodes = wire.UNPACK_INT32S[n - 1](buf, pos)
                    pos += 4 * n - 4
                else:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n < 0:
                        raise wire.Malformed
                    elif 4 * n > size - pos:
                        raise wire.Malformed
                    else:
                        metadata_response_partition.isr_nodes, pos = wire.read_tuple(buf, pos, n, "i", 4)
                n = buf[pos]
                pos += 1
                if 0 < n < 33:
                    metadata_response_partition.offline_replicas = wire.UNPACK_INT32S[n - 1](buf, pos)
                    pos += 4 * n - 4
                else:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n < 0:
                        raise wire.Malformed
                    elif 4 * n > size - pos:
                        raise wire.Malformed
                    else:
                        metadata_response_partition.offline_replicas, pos = wire.read_tuple(buf, pos, n, "i", 4)
                if buf[pos]:
                    pos = metadata_response_partition._read_tags(buf, pos, version)
                else:
                    pos += 1
                metadata_response_partition_items.append(metadata_response_partition)
        metadata_response_topic.topic_authorized_operations, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = metadata_response_topic._read_tags(buf, pos - 1, version)
        metadata_response_topic_items.append(metadata_response_topic)
    self.error_code, n = unpack_hB(buf, pos)
    pos += 3
    if n:
        pos = self._read_tags(buf, pos - 1, version)
    return self, pos


def write_13(self: MetadataResponse, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged or self.cluster_authorized_operations != -2147483648:
        self._write(put, version)
        return
    chunks += (pack_i(self.throttle_time_ms), uvarint(len(self.brokers) + 1))
    for metadata_response_broker in self.brokers:
        if metadata_response_broker._tagged:
            metadata_response_broker._write(put, version)
            continue
        chunks += (
            pack_i(metadata_response_broker.node_id),
            wire.compact_string(metadata_response_broker.host),
            pack_i(metadata_response_broker.port),
            wire.compact_nullable_string(metadata_response_broker.rack),
            b"\0",
        )
    chunks += (
        wire.compact_nullable_string(self.cluster_id),
        pack_i(self.controller_id),
        uvarint(len(self.topics) + 1),
    )
    for metadata_response_topic in self.topics:
        if metadata_response_topic._tagged:
            metadata_response_topic._write(put, version)
            continue
        chunks += (
            pack_h(metadata_response_topic.error_code),
            wire.compact_nullable_string(metadata_response_topic.name),
            wire.uuid(metadata_response_topic.topic_id),
            pack_o(metadata_response_topic.is_internal),
            uvarint(len(metadata_response_topic.partitions) + 1),
        )
        for metadata_response_partition in metadata_response_topic.partitions:
            replica_nodes = metadata_response_partition.replica_nodes
            isr_nodes = metadata_response_partition.isr_nodes
            offline_replicas = metadata_response_partition.offline_replicas
            try:
                pack = metadata_response_partition_shape_pack((len(replica_nodes), len(isr_nodes), len(offline_replicas))) or metadata_response_partition_shape.pack(len(replica_nodes), len(isr_nodes), len(offline_replicas))
                put(pack(
                    metadata_response_partition.error_code,
                    metadata_response_partition.partition_index,
                    metadata_response_partition.leader_id,
                    metadata_response_partition.leader_epoch,
                    len(replica_nodes) + 1,
                    *replica_nodes,
                    len(isr_nodes) + 1,
                    *isr_nodes,
                    len(offline_replicas) + 1,
                    *offline_replicas,
                    metadata_response_partition._tagged,
                ))
            except wire.PACK_ERRORS:
                metadata_response_partition._write(put, version)
        put(pack_iB(metadata_response_topic.topic_authorized_operations, 0))
    put(pack_hB(self.error_code, 0))


MetadataResponse.READERS = {
    12: read_12,
    13: read_13,
}
MetadataResponse.WRITERS = {
    12: write_12,
    13: write_13,
}
