"""MetadataResponse: response, key 3, versions 0-13, flexible from 9.

Generated from schemas/kafka/MetadataResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Late, Struct, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_hii, pack_hii = wire.fused("hii")


class MetadataResponseBroker(Struct):
    """Part of MetadataResponse."""

    __slots__ = ("node_id", "host", "port", "rack")

    FIELDS = (
        Field("NodeId", "node_id", "int32", (0, 13), default=0, entity="brokerId", map_key=True),
        Field("Host", "host", "string", (0, 13), default=""),
        Field("Port", "port", "int32", (0, 13), default=0),
        Field("Rack", "rack", "string", (1, 13), nullable=(1, 13), ignorable=True),
    )

    def __init__(
        self,
        # Id of the broker.
        node_id: int = 0,  # int32, brokerId
        # Host to connect to.
        host: str = "",  # string
        # Port to connect to.
        port: int = 0,  # int32
        # Rack of the broker, null if it has none.
        rack: str | None = None,  # string, v1+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.node_id))
        put((wire.compact_string if version >= 9 else wire.string)(self.host))
        put(wire.pack_int32(self.port))
        if version >= 1:
            put((wire.compact_nullable_string if version >= 9 else wire.nullable_string)(self.rack))
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MetadataResponseBroker, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.node_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.host, pos = (wire.read_compact_string if version >= 9 else wire.read_string)(buf, pos)
        (self.port,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 1:
            self.rack, pos = (wire.read_compact_nullable_string if version >= 9 else wire.read_nullable_string)(buf, pos)
        else:
            self.rack = None
        if version >= 9:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class MetadataResponsePartition(Struct):
    """Part of MetadataResponse."""

    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "offline_replicas",
    )

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 13), default=0),
        Field("PartitionIndex", "partition_index", "int32", (0, 13), default=0),
        Field("LeaderId", "leader_id", "int32", (0, 13), default=0, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (7, 13), default=-1, ignorable=True),
        Field(
            "ReplicaNodes",
            "replica_nodes",
            "int32",
            (0, 13),
            is_array=True,
            default=[],
            entity="brokerId",
        ),
        Field("IsrNodes", "isr_nodes", "int32", (0, 13), is_array=True, default=[], entity="brokerId"),
        Field(
            "OfflineReplicas",
            "offline_replicas",
            "int32",
            (5, 13),
            is_array=True,
            default=[],
            ignorable=True,
            entity="brokerId",
        ),
    )

    def __init__(
        self,
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # Partition.
        partition_index: int = 0,  # int32
        # Broker that leads the partition, -1 if none does.
        leader_id: int = 0,  # int32, brokerId
        # Leader epoch, -1 if it is not known.
        leader_epoch: int = -1,  # int32, v7+, ignorable
        # All replicas.
        replica_nodes: Sequence[int] = UNSET,  # []int32, read as a tuple, brokerId
        # Replicas in sync.
        isr_nodes: Sequence[int] = UNSET,  # []int32, read as a tuple, brokerId
        # Replicas that are offline.
        offline_replicas: Sequence[int] = UNSET,  # []int32, read as a tuple, v5+, ignorable, brokerId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is UNSET else replica_nodes
        self.isr_nodes = [] if isr_nodes is UNSET else isr_nodes
        self.offline_replicas = [] if offline_replicas is UNSET else offline_replicas
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hii(self.error_code, self.partition_index, self.leader_id))
        if version >= 7:
            put(wire.pack_int32(self.leader_epoch))
        put((wire.compact_count if version >= 9 else wire.count)(self.replica_nodes))
        put(wire.numbers(self.replica_nodes, "i"))
        put((wire.compact_count if version >= 9 else wire.count)(self.isr_nodes))
        put(wire.numbers(self.isr_nodes, "i"))
        if version >= 5:
            put((wire.compact_count if version >= 9 else wire.count)(self.offline_replicas))
            put(wire.numbers(self.offline_replicas, "i"))
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MetadataResponsePartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.error_code, self.partition_index, self.leader_id = unpack_hii(buf, pos)
        pos += 10
        if version >= 7:
            (self.leader_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.leader_epoch = -1
        n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 4)
        self.replica_nodes, pos = wire.read_tuple(buf, pos, n, "i", 4)
        n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 4)
        self.isr_nodes, pos = wire.read_tuple(buf, pos, n, "i", 4)
        if version >= 5:
            n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 4)
            self.offline_replicas, pos = wire.read_tuple(buf, pos, n, "i", 4)
        else:
            self.offline_replicas = []
        if version >= 9:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class MetadataResponseTopic(Struct):
    """Part of MetadataResponse."""

    __slots__ = ("error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations")

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 13), default=0),
        Field(
            "Name",
            "name",
            "string",
            (0, 13),
            nullable=(12, 13),
            default="",
            entity="topicName",
            map_key=True,
        ),
        Field("TopicId", "topic_id", "uuid", (10, 13), default=Uuid.ZERO, ignorable=True),
        Field("IsInternal", "is_internal", "bool", (1, 13), default=False, ignorable=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 13),
            is_array=True,
            default=[],
            struct=MetadataResponsePartition,
        ),
        Field(
            "TopicAuthorizedOperations",
            "topic_authorized_operations",
            "int32",
            (8, 13),
            default=-2147483648,
        ),
    )

    def __init__(
        self,
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # Name of the topic.
        name: str | None = "",  # string, null in v12+, topicName
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v10+, ignorable
        # Whether it is one of Kafka's own topics.
        is_internal: bool = False,  # bool, v1+, ignorable
        # The partitions.
        partitions: list[MetadataResponsePartition] = UNSET,  # []MetadataResponsePartition
        # Bit field of what the caller may do with the topic; the least int32 if it was not asked for.
        topic_authorized_operations: int = -2147483648,  # int32, v8+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is UNSET else partitions
        self.topic_authorized_operations = topic_authorized_operations
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 12 else wire.compact_string if version >= 9 else wire.string)(self.name))
        if version >= 10:
            put(wire.uuid(self.topic_id))
        if version >= 1:
            put(wire.pack_bool(self.is_internal))
        put((wire.compact_count if version >= 9 else wire.count)(self.partitions))
        for metadata_response_partition in self.partitions:
            metadata_response_partition._write(put, version)
        if version >= 8:
            put(wire.pack_int32(self.topic_authorized_operations))
        elif self.topic_authorized_operations != -2147483648:
            raise wire.Unwritable
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MetadataResponseTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.name, pos = (wire.read_compact_nullable_string if version >= 12 else wire.read_compact_string if version >= 9 else wire.read_string)(buf, pos)
        if version >= 10:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        if version >= 1:
            (self.is_internal,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.is_internal = False
        n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 18)
        self.partitions, pos = wire.read_structs(MetadataResponsePartition._read, buf, pos, n, version)
        if version >= 8:
            (self.topic_authorized_operations,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.topic_authorized_operations = -2147483648
        if version >= 9:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class MetadataResponse(Message):
    """Brokers, and topics with their leaders."""

    __slots__ = (
        "throttle_time_ms",
        "brokers",
        "cluster_id",
        "controller_id",
        "topics",
        "cluster_authorized_operations",
        "error_code",
    )

    NAME = "MetadataResponse"
    TYPE = "response"
    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 13
    FLEXIBLE_FROM = 9
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (3, 13), default=0, ignorable=True),
        Field(
            "Brokers",
            "brokers",
            "struct",
            (0, 13),
            is_array=True,
            default=[],
            struct=MetadataResponseBroker,
        ),
        Field("ClusterId", "cluster_id", "string", (2, 13), nullable=(2, 13), ignorable=True),
        Field(
            "ControllerId",
            "controller_id",
            "int32",
            (1, 13),
            default=-1,
            ignorable=True,
            entity="brokerId",
        ),
        Field("Topics", "topics", "struct", (0, 13), is_array=True, default=[], struct=MetadataResponseTopic),
        Field(
            "ClusterAuthorizedOperations",
            "cluster_authorized_operations",
            "int32",
            (8, 10),
            default=-2147483648,
        ),
        Field("ErrorCode", "error_code", "int16", (13, 13), default=0, ignorable=True),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, v3+, ignorable
        # The live brokers.
        brokers: list[MetadataResponseBroker] = UNSET,  # []MetadataResponseBroker
        # Id of the cluster.
        cluster_id: str | None = None,  # string, v2+, ignorable
        # Where requests for the controller may be sent.
        controller_id: int = -1,  # int32, v1+, ignorable, brokerId
        # The topics.
        topics: list[MetadataResponseTopic] = UNSET,  # []MetadataResponseTopic
        # Bit field of what the caller may do with the cluster; the least int32 if it was not asked for.
        cluster_authorized_operations: int = -2147483648,  # int32, v8-10
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16, v13+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.brokers = [] if brokers is UNSET else brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics = [] if topics is UNSET else topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 3:
            put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 9 else wire.count)(self.brokers))
        for metadata_response_broker in self.brokers:
            metadata_response_broker._write(put, version)
        if version >= 2:
            put((wire.compact_nullable_string if version >= 9 else wire.nullable_string)(self.cluster_id))
        if version >= 1:
            put(wire.pack_int32(self.controller_id))
        put((wire.compact_count if version >= 9 else wire.count)(self.topics))
        for metadata_response_topic in self.topics:
            metadata_response_topic._write(put, version)
        if 8 <= version <= 10:
            put(wire.pack_int32(self.cluster_authorized_operations))
        elif self.cluster_authorized_operations != -2147483648:
            raise wire.Unwritable
        if version >= 13:
            put(wire.pack_int16(self.error_code))
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MetadataResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 3:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 10)
        self.brokers, pos = wire.read_structs(MetadataResponseBroker._read, buf, pos, n, version)
        if version >= 2:
            self.cluster_id, pos = (wire.read_compact_nullable_string if version >= 9 else wire.read_nullable_string)(buf, pos)
        else:
            self.cluster_id = None
        if version >= 1:
            (self.controller_id,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.controller_id = -1
        n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 8)
        self.topics, pos = wire.read_structs(MetadataResponseTopic._read, buf, pos, n, version)
        if 8 <= version <= 10:
            (self.cluster_authorized_operations,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.cluster_authorized_operations = -2147483648
        if version >= 13:
            (self.error_code,) = wire.unpack_int16(buf, pos)
            pos += 2
        else:
            self.error_code = 0
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
