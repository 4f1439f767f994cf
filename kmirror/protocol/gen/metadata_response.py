"""MetadataResponse: response, key 3, versions 0-13, flexible from 9.

Generated from schemas/kafka/MetadataResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
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


from kmirror.protocol.gen import hot_metadata_response  # noqa: E402, F401
