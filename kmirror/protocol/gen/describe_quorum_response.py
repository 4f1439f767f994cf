"""DescribeQuorumResponse: response, key 55, versions 0-2, flexible from 0.

Generated from schemas/kafka/DescribeQuorumResponse.json.
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

unpack_ih, pack_ih = wire.fused("ih")
unpack_iiq, pack_iiq = wire.fused("iiq")
unpack_qq, pack_qq = wire.fused("qq")


class ReplicaState(Struct):
    """Part of DescribeQuorumResponse."""

    __slots__ = (
        "replica_id",
        "replica_directory_id",
        "log_end_offset",
        "last_fetch_timestamp",
        "last_caught_up_timestamp",
    )

    FIELDS = (
        Field("ReplicaId", "replica_id", "int32", (0, 2), default=0, entity="brokerId"),
        Field("ReplicaDirectoryId", "replica_directory_id", "uuid", (2, 2), default=Uuid.ZERO),
        Field("LogEndOffset", "log_end_offset", "int64", (0, 2), default=0),
        Field("LastFetchTimestamp", "last_fetch_timestamp", "int64", (1, 2), default=-1, ignorable=True),
        Field(
            "LastCaughtUpTimestamp",
            "last_caught_up_timestamp",
            "int64",
            (1, 2),
            default=-1,
            ignorable=True,
        ),
    )

    def __init__(
        self,
        replica_id: int = 0,  # int32, brokerId
        replica_directory_id: Uuid = Uuid.ZERO,  # uuid, v2+
        log_end_offset: int = 0,  # int64
        last_fetch_timestamp: int = -1,  # int64, v1+, ignorable
        last_caught_up_timestamp: int = -1,  # int64, v1+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.replica_id))
        if version >= 2:
            put(wire.uuid(self.replica_directory_id))
        elif self.replica_directory_id != Uuid.ZERO:
            raise wire.Unwritable
        put(wire.pack_int64(self.log_end_offset))
        if version >= 1:
            put(pack_qq(self.last_fetch_timestamp, self.last_caught_up_timestamp))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReplicaState, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.replica_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            self.replica_directory_id, pos = wire.read_uuid(buf, pos)
        else:
            self.replica_directory_id = Uuid.ZERO
        (self.log_end_offset,) = wire.unpack_int64(buf, pos)
        pos += 8
        if version >= 1:
            self.last_fetch_timestamp, self.last_caught_up_timestamp = unpack_qq(buf, pos)
            pos += 16
        else:
            self.last_fetch_timestamp = -1
            self.last_caught_up_timestamp = -1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class PartitionData(Struct):
    """Part of DescribeQuorumResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "leader_id",
        "leader_epoch",
        "high_watermark",
        "current_voters",
        "observers",
    )

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (2, 2), nullable=(2, 2), default="", ignorable=True),
        Field("LeaderId", "leader_id", "int32", (0, 2), default=0, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 2), default=0),
        Field("HighWatermark", "high_watermark", "int64", (0, 2), default=0),
        Field(
            "CurrentVoters",
            "current_voters",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=ReplicaState,
        ),
        Field("Observers", "observers", "struct", (0, 2), is_array=True, default=[], struct=ReplicaState),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string, v2+, ignorable
        leader_id: int = 0,  # int32, brokerId
        leader_epoch: int = 0,  # int32
        high_watermark: int = 0,  # int64
        current_voters: list[ReplicaState] = UNSET,  # []ReplicaState
        observers: list[ReplicaState] = UNSET,  # []ReplicaState
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters = [] if current_voters is UNSET else current_voters
        self.observers = [] if observers is UNSET else observers
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        if version >= 2:
            put(wire.compact_nullable_string(self.error_message))
        put(pack_iiq(self.leader_id, self.leader_epoch, self.high_watermark))
        put(wire.compact_count(self.current_voters))
        for replica_state in self.current_voters:
            replica_state._write(put, version)
        put(wire.compact_count(self.observers))
        for replica_state in self.observers:
            replica_state._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if version >= 2:
            self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.error_message = ""
        self.leader_id, self.leader_epoch, self.high_watermark = unpack_iiq(buf, pos)
        pos += 16
        n, pos = wire.read_compact_count(buf, pos, 13)
        self.current_voters, pos = wire.read_structs(ReplicaState._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 13)
        self.observers, pos = wire.read_structs(ReplicaState._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicData(Struct):
    """Part of DescribeQuorumResponse."""

    __slots__ = ("topic_name", "partitions")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 2), default="", entity="topicName"),
        Field("Partitions", "partitions", "struct", (0, 2), is_array=True, default=[], struct=PartitionData),
    )

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        partitions: list[PartitionData] = UNSET,  # []PartitionData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 25)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Listener(Struct):
    """Part of DescribeQuorumResponse, v2+."""

    __slots__ = ("name", "host", "port")

    FIELDS = (
        Field("Name", "name", "string", (2, 2), default="", map_key=True),
        Field("Host", "host", "string", (2, 2), default=""),
        Field("Port", "port", "uint16", (2, 2), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        host: str = "",  # string
        port: int = 0,  # uint16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.host = host
        self.port = port
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_string(self.host))
        put(wire.pack_uint16(self.port))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Listener, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Node(Struct):
    """Part of DescribeQuorumResponse, v2+."""

    __slots__ = ("node_id", "listeners")

    FIELDS = (
        Field("NodeId", "node_id", "int32", (2, 2), default=0, entity="brokerId", map_key=True),
        Field("Listeners", "listeners", "struct", (2, 2), is_array=True, default=[], struct=Listener),
    )

    def __init__(
        self,
        node_id: int = 0,  # int32, brokerId
        listeners: list[Listener] = UNSET,  # []Listener
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.node_id = node_id
        self.listeners = [] if listeners is UNSET else listeners
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.node_id))
        put(wire.compact_count(self.listeners))
        for listener in self.listeners:
            listener._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Node, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.node_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.listeners, pos = wire.read_structs(Listener._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeQuorumResponse(Message):
    """DescribeQuorumResponse, versions 0-2."""

    __slots__ = ("error_code", "error_message", "topics", "nodes")

    NAME = "DescribeQuorumResponse"
    TYPE = "response"
    API_KEY = 55
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (2, 2), nullable=(2, 2), default="", ignorable=True),
        Field("Topics", "topics", "struct", (0, 2), is_array=True, default=[], struct=TopicData),
        Field("Nodes", "nodes", "struct", (2, 2), is_array=True, default=[], struct=Node),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string, v2+, ignorable
        topics: list[TopicData] = UNSET,  # []TopicData
        nodes: list[Node] = UNSET,  # []Node, v2+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is UNSET else topics
        self.nodes = [] if nodes is UNSET else nodes
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        if version >= 2:
            put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if version >= 2:
            put(wire.compact_count(self.nodes))
            for node in self.nodes:
                node._write(put, version)
        elif self.nodes:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeQuorumResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version >= 2:
            self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.error_message = ""
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        if version >= 2:
            n, pos = wire.read_compact_count(buf, pos, 6)
            self.nodes, pos = wire.read_structs(Node._read, buf, pos, n, version)
        else:
            self.nodes = []
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
