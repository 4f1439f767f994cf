"""ShareAcknowledgeResponse: response, key 79, versions 1-2, flexible from 0.

Generated from schemas/kafka/ShareAcknowledgeResponse.json.
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
unpack_ii, pack_ii = wire.fused("ii")


class LeaderIdAndEpoch(Struct):
    """Part of ShareAcknowledgeResponse."""

    __slots__ = ("leader_id", "leader_epoch")

    FIELDS = (
        Field("LeaderId", "leader_id", "int32", (1, 2), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (1, 2), default=0),
    )

    def __init__(
        self,
        leader_id: int = 0,  # int32
        leader_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.leader_id, self.leader_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaderIdAndEpoch, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.leader_id, self.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class PartitionData(Struct):
    """Part of ShareAcknowledgeResponse."""

    __slots__ = ("partition_index", "error_code", "error_message", "current_leader")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (1, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (1, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 2), nullable=(1, 2)),
        Field("CurrentLeader", "current_leader", "struct", (1, 2), default={}, struct=LeaderIdAndEpoch),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        current_leader: LeaderIdAndEpoch = UNSET,  # LeaderIdAndEpoch
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is UNSET else current_leader
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        self.current_leader._write(put, version)
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
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        self.current_leader, pos = LeaderIdAndEpoch._read(buf, pos, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ShareAcknowledgeTopicResponse(Struct):
    """Part of ShareAcknowledgeResponse."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (1, 2), default=Uuid.ZERO, map_key=True),
        Field("Partitions", "partitions", "struct", (1, 2), is_array=True, default=[], struct=PartitionData),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[PartitionData] = UNSET,  # []PartitionData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareAcknowledgeTopicResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 17)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class NodeEndpoint(Struct):
    """Part of ShareAcknowledgeResponse."""

    __slots__ = ("node_id", "host", "port", "rack")

    FIELDS = (
        Field("NodeId", "node_id", "int32", (1, 2), default=0, entity="brokerId", map_key=True),
        Field("Host", "host", "string", (1, 2), default=""),
        Field("Port", "port", "int32", (1, 2), default=0),
        Field("Rack", "rack", "string", (1, 2), nullable=(1, 2)),
    )

    def __init__(
        self,
        node_id: int = 0,  # int32, brokerId
        host: str = "",  # string
        port: int = 0,  # int32
        rack: str | None = None,  # string
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
        put(wire.compact_string(self.host))
        put(wire.pack_int32(self.port))
        put(wire.compact_nullable_string(self.rack))
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
        (self.port,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.rack, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ShareAcknowledgeResponse(Message):
    """ShareAcknowledgeResponse, versions 1-2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "acquisition_lock_timeout_ms",
        "responses",
        "node_endpoints",
    )

    NAME = "ShareAcknowledgeResponse"
    TYPE = "response"
    API_KEY = 79
    MIN_VERSION = 1
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (1, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 2), nullable=(1, 2)),
        Field(
            "AcquisitionLockTimeoutMs",
            "acquisition_lock_timeout_ms",
            "int32",
            (2, 2),
            default=0,
            ignorable=True,
        ),
        Field(
            "Responses",
            "responses",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=ShareAcknowledgeTopicResponse,
        ),
        Field(
            "NodeEndpoints",
            "node_endpoints",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=NodeEndpoint,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        acquisition_lock_timeout_ms: int = 0,  # int32, v2+, ignorable
        responses: list[ShareAcknowledgeTopicResponse] = UNSET,  # []ShareAcknowledgeTopicResponse
        node_endpoints: list[NodeEndpoint] = UNSET,  # []NodeEndpoint
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = [] if responses is UNSET else responses
        self.node_endpoints = [] if node_endpoints is UNSET else node_endpoints
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if version >= 2:
            put(wire.pack_int32(self.acquisition_lock_timeout_ms))
        put(wire.compact_count(self.responses))
        for share_acknowledge_topic_response in self.responses:
            share_acknowledge_topic_response._write(put, version)
        put(wire.compact_count(self.node_endpoints))
        for node_endpoint in self.node_endpoints:
            node_endpoint._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareAcknowledgeResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if version >= 2:
            (self.acquisition_lock_timeout_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.acquisition_lock_timeout_ms = 0
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.responses, pos = wire.read_structs(ShareAcknowledgeTopicResponse._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 11)
        self.node_endpoints, pos = wire.read_structs(NodeEndpoint._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
