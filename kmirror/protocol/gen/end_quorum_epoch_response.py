"""EndQuorumEpochResponse: response, key 54, versions 0-1, flexible from 1.

Generated from schemas/kafka/EndQuorumEpochResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ihii, pack_ihii = wire.fused("ihii")


class PartitionData(Struct):
    """Part of EndQuorumEpochResponse."""

    __slots__ = ("partition_index", "error_code", "leader_id", "leader_epoch")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 1), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("LeaderId", "leader_id", "int32", (0, 1), default=0, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        error_code: int = 0,  # int16
        leader_id: int = 0,  # int32, brokerId
        leader_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihii(self.partition_index, self.error_code, self.leader_id, self.leader_epoch))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.partition_index,
            self.error_code,
            self.leader_id,
            self.leader_epoch,
        ) = unpack_ihii(buf, pos)
        pos += 14
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class TopicData(Struct):
    """Part of EndQuorumEpochResponse."""

    __slots__ = ("topic_name", "partitions")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 1), default="", entity="topicName"),
        Field("Partitions", "partitions", "struct", (0, 1), is_array=True, default=[], struct=PartitionData),
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
        put((wire.compact_string if version >= 1 else wire.string)(self.topic_name))
        put((wire.compact_count if version >= 1 else wire.count)(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 14)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class NodeEndpoint(Struct):
    """Part of EndQuorumEpochResponse, v1+."""

    __slots__ = ("node_id", "host", "port")

    FIELDS = (
        Field("NodeId", "node_id", "int32", (1, 1), default=0, entity="brokerId", map_key=True),
        Field("Host", "host", "string", (1, 1), default=""),
        Field("Port", "port", "uint16", (1, 1), default=0),
    )

    def __init__(
        self,
        node_id: int = 0,  # int32, brokerId
        host: str = "",  # string
        port: int = 0,  # uint16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.node_id = node_id
        self.host = host
        self.port = port
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.node_id))
        put(wire.compact_string(self.host))
        put(wire.pack_uint16(self.port))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[NodeEndpoint, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.node_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class EndQuorumEpochResponse(Message):
    """EndQuorumEpochResponse, versions 0-1."""

    __slots__ = ("error_code", "topics")

    node_endpoints = Tagged[list[NodeEndpoint]]("node_endpoints", list)

    NAME = "EndQuorumEpochResponse"
    TYPE = "response"
    API_KEY = 54
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("Topics", "topics", "struct", (0, 1), is_array=True, default=[], struct=TopicData),
        Field(
            "NodeEndpoints",
            "node_endpoints",
            "struct",
            (1, 1),
            is_array=True,
            tagged=(1, 1),
            tag=0,
            default=[],
            struct=NodeEndpoint,
        ),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        topics: list[TopicData] = UNSET,  # []TopicData
        node_endpoints: list[NodeEndpoint] = UNSET,  # []NodeEndpoint, v1+, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.topics = [] if topics is UNSET else topics
        if node_endpoints is not UNSET:
            self.node_endpoints = node_endpoints
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_count if version >= 1 else wire.count)(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if version < 1 and self._tagged and self.node_endpoints:
            raise wire.Unwritable
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "node_endpoints" in tagged and tagged["node_endpoints"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["node_endpoints"]))
            for node_endpoint in tagged["node_endpoints"]:
                node_endpoint._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EndQuorumEpochResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        if version >= 1:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                n, pos = wire.read_compact_count(buf, pos, 8)
                tagged["node_endpoints"], pos = wire.read_structs(NodeEndpoint._read, buf, pos, n, version)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
